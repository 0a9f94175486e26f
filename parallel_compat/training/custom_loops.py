"""The call of a parallel model in a custom training loop, inside `strategy.run`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.training.layer_state import LayerState, ReplicaState
from parallel_compat.training.replicas import ReplicaSlice, replica_number


class ReplicaCalls:
    """The calls that the replicas of a custom loop make to a parallel model, which share one layer state."""

    def __init__(self) -> None:
        self._states: dict[int, ReplicaState] = {}

    def call(self, model: keras.Model, seeds: keras.random.SeedGenerator, run: Callable[[], Any]) -> Any:
        """Run the model on this replica: on a layer state of its own, which is merged with the other replicas'.

        Raises:
            ValueError: if a layer writes a trainable variable, whose gradient the user's step would miss.
        """
        context = tf.distribute.get_replica_context()
        state = LayerState(model, seeds)
        replica = replica_number()
        with (own := state.of_replica(replica)).used() as scope:
            outputs = run()
        written = [variable.path for variable in state.trainable if own.written(variable)]
        if written:
            raise ValueError(
                "Expected layers that write no trainable variable while they are called, in a step that differentiates "
                f"by itself. Received: {written} are written (SpectralNormalization does so). Train with `fit` or "
                "`train_on_batch`."
            )
        self._states[replica] = own
        context.merge_call(lambda _: state.merge([self._states[i] for i in sorted(self._states)], self._equal_parts()))
        keras3.layers.set_added_losses(model, scope.losses)
        return outputs

    def _equal_parts(self) -> list[ReplicaSlice]:
        """Return a slice of one sample for each replica: how many samples a custom step gave it is not known."""
        return [ReplicaSlice(0, 1, 1)] * len(self._states)


def in_replica_context() -> bool:
    """Whether this thread computes one of several replicas of a custom loop."""
    context = tf.distribute.get_replica_context()
    return context is not None and context.num_replicas_in_sync > 1 and not keras3.table_rows.is_on_replica()
