"""Advice on errors that are not about Keras: removed names of other packages, and packages under other names.

The script stops with the error of that package, and one line says what to do. What Keras raises for its surroundings is
in `advice.py`.
"""

from __future__ import annotations

import importlib.metadata
import linecache
import os
import re
import sys
from types import TracebackType

from parallel_compat.names import old_packages, old_sources, tsv
from parallel_compat.names.other_packages import ATTRIBUTES, PACKAGES
from parallel_compat.run import advice, users_code

# Error, what it is about, what was called, what to do.
_ROWS = tsv.rows("remedies.tsv", 4)
_ABOUT = {(error, about): way_out for error, about, _, way_out in _ROWS}
# Their missing names are answered, or refused with a sentence of their own.
_ANSWERED_ELSEWHERE = frozenset(("keras", "tensorflow", "tf_keras", "parallel_compat"))


def remedy(error: BaseException | None, replicas: str = advice.REPLICAS) -> str | None:
    """Return one line of advice on an error of a script; None if there is none.

    >>> remedy(ModuleNotFoundError("No module named 'cv2'", name="cv2"))
    'parallel-compat: `cv2`: pip install opencv-python-headless.'

    Args:
        replicas: how devices are asked for here, with {} for their number.
    """
    if error is None:
        return None
    if isinstance(error, SyntaxError):
        return _of_source(error)
    to_do = advice.advice(error, replicas)
    if to_do is not None:
        return f"parallel-compat: {_location(error.__traceback__)}{to_do}"
    found = _what_is_missing(error)
    if found is None:
        return None
    what, way_out = found
    where = _location(error.__traceback__)
    return f"parallel-compat: {where}`{what}`: {way_out}."


def _of_source(error: SyntaxError) -> str | None:
    where = f"{users_code.short(error.filename)}: " if error.filename else ""
    if old_sources.is_of_python_2(error):
        old, count = old_sources.count_python_2(os.path.dirname(os.path.abspath(error.filename or "")))
        project = f" ({old} of {count} sources in its folder)" if old > 1 else ""
        return f"parallel-compat: {where}Python 2 source{project}. {old_sources.CONVERT_TO_RUN}."
    if old_sources.is_in_another_coding(error):
        return f"parallel-compat: {where}not in UTF-8. {old_sources.CODING_LINE}"
    return None


def _what_is_missing(error: BaseException) -> tuple[str, str] | None:
    text = str(error)
    if isinstance(error, ModuleNotFoundError) and error.name:
        name = error.name
        while name:
            if name in PACKAGES and not (name in sys.modules and PACKAGES[name].startswith("pip install")):
                return error.name, PACKAGES[name]
            name = name.rpartition(".")[0]
        fact = old_packages.find(error.name)
        return (error.name, old_packages.advice(fact)) if fact else _of_module(error.name)
    if isinstance(error, ImportError):
        match = re.search(r"cannot import name '(\w+)' from '([\w.]+)'", text)
        if match is None and isinstance(error.__context__, ImportError):  # "You need TensorFlow to use TensorBoard"
            return _what_is_missing(error.__context__)
        return _of_attribute(match[2], match[1]) if match else None
    if isinstance(error, NameError):
        name = error.name or ""
        way_out = old_sources.advice_on_name(name)
        return (name, way_out) if way_out else None
    if isinstance(error, AttributeError):
        library = _library_of_another_numpy(error)
        if library is not None:
            return library
        match = re.search(r"[mM]odule '([\w.]+)' has no attribute '(\w+)'", text)
        if match:
            return _of_attribute(match[1], match[2])
        if "'NoneType' object has no attribute" in text and "re.split(" in _line(error.__traceback__):
            return (
                "re.split",
                "since Python 3.7 empty matches split the text, too: `re.split(r'(\\W+)', text)`, without the `?`",
            )
        match = re.search(r"'(\w+)'(?: object)? has no attribute '(\w+)'", text)
        member = _ABOUT.get(("AttributeError", f"{match[1]}.{match[2]}")) if match else None
        if match and match[2] in old_sources.METHODS_OF_PYTHON_2:
            member = old_sources.advice_on_name(match[2])
        return (f"{match[1]}.{match[2]}", member) if match and member else None
    kinds = [kind.__name__ for kind in type(error).__mro__]
    for kind, part, what, way_out in _ROWS:
        if kind in kinds and part in text:
            return what, way_out
    return None


def _of_attribute(module: str, name: str) -> tuple[str, str] | None:
    fact = old_packages.find(f"{module}.{name}")
    way_out = ATTRIBUTES.get((module, name)) or (old_packages.advice(fact) if fact else None)
    if way_out is None and module.partition(".")[0] not in _ANSWERED_ELSEWHERE:
        way_out = _of_its_release(module)
    return (f"{module}.{name}", way_out) if way_out else None


def _of_module(name: str) -> tuple[str, str] | None:
    package = name.partition(".")[0]
    if package in _ANSWERED_ELSEWHERE:
        return None
    if package != name:
        way_out = _of_its_release(package)
        return (name, way_out) if way_out else None
    folder = users_code.folder_of_module(package)
    if folder is not None:
        return name, f"it is in the folder `{folder}` of this project: set `PYTHONPATH={folder}`, or start there"
    return name, "not found: a module that the project lacks, or a package that is not installed (see its README)"


def _of_its_release(module: str) -> str | None:
    """Return advice on a name that an installed package lacks; None for modules of no package."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or not users_code.is_installed(file):
        return None
    package = module.partition(".")[0]
    for name in importlib.metadata.packages_distributions().get(package, ()):
        release = f"{name} {importlib.metadata.version(name)}"
        return f"{release}, which is installed, does not have it: its release notes say what replaced it"
    return None


def _library_of_another_numpy(error: AttributeError) -> tuple[str, str] | None:
    """Return the library (not the user's code) that uses a name that numpy dropped."""
    text = str(error)
    match = re.search(r"module 'numpy' has no attribute '(\w+)'|`np\.(\w+)` was removed in the NumPy 2", text)
    traceback = error.__traceback__
    if match is None or traceback is None:
        return None
    caller = ""
    while traceback is not None:
        module = traceback.tb_frame.f_globals.get("__name__") or ""
        if module.partition(".")[0] != "numpy":
            caller = "" if users_code.is_users(traceback.tb_frame) else module.partition(".")[0]
        traceback = traceback.tb_next
    if not caller or caller in _ANSWERED_ELSEWHERE:
        return None
    way = f"a newer {caller}" + (", or `pip install 'numpy<2'`" if match[2] else "")
    return caller, f"it uses `numpy.{match[1] or match[2]}`, which numpy dropped: {way}"


def _last_of_user(traceback: TracebackType | None) -> tuple[str, int] | None:
    """Return the file and the number of the last line of the user's code in a traceback."""
    found = None
    while traceback is not None:
        if users_code.is_users(traceback.tb_frame):
            found = traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
        traceback = traceback.tb_next
    return found


def _location(traceback: TracebackType | None) -> str:
    found = _last_of_user(traceback)
    return f"{users_code.short(found[0])}:{found[1]}: " if found else ""


def _line(traceback: TracebackType | None) -> str:
    found = _last_of_user(traceback)
    return linecache.getline(*found) if found else ""
