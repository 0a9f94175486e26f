"""Worker processes for generators, where the script allows them.

Keras 2 forked its workers. With TensorFlow running that can hang, so today's are started afresh: they import the main
script, which without `if __name__ == "__main__":` each of them would run again, and are sent the Sequence pickled.
Where either cannot be, threads draw the same batches.
"""

from __future__ import annotations

import ast
import inspect
import pickle
import sys
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

from parallel_compat.batches.sources import is_generator, is_sequence
from parallel_compat.names.eras import Era
from parallel_compat.names.generator_arguments import IN_FRONT, RENAMED
from parallel_compat.run import callers, usage
from parallel_compat.warning_category import ParallelCompatWarning

if TYPE_CHECKING:
    from collections.abc import Callable

_NAMES = ("use_multiprocessing", *(old for old, new in RENAMED.items() if new == "use_multiprocessing"))
_COUNTS = [old for old, new in RENAMED.items() if new == "workers"]


def in_threads_where_needed(what: str, arguments: dict[str, Any], source: Any) -> dict[str, Any]:
    """Return the arguments of `fit` or `fit_generator` with threads in place of processes that cannot be.

    Args:
        what: the method, for the report.
        arguments: by name.
        source: what is drawn from.
    """
    asked = [name for name in _NAMES if arguments.get(name)]
    if not asked:
        return arguments
    instead = dict.fromkeys(asked, False)
    if is_generator(source):
        warnings.warn(
            f"`{asked[0]}=True` changes nothing for a generator, which one thread draws from: each of several "
            "processes would draw all of it. Consider a `keras.utils.Sequence`.",
            ParallelCompatWarning,
            stacklevel=5,
        )
    if not _is_guarded(getattr(sys.modules["__main__"], "__file__", None)):
        became = 'threads: the main script has no `if __name__ == "__main__":`, so that each process would run it again'
    elif is_sequence(source) and (reason := _unpicklable(source)):
        # One thread: what cannot be copied (a generator, an open file) was each process's own, and is shared now.
        count = next((name for name in _COUNTS if name in arguments), "workers")
        instead[count] = min(1, arguments.get(count, 1))
        became = f"one thread: {type(source).__name__} cannot be sent to a process ({reason})"
    else:
        return arguments
    frame = sys._getframe(1)
    while frame.f_back is not None and callers.user_frame(frame) is None:
        frame = frame.f_back
    usage.record(f"{what}({asked[0]}=True)", became, frame)
    return {**arguments, **instead}


class _Nowhere:
    """A file that keeps nothing: a Sequence may hold gigabytes."""

    def write(self, data: Any) -> int:
        return memoryview(data).nbytes


def _unpicklable(source: Any) -> str:
    try:
        pickle.dump(source, _Nowhere(), protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def generator_method(of: Callable[..., Any], run: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Return `fit_generator` or a relative of it, with threads where processes would run the script again.

    Args:
        of: says which arguments the method takes; the model is the first.
        run: is called with them by name; `of` if None.
    """
    of_keras_2_2 = inspect.signature(of)
    later = _one_in_front(of_keras_2_2, *IN_FRONT[of.__name__])

    def method(model: Any, *given: Any, **keywords: Any) -> Any:
        signature = of_keras_2_2 if callers.era_of_caller() is Era.KERAS_2_2_4 else later
        bound = dict(signature.bind(model, *given, **keywords).arguments)
        keras_1 = bound.pop("keras_1", {})
        arguments = {**bound, **keras_1}
        return (run or of)(**in_threads_where_needed(f"Model.{of.__name__}", arguments, arguments.get("generator")))

    return method


def _one_in_front(signature: inspect.Signature, name: str, of: str) -> inspect.Signature:
    """Return a signature with the parameter `name` in front of the parameter `of`."""
    parameters = [parameter for key, parameter in signature.parameters.items() if key != name]
    place = [parameter.name for parameter in parameters].index(of)
    return signature.replace(parameters=[*parameters[:place], signature.parameters[name], *parameters[place:]])


def _is_guarded(path: str | None) -> bool:
    return path is None or not path.endswith(".py") or _has_guard(path)


@cache
def _has_guard(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return True
    tests = (node.test for node in tree.body if isinstance(node, ast.If))
    return any(isinstance(part, ast.Name) and part.id == "__name__" for test in tests for part in ast.walk(test))
