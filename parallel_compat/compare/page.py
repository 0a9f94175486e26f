"""A comparison as one HTML page without network: the verdict, the loss curves, the layers, versions and the command."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

from parallel_compat import html_report
from parallel_compat.compare.differences import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from parallel_compat.compare.comparison import Comparison
    from parallel_compat.compare.curves import Curve
    from parallel_compat.compare.differences import Finding

_STYLE = """<style>
.verdict { border-left: 0.4rem solid; padding: 0.6rem 1rem; font-size: 1.15rem; overflow-wrap: anywhere; }
svg { width: 100%; max-width: 34rem; height: auto; font: 11px system-ui, sans-serif; }
svg .axis { stroke: currentColor; opacity: 0.4; fill: none; } .old, .new { fill: none; stroke-width: 2; }
.old { stroke: #1c7ed6; } .new { stroke: #f76707; stroke-dasharray: 5 4; } .from { stroke: #e03131; }
</style>"""
_WIDTH, _HEIGHT, _LEFT, _TOP = 400, 230, 56, 12
_ROWS = 200  # of a table


def page(found: Comparison, script: str, command: Sequence[str] = ("compare",)) -> str:
    """Return the page."""
    lead = f"{found.stacks[0]} ({found.first_run}) and {found.stacks[1]}"
    about = [("script", html_report.code(script)), ("command", html_report.command(command))]
    return html_report.page(f"{script}: did the results change?", lead, [_STYLE, *_sections(found)], about)


def _sections(found: Comparison) -> Iterator[str]:
    state = "equal" if found.is_equal else "differs"
    yield f'<p class="verdict {state}" role="status">{html_report.text(found.verdict())}</p>'
    in_order = [*found.in_order()]
    firsts = {model: (place, finding) for model, place, finding in reversed(in_order)}
    told = in_order[0][0] if in_order else None
    if in_order:
        yield _why(found, told, in_order[0][2])
    for number, name in enumerate(found.models):
        yield f"<h2>Model {html.escape(name)}</h2>"
        if number in firsts and number != told:
            place, finding = firsts[number]
            yield f"<p>{html_report.text(f'{place}: {finding.text}')}</p>{_why(found, number, finding)}"
        notes = [sentence for model, sentence in found.notes if model == number]
        yield "".join(f"<p>{html_report.text(note)}</p>" for note in notes)
        for curve in found.curves[number : number + 1]:
            yield _picture(curve)
            yield _losses(number, curve)
        rows = [
            (each.name, each.kind, percent(each.difference), each.state)
            for each in dict(enumerate(found.layers)).get(number, [])
        ]
        yield html_report.table(
            f"layers{number}",
            "Layers in the first step",
            ("layer", "class", "largest difference", "state"),
            rows[:_ROWS],
            level=3,
        )
        yield html_report.table(
            f"steps{number}", "Steps", ("step", "differs", "largest differences"), _steps(found, number), level=3
        )
    findings = [(found.place(model), each.text) for model, each in found.findings]
    yield html_report.table("other", "Beyond single steps", ("where", "what"), findings[:_ROWS])
    machines = [", ".join(each) for each in found.machines] or ["", ""]
    yield html_report.table(
        "versions",
        "Versions and devices",
        ("run", "Keras", "packages and devices"),
        [
            (run, *row)
            for run, row in zip((found.first_run, "here"), zip(found.stacks, machines, strict=True), strict=True)
        ],
    )
    seconds = [(name, f"{value:.1f} s") for name, value in found.seconds.items()]
    yield html_report.table("time", "Time", ("run", "took"), seconds)


def _why(found: Comparison, model: int | None, finding: Finding) -> str:
    reason = found.reason(model, finding)
    if reason is None:
        return "<p>Why: not known. It is not in the table of known differences.</p>"
    text, remedy = html_report.text(reason.text), html_report.text(reason.remedy)
    return f"<p><b>Why:</b> {text}</p><p><b>What to do:</b> {remedy}</p>"


def _steps(found: Comparison, number: int) -> Iterator[tuple[str | int, ...]]:
    for place, step in enumerate(found.steps[number]):
        kinds = ", ".join(dict.fromkeys(finding.kind for finding in step.findings))
        largest = {kind: percent(value) for kind, value in step.differences.items()}
        yield place, kinds or "equal", ", ".join(f"{kind} {value}" for kind, value in largest.items())


def _losses(number: int, curve: Curve) -> str:
    rows = [
        (step, f"{curve.old[step]:.6g}", f"{curve.new[step]:.6g}", percent(curve.distance(step)), _noise(curve, step))
        for step in range(curve.compared)
    ]
    columns = ("step", "original", "here", "difference", "two runs of the original")
    table = html_report.table(f"losses{number}", "Losses", columns, rows, level=3)
    return f"<details><summary>Losses of each step</summary>{table}</details>" if rows else ""


def _noise(curve: Curve, step: int) -> str:
    return percent(curve.noise(step)) if curve.again else ""


def _picture(curve: Curve) -> str:
    """Both losses over the steps; a line where they part."""
    values = [value for value in (*curve.old, *curve.new) if math.isfinite(value)]
    if curve.compared < 2 or not values:
        return ""
    low, high = min(values), max(values)
    height = _HEIGHT - 60

    def x(step: int) -> float:
        return _LEFT + (_WIDTH - _LEFT - 12) * step / (curve.compared - 1)

    def y(value: float) -> float:
        return _TOP + height * (high - value) / max(high - low, 1e-30)

    def line(losses: list[float], kind: str) -> str:
        shown = [(step, value) for step, value in enumerate(losses[: curve.compared]) if math.isfinite(value)]
        return (
            f'<polyline class="{kind}" points="{" ".join(f"{x(step):.1f},{y(value):.1f}" for step, value in shown)}"/>'
        )

    bottom, first = _TOP + height, curve.differs_from
    told = "the losses are equal" if first is None else f"the losses differ from step {first} on"
    parts = [
        f'<svg role="img" viewBox="0 0 {_WIDTH} {_HEIGHT}" xmlns="http://www.w3.org/2000/svg">',
        f"<title>Loss of each step of the original and here: {told}</title>",
        f'<polyline class="axis" points="{_LEFT},{_TOP} {_LEFT},{bottom} {_WIDTH - 12},{bottom}"/>',
    ]
    for value in dict.fromkeys((high, (low + high) / 2, low)):
        parts.append(f'<text x="{_LEFT - 4}" y="{y(value) + 4:.0f}" text-anchor="end">{value:.4g}</text>')
    for step in (0, curve.compared - 1):
        parts.append(f'<text x="{x(step):.0f}" y="{bottom + 15}" text-anchor="middle">{step}</text>')
    if first is not None:
        parts.append(f'<line class="from" x1="{x(first):.1f}" x2="{x(first):.1f}" y1="{_TOP}" y2="{bottom}"/>')
    parts += [line(curve.old, "old"), line(curve.new, "new")]
    for place, kind, name in ((_LEFT, "old", "original"), (_LEFT + 90, "new", "here")):
        parts.append(f'<line class="{kind}" x1="{place}" x2="{place + 24}" y1="{bottom + 36}" y2="{bottom + 36}"/>')
        parts.append(f'<text x="{place + 30}" y="{bottom + 40}">{name}</text>')
    parts.append(f'<text x="{_WIDTH - 12}" y="{bottom + 40}" text-anchor="end">loss by step</text></svg>')
    parts.append(f"<p>By step, {told}.</p>")
    return "\n".join(parts)
