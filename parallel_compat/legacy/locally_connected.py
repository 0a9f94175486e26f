"""The locally connected layers of Keras 2: convolutions which has a kernel for each position.

Weights have the shapes and the order that Keras 2 gave them, so that its files load.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import keras
import numpy as np

from parallel_compat.legacy.call_arguments import translate
from parallel_compat.legacy.layers import take_common
from parallel_compat.legacy.utils import normalize_data_format, normalize_tuple


class _LocallyConnected(keras.layers.Layer):  # type: ignore[misc]
    """What both layers share.

    Args:
        rank: how many axes the kernel moves along.
        given: the arguments by position, `filters` and `kernel_size` first.
        keywords: those by name.
    """

    def __init__(self, rank: int, given: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        of = f"keras.layers.Conv{rank}D"  # its Keras 1 arguments are those of the convolution
        given, keywords = translate(of, given, keywords)
        after = take_common(keywords)
        named = {**dict(zip(_ARGUMENTS, given, strict=False)), **keywords}
        own = {name: named.pop(name, default) for name, default in _ARGUMENTS.items()}
        super().__init__(**named, activity_regularizer=own["activity_regularizer"])
        after(self)
        self.implementation: int = own["implementation"]
        if self.implementation not in (1, 2, 3):
            raise ValueError(f"Expected an implementation of 1, 2 or 3. Received: {self.implementation!r}")
        if own["padding"] != "valid" and not (own["padding"] == "same" and self.implementation > 1):
            raise ValueError(
                f'Expected `padding="valid"` for {type(self).__name__}, or "same" with an implementation of 2 or 3. '
                f"Received: {own['padding']!r} with an implementation of {self.implementation} (Invalid border mode)"
            )
        for name in ("filters", "padding", "use_bias"):
            setattr(self, name, own[name])
        self.kernel_size = normalize_tuple(own["kernel_size"], rank, "kernel_size")
        self.strides = normalize_tuple(own["strides"], rank, "strides")
        self.data_format = own["data_format"] or keras.config.image_data_format()
        for name, module in _PARTS.items():
            setattr(self, name, module.get(own[name]))

    @property
    def _channels_first(self) -> bool:
        return bool(self.data_format == "channels_first")

    def _sizes(self, input_shape: Any) -> tuple[Any, Any]:
        """Return the input's channels, and the output's size along each axis that the kernel moves along."""
        channels, axes = (
            (input_shape[1], input_shape[2:]) if self._channels_first else (input_shape[-1], input_shape[1:-1])
        )
        sizes = zip(axes, self.kernel_size, self.strides, strict=True)
        if self.padding == "same":
            return channels, tuple(None if n is None else -(-n // stride) for n, _, stride in sizes)
        return channels, tuple(None if n is None else (n - side) // stride + 1 for n, side, stride in sizes)

    def _connected(self, input_shape: Any) -> Any:
        """Return which values of the output see which of the input: their flat indices, as a table of bools."""
        channels, sizes = self._sizes(input_shape)
        axes = input_shape[2:] if self._channels_first else input_shape[1:-1]
        table = np.ones((1, 1), bool)
        for size, n, side, stride in zip(sizes, axes, self.kernel_size, self.strides, strict=True):
            first = np.arange(size)[:, None] * stride
            if self.padding == "same":
                first = first - side // 2  # around the place, also where a convolution would begin later
            place = np.arange(n)[None]
            table = np.kron(table, (first <= place) & (place < first + side))
        every = np.ones((self.filters, channels), bool)
        return np.kron(every, table) if self._channels_first else np.kron(table, every)

    def _shape_of_kernel(self, input_shape: Any) -> tuple[int, ...]:
        channels, sizes = self._sizes(input_shape)
        axes = tuple(input_shape[2:] if self._channels_first else input_shape[1:-1])
        if self.implementation == 1:
            return math.prod(sizes), math.prod(self.kernel_size) * channels, self.filters
        if self.implementation == 2:
            first = self._channels_first
            return (channels, *axes, self.filters, *sizes) if first else (*axes, channels, *sizes, self.filters)
        return (int(self._connected(input_shape).sum()),)

    def _of_whole_input(self, inputs: Any) -> Any:
        """Return the output of a kernel with a number for each pair of places (2), or for those that meet (3)."""
        table = self._connected(inputs.shape)
        if self.implementation == 2:
            kernel = keras.ops.reshape(self.kernel, table.shape[::-1]) * table.T.astype("float32")
        else:
            places = np.argwhere(table)  # by output, then by input
            kernel = keras.ops.transpose(keras.ops.scatter(places, self.kernel, table.shape))
        outputs = keras.ops.matmul(keras.ops.reshape(inputs, (-1, table.shape[1])), kernel)
        return keras.ops.reshape(outputs, (-1, *self.compute_output_shape(tuple(inputs.shape))[1:]))

    def build(self, input_shape: Any) -> None:
        channels, sizes = self._sizes(input_shape)
        if channels is None or None in sizes:
            raise ValueError(
                f"Expected an input of known size for {type(self).__name__}, which has a kernel for each position. "
                f"Received: an input of shape {tuple(input_shape)}"
            )
        self.kernel = self.add_weight(
            shape=self._shape_of_kernel(input_shape),
            initializer=self.kernel_initializer,
            name="kernel",
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                shape=(*sizes, self.filters),
                initializer=self.bias_initializer,
                name="bias",
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.built = True

    def call(self, inputs: Any) -> Any:
        if self.implementation > 1:
            return self.activation(self._with_bias(self._of_whole_input(inputs)))
        _, sizes = self._sizes(inputs.shape)
        outputs = _local_conv(inputs, self.kernel, self.kernel_size, self.strides, sizes, self.data_format)
        return self.activation(self._with_bias(outputs))

    def _with_bias(self, outputs: Any) -> Any:
        if self.bias is None:
            return outputs
        if not self._channels_first:
            return outputs + self.bias
        # Its numbers one after the other, as Keras 2 read them, whose `bias_add` does not move the axes.
        return outputs + keras.ops.reshape(self.bias, (self.bias.shape[-1], *self.bias.shape[:-1]))

    def compute_output_shape(self, input_shape: Any) -> Any:
        sizes = self._sizes(input_shape)[1]
        batch = input_shape[0]
        return (batch, self.filters, *sizes) if self._channels_first else (batch, *sizes, self.filters)

    def get_config(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in _ARGUMENTS}
        parts = {name: module.serialize(own[name]) for name, module in _PARTS.items()}
        return {**super().get_config(), **own, **parts}


# In the order of the old layers, with their defaults.
_ARGUMENTS: dict[str, Any] = {
    "filters": None, "kernel_size": None, "strides": 1, "padding": "valid", "data_format": None, "activation": None,
    "use_bias": True, "kernel_initializer": "glorot_uniform", "bias_initializer": "zeros", "kernel_regularizer": None,
    "bias_regularizer": None, "activity_regularizer": None, "kernel_constraint": None, "bias_constraint": None,
    "implementation": 1,
}  # fmt: skip
# Those that Keras makes of names and configs.
_PARTS: dict[str, Any] = {
    "activation": keras.activations, "kernel_initializer": keras.initializers, "bias_initializer": keras.initializers,
    "kernel_regularizer": keras.regularizers, "bias_regularizer": keras.regularizers,
    "activity_regularizer": keras.regularizers, "kernel_constraint": keras.constraints,
    "bias_constraint": keras.constraints,
}  # fmt: skip


@keras.saving.register_keras_serializable(package="parallel_compat")
class LocallyConnected1D(_LocallyConnected):
    """A convolution along one axis with another kernel at each place.

    >>> layer = LocallyConnected1D(4, 3)
    >>> layer(keras.ops.ones((2, 10, 5))).shape
    TensorShape([2, 8, 4])

    Args:
        *given: `filters`, `kernel_size` and the others in the order of Keras 2.
        **keywords: those by name: `strides`, `padding` ("valid"), `activation`, `use_bias`, initializers,
            regularizers, constraints, and those of `keras.layers.Layer`.
    """

    def __init__(self, *given: Any, **keywords: Any) -> None:
        super().__init__(1, given, keywords)


@keras.saving.register_keras_serializable(package="parallel_compat")
class LocallyConnected2D(_LocallyConnected):
    """A convolution along two axes with another kernel at each place.

    >>> layer = LocallyConnected2D(4, (3, 3))
    >>> layer(keras.ops.ones((2, 8, 8, 5))).shape
    TensorShape([2, 6, 6, 4])

    Args:
        *given: as those of `LocallyConnected1D`.
        **keywords: as those of `LocallyConnected1D`, and `data_format`.
    """

    def __init__(self, *given: Any, **keywords: Any) -> None:
        super().__init__(2, given, keywords)


def local_conv1d(inputs: Any, kernel: Any, kernel_size: Any, strides: Any, data_format: str | None = None) -> Any:
    """Convolve along one axis, with another kernel at each place: `K.local_conv1d`.

    Args:
        inputs: of shape (samples, steps, channels).
        kernel: of shape (places, width of the window * channels, filters).
        kernel_size: a tuple of the width of the window.
        strides: a tuple of the steps between two places.
        data_format: "channels_last" or "channels_first".
    """
    return _local_conv(inputs, kernel, kernel_size, strides, (kernel.shape[0],), data_format)


def local_conv2d(
    inputs: Any, kernel: Any, kernel_size: Any, strides: Any, output_shape: Any, data_format: str | None = None
) -> Any:
    """Convolve along two axes, with another kernel at each place: `K.local_conv2d`.

    Args:
        inputs: of shape (samples, rows, columns, channels), or with the channels second.
        kernel: of shape (places, pixels of the window * channels, filters).
        kernel_size: a tuple of the sides of the window.
        strides: a tuple of the steps between two places.
        output_shape: a tuple of the rows and columns of places.
        data_format: "channels_last" or "channels_first".
    """
    return _local_conv(inputs, kernel, kernel_size, strides, output_shape, data_format)


def _local_conv(inputs: Any, kernel: Any, size: Any, strides: Any, places: Any, data_format: str | None) -> Any:
    ops, first = keras.ops, normalize_data_format(data_format) == "channels_first"
    x, values = ops.moveaxis(inputs, 1, -1) if first else inputs, []
    for start in itertools.product(*map(range, size)):
        steps = zip(start, places, strides, strict=True)
        along = tuple(slice(at, at + (count - 1) * stride + 1, stride) for at, count, stride in steps)
        values.append(x[(slice(None), *along)])
    # The kernel's rows are (place in the window, channel); with channels first, (channel, place).
    windows = ops.reshape(ops.stack(values, axis=-1 if first else -2), (-1, *kernel.shape[:2]))
    outputs = ops.reshape(ops.einsum("bpk,pkf->bpf", windows, kernel), (-1, *places, kernel.shape[2]))
    return ops.moveaxis(outputs, -1, 1) if first else outputs
