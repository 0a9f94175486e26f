"""Compares what two stacks noted: comparing.py EXPECTED.json RECEIVED.json [-v]."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

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
        equal = expected == received
    return [] if equal else [f"{at}: expected {expected}, received {received}"]


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


if __name__ == "__main__":
    answers, mine = (json.loads(Path(file).read_text()) for file in sys.argv[1:3])
    counts = {"equal": 0, "different": 0, "stopped": 0, "refused": 0}
    for name, noted in answers.items():
        if name not in mine:
            continue
        if "stopped" in noted:
            counts["refused"] += 1
            print(f"{name} refused: {noted['stopped'][:250]}")
        elif "stopped" in mine[name]:
            counts["stopped"] += 1
            print(f"{name} STOPPED: {mine[name]['stopped'][:400]}")
        elif found := differences(noted, mine[name]):
            counts["different"] += 1
            print(
                f"{name} differs in {len(found)}:",
                *[f"    {each[:330]}" for each in found[: 40 if "-v" in sys.argv else 4]],
                sep="\n",
            )
        else:
            counts["equal"] += 1
    print(counts)
