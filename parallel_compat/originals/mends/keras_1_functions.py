"""Metrics, a layer and functions of Keras 1 that Keras 2 dropped, with the values that Keras 1.2.2 computed.

Keras 1.1 had `collect_trainable_weights`.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from parallel_compat.originals.mends.gone_packages import gone
from parallel_compat.originals.mends.register import Register


def apply(mends: Register) -> None:
    mends.after("keras.metrics", lambda module: mends.add(module, **_metrics(module.K)))
    mends.after("keras.layers.core", lambda module: mends.add(module, TimeDistributedDense=_layer(module)))
    mends.after("keras.utils.np_utils", lambda module: mends.add(module, **_CLASSES))
    layers = {name: gone(f"keras.layers.{name}", how) for name, how in _LAYERS.items()}
    mends.after("keras.layers.advanced_activations", lambda module: mends.add(module, **layers))
    names = {"collect_trainable_weights": _trainable_weights}
    mends.after("keras.engine.training", lambda module: mends.add(module, **names))


_LAYERS = {
    "ParametricSoftplus": "write it as a layer of the script: alpha * softplus(beta * x)",
    "SReLU": "copy the layer of that name from keras-contrib into the script",
}


def _trainable_weights(layer: Any) -> list[Any]:
    """Return the weights of a layer that train, each once, by their names."""
    return sorted(set(layer.trainable_weights), key=lambda weight: str(weight.name))


def _metrics(K: Any) -> dict[str, Any]:
    def ones(tensor: Any) -> Any:
        return K.round(K.clip(tensor, 0, 1))

    def precision(y_true: Any, y_pred: Any) -> Any:
        return K.sum(ones(y_true * y_pred)) / (K.sum(ones(y_pred)) + K.epsilon())

    def recall(y_true: Any, y_pred: Any) -> Any:
        return K.sum(ones(y_true * y_pred)) / (K.sum(ones(y_true)) + K.epsilon())

    def fbeta_score(y_true: Any, y_pred: Any, beta: float = 1) -> Any:
        if beta < 0:
            raise ValueError(f"expected a beta from 0. Received: {beta}")
        first, second = precision(y_true, y_pred), recall(y_true, y_pred)
        return (1 + beta**2) * first * second / (beta**2 * first + second + K.epsilon())

    def fmeasure(y_true: Any, y_pred: Any) -> Any:
        return fbeta_score(y_true, y_pred)

    def matthews_correlation(y_true: Any, y_pred: Any) -> Any:
        true, guess = ones(y_true), ones(y_pred)
        right, wrong = K.sum(true * guess), K.sum((1 - true) * guess)
        missed, left = K.sum(true * (1 - guess)), K.sum((1 - true) * (1 - guess))
        products = (right + wrong) * (right + missed) * (left + wrong) * (left + missed)
        return (right * left - wrong * missed) / (K.sqrt(products) + K.epsilon())

    functions = (precision, recall, fbeta_score, fmeasure, matthews_correlation)
    return {**{each.__name__: each for each in functions}, "f1score": fmeasure, "fscore": fmeasure}


def _layer(core: ModuleType) -> Any:
    class TimeDistributedDense(core.Dense):  # type: ignore[misc,name-defined]
        """A Dense layer, which in Keras 2 takes a time axis itself."""

        def __init__(self, *args: Any, input_dim: Any = None, input_length: Any = None, **options: Any) -> None:
            if input_dim is not None:
                options.setdefault("input_shape", (input_length, input_dim))
            super().__init__(*args, **options)

    return TimeDistributedDense


def _probas_to_classes(y_pred: Any) -> Any:
    several = np.ndim(y_pred) > 1 and np.shape(y_pred)[1] > 1
    return np.argmax(y_pred, axis=1) if several else np.array([int(each > 0.5) for each in y_pred])


_CLASSES = {
    "probas_to_classes": _probas_to_classes,
    "categorical_probas_to_classes": lambda p: np.argmax(p, axis=1),
}
