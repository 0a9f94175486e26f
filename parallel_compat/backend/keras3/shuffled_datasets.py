"""Data sets that are shuffled by TensorFlow 1's operation, which is still there: each iterator begins its order anew.

`Dataset.shuffle` itself takes that operation where TensorFlow 2 is switched off. Read in TensorFlow 2.21's
`data/ops/shuffle_op.py`.

And those of TensorFlow 2, which draw a seed for each iterator that is made of them.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from tensorflow.python.data.ops import dataset_ops, shuffle_op


class Shuffled(dataset_ops.UnaryUnchangedStructureDataset):  # type: ignore[misc]  # TensorFlow carries no types
    """A data set of the elements of another one in another order.

    Args:
        elements: the other one.
        buffer_size: from how many elements the next is chosen.
        seeds: the seed of the graph and that of the operation; two of 0 choose at random.
        again: whether each pass of one iterator has an order of its own.
    """

    def __init__(self, elements: tf.data.Dataset, buffer_size: int, seeds: tuple[int, int], again: bool) -> None:
        self.elements, self.buffer_size, self.seeds, self.again = elements, buffer_size, seeds, again
        variant = tf.raw_ops.ShuffleDataset(
            input_dataset=elements._variant_tensor,
            buffer_size=tf.constant(buffer_size, tf.int64),
            seed=tf.constant(seeds[0], tf.int64),
            seed2=tf.constant(seeds[1], tf.int64),
            reshuffle_each_iteration=again,
            **elements._flat_structure,
        )
        super().__init__(elements, variant)


def as_asked_for(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Return a data set to iterate over once, which reads no element before it is asked for.

    TensorFlow has read ahead since 2.10, where a data set has no `prefetch` of its own, and where it has a `map` in one
    thread, which is made a parallel one: a pass of `shuffle().repeat()` that nobody reads then is begun, so that all
    later orders are others, and generators run beside the training.

    Nor has anything in it been drawn yet: what an operation of TensorFlow 1 has drawn is kept with the data set, which
    iterators share, but one with options of its own is rewritten for each, with operations of its own.

    Args:
        dataset: a data set of any kind.
    """
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    options.experimental_optimization.map_parallelization = False
    return dataset.with_options(options)


def is_shuffle(dataset: tf.data.Dataset) -> bool:
    """Say whether a data set is what `shuffle` of TensorFlow 2 returned."""
    return isinstance(dataset, shuffle_op._ShuffleDataset)


def has_shuffle(dataset: tf.data.Dataset) -> bool:
    """Say whether a data set, or one that it is made of, is what `shuffle` of TensorFlow 2 returned."""
    left = [dataset]
    while left:
        each = left.pop()
        if is_shuffle(each):
            return True
        left.extend(each._inputs())
    return False


def with_one_iterator_more(dataset: tf.data.Dataset, of: tf.data.Dataset) -> tf.data.Dataset:
    """Return the elements of a data set; whoever asks for more of them than there are makes an iterator of another one.

    Args:
        dataset: the elements, of a finite number.
        of: what an iterator is made of, which draws a seed for each shuffle in it.
    """

    def make() -> np.int64:
        iter(of)
        return np.int64(0)

    at_the_end = tf.data.Dataset.from_tensors(0).map(lambda _: tf.numpy_function(make, [], tf.int64))
    whole = dataset.concatenate(at_the_end.flat_map(lambda _: dataset.take(0)))
    number = dataset.cardinality()
    return whole if number < 0 else whole.apply(tf.data.experimental.assert_cardinality(number))
