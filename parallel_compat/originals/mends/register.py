"""The register of mends: names that are set, edits of sources, and functions that wait for a module of the original."""

from __future__ import annotations

import ast
import contextlib
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from parallel_compat.module_loaders import load
from parallel_compat.originals.settings import Settings

_MISSING = object()


class MendError(RuntimeError):
    """A mend does not fit the installed libraries: what it changes is not there."""

    def __init__(self, target: str, mend: str) -> None:
        super().__init__(
            f"Expected {target}, which {mend} changes so that old Keras runs. Received: no such name in the installed "
            "version. Install a version that is tested (see the README), or report this line."
        )


@dataclass(frozen=True)
class Edit:
    """One change of a source: an expression or a statement that occurs `times` times becomes another."""

    old: str
    new: str
    times: int = 1

    def apply(self, tree: ast.Module, module: str) -> None:
        """Change the tree in place."""
        old, new = ast.parse(self.old).body[0], ast.parse(self.new).body[0]
        if isinstance(old, ast.Expr) and isinstance(new, ast.Expr):
            old, new = old.value, new.value  # type: ignore[assignment]
        change = _Change(ast.dump(old), self.new, isinstance(new, ast.expr))
        change.visit(tree)
        ast.fix_missing_locations(tree)
        if change.count != self.times:
            raise MendError(f"`{self.old}` {self.times} times in {module} (found {change.count} times)", "an edit")


class _Change(ast.NodeTransformer):
    def __init__(self, old: str, new: str, is_expression: bool) -> None:
        self.old, self.new, self.is_expression = old, new, is_expression
        self.kind = old.partition("(")[0]
        self.count = 0

    def visit(self, node: ast.AST) -> Any:
        if type(node).__name__ == self.kind and ast.dump(node) == self.old:
            self.count += 1
            new = ast.parse(self.new).body[0]
            return ast.copy_location(new.value if self.is_expression else new, node)  # type: ignore[attr-defined]
        return self.generic_visit(node)


class Register:
    """All mends of one process."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.era = settings.era
        self.causes: list[str] = []
        self._changes = 0
        self._edits: dict[str, list[Edit]] = {}
        self._waiting: dict[str, list[Callable[[ModuleType], None]]] = {}

    @contextlib.contextmanager
    def cause(self, name: str) -> Iterator[None]:
        """Note a cause in `causes` if something is changed for it within the block."""
        before = self._changes
        yield
        if self._changes > before:
            self.causes.append(name)

    @property
    def is_tensorflow_1(self) -> bool:
        """Whether the code of this process was written for TensorFlow 1."""
        return self.settings.is_tensorflow_1

    @property
    def is_standalone(self) -> bool:
        """Whether `keras` has code of its own, beside `tf.keras`."""
        return self.era.is_standalone

    def add(self, owner: Any, **names: Any) -> None:
        """Set the names that an object lacks; those it has stay."""
        for name, value in names.items():
            if getattr(owner, name, _MISSING) is _MISSING:
                self._changes += 1
                setattr(owner, name, value)

    def replace(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Set a name to what `make` returns for its value."""
        value = getattr(owner, name, _MISSING)
        if value is _MISSING:
            raise MendError(f"{getattr(owner, '__name__', owner)}.{name}", getattr(make, "__module__", "a mend"))
        self._changes += 1
        setattr(owner, name, make(value))

    def around(self, owner: Any, name: str, function: Callable[..., Any], *, shown: bool = False) -> None:
        """Set a name to a function that calls `function(what stood there, ...)`.

        Args:
            owner: an object, or the path of a module of the original, which is waited for.
            name: of the function; of a method in a module that is waited for, `Class.method`.
            shown: whether it keeps the name, docstring and signature, which users look at.
        """
        if isinstance(owner, str):
            kind, _, method = name.rpartition(".")
            self.after(
                owner,
                lambda module: self.around(getattr(module, kind) if kind else module, method, function, shown=shown),
            )
            return

        def make(value: Any) -> Any:
            def called(*args: Any, **options: Any) -> Any:
                return function(value, *args, **options)

            return functools.wraps(value)(called) if shown else called

        make.__module__ = getattr(function, "func", function).__module__
        self.replace(owner, name, make)

    def once(self, module: ModuleType, change: Callable[[Register, Any], None]) -> None:
        """Change a package, unless it was changed before: `run` does so as soon as it is imported."""
        self._changes += 1
        if not hasattr(module, "_parallel_compat_mended"):
            module._parallel_compat_mended = True  # type: ignore[attr-defined]
            change(self, module)

    def edit(self, module: str, old: str, new: str, times: int = 1) -> None:
        """Change a source when it is loaded: `old` and `new` are one expression or one statement each."""
        if self._is_mended(module):
            self._changes += 1
            self._edits.setdefault(module, []).append(Edit(old, new, times))

    def after(self, module: str, change: Callable[[ModuleType], None]) -> None:
        """Call `change` with a module of the original once it is loaded."""
        if self._is_mended(module):
            self._changes += 1
            self._waiting.setdefault(module, []).append(change)

    def _is_mended(self, module: str) -> bool:
        """Keras 2.4, which is `keras` beside tf.keras 2.2, only passes names on."""
        return self.is_standalone or not module.startswith("keras.")

    def edits_of(self, module: str) -> tuple[Edit, ...]:
        """Return the edits of a module's source."""
        return tuple(self._edits.get(module, ()))

    def loaded(self, module: ModuleType) -> None:
        """Apply the mends that wait for a module."""
        for change in self._waiting.get(module.__name__, ()):
            change(module)


def named(path: str) -> Any:
    """Return what a dotted path names: a module, or a name in one."""
    try:
        return load(path)
    except (ImportError, AttributeError):
        raise MendError(path, "a mend") from None
