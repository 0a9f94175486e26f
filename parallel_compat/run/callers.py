"""Who asks: the user's own code, or a library's; and the era of the user's code.

Legacy names are answered for the user's code only. Who asks is known by the file of the module whose code runs
(`__file__` of the frame's globals, so that code which TensorFlow's AutoGraph generates counts for the function it
was made from). The standard library asks on somebody's behalf (`importlib.import_module`, `pickle`), and so do
AutoGraph, which makes the calls in a `tf.function`, and `layer_test`, which makes the user's layers; such frames are
passed over. `KerasClassifier` and `KerasRegressor` train the user's models on behalf of the user whoever calls them: a
search of scikit-learn, say.

Whose results code was written for is known by the file as well (`names/eras.py`). Ask here:

- `era_of(frame)` for a call of the user's code, whose frame is at hand;
- `era_of_caller()` where it is not: somewhere below the user's code, in a constructor of Keras, say;
- `object_eras.era_of_object(layer)` where an object's numbers are wanted later, in a traced step: the era of the code
  that made or compiled it;
- `era_of_process()` where there is neither.
"""

from __future__ import annotations

import filecmp
import functools
import linecache
import os
import site
import sys
import sysconfig
from typing import TYPE_CHECKING, Any

from parallel_compat.names import eras
from parallel_compat.names.eras import Era, Evidence, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType

_USER, _ON_BEHALF, _ESTIMATOR, _INSTALLED = "user", "on behalf", "estimator", "installed"
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LAYER_TESTS = os.path.join(_HERE, "legacy", "layer_tests.py")
_ESTIMATORS = os.path.join(_HERE, "legacy", "scikit_learn.py")
_RECORDER = os.path.join(_HERE, "compare", "record_keras.py")
# What lets the chief of several workers write stands between the user's code and the methods.
_WORKERS = os.path.join(_HERE, "run", "workers.py")


def _started_in() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


# A script may change the folder, or remove it.
_STARTED_IN = _started_in()
# How far a module is searched for after an error.
_FOLDERS_LOOKED_INTO, _DEPTH_LOOKED_INTO = 500, 3
_AUTOGRAPH = f"{os.sep}tensorflow{os.sep}python{os.sep}autograph{os.sep}"
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")

_also: frozenset[str] = frozenset()
_kinds: dict[tuple[str, str], str] = {}
_on = False
_chosen_era: Era | None = None
# By file; code that has none is known by its globals, which are kept here so that their id stays theirs.
_verdicts: dict[Any, Verdict | None] = {}
_evidence: dict[Any, tuple[str, Evidence, Any]] = {}
# Those that further files or cells may change, with how many there were; without cells, with the code that asked.
_open_verdicts: dict[Any, tuple[tuple[int, Any], Verdict | None]] = {}
_of_main: list[tuple[str, Evidence]] | None = None
_evidence_of_file = functools.cache(eras.evidence_of_file)  # a file is imported by many
_of_process: Verdict | None = None


def also_ask(packages: Iterable[str]) -> None:
    """Let installed packages be answered as the user's code is (`--also`)."""
    global _also
    _also = frozenset(packages)
    _kinds.clear()


def give_eras() -> None:
    """Let code have the era of its file from here on; before, and after `forget`, all code is of today."""
    global _on
    _on = True


def asked() -> frozenset[str]:
    """Return the installed packages that are answered as the user's code is."""
    return _also


def forget() -> None:
    """Forget all options and all files seen: no code has an era."""
    global _on, _of_main
    _on = False
    also_ask(())
    choose_era(None)
    _evidence.clear()
    _open_verdicts.clear()
    _evidence_of_file.cache_clear()
    _of_main = None


def user_frame(frame: FrameType | None) -> FrameType | None:
    """Return the user's frame on whose behalf `frame` runs, or None where a library asks.

    Args:
        frame: the frame that asks.

    Returns:
        `frame` itself, or the first frame below it that does not ask for another, if that is the user's.
    """
    by_estimator = False
    while frame is not None:
        kind = _kind(frame)
        if kind is _USER:
            return frame
        if kind is _INSTALLED and not by_estimator:
            return None
        by_estimator = by_estimator or kind is _ESTIMATOR
        frame = frame.f_back
    return None


def is_users(frame: FrameType) -> bool:
    """Say whether a frame runs the user's code."""
    return _kind(frame) is _USER


def is_class_of_user(kind: type) -> bool:
    """Say whether a class is defined in the user's code."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return file is not None and _kind_of(file, kind.__module__) is _USER


def choose_era(era: Era | None) -> None:
    """Give every file of the user's one era (`--era`); None lets each file say its own."""
    global _chosen_era, _of_process
    _chosen_era = era
    _of_process = None
    _verdicts.clear()
    _open_verdicts.clear()


def chosen_era() -> Era | None:
    """Return the era that was chosen for every file, or None."""
    return _chosen_era


def era_of(frame: FrameType) -> Era:
    """Return the era of a frame of the user's: that of its file.

    A file that imports neither Keras has that of what it imports (`from .backend import keras`), else (a helper that
    is handed a model) that of the project: the main script with what it imports, and the files that asked before.

    Args:
        frame: a frame that `user_frame` returned.
    """
    file = _file(frame)
    key = (file, id(frame.f_globals)) if file.startswith("<") else file
    try:
        found = _verdicts[key]
    except KeyError:
        found = _open_verdict(key, file, frame)
    return found.era if found is not None else Era.TODAY


def _open_verdict(key: Any, file: str, frame: FrameType) -> Verdict | None:
    """Return the verdict on a file, and keep it for good unless what is still to come may say more."""
    cells = frame.f_globals.get("In")
    asked_by = len(cells) if isinstance(cells, list) else frame.f_code
    kept = _open_verdicts.get(key)
    if kept is not None and kept[0] == (len(_evidence), asked_by):
        return kept[1]
    found = _verdict(key, file, frame, cells)
    if found is not None and not isinstance(cells, list):
        _verdicts[key] = found
    else:
        _open_verdicts[key] = ((len(_evidence), asked_by), found)
    return found


def era_of_caller() -> Era:
    """Return the era of the user's code that is nearest on the stack, whoever runs in between; else the process's."""
    frame: FrameType | None = sys._getframe(1)
    while _on and frame is not None:
        if _kind(frame) is _USER:
            return era_of(frame)
        frame = frame.f_back
    return era_of_process()


def era_of_process() -> Era:
    """Return the era where no code can be asked: the chosen one, else the project's."""
    global _of_process
    if _of_process is None and _on:
        _of_process = _chosen() or eras.verdict(eras.NONE, _project())
    return _of_process.era if _of_process is not None else Era.TODAY


def eras_of_files() -> list[tuple[str, Verdict]]:
    """Return the files of the user's that asked, with the era of each and why."""
    files = [(_evidence[key][0] if key in _evidence else key, found) for key, found in _verdicts.items()]
    return [(file, found) for file, found in files if found is not None]


def _chosen() -> Verdict | None:
    return Verdict(_chosen_era, "--era") if _chosen_era is not None else None


def _verdict(key: Any, file: str, frame: FrameType, cells: Any) -> Verdict | None:
    said = _said(file, frame, cells)
    _evidence[key] = (file, said, frame.f_globals if key is not file else None)
    return _chosen() or eras.verdict(said, _project() if said.imports_keras else _imported_and_project(file))


def _imported_and_project(file: str) -> Iterator[tuple[str, Evidence]]:
    """Yield the files that a file imports, then those of the project."""
    if os.path.isfile(file):
        for each, said in eras.of_project(file, _STARTED_IN, _evidence_of_file):
            yield _basename(each), said
    yield from _project()


def _said(file: str, frame: FrameType, cells: Any) -> Evidence:
    if isinstance(cells, list) and not os.path.exists(file):  # IPython's: each cell is a source of its own
        return eras.together(eras.evidence_of_source(cell) for cell in cells)
    text = "".join(linecache.getlines(file, frame.f_globals))
    return eras.evidence_of_source(text) if text else eras.evidence_of_code(_module_of(frame).f_code)


def _module_of(frame: FrameType) -> FrameType:
    """Return the frame in which the code's module runs, or the frame itself where that has ended."""
    below: FrameType | None = frame
    while below is not None:
        if below.f_globals is frame.f_globals and below.f_code.co_name == "<module>":
            return below
        below = below.f_back
    return frame


def _project() -> list[tuple[str, Evidence]]:
    """Return the files of the main script, then those that asked."""
    global _of_main
    if _of_main is None:
        main = getattr(sys.modules.get("__main__"), "__file__", None)
        is_users = main is not None and _kind_of(main, "__main__") is _USER
        of_main = eras.of_project(main, read=_evidence_of_file) if main and is_users else ()
        _of_main = [(_basename(file), said) for file, said in of_main]
    return [*_of_main, *((_basename(file), said) for file, said, _ in _evidence.values())]


def _basename(file: str) -> str:
    return os.path.basename(file)


def short(file: str) -> str:
    """Name a file from the folder that the script was started in, where it is below it."""
    if file.startswith("<") or not _STARTED_IN or not os.path.isabs(file):
        return file
    relative = os.path.relpath(file, _STARTED_IN)
    return file if relative.startswith("..") else relative


def is_installed(file: str) -> bool:
    """Say whether a file is an installed package's, and not Python's own, nor the user's."""
    return _kind_of(os.path.abspath(file), "") is _INSTALLED


def folder_of_module(name: str) -> str | None:
    """Return the folder, below the one that the script was started in, that has a module of this name, or None."""
    if not _STARTED_IN:
        return None
    for looked_into, (folder, folders, files) in enumerate(os.walk(_STARTED_IN)):
        if looked_into == _FOLDERS_LOOKED_INTO:
            return None
        relative = os.path.relpath(folder, _STARTED_IN)
        # A folder without `__init__.py` is a module as well, but so is one of data.
        is_package = name in folders and os.path.isfile(os.path.join(folder, name, "__init__.py"))
        if relative != os.curdir and (is_package or f"{name}.py" in files):
            return relative
        depth = 0 if relative == os.curdir else relative.count(os.sep) + 1
        folders[:] = sorted(f for f in folders if not f.startswith(".")) if depth < _DEPTH_LOOKED_INTO else []
    return None


def _file(frame: FrameType) -> str:
    return frame.f_globals.get("__file__") or frame.f_code.co_filename


def _kind(frame: FrameType) -> str:
    key = (_file(frame), frame.f_globals.get("__name__") or "")
    kind = _kinds.get(key)
    if kind is None:
        # TensorFlow writes the functions of a library of operations, and executes them as a module without a file.
        written = frame.f_back is not None and frame.f_back.f_code.co_name == "load_op_library"
        kind = _kinds[key] = _INSTALLED if written else _kind_of(*key)
    return kind


def _kind_of(file: str, module: str) -> str:
    if module.partition(".")[0] in _also:
        return _USER
    if file.startswith("<frozen "):
        return _ON_BEHALF
    if file.startswith("<") and module.partition(".")[0] in ("keras", "tensorflow"):
        return _INSTALLED
    path = os.path.abspath(file)
    if path in (_LAYER_TESTS, _WORKERS) or _AUTOGRAPH in path or _is_recorder(path):
        return _ON_BEHALF
    if path == _ESTIMATORS:
        return _ESTIMATOR
    if path.startswith(_HERE) or any(folder in path for folder in _PACKAGES):
        return _INSTALLED
    if path.startswith(_installed_roots()):
        return _INSTALLED
    if path.startswith(_standard_library_roots()):
        return _ON_BEHALF
    return _USER


def _is_recorder(path: str) -> bool:
    """Whether a file is the recorder, or what `parallel-compat recorder` printed."""
    try:
        return os.path.getsize(path) == os.path.getsize(_RECORDER) and filecmp.cmp(path, _RECORDER, shallow=False)
    except OSError:  # code that is in no file
        return False


def _installed_roots() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    roots = {paths["purelib"], paths["platlib"]}
    if site.ENABLE_USER_SITE:
        roots.add(site.getusersitepackages())
    return tuple(os.path.join(root, "") for root in roots)


def _standard_library_roots() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple(os.path.join(os.path.realpath(paths[name]), "") for name in ("stdlib", "platstdlib")) + tuple(
        os.path.join(paths[name], "") for name in ("stdlib", "platstdlib")
    )
