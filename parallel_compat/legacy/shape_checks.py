"""Shapes that a layer cannot take, refused where Keras 2 refused them: when the layer is called, as a `ValueError`.

Keras 3 computes with the number of channels first, which fails with `unsupported operand type(s)` where it is None, or
takes a number of inputs that fails when data comes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from collections.abc import Callable


_BOTH = "_parallel_compat_strides_and_dilation"


def build_of_convolution(original: Callable[..., Any]) -> Callable[..., Any]:
    """`build` of a convolution, which needs to know the number of channels."""

    def build(self: Any, input_shape: Any) -> Any:
        axis = 1 if getattr(self, "data_format", None) == "channels_first" else -1
        if len(input_shape) > 1 and input_shape[axis] is None:
            raise ValueError(
                f"Expected inputs of a known number of channels for '{self.name}'. Received: shape "
                f"{tuple(input_shape)}. Say it in `input_shape`, or in `Input(shape=...)`."
            )
        if vars(self).get(_BOTH):
            raise ValueError(
                f"Expected strides of 1 or a dilation of 1 for '{self.name}'. Received: strides={self.strides}, "
                f"dilation_rate={self.dilation_rate}"
            )
        return original(self, input_shape)

    return build


def init_of_convolution(original: Callable[..., Any]) -> Callable[..., Any]:
    """`__init__` of a convolution, which may have strides and a dilation until it is built."""

    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        strides = keywords.get("strides", 1)
        both = _strided_and_dilated(strides, keywords.get("dilation_rate", 1))
        original(self, *given, **({**keywords, "strides": 1} if both else keywords))
        if both:
            vars(self)[_BOTH] = True
            self.strides = tuple(strides) if isinstance(strides, (list, tuple)) else (strides,) * self.rank

    return __init__


def _strided_and_dilated(strides: Any, dilation: Any) -> bool:
    return all(max(each if isinstance(each, (list, tuple)) else (each,)) > 1 for each in (strides, dilation))


def call_of_merge(original: Callable[..., Any], is_old: Callable[[Any], bool]) -> Callable[..., Any]:
    """`Add()([a, b])` and the like: of two tensors at least, and `Subtract` of two.

    Args:
        original: that of Keras 3.
        is_old: says whether a layer is of an era of Keras 2.
    """

    def __call__(self: Any, inputs: Any, *given: Any, **keywords: Any) -> Any:
        if not isinstance(inputs, (list, tuple)) and is_old(self):
            raise ValueError(
                f"A `{type(self).__name__}` layer should be called on a list of inputs. Received: {inputs!r}"
            )
        if isinstance(inputs, (list, tuple)) and is_old(self):
            of_two = type(self).__name__ in ("Subtract", "Dot")
            # tf.keras looked when the layer was built: `Concatenate` may get one tensor later on.
            at_each_call = of_two or object_eras.era_of_object(self).is_standalone
            if (len(inputs) < 2 and (at_each_call or not self.built)) or (of_two and len(inputs) > 2):
                tensors, count = ("two tensors", "exactly 2") if of_two else ("at least two tensors", "at least 2")
                raise ValueError(
                    f"Expected {tensors} for '{self.name}': a `{type(self).__name__}` layer should be called on "
                    f"{count} inputs. Received: {len(inputs)}"
                )
        return original(self, inputs, *given, **keywords)

    return __call__


def call_of_cropping(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Cropping1D.call`, which may leave nothing."""

    def call(self: Any, inputs: Any) -> Any:
        length = inputs.shape[1]
        return inputs[:, :0] if length is not None and sum(self.cropping) == length else original(self, inputs)

    return call


def compute_output_shape_of_cropping(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Cropping1D.compute_output_shape`, likewise."""

    def compute_output_shape(self: Any, input_shape: Any) -> Any:
        if input_shape[1] is not None and sum(self.cropping) == input_shape[1]:
            return (input_shape[0], 0, *input_shape[2:])
        return original(self, input_shape)

    return compute_output_shape
