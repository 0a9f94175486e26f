"""Variables in Lambda layers, as TensorFlow 2.2 answered them: made in one, an error; used in one, a warning.

A Lambda layer holds no weights: what its function makes is made anew in each call, and is trained by nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from parallel_compat.backend.keras3.made_variables import variables_made, warn_of_lambda

if TYPE_CHECKING:
    from collections.abc import Callable

    import keras

_WARNED, _REFUSED = "_already_warned", "_refused_variables"


def checked(layer: keras.layers.Lambda, call: Callable[[], Any]) -> Any:
    """Return what a call of a Lambda layer computes, and refuse variables which its function makes.

    Args:
        layer: the layer.
        call: calls its function.

    Raises:
        ValueError: where the function made variables that are no weights of the layer.
    """
    with tf.GradientTape() as tape, variables_made() as made:
        result = call()
    _check(layer, made, tape.watched_variables())
    return result


def _check(layer: keras.layers.Lambda, made: list[Any], used: tuple[Any, ...]) -> None:
    own = {id(variable) for weight in layer.weights for variable in (weight, getattr(weight, "value", None))}
    made = [each for each in made if id(each) not in own]
    if made:
        # Kept: the first call may be one in which Keras looks at shapes alone, and passes over errors.
        vars(layer)[_REFUSED] = (
            f"Expected the function of a Lambda layer to make no variables: nothing would train them.\n"
            f"The following Variables were created within a Lambda layer ({layer.name})\n"
            f"but are not tracked by said layer:\n{_listed(layer, made)}\n"
            "The layer cannot safely ensure proper Variable reuse across multiple calls. Make them in `build` of a "
            "class derived from `Layer`."
        )
    if _REFUSED in vars(layer):
        raise ValueError(vars(layer)[_REFUSED])
    used = tuple(each for each in used if id(each) not in own)
    if used and not getattr(layer, _WARNED, False):
        warn_of_lambda(layer)(
            f"Expected the function of a Lambda layer to use its arguments alone.\n"
            f"The following Variables were used a Lambda layer's call ({layer.name}), but\n"
            f"are not present in its tracked objects:\n{_listed(layer, used)}\n"
            "It is possible that this is intended behavior. Make a class derived from `Layer` if this layer shall "
            "train them."
        )
        vars(layer)[_WARNED] = True


def _listed(layer: keras.layers.Lambda, variables: Any) -> str:
    return "\n".join(f"  {_named(layer, each)}" for each in variables)


def _named(layer: keras.layers.Lambda, variable: Any) -> str:
    name = getattr(variable, "path", variable.name)
    name = name if name.endswith(":0") else f"{name}:0"
    name = name if name.startswith(f"{layer.name}/") else f"{layer.name}/{name}"
    return f"<tf.Variable '{name}' shape={tuple(variable.shape)} dtype={tf.as_dtype(variable.dtype).name}>"
