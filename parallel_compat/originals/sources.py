"""Serves the modules of an original from its folder, with their source edits and their bytecode cached beside them."""

from __future__ import annotations

import ast
import hashlib
import importlib.abc
import importlib.machinery
import importlib.util
import marshal
import os
import sys
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from parallel_compat.originals.mends.register import Register


class OriginalFinder(importlib.abc.MetaPathFinder):
    """Finds modules of the originals before any installed package of the same name.

    Args:
        paths: for each package or module that is served, the path of its source without `.py`.
    """

    def __init__(self, paths: Mapping[str, Path], bytecode: Path, mends: Register) -> None:
        self.paths = dict(paths)
        self.bytecode = bytecode
        self.mends = mends

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a served module; None lets the next finder look."""
        source_path = self._source_path(fullname)
        if source_path is None:
            return None
        package = source_path / "__init__.py"
        file = package if package.is_file() else source_path.with_name(source_path.name + ".py")
        if not file.is_file():
            return None
        return importlib.util.spec_from_file_location(
            fullname,
            file,
            loader=_OriginalLoader(fullname, file, self.bytecode, self.mends),
            submodule_search_locations=[str(source_path)] if file == package else None,
        )

    def _source_path(self, fullname: str) -> Path | None:
        name, rest = fullname, ""
        while name:
            if name in self.paths:
                return self.paths[name].joinpath(*rest.split(".")) if rest else self.paths[name]
            name, _, last = name.rpartition(".")
            rest = f"{last}.{rest}" if rest else last
        return None


class _OriginalLoader(importlib.abc.SourceLoader):
    def __init__(self, fullname: str, file: Path, bytecode: Path, mends: Register) -> None:
        self.fullname = fullname
        self.file = file
        self.bytecode = bytecode
        self.mends = mends

    def get_filename(self, fullname: str) -> str:
        return str(self.file)

    def get_data(self, path: str | bytes) -> bytes:
        with open(path, "rb") as opened:
            return opened.read()

    def get_code(self, fullname: str) -> CodeType:
        """Return the module's code: kept bytecode if it is of this source, these edits and this Python."""
        source = self.get_data(self.get_filename(fullname))
        edits = self.mends.edits_of(fullname)
        key = hashlib.sha256(source + repr(edits).encode() + importlib.util.MAGIC_NUMBER).hexdigest()
        kept = self.bytecode / f"{sys.implementation.cache_tag}" / f"{key}.bin"
        try:
            code = marshal.loads(kept.read_bytes())
        except (OSError, EOFError, ValueError, TypeError):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of old escapes in strings, `is` with a number, and the like
                tree = ast.parse(source, self.get_filename(fullname))
                for edit in edits:
                    edit.apply(tree, fullname)
                code = compile(tree, self.get_filename(fullname), "exec", dont_inherit=True)
            if not sys.dont_write_bytecode:
                _keep(kept, marshal.dumps(code))
        assert hasattr(code, "co_code")
        return code  # type: ignore[no-any-return]

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, then the mends that wait for it."""
        super().exec_module(module)
        self.mends.loaded(module)


def _keep(file: Path, code: bytes) -> None:
    """Write bytecode whole or not at all; a cache that cannot be written costs time, nothing else."""
    temporary = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(code)
        os.replace(temporary, file)
    except OSError:
        temporary.unlink(missing_ok=True)


def forget(names: Iterable[str]) -> None:
    """Take loaded modules of these packages out of `sys.modules`, so that the next import finds the original's."""
    starts = tuple(f"{name}." for name in names)
    for loaded in list(sys.modules):
        if f"{loaded}.".startswith(starts):
            module = sys.modules.pop(loaded)
            package, _, name = loaded.rpartition(".")
            if getattr(sys.modules.get(package), name, None) is module:  # or `from package import name` finds it
                delattr(sys.modules[package], name)
