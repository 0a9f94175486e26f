"""`SeparableConv1D(padding="causal")` of tf.keras: zeros before the first step, so that no step sees a later one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras

if TYPE_CHECKING:
    from collections.abc import Callable

_CAUSAL = "causal"


def init(original: Callable[..., None]) -> Callable[..., None]:
    """Wrap a constructor, which in Keras 3 takes "valid" and "same" alone."""

    def __init__(
        self: Any, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid", **rest: Any
    ) -> None:
        is_causal = isinstance(padding, str) and padding.lower() == _CAUSAL
        original(self, filters, kernel_size, strides, "valid" if is_causal else padding, **rest)
        if is_causal:
            self.padding = _CAUSAL

    return __init__


def call(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the computation: the zeros, and a convolution of what is valid."""

    def of_layer(self: Any, inputs: Any) -> Any:
        if self.padding != _CAUSAL:
            return original(self, inputs)
        zeros = (self.dilation_rate[0] * (self.kernel_size[0] - 1), 0)
        before = [(0, 0), zeros, (0, 0)] if self.data_format == "channels_last" else [(0, 0), (0, 0), zeros]
        self.padding = "valid"
        try:
            return original(self, keras.ops.pad(inputs, before))
        finally:
            self.padding = _CAUSAL

    return of_layer
