"""Imports and dotted names of old Keras and TensorFlow 1 become what the table says they are today.

What moved is imported from its home today, what Keras dropped and this package provides comes from
`parallel_compat`; the name in the source stays what it was. What is gone is reported with what to do instead.
"""

from __future__ import annotations

import ast
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from parallel_compat.migrate.dotted_names import from_module, root_name
from parallel_compat.migrate.import_statements import move_from, move_import, replace_star
from parallel_compat.names import table
from parallel_compat.names.table import Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.migrate.edits import Edit
    from parallel_compat.migrate.file import File
    from parallel_compat.migrate.findings import Finding
    from parallel_compat.migrate.scopes import Binding

RULE = "imports"
SAFE = True
BEFORE = """\
from keras import backend as K
from keras.layers.core import Dense
from keras.utils import multi_gpu_model, to_categorical
"""
AFTER = """\
from parallel_compat.legacy import backend as K
from keras.layers import Dense
from keras.utils import to_categorical
from parallel_compat import multi_gpu_model
"""

_MERGE = (
    "The `merge` function of Keras 1 is now one function per mode: `keras.layers.add`, `multiply`, `concatenate`, "
    "`average`, `maximum`, `dot`."
)
_BACKEND = "parallel_compat.legacy.backend"


def find(file: File) -> Iterator[Finding]:
    """Find imports and dotted names."""
    yield from _Names(file).find()


def find_redirected(file: File) -> Iterator[Finding]:
    """Make only those edits that other rules asked for (where this rule itself was not asked)."""
    names = _Names(file)
    names.only_redirects = True
    yield from names.find()


class _Names:
    def __init__(self, file: File) -> None:
        self.file = file
        self.only_redirects = False
        self.homes: dict[Binding, str | None] = {}
        self.chains = self._chains()
        self.homes_of_imports: dict[tuple[int, str, bool], str | None] = {}
        # By the bindings of one name in one scope, which are one list: a name may be imported thousands of times.
        self.uses: dict[int, dict[str, None]] = {}
        for chain, bindings in self.chains:
            path = file.names.path(chain)
            if path is not None:
                self.uses.setdefault(_group(bindings[0]), {})[path] = None

    def find(self) -> Iterator[Finding]:
        for statement in self.file.tree.imports:
            if isinstance(statement, ast.ImportFrom):
                if statement in self.file.tree.stars:
                    yield from self._star(statement)
                else:
                    yield from self._from(statement)
            else:
                yield from self._import(statement)
        for chain, bindings in self.chains:
            yield from self._chain(chain, bindings)
        yield from self._star_names()

    def _skip(self, offset: int) -> bool:
        return self.only_redirects or self.file.ignored(RULE, offset)

    # Uses.

    def _chains(self) -> list[tuple[ast.Attribute, list[Binding]]]:
        """The longest attribute chains that begin with an imported name, and what binds that name."""
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
        return found

    def _known_part(self, chain: ast.Attribute) -> tuple[ast.expr, table.Path] | None:
        """Return the longest part of a chain that the table knows, and what it says."""
        node: ast.expr = chain
        while isinstance(node, ast.Attribute):
            path = self.file.names.path(node)
            entry = table.lookup(path) if path is not None else None
            if entry is not None:
                return node, entry
            node = node.value
        return None

    def _chain(self, chain: ast.Attribute, bindings: list[Binding]) -> Iterator[Finding]:
        file = self.file
        root = root_name(chain)
        assert root is not None
        base = file.names.path(root)
        assert base is not None
        node: ast.expr = chain
        while isinstance(node, ast.Attribute):
            if node in file.use_redirects:
                yield from self._replaced(node, root, base, bindings, file.use_redirects[node])
                return
            node = node.value
        if table.lookup(base) is not None and _module_of(base) is None:
            return  # an attribute of an imported thing, not of a module
        known = self._known_part(chain)
        if known is None:
            path = file.names.path(chain)
            if path is not None and path.startswith("tensorflow.") and not (path + ".").startswith(base + "."):
                yield from self._replaced(chain, root, base, bindings, path)  # `K.tf.float32`
                return
            if path is not None and table.names_of(path) and table.root_of(path) is not None:
                yield from self._whole_module(chain, root, base, bindings, path)
                return
            yield from self._unknown(chain, base, bindings)
            return
        node, entry = known
        if self._skip(file.source.start(node)):
            return
        if entry.status is Status.GONE:
            yield file.attention(RULE, node, _gone(entry))
            return
        home = self._home(bindings[0])
        path = file.names.path(node)
        assert path is not None
        assert entry.target is not None
        if entry.status is Status.SAME and (home is None or home == base):
            return
        if home is not None and home + path[len(base) :] == entry.target:
            return  # the import brings it
        if entry.status is Status.SAME and home == "tensorflow." + base:
            return
        if home == _BACKEND and (entry.target == path or entry.target.startswith("keras.")):
            return  # this package's backend has what Keras's kept as well
        yield from self._replaced(node, root, base, bindings, entry.target, entry)

    def _whole_module(
        self, chain: ast.Attribute, root: ast.Name, base: str, bindings: list[Binding], path: str
    ) -> Iterator[Finding]:
        """A module of Keras as a value: `K = keras.backend`."""
        file = self.file
        if self._skip(file.source.start(chain)) or table.canonical(path) == "keras.layers.merge":
            return  # `merge` was a function before it was a module
        above = file.tree.parents.get(chain)
        home = _home_of_module(path) if table.canonical(path) == "keras.backend" or not _alive(path) else None
        if isinstance(above, ast.Assign) and len(above.targets) == 1 and isinstance(above.targets[0], ast.Name):
            name = above.targets[0]
            for binding in file.tree.scopes[name].find(name.id):
                if binding.node is name:
                    home = self._home(binding)
        if home is not None and home != path:
            yield from self._replaced(chain, root, base, bindings, home)

    def _replaced(
        self,
        node: ast.expr,
        root: ast.Name,
        base: str,
        bindings: list[Binding],
        target: str,
        entry: table.Path | None = None,
    ) -> Iterator[Finding]:
        file = self.file
        home = self._home(bindings[0]) or base
        path = file.names.path(node) or ""
        if target.startswith(home + "."):
            spelled: tuple[str, tuple[Edit, ...]] | None = root.id + target[len(home) :], ()
        else:
            spelled = file.reference(target, node)
        if spelled is None:
            message = f"`{path}` is now `{target}`, but the name `{target.partition('.')[0]}` is taken here."
            yield file.attention(RULE, node, message)
            return
        text, edits = spelled
        message = _moved(path, target, entry)
        yield file.found(RULE, node, message, [file.replace(node, text), *edits])

    def _unknown(self, chain: ast.Attribute, base: str, bindings: list[Binding]) -> Iterator[Finding]:
        """A name that neither the table nor, as far as the table knows, today's Keras has."""
        file = self.file
        path = file.names.path(chain)
        if path is None or self._skip(file.source.start(chain)):
            return
        parent = path.rpartition(".")[0]
        if parent == _BACKEND and path.rpartition(".")[2] not in (*table.names_of("keras.backend"), "backend"):
            yield file.attention(RULE, chain, f"`{path}` is not a name of Keras 2's backend that is known here.")
            return
        if not parent.startswith(base):
            return
        if parent == base and _home_of_module(base) not in (None, base) and self._home(bindings[0]) != base:
            if table.canonical(base) in ("keras.backend", "keras.backend.tensorflow_backend"):
                yield file.attention(RULE, chain, f"`{path}` is not a name of Keras 2's backend that is known here.")
            return
        canonical = table.canonical(parent)
        if not _alive(parent) and table.names_of(parent) and canonical.startswith("keras."):
            yield file.attention(RULE, chain, f"`{parent}` is gone, and `{path}` is not a name that is known here.")

    def _home(self, binding: Binding) -> str | None:
        """Return the module that a module's name should mean, or None where it stays."""
        if binding not in self.homes:
            self.homes[binding] = self._find_home(binding)
        return self.homes[binding]

    def _find_home(self, binding: Binding) -> str | None:
        if binding.statement is None:
            if not isinstance(binding.value, ast.Name | ast.Attribute):
                return None
            root = root_name(binding.value)
            scope = self.file.tree.scopes.get(root) if root else None
            outer = scope.find(root.id) if scope and root else []
            if isinstance(binding.value, ast.Name) and outer and outer[0] is not binding:
                return self._home(outer[0])
            path = self.file.names.path(binding.value)
            entry = table.lookup(path) if path else None
            if path and table.canonical(path) == "keras.backend":
                return _BACKEND if self._needs_backend(binding) else None
            if entry is not None:
                return entry.target
            return _home_of_module(path) if path and _module_of(path) else None
        path = self.file.names.path_of_binding(binding)
        if path is None:
            return None
        key = (_group(binding), path, isinstance(binding.statement, ast.Import))
        if key not in self.homes_of_imports:
            self.homes_of_imports[key] = self._home_of_import(binding, path)
        return self.homes_of_imports[key]

    def _home_of_import(self, binding: Binding, path: str) -> str | None:
        if table.lookup(path) is not None and _module_of(path) is None:
            return None
        if isinstance(binding.statement, ast.Import) and "." not in path:
            return None  # `import keras.layers.core` binds `keras`
        if table.canonical(path) == "keras.backend":
            return _BACKEND if self._needs_backend(binding) else None
        if _alive(path):
            wider = "tensorflow." + path  # `tensorflow.keras` has what `keras` has, and what Keras 3 dropped
            entries = [table.lookup(used) for used in self._users(binding)]
            if any(entry is not None and (entry.target or "").startswith(wider + ".") for entry in entries):
                return wider
            return None
        return self._common_home(binding, path) or _home_of_module(path)

    def _users(self, binding: Binding) -> list[str]:
        """The paths used through a binding, and through other names of the same module."""
        group = _group(binding)
        uses = self.uses.get(group, {})
        for other in self.copies.get(group, ()):
            if other != group:
                uses = {**uses, **self.uses.get(other, {})}
        return list(uses)

    @cached_property
    def copies(self) -> dict[int, dict[int, None]]:
        """The names of the module that another name is assigned to: `backend = K`."""
        found: dict[int, dict[int, None]] = {}
        for bindings in self.file.tree.root.bindings.values():
            for other in bindings:
                scope = self.file.tree.scopes.get(other.value) if isinstance(other.value, ast.Name) else None
                if scope is not None and isinstance(other.value, ast.Name) and scope.find(other.value.id):
                    found.setdefault(id(scope.find(other.value.id)), {})[_group(other)] = None
        return found

    @cached_property
    def handed_on(self) -> dict[str, list[ast.Name]]:
        """The uses of names that are no part of a dotted name, by name."""
        found: dict[str, list[ast.Name]] = {}
        for node in self.file.tree.names:
            if isinstance(node.ctx, ast.Load) and not isinstance(self.file.tree.parents.get(node), ast.Attribute):
                found.setdefault(node.id, []).append(node)
        return found

    def _needs_backend(self, binding: Binding) -> bool:
        if not _alive(self.file.names.path_of_binding(binding) or ""):
            return True
        if any(binding in self.file.tree.scopes[node].find(node.id) for node in self.handed_on.get(binding.name, ())):
            return True  # handed on whole: what is read from it is not seen here
        entries = [table.lookup(path) for path in self._users(binding)]
        return any(entry is not None and entry.status is Status.PROVIDED for entry in entries) or not entries

    def _common_home(self, binding: Binding, path: str) -> str | None:
        homes: Counter[str] = Counter()
        for used in self._users(binding):
            name = used[len(path) + 1 :].partition(".")[0]
            entry = table.lookup(f"{path}.{name}")
            if entry is not None and entry.target is not None and entry.target.endswith("." + name):
                homes[entry.target.rpartition(".")[0]] += 1
        return homes.most_common(1)[0][0] if homes else None

    # Import statements.

    def _from(self, statement: ast.ImportFrom) -> Iterator[Finding]:
        file = self.file
        module = from_module(statement)
        if module is None:
            return
        targets: dict[ast.alias, str] = {}
        messages: list[tuple[ast.alias, str]] = []
        scope = file.tree.scopes[statement]
        for alias in statement.names:
            bound = alias.asname or alias.name
            binding = next(
                binding for binding in (*scope.bindings.get(bound, ()), *scope.find(bound)) if binding.node is alias
            )
            path = f"{module}.{alias.name}"
            if binding in file.redirects:
                targets[alias] = file.redirects[binding]
                messages.append((alias, _moved(path, targets[alias], None)))
                continue
            if self._skip(file.source.start(alias)):
                continue
            entry = table.lookup(path)
            if entry is not None and entry.status is Status.GONE:
                yield file.attention(RULE, alias, _gone(entry))
            elif entry is not None and entry.target is not None:
                target = entry.target
                if _module_of(path) is not None:
                    target = self._home(binding) or target
                if target != path:
                    targets[alias] = target
                    messages.append((alias, _moved(path, target, entry)))
            elif table.canonical(path) == "keras.layers.merge" and self._called(binding):
                yield file.attention(RULE, alias, _gone(table.Path(path, Status.GONE, None, _MERGE)))
            elif entry is None and (table.names_of(path) or _spelling_of_keras(path)):
                home = self._home(binding)
                if home is not None and home != path:
                    targets[alias] = home
                    messages.append((alias, _moved(path, home, None)))
                elif home is None and not _alive(path):
                    yield file.attention(RULE, alias, f"The module `{path}` is gone.")
            elif entry is None and _private(module, alias.name):
                message = (
                    f"`{path}` was private to Keras 2, and Keras 3 has it elsewhere or not at all. Copy what it did."
                )
                yield file.attention(RULE, alias, message)
            elif entry is None and _gone_module(module):
                message = f"The module `{module}` is gone, and `{alias.name}` is not a name of it that is known here."
                yield file.attention(RULE, alias, message)
        if targets:
            edits = move_from(file, statement, targets)
            for index, (alias, message) in enumerate(messages):
                yield file.found(RULE, alias, message, () if index else edits)

    def _called(self, binding: Binding) -> bool:
        """Say whether a name is called: `merge` was a function before it was a module."""
        return any(
            isinstance(call.func, ast.Name) and binding in self.file.tree.scopes[call.func].find(call.func.id)
            for call in self.file.tree.calls
        )

    def _import(self, statement: ast.Import) -> Iterator[Finding]:
        file = self.file
        scope = file.tree.scopes[statement]
        for alias in statement.names:
            path = alias.name
            if self._skip(file.source.start(alias)):
                continue
            entry = table.lookup(path)
            if entry is not None and entry.status is Status.GONE:
                yield file.attention(RULE, alias, _gone(entry))
                continue
            if not (entry is not None or table.names_of(path) or _spelling_of_keras(path)):
                continue
            if alias.asname:
                binding = next(one for one in scope.find(alias.asname) if one.node is alias)
                home = self._home(binding)
            else:
                home = None if _alive(path) else _home_of_module(path)
                if home is not None and home.partition(".")[0] != path.partition(".")[0]:
                    home = path.partition(".")[0]  # the name it binds stays bound
                if table.canonical(path) == "keras.backend":
                    home = None
            if home is not None and home != path:
                yield file.found(RULE, alias, _moved(path, home, entry), move_import(file, alias, home))
            elif home is None and not _alive(path) and path.partition(".")[0] == "keras" and "." in path:
                yield file.attention(RULE, alias, f"The module `{path}` is gone.")

    def _star(self, statement: ast.ImportFrom) -> Iterator[Finding]:
        file = self.file
        module = from_module(statement)
        if module is None or not table.names_of(module) or self._skip(file.source.start(statement)):
            return
        if table.canonical(module) in ("keras.backend", "keras.backend.tensorflow_backend"):
            home: str | None = _BACKEND
        else:
            home = None if _alive(module) else _home_of_module(module)
        if home is None:
            if not _alive(module):
                yield file.attention(RULE, statement, f"The module `{module}` is gone.")
            return
        yield file.found(RULE, statement, _moved(module, home, None), replace_star(file, statement, home))

    def _star_names(self) -> Iterator[Finding]:
        """Names that only an old star import brought, and that the star of today does not bring."""
        file = self.file
        if not file.tree.stars:
            return
        seen = set()
        for node in file.tree.names:
            if not isinstance(node.ctx, ast.Load) or node.id in seen or node not in file.tree.scopes:
                continue
            if file.tree.scopes[node].find(node.id):
                continue
            path = file.names.star_path(node.id)
            if path is None and node.id == "K" and file.tree.stars:
                path = self._backend_of_star()
            if path is None:
                continue
            seen.add(node.id)
            if node not in file.use_redirects and self._skip(file.source.start(node)):
                continue
            entry = table.lookup(path)
            target = file.use_redirects.get(node) or (entry.target if entry else None)
            if path.endswith(".backend"):
                target = _BACKEND
            if target is None:
                if entry is not None:
                    yield file.attention(RULE, node, _gone(entry))
                continue
            module = path.rpartition(".")[0]
            home = _BACKEND if table.canonical(module).startswith("keras.backend") else None
            home = home or (module if _alive(module) else _home_of_module(module))
            if target == f"{home}.{node.id}":
                continue
            if home == _BACKEND and target.startswith("keras.backend."):
                continue
            name = target.rpartition(".")[2]
            spelled = name if name == node.id else f"{name} as {node.id}"
            statement = next(star for star in reversed(file.tree.stars) if _brings(star, path))
            package = target.rpartition(".")[0]
            added = f"from {package} import {spelled}" if package else f"import {spelled}"
            message = _moved(path, target, entry)
            yield file.found(RULE, node, message, [file.insert_statement(statement, added)])

    def _backend_of_star(self) -> str | None:
        """Keras 2's own modules imported the backend as `K`, and their stars handed it on."""
        for statement in self.file.tree.stars:
            module = from_module(statement) or ""
            if table.names_of(module) and table.root_of(module):
                return f"{table.root_of(module)}.backend"
        return None


def _group(binding: Binding) -> int:
    """Return what the bindings of one name in one scope have in common."""
    return id(binding.scope.bindings[binding.name])


def _brings(statement: ast.ImportFrom, path: str) -> bool:
    module = from_module(statement) or ""
    if path.endswith(".backend"):
        return bool(table.names_of(module))
    return path.rpartition(".")[0] == module


def _spelling_of_keras(path: str) -> bool:
    return table.root_of(path) == path and path not in ("keras", "tensorflow.keras")


def _alive(path: str) -> bool:
    """Say whether a module can be imported today, and is the one that the table means."""
    root = table.root_of(path)
    if root is None:
        entry = table.lookup(path)
        known = path in _MODULES or path.partition(".")[0] in _PACKAGES
        return not known and (entry is None or entry.status is Status.SAME)
    if root not in ("keras", "tensorflow.keras"):
        return False
    return table.canonical(path) in table.modules_today(root)


def _private(module: str, name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and bool(table.names_of(module)) and _is_keras(module)


def _is_keras(path: str) -> bool:
    return table.root_of(path) is not None


def _gone_module(path: str) -> bool:
    return bool(table.names_of(path)) and not _alive(path)


def _module_of(path: str) -> str | None:
    """Return the path if the table knows it as a module."""
    return path if table.names_of(path) or table.canonical(path) in _MODULES else None


_PACKAGES = ("keras_preprocessing", "alt_model_checkpoint")  # what Keras 2 was made of, and what was used with it
_MODULES = frozenset(
    (
        "keras.backend.tensorflow_backend",
        "tensorflow.python.client.device_lib",
        "tensorflow.logging",
        "tensorflow.app",
    )
)


def _home_of_module(path: str) -> str | None:
    root = table.root_of(path)
    if root is not None and root not in ("keras", "tensorflow.keras"):
        modern = "tensorflow.keras" + path[len(root) :]
        if modern == "tensorflow.keras" or (_alive(modern) and modern != "tensorflow.keras.backend"):
            return modern
    home = table.module(path)
    return _BACKEND if home in ("keras.backend", "tensorflow.keras.backend") else home


def _moved(path: str, target: str, entry: table.Path | None) -> str:
    if target.startswith("parallel_compat"):
        return f"`{path}` is provided by `{target}`."
    note = f" {entry.note}" if entry is not None and entry.note else ""
    return f"`{path}` is now `{target}`.{note}"


def _gone(entry: table.Path) -> str:
    return f"`{entry.path}` is gone. {entry.note}"


def is_legacy_module(path: str) -> bool:
    """Say whether a module's path is one that cannot be imported today, or not with the same content."""
    if table.canonical(path) == "keras.backend":
        return True
    known = bool(table.names_of(path)) or _spelling_of_keras(path) or table.lookup(path) is not None
    return known and table.root_of(path) is not None and not _alive(path)


def what_became(path: str) -> str:
    """Say in half a sentence what became of a module."""
    home = _home_of_module(path)
    return f"it is now `{home}`." if home else "it is gone."
