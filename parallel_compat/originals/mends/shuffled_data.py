"""`Dataset.shuffle` in the order of TensorFlow 1.15, which a seed repeats.

`shuffle(...).repeat(...)` ran as one operation there (`ShuffleAndRepeat`) whose random numbers went on from epoch to
epoch; today each epoch has a seed of its own. The steps here are those of the old operation. An iterator that gets its
data set later (`Iterator.from_structure`) ran the two one after the other, and still does. Under eager execution each
iteration began with the same order; today each has another.
"""

from __future__ import annotations

import collections
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from parallel_compat.originals.mends import operations
from parallel_compat.originals.mends.register import Register

_BLOCKS = 256  # of four random numbers each, made at once
_WORD = np.uint64(0xFFFFFFFF)
_ORDER_OF_TODAY = "shuffle().repeat() of data sets in a data set: the order is today's, not TensorFlow 1.15's."


def apply(mends: Register) -> None:
    if not mends.is_tensorflow_1:
        return
    from tensorflow.python.data.experimental.ops import shuffle_ops
    from tensorflow.python.data.ops import dataset_ops, iterator_ops, repeat_op

    mends.around(repeat_op, "_repeat", _repeats_a_shuffle)
    mends.around(shuffle_ops._ShuffleAndRepeatDataset, "__init__", _is_in_old_order)
    mends.around(iterator_ops.Iterator, "make_initializer", _one_after_the_other)
    mends.around(dataset_ops.DatasetV2, "_apply_debug_options", _from_the_start)


def _repeats_a_shuffle(repeat: Callable[..., Any], dataset: Any, count: Any, name: Any) -> Any:
    repeated = repeat(dataset, count, name)
    shuffled = _unwrapped(dataset)
    if _is_shuffled_each_time(shuffled):
        _set_old_order(shuffled, repeated)
    return repeated


def _is_in_old_order(init: Callable[..., None], self: Any, *args: Any, **options: Any) -> None:
    init(self, *args, **options)
    _set_old_order(self, self)


def _unwrapped(dataset: Any) -> Any:
    """Return what a data set of TensorFlow 1 wraps."""
    while hasattr(dataset, "_dataset"):
        dataset = dataset._dataset
    return dataset


def _is_shuffled_each_time(dataset: Any) -> bool:
    return getattr(dataset, "_reshuffle_each_iteration", False) is not False  # None is the default, which is True


def _set_old_order(shuffled: Any, repeated: Any) -> None:
    """Give a data set its elements in the old operation's order.

    Args:
        shuffled: has the seeds, the size of the buffer, and the elements.
        repeated: has the number of epochs.
    """
    import tensorflow as tf
    from tensorflow.python.data.ops import dataset_ops, from_generator_op

    specs = tf.nest.flatten(repeated.element_spec, expand_composites=True)
    if _is_unseeded(shuffled):
        return
    if any(spec.dtype == tf.variant for spec in specs):
        print(_ORDER_OF_TODAY, file=sys.stderr)
        return

    def flattened(position: Any, element: Any) -> Any:
        return position, tuple(tf.nest.flatten(element, expand_composites=True))

    def step(number: Any, numbered: Any) -> Any:
        position, flat = numbered
        is_out, *out = tf.numpy_function(_step, [number, position, *flat], [tf.bool, *(spec.dtype for spec in specs)])
        for tensor, spec in zip(out, specs, strict=True):
            tensor.set_shape(spec.shape)
        is_out.set_shape(())
        return is_out, tuple(out)

    def packed(_: Any, flat: Any) -> Any:
        return tf.nest.pack_sequence_as(repeated.element_spec, flat, expand_composites=True)

    with operations.uncounted(tf.compat.v1.get_default_graph()):
        shapes = [spec.shape.as_list() if spec.shape.rank else () for spec in specs]
        nothing = [
            tf.zeros([size or 0 for size in shape], spec.dtype) for shape, spec in zip(shapes, specs, strict=True)
        ]
        rest = dataset_ops.DatasetV2.from_tensors((tf.constant(-1, tf.int64), tuple(nothing)))
        numbers = from_generator_op._GeneratorDataset(
            (shuffled._buffer_size, shuffled._seed, shuffled._seed2),
            lambda *given: tf.numpy_function(_begin, given, tf.int64),
            lambda number: tf.ensure_shape(number, ()),
            lambda number: tf.numpy_function(_end, [number], tf.int64),
            tf.TensorSpec((), tf.int64),
        )
        elements = shuffled._input_dataset.enumerate().map(flattened).repeat(repeated._count)
        elements = elements.concatenate(rest.repeat(shuffled._buffer_size))
        ordered = dataset_ops.DatasetV2.zip((numbers, elements)).map(step).filter(lambda is_out, _: is_out)
        ordered = _unwrapped(ordered.map(packed))
    repeated._one_after_the_other, repeated._variant_tensor_attr = repeated._variant_tensor, ordered._variant_tensor


def _is_unseeded(dataset: Any) -> bool:
    from tensorflow.python.framework import tensor_util

    return all(tensor_util.constant_value(seed) == 0 for seed in (dataset._seed, dataset._seed2))


def _one_after_the_other(make: Callable[..., Any], self: Any, dataset: Any, name: Any = None) -> Any:
    initializer = make(self, dataset, name)
    for each in _before(dataset):
        plain = getattr(each, "_one_after_the_other", None)
        for op in each._variant_tensor.consumers() if plain is not None else ():
            op._update_input(list(op.inputs).index(each._variant_tensor), plain)
    return initializer


def _before(dataset: Any) -> Iterator[Any]:
    """Yield a data set and those that it is made of."""
    dataset = _unwrapped(dataset)
    yield dataset
    if not hasattr(dataset, "_one_after_the_other"):
        for each in dataset._inputs():
            yield from _before(each)


def _from_the_start(apply: Callable[[Any], Any], dataset: Any) -> Any:
    """Under eager execution an iterator made the data set again, with its first seeds."""
    import tensorflow as tf
    from tensorflow.python.data.ops import dataset_ops
    from tensorflow.python.ops import gen_dataset_ops

    applied = apply(dataset)
    if not tf.executing_eagerly() or not any(map(_is_shuffled_each_time, _before(applied))):
        return applied
    made = gen_dataset_ops.optimize_dataset(applied._variant_tensor, [], **applied._flat_structure)
    return dataset_ops._VariantDataset(made, applied.element_spec)


_shuffles: dict[int, _Shuffle] = {}
_numbers = itertools.count()


def _begin(size: Any, seed: Any, seed2: Any) -> Any:
    number = next(_numbers)
    _shuffles[number] = _Shuffle(int(size), int(seed), int(seed2))
    return np.int64(number)


def _step(number: Any, position: Any, *element: Any) -> Any:
    return _shuffles[int(number)].step(int(position), element)


def _end(number: Any) -> Any:
    _shuffles.pop(int(number), None)
    return np.int64(0)


class _Shuffle:
    """The buffer of one iterator."""

    def __init__(self, size: int, seed: int, seed2: int) -> None:
        self.size, self.draws = size, random_words(seed, seed2)
        self.held: dict[int, Any] = {}  # by position since the start
        self.first = self.total = 0
        self.ends: collections.deque[int] = collections.deque()  # of the epochs of which elements are held

    def step(self, position: int, element: tuple[Any, ...]) -> tuple[Any, ...]:
        """Take an element, and return whether one comes out, and that one.

        Args:
            position: of the element within its epoch; -1 if there are no more, and the rest comes out.
        """
        if position >= 0:
            if position == 0 and self.total:
                self.ends.append(self.total)
            self.held[self.total] = element
            self.total += 1
        if not self.held or (position >= 0 and len(self.held) < self.size):
            return (np.False_, *element)
        while self.ends and self.ends[0] <= self.first:
            self.ends.popleft()
        end = self.ends[0] if self.ends else self.total
        chosen = self.first + next(self.draws) % (end - self.first)
        out = self.held[chosen]
        self.held[chosen] = self.held[self.first]
        del self.held[self.first]
        self.first += 1
        return (np.True_, *out)


def random_words(seed: int, seed2: int) -> Iterator[int]:
    """Yield the numbers of 32 bits that TensorFlow draws by two seeds: Philox 4x32-10 (Salmon and others 2011).

    >>> list(itertools.islice(random_words(17, 1), 2))
    [2406623386, 1420841687]

    Args:
        seed: is the key.
        seed2: is the upper half of the counter.
    """
    for begin in itertools.count(0, _BLOCKS):
        count = np.arange(begin, begin + _BLOCKS, dtype=np.uint64)
        words = [count & _WORD, count >> np.uint64(32), *(np.full_like(count, each) for each in _halves(seed2))]
        key = _halves(seed)
        for _ in range(10):
            first, second = words[0] * np.uint64(0xD2511F53), words[2] * np.uint64(0xCD9E8D57)
            words = [
                *((second >> np.uint64(32)) ^ words[1] ^ np.uint64(key[0]), second & _WORD),
                *((first >> np.uint64(32)) ^ words[3] ^ np.uint64(key[1]), first & _WORD),
            ]
            key = [(key[0] + 0x9E3779B9) % 2**32, (key[1] + 0xBB67AE85) % 2**32]
        yield from np.stack(words, axis=1).ravel().tolist()


def _halves(number: int) -> list[int]:
    return [number % 2**32, (number >> 32) % 2**32]
