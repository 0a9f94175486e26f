"""Batches that TensorFlow 1.15 lost as it read ahead, and its loop of eager execution; the numbers are its (1.15.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf

import parallel_compat
from parallel_compat.legacy import execution

if TYPE_CHECKING:
    from collections.abc import Iterator

_X = np.arange(20, dtype="float32")[:, None] / 20 * np.ones((1, 2), "float32")
_Y = (np.arange(20) % 3).astype("float32")[:, None]


@pytest.fixture(autouse=True)
def _in_graphs_again() -> Iterator[None]:
    yield
    execution.disable_eager_execution()
    execution.object_eras.train_in_graphs(False)


def _numbered() -> Iterator[Any]:
    number = 0.0
    while True:
        yield np.full((2, 1), number, "float32"), np.full((2, 1), number, "float32")
        number += 1


def _shows_targets() -> Any:
    from tensorflow.keras import Sequential, layers

    model = Sequential([layers.Dense(1, input_shape=(1,), kernel_initializer="ones")])
    model.compile("sgd", lambda y_true, y_pred: y_true + 0 * y_pred)
    return model


@pytest.mark.parametrize(
    ("drawing", "expected"),
    [({}, [1, 15, 29]), ({"workers": 0}, [1, 4, 7]), ({"max_queue_size": 1}, [1, 6, 11])],
)
@pytest.mark.parametrize("method", ["fit", "fit_generator"])
def test_a_validation_loses_what_its_queue_had_read(method: str, drawing: dict[str, int], expected: list[int]) -> None:
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        train = getattr(_shows_targets(), method)
        data = {"validation_data": _numbered(), "validation_steps": 3}
        history = train(_numbered(), steps_per_epoch=2, epochs=3, verbose=0, **data, **drawing).history
    assert history["val_loss"] == expected
    assert history["loss"] == [0.5, 2.5, 4.5]


def test_a_look_at_a_generator_loses_what_its_queue_had_read() -> None:
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        tf.compat.v1.enable_eager_execution()
        model = _shows_targets()
        assert model.fit(_numbered(), steps_per_epoch=2, epochs=2, verbose=0).history["loss"] == [6, 13.5]
        assert model.evaluate(_numbered(), steps=3, verbose=0) == (0 + 12 + 13) / 3
        assert model.evaluate(_numbered(), steps=3, verbose=0, workers=0) == 1
        assert model.fit_generator(_numbered(), 2, verbose=0).history["loss"] == [0.5]
        model.set_weights([np.ones((1, 1)), np.zeros(1)])
        predicted = model.predict(_numbered(), steps=3, max_queue_size=3)
        assert predicted.ravel().tolist() == [0, 0, 5, 5, 6, 6]


def test_steps_of_arrays_where_execution_is_eager() -> None:
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        from tensorflow.keras import Sequential, callbacks, initializers, layers, optimizers

        class Batches(callbacks.Callback):  # type: ignore[misc]
            def on_batch_begin(self, batch: int, logs: Any = None) -> None:
                sizes.append(logs["size"])

            def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
                sizes.append((round(float(logs["loss"]), 4), logs["size"]))

        def model() -> Any:
            made = Sequential([layers.Dense(1, input_shape=(2,), kernel_initializer=initializers.Constant(0.3))])
            made.compile(optimizers.SGD(0.1), "mse")
            return made

        tf.compat.v1.enable_eager_execution()
        sizes: list[Any] = []
        given = {"shuffle": False, "verbose": 0, "callbacks": [Batches()], "validation_data": (_X[:12], _Y[:12])}
        history = model().fit(_X, _Y, steps_per_epoch=2, **given).history
        np.testing.assert_allclose([history["loss"], history["val_loss"]], [[1.01748], [0.9525]], rtol=1e-5)
        assert sizes == [10, 10, (0.9437, 10), (0.9967, 2)]
        sizes.clear()
        history = model().fit(_X, _Y, batch_size=8, validation_steps=1, **given).history
        np.testing.assert_allclose([history["loss"], history["val_loss"]], [[0.98449], [0.55029]], rtol=1e-5)
        assert sizes == [8, 8, 4, (0.8254, 8)]
        np.testing.assert_allclose(model().evaluate(_X, _Y, steps=2, batch_size=4, verbose=0), 0.4783, rtol=1e-4)
        np.testing.assert_allclose(model().evaluate(_X, _Y, steps=2, verbose=0), 1.10915, rtol=1e-5)
