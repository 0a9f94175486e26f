"""Losses that layers add in their call (`add_loss`, activity regularizers), merged over replicas.

A layer adds one number for the samples it saw. Whether that number is a mean or a sum over samples decides how the
replicas' numbers make the global batch's, and nothing in it says so. So the template is tried on made-up samples,
a part and the whole, without changing anything in it.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.training.layer_state import LayerState
from parallel_compat.training.replicas import ReplicaSlice

SAMPLES = 4
UNKNOWN_DIMENSION = 8
# Where samples cannot be compared apart, so many times the same samples tell a sum (so many times as much) from a mean.
MANY = 16
DRAWS = 8  # of a loss that random numbers are a part of: its mean over so many tells


def find_merge_kinds(model: keras.Model, state: LayerState, x: Any, training: bool) -> list[str]:
    """Find out how each added loss of `model` merges.

    Args:
        state: its layer state, which is not changed.
        x: inputs, of which structure, shapes and dtypes are used.

    Returns:
        "mean" or "sum" for each added loss, in the order they are added.
    """
    trials = []
    with tf.init_scope(), _activity_regularizers_counting_samples(model):
        for scale in (1.0, 10.0, -1.0):
            batch = _random_inputs(x, scale)
            trials.append(_compare(model, state, batch, training))
    found = [set(of_loss) - {"unclear"} for of_loss in zip(*trials, strict=True)]
    kinds = [of_loss.pop() if len(of_loss) == 1 else "neither" for of_loss in found]
    if "neither" in kinds:
        raise ValueError(
            "Expected each loss added by a layer (`add_loss`) to be a mean or a sum over the samples, so that it can "
            f"be computed on each replica's samples. Received: loss {kinds.index('neither') + 1} of {len(kinds)} is "
            "neither, is 0, or could not be tried. Say which with parallelize(model, ..., merge={'add_loss': 'mean'}) "
            "or 'sum'."
        )
    return kinds


def merge_added_losses(
    losses: Sequence[Sequence[Any]], kinds: Sequence[str], samples: Sequence[ReplicaSlice]
) -> list[Any]:
    """Merge the replicas' added losses.

    Args:
        losses: for each replica, its added losses, float scalars.
        kinds: "mean" or "sum" for each loss.
    """
    total = sum(cut.size for cut in samples)
    merged = []
    for kind, parts in zip(kinds, zip(*losses, strict=True), strict=True):
        weights = [cut.size / total if kind == "mean" else cut.size > 0 for cut in samples]
        terms = [tf.math.multiply_no_nan(p, tf.cast(w, p.dtype)) for p, w in zip(parts, weights, strict=True)]
        merged.append(tf.add_n(terms))
    return merged


@contextlib.contextmanager
def _activity_regularizers_counting_samples(model: keras.Model) -> Iterator[None]:
    """Let each activity regularizer return the number of samples, within the block.

    Keras divides what one returns by the number of samples, so it is a mean whatever it returns. On made-up samples it
    may return 0 (a factor of 0, no activity), which tells nothing.
    """
    regularized = [layer for layer in keras3.layers.all_layers(model) if layer.activity_regularizer is not None]
    own = [layer.activity_regularizer for layer in regularized]
    for layer in regularized:  # past what looks at what is set: it would be a sum again
        vars(layer)["activity_regularizer"] = _count_samples
    try:
        yield
    finally:
        for layer, regularizer in zip(regularized, own, strict=True):
            vars(layer)["activity_regularizer"] = regularizer


def _random_inputs(x: Any, scale: float) -> Any:
    generator = np.random.default_rng(0)

    def make(leaf: Any) -> Any:
        if leaf is None:
            return None
        shape = (SAMPLES, *(UNKNOWN_DIMENSION if n is None else n for n in leaf.shape[1:]))
        if leaf.dtype.is_floating:
            return tf.cast(scale * generator.normal(0, 1, shape), leaf.dtype)
        if leaf.dtype == tf.string:
            return tf.as_string(generator.integers(0, 2, shape))
        return tf.cast(generator.integers(0, 2, shape), leaf.dtype)

    return keras.tree.map_structure(make, x)


def _compare(model: keras.Model, state: LayerState, batch: Any, training: bool) -> list[str]:
    # What metrics have counted is a tensor of the step's graph while that is traced: here they start from zero.
    counted = {
        id(v): tf.zeros(v.shape, v.dtype) for metric in keras3.layers.layer_metrics(model) for v in metric.variables
    }
    # Weights that begin as zeros, and factors that are raised during training, would make a loss 0 on any samples.
    variables = [v for v in (*state.others, *state.trainable) if keras.backend.is_float_dtype(v.dtype)]
    zeros = [variable for variable in variables if id(variable) not in counted and not np.any(variable.numpy())]

    def run(samples: Any, number: int = 0) -> tuple[list[float], list[Any]]:
        replica = state.of_replica(number, counted)  # each draws other numbers
        for variable in zeros:
            replica.pretend(variable, tf.fill(variable.shape, tf.cast(0.5, variable.dtype)))
        with replica.used() as scope:
            outputs = model(samples, training=training)
        return [float(tf.reduce_sum(loss)) for loss in scope.losses], keras.tree.flatten(outputs)

    def samples(start: int, stop: int) -> Any:
        return keras.tree.map_structure(lambda leaf: None if leaf is None else leaf[start:stop], batch)

    def repeated(leaf: Any) -> Any:
        return None if leaf is None else tf.repeat(leaf, MANY, axis=0)

    (whole, together), (first, alone), (rest, others) = run(batch), run(samples(0, 1)), run(samples(1, SAMPLES))
    many, _ = run(keras.tree.map_structure(repeated, batch))
    # Where BatchNormalization or dropout ties the samples together, no part of the batch can be compared.
    apart = all(
        np.allclose(t, np.concatenate([a, o]), 1e-4, 1e-5) if t.shape.rank else False
        for t, a, o in zip(together, alone, others, strict=True)
    )
    again, _ = run(batch, 1)
    if not all(_close(*both) for both in zip(whole, again, strict=True)):
        # The outputs may be the same whatever is drawn, as where a layer that adds a loss returns its input.
        apart = False
        whole, many = (
            np.mean([run(each, number)[0] for number in range(DRAWS)], axis=0).tolist()
            for each in (batch, keras.tree.map_structure(repeated, batch))
        )
    return [_kind(*values, apart) for values in zip(whole, first, rest, many, strict=True)]


def _close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-9)


def _kind(whole: float, first: float, rest: float, many: float, apart: bool) -> str:
    if whole == 0 or not all(math.isfinite(value) for value in (whole, first, rest, many)):
        return "unclear"
    if _close(whole, (first + (SAMPLES - 1) * rest) / SAMPLES):
        return "mean"
    if _close(whole, first + rest):
        return "sum"
    if apart:
        return "neither"
    if many / whole <= 0:
        return "unclear"
    if many / whole < MANY**0.25:
        return "mean"
    return "sum" if many / whole > MANY**0.75 else "unclear"


def _count_samples(output: Any) -> Any:
    return keras.ops.cast(keras.ops.shape(output)[0] if output.ndim else 1, output.dtype)
