"""From a source to its findings and its rewritten text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from parallel_compat.migrate import native, project_facts, rules
from parallel_compat.migrate.alignment import realigned
from parallel_compat.migrate.edits import AnyEdit, Edit, apply, overlapping, settle
from parallel_compat.migrate.file import File
from parallel_compat.migrate.findings import Finding, Status
from parallel_compat.migrate.parsed import parse
from parallel_compat.migrate.project_facts import ProjectFacts
from parallel_compat.migrate.rules.imports import find_redirected
from parallel_compat.names.eras import Era

_IMPORT = re.compile(
    r"(?P<before>(?:\r?\n[ \t]*|; )?)from (?P<module>parallel_compat[\w.]*) import (?P<names>[\w, ]+)(?P<after>\s*)"
)
_LENGTH = 100


@dataclass(frozen=True, slots=True)
class Options:
    """Which rules run, whether their unsafe rewrites are made, and what the other files of the project say."""

    rules: tuple[str, ...] = rules.ALL  # the rules for the first target
    unsafe: bool = False  # whether unsafe rewrites are made
    project: ProjectFacts = project_facts.NONE  # what the other files say
    # What is written: names of "parallel_compat", or "native" code, whose rules begin with those names.
    target: str = "parallel_compat"
    keep_parallel: bool = False  # with the native target, whether parallel models stay
    era: Era | None = None  # whose Keras all sources were written for, where the user says so
    origin: File | None = None  # the source before the first of several rounds, which says what it was written for
    python_2: bool = False  # whether sources of Python 2 are rewritten first
    left: frozenset[str] = frozenset()  # messages of unsafe rewrites that are not made


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the rules found in a source, in the order of the text."""

    file: File
    findings: tuple[Finding, ...]

    @property
    def legacy(self) -> bool:
        """Whether the source has something that only old code has."""
        certain = any(not finding.hint for finding in self.findings)
        return certain or self.file.has_given_era or self.file.is_migrated


def analyse(text: str, options: Options, path: str | None = None) -> Analysis:
    """Run the rules over a source."""
    file = File(text, path, options.project, options.era)
    if not file.imports_keras:
        return _beside_keras(file, options, path)
    if options.origin is not None:
        file.era, file.old = options.origin.era, options.origin.old
    analysis = _run(file, options)
    if not file.old and _brings_this_package(analysis):
        # The rewritten source will count as old code: what that means is done now, not in a second run. It is still
        # code that may be of today, if all that was found counts in a legacy project only, or needs an option.
        certain = analysis.legacy
        analysis = _as_old(file, options, path)
        if not certain:
            analysis = _as_hints(analysis)
    return analysis


def _as_old(file: File, options: Options, path: str | None) -> Analysis:
    """Run the rules over the same source as old code."""
    again = File(file.source.text, path, options.project, options.era)
    again.era, again.old = file.era, True
    return _run(again, options)


def _beside_keras(file: File, options: Options, path: str | None) -> Analysis:
    """Run the rules for a file that imports no Keras: what they find counts only in a legacy project."""
    options = replace(options, target="parallel_compat")
    analysis = _run(file, options)
    if _brings_this_package(analysis):  # then the rewritten source will count as old code
        analysis = _as_old(file, options, path)
    return _as_hints(analysis)


def _as_hints(analysis: Analysis) -> Analysis:
    return replace(analysis, findings=tuple(replace(finding, hint=True) for finding in analysis.findings))


def _brings_this_package(analysis: Analysis) -> bool:
    made = (edit for one in analysis.findings if one.status is Status.REWRITTEN for edit in one.edits)
    return any(isinstance(edit, Edit) and "parallel_compat" in edit.text for edit in made)


def _run(file: File, options: Options) -> Analysis:
    names = rules.NATIVE_NAMES if options.target == "native" else rules.NAMES
    if options.target == "native" and options.keep_parallel:
        names = tuple(name for name in names if name not in native.OF_PARALLEL_MODELS)
        file.keeps = native.PARALLEL_NAMES
    findings: list[Finding] = []
    for name in names:
        file.rule = name
        if name in options.rules:
            found: Iterable[Finding] = rules.load(name).find(file)
        elif name == "imports" and (file.redirects or file.use_redirects):
            found = find_redirected(file)
        else:
            continue
        findings += [finding for finding in found if not file.ignored(finding.rule, finding.offset)]
    findings.sort(key=lambda finding: finding.offset)
    return Analysis(file, tuple(_decided(file, findings, options)))


def _decided(file: File, findings: list[Finding], options: Options) -> Iterable[Finding]:
    """Decide which edits are made: unsafe ones with `--unsafe`, and no two over the same characters."""
    text = file.source.text
    findings = [
        replace(finding, status=Status.REWRITTEN)
        if finding.status is Status.UNSAFE and options.unsafe and finding.message not in options.left
        else finding
        for finding in findings
    ]
    wanted = [edit for finding in findings if finding.status is Status.REWRITTEN for edit in finding.edits]
    if not overlapping(settle(text, wanted)):
        return findings
    made: set[AnyEdit] = set()
    decided = []
    for finding in findings:
        if finding.status is Status.REWRITTEN and finding.edits:
            if overlapping(settle(text, made | set(finding.edits))):
                if any(not edit.text and edit.start <= finding.offset < edit.end for edit in settle(text, made)):
                    continue  # it is of what another rewrite takes out
                message = finding.message + " (Not applied: another rewrite changes the same code. Run this again.)"
                finding = replace(finding, status=Status.ATTENTION, message=message, edits=())
            made |= set(finding.edits)
        decided.append(finding)
    return decided


def applied(text: str, edits: Sequence[Edit]) -> str:
    """Return a source with edits made; the result parses.

    Raises:
        BrokenRewrite: the result would not parse. The text is then not to be touched.
    """
    after = apply(text, edits)
    if edits:
        try:
            _check_that_it_parses(after)
        except SyntaxError as error:
            raise BrokenRewrite(f"the rewritten source would not parse: {error}") from error
    return after


def edits_of(analysis: Analysis, *, hints: bool) -> tuple[Edit, ...]:
    """Return the edits that are made, with continuation lines moved along with what they are aligned with.

    Args:
        hints: whether findings that are only worth telling in a legacy project count.
    """
    counted = [finding for finding in analysis.findings if hints or not finding.hint]
    edits = [edit for finding in counted if finding.status is Status.REWRITTEN for edit in finding.edits]
    source = analysis.file.source.text
    settled = _joined(analysis.file, _imported_once(settle(source, edits)))
    if not settled:
        return ()
    return (*settled, *realigned(source, settled))


def _imported_once(edits: list[Edit]) -> list[Edit]:
    """Leave out imports of this package that others bring: each name is imported once, those of one module together."""
    kept: list[Edit] = []
    brought: set[tuple[str, str]] = set()  # at the top of the module, by what stands before
    for edit in sorted(set(edits)):
        match = _IMPORT.fullmatch(edit.text)
        if match is None or edit.start != edit.end:
            kept.append(edit)
            continue
        module = match["module"]
        names = [name for name in match["names"].split(", ") if (module, name) not in brought]
        if not match["before"].strip("\r\n"):
            brought |= {(module, name) for name in names}
        near = [other for other in kept if other.start == other.end == edit.start]
        beside = next((one for one in near if one.text.startswith(f"{match['before']}from {module} import ")), None)
        if beside is not None and _IMPORT.fullmatch(beside.text) and names:
            joined = ", ".join([beside.text.removesuffix(match["after"]), *names]) + match["after"]
            if len(joined.strip()) <= _LENGTH:
                kept[kept.index(beside)] = Edit(edit.start, edit.end, joined)
                continue
        if names:
            kept.append(Edit(edit.start, edit.end, edit.text.replace(match["names"], ", ".join(names))))
    return kept


def _joined(file: File, edits: list[Edit]) -> list[Edit]:
    """Add imported names to the statement that imports from their module already, where nothing else edits it.

    They come before the statements that are written behind it.
    """
    joined: list[Edit] = []
    added: dict[int, str] = {}
    for edit in edits:
        match = _IMPORT.fullmatch(edit.text)
        beside = _statement_above(file, edit, match["module"], edits) if match and edit.start == edit.end else None
        if match is None or beside is None:
            joined.append(edit)
            continue
        end = file.source.end(beside)
        if end - file.source.start(beside) + len(match["names"]) + 2 > _LENGTH:
            joined.append(edit)
        else:
            added[end] = added.get(end, "") + f", {match['names']}"
    for end, names in added.items():
        behind = [edit for edit in joined if edit.start == edit.end == end]
        joined = [edit for edit in joined if edit not in behind]
        joined.append(Edit(end, end, names + "".join(edit.text for edit in sorted(behind))))
    return joined


def _statement_above(file: File, edit: Edit, module: str, edits: list[Edit]) -> ast.ImportFrom | None:
    """Return the statement of one line, alone on it, that imports from a module and after which an edit inserts."""
    for node in file.tree.module.body:
        if not isinstance(node, ast.ImportFrom) or node.module != module or node.level:
            continue
        start, end = file.source.start(node), file.source.end(node)
        segment = file.source.segment(node)
        alone = file.source.line(node.lineno) == segment and "*" not in segment and "(" not in segment
        if (
            alone
            and end == edit.start
            and not any(start <= one.start < end or start < one.end <= end for one in edits if one.start != one.end)
        ):
            return node
    return None


@lru_cache(maxsize=1)  # with and without hints the text is mostly the same
def _check_that_it_parses(text: str) -> None:
    parse(text)


class BrokenRewrite(Exception):
    """A rewrite that does not parse: a fault of a rule."""
