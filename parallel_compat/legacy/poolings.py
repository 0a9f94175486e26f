"""What the pooling layers of Keras 2 derived from, and layers of users do: `_Pooling2D` and its like."""

from __future__ import annotations

from typing import Any

import keras

from parallel_compat.backend.keras3 import hidden_classes
from parallel_compat.legacy.utils import conv_output_length

_POOLINGS = hidden_classes.POOLING


class _OfRank(type(keras.layers.Layer)):  # type: ignore[misc]  # Keras carries no types
    """Counts Keras's own pooling layers of the rank among its instances."""

    _rank: int

    def __instancecheck__(cls, instance: Any) -> bool:
        if isinstance(instance, _POOLINGS) and "_rank" in vars(cls):
            return len(instance.pool_size) == cls._rank
        return bool(super().__instancecheck__(instance))


class _Pooling(keras.layers.Layer):  # type: ignore[misc]
    """Moves a window over all axes but those of samples and channels; a custom class says how it pools."""

    _rank = 0

    def __init__(
        self, pool_size: Any = 2, strides: Any = None, padding: str = "valid", data_format: Any = None, **keywords: Any
    ) -> None:
        super().__init__(**keywords)
        self.pool_size = self._of_each_axis(pool_size)
        self.strides = self.pool_size if strides is None else self._of_each_axis(strides)
        self.padding, self.data_format = padding.lower(), data_format or keras.config.image_data_format()
        self.input_spec = keras.layers.InputSpec(ndim=self._rank + 2)

    def _of_each_axis(self, size: Any) -> tuple[int, ...]:
        return (size,) * self._rank if isinstance(size, int) else tuple(size)

    def compute_output_shape(self, input_shape: Any) -> tuple[int | None, ...]:
        """Return the shape: as many windows on each axis as there is room for, or begin on it if padded."""
        first = 2 if self.data_format == "channels_first" else 1
        shape = list(input_shape)
        for axis, window, step in zip(range(first, first + self._rank), self.pool_size, self.strides, strict=True):
            shape[axis] = conv_output_length(shape[axis], window, self.padding, step)
        return tuple(shape)

    def _pooling_function(self, inputs: Any, pool_size: Any, strides: Any, padding: Any, data_format: Any) -> Any:
        raise NotImplementedError(f"Expected {type(self).__name__} to have a `_pooling_function`.")

    def call(self, inputs: Any) -> Any:
        return self._pooled(inputs, ())

    def _pooled(self, inputs: Any, further: tuple[int, ...]) -> Any:
        return self._pooling_function(
            inputs=inputs,
            pool_size=(*self.pool_size, *further),
            strides=(*self.strides, *further),
            padding=self.padding,
            data_format=self.data_format,
        )

    def get_config(self) -> dict[str, Any]:
        names = ("pool_size", "strides", "padding", "data_format")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}


class _Pooling1D(_Pooling, metaclass=_OfRank):
    _rank = 1

    def __init__(
        self,
        pool_size: Any = 2,
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = "channels_last",
        **keywords: Any,
    ) -> None:
        super().__init__(pool_size, strides, padding, data_format, **keywords)

    def call(self, inputs: Any) -> Any:
        """Return what `_pooling_function` makes of the inputs, which it gets as pictures of one row."""
        axis = 2 if self.data_format == "channels_last" else 3
        return keras.ops.squeeze(self._pooled(keras.ops.expand_dims(inputs, axis), (1,)), axis)


class _Pooling2D(_Pooling, metaclass=_OfRank):
    _rank = 2


class _Pooling3D(_Pooling, metaclass=_OfRank):
    _rank = 3
