"""From a source to text that does without this package: rounds of the first target's rules, then of the second's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from parallel_compat.migrate import engine, native
from parallel_compat.migrate.edits import Edit, apply
from parallel_compat.migrate.engine import Options
from parallel_compat.migrate.file import File
from parallel_compat.migrate.findings import Finding, Status
from parallel_compat.migrate.native import differences, import_order
from parallel_compat.migrate.rewriting import Origins, Rewriting

_ROUNDS = 50


def rewrite(text: str, options: Options, path: str | None, *, hints: bool) -> Rewriting:
    """Rewrite a source for plain Keras."""
    source, origins = text, Origins()
    file = File(text, path, options.project, options.era)
    said_once = native.DIFFERENCES in options.rules and file.imports_keras
    found: list[Finding] = []
    steps: list[tuple[Edit, ...]] = []
    legacy = has_hints = False
    options = replace(options, origin=file)
    for target in (replace(options, target="parallel_compat"), options):
        for number in range(1, _ROUNDS + 1):
            analysis = engine.analyse(text, target, path)
            legacy = legacy or analysis.legacy
            file.old = file.old or legacy  # `lr=` says it as well as an import
            has_hints = has_hints or any(finding.hint for finding in analysis.findings)
            counted = [finding for finding in analysis.findings if hints or not finding.hint]
            settled = engine.edits_of(analysis, hints=hints)
            after = engine.applied(text, settled)
            last = after == text
            for finding in counted:
                if finding.status is Status.REWRITTEN or last or finding.rule == native.DIFFERENCES:
                    found.append(replace(finding, offset=origins.of(finding.offset)))
            if last:
                break
            if number == _ROUNDS:
                raise engine.BrokenRewrite("the rewriting does not end")
            origins.add(settled)
            steps.append(settled)
            text = after
    if said_once:
        found += differences.of_keras_2(file)
    ordering = tuple(import_order.edits(text)) if steps else ()
    if ordering:
        steps.append(ordering)
        text = apply(text, ordering)
    if text == source:  # every name went to this package and back
        steps = []
    findings = sorted(_without_intermediate_names(found, rewritten=bool(steps)), key=lambda one: one.offset)
    return Rewriting(text, tuple(findings), tuple(steps), legacy, has_hints, file.era)


def _without_intermediate_names(findings: Sequence[Finding], *, rewritten: bool) -> list[Finding]:
    """Leave out what says that a name is of this package on its way to the one of Keras, and what is said twice."""
    seen = set()
    kept = []
    for finding in findings:
        once = finding.rule == native.DIFFERENCES  # in a file; else at a place
        key = (finding.rule, -1 if once else finding.offset, finding.message, finding.status)
        way_station = finding.status is Status.REWRITTEN and "parallel_compat" in finding.message
        if key in seen or way_station or (finding.status is Status.REWRITTEN and not rewritten):
            continue
        seen.add(key)
        kept.append(finding)
    return kept
