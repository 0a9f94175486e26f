"""Masks that a cell of tf.keras draws once for all steps of a call: `DropoutRNNCellMixin` and its methods.

Read in `tensorflow/python/keras/layers/recurrent.py` of TensorFlow 1.15 and 2.2. Today's TensorFlow holds the class
still, which nobody tells that a call has ended: its first mask would be that of all later calls, of `predict` as well.
"""

from __future__ import annotations

import weakref
from typing import Any

import keras

from parallel_compat.backend.keras3 import call_context
from parallel_compat.legacy.cells import _generate_dropout_mask

_MASKS = "_parallel_compat_cell_masks"
_RATES = ("dropout", "recurrent_dropout")


class _Eager:
    """The placeholder for a graph in eager mode."""


def get_dropout_mask_for_cell(cell: Any, inputs: Any, training: Any, count: int = 1) -> Any:
    """Return the mask of a cell's inputs for this call of its layer, which the first step makes.

    Args:
        cell: the cell, whose rate is `dropout`.
        inputs: what the mask is for.
        training: the learning phase.
        count: how many masks; above 1 they are a list.
    """
    return _mask(cell, "dropout", inputs, training, count)


def get_recurrent_dropout_mask_for_cell(cell: Any, inputs: Any, training: Any, count: int = 1) -> Any:
    """Return the mask of a cell's states, likewise; the rate is `recurrent_dropout`."""
    return _mask(cell, "recurrent_dropout", inputs, training, count)


def forget(cell: Any, rate: str | None = None) -> None:
    """Draw new masks in the next call.

    Args:
        cell: the cell.
        rate: "dropout" or "recurrent_dropout": the masks of that one; None: all.
    """
    masks = getattr(cell, _MASKS, {})
    for name in _RATES if rate is None else (rate,):
        masks.pop(name, None)


def _mask(cell: Any, rate: str, inputs: Any, training: Any, count: int) -> Any:
    if not getattr(cell, rate):
        return None
    # Not by `setattr`: Keras would take the masks for state of the layer.
    masks = vars(cell).setdefault(_MASKS, {}).setdefault(rate, weakref.WeakKeyDictionary())
    here = [*call_context.traced_graphs(), _Eager]
    for context in here:  # the steps in a loop, a graph of their own, use what was drawn before it
        if context in masks:
            return masks[context]
    drawn = _generate_dropout_mask(keras.ops.ones_like(inputs), getattr(cell, rate), training=training, count=count)
    masks[here[0]] = drawn
    return drawn


class DropoutRNNCellMixin:
    """The base class of a custom cell, besides `Layer`, that drops inputs and states.

    >>> class Cell(DropoutRNNCellMixin, keras.layers.Layer):
    ...     dropout, recurrent_dropout = 0.5, 0.0
    >>> mask = Cell().get_dropout_mask_for_cell(keras.ops.ones((1, 2)), training=False)
    >>> mask.numpy().tolist()
    [[1.0, 1.0]]
    """

    dropout: float
    recurrent_dropout: float

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)

    get_dropout_mask_for_cell = get_dropout_mask_for_cell
    get_recurrent_dropout_mask_for_cell = get_recurrent_dropout_mask_for_cell

    def reset_dropout_mask(self) -> None:
        """Draw a new mask of the inputs in the next call."""
        forget(self, "dropout")

    def reset_recurrent_dropout_mask(self) -> None:
        """Draw a new mask of the states in the next call."""
        forget(self, "recurrent_dropout")
