"""The modules of the package, and which of them each imports."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import parallel_compat

PACKAGE = Path(parallel_compat.__file__).parent


@functools.cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a file, which is read once for all tests."""
    return ast.parse(path.read_text("utf-8"))


@functools.cache
def nodes(path: Path) -> list[ast.AST]:
    """Return all nodes of a file."""
    return list(ast.walk(parsed(path)))


@functools.cache
def imports(root: Path) -> dict[str, set[str]]:
    """Return for each module below a package's folder which modules of the package it imports, anywhere in it."""
    files = {module_name(path, root): path for path in sorted(root.rglob("*.py"))}
    return {name: set(imported(name, path, set(files))) - {name} for name, path in files.items()}


def module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(name: str, path: Path, modules: set[str]) -> list[str]:
    found = []
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
                base = ".".join([*package[: len(package) - node.level + 1], *filter(None, [node.module])])
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                found.append(whole if whole in modules else base)
    return [each for each in found if each in modules]
