"""What the forward passes of the replicas gave: their outputs merged, and the way back through them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.training.layer_state import LayerState, ReplicaState
from parallel_compat.training.replicas import Replicas, ReplicaSlice, add, concatenate_samples, take_samples


class ReplicaPass:
    """What the forward passes of the replicas gave; lists have an entry for each replica."""

    def __init__(self, replicas: Replicas, samples: Sequence[ReplicaSlice], layer_state: LayerState) -> None:
        self.replicas = replicas
        self.samples = samples
        self.layer_state = layer_state
        self.structure: Any = None
        self.outputs: list[list[Any]] = []  # flat
        self.masks: list[list[Any]] = []  # Keras's masks of these outputs, or None
        self.logits: list[list[Any]] = []  # what a softmax or sigmoid made these outputs of, or None
        self.operations: list[str | None] = []  # which of them, for each output
        self.added_losses: list[list[Any]] = []
        # Of the replicas of this process:
        self.states: list[ReplicaState] = []
        self.tapes: list[tf.GradientTape | None] = []  # None outside training
        self.sources: list[list[Any]] = []  # what the loss is made of, to which gradients are handed back

    @property
    def sample_count(self) -> Any:
        """The number of samples of the global batch, an int where it is static."""
        return sum(cut.size for cut in self.samples)

    def merged_output(self, index: int) -> Any:
        """Concatenate one output of the replicas, and its mask, along the samples; average scalars over the samples."""
        parts = [outputs[index] for outputs in self.outputs]
        if parts[0].shape.rank == 0:
            weights = [tf.cast(cut.size / self.sample_count, parts[0].dtype) for cut in self.samples]
            return tf.add_n([tf.math.multiply_no_nan(p, w) for p, w in zip(parts, weights, strict=True)])
        merged = self.merge(parts)
        masks = [mask[index] for mask in self.masks]
        if masks[0] is not None:
            keras3.layers.set_mask(merged, self.merge(masks))
        logits = [logit[index] for logit in self.logits]
        if logits[0] is not None:
            keras3.layers.set_logits(merged, self.merge(logits), self.operations[index])
        return merged

    def merge(self, parts: list[Any]) -> Any:
        """Concatenate what the replicas computed, without the copies of replicas that have no samples of their own."""
        merged = concatenate_samples(parts)
        # All replicas have samples, or the last one alone has: the others each put one copy in front.
        copies = sum(cut.padded - cut.size for cut in self.samples)
        if isinstance(copies, int) and copies == 0:
            return merged
        if isinstance(merged, tf.SparseTensor):
            return take_samples(merged, copies, tf.cast(merged.dense_shape[0], tf.int32) - copies)
        return merged[copies:]

    def backward(self, gradients: Sequence[Sequence[Any]], variables: Sequence[keras.Variable]) -> list[Any]:
        """Run the backward passes and add up their gradients.

        Args:
            gradients: for each replica of this process, the gradient of the loss with respect to its `sources`,
                None where the loss does not depend on one.
            variables: the variables to differentiate with respect to.

        Returns:
            For each variable the sum over all replicas: a tensor, `tf.IndexedSlices` or None.
        """

        def on_replica(replica: int) -> list[Any]:
            here = self.replicas.here(replica)
            pairs = [(s, g) for s, g in zip(self.sources[here], gradients[here], strict=True) if g is not None]
            tape = self.tapes[here]
            assert tape is not None
            if not pairs:
                return [None] * len(variables)
            targets, output_gradients = zip(*pairs, strict=True)
            read = [self.states[here].read(variable) for variable in variables]
            found = tape.gradient(list(targets), read, output_gradients=list(output_gradients))
            return [add(parts) for parts in found]

        return self.replicas.sum_gradients(self.replicas.run(on_replica), variables)

    def gather_workers(self, needed: set[int] | None) -> None:
        """Make outputs, masks, logits and added losses those of all replicas, other workers' too.

        Args:
            needed: the numbers of the outputs that are needed of all replicas; None for all.
        """
        if not self.replicas.several_workers:
            return
        padded = [cut.padded for cut in self.samples]

        def of_all(per_replica: list[list[Any]], needed: set[int] | None = None) -> list[list[Any]]:
            columns = []
            for number, parts in enumerate(zip(*per_replica, strict=True)):
                if parts[0] is None or not (needed is None or number in needed):
                    columns.append([None] * self.replicas.count)
                elif parts[0].shape.rank == 0:
                    columns.append(self.replicas.gather_values(list(parts)))
                else:
                    columns.append(self.replicas.gather(list(parts), padded))
            return [list(sample) for sample in zip(*columns, strict=True)] or [[]] * self.replicas.count

        of_outputs = (self.outputs, self.masks, self.logits)
        self.outputs, self.masks, self.logits = (of_all(part, needed) for part in of_outputs)
        self.added_losses = of_all(self.added_losses)
