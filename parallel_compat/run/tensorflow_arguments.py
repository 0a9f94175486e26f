"""Functions of TensorFlow that changed under the same name: their arguments (`tf.reduce_max(x, keep_dims=True)`), or,
for files of TensorFlow 1, what they give (`tf.where`).

`tensorflow.compat.v1` has each as it was. A name that is no argument any more says which one is meant; the place of an
argument does so in files of TensorFlow 1 only, where `tf.nn.dropout(x, 0.8)` kept 80 % and not 20 %.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from parallel_compat.names import lookup, run_only, table
from parallel_compat.run import callers, usage

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

# Few calls pass more arguments than that without their names.
_FEW = 3


def function(path: str, caller: FrameType, frame: FrameType) -> Callable[..., Any] | None:
    """Return the function that takes the arguments of then as well, and gives what it gave; None where today's does.

    Args:
        path: the function as users spell it, `tensorflow.reduce_max`.
        caller: the frame that asks for it.
        frame: the frame of the user's on whose behalf that is.
    """
    changed = run_only.CHANGED_SINCE_GRAPHS.get(path)
    if changed is not None and callers.era_of(frame).has_graphs:
        of_then: Callable[..., Any] = lookup.fetch(changed)
        return of_then
    signature = table.tensorflow_1_signatures().get(path)
    if signature is None:
        return None
    agreeing, gone = signature
    said = sorted(_names_of_arguments(caller.f_code).intersection(gone))
    by_place = agreeing < _FEW and callers.era_of(frame).has_graphs
    if not said and not by_place:
        return None
    found = _of_both(path, by_place)
    if found is not None and said:
        usage.record(f"{path}({said[0]}=)", _old(path), frame)
    return found


@functools.lru_cache(maxsize=1024)
def _names_of_arguments(code: CodeType) -> frozenset[str]:
    """Return the names by which the code passes arguments: they are constants of it, in tuples."""
    tuples = [each for each in code.co_consts if isinstance(each, tuple)]
    return frozenset(name for each in tuples for name in each if isinstance(name, str))


@functools.lru_cache(maxsize=1024)
def passes(code: CodeType, argument: str) -> bool:
    """Say whether the code, or a function in it, passes an argument by this name."""
    inner = [each for each in code.co_consts if isinstance(each, type(code))]
    return argument in _names_of_arguments(code) or any(passes(each, argument) for each in inner)


def _old(path: str) -> str:
    return f"tensorflow.compat.v1{path[len('tensorflow') :]}"


@functools.cache
def _of_both(path: str, by_place: bool) -> Callable[..., Any] | None:
    agreeing, gone = table.tensorflow_1_signatures()[path]
    today, then = lookup.fetch(path), lookup.fetch(_old(path))
    if isinstance(today, type):
        return None

    @functools.wraps(today)
    def either(*arguments: Any, **keywords: Any) -> Any:
        is_old = any(name in keywords for name in gone) or (by_place and len(arguments) > agreeing)
        return (then if is_old else today)(*arguments, **keywords)

    return either


__all__ = ["function", "passes"]
