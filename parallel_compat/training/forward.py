"""One step on the replicas: forward on each, one loss on the global batch, backward on each.

This is what the graph of the real `multi_gpu_model` did. The replicas read the one set of variables and return
their outputs; the loss is computed once, outside the replicas; its gradient with respect to their outputs is
handed back to each for its own backward pass; the sum of their gradients is the gradient of the global batch.
So optimizers, clipping, averaging, accumulation and schedules need no change at all: they see what they would
see on one device.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import batch_normalization
from parallel_compat.training.layer_state import LayerState
from parallel_compat.training.losses import Placement
from parallel_compat.training.replica_pass import ReplicaPass
from parallel_compat.training.replicas import Replicas, take_samples
from parallel_compat.training.time_distributed import folded_time

# Inputs, targets and sample weights, the last two perhaps None.
Batch = tuple[Any, Any, Any]


def forward(
    model: keras.Model,
    replicas: Replicas,
    seeds: keras.random.SeedGenerator,
    batch: Batch,
    training: bool,
    placement: Placement | None = None,
    differentiate: bool = False,
) -> ReplicaPass:
    """Run the forward pass of each replica on its samples, and write what it changed in the layers.

    Args:
        seeds: the generator that layers without seeds of their own draw from.
        placement: which losses and metrics are computed on the replicas; None for none.
        differentiate: whether a backward pass follows.
    """
    x, y, sample_weight = batch
    samples = replicas.samples(x)
    layer_state = LayerState(model, seeds)
    result = ReplicaPass(replicas, samples, layer_state)
    if placement is not None:
        placement.start(samples)

    arrived = replicas.send([*layer_state.trainable, *layer_state.others], back=differentiate)

    def on_replica(replica: int) -> tuple[Any, ...]:
        cut = samples[replica]
        own_x = take_samples(x, cut.start, cut.padded)
        tape = tf.GradientTape() if differentiate else None
        states = layer_state.of_replica(replica, arrived[replicas.here(replica)])
        with (
            batch_normalization.synchronized_moments_of([part.size > 0 for part in samples]),
            folded_time(),
            tape or contextlib.nullcontext(),
            states.used(tape) as scope,
        ):
            y_pred = model(own_x, training=training)
            sums: Sequence[Any] = ()
            if placement is not None:
                own_y, own_weight = (take_samples(part, cut.start, cut.padded) for part in (y, sample_weight))
                sums = placement.on_samples(replica, own_y, y_pred, own_weight)
        outputs = keras.tree.flatten(y_pred)
        masks = [keras3.layers.get_mask(output) for output in outputs]
        logits = [keras3.layers.get_logits(output) for output in outputs]
        made_of = [logit for logit in logits if logit is not None]
        sources = [s for s in (*outputs, *made_of, *scope.losses, *sums) if s.dtype.is_floating]
        return y_pred, outputs, masks, logits, list(scope.losses), states, tape, sources

    passes = replicas.run(on_replica)
    result.structure = passes[0][0]
    result.operations = [keras3.layers.operation_behind(output) for output in passes[0][1]]
    columns = [list(column) for column in list(zip(*passes, strict=True))[1:]]
    result.outputs, result.masks, result.logits, result.added_losses = columns[:4]
    result.states, result.tapes, result.sources = columns[4:]
    if placement is not None:
        placement.gather_workers(replicas)
    result.gather_workers(None if placement is None else placement.outputs_needed)
    layer_state.merge(result.states, samples, replicas.gather_values)
    return result
