"""One category of warnings, so that one filter silences this package or turns its warnings into errors."""

from __future__ import annotations

import ast
from pathlib import Path

import parallel_compat


def test_every_warning_is_of_the_one_category():
    found = []
    for path in Path(parallel_compat.__file__).parent.rglob("*.py"):
        if path.name == "legacy_numerics.py":  # it is copied into projects that do without this package
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("warnings.warn", "warn"):
                given = [*node.args[1:], *(keyword.value for keyword in node.keywords if keyword.arg == "category")]
                found.append((path.name, node.lineno, [ast.unparse(argument) for argument in given[:1]]))
    assert found
    assert [place for place in found if place[2] != ["ParallelCompatWarning"]] == []


def test_filters_of_old_scripts_still_hold():
    assert issubclass(parallel_compat.ParallelCompatWarning, UserWarning)
    assert issubclass(parallel_compat.ParallelCompatWarning, RuntimeWarning)
