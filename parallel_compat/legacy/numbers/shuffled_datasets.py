"""The order in which `shuffle` gives the elements of a data set: each iterator of TensorFlow 1 began it anew.

- In TensorFlow 1.15 all epochs of a `fit` on a data set with a seed are in one order, and so are two `fit`. In
  TensorFlow 2, and in 1.15 after `enable_v2_behavior()`, each iterator goes on from the one before.
- `shuffle(...)` right before `repeat(...)` was made one operation by the optimizer of TensorFlow 1.15's data sets, as
  `shuffle_and_repeat` was in TensorFlow 2.2, too: it drew from one generator for all passes, where `shuffle` has
  another one for each.
- In TensorFlow 2.2 a `shuffle` that had read its elements to the end made an iterator of them more, which took an order
  from them if they were shuffled; and so did `repeat(n)` right behind a `shuffle` after its last pass.

Read in TensorFlow 1.15.5's `dataset_ops.ShuffleDataset` and `shuffle_dataset_op.cc`.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from parallel_compat.backend.keras3.shuffled_datasets import Shuffled, has_shuffle, is_shuffle, with_one_iterator_more
from parallel_compat.legacy import execution
from parallel_compat.legacy.numbers.draws_of_tensorflow import whole_numbers
from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from parallel_compat.names.eras import Era

_FOR_EVER = -1


def begins_anew(era: Era) -> bool:
    """Whether each iterator of a shuffled data set begins its order anew in code of an era."""
    return object_eras.trained_as(era).has_graphs and not execution.has_v2_behavior()


def shuffled(elements: tf.data.Dataset, buffer_size: Any, seed: Any, again: bool) -> tf.data.Dataset | None:
    """Return what `elements.shuffle(...)` returned in TensorFlow 1; None where its arguments are a graph's tensors.

    >>> import tensorflow as tf
    >>> shuffled(tf.data.Dataset.range(4), 4, 3, again=True).seeds[1]
    3

    Args:
        elements: a data set.
        buffer_size: from how many elements the next is chosen.
        seed: the operation's own seed, or None.
        again: whether each pass of one iterator has an order of its own.
    """
    if any(tf.is_symbolic_tensor(each) for each in (buffer_size, seed)):
        return None
    return Shuffled(elements, int(buffer_size), _seeds(seed), again)


def _seeds(seed: Any) -> tuple[int, int]:
    of_graph, of_operation = tf.compat.v1.get_seed(None if seed is None else int(seed))
    return int(of_graph or 0), int(of_operation or 0)


def read_to_the_end(elements: tf.data.Dataset, era: Era) -> tf.data.Dataset:
    """Return the elements that a `shuffle` is to read, with the iterator more that it made of them at their end.

    Args:
        elements: a data set.
        era: of the code that shuffles it.
    """
    if not _is_of_tensorflow_2(era) or not has_shuffle(elements) or int(elements.cardinality()) == _FOR_EVER:
        return elements
    return with_one_iterator_more(elements, elements)


def _is_of_tensorflow_2(era: Era) -> bool:
    return era.is_tf_keras and not begins_anew(era) and not tf.inside_function()  # where iterators are of a graph


def repeated(data: tf.data.Dataset, count: Any, era: Era, repeat: Callable[..., Any]) -> tf.data.Dataset | None:
    """Return what `data.repeat(count)` gave in an era; None where that is what it gives today.

    Args:
        data: a data set.
        count: how many passes; None or -1 for ever.
        era: of the code that repeats it.
        repeat: the method as it is today.
    """
    if is_shuffle(data) and _is_of_tensorflow_2(era) and not tf.is_symbolic_tensor(count):
        passes = _FOR_EVER if count is None else int(count)
        if passes == 0:
            return data.take(0)  # today's one operation of both refuses it
        return with_one_iterator_more(repeat(data, passes), data) if passes > 1 else None
    if not isinstance(data, Shuffled) or not data.again or tf.is_symbolic_tensor(count) or count == 1:
        return None  # one pass was no operation there
    return _in_one_operation(data.elements, data.buffer_size, count, data.seeds)


def shuffled_and_repeated(elements: tf.data.Dataset, buffer_size: Any, count: Any, seed: Any) -> tf.data.Dataset | None:
    """Return what `elements.apply(shuffle_and_repeat(...))` gave; None where that is what it gives today.

    Args:
        elements: a data set.
        buffer_size: from how many elements the next is chosen.
        count: how many passes; None or -1 for ever.
        seed: the operation's own seed, or None.
    """
    if any(tf.is_symbolic_tensor(each) for each in (buffer_size, count, seed)):
        return None
    return _in_one_operation(elements, int(buffer_size), count, _seeds(seed))


def _in_one_operation(
    elements: tf.data.Dataset, buffer_size: int, count: Any, seeds: tuple[int, int]
) -> tf.data.Dataset | None:
    if tf.inside_function():  # of a `flat_map`, say, whose data sets are not at hand
        return None
    specs, samples = tf.nest.flatten(elements.element_spec), int(elements.cardinality())
    if seeds == (0, 0) or not all(isinstance(each, (tf.TensorSpec, tf.RaggedTensorSpec)) for each in specs):
        return None
    passes = _FOR_EVER if count is None else int(count)

    def drawn(of: Callable[[], Iterable[Any]]) -> Iterator[Any]:
        return _drawn(of, buffer_size, passes, whole_numbers(seeds))

    is_whole = all(isinstance(each, tf.TensorSpec) and each.shape.is_fully_defined() for each in specs)
    if not (is_whole and 0 < samples <= buffer_size):
        return tf.data.Dataset.from_generator(lambda: drawn(lambda: elements), output_signature=elements.element_spec)

    # What the buffer held is one tensor, so that no element goes through Python.
    numbers = tf.data.Dataset.from_generator(
        lambda: drawn(lambda: range(samples)), output_signature=tf.TensorSpec((), tf.int64)
    )

    def in_order(order: tf.Tensor) -> tf.data.Dataset:
        return elements.batch(samples).flat_map(
            lambda *parts: tf.data.Dataset.from_tensor_slices(
                tf.nest.map_structure(lambda part: tf.gather(part, order), parts if len(parts) > 1 else parts[0])
            )
        )

    return numbers.batch(samples).flat_map(in_order)


def _drawn(of: Callable[[], Iterable[Any]], size: int, passes: int, numbers: Iterator[int]) -> Iterator[Any]:
    """Yield elements as the operation did: the next pass fills places of the buffer while this one is given.

    Args:
        of: returns the elements of a pass.
        size: from how many elements the next is chosen.
        passes: how many there are, -1 for ever.
        numbers: what is drawn.
    """
    places: dict[int, Any] = {}
    begun: deque[list[int]] = deque([[0, 0]])  # of each pass in the buffer the first element that is left, and its end
    unread: Iterator[Any] | None = iter(of())
    nothing, is_empty, left = object(), True, passes
    while True:
        while unread is not None and len(places) < size:
            element = next(unread, nothing)
            if element is nothing:
                left -= 1
                unread = iter(of()) if left != 0 and not is_empty else None
                begun.append([begun[-1][1]] * 2)
                continue
            is_empty = False
            places[begun[-1][1] % size] = element
            begun[-1][1] += 1
        if not places:
            return
        while begun[0][0] == begun[0][1]:
            begun.popleft()
        first, end = begun[0]
        chosen = (first + next(numbers) % (end - first)) % size
        element, places[chosen] = places[chosen], places[first % size]
        del places[first % size]
        begun[0][0] += 1
        yield element
