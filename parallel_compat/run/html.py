"""`run --report used.html`: what a script used, for a group that decides what to do with it."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING

from parallel_compat import __version__, html_report
from parallel_compat.names import results
from parallel_compat.names.differences import DIFFERENCES
from parallel_compat.run import ran_on, usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from parallel_compat.names.eras import Era, Verdict
    from parallel_compat.run.usage import Use


def page(uses: Mapping[Use, int], eras: Mapping[str, Verdict]) -> str:
    """Return the page.

    Args:
        uses: what was used, and how often.
        eras: the files that asked, with the era of each and why.
    """
    devices = ran_on.devices() or "TensorFlow was not started"
    files = dict.fromkeys(use.file for use in uses)
    by_name: dict[tuple[str, str], list[Use]] = {}
    for use in uses:
        by_name.setdefault((use.name, use.became), []).append(use)
    sources = [(eras[file].era if file in eras else None, "".join(linecache.getlines(file))) for file in files]
    differing = results.differing(sources, "run")
    sections = [
        html_report.facts(
            [
                (f"{len({use.name for use in uses}):,}", "legacy names used"),
                (f"{len(files):,}", "files with legacy names"),
                (f"{sum(uses.values()):,}", "times in all"),
                (devices, "ran on"),
            ]
        ),
        html_report.table(
            "names",
            "By name",
            ("name", "what it is today", "files", "lines", "times"),
            [
                (f"`{name}`", f"`{became}`", len({use.file for use in of}), len(of), sum(uses[use] for use in of))
                for (name, became), of in sorted(by_name.items())
            ],
        ),
        html_report.table(
            "files",
            "By file",
            ("file", "names", "results as of", "because"),
            [
                (
                    f"`{usage.file_or_notebook(file)}`",
                    len({use.name for use in uses if use.file == file}),
                    eras[file].era.value if file in eras else "",
                    eras[file].reason if file in eras else "",
                )
                for file in files
            ],
        ),
        _places(uses),
        html_report.left([]).replace(
            "Nothing.", "Nothing for the script to run as it is. <code>parallel-compat migrate</code> rewrites it."
        ),
        _stays({said.era for said in eras.values()}),
        html_report.results(differing, "run") if differing else "",
        f'<section id="devices">\n<h2>Devices</h2>\n<p>{html_report.text(devices)}.</p>\n</section>',
    ]
    lead = f"`parallel-compat run` {__version__}: the script ran unmodified; these legacy names were resolved for it."
    return html_report.page("What the script used", lead, sections)


def _places(uses: Mapping[Use, int]) -> str:
    shown = []
    for use, count in uses.items():
        lines = [line.rstrip("\n") for line in linecache.getlines(use.file)]
        code = lines[use.line - 1].strip() if 1 <= use.line <= len(lines) else ""
        place = f"{usage.file_or_notebook(use.file)}:{use.line}"
        shown.append((place, f"`{code}`" if code else "", f"`{use.name}`", f"`{use.became}`", count))
    return html_report.table("places", "By place", ("place", "line", "name", "what it is today", "times"), shown)


def _stays(eras: set[Era]) -> str:
    rows = [(one.what, one.reason) for one in DIFFERENCES if eras & set(one.eras)]
    return html_report.table("stays", "Results that cannot be as they were", ("what differs", "why"), rows)
