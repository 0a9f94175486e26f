"""Callbacks with their old arguments, fields and file names."""

from __future__ import annotations

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

import parallel_compat
from parallel_compat.legacy import callbacks as legacy
from parallel_compat.legacy import layers, models

X, Y = np.random.RandomState(0).rand(12, 3), np.eye(2)[np.random.RandomState(1).randint(0, 2, 12)]


def trained(callbacks=(), epochs=3, metrics=("accuracy",), **keywords):
    model = keras.Sequential([layers.Dense(2, activation="softmax", input_shape=(3,))])
    model.compile("sgd", "categorical_crossentropy", metrics=list(metrics))
    history = model.fit(X, Y, epochs=epochs, verbose=0, validation_data=(X, Y), callbacks=list(callbacks), **keywords)
    return model, history


def test_checkpoint_files_fields_and_period(tmp_path):
    checkpoint = legacy.ModelCheckpoint(
        str(tmp_path / "{epoch:02d}-{val_accuracy:.2f}.hdf5"), "val_accuracy", 0, False, True, "auto", 2
    )
    assert (checkpoint.period, checkpoint.epochs_since_last_save) == (2, 0)
    assert checkpoint.monitor_op is np.greater
    assert checkpoint.best == -np.inf
    _, history = trained([checkpoint], epochs=5)
    accuracy = history.history["val_accuracy"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"02-{accuracy[1]:.2f}.hdf5",
        f"04-{accuracy[3]:.2f}.hdf5",
    ]
    assert checkpoint.epochs_since_last_save == 1


def test_save_best_only_keeps_the_best(tmp_path, capsys):
    checkpoint = legacy.ModelCheckpoint(str(tmp_path / "{epoch}.h5"), "value", 1, True, True, "min")
    values = iter([0.5, 0.7, 0.3])

    class Value(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            logs["value"] = next(values)

    trained([Value(), checkpoint])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.h5", "3.h5"]
    assert checkpoint.best == 0.3
    out = capsys.readouterr().out
    assert "Epoch 00003: value improved from 0.50000 to 0.30000, saving model to" in out
    assert "Epoch 00002: value did not improve from 0.50000" in out


def test_a_missing_monitor_warns_and_saves_nothing(tmp_path):
    checkpoint = legacy.ModelCheckpoint(str(tmp_path / "m.h5"), "val_nonsense", save_best_only=True)
    with pytest.warns(RuntimeWarning, match="Can save best model only with val_nonsense available"):
        trained([checkpoint], epochs=1)
    assert list(tmp_path.iterdir()) == []


def test_the_class_of_alt_model_checkpoint(tmp_path):
    from parallel_compat.legacy.callbacks import AltModelCheckpoint

    template = keras.Sequential([layers.Dense(2, activation="softmax", input_shape=(3,))])
    parallel = parallel_compat.multi_gpu_model(template, gpus=2)
    parallel.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
    checkpoint = AltModelCheckpoint(str(tmp_path / "{epoch}.h5"), template, monitor="accuracy")
    parallel.fit(X, Y, epochs=2, verbose=0, callbacks=[checkpoint])
    loaded = models.load_model(str(tmp_path / "2.h5"))
    np.testing.assert_allclose(loaded.predict(X), template.predict(X), atol=1e-6)
    assert int(loaded.optimizer.iterations) == 2


def test_early_stopping_counts_and_restores_as_keras_2():
    def epochs_until_stop(values, **keywords):
        stop = legacy.EarlyStopping(monitor="val_accuracy", **keywords)

        class Model:
            stop_training, weights = False, None

            def get_weights(self):
                return self.weights

            def set_weights(self, weights):
                self.weights = weights

        stop.model = model = Model()
        stop.on_train_begin()
        for epoch, value in enumerate(values):
            model.weights = epoch
            stop.on_epoch_end(epoch, {"val_accuracy": value})
            if model.stop_training:
                break
        stop.on_train_end()
        return epoch + 1, model.weights

    assert epochs_until_stop([0.55, 0.76, 0.81, 0.81], baseline=0.75, patience=2)[0] == 4
    assert epochs_until_stop([0.55, 0.74, 0.81, 0.81], baseline=0.75, patience=2)[0] == 2
    assert epochs_until_stop([0.1, 0.3, 0.2, 0.2], patience=2, restore_best_weights=True) == (4, 1)
    # Training that is not stopped keeps its last weights; Keras 3 would put back the best.
    assert epochs_until_stop([0.1, 0.3, 0.2], patience=5, restore_best_weights=True) == (3, 2)


def test_reduce_lr_on_plateau_takes_epsilon_and_any_metric():
    plateau = legacy.ReduceLROnPlateau(monitor="val_loss", epsilon=100.0, factor=0.5, patience=1)
    assert plateau.min_delta == 100.0
    model, history = trained([plateau], epochs=4)
    assert float(model.optimizer.learning_rate) == pytest.approx(0.01 * 0.5**3)
    assert history.history["lr"] == pytest.approx([0.01, 0.01, 0.005, 0.0025])

    def dice(y_true, y_pred):
        return keras.ops.mean(y_pred)

    trained([legacy.ReduceLROnPlateau(monitor="val_dice")], epochs=1, metrics=[dice])


def test_arguments_of_tensorboard(tmp_path):
    with pytest.warns(UserWarning, match="no histograms of gradients"):
        board = legacy.TensorBoard(log_dir=str(tmp_path), batch_size=32, write_grads=True, embeddings_layer_names=None)
    assert board.log_dir == str(tmp_path)
    positional = legacy.TensorBoard(str(tmp_path), 0, 32, False, False, True)
    assert (positional.write_graph, positional.write_images) == (False, True)
    assert isinstance(positional, legacy.TensorBoard)


def test_tensorboard_has_a_writer_for_scalars_of_ones_own(tmp_path):
    board = legacy.TensorBoard(log_dir=str(tmp_path))

    class Precision(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            summary = tf.compat.v1.Summary()
            value = summary.value.add()
            value.simple_value, value.tag = 0.25 * (epoch + 1), "mAP"
            board.writer.add_summary(summary, epoch)

    trained([board, Precision()], epochs=2)
    (path,) = (tmp_path / "train").iterdir()
    events = tf.compat.v1.train.summary_iterator(str(path))
    written = [(e.step, v.simple_value) for e in events for v in e.summary.value if v.tag == "mAP"]
    assert written == [(0, 0.25), (1, 0.5)]


def test_monitors_in_their_old_spelling_choose_the_direction():
    stop = legacy.EarlyStopping(monitor="val_accuracy", patience=1)
    _, history = trained([stop], epochs=2)
    assert stop.best == max(history.history["val_accuracy"])
    with pytest.warns(RuntimeWarning, match="mode sideways is unknown"):
        legacy.EarlyStopping(mode="sideways")


def test_rates_are_shown_in_single_precision(tmp_path):
    """The rate in logs was `np.float32`: a log says 0.05, as each old stack wrote it, not 0.05000000074505806."""
    model = keras.Sequential([layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    callbacks = [
        legacy.LearningRateScheduler(lambda epoch: 0.05 / (epoch + 1)),
        legacy.CSVLogger(str(tmp_path / "log.csv")),
    ]
    rates = model.fit(np.ones((4, 2)), np.ones(4), epochs=2, verbose=0, callbacks=callbacks).history["lr"]
    assert [line.split(",")[-1] for line in (tmp_path / "log.csv").read_text().splitlines()] == ["lr", "0.05", "0.025"]
    assert str(rates) == "[0.05, 0.025]"
    assert json.loads(json.dumps(rates)) == pytest.approx([0.05, 0.025], rel=1e-6)


@pytest.mark.parametrize("name", ["w.{epoch:02d}.h5", "w.h5"])
def test_a_training_may_begin_with_the_newest_file(tmp_path, name):
    """The numbers are those of TensorFlow 1.15.5 and 2.2.3."""
    x, y = np.arange(12.0).reshape(4, 3) / 12, np.ones((4, 2))

    def trained(epochs):
        model = keras.Sequential([layers.Dense(2, input_shape=(3,), kernel_initializer="ones")])
        model.compile("sgd", "mse")
        path = str(tmp_path / name)
        checkpoint = legacy.ModelCheckpoint(path, save_weights_only=True, load_weights_on_restart=True)
        model.fit(x, y, epochs=epochs, verbose=0, callbacks=[checkpoint])
        return model.get_weights()[0][:, 0]

    np.testing.assert_allclose(trained(2), [0.9925447, 0.9919276, 0.9913104], rtol=1e-6)
    np.testing.assert_allclose(trained(1), [0.9888834, 0.9879693, 0.9870551], rtol=1e-6)

    for written in tmp_path.rglob("*"):
        if written.suffix == ".h5":
            written.write_bytes(b"no weights")
    with pytest.raises(ValueError, match="Error loading file from"):
        trained(1)


class Evaluate(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.model.evaluate(X, Y, verbose=0)

    def on_train_end(self, logs=None):
        self.model.predict(X)
