"""Dotted names that begin with an imported name, and are elsewhere today: `keras.layers.core.Dense`."""

from __future__ import annotations

import ast
from collections.abc import Callable

from parallel_compat.migrate.binding_homes import BindingHomes
from parallel_compat.migrate.dotted_names import root_name
from parallel_compat.migrate.file import Findings
from parallel_compat.migrate.module_homes import BACKEND, MERGE, gone, home_of_module, is_alive, is_module, moved
from parallel_compat.migrate.scopes import Binding
from parallel_compat.names import table
from parallel_compat.names.evidence import OF_BOTH

_OF_BOTH = "TensorFlow 1's function of this name returns one mean, Keras's one value per sample."


class DottedFindings:
    """What is to be said and done of a file's dotted names."""

    def __init__(self, homes: BindingHomes, skips: Callable[[int], bool]) -> None:
        self._file = homes.file
        self._homes = homes
        self._skips = skips

    def find(self, chain: ast.Attribute, bindings: list[Binding]) -> Findings:
        """Yield what there is of one dotted name."""
        file = self._file
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
        if table.lookup(base) is not None and not is_module(base):
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
        if self._skips(file.source.start(node)):
            return
        if entry.status is table.Status.GONE:
            if not self._is_argument_decorator(node, entry):  # of which its own rule says more
                yield self._file.attention(node, gone(entry))
            return
        home = self._homes.home(bindings[0])
        path = file.names.path(node)
        assert path is not None
        assert entry.target is not None
        if entry.status is table.Status.SAME and (home is None or home == base):
            return
        if home is not None and home + path[len(base) :] == entry.target:
            return  # the import brings it
        if entry.status is table.Status.SAME and home == "tensorflow." + base:
            return
        if home == BACKEND and (entry.target == path or entry.target.startswith("keras.")):
            return  # this package's backend has what Keras's kept as well
        yield from self._replaced(node, root, base, bindings, entry.target, entry)

    def _is_argument_decorator(self, node: ast.expr, entry: table.Path) -> bool:
        above = self._file.tree.parents.get(node)
        return entry.path.startswith("keras.legacy.interfaces.") and node in getattr(above, "decorator_list", ())

    def _known_part(self, chain: ast.Attribute) -> tuple[ast.expr, table.Path] | None:
        """Return the longest part of a chain that the table knows, and what it says."""
        node: ast.expr = chain
        while isinstance(node, ast.Attribute):
            path = self._file.names.path(node)
            entry = table.lookup(path) if path is not None else None
            if entry is not None:
                return node, entry
            node = node.value
        return None

    def _whole_module(
        self, chain: ast.Attribute, root: ast.Name, base: str, bindings: list[Binding], path: str
    ) -> Findings:
        """A module of Keras as a value: `K = keras.backend`."""
        file = self._file
        above = file.tree.parents.get(chain)
        if self._skips(file.source.start(chain)):
            return
        if table.canonical(path) == "keras.layers.merge" and isinstance(above, ast.Call) and above.func is chain:
            yield from self._replaced(chain, root, base, bindings, str(MERGE.target), MERGE)
            return
        home = home_of_module(path) if table.canonical(path) == "keras.backend" or not is_alive(path) else None
        if isinstance(above, ast.Assign) and len(above.targets) == 1 and isinstance(above.targets[0], ast.Name):
            name = above.targets[0]
            for binding in file.tree.scopes[name].find(name.id):
                if binding.node is name:
                    home = self._homes.home(binding)
        if home is not None and home != path:
            yield from self._replaced(chain, root, base, bindings, home)
        elif home is None and not is_alive(path):
            yield file.attention(chain, f"The module `{path}` is gone.")

    def _replaced(
        self,
        node: ast.expr,
        root: ast.Name,
        base: str,
        bindings: list[Binding],
        target: str,
        entry: table.Path | None = None,
    ) -> Findings:
        file = self._file
        home = self._homes.home(bindings[0]) or base
        path = file.names.path(node) or ""
        near = target.startswith(home + ".")
        edits = [file.replace(node, root.id + target[len(home) :])] if near else file.replaced_by(target, node)
        is_of_keras = not target.startswith("tensorflow.compat.v1.")
        unsafe = is_of_keras and base + ast.unparse(node)[len(root.id) :] in OF_BOTH and _OF_BOTH
        otherwise = f"`{path}` is now `{target}`, but the name `{target.partition('.')[0]}` is taken here."
        yield file.found(node, moved(path, target, entry), edits, unsafe=unsafe, otherwise=otherwise)

    def _unknown(self, chain: ast.Attribute, base: str, bindings: list[Binding]) -> Findings:
        """A name that neither the table nor, as far as the table knows, today's Keras has."""
        file = self._file
        path = file.names.path(chain)
        if path is None or self._skips(file.source.start(chain)):
            return
        parent = path.rpartition(".")[0]
        if parent == BACKEND and path.rpartition(".")[2] not in (*table.names_of("keras.backend"), "backend"):
            yield file.attention(chain, f"`{path}` is not a known name of Keras 2's backend.")
            return
        if not parent.startswith(base):
            return
        if parent == base and home_of_module(base) not in (None, base) and self._homes.home(bindings[0]) != base:
            if table.canonical(base) in ("keras.backend", "keras.backend.tensorflow_backend"):
                yield file.attention(chain, f"`{path}` is not a known name of Keras 2's backend.")
            return
        canonical = table.canonical(parent)
        if not is_alive(parent) and table.names_of(parent) and canonical.startswith("keras."):
            yield file.attention(chain, f"`{parent}` is gone, and `{path}` is not a known name.")
