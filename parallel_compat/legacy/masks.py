"""What Keras 2 made of several masks: a step is masked where any of the inputs' masks masks it.

Keras 3 keeps a step that one of the masks keeps, and has no mask where one of the inputs has none.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import keras

if TYPE_CHECKING:
    from collections.abc import Callable


def of_merge(original: Callable[..., Any], is_old: Callable[[Any], bool]) -> Callable[..., Any]:
    """`compute_mask` of `Add`, `Multiply` and the like: all of the masks that there are.

    Args:
        original: that of Keras 3.
        is_old: says whether a layer is of an era of Keras 2.
    """

    def compute_mask(self: Any, inputs: Any, mask: Any = None) -> Any:
        if mask is None or not is_old(self):
            return original(self, inputs, mask)
        _check_lists(inputs, mask)
        masks = [each for each in mask if each is not None]
        if not masks:
            return None
        found = masks[0]
        for each in masks[1:]:
            found = keras.ops.logical_and(found, each)
        return found

    return compute_mask


def value_of_merge(original: Callable[..., Any], is_old: Callable[[Any], bool]) -> Callable[..., Any]:
    """`_merge_function` of `Maximum` and `Minimum`: the values alone.

    Keras 3 leaves a masked step of one input out, and puts its own mask onto the output.

    Args:
        original: that of Keras 3.
        is_old: says whether a layer is of an era of Keras 2.
    """

    def merge(self: Any, inputs: Any) -> Any:
        if not is_old(self):
            return original(self, inputs)
        of_two = keras.ops.maximum if isinstance(self, keras.layers.Maximum) else keras.ops.minimum
        return functools.reduce(of_two, inputs)

    return merge


def of_concatenate(original: Callable[..., Any], is_old: Callable[[Any], bool]) -> Callable[..., Any]:
    """`Concatenate.compute_mask`: all along the last axis.

    Args:
        original: that of Keras 3.
        is_old: says whether a layer is of an era of Keras 2.
    """

    def compute_mask(self: Any, inputs: Any, mask: Any = None) -> Any:
        if mask is None or not is_old(self):
            return original(self, inputs, mask)
        _check_lists(inputs, mask)
        if all(each is None for each in mask):
            return None
        masks = [_of_rank(each, x) for x, each in zip(inputs, mask, strict=True)]
        return keras.ops.all(keras.ops.concatenate(masks, axis=self.axis), axis=-1)

    return compute_mask


def _check_lists(inputs: Any, mask: Any) -> None:
    for name, given in (("mask", mask), ("inputs", inputs)):
        if not isinstance(given, (list, tuple)):
            raise ValueError(f"`{name}` should be a list. Received: {type(given).__name__}")
    if len(inputs) != len(mask):
        raise ValueError(
            f"`inputs` and `mask` should have the same length: a mask, or None, for each input. Received: "
            f"{len(inputs)} inputs and {len(mask)} masks"
        )


def _of_rank(mask: Any, inputs: Any) -> Any:
    if mask is None:
        return keras.ops.ones_like(inputs, dtype="bool")
    return keras.ops.expand_dims(mask, -1) if len(mask.shape) < len(inputs.shape) else mask
