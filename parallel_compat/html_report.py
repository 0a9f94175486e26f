"""A report as one HTML file, which needs no network: for a group that decides what to do with a project."""

from __future__ import annotations

import html
import re
import shlex
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from importlib.resources import files
from typing import NamedTuple

AROUND = 3  # lines above and below
_BACKTICK = "\ue000"  # stands for one that is shown, until the others are code

_STYLE = "\n" + (files(__package__) / "html_report.css").read_text("utf-8")


class Left(NamedTuple):
    """Something that somebody has to decide."""

    place: str  # where, as in `train.py:24`
    kind: str  # "attention", "unsafe" or why a file was left
    rule: str  # the rule's name, or ""
    message: str  # what to do
    lines: Sequence[str] = ()  # the source's lines, or none
    line: int = 0  # the number of the line that is meant, from 1


def is_page(path: str) -> bool:
    """Return whether a report goes into a file as a page, by the file's name; else it is JSON."""
    return path.lower().endswith((".html", ".htm"))


def page(title: str, lead: str, sections: Iterable[str], about: Iterable[tuple[str, str]] = ()) -> str:
    """Return a whole page.

    Args:
        sections: HTML, as the functions below make it.
        about: what the report is of, and how it was made, each as (what, value): script, command. The date is added.
    """
    body = "\n".join(part for part in sections if part)
    date = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    made = "".join(f"<dt>{text(what)}</dt><dd>{text(value)}</dd>" for what, value in (*about, ("date", date)))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{html.escape(title)}</h1>\n<p>{text(lead)}</p>\n"
        f'<dl class="about">{made}</dl>\n{body}\n</main>\n</body>\n</html>\n'
    )


def command(arguments: Sequence[str]) -> str:
    """Return a command as code, for `about`."""
    return code(f"parallel-compat {shlex.join(arguments)}")


def code(words: str) -> str:
    """Mark words as code for `text`, whatever backticks are in them."""
    return f"`{words.replace('`', _BACKTICK)}`"


def text(sentence: str) -> str:
    """Turn a sentence with Markdown's code and bold into HTML; a backtick without its like is left out."""
    escaped = html.escape(sentence, quote=False)
    # In code ** is a power.
    parts = re.split(r"(<code>.*?</code>)", re.sub(r"(`+)([^`]+)\1", r"<code>\2</code>", escaped))
    marked = "".join(part if i % 2 else re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", part) for i, part in enumerate(parts))
    return marked.replace("`", "").replace(_BACKTICK, "&#96;")


def facts(numbers: Iterable[tuple[str, str]]) -> str:
    """Return the few figures that a reader looks at first, each as (figure, what it counts)."""
    return '<ul class="facts">' + "".join(f"<li><b>{text(n)}</b>{text(what)}</li>" for n, what in numbers) + "</ul>"


def table(
    identity: str, heading: str, columns: Sequence[str], rows: Iterable[Sequence[str | int]], level: int = 2
) -> str:
    """Return a section with a table; nothing where there are no rows. Numbers are set right."""
    cells = [[_first(cell) if i == 0 and len(row) > 1 else _cell(cell) for i, cell in enumerate(row)] for row in rows]
    if not cells:
        return ""
    head = "".join(f'<th scope="col">{text(column)}</th>' for column in columns)
    body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    return (
        f'<section id="{identity}">\n<h{level} id="{identity}-heading">{text(heading)}</h{level}>\n'
        f"{wide(f'{identity}-heading')}<table>\n"
        f"<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody>\n</table></div>\n</section>"
    )


def wide(label: str) -> str:
    """Open a box for what is wider than a phone: it scrolls, by keyboard too."""
    return f'<div class="wide" role="region" tabindex="0" aria-labelledby="{label}">'


def _first(value: str | int) -> str:
    """Return the cell that names its row."""
    return f'<th scope="row">{text(str(value))}</th>'


def _cell(value: str | int) -> str:
    return f'<td class="number">{value:,}</td>' if isinstance(value, int) else f"<td>{text(value)}</td>"


def left(items: Sequence[Left]) -> str:
    """Return what needs attention, each with the lines around it."""
    if not items:
        return '<section id="left">\n<h2>Left to do</h2>\n<p>Nothing.</p>\n</section>'
    parts = [f'<section id="left">\n<h2>Left to do ({len(items):,})</h2>']
    for item in items:
        rule = f" <code>{html.escape(item.rule)}</code>" if item.rule else ""
        parts.append(
            f'<article><h3>{html.escape(item.place)} <span class="tag">{html.escape(item.kind)}</span>{rule}</h3>\n'
            f"<p>{text(item.message)}</p>\n{snippet(item.lines, item.line)}</article>"
        )
    return "\n".join([*parts, "</section>"])


def snippet(lines: Sequence[str], line: int) -> str:
    """Return the lines around one, which is marked; nothing where the source is not known."""
    if not 1 <= line <= len(lines):
        return ""
    first, last = max(1, line - AROUND), min(len(lines), line + AROUND)
    width = len(str(last))
    shown = []
    for number in range(first, last + 1):
        row = html.escape(f"{number:{width}}  {lines[number - 1].rstrip()}")
        shown.append(f"<mark>{row}</mark>" if number == line else f"{row}\n")
    return f'<pre tabindex="0">{"".join(shown)}</pre>\n'


def changes(identity: str, heading: str, diffs: Iterable[tuple[str, str]]) -> str:
    """Return a section of diffs, folded, each as (file, diff)."""
    folded = [
        f'<details><summary>{html.escape(name)}</summary><pre tabindex="0">{html.escape(diff)}</pre></details>'
        for name, diff in diffs
    ]
    return "\n".join([f'<section id="{identity}">\n<h2>{text(heading)}</h2>', *folded, "</section>"]) if folded else ""


def results(rows: Sequence[tuple[str, str, str, str]], tool: str) -> str:
    """Return what differs in results for sources that may be concerned.

    Args:
        rows: what, as Keras 2.2.4 has it, as Keras 3 has it, and what the tool gives.
    """
    if not rows:
        return '<section id="results">\n<h2>Results</h2>\n<p>Nothing that is known to differ.</p>\n</section>'
    columns = ("found by names in the sources", "Keras 2.2.4", "Keras 3", f"with {tool}")
    return table("results", "Results that may differ", columns, rows)
