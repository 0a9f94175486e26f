"""Compares what two stacks noted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

TOLERANCE = 1e-5


def differences(expected: Any, received: Any, at: str = "") -> list[str]:
    """Return where two notes differ: numbers by more than the tolerance, relative to the largest beside them."""
    if isinstance(expected, dict) and "refused" in expected:
        return []
    if isinstance(expected, dict) and isinstance(received, dict):
        if "sums" in expected and "sums" in received:
            return _arrays(expected, received, at)
        found = (
            [f"{at}: expected {sorted(expected)}, received {sorted(received)}"]
            if set(expected) != set(received)
            else []
        )
        for key in expected:
            if key in received:
                found += differences(expected[key], received[key], f"{at}/{key}")
        return found
    if isinstance(expected, list) and isinstance(received, list):
        if len(expected) != len(received):
            return [f"{at}: expected {expected}, received {received}"]
        if expected and all(_is_number(each) for each in [*expected, *received]):
            scale = (
                max(abs(each) for each in [*expected, *received] if each == each)
                if any(each == each for each in expected + received)
                else 0.0
            )
            equal = all(_close(a, b, scale) for a, b in zip(expected, received, strict=False))
            return [] if equal else [f"{at}: expected {expected}, received {received}"]
        found = []
        for index, (a, b) in enumerate(zip(expected, received, strict=False)):
            found += differences(a, b, f"{at}/{index}")
        return found
    if _is_number(expected) and _is_number(received):
        equal = _close(expected, received, max(abs(expected), abs(received), 1e-2))
    else:
        equal = _without_addresses(expected) == _without_addresses(received)
    return [] if equal else [f"{at}: expected {expected}, received {received}"]


def settled(expected: Any, received: Any, nudged: Sequence[Any]) -> Any:
    """Return what was received, with the values as expected that are no farther off than the real stack's own.

    Args:
        expected: what the real stack noted.
        received: what another did.
        nudged: what the real stack noted of the same script with the last bits of its weights changed.
    """
    parts = _parts(expected)
    if any(_parts(each) != parts for each in nudged):
        return expected
    if parts is not None:
        if _parts(received) != parts:
            return received
        found = {part: settled(expected[part], received[part], [each[part] for each in nudged]) for part in parts}
        return found if isinstance(expected, dict) else list(found.values())
    own = [expected, *nudged]
    if all(map(_is_number, [received, *own])):
        return expected if abs(expected - received) <= max(own) - min(own) else received
    return expected if any(each != expected for each in nudged) else received


def _parts(value: Any) -> list[Any] | None:
    if isinstance(value, dict):
        return sorted(value)
    return list(range(len(value))) if isinstance(value, list) else None


def _without_addresses(value: Any) -> Any:
    return re.sub(r" at 0x[0-9a-f]+", "", value) if isinstance(value, str) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _close(a: float, b: float, scale: float) -> bool:
    return a == b or (a != a and b != b) or abs(a - b) <= TOLERANCE * scale


def _arrays(expected: dict[str, Any], received: dict[str, Any], at: str) -> list[str]:
    said = f"{at}: expected {expected}, received {received}"
    if expected["shape"] != received["shape"]:
        return [said]
    total = max(abs(expected["sums"][0]), abs(received["sums"][0]))
    size = 1
    for each in expected["shape"]:
        size *= each
    equal = all(_close(a, b, total) for a, b in zip(expected["sums"], received["sums"], strict=False))
    for a, b in zip(expected["ends"], received["ends"], strict=False):
        equal = equal and _close(a, b, max(abs(a), abs(b), total / size))
    return [] if equal else [said]
