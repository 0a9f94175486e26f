"""Lists the names and arguments that an original uses and that the installed TensorFlow lacks, also once it is mended.

    python -m tests.evidence.missing_names tf.keras-2.2

It reads the original's sources without running them: each import of a TensorFlow module or name, each attribute of
such a module or class, and each argument of its functions. The list is to be empty for every TensorFlow that is
supported. The exit code is 1 if it is not.
"""

from __future__ import annotations

import argparse
import ast
import collections
import importlib
import inspect
import sys
from typing import TYPE_CHECKING, Any

from parallel_compat.names.eras import Era
from parallel_compat.originals import activate
from parallel_compat.originals.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Modules of the originals that nothing imports outside of TensorFlow's own tests and builds.
_UNUSED = ("_test", "test_", "testing_utils", "benchmark", "tpu", "/api/")


def missing_names(era: Era) -> dict[str, list[str]]:
    """Return each name that is missing, and where the original uses it.

    It activates the era in this process.

    Args:
        era: whose original is read.
    """
    settings = Settings(era)
    activate.activate(settings)
    importlib.import_module("tensorflow")
    paths = activate.source_paths(settings)
    found: dict[str, list[str]] = collections.defaultdict(list)
    for path in paths.values():
        root = path.parent
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
        for file in files:
            where = file.relative_to(root).as_posix()
            if not any(part in where for part in _UNUSED):
                for name, line in _missing_in(file, tuple(paths)):
                    found[name].append(f"{where}:{line}")
    return dict(sorted(found.items()))


def _missing_in(file: Path, served: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    tree = ast.parse(file.read_bytes())
    imported: dict[str, tuple[str, Any]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [(f"{node.module}.{alias.name}", alias.asname or alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [(alias.name, alias.asname or "") for alias in node.names]
        else:
            continue
        for full, alias in names:
            if full.startswith("tensorflow.") and not _is_served(full, served) and not full.endswith(".*"):
                value = _value(full)
                if value is None:
                    yield full, node.lineno
                else:
                    imported[alias] = full, value
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in imported:
            full, owner = imported[node.value.id]
            known = inspect.ismodule(owner) or inspect.isclass(owner)
            if known and isinstance(node.ctx, ast.Load) and not hasattr(owner, node.attr):
                yield f"{full}.{node.attr}", node.lineno
        if isinstance(node, ast.Call):
            function = _called(node.func, imported)
            if function is not None:
                name, value = function
                for argument in _refused(value, node):
                    yield f"{name}({argument})", node.lineno


def _called(node: ast.expr, imported: dict[str, tuple[str, Any]]) -> tuple[str, Any] | None:
    """Return the name and value of what is called, if it is of TensorFlow."""
    if isinstance(node, ast.Name) and node.id in imported:
        return imported[node.id]
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in imported:
        full, owner = imported[node.value.id]
        if inspect.ismodule(owner) and hasattr(owner, node.attr):
            return f"{full}.{node.attr}", getattr(owner, node.attr)
    return None


def _refused(function: Any, call: ast.Call) -> list[str]:
    """Return the arguments of a call that a function does not take."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return []
    kinds = [parameter.kind for parameter in parameters.values()]
    refused = []
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        refused = [f"{keyword.arg}=" for keyword in call.keywords if keyword.arg and keyword.arg not in parameters]
    positional = sum(
        kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for kind in kinds
    )
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    if inspect.Parameter.VAR_POSITIONAL not in kinds and not starred and len(call.args) > positional:
        refused.append(f"{len(call.args)} arguments")
    return refused


def _is_served(full: str, served: tuple[str, ...]) -> bool:
    return any(full == name or full.startswith(name + ".") for name in served)


def _value(full: str) -> Any:
    """Return what a dotted name is; None if there is none."""
    module, _, name = full.rpartition(".")
    try:
        owner = importlib.import_module(module)
    except ImportError:
        return None
    value = getattr(owner, name, None)
    if value is None:
        try:
            value = importlib.import_module(full)
        except ImportError:
            return True if hasattr(owner, name) else None
    return value


def main(arguments: list[str] | None = None) -> int:
    """Print the list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("original", choices=[era.value for era in Era])
    era = Era(parser.parse_args(arguments).original)
    found = missing_names(era)
    for name, uses in found.items():
        print(f"{name}: {', '.join(uses[:3])}" + (f" and {len(uses) - 3} more" if len(uses) > 3 else ""))
    print(f"{len(found)} names are missing", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
