"""What is private to Keras and TensorFlow is touched in `backend/` and `originals/mends/` alone."""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from importlib import import_module
from inspect import getsource
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import parallel_compat

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(parallel_compat.__file__).parent
PLACES = (PACKAGE / "backend" / "keras3", PACKAGE / "originals" / "mends")
# What `packages/` answers is private to other packages.
PLACES = (*PLACES, PACKAGE / "packages")
FILES = sorted(path for path in PACKAGE.rglob("*.py") if not {*PLACES} & {path, *path.parents})
PRIVATE = re.compile(r"_[a-zA-Z]\w*")
PRIVATE_MODULES = re.compile(r"(keras\.src|keras\._|tensorflow\.python|tensorflow\._|tf\.python|tf\.__internal__)\b")
# Attributes that this package hangs on objects of others say so; they are nobody else's.
OURS = "_parallel_compat_"
# What Python documents as public under a leading underscore: named tuples, syntax trees.
PUBLIC = {"_replace", "_fields", "_asdict", "_make"}
# Keras has no other name for it, and each optimizer with state needs it: what is copied into projects uses it.
PUBLIC |= {"_get_variable_index"}
# Calls whose first words name an attribute: `getattr(x, "_a")`, `vars(x).get("_a")`, `patches.set(x, "_a", ...)`.
BY_NAME = {"getattr", "setattr", "hasattr", "delattr", "set", "wrap", "for_a_while"}
OF_DICT = {"get", "setdefault", "pop"}
OBJECTS_DICT = re.compile(r"^vars\(|\.__dict__$")


def foreign_uses(source: str) -> Iterator[str]:
    """Yield the places where a module uses what is private to somebody else."""
    tree = ast.parse(source)
    own = set(_defined(tree))
    strings = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [alias.name for alias in node.names]
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{name}" for name in names]
            yield from (f"{node.lineno}: import of {name}" for name in names if PRIVATE_MODULES.match(name))
        elif isinstance(node, ast.Attribute):
            written = ast.unparse(node)
            if PRIVATE_MODULES.fullmatch(written) or (PRIVATE.fullmatch(node.attr) and not _is_allowed(node, own)):
                yield f"{node.lineno}: {written}"
        elif isinstance(node, ast.Call):
            function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            texts = [_text(each, strings) for each in node.args[:2]]
            of_dict = function in OF_DICT and isinstance(node.func, ast.Attribute)
            by_name = function in BY_NAME or (of_dict and OBJECTS_DICT.search(ast.unparse(node.func.value)))
            if by_name and any(map(_is_private_name, texts)):
                yield f"{node.lineno}: {ast.unparse(node)}"
            if function == "import_module" and any(PRIVATE_MODULES.match(text) for text in texts):
                yield f"{node.lineno}: {ast.unparse(node)}"
        elif (
            isinstance(node, ast.Subscript)
            and _is_private_name(_text(node.slice, strings))
            and OBJECTS_DICT.search(ast.unparse(node.value))
        ):
            yield f"{node.lineno}: {ast.unparse(node)}"


def _is_allowed(node: ast.Attribute, own: set[str]) -> bool:
    root = node.value
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name) and root.id in sys.stdlib_module_names:
        return True
    return node.attr in PUBLIC or node.attr in own or node.attr.startswith(OURS)


def _is_private_name(text: str) -> bool:
    return bool(PRIVATE.fullmatch(text)) and not text.startswith(OURS) and text not in PUBLIC


def _text(node: ast.expr, strings: dict[str, str]) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name):
        return strings.get(node.id, "")
    if isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.Constant):
        return str(node.values[0].value) + "x"
    return ""


def _defined(tree: ast.AST) -> Iterator[str]:
    """Yield the private attributes that classes of a module give themselves."""
    for kind in ast.walk(tree):
        if not isinstance(kind, ast.ClassDef):
            continue
        for node in ast.walk(kind):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
                    yield node.attr
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                yield node.name
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_private_is_used(path: Path) -> None:
    if path.parent.name == "recorder":  # runs without this package, in old environments, on what their Keras has
        assert "parallel_compat.backend" not in path.read_text()
        return
    assert list(foreign_uses(path.read_text())) == []


@cache
def private_names_of(kind: type) -> frozenset[str]:
    tree = ast.parse(getsource(sys.modules[kind.__module__]))
    body = next(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == kind.__name__)
    return frozenset(name for name in _defined(ast.Module([body], [])) if PRIVATE.fullmatch(name))


def test_classes_made_of_keras_s_do_not_use_its_private_names() -> None:
    """`self._x` is ours only if no class above has it."""
    found, seen = [], 0
    for path in FILES:
        tree = ast.parse(path.read_text())
        kinds = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.bases]
        if not kinds or not re.search(r"^(import|from) (keras|tensorflow)", path.read_text(), re.MULTILINE):
            continue
        module = import_module(".".join(("parallel_compat", *path.relative_to(PACKAGE).with_suffix("").parts)))
        for node in kinds:
            above = [
                kind
                for kind in getattr(module, node.name).__mro__[1:]
                if kind.__module__.partition(".")[0] in ("keras", "tensorflow")
            ]
            seen += bool(above)
            names = set().union(*map(private_names_of, above))
            for part in ast.walk(node):
                name = getattr(part, "attr", None) or getattr(part, "name", None)
                name = part.id if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store) else name
                if isinstance(name, str) and name in names - PUBLIC:
                    found.append(f"{path.name}:{part.lineno}: {node.name}.{name}")  # type: ignore[attr-defined]
    assert found == []
    assert seen > 10


@pytest.mark.parametrize(
    "source",
    [
        "import keras.src.models",
        "from keras.src import tree",
        "from keras import src\nfrom tensorflow.python.eager import context",
        "import keras\nkeras.src.backend.compute_output_spec(f)",
        "from importlib import import_module\nimport_module('keras.src.trainers')",
        "model._loss_tracker",
        "session._config",
        "getattr(layer, '_losses', None)",
        "vars(layer)['_input_shape_arg'] = 1",
        "_NAME = '_losses'\nvars(layer).get(_NAME)",
        "vars(data).get(f'_{name}')",
        "patches.set(callback, '_model', None)",
        "import tensorflow as tf\ntf.__internal__.tracking",
    ],
)
def test_the_rule_sees(source: str) -> None:
    assert list(foreign_uses(source))


@pytest.mark.parametrize(
    "source",
    [
        "import sys\nsys._getframe(1)",
        "row._replace(new=1)",
        "class A:\n    def __init__(self):\n        self._x = 1\n    def same(self, other):\n        return other._x",
        "vars(model)['_parallel_compat_era'] = 1",
    ],
)
def test_the_rule_lets_pass(source: str) -> None:
    assert not list(foreign_uses(source))
