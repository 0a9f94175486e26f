"""The order of shuffled data sets: sums of two numbers of 0 to 7, in that of TensorFlow 1.15.5 and 2.2.3."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf

import parallel_compat
from parallel_compat.legacy import execution

if TYPE_CHECKING:
    from collections.abc import Iterator

_X = np.arange(8, dtype="float32")[:, None]
_FIRST, _SECOND, _THIRD, _FOURTH = [6, 1, 9, 12], [5, 10, 3, 10], [10, 3, 12, 3], [1, 10, 10, 7]
_OF_ONE_OPERATION = [11, 9, 1, 7, 6, 9, 7, 6, 11, 10, 5, 2, 6, 11, 10, 1]


@pytest.fixture(autouse=True)
def _of_no_seed() -> Iterator[None]:
    tf.random.set_seed(87654321)  # as if there was none, but for what has no seed of its own
    yield
    execution.disable_eager_execution()
    execution.object_eras.train_in_graphs(False)


def _elements() -> Any:
    return tf.data.Dataset.from_tensor_slices((_X, _X))


def _of_epochs(data: Any, epochs: int, validation: Any = None, **steps: int) -> tuple[list[int], list[int]]:
    """Return what `fit` trains and validates on, batch by batch."""
    from tensorflow.keras import Sequential, callbacks, layers

    class Losses(callbacks.Callback):  # type: ignore[misc]
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            trained.append(logs["loss"])

        def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
            tested.append(logs["loss"])

    trained: list[float] = []
    tested: list[float] = []
    model = Sequential([layers.Dense(1, input_shape=(1,))])
    model.compile("sgd", lambda y_true, y_pred: y_true + 0 * y_pred)
    model.fit(data, epochs=epochs, validation_data=validation, callbacks=[Losses()], verbose=0, **steps)
    return [round(2 * each) for each in trained], [round(2 * each) for each in tested]


def test_all_epochs_of_tensorflow_1_are_in_one_order() -> None:
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        data = _elements().shuffle(8, seed=3).batch(2)
        for _ in range(2):
            assert _of_epochs(data, 2, data) == (_FIRST * 2, _FIRST * 2)
        for _ in range(2):
            assert [round(float(np.sum(x))) for x, _ in data] == _FIRST
        again = _elements().shuffle(8, seed=3).batch(2).repeat()
        assert _of_epochs(again, 2, steps_per_epoch=4)[0] == _FIRST + _SECOND
        once = _elements().shuffle(8, seed=3, reshuffle_each_iteration=False).batch(2)
        assert _of_epochs(once, 2)[0] == _OF_ONE_OPERATION[:4] * 2


def test_each_epoch_of_tensorflow_2_within_1_has_an_order() -> None:
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        tf.compat.v1.enable_v2_behavior()
        data = _elements().shuffle(8, seed=3).batch(2)
        assert _of_epochs(data, 3)[0] == _FIRST + _SECOND + _THIRD
        assert _of_epochs(data, 1)[0] == _FOURTH


@pytest.mark.parametrize("buffer_size", [8, 3])
def test_shuffle_and_repeat_draw_on_from_pass_to_pass(buffer_size: int) -> None:
    passes = {8: _OF_ONE_OPERATION, 3: [2, 8, 13, 5, 4, 7, 7, 10, 3, 7, 6, 12, 2, 5, 9, 12]}[buffer_size]
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        for count in 4, -1, None:
            data = _elements().shuffle(buffer_size, seed=3).repeat(count).batch(2)
            assert [round(float(np.sum(x))) for x, _ in data.take(16)] == passes
        together = _elements().apply(tf.data.experimental.shuffle_and_repeat(buffer_size, 4, seed=3)).batch(2)
        assert _of_epochs(together, 2, steps_per_epoch=4)[0] == passes[:8]
        of_unknown_length = _elements().filter(lambda x, _: tf.reduce_all(x >= 0)).shuffle(buffer_size, seed=3)
        assert [round(float(np.sum(x))) for x, _ in of_unknown_length.repeat(4).batch(2)] == passes
        assert not list(_elements().take(0).shuffle(buffer_size, seed=3).repeat())


def test_evaluations_of_tensorflow_2_make_an_iterator_more() -> None:
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Sequential, layers

        def inputs_of(model: Any, data: Any, **steps: int) -> list[int]:
            predicted = model.predict(data, **steps)[:, 0]
            return [round(float(each)) for each in predicted[::2] + predicted[1::2]]

        model = Sequential([layers.Dense(1, input_shape=(1,), kernel_initializer="ones")])
        for steps in {}, {"steps": 4}:
            data = _elements().shuffle(8, seed=3).batch(2)
            assert inputs_of(model, data, **steps) == _SECOND
            assert inputs_of(model, data, **steps) == _FOURTH
        data = _elements().shuffle(8, seed=3).batch(2)
        assert inputs_of(model, data, steps=3) == _FIRST[:3]
        assert inputs_of(model, data, steps=3) == _SECOND[:3]
        validation = _elements().shuffle(8, seed=3).batch(2)
        data = _elements().batch(2)
        means = np.cumsum([_SECOND, _FOURTH], axis=1) / [1, 2, 3, 4]
        assert _of_epochs(data, 2, validation)[1] == [round(each) for each in means.ravel()]


@pytest.mark.parametrize(
    ("seed", "orders"),
    [(3, [[1, 0, 5, 4], [2, 3, 1, 0], [4, 1, 3, 0]]), (None, [[3, 5, 6, 4], [4, 5, 1, 3], [4, 3, 2, 0]])],
)
def test_no_pass_is_begun_before_it_is_asked_for(seed: int | None, orders: list[list[int]]) -> None:
    """TensorFlow 2.2.3's orders: a pass that nobody reads, begun by reading ahead, would make the later ones others."""
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        for step in (lambda data: data), (lambda data: data.map(lambda number: number + 0)):
            tf.random.set_seed(0)
            data = step(tf.data.Dataset.range(20).shuffle(5, seed=seed).repeat())
            for expected in orders:
                assert [int(each) for each in itertools.islice(data, 20)][:4] == expected


@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])
def test_a_generator_is_not_read_ahead(era: str) -> None:
    read: list[int] = []

    def numbers() -> Iterator[int]:
        for each in range(50):
            read.append(each)
            yield each

    with parallel_compat.legacy_names(era=era):
        data = tf.data.Dataset.from_generator(numbers, tf.int64, ()).batch(2)
        for each in data, data.map(lambda pair: pair + 0):
            for _ in range(3):
                assert [pair.numpy().tolist() for pair in itertools.islice(each, 2)] == [[0, 1], [2, 3]]
    assert read == [0, 1, 2, 3] * 6


def _numbers() -> Any:
    return tf.data.Dataset.range(20)


@pytest.mark.parametrize(
    ("data", "orders", "length"),
    [
        (lambda: _numbers().shuffle(5).repeat(2), [[3, 5, 6, 4], [2, 4, 0, 1], [2, 0, 3, 6]], 40),
        (lambda: _numbers().shuffle(5).repeat(2).repeat(2), [[3, 5, 6, 4], [2, 5, 0, 4], [1, 4, 0, 7]], 80),
        (lambda: _numbers().shuffle(5).shuffle(5), [[1, 6, 3, 4], [2, 3, 5, 9], [4, 2, 1, 5]], 20),
        (lambda: _numbers().shuffle(5).repeat(0), [[]], 0),
    ],
)
def test_an_end_makes_an_iterator_more_in_tensorflow_2(data: Any, orders: list[list[int]], length: int) -> None:
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        tf.random.set_seed(0)
        elements = data()
        assert int(elements.cardinality()) == length
        for expected in orders:
            read = [int(each) for each in elements]
            assert (read[:4], len(read)) == (expected, length)


@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])
def test_functions_may_make_shuffled_data_sets(era: str) -> None:
    with parallel_compat.legacy_names(era=era):
        for repeated in (lambda data: data.repeat(2), lambda data: data.shuffle(3)):
            data = tf.data.Dataset.range(2).flat_map(lambda _: repeated(_numbers().shuffle(3, seed=1)))  # noqa: B023
            assert sum(int(each) for each in data) in (4 * 190, 2 * 190)
