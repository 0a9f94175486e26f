"""A comparison as one HTML page without network: the verdict, and a picture of the differences by step."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

from parallel_compat.compare.differences import EPSILON, TOLERANCE
from parallel_compat.compare.reasons import reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.compare.comparison import Comparison, Step

KINDS = ("layer", "output", "loss", "gradient", "metric", "step", "state")
_STYLE = """body { font: 16px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; color: #222 }
.equal { color: #176b2c } .differs { color: #a3201b } td, th { padding: .2em .8em; text-align: left }
table { border-collapse: collapse } tr { border-bottom: 1px solid #ddd } svg { max-width: 100% }
h1 { overflow-wrap: anywhere }"""


def page(found: Comparison, script: str) -> str:
    """Return the page.

    Args:
        found: what was compared.
        script: its name, for the title.
    """
    return "\n".join(_page(found, script))


def _page(found: Comparison, script: str) -> Iterator[str]:
    title = html.escape(f"{script}: {found.stacks[0]} and {found.stacks[1]}")
    yield f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
    yield f"<h1>{title}</h1>"
    first = found.first()
    if first is None:
        yield '<p class="equal">Everything that was recorded is equal.</p>'
    else:
        place, finding = first
        yield f'<p class="differs">First difference: {html.escape(place)}: {html.escape(finding.text)}.</p>'
        reason = reason_of(finding)
        if reason is not None:
            yield f"<p>Why: {html.escape(reason.text)}<br>What to do: {html.escape(reason.remedy)}</p>"
    for sentence in dict.fromkeys(each.text for _, each in found.findings if each.kind == "not compared"):
        yield f"<p>Not compared: {html.escape(sentence)}</p>"
    for model, (name, steps) in enumerate(zip(found.models, found.steps, strict=False)):
        yield f"<h2>{html.escape(name)}</h2>"
        yield from _picture(steps)
        yield "<table><tr><th>step</th><th>what differs</th></tr>"
        for number, step in enumerate(steps):
            texts = "<br>".join(html.escape(each.text) for each in step.findings)
            state = f'<td class="differs">{texts}</td>' if texts else '<td class="equal">equal</td>'
            yield f"<tr><td>{number}</td>{state}</tr>"
        yield "</table>"
        for of_model, finding in found.findings:
            if of_model == model and finding.kind != "not compared":
                yield f'<p class="differs">{html.escape(finding.text)}</p>'
    yield "</html>"


def _picture(steps: list[Step]) -> Iterator[str]:
    """A column for each kind in each step; its height is the logarithm of the largest relative difference."""
    kinds = [kind for kind in KINDS if any(kind in step.differences for step in steps)]
    if not kinds:
        return
    width, height, bar = max(400, 80 + 14 * (len(kinds) + 1) * len(steps)), 190, 12  # no less than the caption
    yield f'<svg role="img" viewBox="0 0 {width} {height + 40}" width="{width}" xmlns="http://www.w3.org/2000/svg">'
    yield "<title>the largest relative difference of each step</title>"
    for value, label in ((EPSILON, "1 ulp"), (TOLERANCE, "tolerance"), (1.0, "1")):
        y = height - _height(value)
        yield f'<line x1="70" x2="{width}" y1="{y:.0f}" y2="{y:.0f}" stroke="#bbb" stroke-dasharray="4"/>'
        yield f'<text x="64" y="{y + 4:.0f}" font-size="11" text-anchor="end">{label}</text>'
    x = 76
    for number, step in enumerate(steps):
        for kind in kinds:
            value = step.differences.get(kind, 0.0)
            differs = any(each.kind == kind for each in step.findings)
            size = _height(value)
            yield (
                f'<rect x="{x}" y="{height - size:.1f}" width="{bar}" height="{size:.1f}" '
                f'fill="{"#a3201b" if differs else "#176b2c"}"><title>step {number}, {kind}: {value:.2g}</title></rect>'
            )
            x += 14
        middle = x - 7 * len(kinds)
        yield f'<text x="{middle}" y="{height + 16}" font-size="11" text-anchor="middle">{number}</text>'
        x += 14
    yield f'<text x="76" y="{height + 34}" font-size="11">in each step: {html.escape(", ".join(kinds))}</text></svg>'


def _height(value: float) -> float:
    """The height of a relative difference: 0 at a hundredth of an ulp, 180 at 10."""
    least = math.log10(EPSILON / 100)
    return max(0.0, min(180.0, 180 * (math.log10(max(value, 1e-30)) - least) / (1 - least)))
