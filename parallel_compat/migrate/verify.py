"""`migrate --verify SCRIPT`: which findings change the results of this project, in figures.

The script runs on its original, as it is rewritten, and rewritten with `--unsafe`. If that differs, each kind of unsafe
rewrite is left out once, with all others made: how far the loss then is from the original's is what it is worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from parallel_compat.compare.comparison import Comparison, compare
from parallel_compat.compare.curves import Curve
from parallel_compat.compare.differences import percent, tolerance
from parallel_compat.compare.runs import Runs, Script, original_era
from parallel_compat.names import results
from parallel_compat.names.eras import Era

STEPS = 10
_TRIED = 8  # kinds of findings that are left out one by one


@dataclass
class Verified:
    """What the findings of a project are worth."""

    era: Era  # the original
    comparison: Comparison  # of the original and the project as it is rewritten
    # Of the original and the project rewritten with `--unsafe`; None where nothing differed before.
    unsafe: Comparison | None = None
    # For each finding that is only made with `--unsafe`, the comparison without it, or None if not tried.
    without: dict[str, Comparison | None] = field(default_factory=dict)
    known: list[str] = field(default_factory=list)  # what the sources name of the known differences


def verify(
    script: str, arguments: Sequence[str], options: Sequence[str], era: str | None, replicas: int | None = None
) -> Verified:
    """Run a script on its original and rewritten, and see which findings change its results."""
    found = Script.of(script, arguments)
    with Runs(found, original_era(script, era), replicas=replicas, most=3 * STEPS) as runs:
        old, again = runs.original(), runs.original_again()
        sources = found.sources()

        def compared(*given: str, name: str) -> tuple[Comparison, dict[str, Any]]:
            new, report = runs.migrated(*given, name=name)
            return compare(old, new, again, sources, runs.era), report

        first, report = compared(*options, name="the project as it is rewritten")
        known = [row[0] for row in results.differing([(runs.era, sources)], "migrate")]
        verified = Verified(runs.era, first, known=known)
        if first.is_equal or "--unsafe" in options:
            return verified
        verified.unsafe, unsafe = compared(*options, "--unsafe", name="the project with --unsafe")
        read = {str(each.relative_to(found.root)) for each in found.files() if each.is_relative_to(found.root)}
        made = _rewritten(unsafe, read) - _rewritten(report, read)
        for number, message in enumerate(sorted(made)):
            verified.without[message] = None
            if len(made) == 1:
                verified.without[message] = first
            elif number < _TRIED:
                name = f"without finding {number + 1} of {len(made)}"
                verified.without[message], _ = compared(*options, "--unsafe", "--leave", message, name=name)
        return verified


def _rewritten(report: dict[str, Any], read: set[str]) -> set[str]:
    """Return the messages of what was rewritten in files that the script reads."""
    rows = (row for row in report["findings"] if row["status"] == "rewritten")
    return {row["message"] for row in rows if any(row["path"].endswith(f"/{name}") for name in read)}


def lines(found: Verified) -> list[str]:
    """Return what a user reads."""
    said = [f"as it is rewritten: {_worth(found.comparison)}"]
    if found.unsafe is not None:
        said.append(f"with --unsafe: {_worth(found.unsafe)}")
    for message, without in found.without.items():
        text = message.partition(" (Unsafe: ")[0]
        if without is None or found.unsafe is None:
            said.append(f"not tried: {text}")
        elif (effect := _effect(without, found.unsafe)) is None:
            said.append(f"does not matter: {text}")
        else:
            said.append(f"matters: without --unsafe {effect}: {text}")
    last = found.unsafe or found.comparison
    shown: set[str] = set()
    of_models: set[int | None] = set()
    for model, place, finding in last.in_order():
        reason = last.reason(model, finding)
        if model not in of_models and reason is not None and reason.what not in shown:
            shown.add(reason.what)
            said.append(f"matters: {reason.text} Seen: {place}: {finding.text}. {reason.remedy}")
        of_models.add(model)
    if last.is_equal and found.known:
        said.append(f"known differences that were not seen: {'; '.join(found.known)}")
    return said


def _effect(without: Comparison, unsafe: Comparison) -> str | None:
    """Say by how much a finding changes a loss; None where it does not."""
    if any(finding.kind == "weights" for _, finding in without.findings):
        return "the weights have other shapes"
    said = [(0.0, 0)]
    for one, other in zip(without.curves, unsafe.curves, strict=False):
        steps = min(one.compared, other.compared, STEPS)
        both = Curve(other.new, one.new)
        if steps and not max(map(both.distance, range(steps))) <= tolerance(other.noise(steps - 1)):
            said.append((both.distance(steps - 1), steps))
    worst, steps = max(said)
    return f"the loss differs by {percent(worst)} after {steps} steps" if steps else None


def _worth(found: Comparison) -> str:
    """Say how far the losses are from the original's, for the model where they are furthest."""
    steps = {number: min(curve.compared, STEPS) for number, curve in enumerate(found.curves) if curve.compared}
    if not steps:
        return found.verdict()
    worst = max(steps, key=lambda number: found.curves[number].distance(steps[number] - 1))
    curve, count = found.curves[worst], steps[worst]
    of_model = f" of model {found.models[worst]}" if len(found.models) > 1 else ""
    said = f"the loss{of_model} differs by {percent(curve.distance(count - 1))} after {count} steps"
    equal = "equal to the original, " if found.is_equal else ""
    return f"{equal}{said} (two runs of the original: {percent(curve.noise(count - 1))})"
