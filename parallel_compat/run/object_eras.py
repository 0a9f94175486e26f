"""The era of an object: that of the code that made it, or compiled it.

A traced step, an epoch's logs and a save run far from the user's call. What they compute as it was then hangs on the
object at hand, which remembers whose it is: `run` calls `remember` in the constructors of layers, models, optimizers,
losses and metrics, and again when a model is compiled. The mark is on the object itself, so copies have it too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from parallel_compat.run import callers

if TYPE_CHECKING:
    from parallel_compat.names.eras import Era

MARK = "_parallel_compat_era"


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
