"""The rules, one module each. A module's name, with hyphens, is the rule's name on the command line.

`rules.tsv` lists them. A rule module has:

- a docstring: its first line says what the rule changes, the rest why and when; an example ends it, as a diff, or as
  a source where the rule only reports;
- `find(file)`: yields what it finds.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Protocol, cast

from parallel_compat.migrate.file import File, Findings
from parallel_compat.names import tsv

_EXAMPLE = re.compile(r"```(diff|python)\n(.*?)```", re.DOTALL)

_ROWS = tsv.rows("rules.tsv", 3, __package__)
ALL = tuple(name for name, _, _ in _ROWS)
NAMES = tuple(name for name in ALL if not name.startswith("native-"))
NATIVE_NAMES = ALL[len(NAMES) :]
SAFE = frozenset(name for name, rewrites, _ in _ROWS if rewrites == "safe")
# Those that find what gives other results today without an error: a file in which nothing is old may have it.
OF_SILENT_CHANGES = tuple(name for name, _, of in _ROWS if of == "silent")


class Rule(Protocol):
    """What a rule module has."""

    __doc__: str | None

    def find(self, file: File) -> Findings:
        """Find what the rule is about."""
        ...


def load(name: str) -> Rule:
    """Import a rule by its name.

    >>> load("generator-methods").__name__
    'parallel_compat.migrate.rules.generator_methods'
    """
    if name in NATIVE_NAMES:
        return cast("Rule", import_module(f"parallel_compat.migrate.native.{name.removeprefix('native-')}"))
    return cast("Rule", import_module(f"{__name__}.{name.replace('-', '_')}"))


def example(name: str) -> tuple[str, str | None]:
    """Return the example in a rule's docstring, and what it becomes: None for a rule that only reports.

    >>> example("strategy-methods")[1].splitlines()[-1]
    'losses = strategy.run(train_step, args=(batch,))'
    """
    match = _EXAMPLE.search(load(name).__doc__ or "")
    assert match is not None
    kind, text = match.groups()
    if kind == "python":
        return text, None
    lines = text.splitlines(keepends=True)
    before, after = ("".join(line[1:] or line for line in lines if line[0] != other) for other in "+-")
    return before, after


def summary(name: str) -> str:
    """Return the first line of a rule's docstring."""
    return (load(name).__doc__ or "").splitlines()[0]
