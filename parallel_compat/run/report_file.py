"""`run --report FILE`: the report as a page, or as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict

from parallel_compat import __version__, html_report
from parallel_compat.atomic_file import replacing
from parallel_compat.run.report import Report


def write(report: Report, path: str) -> None:
    """Write the report: a page if the file's name ends in .html, else JSON."""
    text = page(report) if html_report.is_page(path) else json.dumps(asdict(report), indent=2) + "\n"
    with replacing(path) as temporary:
        temporary.write_text(text, "utf-8")


def page(report: Report) -> str:
    """Return the page."""
    ran = report.original or "no old Keras"
    devices = report.devices or "TensorFlow was not started"
    about = [("script", html_report.code(report.script) if report.script else "code without a file")]
    if report.command:
        about.append(("command", html_report.code(report.command)))
    sections = [
        html_report.facts([(ran, "ran"), (devices, "on"), (report.era, "era")]),
        html_report.table(
            "choice",
            "Which Keras, and why",
            ("what", "value"),
            [("Keras", ran), ("because", report.why), ("certain", "yes" if report.certain else f"no. {report.hint}")],
        ),
        html_report.table("versions", "Versions", ("what", "version"), list(report.versions.items())),
        html_report.table(
            "mends", "Fixes for today's libraries", ("cause",), [(f"{cause}",) for cause in report.mends]
        ),
    ]
    if report.packages:
        answered = [(f"{each}",) for each in report.packages]
        sections.append(html_report.table("packages", "Answered for other packages", ("what",), answered))
    lead = f"`parallel-compat run` {__version__}: the script ran unmodified, on its original Keras."
    return html_report.page("What the script ran on", lead, sections, about)
