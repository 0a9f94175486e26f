"""What kind of Keras object an expression is, as far as the file itself tells.

The kinds are those of `parallel_compat.names.members`. A name has a kind when everything that binds it in its
scope has that kind; a parameter has none. Where the file does not tell, rules guess by the method's name, and call
the rewrite unsafe.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from parallel_compat.migrate import project
from parallel_compat.migrate.dotted_names import Names, is_call_of, is_of_self, is_self, local_path_of
from parallel_compat.migrate.literals import is_none
from parallel_compat.migrate.scopes import Binding, Tree, methods_of
from parallel_compat.names.members import CALLBACK, CHECKPOINT, LAYER, MODEL, NODE, OPTIMIZER, SEQUENCE, TENSOR

HISTORY = "keras.callbacks.History"
SEQUENTIAL = "keras.Sequential"
OTHER = "other"  # known not to be a Keras object
_NO_OBJECTS = ("keras", "tensorflow", "parallel_compat")  # whose names are modules, classes and functions

# What returns a model whose class the source does not tell.
LOADING = frozenset(
    f"{package}.models.{name}"
    for package in ("keras", "parallel_compat.legacy")
    for name in ("load_model", "model_from_json", "model_from_config", "clone_model")
)
_MODELS = LOADING | frozenset(
    (
        "keras.Model",
        "keras.Sequential",
        "keras.models.model_from_yaml",
        "parallel_compat.multi_gpu_model",
        "parallel_compat.parallelize",
    )
)
# The kind of what the classes of a package make.
_OF_PACKAGES = {
    f"{root}.{name}": kind
    for root in ("keras", "parallel_compat.legacy")
    for name, kind in (("callbacks", CALLBACK), ("optimizers", OPTIMIZER), ("layers", LAYER))
} | {f"parallel_compat.legacy.{name}": LAYER for name in ("abstract_recurrent", "cells", "locally_connected")}
_OF_PACKAGES |= {f"parallel_compat.legacy.{name}_optimizers": OPTIMIZER for name in ("tensorflow", "graph")}
_TENSORS = frozenset(("keras.Input", "keras.layers.add", "keras.layers.concatenate", "keras.layers.multiply"))
_MODEL_ATTRIBUTES = {"optimizer": OPTIMIZER, "input": TENSOR, "output": TENSOR, "history": HISTORY}


class Kinds:
    """The kinds of a module's expressions."""

    def __init__(
        self,
        tree: Tree,
        names: Names,
        path: str | None,
        kinds_in: Callable[[str], Kinds | None],
        result_kind: Callable[[str], str | None] | None = None,
    ) -> None:
        self.tree = tree
        self.names = names
        self.path = path
        self._kinds_in = kinds_in
        self._result_kind = result_kind or _result_kind
        self._bindings: dict[Binding, str | None] = {}
        self._functions: dict[tuple[ast.FunctionDef, int | None], str | None] = {}
        self._attributes: dict[tuple[ast.ClassDef, str], str | None] = {}
        self._classes: dict[ast.ClassDef, str | None] = {}
        self._self_assignments: dict[ast.ClassDef, dict[str, list[ast.expr | None]]] = {}

    def of(self, node: ast.expr) -> str | None:
        """Return the kind of an expression, `OTHER` for one that is known to be nothing of Keras, or None."""
        if isinstance(node, ast.Name | ast.Attribute):
            kind = self._of_name(node) if isinstance(node, ast.Name) else self._of_attribute(node)
            if kind is None and (self.names.path(node) or "").partition(".")[0] in _NO_OBJECTS:
                return OTHER
            return kind
        if isinstance(node, ast.Call):
            return self._of_call(node)
        if isinstance(node, ast.IfExp):
            first, second = self.of(node.body), self.of(node.orelse)
            return first if first == second else None
        if isinstance(node, ast.Subscript):
            if isinstance(node.value, ast.Attribute) and node.value.attr in ("_inbound_nodes", "_outbound_nodes"):
                return NODE
            if isinstance(node.value, ast.Attribute) and self.of(node.value.value) == MODEL:
                return {"layers": LAYER, "inputs": TENSOR, "outputs": TENSOR}.get(node.value.attr)
            return None
        if isinstance(node, ast.Constant | ast.Dict | ast.List | ast.Tuple | ast.JoinedStr | ast.Lambda):
            return OTHER
        return None

    def of_class(self, node: ast.ClassDef) -> str | None:
        """Return the kind of a class's instances, by its bases."""
        if node not in self._classes:
            self._classes[node] = None
            kinds = {self._of_base(base) for base in node.bases}
            known = [kind for kind in kinds if kind not in (None, OTHER)]
            if known:
                self._classes[node] = known[0]
            elif kinds <= {OTHER}:
                self._classes[node] = OTHER
        return self._classes[node]

    def _of_base(self, base: ast.expr) -> str | None:
        of, definition = self._defined(base)
        if isinstance(definition, ast.ClassDef) and of is self:
            return self.of_class(definition)
        if isinstance(base, ast.Name) and base.id == "object" and not self.tree.root.find("object"):
            return OTHER
        target = self.names.target(base)
        kind = None if target is None else _class_kind(target)
        if kind is None and isinstance(definition, ast.ClassDef):
            return of.of_class(definition)
        return kind

    def _bound_elsewhere(self, dotted: str | None) -> tuple[Kinds, list[Binding]] | None:
        """Return what binds an imported name in another file of the project, with that file's kinds."""
        found = project.module_of(self.path, dotted) if self.path is not None and dotted is not None else None
        other = self._kinds_in(found[0]) if found is not None else None
        return None if other is None or found is None else (other, other.tree.root.bindings.get(found[1], []))

    def _defined(self, node: ast.expr) -> tuple[Kinds, ast.AST | None]:
        """Return the one definition that a name refers to in the project, with the kinds of its file."""
        other = self._bound_elsewhere(self.names.local_path(node))
        if other is not None and len(other[1]) == 1:
            return other[0], other[1][0].node
        return self, self.definition(node)

    def definition(self, node: ast.expr) -> ast.AST | None:
        """Return the one definition in this file that a name refers to."""
        bindings = self.tree.bindings(node)
        return bindings[0].node if len(bindings) == 1 else None

    def _function(self, node: ast.expr) -> tuple[Kinds, ast.FunctionDef | None]:
        of, found = self._defined(node)
        around = self.tree.enclosing_class(node)
        if is_of_self(node) and around is not None:
            found = methods_of(around).get(node.attr)
        return of, found if isinstance(found, ast.FunctionDef) else None

    def function(self, node: ast.expr) -> ast.FunctionDef | None:
        """Return the function of the project that is called by a name, or the method by `self.name`."""
        return self._function(node)[1]

    def class_of(self, node: ast.expr) -> ast.ClassDef | None:
        """Return the class of the project of which a name or an attribute of `self` is made."""
        if is_self(node):
            return self.tree.enclosing_class(node)
        made = (self._class_at(value.func) for value in self._bound(node) if isinstance(value, ast.Call))
        return next((found[1] for found in made if found is not None), None)

    def _bound(self, node: ast.expr) -> list[ast.expr | None]:
        """Return what a name or an attribute of `self` is bound to."""
        if is_of_self(node):
            around = self.tree.enclosing_class(node)
            return self._assigned(around).get(node.attr, []) if around is not None else []
        return [binding.value for binding in self.tree.bindings(node)]

    def value(self, node: ast.expr) -> ast.expr | None:
        """Return what a name or an attribute of `self` stands for that is bound once, or anything else as it is."""
        if not isinstance(node, ast.Name) and not is_of_self(node):
            return node
        values = self._bound(node)
        return values[0] if len(values) == 1 else None

    def returns(self, node: ast.expr) -> list[tuple[Kinds, ast.expr]]:
        """Return what a function of the project returns, each with the kinds of its file."""
        of, function = self._function(node)
        return [(of, value) for value in of._results(function)] if function is not None else []

    def _results(self, function: ast.FunctionDef) -> list[ast.expr]:
        returns = (node for node in ast.walk(function) if isinstance(node, ast.Return))
        own = (node for node in returns if self.tree.enclosing_function(node) is function)
        return [node.value for node in own if node.value is not None]

    def has_own(self, node: ast.expr, method: str) -> bool:
        """Return whether an object is of a class of the project that defines a method: that one is nobody else's."""
        found = self._own_class(node, 3)
        return found is not None and found[0]._defines(found[1], method, 5)

    def _own_class(self, node: ast.expr, depth: int) -> tuple[Kinds, ast.ClassDef] | None:
        """Return the class of the project of which an object is, with the kinds of its file."""
        if is_self(node):
            around = self.tree.enclosing_class(node)
            return (self, around) if around is not None else None
        if isinstance(node, ast.Call):
            return self._class_of_call(node, depth)
        for value in self._values(node) if depth else ():
            found = self._own_class(value, depth - 1) if isinstance(value, ast.Call) else self._class_at(value)
            if found is not None:
                return found
        return None

    def _class_of_call(self, node: ast.Call, depth: int) -> tuple[Kinds, ast.ClassDef] | None:
        """Return the class that is called, or that of what a function of the project returns."""
        if (found := self._class_at(node.func)) is not None:
            return found
        for of, value in self.returns(node.func) if depth else ():
            if (returned := of._own_class(value, depth - 1)) is not None:
                return returned
        return None

    def _class_at(self, node: ast.expr) -> tuple[Kinds, ast.ClassDef] | None:
        """Return the class of the project that a name stands for."""
        of, found = self._defined(node)
        return (of, found) if isinstance(found, ast.ClassDef) else None

    def _values(self, node: ast.expr) -> list[ast.expr]:
        """Return what a name or an attribute of `self` is bound to: calls, and the annotations of arguments."""
        arguments = (binding.node for binding in self.tree.bindings(node) if isinstance(binding.node, ast.arg))
        values = (*(argument.annotation for argument in arguments), *self._bound(node))
        return [value for value in values if isinstance(value, ast.Call | ast.Name)]

    def _defines(self, class_: ast.ClassDef, method: str, depth: int) -> bool:
        if method in methods_of(class_):
            return True
        bases = [found for base in class_.bases if (found := self._class_at(base)) is not None]
        return depth > 0 and any(kinds._defines(base, method, depth - 1) for kinds, base in bases)

    def _of_name(self, node: ast.Name) -> str | None:
        bindings = [binding for binding in self.tree.bindings(node) if not _is_nothing(binding.value)]
        return _common(
            self._of_binding(binding)
            for binding in bindings
            if not (isinstance(binding.node, ast.Name) and isinstance(binding.node.ctx, ast.Del))
        )

    def _of_binding(self, binding: Binding) -> str | None:
        if binding not in self._bindings:
            self._bindings[binding] = None
            self._bindings[binding] = self._find(binding)
        return self._bindings[binding]

    def _find(self, binding: Binding) -> str | None:
        if isinstance(binding.node, ast.alias):
            return self._of_import(binding)
        if isinstance(binding.node, ast.arg):
            return self._of_parameter(binding)
        if binding.value is not None:
            return self.of(binding.value)
        if binding.unpacked is not None:
            value, index = binding.unpacked
            of, definition = self._defined(value.func) if isinstance(value, ast.Call) else (self, None)
            return of.returned(definition, index) if isinstance(definition, ast.FunctionDef) else None
        parent = self.tree.parents.get(binding.node)
        if isinstance(parent, ast.For) and isinstance(parent.iter, ast.Attribute):
            return LAYER if parent.iter.attr == "layers" and self.of(parent.iter.value) == MODEL else None
        return None

    def _of_import(self, binding: Binding) -> str | None:
        """The kind of an object that another file of the project makes: `from net import model`."""
        is_from = isinstance(binding.statement, ast.ImportFrom)
        found = self._bound_elsewhere(local_path_of(binding)) if is_from else None
        return None if found is None else _common(found[0]._of_binding(one) for one in found[1])

    def _of_parameter(self, binding: Binding) -> str | None:
        function = binding.scope.node
        assert isinstance(binding.node, ast.arg)
        if binding.node.annotation is not None:
            target = self.names.target(binding.node.annotation)
            return None if target is None else _class_kind(target)
        owner = self.tree.parents.get(function)
        if (
            isinstance(owner, ast.ClassDef)
            and isinstance(function, ast.FunctionDef)
            and function.args.args
            and function.args.args[0] is binding.node
            and not function.decorator_list
        ):
            return self.of_class(owner)
        return None

    def _of_call(self, node: ast.Call) -> str | None:
        func = node.func
        target = self.names.target(func)
        kind = None if target is None else self._result_kind(target)
        if kind is not None:
            return kind
        of, definition = self._defined(func)
        if isinstance(definition, ast.ClassDef):
            return of.of_class(definition)
        if isinstance(definition, ast.FunctionDef):
            return of.returned(definition)
        if target is not None and target.split(".")[0] in project.LIBRARIES:
            return None
        if isinstance(func, ast.Attribute):
            owner = self.of(func.value)
            if owner == MODEL:
                return {"get_layer": LAYER, "fit": HISTORY, "fit_generator": HISTORY}.get(func.attr)
            if is_self(func.value):
                method = self.function(func)
                return self.returned(method) if method is not None else None
        return TENSOR if self.of(func) in (LAYER, MODEL) else None

    def returned(self, function: ast.FunctionDef, index: int | None = None) -> str | None:
        """Return the kind of what a function of this file returns, or of one item of the tuple."""
        key = function, index
        if key not in self._functions:
            self._functions[key] = None
            self._functions[key] = _common(
                self.of(value) if index is None else self._of_item(value, index) for value in self._results(function)
            )
        return self._functions[key]

    def _of_item(self, value: ast.expr, index: int) -> str | None:
        has_it = isinstance(value, ast.Tuple) and index < len(value.elts)
        return self.of(value.elts[index]) if has_it and isinstance(value, ast.Tuple) else None

    def _of_attribute(self, node: ast.Attribute) -> str | None:
        if kept := self.names.kept_on_module(node):
            return _common(None if value is None else self.of(value) for value in kept)
        owner = self.of(node.value)
        if owner == MODEL and node.attr in _MODEL_ATTRIBUTES:
            return _MODEL_ATTRIBUTES[node.attr]
        if owner in (CALLBACK, CHECKPOINT) and node.attr == "model":
            return MODEL
        if owner == LAYER and node.attr in ("input", "output"):
            return TENSOR
        class_ = self.tree.enclosing_class(node) if is_self(node.value) else None
        return None if class_ is None else self._of_self(class_, node.attr)

    def _of_self(self, class_: ast.ClassDef, attribute: str) -> str | None:
        key = class_, attribute
        if key not in self._attributes:
            self._attributes[key] = None
            values = [value for value in self._assigned(class_).get(attribute, []) if not _is_nothing(value)]
            self._attributes[key] = _common(None if value is None else self.of(value) for value in values)
        return self._attributes[key]

    def _assigned(self, class_: ast.ClassDef) -> dict[str, list[ast.expr | None]]:
        if class_ not in self._self_assignments:
            self._self_assignments[class_] = _self_assignments(class_)
        return self._self_assignments[class_]


def _common(kinds: Iterable[str | None]) -> str | None:
    """Return the kind that all have, None where they have several."""
    found = set(kinds)
    return found.pop() if len(found) == 1 else None


def _is_nothing(value: ast.expr | None) -> bool:
    """Return whether it is None, or what methods return that return nothing: `model = model.load_weights(path)`."""
    return is_none(value) or is_call_of(value, "load_weights", "compile")


def _self_assignments(class_: ast.ClassDef) -> dict[str, list[ast.expr | None]]:
    found: dict[str, list[ast.expr | None]] = {}
    for node in ast.walk(class_):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            for item in target.elts if isinstance(target, ast.Tuple) else [target]:
                if is_of_self(item) and isinstance(node, ast.Assign):
                    found.setdefault(item.attr, []).append(node.value if item is target else None)
    return found


def _class_kind(target: str) -> str | None:
    """The kind of instances of a class, given its path today."""
    if target in ("keras.Model", "keras.Sequential"):
        return MODEL
    if target.endswith("callbacks.ModelCheckpoint") or target == "parallel_compat.ParallelModelCheckpoint":
        return CHECKPOINT
    if target in ("keras.utils.Sequence", SEQUENCE):
        return SEQUENCE
    package, _, name = target.rpartition(".")
    return _OF_PACKAGES.get(package) if name[:1].isupper() else None


def sequential(target: str) -> str | None:
    """The kind of what a call of a path returns, where only a `Sequential` has one."""
    return target if target == SEQUENTIAL else None


def _result_kind(target: str) -> str | None:
    """The kind of what a call of a path returns."""
    if target in _MODELS or (target.startswith("keras.applications.") and target.rpartition(".")[2][:1].isupper()):
        return MODEL
    if target in _TENSORS:
        return TENSOR
    if target == "keras.optimizers.get":
        return OPTIMIZER
    if target == "parallel_compat.fit_generator":
        return HISTORY
    return _class_kind(target)
