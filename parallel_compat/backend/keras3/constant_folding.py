"""Functions that TensorFlow runs without moving constants about. Read in TensorFlow 2.21.

TensorFlow's graph optimizer computes `1 - p + 1e-7` as `1.0000001 - p`, which in single precision is another number
where `p` is near 1 (`ConstantPushDown` in `constant_folding.cc`): the logarithm of it is -15.94, and that of 1e-7 is
-16.12. It does so where nothing else needs `1 - p`. The gradients of TensorFlow 1 asked each tensor for its shape, so
that in training nothing was moved.
"""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.core.protobuf import rewriter_config_pb2
from tensorflow.python.eager import context as tensorflow_context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import keras

_ON_MODEL = "_parallel_compat_trains_unfolded"


def train_unfolded(model: keras.Model) -> None:
    """Let the function that trains a model, which has just been made, compute in the order in which it is written.

    Args:
        model: a model with a `train_function`.
    """
    vars(model)[_ON_MODEL] = True
    model.train_function = unfolded(model.train_function)


def trains_unfolded(model: keras.Model) -> bool:
    """Say whether `train_unfolded` was asked of a model."""
    return _ON_MODEL in vars(model)


def unfolded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what calls a function of TensorFlow, computing in the order in which it is written.

    Args:
        function: a `tf.function`, or one that calls one.
    """

    def call(*given: Any, **keywords: Any) -> Any:
        with _without_folding():
            return function(*given, **keywords)

    return call


@contextlib.contextmanager
def _without_folding() -> Iterator[None]:
    context = tensorflow_context.context()
    before = context.function_call_options
    context.function_call_options = _changed(before.config_proto_serialized, before.executor_type)
    try:
        yield
    finally:
        context.function_call_options = before


@functools.lru_cache(16)
def _changed(config: bytes, executor_type: str | None) -> Any:
    changed = tf.compat.v1.ConfigProto.FromString(config)
    changed.graph_options.rewrite_options.constant_folding = rewriter_config_pb2.RewriterConfig.OFF
    return tensorflow_context.FunctionCallOptions(executor_type=executor_type, config_proto=changed)
