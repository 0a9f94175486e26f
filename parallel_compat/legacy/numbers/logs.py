"""Logs and history that answer to the names of old metrics: `acc` for `accuracy`, and the other way round.

Their numbers are shown, and have the members, of the numbers of numpy that an era gave.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from keras import backend

from parallel_compat.names.eras import Era
from parallel_compat.names.identifiers import LOGS_TODAY


def spellings(name: str) -> tuple[str, ...]:
    """Return the other spellings of a log's name.

    >>> spellings("val_acc")
    ('val_accuracy',)
    >>> spellings("val_output_1_mean_absolute_error")
    ('val_output_1_mae',)
    """
    for pair in LOGS_TODAY.items():
        for this, other in (pair, pair[::-1]):
            if name == this or name.endswith(f"_{this}"):
                return (name[: -len(this)] + other,)
    return ()


def resolve(logs: Any, name: str) -> str:
    """Return the name under which `logs` has what `name` asks for, or `name` itself."""
    if dict.__contains__(logs, name):
        return name
    return next((other for other in spellings(name) if dict.__contains__(logs, other)), name)


def watched(logs: Any, name: str, era: Era) -> tuple[Any, str]:
    """Return the log that a callback of Keras watches, None where there is none, and what to say then.

    Today's spelling is answered in every era: with `import keras`, `val_accuracy` is what Keras 2.3 called it. An
    older one is not: TensorFlow 2.2 had no `val_acc`, and a training that watched it went on to its last epoch.

    >>> watched({"val_acc": 0.5}, "val_accuracy", Era.KERAS_2_2_4)
    (0.5, '')
    >>> watched({"val_accuracy": 0.5}, "val_acc", Era.TF_KERAS_2_2)
    (None, ' In tf.keras-2.2 it is called `val_accuracy`: give monitor="val_accuracy".')

    Args:
        logs: those of an epoch or a batch.
        name: the callback's `monitor`.
        era: in whose loop the model is trained.
    """
    found = resolve(logs, name)
    if found == name or era is not Era.TF_KERAS_2_2:
        return dict.get(logs, found), ""
    return None, f' In {era} it is called `{found}`: give monitor="{found}".'


class SinglePrecision(float):
    """A number that was `np.float32`, and is shown as that: a log of it says 0.05, not 0.05000000074505806.

    A `float`, for what is written as JSON, and for sums with Python's numbers, which numpy 1 made in double precision;
    pickled as one. It has numpy's members.

    >>> SinglePrecision(np.float32(0.05)), SinglePrecision(0.1) + 0.0, SinglePrecision(0.1).shape
    (0.05, 0.1, ())
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(np.float32(self), name)

    def __repr__(self) -> str:
        return str(np.float32(self))

    __str__ = __repr__

    def __reduce__(self) -> tuple[type[float], tuple[float]]:
        return float, (float(self),)


def of_batch(logs: dict[str, Any], era: Era) -> dict[str, Any]:
    """Return what a batch gave as the numbers that the era's backend returned.

    >>> of_batch({"loss": 0.05000000074505806}, Era.KERAS_2_2_4), of_batch({"loss": 0.5}, Era.TF_KERAS_2_2)
    ({'loss': 0.05}, {'loss': 0.5})
    """
    return {name: _of_backend(value) for name, value in logs.items()} if era.has_graphs else logs


def of_epoch(logs: dict[str, Any], era: Era) -> dict[str, Any]:
    """Return the means of an epoch, or of an evaluation, as the era's numbers.

    Keras 2.2.4 made all of them with numpy, in double precision; TensorFlow 1.15 the loss alone, and its metrics gave
    what the backend returned.

    >>> of_epoch({"loss": 0.5, "acc": 0.20000000298023224}, Era.TF_KERAS_1_15)["acc"]
    0.2
    """
    if era.is_standalone:
        return {name: _of_numpy(value) for name, value in logs.items()}
    if era is not Era.TF_KERAS_1_15:
        return logs
    return {
        name: _of_numpy(value) if name in ("loss", "val_loss") else _of_backend(value) for name, value in logs.items()
    }


def _of_numpy(value: Any) -> Any:
    return np.float64(value) if isinstance(value, float) else value


def _of_backend(value: Any) -> Any:
    is_single = isinstance(value, float) and backend.floatx() == "float32"
    return SinglePrecision(value) if is_single else _of_numpy(value)


def rename_rate(logs: dict[str, Any]) -> None:
    """Let a callback's logs spell the learning rate `lr`, in the place where it is.

    >>> logs = Logs(loss=0.5, learning_rate=0.1)
    >>> rename_rate(logs)
    >>> logs
    {'loss': 0.5, 'lr': 0.1}
    """
    if dict.__contains__(logs, "learning_rate"):
        rate = dict.pop(logs, "learning_rate")
        dict.__setitem__(logs, "lr", SinglePrecision(rate) if isinstance(rate, float) else rate)


class InOrder(dict[str, Any]):
    """Logs that shall keep their order; Keras 3 sorts others by name.

    Args:
        values: the logs.
        era: whose numbers they shall be.
        earlier: what callbacks got before, and perhaps added to, where these are to be written into it.
    """

    def __init__(self, values: dict[str, Any], era: Era, earlier: Logs | None = None) -> None:
        super().__init__(values)
        self.era = era
        self.earlier = earlier


def logs_of(logs: Any, made: dict[str, Any]) -> Logs:
    """Return what callbacks get.

    Args:
        logs: as they came.
        made: the same as Python numbers, sorted.
    """
    if not isinstance(logs, InOrder):
        return Logs(made)
    made = of_epoch({name: made[name] for name in logs if name in made} | made, logs.era)
    if logs.earlier is None:
        return Logs(made)
    logs.earlier.update(made)
    return logs.earlier


class Logs(dict[str, Any]):
    """A dict of logs whose keys may be asked for in either spelling; what it lists is the era's.

    >>> logs = Logs(val_acc=0.5)
    >>> logs["val_accuracy"], logs.get("val_accuracy"), "val_accuracy" in logs, list(logs)
    (0.5, 0.5, True, ['val_acc'])
    """

    def __missing__(self, name: str) -> Any:
        found = resolve(self, name)
        if found == name:
            raise KeyError(name)
        return dict.__getitem__(self, found)

    def get(self, name: str, default: Any = None) -> Any:
        return dict.get(self, resolve(self, name), default)

    def __contains__(self, name: object) -> bool:
        return dict.__contains__(self, resolve(self, name) if isinstance(name, str) else name)

    def copy(self) -> Logs:
        return Logs(self)

    def __reduce__(self) -> Any:
        return (dict, (dict(self),))  # a pickled history is read without this package


def with_old_names(logs: dict[str, Any]) -> dict[str, Any]:
    """Return a dict that has every log under today's name and under the old one."""
    named = dict(logs)
    for name, value in logs.items():
        for other in spellings(name):
            named.setdefault(other, value)
    return named
