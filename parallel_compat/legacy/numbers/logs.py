"""Logs and history that answer to the names of old metrics: `acc` for `accuracy`, and the other way round."""

from __future__ import annotations

from typing import Any

# Keras 2 logged a metric given by a short string under the function's name.
_NAMES = (
    ("acc", "accuracy"),
    ("mean_squared_error", "mse"),
    ("mean_absolute_error", "mae"),
    ("mean_absolute_percentage_error", "mape"),
    ("mean_squared_logarithmic_error", "msle"),
    ("lr", "learning_rate"),
)


def spellings(name: str) -> tuple[str, ...]:
    """Return the other spellings of a log's name.

    >>> spellings("val_acc")
    ('val_accuracy',)
    >>> spellings("val_output_1_mean_absolute_error")
    ('val_output_1_mae',)
    """
    for pair in _NAMES:
        for this, other in (pair, pair[::-1]):
            if name == this or name.endswith(f"_{this}"):
                return (name[: -len(this)] + other,)
    return ()


def resolve(logs: Any, name: str) -> str:
    """Return the name under which `logs` has what `name` asks for, or `name` itself."""
    if dict.__contains__(logs, name):
        return name
    return next((other for other in spellings(name) if dict.__contains__(logs, other)), name)


class Logs(dict[str, Any]):
    """A dict of logs whose keys may be asked for in the old spelling; what it lists is today's.

    >>> logs = Logs(val_accuracy=0.5)
    >>> logs["val_acc"], logs.get("val_acc"), "val_acc" in logs, list(logs)
    (0.5, 0.5, True, ['val_accuracy'])

    Attributes:
        unlisted: what may be asked for and is not listed: `batch` and `size` of a batch.
    """

    unlisted: dict[str, Any] = {}  # noqa: RUF012  # replaced, never written to

    def __missing__(self, name: str) -> Any:
        if name in self.unlisted:
            return self.unlisted[name]
        found = resolve(self, name)
        if found == name:
            raise KeyError(name)
        return dict.__getitem__(self, found)

    def get(self, name: str, default: Any = None) -> Any:
        return dict.get(self, resolve(self, name), self.unlisted.get(name, default))

    def __contains__(self, name: object) -> bool:
        return name in self.unlisted or dict.__contains__(self, resolve(self, name) if isinstance(name, str) else name)

    def copy(self) -> Logs:
        copied = Logs(self)
        copied.unlisted = self.unlisted
        return copied

    def __reduce__(self) -> Any:
        # A pickled history is read without this package, by scripts that ask for either spelling.
        return (dict, (with_old_names(self),))


def with_old_names(logs: dict[str, Any]) -> dict[str, Any]:
    """Return a dict that has every log under today's name and under the old one."""
    named = dict(logs)
    for name, value in logs.items():
        for other in spellings(name):
            named.setdefault(other, value)
    return named
