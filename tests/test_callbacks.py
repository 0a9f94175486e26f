"""Keras's own callbacks and those of old projects on the parallel model's `fit`."""

from __future__ import annotations

import csv

import keras
import numpy as np
import pytest

from parallel_compat import parallelize
from tests.one_device import classes, difference, mlp

X, Y = classes(40)


def compiled(optimizer="adam"):
    parallel = parallelize(mlp(), 2)
    parallel.compile(optimizer, "categorical_crossentropy", metrics=["accuracy"])
    return parallel


def fit(parallel, *callbacks, epochs=3, **arguments):
    return parallel.fit(
        X, Y, epochs=epochs, verbose=0, validation_data=(X, Y), shuffle=False, callbacks=list(callbacks), **arguments
    )


@pytest.mark.parametrize(
    ("name", "weights_only"),
    [("m.keras", False), ("m.h5", False), ("m.weights.h5", True)],
)
def test_model_checkpoint(tmp_path, name, weights_only):
    parallel = compiled()
    fit(parallel, keras.callbacks.ModelCheckpoint(tmp_path / name, save_weights_only=weights_only))
    if weights_only:
        alone = mlp()
        alone.load_weights(tmp_path / name)
    else:
        alone = keras.saving.load_model(tmp_path / name)
        assert type(alone) is type(parallel.template)
        assert (
            difference(
                [v.numpy() for v in alone.optimizer.variables], [v.numpy() for v in parallel.optimizer.variables]
            )
            < 1e-7
        )
    assert difference(alone.get_weights(), parallel.get_weights()) == 0


def test_early_stopping_restores_the_best_weights():
    parallel = compiled(keras.optimizers.SGD(50.0))
    seen = []

    class Keep(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            seen.append(parallel.template.get_weights())

    stopping = keras.callbacks.EarlyStopping("loss", patience=2, restore_best_weights=True)
    losses = fit(parallel, Keep(), stopping, epochs=10).history["loss"]
    assert len(losses) < 10
    assert difference(parallel.template.get_weights(), seen[int(np.argmin(losses))]) == 0


def test_reduce_learning_rate():
    parallel = compiled(keras.optimizers.SGD(1.0))
    fit(parallel, keras.callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=0, min_delta=100.0))
    assert float(parallel.optimizer.learning_rate.numpy()) == 0.25


def test_learning_rate_scheduler():
    parallel = compiled(keras.optimizers.SGD(1.0))
    history = fit(parallel, keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 * (epoch + 1))).history
    np.testing.assert_allclose(history["learning_rate"], [0.1, 0.2, 0.3], rtol=1e-6)


def test_csv_logger(tmp_path):
    history = fit(compiled(), keras.callbacks.CSVLogger(tmp_path / "log.csv")).history
    rows = list(csv.DictReader((tmp_path / "log.csv").open()))
    np.testing.assert_allclose([float(row["val_loss"]) for row in rows], history["val_loss"], rtol=1e-6)


def test_tensorboard(tmp_path):
    fit(compiled(), keras.callbacks.TensorBoard(tmp_path, histogram_freq=1, write_graph=True, update_freq=1))
    assert [path for path in tmp_path.rglob("events*") if path.stat().st_size > 0]


def test_lambda_callback():
    losses = []
    callback = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: losses.append(logs["loss"]))
    assert losses == [] and fit(compiled(), callback).history["loss"] == losses  # noqa: PT018


def test_backup_and_restore(tmp_path):
    class Interrupt(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 2:
                raise KeyboardInterrupt

    whole = compiled(keras.optimizers.Adam(0.05))
    start = whole.get_weights()
    fit(whole, epochs=4)
    interrupted = compiled(keras.optimizers.Adam(0.05))
    interrupted.set_weights(start)
    with pytest.raises(KeyboardInterrupt):
        fit(
            interrupted,
            keras.callbacks.BackupAndRestore(tmp_path / "backup", delete_checkpoint=False),
            Interrupt(),
            epochs=4,
        )
    resumed = compiled(keras.optimizers.Adam(0.05))
    history = fit(resumed, keras.callbacks.BackupAndRestore(tmp_path / "backup"), epochs=4).history
    assert len(history["loss"]) == 2
    assert difference(resumed.get_weights(), whole.get_weights()) < 1e-5


# Callbacks as old projects wrote them.


class StoresTheTemplate(keras.callbacks.Callback):
    def __init__(self, model, path):  # without super().__init__()
        self.model_to_save = model
        self.path = path

    def on_epoch_end(self, epoch, logs=None):
        self.model_to_save.save(self.path)


class OverridesSetModel(keras.callbacks.ModelCheckpoint):
    def __init__(self, model, path):
        self.single_model = model
        super().__init__(path)

    def set_model(self, model):
        super().set_model(self.single_model)


class SwapsItsModel(keras.callbacks.ModelCheckpoint):
    def __init__(self, model, path):
        super().__init__(path)
        self.single_model = model

    def on_epoch_end(self, epoch, logs=None):
        model_before = self.model
        self.model = self.single_model
        super().on_epoch_end(epoch, logs)
        self.model = model_before


class SetsItsModelAtOnce(keras.callbacks.Callback):
    def __init__(self, model, path):
        super().__init__()
        self.model = model
        self.path = path

    def set_model(self, model):
        pass

    def on_epoch_end(self, epoch, logs=None):
        self.model.save(self.path)


class Redirect(keras.callbacks.Callback):
    """Gives a callback another model than the one in training, as keras-retinanet's RedirectModel."""

    def __init__(self, model, path):
        super().__init__()
        self.callback = keras.callbacks.ModelCheckpoint(path)
        self.redirect_model = model

    def on_epoch_begin(self, epoch, logs=None):
        self.callback.on_epoch_begin(epoch, logs)

    def on_epoch_end(self, epoch, logs=None):
        self.callback.on_epoch_end(epoch, logs)

    def on_train_begin(self, logs=None):
        self.callback.set_model(self.redirect_model)
        self.callback.on_train_begin(logs)


@pytest.mark.parametrize(
    "callback", [StoresTheTemplate, OverridesSetModel, SwapsItsModel, SetsItsModelAtOnce, Redirect]
)
def test_callbacks_of_old_projects(tmp_path, callback):
    parallel = compiled()
    fit(parallel, callback(parallel.template, str(tmp_path / "m.h5")))
    loaded = keras.saving.load_model(tmp_path / "m.h5", compile=False)
    assert type(loaded) is type(parallel.template)
    assert difference(loaded.get_weights(), parallel.get_weights()) == 0


class GivesTheTemplateToModelCheckpoint(keras.callbacks.ModelCheckpoint):
    def __init__(self, single_model, *args, **kwargs):
        self.single_model = single_model
        super().__init__(*args, **kwargs)

    def set_model(self, model):
        super().set_model(self.single_model)


@pytest.mark.parametrize("monitor", ["val_accuracy", "val_loss"])
def test_a_callback_with_the_template_knows_whether_more_is_better(tmp_path, monitor):
    """The template is not compiled, and has no metrics."""
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3, activation="softmax")])
    parallel = parallelize(model, 2)
    parallel.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
    callback = GivesTheTemplateToModelCheckpoint(model, tmp_path / "m.keras", monitor=monitor, save_best_only=True)
    x, y = np.random.default_rng(0).random((16, 8)), np.arange(16) % 3
    history = parallel.fit(x, y, validation_data=(x, y), epochs=3, verbose=0, callbacks=[callback]).history
    best = max if monitor == "val_accuracy" else min
    assert callback.best == best(history[monitor])
    assert (tmp_path / "m.keras").exists()
