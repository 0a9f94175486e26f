"""Who asks: the user's own code, or a library's.

Legacy names are answered for the user's code only. Who asks is told by the file of the module whose code runs
(`__file__` of the frame's globals, so that code which TensorFlow's AutoGraph generates counts for the function it
was made from). The standard library asks on somebody's behalf (`importlib.import_module`, `pickle`), and so does
`layer_test`, which makes the user's layers; such frames are passed over.
"""

from __future__ import annotations

import linecache
import os
import site
import sysconfig
from typing import TYPE_CHECKING

from parallel_compat.names.eras import Era, Verdict, era_of_source

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType

_USER, _ON_BEHALF, _INSTALLED = "user", "on behalf", "installed"
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LAYER_TESTS = os.path.join(_HERE, "legacy", "layer_tests.py")
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")

_also: frozenset[str] = frozenset()
_kinds: dict[tuple[str, str], str] = {}
_files_of_standalone_keras: set[str] = set()
_verdicts: dict[str, Verdict | None] = {}
_chosen_era: Era | None = None


def also_ask(packages: Iterable[str]) -> None:
    """Let installed packages be answered as the user's code is (`--also`)."""
    global _also
    _also = frozenset(packages)
    _kinds.clear()


def asked() -> frozenset[str]:
    """Return the installed packages that are answered as the user's code is."""
    return _also


def forget() -> None:
    """Forget all that was told and seen: nobody's code is known to be written for standalone Keras."""
    also_ask(())
    _files_of_standalone_keras.clear()
    _verdicts.clear()
    choose_era(None)


def user_frame(frame: FrameType | None) -> FrameType | None:
    """Return the user's frame on whose behalf `frame` runs, or None where a library asks.

    Args:
        frame: the frame that asks.

    Returns:
        `frame` itself, or the first frame below it that does not ask for another, if that is the user's.
    """
    while frame is not None:
        kind = _kind(frame)
        if kind is _USER:
            return frame
        if kind is _INSTALLED:
            return None
        frame = frame.f_back
    return None


def note_root(frame: FrameType, module: str) -> None:
    """Take note that a file of the user's asks standalone Keras (`keras.*`, not `tensorflow.keras.*`)."""
    if module == "keras" or (module.startswith("keras.") and not module.startswith("keras._tf_keras")):
        _files_of_standalone_keras.add(_file(frame))


def uses_standalone_keras(frame: FrameType) -> bool:
    """Say whether the code was written for standalone Keras 2, whose defaults are known to be those of 2.2.4.

    `tensorflow.keras` changed its defaults between TensorFlow 1 and 2, and code does not say which it was written for.
    """
    return _file(frame) in _files_of_standalone_keras


def anybody_uses_standalone_keras() -> bool:
    """Say whether some file of the user's was written for standalone Keras 2."""
    return bool(_files_of_standalone_keras)


def choose_era(era: Era | None) -> None:
    """Give every file of the user's one era (`--era`); None lets each file say its own."""
    global _chosen_era
    _chosen_era = era


def era_of(frame: FrameType) -> Era:
    """Return the era of a frame of the user's: that of its file, else that of the first file that has one.

    A file that imports neither Keras (a helper that is handed a model) is of the era of the files beside it.
    """
    if _chosen_era is not None:
        return _chosen_era
    file = _file(frame)
    if file not in _verdicts:
        _verdicts[file] = era_of_source("".join(linecache.getlines(file, frame.f_globals)))
    own = _verdicts[file]
    return own.era if own is not None else era_of_process()


def era_of_process() -> Era:
    """Return the era where no file can be asked: the chosen one, else the first that a file of the user's has."""
    if _chosen_era is not None:
        return _chosen_era
    if _files_of_standalone_keras:
        return Era.KERAS_2_2_4
    return next((verdict.era for verdict in _verdicts.values() if verdict is not None), Era.TODAY)


def _file(frame: FrameType) -> str:
    return frame.f_globals.get("__file__") or frame.f_code.co_filename


def _kind(frame: FrameType) -> str:
    key = (_file(frame), frame.f_globals.get("__name__") or "")
    kind = _kinds.get(key)
    if kind is None:
        kind = _kinds[key] = _kind_of(*key)
    return kind


def _kind_of(file: str, module: str) -> str:
    if module.partition(".")[0] in _also:
        return _USER
    if file.startswith("<frozen "):
        return _ON_BEHALF
    if file.startswith("<") and module.partition(".")[0] in ("keras", "tensorflow"):
        return _INSTALLED
    path = os.path.abspath(file)
    if path == _LAYER_TESTS:
        return _ON_BEHALF
    if path.startswith(_HERE) or any(folder in path for folder in _PACKAGES):
        return _INSTALLED
    if path.startswith(_installed_roots()):
        return _INSTALLED
    if path.startswith(_standard_library_roots()):
        return _ON_BEHALF
    return _USER


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
