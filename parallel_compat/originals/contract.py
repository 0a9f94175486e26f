"""The private names of TensorFlow that the mends use: whether the installed version has them.

They are read in the sources of the mends: what these import, what they take of it and replace in it, and the table of
names that moved.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from parallel_compat.originals.mends import moved_names
from parallel_compat.private_names import is_there

_PYTHON = "tensorflow.python."
_MAKERS = ("_module", "put_module")  # of modules that are gone
# These are the originals' own, which the finder serves.
_OWN = tuple(_PYTHON + name for name in ("keras", "layers", "ops_of_1_15"))


def needed() -> dict[str, str]:
    """Return each name, with the file of the mend that needs it.

    >>> needed()["tensorflow.python.trackable.base"]
    'moved_names.py'
    """
    found = {_PYTHON + path: "moved_names.py" for path in moved_names.PATHS}
    made: list[str] = []
    for path in sorted(Path(moved_names.__file__).parent.glob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        made += [_PYTHON + name.removeprefix(_PYTHON) for name in _made(tree)]
        for name in _used(tree):
            found.setdefault(name, path.name)
    return {name: mend for name, mend in found.items() if not name.startswith((*_OWN, *made))}


def check() -> list[str]:
    """Return a sentence for each name that the installed TensorFlow does not have."""
    return [f"{name} is gone (originals/mends/{mend})" for name, mend in needed().items() if not is_there(name)]


def _made(tree: ast.Module) -> Iterator[str]:
    """Yield the modules of TensorFlow that a mend makes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in _MAKERS:
            name = _text(node.args[0])
            if name:
                yield name


def _used(tree: ast.Module) -> Iterator[str]:
    """Yield the names of TensorFlow that a module imports, reads and replaces; not those that it sets or asks for."""
    modules = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_PYTHON[:-1])
        for alias in node.names
    }
    yield from modules.values()
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):  # another thing of the same name
            modules.pop(node.arg, None)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            if isinstance(node.value, ast.Name) and node.value.id in modules:
                yield f"{modules[node.value.id]}.{node.attr}"
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("replace", "around"):
            owner, name = ast.unparse(node.args[0]).split("."), _text(node.args[1])
            if owner[0] in modules and name:
                yield ".".join((modules[owner[0]], *owner[1:], name))


def _text(node: ast.expr) -> str:
    """Return a string that a source has, or "" for what is none."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
