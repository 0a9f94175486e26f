"""The import hook: packages get their old names when they are imported, and removed modules are found."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import FrameType
from typing import Any

from parallel_compat.module_loaders import LoaderAround, SecondName
from parallel_compat.names import old_packages
from parallel_compat.names.eras import Era
from parallel_compat.packages import notes
from parallel_compat.packages.arguments import accept
from parallel_compat.packages.notes import note

# Packages whose classes, arguments or defaults changed -> the module here that has `CHANGES`.
_FILES = {
    **{name: name for name in ("matplotlib", "numpy", "pandas", "scipy", "skimage", "sklearn")},
    **dict.fromkeys(("array", "builtins", "html", "json", "math", "random", "threading", "xml"), "standard_library"),
    **dict.fromkeys(("h5py", "yaml"), "mended"),
    "PIL": "pillow",
    "cv2": "opencv",
    "networkx": "networkx_functions",
    "pickle": "pickles",
    "re": "regular_expressions",
}

_finder: _Finder | None = None


def answer(era: Era = Era.KERAS_2_2_4) -> None:
    """Give this process the names and arguments that other packages had in an era.

    Args:
        era: decides defaults that changed without an error: those of 2018, or later ones.
    """
    global _finder
    notes.is_of_2018 = era.is_of_2018
    if _finder is not None:
        return
    importlib.import_module("parallel_compat.packages.notebook").answer()
    importlib.import_module("parallel_compat.packages.standard_library")  # which imports what it changes
    old_packages.modules()  # read before the hook is there: reading imports
    _finder = _Finder()
    sys.meta_path.insert(0, _finder)
    for name in list(sys.modules):
        module = sys.modules[name]
        if module is not None and _finder.is_changed(name):
            _change(module, name)


class _Finder:
    """The first finder: changes modules that others find, and finds removed modules."""

    def is_changed(self, name: str) -> bool:
        """Return whether a module lacks something that is answered."""
        return bool(old_packages.names_of(name) or old_packages.arguments_of(name)) or name in _changes(name)

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        gone = _gone_module(fullname)
        if gone is None and not self.is_changed(fullname):
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.submodule_search_locations is None and _has_modules(fullname):
                    spec.submodule_search_locations = []  # modules below it are found here
                if spec.loader is not None and self.is_changed(fullname):
                    spec.loader = LoaderAround(spec.loader, lambda module: _change(module, module.__name__))  # type: ignore[assignment]
                return spec
        if gone is None or not _is_there(gone.now):
            return None
        note(fullname, _how(gone))
        module = importlib.import_module(gone.now)
        alias: Any = SecondName(module)
        return importlib.util.spec_from_loader(fullname, alias, is_package=hasattr(module, "__path__"))


def _changes(name: str) -> dict[str, Callable[[Any], None]]:
    file = _FILES.get(name.partition(".")[0])
    if file is None:
        return {}
    changes: dict[str, Callable[[Any], None]] = importlib.import_module(f"parallel_compat.packages.{file}").CHANGES
    return changes


def _gone_module(name: str) -> old_packages.Fact | None:
    """Return the fact of a module; of one below another that is elsewhere today, too."""
    gone = old_packages.modules()
    if name in gone:
        return gone[name]
    above, _, last = name.rpartition(".")
    while above:
        if above in gone:
            return old_packages.Fact(name, gone[above].until, f"{gone[above].now}.{last}")
        above, _, before = above.rpartition(".")
        last = f"{before}.{last}"
    return None


def _has_modules(name: str) -> bool:
    """Return whether modules were below one: only these make a package of it."""
    return any(module.startswith(f"{name}.") for module in old_packages.modules())


def _is_there(module: str) -> bool:
    try:
        return module in sys.modules or importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _change(module: Any, name: str) -> None:
    change = _changes(name).get(name)
    if change is not None:
        change(module)
    for path, gone in old_packages.arguments_of(name).items():
        *above, function = path.split(".")
        owner = getattr(module, above[0], None) if above else module
        value = getattr(owner, function, None)
        accept(
            value if inspect.isclass(value) else owner,
            "__init__" if inspect.isclass(value) else function,
            **{old: new for old, new in gone.items() if new is None or not new.startswith("!")},  # type: ignore[arg-type]
        )
    own = vars(module).get("__getattr__")
    if old_packages.names_of(name) or name == "numpy" or own is not None:
        module.__getattr__ = _module_getattr(name, own)


def _module_getattr(module: str, own: Callable[[str], Any] | None) -> Callable[[str], Any]:
    """Return a module's `__getattr__`, which Python calls for names that the module lacks."""

    def __getattr__(name: str) -> Any:
        missing: AttributeError | None = None
        if own is not None:
            try:
                found = own(name)
            except AttributeError as error:
                missing = error
            else:  # a package that imports its functions when they are asked for
                return _changed_function(module, name, found)
        caller = sys._getframe(1)
        found = _MISSING if name.startswith("_") or _is_ours(caller) else _value(module, name, _by(caller))
        if found is _MISSING:
            raise missing or AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
        return found

    return __getattr__


_MISSING = object()


def _changed_function(module: str, name: str, function: Any) -> Any:
    if module.partition(".")[0] != "skimage" or not callable(function):
        return function
    from parallel_compat.packages import skimage

    changed = skimage.changed(module, name, function)
    setattr(sys.modules[module], name, changed)  # else the next one to ask gets scikit-image's own
    return changed


def _is_ours(frame: FrameType) -> bool:
    """Return whether the caller is this package, which looks for what is missing."""
    return str(frame.f_globals.get("__name__")).startswith("parallel_compat.")


def _by(frame: FrameType) -> str:
    """Return the caller, for the report: "" for the user's code."""
    from parallel_compat.run import users_code

    caller = str(frame.f_globals.get("__name__")).partition(".")[0]
    return "" if users_code.is_users(frame) or caller in ("importlib", "parallel_compat") else f" (used by {caller})"


def _value(module: str, name: str, by: str) -> Any:
    path = f"{module}.{name}"
    if module == "numpy":
        from parallel_compat.originals.mends.numpy import NAMES

        if name in NAMES:
            note(path + by, "as numpy had it before 2.0")
            return NAMES[name]
    gone = _gone_module(path)
    if gone is not None and path in old_packages.modules():
        try:
            return importlib.import_module(path)
        except ImportError:
            return _MISSING
    fact = old_packages.find(path)
    if fact is None:
        return _MISSING
    home, _, attribute = fact.now.rpartition(".")
    try:
        owner = _import(home)
        value = importlib.import_module(attribute) if owner is None else getattr(owner, attribute, _MISSING)
    except (ImportError, AttributeError):
        return _MISSING
    if value is _MISSING:  # that one is gone, too: `scipy.Inf`
        return _value(home, attribute, by)
    note(path + by, _how(fact))
    return value


def _import(path: str) -> Any:
    """Import a module, or a class in one; None for no path."""
    if not path:
        return None
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        home, _, name = path.rpartition(".")
        if not home:
            raise
        return getattr(_import(home), name)


def _how(fact: old_packages.Fact) -> str:
    ours = fact.now.startswith("parallel_compat.")
    return f"as {fact.until} had it" if ours else f"it is {fact.now} today"
