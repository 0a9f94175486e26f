"""What pandas did where code said nothing, for the user's code of an old era: the types of columns.

Since pandas 2 `get_dummies` makes columns of bools, which `describe` leaves out, and pandas 3 keeps text in columns of
a type of its own, which code that asks for `object` passes over: a script trains on other numbers, or on NaN.
"""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

from parallel_compat.names.eras import Era
from parallel_compat.run import callers, usage

if TYPE_CHECKING:
    from parallel_compat.backend.patches import Patches

_TEXT = "future.infer_string"  # https://pandas.pydata.org/docs/user_guide/migration-3-strings.html
_text_was: bool | None = None


def put_on(patches: Patches) -> None:
    """Have `get_dummies` make numbers and text be objects, for code of an old era.

    Args:
        patches: where `get_dummies` is noted; `put_back` undoes the option, which is pandas's own for the process.
    """
    pandas = sys.modules["pandas"]
    patches.wrap(pandas, "get_dummies", _get_dummies, why="columns of numbers, as before pandas 2", read_in="pandas 3")
    if callers.era_of_caller() is not Era.TODAY:
        _keep_text_as_objects()


def put_back() -> None:
    """Undo the option that `put_on` set."""
    global _text_was
    if _text_was is not None:
        _set_text(_text_was)
        _text_was = None


def _keep_text_as_objects() -> None:
    global _text_was
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pandas 3 says that it is to go
            was = sys.modules["pandas"].get_option(_TEXT)
    except KeyError:  # pandas.errors.OptionError: a pandas without it
        return
    if was:
        _set_text(False)
        _text_was = True


def _set_text(value: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sys.modules["pandas"].set_option(_TEXT, value)


def _get_dummies(original: Any) -> Any:
    def get_dummies(*arguments: Any, **options: Any) -> Any:
        frame = callers.user_frame(sys._getframe(1))
        asked = len(arguments) > 7 or options.get("dtype") is not None
        if asked or frame is None or callers.era_of(frame) is Era.TODAY:
            return original(*arguments, **options)
        usage.record("pandas.get_dummies", 'dtype="uint8", its default until pandas 1', frame)
        return original(*arguments, **{**options, "dtype": "uint8"})

    return get_dummies
