"""Telling what was found: a diff and lines for readers, JSON and SARIF for programs."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from parallel_compat import __version__
from parallel_compat.migrate import rules
from parallel_compat.migrate.findings import FileStatus, Place, Report, Status
from parallel_compat.names import results as differences
from parallel_compat.names.eras import Era

_COLUMNS = ("what", "keras_2", "keras_3", "migrate")


class _Lines(difflib.SequenceMatcher[str]):
    """Lines that stand once in each text match first, in order; `difflib` matches what is between them.

    `difflib` alone takes a time that grows with the square of the changes: half a minute for some thousands.
    """

    def __init__(self, before: list[str], after: list[str]) -> None:
        super().__init__(None, before, after, autojunk=False)
        self.before, self.after = before, after

    def get_matching_blocks(self) -> list[difflib.Match]:
        """Return what is the same in both texts, as `difflib` does."""
        end = (len(self.before), len(self.after))
        blocks, a, b = [], 0, 0
        for next_a, next_b in (*self._anchors(), end):
            between = difflib.SequenceMatcher(None, self.before[a:next_a], self.after[b:next_b])
            blocks += [(a + i, b + j, size) for i, j, size in between.get_matching_blocks() if size]
            if (next_a, next_b) != end:
                blocks.append((next_a, next_b, 1))
            a, b = next_a + 1, next_b + 1
        joined: list[difflib.Match] = []
        for start, other, size in (*blocks, (*end, 0)):
            last = joined[-1] if joined else None
            if size and last and (last.a + last.size, last.b + last.size) == (start, other):
                joined[-1] = last._replace(size=last.size + size)
            else:
                joined.append(difflib.Match(start, other, size))
        return joined

    def _anchors(self) -> Iterator[tuple[int, int]]:
        place = {line: number for number, line in enumerate(self.after)}
        times = Counter(self.before), Counter(self.after)
        reached = -1
        for number, line in enumerate(self.before):
            if times[0][line] == times[1][line] == 1 and place[line] > reached:
                reached = place[line]
                yield number, reached


def diff(report: Report) -> str:
    """Return what changes as a unified diff."""
    before, after = report.before.splitlines(keepends=True), report.after.splitlines(keepends=True)
    lines = [f"--- {report.path}\n", f"+++ {report.path}\n"]
    for group in _Lines(before, after).get_grouped_opcodes():
        lines.append(f"@@ -{_range(group[0][1], group[-1][2])} +{_range(group[0][3], group[-1][4])} @@\n")
        for tag, a, next_a, b, next_b in group:
            lines += [" " + line for line in before[a:next_a]] if tag == "equal" else []
            lines += ["-" + line for line in before[a:next_a]] if tag != "equal" else []
            lines += ["+" + line for line in after[b:next_b]] if tag != "equal" else []
    ended = (line if line.endswith(("\n", "\r")) else line + "\n\\ No newline at end of file\n" for line in lines)
    return "".join(ended) if len(lines) > 2 else ""


def _range(start: int, stop: int) -> str:
    length = stop - start
    return str(start + 1) if length == 1 else f"{start + bool(length)},{length}"


def lines(reports: Sequence[Report], *, written: bool) -> Iterator[str]:
    """Yield a line for each file that could not be read and each finding that was not rewritten."""
    for report in reports:
        if report.status is FileStatus.FAILED:
            yield f"{report.path}: unchanged, {report.reason}"
        elif report.status is FileStatus.SKIPPED:
            yield f"{report.path}: skipped, {report.reason}"
        for place in report.places:
            if place.status is not Status.REWRITTEN:
                yield f"{where(place)}: {place.status.value} [{place.rule}] {place.message}"
        if (first := first_if_old(report)) is not None:
            yield f"{where(first)}: {if_old(report)}"
        if written and report.status is FileStatus.CHANGED:
            yield f"{report.path}: rewritten"


def first_if_old(report: Report) -> Place | None:
    """Return the first place of a source that names nothing old where its results are others if it is old.

    In an old project those that are listed as unsafe are omitted.
    """
    return next(_if_old(report), None)


def _if_old(report: Report) -> Iterator[Place]:
    for place in report.if_old:
        if place.rule in rules.OF_SILENT_CHANGES and (not report.as_old_as or place.status is Status.REWRITTEN):
            yield place


def if_old(report: Report) -> str:
    """Say what a source that names nothing old means if it is old: today's code may be spelled alike."""
    first, *others = _if_old(report)
    more = f" (and {_count(len(others), 'other place')})" if others else ""
    message, era = first.message.partition(" (Unsafe: ")[0], report.era or Era.KERAS_2_2_4
    if report.as_old_as:
        return f"this file has no old names; it counts as old, like {report.as_old_as}{more}: {message}"
    return (
        f"this file has no old names; if it is old, its results change{more}: "
        f"{message} `--era {era.value}` migrates it as old."
    )


def where(place: Place) -> str:
    """Name a place for people: file, cell, line and column."""
    cell = f"{place.prompt}:" if place.prompt else ""
    return f"{place.path}:{cell}{place.line}:{place.column}"


def summary(reports: Sequence[Report], *, written: bool) -> Iterator[str]:
    """Yield the lines of the summary: files, findings, and both by rule."""
    statuses = Counter(report.status for report in reports)
    found = Counter(place.status for report in reports for place in report.places)
    changed = "rewritten" if written else "would be rewritten"
    files = f"{_count(len(reports), 'file')}: {statuses[FileStatus.CHANGED]} {changed}"
    if statuses[FileStatus.SKIPPED]:
        files += f", {statuses[FileStatus.SKIPPED]} skipped"
    if statuses[FileStatus.FAILED]:
        files += f", {statuses[FileStatus.FAILED]} failed"
    yield files + "."
    if not found:
        return
    line = f"{_count(found[Status.REWRITTEN], 'legacy use')} {changed}."
    if found[Status.UNSAFE]:
        more = "1 more needs" if found[Status.UNSAFE] == 1 else f"{found[Status.UNSAFE]:,} more need"
        line += f" {more} `--unsafe`: the sources do not prove that it is safe."
    if found[Status.ATTENTION]:
        places = "1 place needs" if found[Status.ATTENTION] == 1 else f"{found[Status.ATTENTION]:,} places need"
        line += f" {places} your attention."
    yield line
    rules = by_rule(reports)
    width = max(map(len, rules))
    yield f"  {'rule':{width}}  rewritten  unsafe  attention"
    for rule, counts in rules.items():
        rewritten, unsafe, attention = counts_in_order(counts)
        yield f"  {rule:{width}}  {rewritten:9}  {unsafe:6}  {attention:9}"


def by_rule(reports: Sequence[Report]) -> dict[str, Counter[Status]]:
    """Return how many places each rule found, in the order of the rules' names."""
    places = sorted((place for report in reports for place in report.places), key=lambda place: place.rule)
    return {rule: Counter(place.status for place in group) for rule, group in groupby(places, lambda one: one.rule)}


def counts_in_order(counts: Counter[Status]) -> tuple[int, int, int]:
    """Return how many places were rewritten, are unsafe, need attention."""
    return counts[Status.REWRITTEN], counts[Status.UNSAFE], counts[Status.ATTENTION]


def results(reports: Sequence[Report]) -> Iterator[str]:
    """Yield the lines on what the rewritten sources compute as Keras 3, where their eras computed otherwise."""
    rows = _differing(reports)
    if rows:
        eras = sorted({(report.era or Era.KERAS_2_2_4).value for report in reports if report.legacy})
        yield f"Results that may differ from those of {', '.join(eras)} (found by names in the sources):"
    for row in rows:
        yield f"  {row['what']}. Before: {row['keras_2']}. Now: {row['keras_3']} ({row['migrate']})"


def old_sources(reports: Sequence[Report]) -> list[tuple[Era | None, str]]:
    """Return the sources of an old project with their eras, also those in which nothing has another name today."""
    if not any(report.legacy for report in reports):
        return []
    return [(report.era, report.before) for report in reports if report.before]


def _differing(reports: Sequence[Report]) -> list[dict[str, str]]:
    rows = (dict(zip(_COLUMNS, row, strict=True)) for row in differences.differing(old_sources(reports), "migrate"))
    return [{**row, "migrate": row["migrate"].replace("**", "")} for row in rows if differences.TODAY in row["migrate"]]


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def as_json(reports: Sequence[Report], *, native: bool = False) -> str:
    """Return the reports as a JSON object with `files`, `findings` and the `results` that may differ.

    Args:
        native: whether the rules that write plain Keras ran, which tell what they leave: there are no `results` then.
    """
    document = {
        "files": [
            {"path": one.path, "status": one.status.value, "reason": if_old(one) if first_if_old(one) else one.reason}
            for one in reports
        ],
        "findings": [_as_object(place) for report in reports for place in report.places],
        "results": [] if native else _differing(reports),
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def _as_object(place: Place) -> dict[str, Any]:
    found: dict[str, Any] = {
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "rule": place.rule,
        "status": place.status.value,
        "message": place.message,
    }
    if place.cell is not None:
        found["cell"] = place.cell
        found["prompt"] = place.prompt
    return found


def as_sarif(reports: Sequence[Report]) -> str:
    """Return the reports in SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/)."""
    levels = {Status.REWRITTEN: "note", Status.UNSAFE: "warning", Status.ATTENTION: "warning"}
    results = [
        {
            "ruleId": place.rule,
            "level": levels[place.status],
            "message": {"text": place.message},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": place.path.replace("\\", "/")},
                        "region": {"startLine": place.line, "startColumn": place.column},
                    }
                }
            ],
            "properties": {"status": place.status.value, **({"cell": place.cell} if place.cell else {})},
        }
        for report in reports
        for place in report.places
    ]
    failures = [
        {"level": "error", "message": {"text": f"{report.path}: {report.reason}"}}
        for report in reports
        if report.status is FileStatus.FAILED
    ]
    described = [{"id": name, "shortDescription": {"text": rules.summary(name)}} for name in rules.ALL]
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "parallel-compat", "version": __version__, "rules": described}},
                "invocations": [{"executionSuccessful": not failures, "toolExecutionNotifications": failures}],
                "results": results,
            }
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)
