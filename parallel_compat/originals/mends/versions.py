"""`distutils.version`, which Python 3.12 dropped: versions that compare with strings."""

from __future__ import annotations

import functools
import re


@functools.total_ordering
class LooseVersion:
    """A version whose numbers and words compare one after the other.

    >>> LooseVersion("2.10") > "2.9"
    True
    """

    def __init__(self, vstring: str = "") -> None:
        self.vstring = vstring
        found = [part for part in re.split(r"(\d+|[a-z]+|\.)", vstring) if part and part != "."]
        self.version: list[int | str] = [int(part) if part.isdigit() else part for part in found]

    def _key(self) -> list[tuple[int, str]]:
        return [(part, "") if isinstance(part, int) else (-1, part) for part in self.version]

    def __eq__(self, other: object) -> bool:
        return self._key() == _as_version(other)._key()

    def __lt__(self, other: object) -> bool:
        return self._key() < _as_version(other)._key()

    def __hash__(self) -> int:
        return hash(tuple(self._key()))

    def __str__(self) -> str:
        return self.vstring


def _as_version(value: object) -> LooseVersion:
    return value if isinstance(value, LooseVersion) else LooseVersion(str(value))


StrictVersion = LooseVersion
