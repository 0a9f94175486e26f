"""What tests of rules say: this source is left alone, that one becomes this."""

from __future__ import annotations

import ast
import re
from textwrap import dedent

from parallel_compat.migrate.engine import Analysis, Options, analyse, applied, edits_of
from parallel_compat.migrate.findings import Status


def migrated(source: str, *, unsafe: bool = False) -> str:
    """Return what a source becomes."""
    return rewritten(analyse(source, Options(unsafe=unsafe)))


def rewritten(analysis: Analysis) -> str:
    """Return the text of an analysis with its edits made."""
    return applied(analysis.file.source.text, edits_of(analysis, hints=True))


LINE = "# parallel-compat: migrated from keras-2.2.4\n"  # what the command writes besides
_LINES = re.compile(r""""# parallel-compat: migrated[^"]*",\s*|# parallel-compat: migrated.*?(?:\\n|\r?\n|\r)""")


def without_line(text: str) -> str:
    """Return a source or a notebook without the line by which it remembers what it was written for."""
    return _LINES.sub("", text)


def check_transformed(before: str, after: str, *, unsafe: bool = False) -> None:
    """Check that `before` becomes `after`, that `after` is Python, and that a second run changes nothing."""
    before, after = dedent(before), dedent(after)
    ast.parse(after)
    assert migrated(before, unsafe=unsafe) == after
    assert migrated(after, unsafe=unsafe) == after


def check_noop(source: str, *, unsafe: bool = True, rule: str | None = None) -> None:
    """Check that a source stays as it is, by default with unsafe rewrites, and that the rule has nothing to say."""
    source = dedent(source)
    assert migrated(source, unsafe=unsafe) == source
    if rule is not None:
        assert found(source, rule) == []


def found(source: str, rule: str, *, unsafe: bool = False) -> list[tuple[int, str]]:
    """Return the line and status of each finding of a rule."""
    analysis = analyse(dedent(source), Options(unsafe=unsafe))
    return [
        (analysis.file.source.position(finding.offset)[0], finding.status.value)
        for finding in analysis.findings
        if finding.rule == rule
    ]


def messages(source: str, status: Status = Status.ATTENTION) -> list[str]:
    """Return the messages of all findings of a status."""
    return [one.message for one in analyse(dedent(source), Options()).findings if one.status is status]
