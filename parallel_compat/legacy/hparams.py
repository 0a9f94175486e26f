"""`tf.contrib.training.HParams` of TensorFlow 1: settings of a training by their names, as attributes."""

from __future__ import annotations

import json
import re
from typing import Any


class HParams:
    """Settings by their names.

    >>> settings = HParams(rate=0.1, units=[4, 2])
    >>> settings.rate, "units" in settings, settings.values()
    (0.1, True, {'rate': 0.1, 'units': [4, 2]})
    >>> settings.parse("rate=0.5,units=[8,8]").units
    [8, 8]

    Args:
        **settings: their values: numbers, texts, truth values, and lists of these.
    """

    def __init__(self, **settings: Any) -> None:
        vars(self).update(settings)

    def __contains__(self, name: str) -> bool:
        return name in vars(self)

    def __repr__(self) -> str:
        return f"HParams({', '.join(f'{name}={value!r}' for name, value in sorted(vars(self).items()))})"

    def add_hparam(self, name: str, value: Any) -> None:
        """Add a setting."""
        if name in self:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        vars(self)[name] = value

    def set_hparam(self, name: str, value: Any) -> None:
        """Set one that is there."""
        if name not in self:
            raise KeyError(name)
        vars(self)[name] = value

    def del_hparam(self, name: str) -> None:
        """Forget one."""
        vars(self).pop(name, None)

    def get(self, name: str, default: Any = None) -> Any:
        """Return a setting, or the default where it is not there."""
        return vars(self).get(name, default)

    def values(self) -> dict[str, Any]:
        """Return all by their names."""
        return dict(vars(self))

    def override_from_dict(self, values: dict[str, Any]) -> HParams:
        """Set those that are there."""
        for name, value in values.items():
            self.set_hparam(name, value)
        return self

    def parse(self, text: str) -> HParams:
        """Set those of a text, `name=value,other=[1,2]`, each in the type that it has.

        Raises:
            ValueError: for a name that is not there, or a value of another type.
        """
        for part in filter(str.strip, re.split(r",(?![^[]*\])", text)):  # at commas outside of lists
            name, equals, value = part.partition("=")
            name = name.strip()
            if not equals or name not in self:
                raise ValueError(f"Unknown hyperparameter type for {name}")
            vars(self)[name] = _of_type(vars(self)[name], value.strip(), name)
        return self

    def parse_json(self, text: str) -> HParams:
        """Set those of a JSON object."""
        return self.override_from_dict(json.loads(text))

    def to_json(self, indent: int | None = None, separators: Any = None, sort_keys: bool = False) -> str:
        """Return all as a JSON object."""
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)


def _of_type(now: Any, value: str, name: str) -> Any:
    if isinstance(now, list):
        kind = now[0] if now else ""
        return [_of_type(kind, each.strip(), name) for each in value.strip("[]").split(",") if each.strip()]
    if isinstance(now, bool):
        if value.lower() not in ("true", "false", "0", "1"):
            raise ValueError(f"Could not parse hparam {name!r} in {value!r}")
        return value.lower() in ("true", "1")
    return type(now)(value) if isinstance(now, (int, float, str)) else value
