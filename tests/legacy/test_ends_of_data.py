"""What trains on data that ends: the numbers are those of TensorFlow 2.2.3, or 1.15.5 where it says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import parallel_compat
from parallel_compat.legacy import execution


def _rows() -> Any:
    for at in range(20):
        yield [at / 20, 1.0], [float(at % 2)]


def _of_unknown_length() -> Any:
    return tf.data.Dataset.from_generator(_rows, (tf.float32, tf.float32), ((2,), (1,))).batch(8)


@pytest.mark.parametrize("replicas", [1, 2])
def test_the_end_of_a_data_set_is_no_step(replicas: int) -> None:
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Sequential, layers, optimizers, utils

        model = Sequential([layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
        model = utils.multi_gpu_model(model, replicas) if replicas > 1 else model
        model.compile(optimizers.Adam(0.1, decay=0.1), "mse")
        history = model.fit(_of_unknown_length(), epochs=3, verbose=0).history
    np.testing.assert_allclose(history["loss"], [0.82589447, 0.27265272, 0.28431544], rtol=1e-5)
    assert int(model.optimizer.iterations) == 9


def test_the_end_of_a_data_set_is_no_step_of_an_optimizer_of_the_users() -> None:
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Sequential, layers, optimizers

        class Plain(optimizers.Optimizer):  # type: ignore[misc]
            def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
                return var.assign_sub(0.1 * grad)

            def get_config(self) -> Any:
                return super().get_config()

        model = Sequential([layers.Dense(4, "tanh", input_shape=(2,)), layers.Dense(1)])
        model.compile(Plain("plain"), "mse")
        model.fit(_of_unknown_length(), epochs=4, verbose=0)
        assert int(model.optimizer.iterations) == 12


_X = np.stack([np.arange(20) / 20, np.ones(20)], 1).astype("float32")
_Y = (np.arange(20) % 2).astype("float32")[:, None]


def _batches() -> Any:
    for at in range(0, 20, 8):
        yield _X[at : at + 8], _Y[at : at + 8]


def _histories(era: str, replicas: int = 1) -> Any:
    """Train for four epochs on data that ends before, and evaluate on a data set of less than the steps."""
    data = tf.data.Dataset.from_tensor_slices((_X, _Y)).batch(8)
    unknown = tf.data.Dataset.from_generator(_batches, (tf.float32, tf.float32), ((None, 2), (None, 1)))
    with parallel_compat.legacy_names(era=era):
        from tensorflow.keras import Sequential, callbacks, layers, optimizers, utils

        stopped = []

        class Stops(callbacks.Callback):  # type: ignore[misc]
            def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
                stopped.append(self.model.stop_training)

        model = Sequential([layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
        model = utils.multi_gpu_model(model, replicas) if replicas > 1 else model
        start = model.get_weights()

        def trained(data: Any, steps: int | None, **keywords: Any) -> Any:
            model.set_weights(start)
            model.compile(optimizers.SGD(0.1), "mse")
            watched = {"verbose": 0, "callbacks": [Stops()], **keywords}
            return model.fit(data, steps_per_epoch=steps, epochs=4, **watched).history

        yield trained(data, 2, validation_data=data, validation_steps=2)
        yield stopped
        yield trained(unknown, 3)
        yield trained(data, 3)
        yield trained(_batches(), 2)
        yield trained(data, None, validation_data=data, validation_steps=4)
        yield trained(data.repeat(), 2, validation_data=data.repeat(), validation_steps=2)
        model.set_weights(start)
        yield {"evaluated": [model.evaluate(data, steps=5, verbose=0)]}


_IN_TENSORFLOW_2 = [
    {"loss": [0.77903885, 0.70365959], "val_loss": [0.32972059, 0.26757014]},
    [False, False],
    {"loss": [0.76396298, 0.76396298]},
    {"loss": [0.76396298, 0.29089281, 0.30137616, 0.29950196]},
    {"loss": [0.77903885, 0.70365959]},
    {
        "loss": [0.76396298, 0.29089281, 0.30137616, 0.29950196],
        "val_loss": [0.2797049, 0.29177034, 0.29233032, 0.28836107],
    },
    {
        "loss": [0.77903885, 0.42810693, 0.29126763, 0.3019965],
        "val_loss": [0.32972059, 0.26294285, 0.3009612, 0.268399],
    },
    {"evaluated": [1.25874996]},
]
_IN_TENSORFLOW_1 = [
    {"loss": [0.77903885, 0.70365959], "val_loss": [0.32972059]},
    [False, True],
    {"loss": [0.75391243, 0.25130414]},
    {"loss": [0.75391243, 0.25130414]},
    {"loss": [0.77903885, 0.70365959]},
    {"loss": [0.75391243], "val_loss": [0.21584605]},
    {
        "loss": [0.77903885, 0.49699509, 0.30233237, 0.30199651],
        "val_loss": [0.32972059, 0.26294284, 0.3009612, 0.26839901],
    },
    {"evaluated": [0.84124997]},
]


@pytest.mark.parametrize(
    ("era", "replicas", "expected"),
    [
        ("tf.keras-2.2", 1, _IN_TENSORFLOW_2),
        ("tf.keras-2.2", 2, _IN_TENSORFLOW_2),
        ("tf.keras-1.15", 1, _IN_TENSORFLOW_1),
    ],
)
def test_data_that_ends_before_the_steps(era: str, replicas: int, expected: Any) -> None:
    for case, (given, recorded) in enumerate(zip(_histories(era, replicas), expected, strict=True)):
        if isinstance(recorded, list):
            assert given[: len(recorded)] == recorded
            continue
        assert given.keys() == recorded.keys(), case
        for name, values in recorded.items():
            np.testing.assert_allclose(given[name], values, rtol=2e-5, err_msg=f"{case}: {name}")


def test_epochs_without_a_batch_are_refused_in_eager_execution_of_tensorflow_1(monkeypatch: Any) -> None:
    monkeypatch.setattr(execution, "is_eager", lambda: True)
    data = tf.data.Dataset.from_tensor_slices((_X, _Y)).batch(8)
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        from tensorflow.keras import Sequential, layers

        model = Sequential([layers.Dense(1, input_shape=(2,))])
        model.compile("sgd", "mse")
        with pytest.raises(ValueError, match="Empty training data"):
            model.fit(data, steps_per_epoch=3, epochs=2, verbose=0)
        model.fit(data, epochs=2, verbose=0)


@pytest.mark.parametrize("replicas", [1, 2])
def test_arrays_in_steps_of_tensorflow_2(replicas: int) -> None:
    """They are divided by the steps, and passed through once for each epoch: then training ends."""
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Sequential, layers, optimizers, utils

        model = Sequential([layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
        model = utils.multi_gpu_model(model, replicas) if replicas > 1 else model
        start = model.get_weights()

        def trained(x: Any, y: Any, **steps: Any) -> Any:
            model.set_weights(start)
            model.compile(optimizers.SGD(0.1), "mse")
            return model.fit(x, y, epochs=4, shuffle=False, verbose=0, **steps).history

        losses = trained(_X, _Y, steps_per_epoch=3)["loss"]
        np.testing.assert_allclose(losses, [0.72069502, 0.29225498, 0.29467851, 0.29242057], rtol=1e-5)
        split = trained(_X, _Y, steps_per_epoch=3, validation_split=0.4, validation_steps=3)
        np.testing.assert_allclose(split["loss"], [0.52405089, 0.26101658, 0.26074681, 0.26222745], rtol=1e-5)
        np.testing.assert_allclose(split["val_loss"], [0.55187869, 0.41006076, 0.38406575, 0.37638026], rtol=1e-5)
        losses = trained(_X, _Y, batch_size=8, steps_per_epoch=5)["loss"]
        np.testing.assert_allclose(losses, [0.54875022, 0.32045448, 0.25876039], rtol=1e-5)
        losses = trained(tf.constant(_X), tf.constant(_Y), batch_size=8, steps_per_epoch=2)["loss"]
        np.testing.assert_allclose(losses, [0.77903885, 0.42810693, 0.29126763, 0.3019965], rtol=1e-5)
