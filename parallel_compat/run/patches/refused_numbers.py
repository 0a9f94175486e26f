"""Numbers that constructors took before Keras 3, which refuses them: a negative threshold, a layer of no unit.

Read in Keras 3.15.1. What a number is checked for, nothing computes with: the layer is made with the nearest number
that is taken, and has the user's from then on.
"""

from __future__ import annotations

import functools
import inspect
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from parallel_compat.backend.keras3.layers import thresholded_relu
from parallel_compat.names.eras import Era
from parallel_compat.run import callers
from parallel_compat.run.patches.wrapping import like

if TYPE_CHECKING:
    from parallel_compat.backend.patches import Patches


def put_on(patches: Patches, keras: Any) -> None:
    for kind, argument, least, greatest in (
        (keras.layers.GaussianNoise, "stddev", 0.0, 1.0),
        (keras.layers.GaussianDropout, "rate", 0.0, 1.0),
        (keras.layers.AlphaDropout, "rate", 0.0, 1.0),
        (keras.layers.ReLU, "threshold", 0.0, math.inf),
        (thresholded_relu(), "theta", 0.0, math.inf),
        (keras.layers.Dense, "units", 1, math.inf),
    ):
        wrap = functools.partial(_of_any_number, argument=argument, least=least, greatest=greatest)
        patches.wrap(kind, "__init__", wrap, why=f"any number for `{argument}`")
    patches.wrap(keras.layers.Dense, "call", _of_no_unit, why="oneDNN ends the process, on some processors")
    for name in ("L1", "L2", "L1L2"):
        kind = getattr(keras.regularizers, name)
        patches.wrap(kind, "__init__", _with_arrays, why="any factors, which were arrays")
        patches.wrap(kind, "get_config", _in_floats, why="factors that are arrays")


def _of_no_unit(original: Any) -> Any:
    """Compute nothing for a layer of no unit: "could not create a primitive descriptor" is an exception of C++."""

    @functools.wraps(original)
    def call(self: Any, inputs: Any, *given: Any, **keywords: Any) -> Any:
        return inputs[..., :0] if self.units == 0 else original(self, inputs, *given, **keywords)

    return call


def _of_any_number(original: Any, argument: str, least: float, greatest: float) -> Any:
    signature = inspect.signature(original)

    @like(original)
    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        bound = signature.bind(self, *given, **keywords)
        value: Any = bound.arguments.get(argument)
        is_refused = isinstance(value, (int, float, np.number)) and not least <= value <= greatest
        if is_refused:
            bound.arguments[argument] = least if value < least else greatest
        original(*bound.args, **bound.kwargs)
        if is_refused:
            setattr(self, argument, value)

    return __init__


def _with_arrays(original: Any) -> Any:
    """Keep factors as `K.cast_to_floatx` made them: programs read their dtype, and put other arrays in their places."""
    signature = inspect.signature(original)

    @like(original)
    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        if callers.era_of_caller() is Era.TODAY:
            original(self, *given, **keywords)
            return
        bound = signature.bind(self, *given, **keywords).arguments
        factors = {name: value for name, value in bound.items() if name != "self" and value is not None}
        original(self, **dict.fromkeys(factors, 0.0))
        import keras

        for name, value in {**vars(self), **factors}.items():
            setattr(self, name, np.asarray(value, keras.config.floatx()))

    return __init__


def _in_floats(original: Any) -> Any:
    @like(original)
    def get_config(self: Any) -> dict[str, Any]:
        return {name: float(value) for name, value in original(self).items()}

    return get_config
