"""Hold what `evaluate`, `predict` and `fit` returned against each other.

`evaluate` and `predict` are compared where they had recorded weights, the history for the epochs whose batches
were all recorded: what follows goes on by itself, and rounding grows from step to step. Where it is known how far two
runs of the first stack are from each other, all epochs are compared.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from parallel_compat.compare.counts import Counts
from parallel_compat.compare.differences import TOLERANCE, Finding, part, relative_difference, tolerance
from parallel_compat.compare.recordings import Recording
from parallel_compat.names.identifiers import log_today


class Results:
    """What `evaluate`, `predict` and `fit` returned.

    Args:
        noise: how far two runs of the first stack are from each other, by kind; None where that is not known.
    """

    def __init__(
        self,
        number: int,
        old: Recording,
        new: Recording,
        steps: int,
        counts: Counts,
        noise: dict[str, float] | None = None,
    ) -> None:
        self._noise, self._counts = noise, counts
        self.findings: list[Finding] = []
        self.notes: list[str] = []
        self.differences: dict[str, float] = {}
        self._number = number
        self._recordings = (old, new)
        self._facts = (old.models[number], new.models[number])
        for kind in ("evaluate", "predict"):
            self._calls(kind)
        self._history(steps)

    def _calls(self, kind: str) -> None:
        old, new = (facts[kind] for facts in self._facts)
        if len(old) != len(new):
            text = f"expected {len(old)} calls of {kind}, as recorded. Received: {len(new)}"
            self.findings.append(Finding("not compared", kind, None, text))
        late = 0
        for number, (a, b) in enumerate(zip(old, new, strict=False)):
            if not a["weights"] or not b["weights"]:
                late += 1
                continue
            if a["data"] is not None and b["data"] is not None:
                if not _same_sums(a["data"], b["data"]):
                    text = f"{kind} {number} was called with other data"
                    self.findings.append(Finding("data", kind, None, text, kind))
                    continue
            elif self._facts[1].get("fed"):  # a generator or dataset, made as that of the batches, which differ
                text = f"{kind} {number}: its data are not known, and the batches of the training differ"
                self.findings.append(Finding("not compared", kind, None, text))
                continue
            self._values(number, a, b) if kind == "evaluate" else self._predictions(number)
        if late:
            self.notes.append(
                f"{late} calls of {kind} beyond the recorded ones, or before the first step, were not compared"
            )

    def _values(self, number: int, old: dict[str, Any], new: dict[str, Any]) -> None:
        names = old["names"] if len(old["names"]) == len(old["values"]) else [str(i) for i in range(len(old["values"]))]
        if len(old["values"]) != len(new["values"]):
            counts = f"{len(old['values'])} numbers ({', '.join(names)}), here {len(new['values'])}"
            text = f"evaluate {number} returned {counts}"
            self.findings.append(Finding("evaluate", "numbers", None, text))
            return
        for name, a, b in zip(names, old["values"], new["values"], strict=True):
            self._number_of("evaluate", name, f"{name} of evaluate {number}", a, b, old.get("samples", 0))

    def _number_of(self, kind: str, name: str, what: str, a: float, b: float, samples: int) -> None:
        difference = relative_difference(np.array([a]), np.array([b])) if abs(a) > 1e-6 else abs(a - b)
        self._raise(kind, difference)
        can_flip = self._counts.tolerance(name, samples, self._tolerance(kind))
        if not (difference <= self._tolerance(kind) or abs(a - b) <= can_flip):
            text = f"{what}: {a:.8g} was recorded, here it is {b:.8g} ({part(difference)})"
            self.findings.append(Finding(kind, name, difference, text, name))

    def _predictions(self, number: int) -> None:
        section = f"model{self._number}/predict{number}"
        old, new = (each.arrays.get(section, []) for each in self._recordings)
        if [array.shape for array in old] != [array.shape for array in new]:
            shapes = " and ".join(str([list(array.shape) for array in arrays]) for arrays in (old, new))
            self.findings.append(
                Finding("predict", str(number), None, f"predict {number} returned the shapes {shapes}")
            )
            return
        for index, (a, b) in enumerate(zip(old, new, strict=True)):
            difference = relative_difference(a, b)
            self._raise("predict", difference)
            if not difference <= self._tolerance("predict"):
                text = f"output {index} of predict {number} differs by {part(difference)}"
                self.findings.append(Finding("predict", str(number), difference, text))

    def _tolerance(self, kind: str) -> float:
        return tolerance((self._noise or {}).get(kind, 0.0))

    def _history(self, recorded: int) -> None:
        old, new = (facts["history"] for facts in self._facts)
        if len(old) != len(new):
            text = f"expected {len(old)} epochs, as recorded. Received: {len(new)}"
            self.findings.append(Finding("not compared", "history", None, text))
        told = []
        for number, (a, b) in enumerate(zip(old, new, strict=False)):
            late = a["steps"] > recorded and self._noise is None
            if late or a["steps"] != b["steps"] or self._facts[0]["random_layers"]:
                told.append(number)
                continue
            here = {log_today(name): value for name, value in b["logs"].items()}
            for name, value in a["logs"].items():
                if log_today(name) in here and _is_number(value) and _is_number(here[log_today(name)]):
                    what = f"{name} of epoch {number}"
                    self._number_of("history", name, what, value, here[log_today(name)], self._samples(number))
        if told and old:
            a, b = old[told[-1]]["logs"].get("loss"), new[told[-1]]["logs"].get("loss")
            values = f": its loss was {a:.6g}, here {b:.6g}" if _is_number(a) and _is_number(b) else ""
            self.notes.append(
                f"{len(told)} of {len(old)} epochs are not compared: they ran beyond the recorded steps, or layers "
                f"draw random numbers; the last one{values}"
            )

    def _samples(self, epoch: int) -> int:
        """Return how many samples an epoch had."""
        ends = [0, *(each["steps"] for each in self._facts[0]["history"])]
        batch = self._recordings[0].arrays.get(f"model{self._number}/step0/x") or [np.zeros(())]
        return int(max(ends[epoch + 1] - ends[epoch], 0) * (len(batch[0]) if batch[0].ndim else 0))

    def _raise(self, kind: str, difference: float) -> None:
        self.differences[kind] = max(self.differences.get(kind, 0.0), min(difference, 1e9))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _same_sums(old: list[list[float]], new: list[list[float]]) -> bool:
    return len(old) == len(new) and all(
        abs(a - b) <= TOLERANCE * max(abs(one[-1]), 1e-30)
        for one, other in zip(old, new, strict=True)
        for a, b in zip(one, other, strict=True)
    )
