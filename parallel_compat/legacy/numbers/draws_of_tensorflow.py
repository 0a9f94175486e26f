"""What TensorFlow drew: without a seed in 2.2, so that `tf.random.set_seed` repeats a run; with one in a graph of 1.15.

In 2.2 each eager operation took its seed from a generator that `tf.random.set_seed` began anew, and each operation of a
function the number of those before it in that function. Both are so in today's TensorFlow; today's Keras draws from
generators of its own instead. Read in TensorFlow 2.2.3's `random_seed.get_seed` and `init_ops_v2`, and in 1.15.5's
`init_ops`.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.backend.keras3.numbers_of_variables import as_of_now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# The standard deviation of a normal distribution cut at two of its standard deviations.
TRUNCATED = 0.87962566103423978
# As Keras names what its generators hold, which is no weight of a layer.
_NAME = "seed_generator_state"
# `tf.random.Algorithm.PHILOX`.
_PHILOX = 1
_AT_ONCE = 4096


class Draws:
    """Operations of TensorFlow that draw: those of eager execution, or the first values of those of a graph.

    Args:
        seed: the operations' own seed, in a graph; None for eager operations without one.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._seed = seed

    def uniform(self, shape: Sequence[int], low: float, high: float, dtype: str) -> Any:
        """Draw from `low` to `high`."""
        if self._seed is None:
            return tf.random.uniform(shape, low, high, dtype)
        return _first_values(tf.raw_ops.StatelessRandomUniformV2, shape, self._seed, dtype) * (high - low) + low

    def normal(self, shape: Sequence[int], mean: float, stddev: float, dtype: str) -> Any:
        """Draw from a normal distribution."""
        if self._seed is None:
            return tf.random.normal(shape, mean, stddev, dtype)
        return _first_values(tf.raw_ops.StatelessRandomNormalV2, shape, self._seed, dtype) * stddev + mean

    def truncated_normal(self, shape: Sequence[int], mean: float, stddev: float, dtype: str) -> Any:
        """Draw from a normal distribution cut at two of its standard deviations."""
        if self._seed is None:
            return tf.random.truncated_normal(shape, mean, stddev, dtype)
        return _first_values(tf.raw_ops.StatelessTruncatedNormalV2, shape, self._seed, dtype) * stddev + mean


def _first_values(operation: Any, shape: Sequence[int], seed: int, dtype: str) -> Any:
    """Return the first values of an operation of a graph that draws, of the graph's seed and its own."""
    of_graph, of_operation = tf.compat.v1.get_seed(seed)
    seeds = of_graph, tf.constant(of_operation, tf.uint64)
    return _values(operation, tuple(shape), seeds, dtype, tf.constant(0, tf.uint64))


# On a graph that is traced: what each stream has drawn in it.
_OF_RUN = "_parallel_compat_drawn_in_run"


class Stream:
    """The values of one operation of a graph that draws, which goes on from those that it drew before.

    Args:
        seed: the operation's own seed.
        looked_at: whether the first values are but looked at, and are those of the first run as well.
    """

    def __init__(self, seed: int, looked_at: bool = False) -> None:
        self._looked_at = looked_at
        seeds = tf.compat.v1.get_seed(seed)
        with tf.init_scope():
            self._seeds = tf.Variable(seeds, trainable=False, dtype=tf.int64, name=_NAME)  # the graph's, and its own
            self._drawn = tf.Variable(0, trainable=False, dtype=tf.int64, name=_NAME)

    def state(self) -> tuple[Any, Any]:
        """Return its seeds, and how far it has drawn."""
        return self._seeds.numpy(), self._drawn.numpy()

    def go_on_from(self, state: tuple[Any, Any]) -> None:
        """Let it be as it was when `state` returned this."""
        with tf.init_scope():
            self._seeds.assign(state[0])
            self._drawn.assign(state[1])

    def begin(self, seed: int) -> None:
        """Let it be that of an operation of another graph, which has not drawn.

        Args:
            seed: the operation's own seed.
        """
        with tf.init_scope():
            self.go_on_from((tf.compat.v1.get_seed(seed), 0))

    def values_of_run(self, operation: Any, shape: Any, dtype: Any, **bounds: Any) -> Any:
        """Return the next values, or those that this run of a graph has drawn already: an operation ran once in it.

        Today what a model computed is computed again for a gradient, a loss or a call that made nothing new.

        Args:
            operation: as in `next_values`.
            shape: the shape.
            dtype: the dtype.
            bounds: as in `next_values`.
        """
        if tf.executing_eagerly():
            return self.next_values(operation, shape, dtype, **bounds)
        graph = tf.compat.v1.get_default_graph()
        drawn: dict[Stream, Any] = getattr(graph, _OF_RUN, {})
        setattr(graph, _OF_RUN, drawn)
        if self not in drawn:
            drawn[self] = self.next_values(operation, shape, dtype, **bounds)
        return drawn[self]

    def next_values(self, operation: Any, shape: Any, dtype: Any, **bounds: Any) -> Any:
        """Return the next values.

        TensorFlow's kernel sets aside 256 blocks of its generator for each value (`PhiloxRandomOp`).

        Args:
            operation: the stateless one of the same distribution, of `tf.raw_ops`.
            shape: the shape, which may be a tensor.
            dtype: the dtype.
            bounds: what `operation` takes besides.
        """
        seeds = tf.unstack(tf.cast(self._seeds, tf.uint64))
        values = _values(functools.partial(operation, **bounds), shape, seeds, dtype, tf.cast(self._drawn, tf.uint64))
        if self._looked_at:
            self._looked_at = False
        else:
            self._drawn.assign_add(256 * tf.cast(tf.reduce_prod(shape), tf.int64))
        return values


def _values(operation: Any, shape: Any, seeds: Sequence[Any], dtype: Any, drawn: Any) -> Any:
    of_graph, of_operation = seeds
    return operation(
        shape=shape,
        dtype=dtype,
        key=tf.stack([tf.cast(of_graph, tf.uint64)]),
        counter=tf.stack([drawn, of_operation]),
        alg=_PHILOX,
    )


_STATELESS = {
    "RandomStandardNormal": tf.raw_ops.StatelessRandomNormalV2,
    "RandomUniform": tf.raw_ops.StatelessRandomUniformV2,
    "TruncatedNormal": tf.raw_ops.StatelessTruncatedNormalV2,
}


def draw_of(operation: str, *arguments: Any) -> Callable[[], Any] | None:
    """Return what draws one stream of values for all functions, as an operation of a graph did.

    Args:
        operation: its name.
        *arguments: its inputs, then names of attributes and values.

    Returns:
        None where it has no seed, or a distribution of which there is no stream.
    """
    if operation not in _STATELESS:
        return None
    shape, *rest = arguments
    attributes = dict(zip(rest[::2], rest[1::2], strict=True))
    seeds = attributes["seed"], attributes["seed2"]
    if not any(seeds):
        return None
    stream = Stream(seeds[1])
    stream.go_on_from((seeds, 0))
    dtype = tf.as_dtype(attributes["dtype"])
    return lambda: stream.values_of_run(_STATELESS[operation], as_of_now(shape), dtype)


def integers(*, dtype: Any, minval: Any, maxval: Any, **keywords: Any) -> Any:
    """Draw integers from `minval` to below `maxval`."""
    bounds = {"minval": tf.cast(minval, dtype), "maxval": tf.cast(maxval, dtype)}
    return tf.raw_ops.StatelessRandomUniformIntV2(**bounds, **keywords)


def whole_numbers(seeds: tuple[int, int]) -> Iterator[int]:
    """Yield the numbers of 32 bits that a kernel of TensorFlow drew one after another (`PhiloxRandom`).

    >>> next(whole_numbers((87654321, 3)))
    3534849767

    Args:
        seeds: that of the graph and that of the operation.
    """
    of_graph, of_operation = seeds
    for block in itertools.count(0, _AT_ONCE // 4):  # of four numbers
        with tf.init_scope():
            yield from (
                tf.raw_ops.StatelessRandomUniformFullIntV2(
                    shape=[_AT_ONCE],
                    key=tf.constant([of_graph], tf.uint64),
                    counter=tf.constant([block, of_operation], tf.uint64),
                    alg=_PHILOX,
                    dtype=tf.uint32,
                )
                .numpy()
                .tolist()
            )


def initial_weights(kind: str, initializer: Any, shape: Sequence[int], dtype: Any, seed: int | None = None) -> Any:
    """Draw initial weights as an initializer without a seed did in TensorFlow 2.2, or one with a seed in 1.15.

    Args:
        kind: the name of the class of Keras 3 that the initializer is of.
        initializer: the initializer.
        shape: the shape.
        dtype: the dtype; `floatx` by default.
        seed: the seed of the initializer of 1.15.

    Raises:
        ValueError: for an orthogonal matrix of less than two axes.
    """
    dtype = keras.backend.standardize_dtype(dtype or keras.backend.floatx())
    with tf.init_scope():
        return _DRAW[kind](initializer, tuple(shape), dtype, Draws(seed))


def dropout(
    inputs: Any, rate: float, noise_shape: Sequence[int | None] | None, seed: int | None, stream: Stream | None = None
) -> Any:
    """Drop values out as the layers of that time did, with `tf.nn.dropout`.

    Args:
        inputs: a tensor.
        rate: how many of the values become 0.
        noise_shape: the shape of the mask, with None for the size of the inputs; None for their shape.
        seed: that of the layer, or None.
        stream: the operation that draws the mask; None for one of its own.
    """
    shape = shape_of_mask(inputs, noise_shape)
    if stream is None:
        return tf.nn.dropout(inputs, rate, shape, seed)
    kept = stream.next_values(tf.raw_ops.StatelessRandomUniformV2, shape, inputs.dtype) >= rate
    return inputs * (1 / (1 - rate)) * tf.cast(kept, inputs.dtype)


def shape_of_mask(inputs: Any, noise_shape: Sequence[int | None] | None) -> Any:
    """Return the shape of a mask, with the sizes of the inputs where `noise_shape` has none."""
    sizes = tf.shape(inputs)
    return sizes if noise_shape is None else [sizes[i] if size is None else size for i, size in enumerate(noise_shape)]


class order_of_samples:
    """A function that draws the order of an epoch's samples as `fit` did, given their number and the batch size.

    >>> tf.random.set_seed(1)
    >>> draw, again = order_of_samples(), order_of_samples()
    >>> first, second = draw(4, 2), draw(4, 2)
    >>> first.tolist() == again(4, 2).tolist(), second.tolist() == again(4, 2).tolist()
    (True, True)

    `fit` had a data set of the indices of each epoch, shuffled in a function. Such an operation draws on from epoch to
    epoch, and begins anew with each data set.
    """

    def __init__(self) -> None:
        self._drawn = 0
        self._orders: Iterator[Any] | None = None

    def __call__(self, samples: int, batch_size: int) -> Any:
        if self._orders is None:
            self._orders = itertools.islice(self._epochs(samples), self._drawn, None)
        self._drawn += 1
        return next(self._orders)

    def _epochs(self, samples: int) -> Iterator[Any]:
        epochs = tf.data.Dataset.range(1).repeat()
        orders = epochs.map(lambda _: tf.random.shuffle(tf.range(samples, dtype=tf.int64)))
        yield from orders.as_numpy_iterator()

    def state_of_draws(self) -> Any:
        """How many orders were drawn."""
        return self._drawn

    def draw_on_from(self, state: Any) -> None:
        """Draw on from what `state_of_draws` returned."""
        self._drawn, self._orders = state, None


class order_of_elements(order_of_samples):
    """A function that draws the order in which `fit` took ragged and sparse samples, as elements of a data set.

    >>> tf.random.set_seed(1)
    >>> sorted(order_of_elements()(4, 2).tolist())
    [0, 1, 2, 3]

    The data set was shuffled once, and iterated anew in each epoch (`CompositeTensorDataAdapter`), after an iterator
    that nobody read (`DataHandler.enumerate_epochs`).
    """

    def _epochs(self, samples: int) -> Iterator[Any]:
        elements = tf.data.Dataset.range(samples).shuffle(samples)
        iter(elements)
        while True:
            yield np.fromiter(elements.as_numpy_iterator(), np.int64, samples)


def _random_uniform(self: Any, shape: tuple[int, ...], dtype: str, draws: Draws) -> Any:
    return draws.uniform(shape, self.minval, self.maxval, dtype)


def _random_normal(self: Any, shape: tuple[int, ...], dtype: str, draws: Draws) -> Any:
    return draws.normal(shape, self.mean, self.stddev, dtype)


def _truncated_normal(self: Any, shape: tuple[int, ...], dtype: str, draws: Draws) -> Any:
    return draws.truncated_normal(shape, self.mean, self.stddev, dtype)


def _variance_scaling(self: Any, shape: tuple[int, ...], dtype: str, draws: Draws) -> Any:
    fan_in, fan_out = _fans(shape)
    fan = {"fan_in": fan_in, "fan_out": fan_out}.get(self.mode, (fan_in + fan_out) / 2)
    scale = self.scale / max(1.0, fan)
    if self.distribution == "truncated_normal":
        return draws.truncated_normal(shape, 0.0, math.sqrt(scale) / TRUNCATED, dtype)
    if self.distribution == "untruncated_normal":
        return draws.normal(shape, 0.0, math.sqrt(scale), dtype)
    limit = math.sqrt(3.0 * scale)
    return draws.uniform(shape, -limit, limit, dtype)


def _fans(shape: tuple[int, ...]) -> tuple[float, float]:
    if not shape:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


def _orthogonal(self: Any, shape: tuple[int, ...], dtype: str, draws: Draws) -> Any:
    if len(shape) < 2:
        raise ValueError(f"Expected a shape of at least two axes for an orthogonal matrix. Received: {shape}")
    rows, columns = math.prod(shape[:-1]), shape[-1]
    drawn = draws.normal((max(rows, columns), min(rows, columns)), 0.0, 1.0, dtype)
    matrix, triangle = tf.linalg.qr(drawn, full_matrices=False)
    matrix *= tf.sign(tf.linalg.diag_part(triangle))
    return self.gain * tf.reshape(tf.transpose(matrix) if rows < columns else matrix, shape)


_DRAW = {
    "RandomUniform": _random_uniform,
    "RandomNormal": _random_normal,
    "TruncatedNormal": _truncated_normal,
    "VarianceScaling": _variance_scaling,
    "Orthogonal": _orthogonal,
}
