"""Worker processes for generators, where the script allows them.

Keras 2 forked its workers. With TensorFlow running that can hang, so today's are started afresh and import the main
script: without `if __name__ == "__main__":` each of them would run it again.
"""

from __future__ import annotations

import ast
import inspect
import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from parallel_compat.legacy import asker, usage

if TYPE_CHECKING:
    from collections.abc import Callable

_NAMES = ("use_multiprocessing", "pickle_safe")


def in_threads_where_needed(what: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `fit` or `fit_generator` with threads in place of processes that would run the script.

    Args:
        what: the method, for the report.
        arguments: by name.
    """
    asked = [name for name in _NAMES if arguments.get(name)]
    if not asked or _is_guarded(getattr(sys.modules["__main__"], "__file__", None)):
        return arguments
    frame = sys._getframe(1)
    while frame.f_back is not None and asker.user_frame(frame) is None:
        frame = frame.f_back
    became = 'threads: the main script has no `if __name__ == "__main__":`, so that each process would run it again'
    usage.record(f"{what}({asked[0]}=True)", became, frame)
    return {**arguments, **dict.fromkeys(asked, False)}


def generator_method(of: Callable[..., Any], run: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Return `fit_generator` or a relative of it, with threads where processes would run the script again.

    Args:
        of: says which arguments the method takes; the model is the first.
        run: is called with them by name; `of` if None.
    """
    signature = inspect.signature(of)

    def method(model: Any, *given: Any, **keywords: Any) -> Any:
        bound = dict(signature.bind(model, *given, **keywords).arguments)
        keras_1 = bound.pop("keras_1", {})
        return (run or of)(**in_threads_where_needed(f"Model.{of.__name__}", {**bound, **keras_1}))

    return method


def _is_guarded(path: str | None) -> bool:
    return path is None or not path.endswith(".py") or _has_guard(os.path.abspath(path))


@cache
def _has_guard(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return True
    tests = (node.test for node in tree.body if isinstance(node, ast.If))
    return any(isinstance(part, ast.Name) and part.id == "__name__" for test in tests for part in ast.walk(test))
