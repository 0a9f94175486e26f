"""What TensorFlow 2.2 drew where nobody gave a seed, so that `tf.random.set_seed` repeats a run of its time.

Each eager operation took its seed from a generator that `tf.random.set_seed` began anew, and each operation of a
function the number of those before it in that function. Both are so in today's TensorFlow; today's Keras draws from
generators of its own instead. Read in TensorFlow 2.2.3's `random_seed.get_seed` and `init_ops_v2`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# The standard deviation of a normal distribution cut at two of its standard deviations.
_TRUNCATED = 0.87962566103423978


def initial_weights(kind: str, initializer: Any, shape: Sequence[int], dtype: Any) -> Any:
    """Draw initial weights as an initializer without a seed did.

    Args:
        kind: the name of the class of Keras 3 that the initializer is of.
        initializer: the initializer.
        shape: the shape.
        dtype: the dtype; `floatx` by default.

    Raises:
        ValueError: for an orthogonal matrix of less than two axes.
    """
    dtype = keras.backend.standardize_dtype(dtype or keras.backend.floatx())
    with tf.init_scope():
        return _DRAW[kind](initializer, tuple(shape), dtype)


def dropout(inputs: Any, rate: float, noise_shape: Sequence[int | None] | None, seed: int | None) -> Any:
    """Drop values out as the layers of that time did, with `tf.nn.dropout`.

    Args:
        inputs: a tensor.
        rate: how many of the values become 0.
        noise_shape: the shape of the mask, with None for the size of the inputs; None for their shape.
        seed: that of the layer, or None.
    """
    return tf.nn.dropout(inputs, rate, shape_of_mask(inputs, noise_shape), seed)


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
            epochs = tf.data.Dataset.range(1).repeat()
            orders = epochs.map(lambda _: tf.random.shuffle(tf.range(samples, dtype=tf.int64)))
            self._orders = iter(orders.skip(self._drawn).as_numpy_iterator())
        self._drawn += 1
        return next(self._orders)

    def state_of_draws(self) -> Any:
        """How many orders were drawn."""
        return self._drawn

    def draw_on_from(self, state: Any) -> None:
        """Draw on from what `state_of_draws` returned."""
        self._drawn, self._orders = state, None


def _random_uniform(self: Any, shape: tuple[int, ...], dtype: str) -> Any:
    return tf.random.uniform(shape, self.minval, self.maxval, dtype)


def _random_normal(self: Any, shape: tuple[int, ...], dtype: str) -> Any:
    return tf.random.normal(shape, self.mean, self.stddev, dtype)


def _truncated_normal(self: Any, shape: tuple[int, ...], dtype: str) -> Any:
    return tf.random.truncated_normal(shape, self.mean, self.stddev, dtype)


def _variance_scaling(self: Any, shape: tuple[int, ...], dtype: str) -> Any:
    fan_in, fan_out = _fans(shape)
    fan = {"fan_in": fan_in, "fan_out": fan_out}.get(self.mode, (fan_in + fan_out) / 2)
    scale = self.scale / max(1.0, fan)
    if self.distribution == "truncated_normal":
        return tf.random.truncated_normal(shape, 0.0, math.sqrt(scale) / _TRUNCATED, dtype)
    if self.distribution == "untruncated_normal":
        return tf.random.normal(shape, 0.0, math.sqrt(scale), dtype)
    limit = math.sqrt(3.0 * scale)
    return tf.random.uniform(shape, -limit, limit, dtype)


def _fans(shape: tuple[int, ...]) -> tuple[float, float]:
    if not shape:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


def _orthogonal(self: Any, shape: tuple[int, ...], dtype: str) -> Any:
    if len(shape) < 2:
        raise ValueError(f"Expected a shape of at least two axes for an orthogonal matrix. Received: {shape}")
    rows, columns = math.prod(shape[:-1]), shape[-1]
    drawn = tf.random.normal((max(rows, columns), min(rows, columns)), dtype=dtype)
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
