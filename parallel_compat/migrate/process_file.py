"""One file from the disk to its report. Nothing is written here."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from parallel_compat.migrate import notebooks
from parallel_compat.migrate.engine import Analysis, BrokenRewrite, Options, analyse, edits_of, rewrite
from parallel_compat.migrate.file import ELSEWHERE, is_of_interest
from parallel_compat.migrate.findings import FileStatus, Place, Report, Status
from parallel_compat.migrate.native import numerics, process
from parallel_compat.migrate.source import Source, Undecodable, decode
from parallel_compat.names import old_sources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from parallel_compat.migrate.findings import Finding
    from parallel_compat.migrate.notebooks import Notebook

_MENTION = re.compile(
    rb"keras|tensorflow|parallel_compat|alt_model_checkpoint|(?:fit|evaluate|predict)_generator|" + ELSEWHERE.encode()
)


def file(path: str, options: Options) -> Report:
    """Say what becomes of a file.

    Args:
        path: the file.
        options: which rules run.

    Returns:
        The report, with a second one in `hinted` where findings count only in a legacy project.
    """
    try:
        with open(path, "rb") as stream:
            data = stream.read()
    except OSError as error:
        return Report(path, FileStatus.FAILED, f"cannot be read: {error.strerror}")
    if not _MENTION.search(data):
        return Report(path, FileStatus.UNCHANGED)
    return notebook(path, data, options) if path.endswith(".ipynb") else source(path, data, options)


def source(path: str, data: bytes, options: Options) -> Report:
    """Say what becomes of Python source, given as bytes."""
    try:
        text, encoding, mark = decode(data)
    except Undecodable as error:
        return Report(path, FileStatus.FAILED, f"cannot be decoded: {error}")
    if not is_of_interest(text) or numerics.is_ours(text):
        return Report(path, FileStatus.UNCHANGED)
    if options.target == "native":
        return _native(path, text, lambda after: mark + after.encode(encoding), options)
    try:
        analysis = analyse(text, options, None if path == "-" else path)
    except (SyntaxError, RecursionError) as error:
        return Report(path, FileStatus.FAILED, _why_not_parsed(error))
    reports = []
    for hints in (False, True) if _has_hints(analysis) else (False,):
        try:
            after = rewrite(analysis, hints=hints)
            written = mark + after.encode(encoding)
        except (BrokenRewrite, UnicodeError) as error:
            return Report(path, FileStatus.FAILED, str(error))
        status = FileStatus.CHANGED if after != text else FileStatus.UNCHANGED
        places = _places(path, analysis, hints=hints)
        reports.append(Report(path, status, "", places, text, after, written, analysis.legacy, era=analysis.file.era))
    return replace(reports[0], hinted=reports[-1])


def notebook(path: str, data: bytes, options: Options) -> Report:
    """Say what becomes of a notebook, given as bytes."""
    try:
        text = data.decode("utf-8")
    except UnicodeError as error:
        return Report(path, FileStatus.FAILED, f"cannot be decoded: {error}")
    try:
        book = notebooks.read(text.removeprefix("\ufeff"))
        if text.startswith("\ufeff"):
            raise notebooks.NotANotebook("it begins with a byte order mark")
    except notebooks.BrokenNotebook as error:
        return Report(path, FileStatus.FAILED, f"does not parse ({error})")
    except notebooks.NotANotebook as error:
        return Report(path, FileStatus.SKIPPED, str(error))
    if not is_of_interest(book.module):
        return Report(path, FileStatus.UNCHANGED)
    if options.target == "native":
        return _native_notebook(path, text, book, options)
    try:
        analysis = analyse(book.module, options, path)
    except (SyntaxError, RecursionError) as error:
        return Report(path, FileStatus.FAILED, _why_not_parsed(error))
    unread = _unread(path, book)
    reports = []
    for hints in (False, True) if _has_hints(analysis) else (False,):
        try:
            rewrite(analysis, hints=hints)  # the module parses
        except BrokenRewrite as error:
            return Report(path, FileStatus.FAILED, str(error))
        after = book.rewritten(set(edits_of(analysis, hints=hints)))
        places = unread + _places(path, analysis, hints=hints, book=book)
        status = FileStatus.CHANGED if after != text else FileStatus.UNCHANGED
        data = after.encode("utf-8")
        reports.append(Report(path, status, "", places, text, after, data, analysis.legacy, era=analysis.file.era))
    return replace(reports[0], hinted=reports[-1])


def _unread(path: str, book: Notebook) -> tuple[Place, ...]:
    return tuple(
        Place(
            path,
            1,
            1,
            "notebook",
            Status.ATTENTION,
            f"this cell is not read, it does not parse: {reason}",
            number,
            book.prompt(number),
        )
        for number, reason in book.unread
    )


def _native_notebook(path: str, text: str, book: Notebook, options: Options) -> Report:
    reports = []
    for hints in (False, True):
        try:
            rewriting = process.rewrite(book.module, options, path, hints=hints)
        except (SyntaxError, RecursionError) as error:
            return Report(path, FileStatus.FAILED, _why_not_parsed(error))
        except BrokenRewrite as error:
            return Report(path, FileStatus.FAILED, str(error))
        after, now = text, book
        for edits in rewriting.steps:
            after = now.rewritten(set(edits))
            now = notebooks.read(after)
        places = _unread(path, book) + _places_of(path, book.module, rewriting.findings, book)
        status = FileStatus.CHANGED if after != text else FileStatus.UNCHANGED
        helpers = tuple(sorted(numerics.needed(rewriting.text)))
        reports.append(Report(path, status, "", places, text, after, after.encode(), rewriting.legacy, helpers))
        if not rewriting.has_hints:
            break
    return replace(reports[0], hinted=reports[-1])


def _native(path: str, text: str, encoded: Callable[[str], bytes], options: Options) -> Report:
    reports = []
    for hints in (False, True):
        try:
            rewriting = process.rewrite(text, options, None if path == "-" else path, hints=hints)
            data = encoded(rewriting.text)
        except (SyntaxError, RecursionError) as error:
            return Report(path, FileStatus.FAILED, _why_not_parsed(error))
        except (BrokenRewrite, UnicodeError) as error:
            return Report(path, FileStatus.FAILED, str(error))
        status = FileStatus.CHANGED if rewriting.text != text else FileStatus.UNCHANGED
        places = _places_of(path, text, rewriting.findings)
        helpers = tuple(sorted(numerics.needed(rewriting.text)))
        reports.append(Report(path, status, "", places, text, rewriting.text, data, rewriting.legacy, helpers))
        if not rewriting.has_hints:
            break
    return replace(reports[0], hinted=reports[-1])


def _has_hints(analysis: Analysis) -> bool:
    return any(finding.hint for finding in analysis.findings)


def _places(path: str, analysis: Analysis, *, hints: bool, book: Notebook | None = None) -> tuple[Place, ...]:
    findings = [finding for finding in analysis.findings if hints or not finding.hint]
    return _places_of(path, analysis.file.source.text, findings, book)


def _places_of(path: str, text: str, findings: Iterable[Finding], book: Notebook | None = None) -> tuple[Place, ...]:
    places = []
    source = Source(text)
    for finding in findings:
        line, column = source.position(finding.offset)
        number, prompt = None, ""
        if book is not None:
            cell = book.cell_at(finding.offset)
            number, prompt = cell.number, cell.prompt
            line -= source.position(cell.start)[0] - 1
        places.append(Place(path, line, column, finding.rule, finding.status, finding.message, number, prompt))
    return tuple(places)


def _why_not_parsed(error: Exception) -> str:
    if not isinstance(error, SyntaxError):
        return "too deeply nested to be parsed"
    where = f"line {error.lineno}: " if error.lineno else ""
    message = error.msg or "invalid syntax"
    if old_sources.is_of_python_2(error):
        return f"Python 2 source ({where}{message}). {old_sources.CONVERT}."
    return f"does not parse ({where}{message})"
