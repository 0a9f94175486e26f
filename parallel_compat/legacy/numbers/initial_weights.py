"""Initial weights as Keras 2.2.4 drew them: the same values after the same `np.random.seed`.

Keras 2.2.4 drew a seed from `np.random` for each random tensor, and TensorFlow made the tensor of it and of the seed of
the graph (`tf.set_random_seed`, else 87654321), with the generator that TensorFlow still has. `Orthogonal` drew from
`np.random` itself. Values were compared with those of Keras 2.2.4 on TensorFlow 1.15.5: equal but for the last bit.
"""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3.layers import calls_of, is_of_graph
from parallel_compat.backend.keras3.repeated_calls import first_call
from parallel_compat.backend.keras3.symbolic_values import place_of_call
from parallel_compat.legacy.numbers import draws_of_tensorflow
from parallel_compat.names.eras import Era
from parallel_compat.run import callers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


# The seeds of random tensors were below this (`keras.backend.random_uniform` and its relatives).
_SEEDS = 10_000_000
# How many names the operation behind `Flatten` might have in Keras 2.3.
_NAMES = 10_000
# What TensorFlow takes for the seed of a graph that was given none.
_OF_A_NEW_GRAPH = 87654321


def draw_seed(seed: Any = None) -> int:
    """Return a seed of the user's, or draw one from `np.random` as each random tensor did."""
    return int(np.random.randint(_SEEDS)) if seed is None else int(seed)


def forget_seed_of_graph() -> None:
    """Let random tensors be drawn as in a new graph, where there were graphs: `tf.set_random_seed` was for one."""
    if callers.era_of_caller().has_graphs:
        tf.random.set_seed(_OF_A_NEW_GRAPH)


@contextlib.contextmanager
def drawing_nothing() -> Iterator[None]:
    """Leave `np.random` as it was before the block."""
    state = np.random.get_state()
    try:
        yield
    finally:
        np.random.set_state(state)


# Layers that drew seeds when they were called: how many for each rate, by the attribute that has it.
_RATES = {
    "Dropout": {"rate": 1},
    "SpatialDropout1D": {"rate": 1},
    "SpatialDropout2D": {"rate": 1},
    "SpatialDropout3D": {"rate": 1},
    "GaussianDropout": {"rate": 1},
    "AlphaDropout": {"rate": 1},
    "SimpleRNN": {"dropout": 1, "recurrent_dropout": 1},
    "GRU": {"dropout": 3, "recurrent_dropout": 3},
    "LSTM": {"dropout": 4, "recurrent_dropout": 4},
    "ConvLSTM2D": {"dropout": 4, "recurrent_dropout": 4},
    "SimpleRNNCell": {"dropout": 1, "recurrent_dropout": 1},
    "GRUCell": {"dropout": 3, "recurrent_dropout": 3},
    "LSTMCell": {"dropout": 4, "recurrent_dropout": 4},
}
# Those that `tf.nn.dropout` of TensorFlow 1.15 drew for, with their own seed or as the graph said.
_BY_TENSORFLOW = ("Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D")
# The names of the layers that draw.
LAYERS = {*_RATES, "GaussianNoise"}
# Those whose masks are drawn here, and those of them that could be given a seed.
_SEEDED = (keras.layers.Dropout, *keras3.alpha_dropouts())
_DRAWING = (*_SEEDED, keras.layers.GaussianNoise, keras.layers.GaussianDropout)
_LEAST = -1.6732632423543772848170429916717 * 1.0507009873554804934193349852946  # of SELU
_OF_MASKS, _DRAWN = "_parallel_compat_seeds_of_masks", "_parallel_compat_streams_of_masks"
# On a layer: for each of its calls, the seeds of the operations that it made, and which of them were given.
OF_OPERATIONS = "_parallel_compat_seeds_of_operations"
# On a model: for each of its calls, by their number, the seeds of the layers in it, by the calls that lead to them.
_WITHIN = "_parallel_compat_seeds_of_masks_within"
# On a layer of the user's: how many seeds the layers that its `call` calls draw.
_OF_LAYERS_IN_CALL = "_parallel_compat_draws_of_call"


def draw_seeds_of(layer: Any, era: Era, masks: bool = True) -> int:
    """Draw the seeds that were drawn when a layer, or a model with layers, was called on a symbolic tensor.

    A graph had operations of its own for each call of a model: a discriminator with Dropout drew for itself, and drew
    other masks in the model that trains the generator.

    Args:
        layer: the layer, wrapper or functional model.
        era: the era of the code that called it, before today's.
        masks: whether layers with a learning phase draw; if not, what draws in any phase.

    Returns:
        How many, but for those of operations of the backend.
    """
    if is_of_graph(layer):
        within: dict[tuple[int, ...], list[int | None]] = {}
        vars(layer).setdefault(_WITHIN, {})[len(calls_of(layer))] = within  # the call is noted when it is over
        return draw_within(layer, era, within, masks=masks)
    seeds = _draw_seeds(layer, era, masks=masks)
    if masks and isinstance(layer, _DRAWING):
        vars(layer).setdefault(_OF_MASKS, []).append(seeds or [layer.seed])
    return len(seeds)


def _draw_seeds(layer: Any, era: Era, *, masks: bool) -> list[int]:
    if era is Era.KERAS_2_3:
        for _ in range(_flattened(layer)):
            np.random.randint(_NAMES)
    return [draw_seed() for _ in range(seeds_of(layer, era))] if masks else []


def _flattened(layer: Any) -> int:
    """Return how often a call of a layer flattens, for which Keras 2.3 drew the name of an operation."""
    if isinstance(layer, keras.Model):
        return sum(map(_flattened, layer.layers))
    if isinstance(layer, keras.layers.Wrapper):
        return _flattened(layer.layer)
    return int(isinstance(layer, keras.layers.Flatten))


def draw_within(
    model: Any,
    era: Era,
    within: dict[tuple[int, ...], list[int | None]],
    around: tuple[int, ...] = (),
    *,
    masks: bool = True,
) -> int:
    """Draw for all calls that a functional or Sequential model is made of.

    Args:
        model: the model.
        era: as in `draw_seeds_of`.
        within: gets the seeds.
        around: the calls that lead to the model.
        masks: as in `draw_seeds_of`.

    Returns:
        as `draw_seeds_of`.
    """
    drawn = 0
    for node in keras3.nodes_of(model):
        layer, place = node.operation, (*around, id(node))
        if is_of_graph(layer):
            drawn += draw_within(layer, era, within, place, masks=masks)
        elif isinstance(layer, keras.Layer):
            operations = draw_operations_of(layer, era)
            seeds = _draw_seeds(layer, era, masks=masks)
            drawn += len(seeds)
            if operations:
                within[place] = [seed for seed, _ in operations]
            elif masks and isinstance(layer, _DRAWING):
                within[place] = [*(seeds or [layer.seed])]
    return drawn


def draw_operations_of(layer: Any, era: Era) -> list[tuple[int, bool]]:
    """Draw for the operations of the backend that a call of a layer makes which has been called before."""
    seeds = []
    for call in vars(layer).get(OF_OPERATIONS, ())[:1]:
        seeds += [(draw_seed(seed if is_given else None), is_given) for seed, is_given in call]
        draw_for_shape(layer, call, 0, era)
    return seeds


def draw_for_shape(
    layer: keras.layers.Layer, seeds: list[tuple[int, bool]], masks: int, era: Era, variables: int = 0
) -> None:
    """Draw what the function of a Lambda layer drew when Keras 2.2.4 called it once more, for the shape it gives."""
    if not era.is_tf_keras and keras3.finds_shape_by_its_function(layer):
        for _ in range(masks + sum(not is_given for _, is_given in seeds)):
            draw_seed()
        for _ in range(variables):
            draw_seed_of_variable()


def draw_seed_of_variable() -> int:
    """Draw a seed of the values of a `K.random_normal_variable`."""
    return int(np.random.randint(1_000_000_000))


def note_draws(layer: Any, count: int) -> None:
    """Note how many seeds the layers drew that `call` of a layer of the user's called."""
    vars(layer)[_OF_LAYERS_IN_CALL] = count


def dropout(layer: Any, inputs: Any, noise_shape: Sequence[int | None] | None) -> Any:
    """Drop values out as in a graph, on one device; None on values, and where the seed of the operation is not known.

    The operation had a seed of its own from when it was made, and drew on from step to step.

    Args:
        layer: the layer.
        inputs: what it is called on.
        noise_shape: the shape of the mask, with None for the size of the inputs; None for their shape.
    """
    if not _draws_as_then(layer):
        return None
    shape = draws_of_tensorflow.shape_of_mask(inputs, noise_shape)
    kept = 1.0 - layer.rate
    mask = _drawn_on(layer, shape, inputs.dtype) >= 1.0 - kept
    return inputs * (1 / (1.0 - (1.0 - kept))) * tf.cast(mask, inputs.dtype)


def noise(
    layer: Any, inputs: Any, noise_shape: Sequence[int | None] | None, drawn: Callable[..., Any] | None = None
) -> Any:
    """Return what GaussianNoise, GaussianDropout or AlphaDropout made of the inputs, or None as `dropout` does.

    (`keras/layers/noise.py` of Keras 2.2.4, and the same of TensorFlow 1.15.5 and 2.2.3.)

    Args:
        layer: the layer.
        inputs: what it is called on.
        noise_shape: the shape of AlphaDropout's mask, with None for the size of the inputs; None for their shape.
        drawn: what draws, given the layer, a shape, a dtype and an operation; by default as an operation of a graph.
    """
    if drawn is None:
        if not _draws_as_then(layer):
            return None
        drawn = _drawn_on
    if isinstance(layer, keras3.alpha_dropouts()):
        kept = drawn(layer, draws_of_tensorflow.shape_of_mask(inputs, noise_shape), inputs.dtype) >= layer.rate
        kept = tf.cast(kept, inputs.dtype)
        slope = ((1 - layer.rate) * (1 + layer.rate * _LEAST**2)) ** -0.5
        return slope * (inputs * kept + _LEAST * (1 - kept)) - slope * _LEAST * layer.rate
    normal = drawn(layer, tf.shape(inputs), inputs.dtype, tf.raw_ops.StatelessRandomNormalV2)
    if isinstance(layer, keras.layers.GaussianNoise):
        return inputs + normal * layer.stddev
    return inputs * (normal * np.sqrt(layer.rate / (1.0 - layer.rate)).astype("float32") + 1.0)


def _draws_as_then(layer: Any) -> bool:
    """Say whether one operation with a seed draws for a layer, on one device, in a graph."""
    replica = tf.distribute.get_replica_context()
    is_alone = replica is not None and replica.num_replicas_in_sync == 1
    return is_alone and not tf.executing_eagerly() and _place_and_seed(layer)[1] is not None


def _place_and_seed(layer: Any) -> tuple[tuple[int, ...], int | None]:
    """Return at which place of a graph a layer is called, and the seed of its operation there, or None if not known."""
    around, node = place_of_call()
    place, seeds = place_and_seeds(layer, (*around, node), vars(layer).get(_OF_MASKS, ()))
    return place, seeds[0] if seeds else None


def place_and_seeds(
    layer: Any, path: Sequence[Any], of_calls: Sequence[Sequence[int | None]]
) -> tuple[tuple[int, ...], Sequence[int | None]]:
    """Return at which place of a graph a layer is called, and the seeds of its operations there; none if not known.

    Args:
        layer: the layer.
        path: the calls that lead to it, the last one its own.
        of_calls: the seeds of each call of the layer itself.
    """
    call, *within = path
    if within:
        if call is None:
            return tuple(map(id, path)), ()
        calls, seeds_within = calls_of(call.operation), vars(call.operation).get(_WITHIN, {})
        if _number(call, calls) not in seeds_within:
            call = first_call(call)  # it made no operations, and returned what that one had
        place = tuple(map(id, (call, *within)))
        return place, seeds_within.get(_number(call, calls), {}).get(place[1:], ())
    if len(of_calls) == 1:
        return (), of_calls[0]
    calls = calls_of(layer)
    number = _number(call, calls)
    return (id(call),), of_calls[number] if number is not None and len(calls) == len(of_calls) else ()


def _number(node: Any, calls: list[Any]) -> int | None:
    return next((number for number, each in enumerate(calls) if each is node), None)


def _drawn_on(layer: Any, shape: Any, dtype: Any, draw: Any = tf.raw_ops.StatelessRandomUniformV2) -> Any:
    """Return the next values of an operation that draws, which goes on from those that it drew before."""
    place, seed = _place_and_seed(layer)
    streams: dict[tuple[int, ...], draws_of_tensorflow.Stream] = vars(layer).setdefault(_DRAWN, {})
    if place not in streams:
        assert seed is not None
        streams[place] = draws_of_tensorflow.Stream(seed)
    return streams[place].values_of_run(draw, shape, dtype)


def seeds_of(layer: Any, era: Era) -> int:
    """Return how many seeds a layer, or a model with layers, draws when it is called on a symbolic tensor."""
    if (noted := vars(layer).get(_OF_LAYERS_IN_CALL)) is not None:
        return int(noted)
    if isinstance(layer, keras.Model):
        return sum(seeds_of(each, era) for each in layer.layers)
    if isinstance(layer, keras.layers.Bidirectional):
        return seeds_of(layer.forward_layer, era) + seeds_of(layer.backward_layer, era)
    if isinstance(layer, keras.layers.Wrapper):
        return seeds_of(layer.layer, era)
    if isinstance(layer, keras.layers.GaussianNoise):
        return 1
    for kind in type(layer).__mro__:
        if kind.__name__ in _RATES and kind.__module__.startswith("keras."):
            rates = _RATES[kind.__name__]
            if "recurrent_dropout" in rates and not era.has_graphs:
                return 0  # TensorFlow 2.2 drew these when it trained
            if isinstance(layer, _SEEDED) and layer.seed is not None:
                return 0
            if kind.__name__ in _BY_TENSORFLOW and era.is_tf_keras:
                return 0
            return sum(count for name, count in rates.items() if 0 < (getattr(layer, name, 0) or 0) < 1)
    if isinstance(layer, keras.layers.RNN):
        return sum(seeds_of(cell, era) for cell in getattr(layer.cell, "cells", [layer.cell]))
    return 0


def _draws(seed: Any) -> draws_of_tensorflow.Draws:
    return draws_of_tensorflow.Draws(draw_seed(seed))


def _random_uniform(self: Any, shape: Sequence[int], seed: Any) -> Any:
    return _draws(seed).uniform(shape, self.minval, self.maxval, "float32")


def _random_normal(self: Any, shape: Sequence[int], seed: Any) -> Any:
    return _draws(seed).normal(shape, self.mean, self.stddev, "float32")


def _truncated_normal(self: Any, shape: Sequence[int], seed: Any) -> Any:
    return _draws(seed).truncated_normal(shape, self.mean, self.stddev, "float32")


def _variance_scaling(self: Any, shape: Sequence[int], seed: Any) -> Any:
    fan_in, fan_out = _fans(shape)
    fan = {"fan_in": fan_in, "fan_out": fan_out}.get(self.mode, (fan_in + fan_out) / 2)
    scale = self.scale / max(1.0, fan)
    if self.distribution == "uniform":
        limit = math.sqrt(3.0 * scale)
        return _draws(seed).uniform(shape, -limit, limit, "float32")
    deviation = math.sqrt(scale) / draws_of_tensorflow.TRUNCATED
    return _draws(seed).truncated_normal(shape, 0.0, deviation, "float32")


def _fans(shape: Sequence[int]) -> tuple[float, float]:
    if len(shape) == 2:
        return shape[0], shape[1]
    if len(shape) in (3, 4, 5):
        field = math.prod(shape[:-2])
        return shape[-2] * field, shape[-1] * field
    return (math.sqrt(math.prod(shape)),) * 2


def _orthogonal(self: Any, shape: Sequence[int], seed: Any) -> Any:
    flat = (math.prod(shape[:-1]), shape[-1])
    draws: Any = np.random
    if seed is not None and callers.era_of_caller() is Era.KERAS_2_3:
        draws = np.random.RandomState(seed)
    elif seed is not None:
        np.random.seed(seed)  # for everything that follows: it did
    u, _, v = np.linalg.svd(draws.normal(0.0, 1.0, flat), full_matrices=False)
    return tf.constant(self.gain * (u if u.shape == flat else v).reshape(shape), "float32")


DRAW: dict[str, Callable[[Any, Sequence[int], Any], Any]] = {
    "RandomUniform": _random_uniform,
    "RandomNormal": _random_normal,
    "TruncatedNormal": _truncated_normal,
    "VarianceScaling": _variance_scaling,
    "Orthogonal": _orthogonal,
}


def drawn(kind: str, initializer: Any, shape: Sequence[int], dtype: Any) -> Any:
    """Draw initial weights.

    Args:
        kind: a key of `DRAW`.
        initializer: the initializer, of that class of Keras 3 or of one below it.
        shape: the shape.
        dtype: the dtype; `floatx` by default.
    """
    values = DRAW[kind](initializer, tuple(shape), initializer.get_config().get("seed"))
    return tf.cast(values, keras.backend.standardize_dtype(dtype or keras.backend.floatx()))
