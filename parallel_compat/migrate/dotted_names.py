"""Dotted paths of expressions: what `K.mean` or `layers.Dense` refers to, through imports and aliases."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cache
from typing import TypeGuard

from parallel_compat.migrate.scopes import Binding, Scope, Tree
from parallel_compat.names import table

# Modules that the old backend imported itself, and that old code reached through it: `K.tf`, `K.control_flow_ops`.
_MODULES = frozenset({"tensorflow", "numpy"})
# Modules that TensorFlow 1 had of its own, and that are those of Keras in TensorFlow 2.
_OF_KERAS_IN_2 = frozenset({"initializers", "losses", "metrics", "optimizers"})


class Names:
    """The dotted paths of a module's names.

    Args:
        is_of_tensorflow_2: called where it matters whether `tf.losses` is `tf.keras.losses`.
    """

    def __init__(self, tree: Tree, is_of_tensorflow_2: Callable[[], bool] = lambda: False) -> None:
        self.tree = tree
        self._is_of_tensorflow_2 = is_of_tensorflow_2
        self._bindings: dict[Binding, str | None] = {}
        self._names: dict[int, str | None] = {}  # by the bindings of one name in one scope, which are one list
        self._depth = 0
        self._kept: dict[str, list[ast.expr | None]] = {}
        for node in tree.attributes:
            if isinstance(node.ctx, ast.Store):
                self._keep(node)
        self._stars: list[tuple[str, frozenset[str]]] = []
        self._ours: set[str] = set()  # modules of this package whose star brings all they provide
        for statement in tree.stars:
            module = from_module(statement)
            if module and module.startswith("parallel_compat."):
                self._ours.add(module)
            names = {*table.names_of(module), *table.submodules_of(module)} if module else set()
            if module and names:
                self._stars.append((module, frozenset(name for name in names if not name.startswith("_"))))

    def _keep(self, node: ast.Attribute) -> None:
        """Note what the source keeps on a module that has no such name: `tf.model = tf.keras.Sequential()`."""
        root, text = root_name(node), ast.unparse(node)
        bindings = self.tree.scopes[root].find(root.id) if root is not None else []
        if root is None or not bindings or any(binding.statement is None for binding in bindings):
            return
        path = f"{self.path_of_binding(bindings[0])}{text[len(root.id) :]}"
        if table.lookup(path) is None and not table.names_of(path):
            parent = self.tree.parents.get(node)
            self._kept.setdefault(text, []).append(parent.value if isinstance(parent, ast.Assign) else None)

    def kept_on_module(self, node: ast.Attribute) -> list[ast.expr | None]:
        """Return what the source itself assigns to an attribute of a module, None where that is not one expression."""
        return self._kept.get(ast.unparse(node), []) if self._kept else []

    def path(self, node: ast.expr) -> str | None:
        """Return the dotted path of a name or attribute chain, or None where it is not an imported one."""
        if isinstance(node, ast.Name):
            scope = self.tree.scopes.get(node)
            return self.path_of_name(node.id, scope) if scope else None
        if isinstance(node, ast.Attribute):
            base = None if self.kept_on_module(node) else self.path(node.value)
            if base is None:
                return None
            if base == "tensorflow" and node.attr in _OF_KERAS_IN_2 and self._is_of_tensorflow_2():
                return f"tensorflow.keras.{node.attr}"
            path = f"{base}.{node.attr}"
            entry = table.lookup(path)
            return entry.target if entry is not None and entry.target in _MODULES else path
        return None

    def path_of_name(self, name: str, scope: Scope) -> str | None:
        """Return the dotted path that a name has in a scope."""
        bindings = scope.find(name)
        if not bindings:
            return self.star_path(name)
        if id(bindings) in self._names:
            return self._names[id(bindings)]
        self._depth += 1
        try:
            path = self._path_of(bindings)
        finally:
            self._depth -= 1
        if not self._depth:  # within, a name that is bound to itself has no path yet
            self._names[id(bindings)] = path
        return path

    def _path_of(self, bindings: list[Binding]) -> str | None:
        paths = []
        for binding in bindings:
            if isinstance(binding.value, ast.Constant) and binding.value.value is None:
                continue  # `except ImportError: multi_gpu_model = None`
            path = self.path_of_binding(binding)
            if path is None:
                return None
            paths.append(path)
        if not paths:
            return None
        meanings = {table.canonical(path) for path in paths}
        targets = {today(path) for path in paths}
        return paths[0] if len(meanings) == 1 or len(targets) == 1 else None

    def path_of_binding(self, binding: Binding) -> str | None:
        """Return the dotted path that a binding gives to its name."""
        if binding not in self._bindings:
            self._bindings[binding] = None  # a name bound to itself has no path
            self._depth += 1
            try:
                self._bindings[binding] = self._find(binding)
            finally:
                self._depth -= 1
        return self._bindings[binding]

    def _find(self, binding: Binding) -> str | None:
        if isinstance(binding.statement, ast.Import):
            assert isinstance(binding.node, ast.alias)
            return binding.node.name if binding.node.asname else binding.name
        if isinstance(binding.statement, ast.ImportFrom):
            assert isinstance(binding.node, ast.alias)
            module = from_module(binding.statement)
            if binding.node.name == "keras" and not (module or "").startswith("tensorflow"):
                return "keras"  # a module of the project that passes Keras on: `from .backend import keras`
            return f"{module}.{binding.node.name}" if module else None
        if isinstance(binding.value, ast.Name | ast.Attribute):
            return self.path(binding.value)
        if (
            isinstance(binding.value, ast.Call)
            and isinstance(binding.value.func, ast.Attribute | ast.Name)
            and self.path(binding.value.func) == "importlib.import_module"
            and len(binding.value.args) == 1
            and isinstance(binding.value.args[0], ast.Constant)
            and isinstance(binding.value.args[0].value, str)
        ):
            return binding.value.args[0].value
        return None

    def star_path(self, name: str) -> str | None:
        """Return the path of a name that only a star import of a known module can have brought."""
        for module, names in reversed(self._stars):
            if name in names:
                entry = table.lookup(f"{module}.{name}")
                provided = entry is not None and (entry.target or "").rpartition(".")[0] in self._ours
                return None if provided else f"{module}.{name}"
        return None

    def is_module(self, node: ast.expr) -> bool:
        """Return whether an expression is certainly a module: bound by `import`, or one of Keras or TensorFlow."""
        path = self.path(node)
        if path is None:
            return False
        if table.root_of(path) is not None or path.split(".")[0] in ("tensorflow", "parallel_compat"):
            return True
        imported = (alias.name for one in self.tree.imports if isinstance(one, ast.Import) for alias in one.names)
        return any(name == path or name.startswith(path + ".") for name in imported)

    def local_path(self, node: ast.expr) -> str | None:
        """Return the dotted path of a name that may come from another file of the project (relative: with its dots)."""
        if isinstance(node, ast.Attribute):
            base = self.local_path(node.value)
            return None if base is None else f"{base}.{node.attr}"
        bindings = self.tree.bindings(node)
        return local_path_of(bindings[0]) if len(bindings) == 1 else None

    def target(self, node: ast.expr) -> str | None:
        """Return what an expression's path is today, spelled under `keras` where it is of Keras.

        >>> import ast; from parallel_compat.migrate.scopes import read
        >>> tree = read(ast.parse("from keras.layers.core import Dense; Dense(3)"))
        >>> Names(tree).target(tree.calls[0].func)
        'keras.layers.Dense'
        """
        path = self.path(node)
        return None if path is None else today(path)


def local_path_of(binding: Binding) -> str | None:
    """Return the dotted path of an imported name (relative: with its dots), None for other names."""
    statement, alias = binding.statement, binding.node
    if not isinstance(alias, ast.alias):
        return None
    if isinstance(statement, ast.ImportFrom):
        return "." * statement.level + (f"{statement.module}." if statement.module else "") + alias.name
    return alias.name if alias.asname else binding.name


@cache
def today(path: str) -> str:
    """Return what a path is today, spelled under `keras` where it is of Keras."""
    entry = table.lookup(path)
    if entry is not None and entry.target is not None:
        path = entry.target
    path = table.canonical(path)
    return _SHORT.get(path) or _LAYER.sub(lambda match: match[1] + _LAYERS[match[2]], path)


# One spelling for things that Keras keeps under two names.
_SHORT = {
    "keras.models.Model": "keras.Model",
    "keras.models.Sequential": "keras.Sequential",
    "keras.layers.Input": "keras.Input",
}
_LAYERS = {"Convolution": "Conv", "MaxPool": "MaxPooling", "AvgPool": "AveragePooling"}
_LAYER = re.compile(r"^(keras\.layers\.(?:Separable|Global)?)(Convolution|MaxPool|AvgPool)(?=[123]D)")


def from_module(statement: ast.ImportFrom) -> str | None:
    """Return the module of a `from` import, or None where it is relative."""
    return statement.module if statement.level == 0 else None


def modules_of(statement: ast.AST) -> list[str]:
    """Return the modules that a statement imports, or imports from; relative ones are left out."""
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    return (
        [statement.module] if isinstance(statement, ast.ImportFrom) and statement.module and not statement.level else []
    )


def packages_of(statement: ast.AST) -> set[str]:
    """Return the packages of the modules that a statement imports, or imports from."""
    return {module.partition(".")[0] for module in modules_of(statement)}


def root_name(node: ast.expr) -> ast.Name | None:
    """Return the name at the root of an attribute chain."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node if isinstance(node, ast.Name) else None


def last_name(node: ast.expr) -> str:
    """Return the last part of a name or attribute chain; "" for other expressions."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def names_in(node: ast.AST) -> set[str]:
    """Return the names that stand in a node."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def is_self(node: ast.expr) -> bool:
    """Return whether a node is the name `self`."""
    return isinstance(node, ast.Name) and node.id == "self"


def is_call_of(node: ast.AST | None, *methods: str) -> TypeGuard[ast.Call]:
    """Return whether a node calls a method of one of these names: `model.add(layer)`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in methods


def is_call_by_name(node: ast.AST | None, *names: str) -> TypeGuard[ast.Call]:
    """Return whether a node calls one of these names: `zip(a, b)`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def is_of_self(node: ast.AST | None) -> TypeGuard[ast.Attribute]:
    """Return whether a node is an attribute of `self`."""
    return isinstance(node, ast.Attribute) and is_self(node.value)
