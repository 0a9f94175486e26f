"""`hard_sigmoid` and `softmax` as Keras 2 computed them; Keras 3's functions of these names are others."""

from __future__ import annotations

import warnings
from typing import Any

import keras

from parallel_compat.warning_category import ParallelCompatWarning


@keras.saving.register_keras_serializable(package="parallel_compat")  # type: ignore[untyped-decorator]
def hard_sigmoid(x: Any) -> Any:
    """Compute clip(0.2 x + 0.5, 0, 1), the gates of Keras 2's `LSTM` and `GRU`.

    >>> import numpy as np
    >>> [round(float(v), 2) for v in hard_sigmoid(np.array([-3.0, 0.0, 1.0]))]
    [0.0, 0.5, 0.7]

    Keras 3's `hard_sigmoid` is clip(x / 6 + 0.5, 0, 1).
    """
    return keras.ops.clip(0.2 * keras.ops.convert_to_tensor(x) + 0.5, 0.0, 1.0)


def relu(
    x: Any, alpha: float = 0.0, max_value: float | None = None, threshold: float = 0.0, *, negative_slope: float = 0.0
) -> Any:
    """Compute `keras.activations.relu` with its old argument; a config names it `relu`, as today's.

    >>> import numpy as np
    >>> [round(float(v), 2) for v in relu(np.array([-1.0, 3.0]), alpha=0.1, max_value=2.0)]
    [-0.1, 2.0]

    Args:
        x: a tensor.
        alpha: the slope below the threshold; `negative_slope` is its name today.
        max_value: what larger values become.
        threshold: where the slope begins.
        negative_slope: see `alpha`.
    """
    return keras.activations.relu(x, alpha or negative_slope, max_value, threshold)


def softmax(x: Any, axis: Any = -1) -> Any:
    """Compute `keras.activations.softmax`, which left `axis` out where there are but samples and one more axis.

    >>> import numpy as np
    >>> softmax(np.zeros((4, 2), "float32"), axis=0).numpy()[0].tolist()
    [0.5, 0.5]

    Args:
        x: a tensor of two axes or more.
        axis: the axis, or axes, that the values sum up to 1 along.

    Raises:
        ValueError: for a tensor of one axis.
    """
    rank = len(x.shape)
    if rank == 1:
        raise ValueError(f"Expected a tensor of two axes or more. Received: one of shape {tuple(x.shape)}")
    if rank > 2 and isinstance(axis, (list, tuple)):
        return keras.ops.exp(x - keras.ops.logsumexp(x, axis, keepdims=True))
    return keras.activations.softmax(x, axis if rank > 2 else -1)


def get(identifier: Any) -> Any:
    """Return the activation function of a name as Keras 2 had it, a function as it is, or that of a configuration.

    >>> get("hard_sigmoid") is hard_sigmoid
    True

    Args:
        identifier: a name, a function, a configuration, or None for the identity.
    """
    if isinstance(identifier, str) and identifier == "hard_sigmoid":
        return hard_sigmoid
    if isinstance(identifier, keras.layers.Layer):
        warnings.warn(
            f"Expected a function or its name as an activation. Received: the layer '{identifier.name}', whose call is "
            "taken. Put it into the model as a layer.",
            ParallelCompatWarning,
            stacklevel=2,
        )
    return keras.activations.get(identifier)


def deserialize(name: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """Return the activation function of a name or configuration, `hard_sigmoid` as Keras 2 had it.

    Args:
        name: what `keras.activations.serialize` returned.
        custom_objects: the user's own functions by name.
    """
    is_old = isinstance(name, str) and name == "hard_sigmoid" and name not in (custom_objects or {})
    return hard_sigmoid if is_old else keras.activations.deserialize(name, custom_objects)


REGISTERED_HARD_SIGMOID = "parallel_compat>hard_sigmoid"
