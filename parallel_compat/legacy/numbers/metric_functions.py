"""Metric functions as each era computed them, and the names under which it logged them.

Read in `keras/metrics.py` of Keras 2.2.4 and `tensorflow/python/keras/metrics.py` of TensorFlow 1.15 and 2.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from parallel_compat.legacy import losses
from parallel_compat.names.eras import Era
from parallel_compat.names.identifiers import FUNCTIONS_TODAY, SHORT_FUNCTIONS
from parallel_compat.run import callers

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = Callable[..., Any]


def _called(name: str) -> Callable[[Function], Function]:
    """Give a function the name of the one that it stands for: files of models hold it, and scripts print it."""

    def named(function: Function) -> Function:
        function.__name__ = name
        return function

    return named


# --- what Keras 2.2.4 had otherwise --------------------------------------------------------------------------------


def binary_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Return the share of labels that the rounded prediction equals: -1, 2 or 3 as well as 0 and 1."""
    equal = tf.equal(tf.cast(y_true, y_pred.dtype), tf.round(y_pred))
    return tf.reduce_mean(tf.cast(equal, keras.config.floatx()), axis=-1)


@_called("binary_accuracy")
def binary_accuracy_of_threshold(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Any:
    """Return the share of labels that say whether the prediction is above a half, a number per row."""
    above = tf.cast(y_pred > tf.cast(threshold, y_pred.dtype), y_pred.dtype)
    equal = tf.equal(tf.cast(y_true, y_pred.dtype), above)
    return tf.reduce_mean(tf.cast(equal, keras.config.floatx()), axis=-1)


def categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Return whether the greatest prediction is the label's, for each row.

    The first of equal ones: Keras 3 takes -0.0 for less than 0.0.
    """
    equal = tf.equal(tf.argmax(y_true, axis=-1), tf.argmax(y_pred, axis=-1))
    return tf.cast(equal, keras.config.floatx())


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Return whether the greatest prediction is the label's, for each row."""
    greatest = tf.cast(tf.argmax(y_pred, axis=-1), y_pred.dtype)
    labels = tf.cast(y_true, y_pred.dtype)
    if len(labels.shape) == len(y_pred.shape):
        labels = tf.squeeze(labels, -1)
    return tf.cast(tf.equal(labels, greatest), keras.config.floatx())


def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """Return the share of samples whose label is among the k greatest predictions: one number for a batch."""
    return keras.ops.mean(top_k_of_each_row(y_true, y_pred, k=k), axis=-1)


@_called("top_k_categorical_accuracy")
def top_k_of_each_row(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """Return whether the label of each sample is among the k greatest predictions."""
    return keras.metrics.top_k_categorical_accuracy(y_true, tf.cast(y_pred, "float32"), k=k)


def sparse_top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """Return the share of samples whose label is among the k greatest predictions: one number for a batch."""
    return keras.ops.mean(sparse_top_k_of_each_row(y_true, y_pred, k=k), axis=-1)


@_called("sparse_top_k_categorical_accuracy")
def sparse_top_k_of_each_row(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """Return whether the label of each sample is among the k greatest predictions."""
    if len(y_true.shape) == len(y_pred.shape) and y_true.shape[-1] == 1:
        y_true = tf.squeeze(y_true, -1)
    # TensorFlow has `in_top_k` of float32 alone.
    return keras.metrics.sparse_top_k_categorical_accuracy(y_true, tf.cast(y_pred, "float32"), k=k)


def cosine_similarity(y_true: Any, y_pred: Any) -> Any:
    """Return the cosine of the angle between the samples: what `cosine_proximity` was as a metric of `tf.keras`."""
    return -losses.cosine_proximity(y_true, y_pred)


_OF_TF_KERAS: dict[str, Function] = {
    "binary_accuracy": binary_accuracy_of_threshold,
    "categorical_accuracy": categorical_accuracy,
    "cosine_proximity": cosine_similarity,
    "sparse_categorical_accuracy": sparse_categorical_accuracy,
    "sparse_top_k_categorical_accuracy": sparse_top_k_of_each_row,
    "top_k_categorical_accuracy": top_k_of_each_row,
}
_OF_ERA: dict[Era, dict[str, Function]] = {
    Era.KERAS_2_2_4: {
        "binary_accuracy": binary_accuracy,
        "categorical_accuracy": categorical_accuracy,
        "sparse_categorical_accuracy": sparse_categorical_accuracy,
        "top_k_categorical_accuracy": top_k_categorical_accuracy,
        "sparse_top_k_categorical_accuracy": sparse_top_k_categorical_accuracy,
        "cosine_proximity": losses.cosine_proximity,
    },
    Era.KERAS_2_3: {**_OF_TF_KERAS, "binary_accuracy": binary_accuracy},
    Era.TF_KERAS_1_15: _OF_TF_KERAS,
    Era.TF_KERAS_2_2: _OF_TF_KERAS,
    Era.TODAY: {},
}
_OLD_NAMES = {today: old for old, today in FUNCTIONS_TODAY.items()}


def old_name(name: str) -> str:
    """Return the name that a function of Keras had, in any spelling: `mae` was `mean_absolute_error`."""
    full = SHORT_FUNCTIONS.get(name.lower() if name.isupper() else name, name)
    return _OLD_NAMES.get(full, full)


def of_name(name: str, era: Era) -> Function | None:
    """Return the metric function that an era had under a name; None where it is none of Keras's.

    >>> of_name("kld", Era.KERAS_2_2_4).__name__
    'kl_divergence'

    Args:
        name: a name, in any spelling.
        era: the era.
    """
    full = old_name(name)
    own = _OF_ERA[era].get(full) or losses_of_era(full, era)
    if own is not None:
        return own
    today = FUNCTIONS_TODAY.get(full, full)
    for module in (keras.metrics, keras.losses):
        found = getattr(module, today, None)
        if callable(found) and not isinstance(found, type):
            return found  # type: ignore[no-any-return]
    return None


def losses_of_era(name: str, era: Era) -> Function | None:
    """Return a loss function that an era computed otherwise, where it is a metric as well."""
    if era is Era.KERAS_2_2_4 and name in ("hinge", "squared_hinge"):
        return getattr(losses, name)  # type: ignore[no-any-return]
    return None


def named_as_keras_did(function: Function) -> str | None:
    """Return the old name of a function of Keras, or of a stand-in for one; None for a function of the user's."""
    module = str(getattr(function, "__module__", ""))
    name = getattr(function, "__name__", "")
    if not name or isinstance(function, type) or not module.startswith(("keras.src.", "parallel_compat.")):
        return None
    return "cosine_proximity" if name == "cosine_similarity" else old_name(name)


_ACCURACY = {Era.TF_KERAS_1_15: ("accuracy",), Era.TF_KERAS_2_2: ("accuracy", "acc", "ACC")}


def accuracy(y_true: Any, y_pred: Any) -> Any:
    """Return 1 where a prediction is the label, and 0 elsewhere: `tf.keras.metrics.get("accuracy")`.

    >>> accuracy([1.0, 2.0], [1.0, 3.0]).numpy().tolist()
    [1.0, 0.0]
    """
    y_pred = keras.ops.convert_to_tensor(y_pred)
    return keras.ops.cast(keras.ops.equal(keras.ops.cast(y_true, y_pred.dtype), y_pred), keras.config.floatx())


def metric_of_name(identifier: Any) -> Any:
    """Return the metric function that the caller's era had under a name (`keras.metrics.get`)."""
    if isinstance(identifier, str):
        custom = keras.saving.get_registered_object(identifier)
        era = callers.era_of_caller()
        if custom is None and era.is_tf_keras and identifier in _ACCURACY[era]:
            return accuracy
        identifier = custom or of_name(identifier, era) or identifier
    return keras.metrics.get(identifier)


def loss_of_name(identifier: Any) -> Any:
    """Return the loss function of a name, in any spelling (`keras.losses.get`)."""
    if isinstance(identifier, str):
        custom = keras.saving.get_registered_object(identifier)
        old = old_name(identifier)
        if callers.era_of_caller() is Era.TF_KERAS_1_15 and old == "cosine_proximity":
            return cosine_similarity  # the sign of its loss, too
        if custom is None and old == "huber_loss" and callers.era_of_caller().is_tf_keras:
            return _huber_loss_of_each if callers.era_of_caller() is Era.TF_KERAS_1_15 else keras.losses.huber
        identifier = custom or FUNCTIONS_TODAY.get(old, identifier)
    return keras.losses.get(identifier)


@_called("huber_loss")
def _huber_loss_of_each(y_true: Any, y_pred: Any, delta: float = 1.0) -> Any:
    y_true, y_pred = tf.cast(y_true, keras.config.floatx()), tf.cast(y_pred, keras.config.floatx())
    return tf.compat.v1.losses.huber_loss(y_true, y_pred, delta=delta, reduction="none")


# --- called by hand -----------------------------------------------------------------------------------------------


class OfCaller:
    """A metric function of Keras as the code that calls it knew it, by that code's era.

    Args:
        name: the function's name.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = name

    def __call__(self, y_true: Any, y_pred: Any, *given: Any, **keywords: Any) -> Any:
        function = of_name(self.__name__, callers.era_of_caller())
        assert function is not None
        y_true, y_pred = (each if tf.is_tensor(each) else tf.convert_to_tensor(each) for each in (y_true, y_pred))
        return function(y_true, y_pred, *given, **keywords)


class CosineLoss(OfCaller):
    """The loss function `cosine_proximity`, called by hand: in TensorFlow 1.15 it had no minus."""

    def __call__(self, y_true: Any, y_pred: Any, axis: int = -1) -> Any:
        values = keras.losses.cosine_similarity(y_true, y_pred, axis=axis)
        return -values if callers.era_of_caller() is Era.TF_KERAS_1_15 else values


BINARY_ACCURACY = OfCaller("binary_accuracy")
TOP_K = OfCaller("top_k_categorical_accuracy")
SPARSE_TOP_K = OfCaller("sparse_top_k_categorical_accuracy")
SPARSE_CATEGORICAL_ACCURACY = OfCaller("sparse_categorical_accuracy")
COSINE_PROXIMITY = OfCaller("cosine_proximity")
COSINE_LOSS = CosineLoss("cosine_proximity")
