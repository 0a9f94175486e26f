"""Telling what was found: a diff and lines for readers, JSON and SARIF for programs."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from parallel_compat import __version__
from parallel_compat.migrate import rules
from parallel_compat.migrate.findings import FileStatus, Place, Report, Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def diff(report: Report) -> str:
    """Return what changes as a unified diff."""
    before, after = report.before.splitlines(keepends=True), report.after.splitlines(keepends=True)
    lines = []
    for line in difflib.unified_diff(before, after, report.path, report.path):
        lines.append(line if line.endswith(("\n", "\r")) else line + "\n\\ No newline at end of file\n")
    return "".join(lines)


def lines(reports: Sequence[Report], *, written: bool) -> Iterator[str]:
    """Yield a line for each file that could not be read and each finding that was not rewritten."""
    for report in reports:
        if report.status is FileStatus.FAILED:
            yield f"{report.path}: left as it is, {report.reason}"
        elif report.status is FileStatus.SKIPPED:
            yield f"{report.path}: skipped, {report.reason}"
        for place in report.places:
            if place.status is not Status.REWRITTEN:
                yield f"{where(place)}: {place.status.value} [{place.rule}] {place.message}"
        if written and report.status is FileStatus.CHANGED:
            yield f"{report.path}: rewritten"


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
    yield (
        f"{_count(found[Status.REWRITTEN], 'legacy use')} {changed}, {found[Status.UNSAFE]} more with --unsafe, "
        f"{found[Status.ATTENTION]} need{'s' if found[Status.ATTENTION] == 1 else ''} attention."
    )
    left = found[Status.UNSAFE] + found[Status.ATTENTION]
    if left:
        yield f"Left to do: {left:,}."
    by_rule: dict[str, Counter[Status]] = {}
    for report in reports:
        for place in report.places:
            by_rule.setdefault(place.rule, Counter())[place.status] += 1
    width = max(map(len, by_rule))
    yield f"  {'rule':{width}}  rewritten  unsafe  attention"
    for rule in sorted(by_rule):
        counts = by_rule[rule]
        yield (
            f"  {rule:{width}}  {counts[Status.REWRITTEN]:9}  {counts[Status.UNSAFE]:6}  {counts[Status.ATTENTION]:9}"
        )


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def as_json(reports: Sequence[Report]) -> str:
    """Return the reports as a JSON object with `files` and `findings`."""
    document = {
        "files": [{"path": report.path, "status": report.status.value, "reason": report.reason} for report in reports],
        "findings": [_as_object(place) for report in reports for place in report.places],
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
