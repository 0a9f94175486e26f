"""What import hooks need: a loader around another one, one that gives a module a second name, and names by path."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class LoaderAround:
    """Loads a module as its own loader does, and is gone afterwards.

    Args:
        then: is called with the module once it is loaded.
        within: makes a context manager that is open while the module is loaded.
    """

    def __init__(
        self,
        loader: Any,
        then: Callable[[Any], object] = lambda module: None,
        within: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext,
    ) -> None:
        self.loader, self.then, self.within = loader, then, within

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module as its own loader does."""
        module: ModuleType | None = self.loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Load the module, and call `then`."""
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        with self.within():
            self.loader.exec_module(module)
        self.then(module)


class SecondName:
    """Gives a loaded module a second name in `sys.modules`."""

    def __init__(self, module: ModuleType) -> None:
        self.module, self.spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the loaded module."""
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own spec back, which importlib has replaced."""
        module.__spec__ = self.spec


def load(path: str) -> Any:
    """Import what a dotted path names: a module, or a name in one."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise
        module, _, name = path.rpartition(".")
        return getattr(importlib.import_module(module), name)
