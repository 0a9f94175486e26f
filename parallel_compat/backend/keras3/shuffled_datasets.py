"""Data sets that are shuffled by TensorFlow 1's operation, which is still there: each iterator begins its order anew.

`Dataset.shuffle` itself takes that operation where TensorFlow 2 is switched off. Read in TensorFlow 2.21's
`data/ops/shuffle_op.py`.
"""

from __future__ import annotations

import tensorflow as tf
from tensorflow.python.data.ops import dataset_ops


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

    TensorFlow has read ahead since 2.10, where a data set has no `prefetch` of its own: a pass of `shuffle().repeat()`
    that nobody reads then is begun, so that all later orders are others, and generators run beside the training.

    Nor has anything in it been drawn yet: what an operation of TensorFlow 1 has drawn is kept with the data set, which
    iterators share, but one with options of its own is rewritten for each, with operations of its own.

    Args:
        dataset: a data set of any kind.
    """
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    return dataset.with_options(options)
