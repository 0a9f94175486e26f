"""The era of an object: that of the code that made it, or compiled it.

A traced step, an epoch's logs and a save run far from the user's call. What they compute as it was then hangs on the
object at hand, which remembers whose it is: `run` calls `remember` in the constructors of layers, models, optimizers,
losses and metrics, and again when a model is compiled. The mark is on the object itself, so copies have it too.
"""

from __future__ import annotations

import threading
from typing import Any

from parallel_compat.names.eras import Era
from parallel_compat.run import callers

MARK = "_parallel_compat_era"
# Whether code of TensorFlow 2 switched eager execution off.
_in_graphs = threading.Event()


def remember(thing: Any, era: Era) -> None:
    """Let an object be of an era.

    Args:
        thing: a layer, model, optimizer, loss or metric; it may not be initialised yet.
        era: whose results it shall give.
    """
    # Past `__setattr__` of Keras, which tracks what is set and needs an initialised object.
    vars(thing)[MARK] = era


def era_of_object(thing: Any) -> Era:
    """Return the era of the code that made an object (of a compiled model: that compiled it).

    >>> import keras
    >>> from parallel_compat.names.eras import Era
    >>> layer = keras.layers.Dense(1)
    >>> remember(layer, Era.KERAS_2_2_4)
    >>> era_of_object(layer).value
    'keras-2.2.4'

    Args:
        thing: any object.

    Returns:
        Its era; that of the process where it was made before anybody could take note, or is a plain function.
    """
    era = getattr(thing, "__dict__", {}).get(MARK)
    return era if era is not None else callers.era_of_process()


def train_in_graphs(value: bool) -> None:
    """Say whether TensorFlow 2 trains in graphs: `tf.compat.v1.disable_eager_execution()` was called.

    Args:
        value: False after eager execution was switched on again.
    """
    if value:
        _in_graphs.set()
    else:
        _in_graphs.clear()


def trains_in_graphs() -> bool:
    """Whether TensorFlow 2 trains in graphs."""
    return _in_graphs.is_set()


def trained_as(era: Era) -> Era:
    """Return the era in whose loop the models of an era are trained.

    Without eager execution TensorFlow 2.2 trained in TensorFlow 1.15's (`training_v1.py`), with its own names of
    metrics, defaults and files.

    >>> trained_as(Era.TF_KERAS_2_2).value
    'tf.keras-2.2'

    Args:
        era: the era of the code.
    """
    return Era.TF_KERAS_1_15 if era is Era.TF_KERAS_2_2 and trains_in_graphs() else era


def era_of_training(model: Any) -> Era:
    """Return the era in whose loop a model is trained: its own, but see `trained_as`.

    Args:
        model: a model.
    """
    return trained_as(era_of_object(model))
