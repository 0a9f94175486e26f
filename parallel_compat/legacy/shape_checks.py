"""Shapes that a layer cannot take, refused where Keras 2 refused them: when the layer is called, as a `ValueError`.

Keras 3 computes with the number of channels first, which fails with `unsupported operand type(s)` where it is None, or
takes a number of inputs that fails when data comes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def build_of_convolution(original: Callable[..., Any]) -> Callable[..., Any]:
    """`build` of a convolution, which needs to know the number of channels."""

    def build(self: Any, input_shape: Any) -> Any:
        axis = 1 if getattr(self, "data_format", None) == "channels_first" else -1
        if len(input_shape) > 1 and input_shape[axis] is None:
            raise ValueError(
                f"Expected inputs of a known number of channels for '{self.name}'. Received: shape "
                f"{tuple(input_shape)}. Say it in `input_shape`, or in `Input(shape=...)`."
            )
        return original(self, input_shape)

    return build


def call_of_subtract(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Subtract()([a, b])`, of two tensors each time."""

    def __call__(self: Any, inputs: Any, *given: Any, **keywords: Any) -> Any:
        if isinstance(inputs, (list, tuple)) and len(inputs) != 2:
            raise ValueError(f"Expected two tensors for '{self.name}'. Received: {len(inputs)}")
        return original(self, inputs, *given, **keywords)

    return __call__
