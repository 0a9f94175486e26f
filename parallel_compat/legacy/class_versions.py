"""The two versions of a class that TensorFlow had side by side (`names/class_versions.py`), for `run`.

Each is a class that makes objects of today's class with the defaults of its own time; a class derived from it has
them as well.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import keras

from parallel_compat.legacy import layers, optimizers
from parallel_compat.legacy.activations import hard_sigmoid
from parallel_compat.legacy.call_arguments import translate
from parallel_compat.legacy.numbers import optimizer_steps
from parallel_compat.names.class_versions import WORDS
from parallel_compat.run import object_eras

# Of the others the defaults alone are of their time: their numbers are the arguments'.
_REMEMBERING = ("BatchNormalization",)

_TODAY = "_parallel_compat_today"


def __getattr__(name: str) -> Any:
    """Return `LSTM_first`, say."""
    kind, _, word = name.partition("_")
    if word not in WORDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if hasattr(keras.optimizers, kind):
        return _optimizer(getattr(keras.optimizers, kind), word)
    return _layer(getattr(keras.layers, kind), word)


class _Version(type):
    """The type of a version: today's objects count as its own."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, vars(cls).get(_TODAY, ())) or type.__instancecheck__(cls, instance)


@cache
def _layer(kind: Any, word: str) -> Any:
    of, era = f"keras.layers.{kind.__name__}", WORDS[word]

    def as_then(given: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        given, keywords = translate(of, given, keywords, _quietly, era=era, in_run=True)
        return tuple(map(_as_of_keras_2, given)), {name: _as_of_keras_2(each) for name, each in keywords.items()}

    def __new__(cls: Any, *given: Any, **keywords: Any) -> Any:
        if cls is not version:
            return kind.__new__(cls, *given, **keywords)
        made = layers.make(kind, *as_then(given, keywords))
        if kind.__name__ in _REMEMBERING:
            object_eras.remember(made, era)
        return made

    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        given, keywords = as_then(given, keywords)
        after = layers.take_common(keywords, kind)
        kind.__init__(self, *given, **keywords)
        after(self)
        if kind.__name__ in _REMEMBERING:
            object_eras.remember(self, era)

    members = {"__new__": __new__, "__init__": __init__, "__doc__": kind.__doc__, _TODAY: kind}
    version = _Version(kind.__name__, (kind,), members)
    return version


@cache
def _optimizer(kind: Any, word: str) -> Any:
    of, era = f"keras.optimizers.{kind.__name__}", WORDS[word]

    def __new__(cls: Any, *given: Any, **keywords: Any) -> Any:
        made = kind.__new__(kind if cls is version else cls)
        if cls is version:
            optimizers.initialize(kind.__init__, made, of, given, keywords, era=era)
            optimizer_steps.clip_each(made)
        return made

    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        optimizers.initialize(kind.__init__, self, of, given, keywords, era=era)

    members = {"__new__": __new__, "__init__": __init__, "__doc__": kind.__doc__, _TODAY: kind}
    version = _Version(kind.__name__, (kind,), members)
    return version


def _as_of_keras_2(value: Any) -> Any:
    return hard_sigmoid if isinstance(value, str) and value == "hard_sigmoid" else value


def _quietly(given: str, became: str) -> None:
    pass
