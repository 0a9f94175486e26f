"""One file from the disk to its report. Nothing is written here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from parallel_compat.migrate import notebooks, parsed, python_2, remembered
from parallel_compat.migrate.edits import apply
from parallel_compat.migrate.engine import BrokenRewrite, Options, analyse, applied, edits_of
from parallel_compat.migrate.file import ELSEWHERE, is_of_interest
from parallel_compat.migrate.findings import FileStatus, Finding, Place, Report, Status
from parallel_compat.migrate.native import numerics, process
from parallel_compat.migrate.notebooks import Notebook
from parallel_compat.migrate.rewriting import Rewriting
from parallel_compat.migrate.source import Source, Undecodable, decode
from parallel_compat.names import old_sources

_MENTION = re.compile(
    rb"keras|tensorflow|parallel_compat|alt_model_checkpoint|(?:fit|evaluate|predict)_generator|" + ELSEWHERE.encode()
)


def file(path: str, options: Options) -> Report:
    """Say what becomes of a file; where findings count only in a legacy project, `hinted` has a second report."""
    try:
        with open(path, "rb") as stream:
            data = stream.read()
    except OSError as error:
        return Report(path, FileStatus.FAILED, f"cannot be read: {error.strerror}")
    if options.python_2 and not path.endswith(".ipynb") and (of_python_2 := _of_python_2(path, data, options)):
        return of_python_2
    if not _MENTION.search(data):
        return Report(path, FileStatus.UNCHANGED)
    return notebook(path, data, options) if path.endswith(".ipynb") else source(path, data, options)


def _of_python_2(path: str, data: bytes, options: Options) -> Report | None:
    """Say what becomes of a source of Python 2: it is rewritten for Python 3, then by the rules; None for others."""
    try:
        text, encoding, mark = decode(data)
        if not old_sources.parses_as_python_2_alone(text):
            return None
        new = python_2.rewritten(text, path)
        written = mark + new.encode(encoding)
    except (Undecodable, UnicodeError) as error:
        return Report(path, FileStatus.FAILED, f"cannot be decoded: {error}")
    except (python_2.NoConverter, SyntaxError) as error:
        return Report(path, FileStatus.FAILED, str(error))
    said = "Rewritten as Python 3. Check each `/`: in Python 2 it gave an int for two ints."
    place = Place(path, 1, 1, "python-2", Status.REWRITTEN, said)

    def with_both(report: Report) -> Report:
        after, data = (report.after, report.data) if report.status is FileStatus.CHANGED else (new, written)
        places, places_after = ((place, *found) for found in (report.places, report.places_after))
        hinted, changed = with_both(report.hinted) if report.hinted else None, FileStatus.CHANGED
        report = replace(report, places=places, places_after=places_after, hinted=hinted)
        return replace(report, status=changed, before=text, after=after, data=data)

    report = source(path, written, options)
    return report if report.status is FileStatus.FAILED else with_both(report)


def source(path: str, data: bytes, options: Options) -> Report:
    """Say what becomes of Python source, given as bytes."""
    try:
        text, encoding, mark = decode(data)
    except Undecodable as error:
        return Report(path, FileStatus.FAILED, f"cannot be decoded: {error}")
    if not is_of_interest(text) or numerics.is_ours(text):
        return Report(path, FileStatus.UNCHANGED)
    return _reported(path, text, options, lambda rewriting: mark + rewriting.text.encode(encoding))


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
    return _reported(path, text, options, lambda rewriting: _written(book, rewriting).encode(), book)


def _written(book: Notebook, rewriting: Rewriting) -> str:
    """Return a notebook's text with what became of its module in its cells."""
    text = book.text
    for step in rewriting.steps:
        text = book.rewritten(set(step))
        book = notebooks.read(text)
    return text


def _reported(
    path: str, text: str, options: Options, written: Callable[[Rewriting], bytes], book: Notebook | None = None
) -> Report:
    """Report what becomes of a source, or of a notebook; where hints were found, `hinted` counts them."""
    source = text if book is None else book.module
    reports = []
    for hints in (False, True):
        try:
            rewriting = _rewriting(source, options, None if path == "-" else path, hints=hints)
            data = written(rewriting)
        except (SyntaxError, RecursionError) as error:
            return Report(path, FileStatus.FAILED, _why_not_parsed(error))
        except (BrokenRewrite, UnicodeError) as error:
            return Report(path, FileStatus.FAILED, str(error))
        after = rewriting.text if book is None else data.decode()
        status = FileStatus.CHANGED if rewriting.steps else FileStatus.UNCHANGED
        unread = _unread(path, book) if book is not None else ()
        places = places_after = (*unread, *_places(path, source, rewriting.findings, book))
        new_book = notebooks.read(after) if book is not None and rewriting.steps else None
        # Imports that are gone may be all that a notebook had.
        if rewriting.steps and (new_book is None or new_book.cells):
            places_after = (*unread, *_places(path, rewriting.text, rewriting.moved_findings(), new_book))
        helpers = tuple(sorted(numerics.needed(rewriting.text)))
        era = rewriting.era
        reports.append(
            Report(path, status, "", places, places_after, text, after, data, rewriting.legacy, helpers, era)
        )
        if not rewriting.has_hints:
            break
    return replace(reports[0], hinted=reports[-1])


def _rewriting(text: str, options: Options, path: str | None, *, hints: bool) -> Rewriting:
    """Rewrite a source: what is safe first, then in the result what is not.

    So `--write --unsafe` ends where `--write` and then `--write --unsafe` end.
    """
    options = _with_remembered(options, text)
    asked = (remembered.UNSAFE,) * options.unsafe
    if options.target == "native":
        asked += (remembered.NATIVE, *(remembered.KEEP,) * options.keep_parallel)

    def stage(text: str, options: Options) -> Rewriting:
        found = _stage(text, options, path, hints=hints)
        # Names may have gone to this package and back: `--to native` is remembered all the same.
        if not found.steps and remembered.read(text) is None and not (found.findings and remembered.NATIVE in asked):
            return found
        line = remembered.line(Source(found.text), parsed.read(found.text), found.era, asked)
        if line is None:
            return found
        return replace(found, text=apply(found.text, [line]), steps=(*found.steps, (line,)))

    safe = stage(text, replace(options, unsafe=False))
    return safe.then(stage(safe.text, options)) if options.unsafe else safe


def _with_remembered(options: Options, text: str) -> Options:
    """Return the options with those that an earlier run was given: the order of runs does not matter."""
    before = remembered.read(text)
    if before is None or not before.asked:
        return options
    unsafe = options.unsafe or remembered.UNSAFE in before.asked
    if remembered.NATIVE not in before.asked:
        return replace(options, unsafe=unsafe)
    keep = remembered.KEEP in before.asked and (options.keep_parallel or options.target != "native")
    return replace(options, unsafe=unsafe, target="native", keep_parallel=keep)


def _stage(text: str, options: Options, path: str | None, *, hints: bool) -> Rewriting:
    if options.target == "native":
        return process.rewrite(text, options, path, hints=hints)
    analysis = analyse(text, options, path)
    edits = edits_of(analysis, hints=hints)
    return Rewriting(
        applied(text, edits),
        tuple(finding for finding in analysis.findings if hints or not finding.hint),
        (edits,) if edits else (),
        analysis.legacy,
        any(finding.hint for finding in analysis.findings),
        analysis.file.era,
    )


def _unread(path: str, book: Notebook) -> tuple[Place, ...]:
    said = "this cell is not read, it does not parse"
    return tuple(
        Place(path, 1, 1, "notebook", Status.ATTENTION, f"{said}: {reason}", number, book.prompt(number))
        for number, reason in book.unread
    )


def _places(path: str, text: str, findings: Iterable[Finding], book: Notebook | None = None) -> tuple[Place, ...]:
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
