"""`migrate --html FILE`: the report for a group that decides what to do with a project."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from parallel_compat import __version__, html_report
from parallel_compat.migrate import report, rules
from parallel_compat.migrate.findings import FileStatus, Report, Status
from parallel_compat.names import results

_NAMED = 5  # sources on top of the page
_DEVICES = (
    "`migrate` runs nothing and looks at no device. `parallel-compat --version` lists what TensorFlow sees here; on a "
    "machine without GPUs `parallel-compat run --replicas 2` simulates two devices."
)


def page(reports: Sequence[Report], *, written: bool, command: Sequence[str] = ("migrate",)) -> str:
    """Return the page."""
    files_of_rule = Counter(rule for one in reports for rule in {place.rule for place in one.places})
    found = Counter(place.status for one in reports for place in one.places)
    files = Counter(one.status for one in reports)
    done = "rewritten" if written else "would be rewritten"
    failed = files[FileStatus.FAILED] + files[FileStatus.SKIPPED]
    old = report.old_sources(reports)
    sections = [
        html_report.facts(
            [
                (f"{files[FileStatus.CHANGED]:,} of {len(reports):,}", f"files {done}"),
                (f"{found[Status.REWRITTEN]:,}", f"legacy uses {done}"),
                (f"{found[Status.UNSAFE]:,}", "more with `--unsafe`"),
                (f"{found[Status.ATTENTION]:,}", "need attention"),
                *([(f"{failed:,}", "files not read")] if failed else []),
            ]
        ),
        html_report.table(
            "rules",
            "By rule",
            ("rule", "what it does", "files", "rewritten", "unsafe", "attention"),
            [
                (
                    f"`{rule}`",
                    rules.summary(rule) if rule in rules.ALL else "",
                    files_of_rule[rule],
                    *report.counts_in_order(counts),
                )
                for rule, counts in report.by_rule(reports).items()
            ],
        ),
        html_report.table("files", "By file", ("file", "rewritten", "unsafe", "attention", "rules"), _files(reports)),
        html_report.left([item for one in reports for item in _left(one, written=written)]),
        html_report.results(results.differing(old, "migrate"), "migrate"),
        f'<section id="devices">\n<h2>Devices</h2>\n<p>{html_report.text(_DEVICES)}</p>\n</section>',
        html_report.changes(
            "done",
            "Done" if written else "What would be done",
            [(one.path, report.diff(one)) for one in reports if one.status is FileStatus.CHANGED],
        ),
    ]
    lead = f"`parallel-compat migrate` {__version__}, for today's Keras and TensorFlow."
    sources = ", ".join(html_report.code(one.path) for one in reports[:_NAMED])
    more = f" and {len(reports) - _NAMED:,} more" if len(reports) > _NAMED else ""
    about = [("sources", f"{sources}{more}"), ("command", html_report.command(command))]
    return html_report.page("Migration report", lead, sections, about)


def _files(reports: Sequence[Report]) -> list[tuple[str | int, ...]]:
    rows: list[tuple[str | int, ...]] = []
    for one in reports:
        if not one.places and one.status is not FileStatus.FAILED:
            continue
        counts = report.counts_in_order(Counter(place.status for place in one.places))
        named = ", ".join(f"`{rule}`" for rule in report.by_rule([one]))
        rows.append((f"`{one.path}`", *counts, named or one.reason))
    return rows


def _left(one: Report, *, written: bool) -> list[html_report.Left]:
    items = []
    if one.status in (FileStatus.FAILED, FileStatus.SKIPPED):
        items.append(html_report.Left(one.path, one.status.value, "", one.reason))
    lines = () if one.path.endswith(".ipynb") else (one.after if written else one.before).splitlines()
    for place in one.places:
        if place.status is not Status.REWRITTEN:
            where = report.where(place)
            items.append(html_report.Left(where, place.status.value, place.rule, place.message, lines, place.line))
    if (first := report.first_if_old(one)) is not None and not one.as_old_as:
        items.append(
            html_report.Left(report.where(first), "if it is old", first.rule, report.if_old(one), lines, first.line)
        )
    return items
