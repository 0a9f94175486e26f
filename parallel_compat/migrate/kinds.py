"""What kind of Keras object an expression is, as far as the file itself tells.

The kinds are those of `parallel_compat.names.members`. A name has a kind when everything that binds it in its
scope has that kind; a parameter has none. Where the file does not tell, rules guess by the method's name, and call
the rewrite unsafe.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from parallel_compat.migrate import project
from parallel_compat.migrate.dotted_names import Names
from parallel_compat.migrate.scopes import Binding, Tree
from parallel_compat.names.members import CALLBACK, CHECKPOINT, LAYER, MODEL, OPTIMIZER, SEQUENCE, TENSOR

HISTORY = "keras.callbacks.History"
SEQUENTIAL = "keras.Sequential"
LIBRARIES = frozenset(("keras", "tensorflow", "tf", "parallel_compat", "numpy", "np", "os", "sys"))
OTHER = "other"  # known not to be a Keras object

_MODELS = frozenset(
    (
        "keras.Model",
        "keras.Sequential",
        "keras.models.load_model",
        "keras.models.model_from_json",
        "keras.models.model_from_yaml",
        "keras.models.model_from_config",
        "keras.models.clone_model",
        "parallel_compat.multi_gpu_model",
        "parallel_compat.parallelize",
        "parallel_compat.legacy.models.load_model",
    )
)
_PROVIDED_LAYERS = frozenset(
    f"parallel_compat.legacy.{name}" for name in ("abstract_recurrent", "cells", "locally_connected")
)
_TENSORS = frozenset(("keras.Input", "keras.layers.add", "keras.layers.concatenate", "keras.layers.multiply"))
_MODEL_ATTRIBUTES = {
    "optimizer": OPTIMIZER,
    "input": TENSOR,
    "output": TENSOR,
    "history": HISTORY,
}


class Kinds:
    """The kinds of a module's expressions.

    Args:
        tree: the module's scopes.
        names: what its names stand for.
        path: where it lies; None for a text without a place.
        kinds_in: returns the kinds of another file of the project, or None if it says nothing of Keras.
        result_kind: says what a call of a path returns.
    """

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
        self._functions: dict[ast.AST, str | None] = {}
        self._attributes: dict[tuple[ast.ClassDef, str], str | None] = {}
        self._classes: dict[ast.ClassDef, str | None] = {}
        self._self_assignments: dict[ast.ClassDef, dict[str, list[ast.expr | None]]] = {}

    def of(self, node: ast.expr) -> str | None:
        """Return the kind of an expression, `OTHER` for one that is known to be nothing of Keras, or None."""
        if isinstance(node, ast.Name):
            return self._of_name(node)
        if isinstance(node, ast.Call):
            return self._of_call(node)
        if isinstance(node, ast.Attribute):
            return self._of_attribute(node)
        if isinstance(node, ast.IfExp):
            first, second = self.of(node.body), self.of(node.orelse)
            return first if first == second else None
        if isinstance(node, ast.Subscript):
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
        definition = self.definition(base)
        if isinstance(definition, ast.ClassDef):
            return self.of_class(definition)
        if isinstance(base, ast.Name) and base.id == "object" and not self.tree.root.find("object"):
            return OTHER
        target = self.names.target(base)
        kind = None if target is None else _class_kind(target)
        if kind is None:
            other, node = self._elsewhere(base)
            if other is not None and isinstance(node, ast.ClassDef):
                return other.of_class(node)
        return kind

    def _elsewhere(self, node: ast.expr) -> tuple[Kinds | None, ast.AST | None]:
        """Return the definition that a name has in another file of the project, with that file's kinds."""
        dotted = self.names.local_path(node) if self.path is not None else None
        if dotted is None or self.path is None or dotted.split(".")[0] in LIBRARIES:
            return None, None
        found = project.module_of(self.path, dotted)
        if found is None:
            return None, None
        other, name = self._kinds_in(found[0]), found[1]
        if other is None:
            return None, None
        bindings = other.tree.root.bindings.get(name, [])
        return other, bindings[0].node if len(bindings) == 1 else None

    def definition(self, node: ast.expr) -> ast.AST | None:
        """Return the one definition in this file that a name refers to."""
        if not isinstance(node, ast.Name) or node not in self.tree.scopes:
            return None
        bindings = self.tree.scopes[node].find(node.id)
        return bindings[0].node if len(bindings) == 1 else None

    def function(self, node: ast.expr) -> ast.FunctionDef | None:
        """Return the function that is called by a name, in this file or another one, or the method by `self.name`."""
        _, found = self._elsewhere(node)
        found = self.definition(node) if found is None else found
        around = self.tree.enclosing_class(node)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self" and around:
            found = next((each for each in around.body if getattr(each, "name", None) == node.attr), None)
        return found if isinstance(found, ast.FunctionDef) else None

    def class_of(self, node: ast.expr) -> ast.ClassDef | None:
        """Return the class, in this file or another one, of which a name or an attribute of `self` is made."""
        if isinstance(node, ast.Name) and node.id == "self":
            return self.tree.enclosing_class(node)
        values: list[ast.expr | None] = []
        if isinstance(node, ast.Name) and node in self.tree.scopes:
            values = [binding.value for binding in self.tree.scopes[node].find(node.id)]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            around = self.tree.enclosing_class(node)
            values = self._assigned(around).get(node.attr, []) if around is not None else []
        for value in values:
            if isinstance(value, ast.Call):
                _, found = self._elsewhere(value.func)
                found = self.definition(value.func) if found is None else found
                if isinstance(found, ast.ClassDef):
                    return found
        return None

    def value(self, node: ast.expr) -> ast.expr | None:
        """Return what a name or an attribute of `self` stands for that is bound once, or anything else as it is."""
        if isinstance(node, ast.Name):
            return self.tree.value_of(node)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            around = self.tree.enclosing_class(node)
            values = self._assigned(around).get(node.attr, []) if around is not None else []
            return values[0] if len(values) == 1 else None
        return node

    def returns(self, node: ast.expr) -> list[tuple[Kinds, ast.expr]]:
        """Return what a function of the project returns, each with the kinds of its file."""
        function, other = self.function(node), self._elsewhere(node)[0] or self
        return [
            (other, each.value)
            for each in (ast.walk(function) if function is not None else ())
            if isinstance(each, ast.Return) and each.value is not None and other._owner(each) is function
        ]

    def has_own(self, node: ast.expr, method: str) -> bool:
        """Return whether an object is of a class of the project that defines a method: that one is nobody else's."""
        found = self._own_class(node, 3)
        return found is not None and found[0]._defines(found[1], method, 5)

    def _own_class(self, node: ast.expr, depth: int) -> tuple[Kinds, ast.ClassDef] | None:
        """Return the class of the project of which an object is, with the kinds of its file."""
        if isinstance(node, ast.Name) and node.id == "self":
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
        other, found = self._elsewhere(node)
        found = self.definition(node) if found is None else found
        return (other or self, found) if isinstance(found, ast.ClassDef) else None

    def _values(self, node: ast.expr) -> list[ast.expr]:
        """Return what a name or an attribute of `self` is bound to: calls, and the annotations of arguments."""
        values: list[ast.expr | None] = []
        if isinstance(node, ast.Name) and node in self.tree.scopes:
            for binding in self.tree.scopes[node].find(node.id):
                values.append(binding.node.annotation if isinstance(binding.node, ast.arg) else binding.value)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            around = self.tree.enclosing_class(node)
            values = self._assigned(around).get(node.attr, []) if around is not None else []
        return [value for value in values if isinstance(value, ast.Call | ast.Name)]

    def _defines(self, class_: ast.ClassDef, method: str, depth: int) -> bool:
        if any(isinstance(each, ast.FunctionDef) and each.name == method for each in class_.body):
            return True
        bases = [found for base in class_.bases if (found := self._class_at(base)) is not None]
        return depth > 0 and any(kinds._defines(base, method, depth - 1) for kinds, base in bases)

    def _of_name(self, node: ast.Name) -> str | None:
        scope = self.tree.scopes.get(node)
        if scope is None:
            return None
        kinds = set()
        for binding in scope.find(node.id):
            if _is_nothing(binding.value):
                continue
            if isinstance(binding.node, ast.Name) and isinstance(binding.node.ctx, ast.Del):
                continue
            kinds.add(self._of_binding(binding))
        return kinds.pop() if len(kinds) == 1 else None

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
            if isinstance(value, ast.Call):
                definition = self.definition(value.func)
                if isinstance(definition, ast.FunctionDef):
                    return self.returned(definition, index)
                other, elsewhere = self._elsewhere(value.func)
                if other is not None and isinstance(elsewhere, ast.FunctionDef):
                    return other.returned(elsewhere, index)
            return None
        parent = self.tree.parents.get(binding.node)
        if isinstance(parent, ast.For) and isinstance(parent.iter, ast.Attribute):
            return LAYER if parent.iter.attr == "layers" and self.of(parent.iter.value) == MODEL else None
        return None

    def _of_import(self, binding: Binding) -> str | None:
        """The kind of an object that another file of the project makes: `from net import model`."""
        assert isinstance(binding.node, ast.alias)
        if not isinstance(binding.statement, ast.ImportFrom) or self.path is None:
            return None
        statement = binding.statement
        dotted = "." * statement.level + (f"{statement.module}." if statement.module else "") + binding.node.name
        found = project.module_of(self.path, dotted) if dotted.split(".")[0] not in LIBRARIES else None
        if found is None or "." in found[1]:
            return None
        other, name = self._kinds_in(found[0]), found[1]
        if other is None:
            return None
        kinds = {other._of_binding(one) for one in other.tree.root.bindings.get(name, ())}
        return kinds.pop() if len(kinds) == 1 else None

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
        other, node_elsewhere = self._elsewhere(func)
        if other is not None and isinstance(node_elsewhere, ast.FunctionDef):
            return other.returned(node_elsewhere, None)
        if other is not None and isinstance(node_elsewhere, ast.ClassDef):
            return other.of_class(node_elsewhere)
        if target is not None and target.split(".")[0] in LIBRARIES:
            return None
        definition = self.definition(func)
        if isinstance(definition, ast.ClassDef):
            return self.of_class(definition)
        if isinstance(definition, ast.FunctionDef):
            return self.returned(definition, None)
        if isinstance(func, ast.Attribute):
            owner = self.of(func.value)
            if owner == MODEL:
                return {"get_layer": LAYER, "fit": HISTORY, "fit_generator": HISTORY}.get(func.attr)
            if isinstance(func.value, ast.Name) and func.value.id == "self" and owner != MODEL:
                method = self._method(func)
                return self.returned(method, None) if method is not None else None
        return TENSOR if self.of(func) in (LAYER, MODEL) else None

    def _method(self, func: ast.Attribute) -> ast.FunctionDef | None:
        owner = self.tree.enclosing_class(func)
        for statement in owner.body if owner is not None else ():
            if isinstance(statement, ast.FunctionDef) and statement.name == func.attr:
                return statement
        return None

    def returned(self, function: ast.FunctionDef, index: int | None) -> str | None:
        """Return the kind of what a function of this file returns, or of one item of the tuple."""
        key = function if index is None else function.args
        if index is None and key in self._functions:
            return self._functions[key]
        if index is None:
            self._functions[key] = None
        kinds = set()
        for node in ast.walk(function):
            if isinstance(node, ast.Return) and node.value is not None and self._owner(node) is function:
                value: ast.expr = node.value
                if index is not None:
                    if not isinstance(value, ast.Tuple) or index >= len(value.elts):
                        return None
                    value = value.elts[index]
                kinds.add(self.of(value))
        kind = kinds.pop() if len(kinds) == 1 else None
        if index is None:
            self._functions[key] = kind
        return kind

    def _owner(self, node: ast.AST) -> ast.AST | None:
        functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
        return next((above for above in self.tree.ancestors(node) if isinstance(above, functions)), None)

    def _of_attribute(self, node: ast.Attribute) -> str | None:
        if kept := self.names.kept_on_module(node):
            kinds = {None if value is None else self.of(value) for value in kept}
            return kinds.pop() if len(kinds) == 1 else None
        owner = self.of(node.value)
        if owner == MODEL and node.attr in _MODEL_ATTRIBUTES:
            return _MODEL_ATTRIBUTES[node.attr]
        if owner in (CALLBACK, CHECKPOINT) and node.attr == "model":
            return MODEL
        if owner == LAYER and node.attr in ("input", "output"):
            return TENSOR
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            class_ = self.tree.enclosing_class(node)
            if class_ is not None:
                return self._of_self(class_, node.attr)
        return None

    def _of_self(self, class_: ast.ClassDef, attribute: str) -> str | None:
        key = class_, attribute
        if key not in self._attributes:
            self._attributes[key] = None
            values = self._assigned(class_).get(attribute, [])
            kinds = {None if value is None else self.of(value) for value in values if not _is_nothing(value)}
            self._attributes[key] = kinds.pop() if len(kinds) == 1 else None
        return self._attributes[key]

    def _assigned(self, class_: ast.ClassDef) -> dict[str, list[ast.expr | None]]:
        if class_ not in self._self_assignments:
            self._self_assignments[class_] = _self_assignments(class_)
        return self._self_assignments[class_]


def _is_nothing(value: ast.expr | None) -> bool:
    """Return whether it is None, or what methods return that return nothing: `model = model.load_weights(path)`."""
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Attribute) and value.func.attr in ("load_weights", "compile")
    return isinstance(value, ast.Constant) and value.value is None


def _self_assignments(class_: ast.ClassDef) -> dict[str, list[ast.expr | None]]:
    found: dict[str, list[ast.expr | None]] = {}
    for node in ast.walk(class_):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            items = target.elts if isinstance(target, ast.Tuple) else [target]
            for item in items:
                if isinstance(item, ast.Attribute) and isinstance(item.value, ast.Name) and item.value.id == "self":
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
    if not name[:1].isupper():
        return None
    for prefix in ("keras.", "parallel_compat.legacy."):
        if package == prefix + "callbacks":
            return CALLBACK
        if package == prefix + "optimizers":
            return OPTIMIZER
        if package == prefix + "layers":
            return LAYER
    if package in _PROVIDED_LAYERS:
        return LAYER
    return None


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
    if target in ("parallel_compat.fit_generator",):
        return HISTORY
    return _class_kind(target)
