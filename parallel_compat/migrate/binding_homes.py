"""Which module each imported name should mean today: by what the file uses of it."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cached_property

from parallel_compat.migrate.dotted_names import root_name
from parallel_compat.migrate.file import File
from parallel_compat.migrate.module_homes import BACKEND, home_of_module, is_alive, is_module
from parallel_compat.migrate.scopes import Binding
from parallel_compat.names import table
from parallel_compat.names.table import Status


class BindingHomes:
    """The modules that the imported names of a file should mean.

    Attributes:
        chains: the longest attribute chains that begin with an imported name, and what binds that name.
    """

    def __init__(self, file: File) -> None:
        self.file = file
        # What is read of a name that stands for one of several modules: `try: import a as b`, `except: import c as b`.
        self._members: dict[int, dict[str, None]] = {}
        self.chains = self._chains()
        self._homes: dict[Binding, str | None] = {}
        self._homes_of_imports: dict[tuple[int, str, bool], str | None] = {}
        # By the bindings of one name in one scope, which are one list: a name may be imported thousands of times.
        self._uses: dict[int, dict[str, None]] = {}
        for chain, bindings in self.chains:
            path = file.names.path(chain)
            if path is not None:
                self._uses.setdefault(_group(bindings[0]), {})[path] = None

    def _chains(self) -> list[tuple[ast.Attribute, list[Binding]]]:
        tree = self.file.tree
        found = []
        imported_of: dict[int, list[Binding]] = {}
        for node in tree.attributes:
            above = tree.parents.get(node)
            if isinstance(above, ast.Attribute) and above.value is node:
                continue
            root = root_name(node)
            if root is None or root not in tree.scopes:
                continue
            bindings = tree.scopes[root].find(root.id)
            if id(bindings) not in imported_of:
                imported_of[id(bindings)] = [binding for binding in bindings if binding.statement is not None]
            imported = imported_of[id(bindings)]
            if imported and self.file.names.path(root) is not None:
                found.append((node, imported))
            elif bindings and self.file.names.path(root) is not None:
                found.append((node, bindings))
            elif imported and len(imported) == len(bindings):
                member = node
                while isinstance(member.value, ast.Attribute):
                    member = member.value
                self._members.setdefault(id(bindings), {})[member.attr] = None
        return found

    def home(self, binding: Binding) -> str | None:
        """Return the module that a module's name should mean, or None where it stays."""
        if binding not in self._homes:
            self._homes[binding] = self._find_home(binding)
        return self._homes[binding]

    def _find_home(self, binding: Binding) -> str | None:
        if binding.statement is None:
            if not isinstance(binding.value, ast.Name | ast.Attribute):
                return None
            root = root_name(binding.value)
            scope = self.file.tree.scopes.get(root) if root else None
            outer = scope.find(root.id) if scope and root else []
            if isinstance(binding.value, ast.Name) and outer and outer[0] is not binding:
                return self.home(outer[0])
            path = self.file.names.path(binding.value)
            entry = table.lookup(path) if path else None
            if path and table.canonical(path) == "keras.backend":
                return BACKEND if self._needs_backend(binding) else None
            if entry is not None:
                return entry.target
            return home_of_module(path) if path and is_module(path) else None
        path = self.file.names.path_of_binding(binding)
        if path is None:
            return None
        key = (_group(binding), path, isinstance(binding.statement, ast.Import))
        if key not in self._homes_of_imports:
            self._homes_of_imports[key] = self._home_of_import(binding, path)
        return self._homes_of_imports[key]

    def _home_of_import(self, binding: Binding, path: str) -> str | None:
        if table.lookup(path) is not None and not is_module(path):
            return None
        if isinstance(binding.statement, ast.Import) and "." not in path:
            return None  # `import keras.layers.core` binds `keras`
        if table.canonical(path) == "keras.backend":
            return BACKEND if self._needs_backend(binding) else None
        if is_alive(path):
            wider = "tensorflow." + path  # `tensorflow.keras` has what `keras` has, and what Keras 3 dropped
            entries = [table.lookup(used) for used in self._users(binding)]
            if any(entry is not None and (entry.target or "").startswith(wider + ".") for entry in entries):
                return wider
            return None
        return self._common_home(binding, path) or home_of_module(path)

    def _users(self, binding: Binding) -> list[str]:
        """The paths used through a binding, and through other names of the same module."""
        group = _group(binding)
        uses = self._uses.get(group, {})
        for other in self._copies.get(group, ()):
            if other != group:
                uses = {**uses, **self._uses.get(other, {})}
        return list(uses)

    @cached_property
    def _copies(self) -> dict[int, dict[int, None]]:
        """The names of the module that another name is assigned to: `backend = K`."""
        found: dict[int, dict[int, None]] = {}
        for bindings in self.file.tree.root.bindings.values():
            for other in bindings:
                scope = self.file.tree.scopes.get(other.value) if isinstance(other.value, ast.Name) else None
                if scope is not None and isinstance(other.value, ast.Name) and scope.find(other.value.id):
                    found.setdefault(id(scope.find(other.value.id)), {})[_group(other)] = None
        return found

    @cached_property
    def _handed_on(self) -> dict[str, list[ast.Name]]:
        """The uses of names that are no part of a dotted name, by name."""
        found: dict[str, list[ast.Name]] = {}
        for node in self.file.tree.names:
            if isinstance(node.ctx, ast.Load) and not isinstance(self.file.tree.parents.get(node), ast.Attribute):
                found.setdefault(node.id, []).append(node)
        return found

    def _needs_backend(self, binding: Binding) -> bool:
        if not is_alive(self.file.names.path_of_binding(binding) or ""):
            return True
        if any(binding in self.file.tree.scopes[node].find(node.id) for node in self._handed_on.get(binding.name, ())):
            return True  # handed on whole: what is read from it is not seen here
        entries = [table.lookup(path) for path in self._users(binding)]
        return any(entry is not None and entry.status is Status.PROVIDED for entry in entries) or not entries

    def _common_home(self, binding: Binding, path: str) -> str | None:
        homes: Counter[str] = Counter()
        names = [used[len(path) + 1 :].partition(".")[0] for used in self._users(binding)]
        for name in (*names, *self._members.get(_group(binding), ())):
            entry = table.lookup(f"{path}.{name}")
            if entry is not None and entry.target is not None and entry.target.endswith("." + name):
                homes[entry.target.rpartition(".")[0]] += 1
        return homes.most_common(1)[0][0] if homes else None


def _group(binding: Binding) -> int:
    """Return what the bindings of one name in one scope have in common."""
    return id(binding.scope.bindings[binding.name])
