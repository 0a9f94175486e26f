"""Import statements that name what is elsewhere today, or gone."""

from __future__ import annotations

import ast
from collections.abc import Callable

from parallel_compat.migrate.binding_homes import BindingHomes
from parallel_compat.migrate.dotted_names import from_module
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import Findings
from parallel_compat.migrate.import_statements import is_unused, move_from, move_import, remove_gone
from parallel_compat.migrate.module_homes import (
    MERGE,
    gone,
    home_of_module,
    is_alive,
    is_gone,
    is_module,
    is_other_spelling,
    moved,
)
from parallel_compat.migrate.scopes import Binding
from parallel_compat.names import table
from parallel_compat.names.table import Status

_UNUSED = "Nothing uses it here: its import goes."


class ImportFindings:
    """What is to be said and done of a file's import statements."""

    def __init__(self, homes: BindingHomes, skips: Callable[[int], bool]) -> None:
        self._file = homes.file
        self._homes = homes
        self._skips = skips

    def of_from(self, statement: ast.ImportFrom) -> Findings:
        """Yield what there is of `from a import b`."""
        file = self._file
        module = from_module(statement)
        if module is None:
            return
        targets: dict[ast.alias, str] = {}
        unused: list[tuple[ast.alias, str]] = []
        messages: list[tuple[ast.alias, str]] = []
        for alias in statement.names:
            binding = file.tree.imported[alias]
            path = f"{module}.{alias.name}"
            if binding in file.redirects:
                targets[alias] = file.redirects[binding]
                messages.append((alias, moved(path, targets[alias], None)))
                continue
            if self._skips(file.source.start(alias)):
                continue
            entry = table.lookup(path)
            if entry is not None and entry.status is Status.GONE:
                if is_unused(file, statement, alias):
                    unused.append((alias, f"{gone(entry)} {_UNUSED}"))
                else:
                    yield file.attention(alias, gone(entry))
            elif entry is not None and entry.target is not None:
                target = entry.target
                if is_module(path):
                    target = self._homes.home(binding) or target
                if target != path:
                    targets[alias] = target
                    messages.append((alias, moved(path, target, entry)))
            elif table.canonical(path) == "keras.layers.merge" and self._called(binding):
                targets[alias] = str(MERGE.target)
                messages.append((alias, moved(path, targets[alias], MERGE)))
            elif entry is None and (table.names_of(path) or is_other_spelling(path)):
                home = self._homes.home(binding)
                if home is not None and home != path:
                    targets[alias] = home
                    messages.append((alias, moved(path, home, None)))
                elif home is None and not is_alive(path):
                    yield file.attention(alias, f"The module `{path}` is gone.")
            elif entry is None and _private(module, alias.name):
                message = f"`{path}` was private to Keras 2; Keras 3 moved or removed it. Copy its code."
                yield file.attention(alias, message)
            elif entry is None and is_gone(module):
                message = f"The module `{module}` is gone, and `{alias.name}` is not a known name of it."
                yield file.attention(alias, message)
        leaving = [alias for alias, _ in unused]
        edits: list[Edit] = []
        if targets:
            edits = move_from(file, statement, targets, leaving)
        elif unused:
            edits = remove_gone(file, statement, leaving)
        for index, (alias, message) in enumerate([*messages, *unused]):
            yield file.found(alias, message, () if index else edits)

    def _called(self, binding: Binding) -> bool:
        """Return whether a name is called: `merge` was a function before it was a module."""
        return any(
            isinstance(call.func, ast.Name) and binding in self._file.tree.scopes[call.func].find(call.func.id)
            for call in self._file.tree.calls
        )

    def of_import(self, statement: ast.Import) -> Findings:
        """Yield what there is of `import a.b`."""
        file = self._file
        for alias in statement.names:
            path = alias.name
            if self._skips(file.source.start(alias)):
                continue
            entry = table.lookup(path)
            if entry is not None and entry.status is Status.GONE:
                if is_unused(file, statement, alias):
                    yield file.found(alias, f"{gone(entry)} {_UNUSED}", remove_gone(file, statement, [alias]))
                else:
                    yield file.attention(alias, gone(entry))
                continue
            if not (entry is not None or table.names_of(path) or is_other_spelling(path)):
                continue
            if alias.asname:
                home = self._homes.home(file.tree.imported[alias])
            else:
                home = None if is_alive(path) else home_of_module(path)
                if home is not None and home.partition(".")[0] != path.partition(".")[0]:
                    home = path.partition(".")[0]  # the name it binds stays bound
                if table.canonical(path) == "keras.backend":
                    home = None
            if home is not None and home != path:
                yield file.found(alias, moved(path, home, entry), move_import(file, alias, home))
            elif home is None and not is_alive(path) and path.partition(".")[0] == "keras" and "." in path:
                yield file.attention(alias, f"The module `{path}` is gone.")


def _private(module: str, name: str) -> bool:
    is_private = name.startswith("_") and not name.startswith("__")
    return is_private and bool(table.names_of(module)) and table.root_of(module) is not None
