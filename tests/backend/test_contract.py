"""The list of private names: it is whole, nothing in it is unused, and what a release takes away is named."""

from __future__ import annotations

import ast
import re
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING

import parallel_compat.parallel_model
from parallel_compat.backend import contract
from parallel_compat.backend.patches import patches
from parallel_compat.private_names import PrivateName, fault, faults

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(contract.__file__).parent / "keras3"
NAMES = (*contract.KERAS, *contract.TENSORFLOW)
LISTED = {part for name in NAMES for part in re.findall(r"\w+", name.place)}
PRIVATE = re.compile(r"_[a-zA-Z]\w*")
PRIVATE_MODULES = re.compile(r"(keras\.src|tensorflow\.(python|core)|tf\.__internal__)\b")
# Of Python, and the prefixes of what this package and TensorFlow hang on objects.
OTHERS = re.compile(r"_getframe|_replace|_fields|_parallel_compat_\w*|_self_|_tf_keras_")
# Names in a private class or module that is listed, which have no underscore.
WITHIN = {"ThresholdedReLU"}
PRIVATE_NAMES_OF_KERAS = 60


def used(tree: ast.Module) -> Iterator[str]:
    """Yield the private names of Keras and TensorFlow that a module uses, the last part of each."""
    own = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    own |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self"
    } - {"_distribution_strategy"}
    modules = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and PRIVATE_MODULES.match(node.module or "")
        for alias in node.names
    }
    built = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        name = ""
        if isinstance(node, ast.Attribute):
            is_of_module = isinstance(node.value, ast.Name) and node.value.id in modules
            is_of_module |= bool(PRIVATE_MODULES.match(ast.unparse(node.value)))
            if is_of_module or (PRIVATE.fullmatch(node.attr) and node.attr not in own):
                name = node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and PRIVATE.fullmatch(node.value):
            name = "" if id(node) in built else node.value
        elif isinstance(node, ast.Name) and modules.get(node.id, "x")[-1].isalpha() and node.id in modules:
            name = modules[node.id].rpartition(".")[2] if node.id[0].isupper() else ""
        if name and not OTHERS.fullmatch(name) and not name.startswith("__") and name not in WITHIN:
            yield name


def test_each_private_name_that_is_used_is_listed() -> None:
    found = {f"{path.name}: {name}" for path in FOLDER.glob("*.py") for name in used(ast.parse(path.read_text()))}
    assert len(found) > 80
    assert sorted(each for each in found if each.rpartition(" ")[2] not in LISTED) == []


def test_each_name_that_is_listed_is_used() -> None:
    text = "\n".join(path.read_text() for path in FOLDER.glob("*.py"))
    assert [name.place for name in NAMES if not re.search(rf"\b{name.name}\b", text)] == []


def test_each_patch_of_a_private_name_is_listed() -> None:
    assert parallel_compat.parallel_model
    places = {patch.place for patch in patches()}
    private = {place for place in places if PRIVATE.fullmatch(place.rpartition(".")[2])}
    assert len(private) >= 7
    assert sorted(place for place in private if place.rpartition(".")[2] not in LISTED) == []


def test_there_are_not_more_of_them() -> None:
    """Fewer are better: lower the number with each that goes."""
    assert len(contract.KERAS) == PRIVATE_NAMES_OF_KERAS
    assert all(name.why for name in NAMES)


def test_the_installed_versions_have_all_of_them() -> None:
    assert contract.check() == []


def test_what_a_release_takes_away_is_named(monkeypatch) -> None:
    module = types.ModuleType("made_up_keras")

    class Model:
        def _build(self, shape, mask=None):
            pass

    module.Model = Model
    monkeypatch.setitem(sys.modules, "made_up_keras", module)
    there = PrivateName("made_up_keras.Model._build", "an example", "self, shape")
    assert fault(there) is None
    del Model._build
    assert faults([there]) == ["made_up_keras.Model._build is gone (an example)"]


def test_other_parameters_are_named(monkeypatch) -> None:
    module = types.ModuleType("made_up_keras")
    monkeypatch.setitem(sys.modules, "made_up_keras", module)
    name = PrivateName("made_up_keras.build", "an example", "model, shape")
    module.build = lambda model, shape, mask=None: None
    assert fault(name) is None
    module.build = lambda shape, model: None
    assert "build(shape, model) has other parameters than (model, shape)" in fault(name)
    module.build = lambda model, shape, mask: None
    assert "mask" in fault(name)
    assert fault(PrivateName("made_up_keras.build", "an example", "model, shape, ...")) is None


def test_a_name_that_moved_is_found_at_either_place(monkeypatch) -> None:
    module = types.ModuleType("made_up_keras")
    module.ops = types.SimpleNamespace(take=lambda x: x)
    monkeypatch.setitem(sys.modules, "made_up_keras", module)
    assert fault(PrivateName("made_up_keras.numpy.take or made_up_keras.ops.take", "an example", "x")) is None


def test_an_attribute_that_objects_get_is_found_in_the_source_of_their_class() -> None:
    assert fault(PrivateName("json.JSONDecoder.scan_once", "set by `__init__`")) is None
    assert "is gone" in (fault(PrivateName("json.JSONDecoder.scan_twice", "an example")) or "")
