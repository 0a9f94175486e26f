"""No module of the package imports another that imports it, also not inside functions or for types alone."""

from __future__ import annotations

import textwrap
from pathlib import Path

from tests.package_imports import PACKAGE, imports


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected parts of more than one module (Tarjan)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            part = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(part) > 1:
                found.append(sorted(part))

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return found


def test_no_module_imports_one_that_imports_it() -> None:
    assert circles(imports(PACKAGE)) == []


def test_circles_are_found_wherever_the_import_stands(tmp_path: Path) -> None:
    package = tmp_path / "p"
    (package / "q").mkdir(parents=True)
    for name, source in {
        "__init__.py": "",
        "a.py": "from p import b",
        "b.py": """
            from typing import TYPE_CHECKING
            if TYPE_CHECKING:
                from p.q.c import C
        """,
        "q/__init__.py": "",
        "q/c.py": """
            def function():
                from ..a import A
        """,
        "d.py": "import p.a, p.q.c",
    }.items():
        (package / name).write_text(textwrap.dedent(source))
    assert circles(imports(package)) == [["p.a", "p.b", "p.q.c"]]
