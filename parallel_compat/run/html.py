"""`run --report used.html`: the report as a page."""

from __future__ import annotations

import sys
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from parallel_compat import __version__, html_report

if TYPE_CHECKING:
    from parallel_compat.run.report import Report


def page(report: Report) -> str:
    """Return the page.

    Args:
        report: what it shows.
    """
    ran = report.original or "no old Keras"
    devices = report.devices or "TensorFlow was not started"
    command = " ".join(["parallel-compat run", *sys.argv])
    sections = [
        html_report.facts([(ran, "ran"), (devices, "on"), (report.era, "era")]),
        html_report.table(
            "choice",
            "Which Keras, and why",
            ("what", "value"),
            [
                ("Keras", ran),
                ("because", report.why),
                ("certain", "yes" if report.certain else f"no. {report.hint}"),
                ("script", f"`{report.script}`" if report.script else "code without a file"),
                ("command", f"`{command}`"),
                ("date", datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")),
            ],
        ),
        html_report.table("versions", "Versions", ("what", "version"), list(report.versions.items())),
        html_report.table(
            "mends", "Mended for today's libraries", ("cause",), [(f"{cause}",) for cause in report.mends]
        ),
    ]
    lead = f"`parallel-compat run` {__version__}: the script ran unmodified, on the code of the Keras of its time."
    return html_report.page("What the script ran on", lead, sections)
