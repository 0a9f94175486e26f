"""`Dataset.shuffle` has the order of TensorFlow 1.15.5, recorded."""

from __future__ import annotations

import pytest

from parallel_compat.originals.mends import shuffled_data
from tests.originals.test_tensorflow_1 import run

# The size of the buffer and the order of three epochs of six numbers, or of two; the seeds are 17 and 1.
RECORDED = [
    (6, [4, 3, 2, 0, 5, 1, 4, 2, 3, 1, 0, 5, 4, 3, 5, 1, 2, 0]),
    (3, [1, 3, 2, 4, 5, 0, 1, 3, 2, 0, 4, 5]),
]


@pytest.mark.parametrize(("size", "order"), RECORDED)
def test_random_numbers_go_on_from_epoch_to_epoch(size, order):
    buffer = shuffled_data._Shuffle(size, 17, 1)
    steps = [(i % 6, (i % 6,)) for i in range(len(order))] + [(-1, (None,))] * size
    out = [buffer.step(*step) for step in steps]
    assert [element for is_out, element in out if is_out] == order


def test_graphs() -> None:
    """Also elements of several parts and unknown shapes; an iterator that gets its data set later has another order."""
    found = run(
        """
        import json
        import numpy as np
        import tensorflow as tf

        tf.set_random_seed(17)
        Dataset = tf.data.Dataset
        six = Dataset.range(6).shuffle(4, seed=1).repeat(2).batch(4)
        later = tf.data.Iterator.from_structure(six.output_types, six.output_shapes)
        parts = Dataset.from_tensor_slices({"a": np.arange(8.0).reshape(4, 2), "s": np.array(["w", "x", "y", "z"])})
        parts = parts.shuffle(3, seed=2).repeat().map(lambda e: (e["a"] * 2, e["s"])).batch(3)
        iterator = parts.make_initializable_iterator()
        lists = Dataset.from_generator(lambda: iter([[1], [2, 3], [4, 5, 6]]), tf.int64, tf.TensorShape([None]))
        lists = lists.shuffle(3, seed=4).repeat(2).padded_batch(2, [None]).make_one_shot_iterator().get_next()
        in_one = tf.data.experimental.shuffle_and_repeat(3, 2, seed=9)
        in_one = Dataset.range(5).apply(in_one).batch(10).make_one_shot_iterator().get_next()
        numbers, strings = iterator.get_next()
        later_one, start = later.get_next(), later.make_initializer(six)
        found = [numbers.shape.as_list(), strings.shape.as_list()]
        with tf.Session() as session:
            for _ in range(2):
                session.run(iterator.initializer)
                found += [b"".join(session.run(strings)).decode() for _ in range(3)]
            session.run(start)
            found += [session.run(later_one).tolist() for _ in range(2)]
            found += [session.run(lists).tolist() for _ in range(3)] + [session.run(in_one).tolist()]
        print(json.dumps(found))
        """
    )
    assert found == [
        *([None, 2], [None]),
        *(["ywz", "xwx", "yzx"] * 2),
        *([0, 2, 5, 1], [3, 4, 2, 3]),
        *([[1, 0], [2, 3]], [[4, 5, 6], [1, 0, 0]], [[4, 5, 6], [2, 3, 0]]),
        [0, 1, 3, 4, 2, 2, 0, 4, 3, 1],
    ]


def test_each_iteration_has_the_same_order_under_eager_execution() -> None:
    found = run(
        """
        import json
        import tensorflow as tf

        tf.enable_eager_execution()
        tf.set_random_seed(8)
        Dataset = tf.data.Dataset
        found = []
        for data in (
            Dataset.from_generator(lambda: iter(range(8)), tf.int64, []).shuffle(8, seed=5).batch(8),
            Dataset.range(6).shuffle(6, seed=5).batch(6).repeat(2),
            Dataset.range(6).shuffle(6, seed=5).repeat(2).batch(6),
        ):
            found += [[batch.numpy().tolist() for batch in data] for _ in range(2)]
        print(json.dumps(found))
        """
    )
    assert found == [
        *([[[0, 5, 4, 1, 3, 6, 7, 2]]] * 2),
        *([[[0, 4, 1, 2, 5, 3], [0, 4, 2, 5, 3, 1]]] * 2),
        *([[[1, 4, 3, 0, 5, 2], [0, 3, 4, 5, 1, 2]]] * 2),
    ]


def test_sparse_and_ragged_elements() -> None:
    found = run(
        """
        import json
        import numpy as np
        import tensorflow as tf

        tf.set_random_seed(17)
        Dataset = tf.data.Dataset
        sparse = tf.SparseTensor([[0, 0], [1, 2], [2, 1], [3, 0], [4, 2]], [1, 2, 3, 4, 5], [5, 3])
        sparse = Dataset.from_tensor_slices((sparse, np.arange(5))).shuffle(4, seed=1).repeat(2).batch(4)
        ragged = tf.ragged.constant([[[1]], [[2, 3], [9]], [[4, 5, 6], []], [], [[7]]])
        ragged = Dataset.from_tensor_slices({"r": ragged, "n": np.arange(5)}).shuffle(3, seed=2).repeat(2)
        first, second = (each.make_one_shot_iterator().get_next() for each in (sparse, ragged))
        found = [tf.get_default_graph()._last_id]
        with tf.Session() as session:
            for _ in range(3):
                values, numbers = session.run(first)
                parts = values.indices, values.dense_shape, values.values, numbers
                found.append([part.tolist() for part in parts])
            rows = [session.run(second) for _ in range(10)]
        print(json.dumps([found, [[row["r"].to_list(), int(row["n"])] for row in rows]]))
        """
    )
    assert found == [
        [
            49,
            [[[0, 1], [1, 2], [2, 0], [3, 0]], [4, 3], [3, 5, 1, 4], [2, 4, 0, 3]],
            [[[0, 2], [1, 1], [2, 2], [3, 2]], [4, 3], [2, 3, 2, 5], [1, 2, 1, 4]],
            [[[0, 0], [1, 0]], [2, 3], [1, 4], [0, 3]],
        ],
        [
            *([[[4, 5, 6], []], 2], [[[1]], 0], [[[7]], 4], [[], 3], [[[2, 3], [9]], 1]),
            *([[[1]], 0], [[], 3], [[[7]], 4], [[[2, 3], [9]], 1], [[[4, 5, 6], []], 2]),
        ],
    ]


def test_windows_keep_today_s_order_and_say_so() -> None:
    found = run(
        """
        import contextlib
        import io
        import json
        import tensorflow as tf

        with contextlib.redirect_stderr(io.StringIO()) as said:
            windows = tf.data.Dataset.range(6).window(2).shuffle(3, seed=1).repeat(2)
        rows = windows.flat_map(lambda window: window).batch(12).make_one_shot_iterator().get_next()
        with tf.Session() as session:
            found = session.run(rows).tolist()
        print(json.dumps([sorted(found), said.getvalue()]))
        """
    )
    assert found == [
        [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5],
        "shuffle().repeat() of data sets in a data set: the order is today's, not TensorFlow 1.15's.\n",
    ]
