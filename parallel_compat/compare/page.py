"""A comparison as one HTML page without network: the verdict, and a picture of the differences by step."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

from parallel_compat import html_report
from parallel_compat.compare.differences import EPSILON, TOLERANCE
from parallel_compat.compare.reasons import reason_of
from parallel_compat.html_report import text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from parallel_compat.compare.comparison import Comparison, Step

KINDS = ("layer", "output", "loss", "gradient", "metric", "step", "state")


def page(found: Comparison, script: str, command: Sequence[str] = ("compare",)) -> str:
    """Return the page.

    Args:
        found: what was compared.
        script: its name, for the title.
        command: what followed `parallel-compat`.
    """
    about = [("script", html_report.code(script)), ("command", html_report.command(command))]
    return html_report.page(script, f"{found.stacks[0]} and {found.stacks[1]}", _sections(found), about)


def _sections(found: Comparison) -> Iterator[str]:
    first = found.first()
    if first is None:
        yield '<p class="equal">Everything that was recorded is equal.</p>'
    else:
        place, finding = first
        yield f'<p class="differs">First difference: {text(place)}: {text(finding.text)}.</p>'
        reason = reason_of(finding)
        if reason is not None:
            yield f"<p>Why: {text(reason.text)}<br>What to do: {text(reason.remedy)}</p>"
    for sentence in dict.fromkeys(each.text for _, each in found.findings if each.kind == "not compared"):
        yield f"<p>Not compared: {text(sentence)}</p>"
    for model, (name, steps) in enumerate(zip(found.models, found.steps, strict=False)):
        yield f'<section id="model{model}">\n<h2 id="model{model}-heading">{html.escape(name)}</h2>'
        yield from _picture(steps, f"model{model}-heading")
        yield f"{html_report.wide(f'model{model}-heading')}<table>"
        yield '<thead><tr><th scope="col">step</th><th scope="col">what differs</th></tr></thead><tbody>'
        for number, step in enumerate(steps):
            texts = "<br>".join(text(each.text) for each in step.findings)
            state = f'<td class="differs">{texts}</td>' if texts else '<td class="equal">equal</td>'
            yield f'<tr><th scope="row">{number}</th>{state}</tr>'
        yield "</tbody></table></div>"
        for of_model, finding in found.findings:
            if of_model == model and finding.kind != "not compared":
                yield f'<p class="differs">{text(finding.text)}</p>'
        yield "</section>"


def _picture(steps: list[Step], label: str) -> Iterator[str]:
    """A column for each kind in each step; its height is the logarithm of the largest relative difference."""
    kinds = [kind for kind in KINDS if any(kind in step.differences for step in steps)]
    if not kinds:
        return
    width, height, bar = max(400, 80 + 14 * (len(kinds) + 1) * len(steps)), 190, 12  # no less than the caption
    yield html_report.wide(label)
    yield f'<svg role="img" viewBox="0 0 {width} {height + 40}" width="{width}" xmlns="http://www.w3.org/2000/svg">'
    yield "<title>the largest relative difference of each step</title>"
    for value, label in ((EPSILON, "1 ulp"), (TOLERANCE, "tolerance"), (1.0, "1")):
        y = height - _height(value)
        yield f'<line x1="70" x2="{width}" y1="{y:.0f}" y2="{y:.0f}" stroke="#999" stroke-dasharray="4"/>'
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
    caption = html.escape(", ".join(kinds))
    yield f'<text x="76" y="{height + 34}" font-size="11">in each step: {caption}</text></svg></div>'


def _height(value: float) -> float:
    """The height of a relative difference: 0 at a hundredth of an ulp, 180 at 10."""
    least = math.log10(EPSILON / 100)
    return max(0.0, min(180.0, 180 * (math.log10(max(value, 1e-30)) - least) / (1 - least)))
