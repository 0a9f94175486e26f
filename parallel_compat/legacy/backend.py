"""The functions of `keras.backend` as Keras 2.2.4 had them (`K.sum`, `K.int_shape`, ...), on today's TensorFlow.

Most are TensorFlow's own `tensorflow.keras.backend`, which still computes them as before. On symbolic tensors
(`keras.KerasTensor`), where those fail, they become an operation of the model. What read or wrote a session is
eager: `get_value` reads, `set_value` assigns.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as _today

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import call_context
from parallel_compat.legacy import ctc, step_graph
from parallel_compat.legacy.activations import hard_sigmoid  # noqa: F401
from parallel_compat.legacy.device_lib import get_available_gpus as _get_available_gpus  # noqa: F401
from parallel_compat.legacy.functions import (  # noqa: F401
    Function,
    Update,
    as_numpy,
    function,
    is_placeholder,
    moving_average_update,
    update,
    update_add,
    update_sub,
)
from parallel_compat.legacy.learning_phase import choose_symbolically, learning_phase, set_learning_phase  # noqa: F401
from parallel_compat.legacy.learning_phase import forget as forget_phase
from parallel_compat.legacy.op_layers import layer_of
from parallel_compat.legacy.session import get_session, set_session  # noqa: F401
from parallel_compat.legacy.symbolic_gradients import gradients  # noqa: F401
from parallel_compat.legacy.utils import normalize_data_format
from parallel_compat.names.backend_functions import AS_OPERATIONS, UNCHANGED

# Functions of `keras.backend` that ask a tensor for what a layer's weight does not have (`x.dtype.base_dtype`).
_OF_TENSORS = frozenset(("mean", "stack", "std", "var"))


# Those of a tensor and another, which TensorFlow makes a tensor of the first one's type of.
_OF_TWO = frozenset(
    ("clip", "equal", "greater", "greater_equal", "less", "less_equal", "maximum", "minimum", "not_equal")
)


# Those whose sizes may be tensors.
_WITH_SIZES = frozenset(("reshape", "tile"))


def _value_of_weight(x: Any) -> Any:
    return tf.convert_to_tensor(x) if isinstance(x, keras.Variable) else x


def _beside(value: Any, tensor: Any) -> Any:
    """Return an array or number of numpy in the type of the tensor next to it, as TensorFlow has it.

    Keras 3 computes `tensor * np.float64(2)` in float64.
    """
    if not isinstance(value, (np.ndarray, np.generic)):
        return value
    dtype = keras.backend.standardize_dtype(tensor.dtype)
    kinds = "biuf" if keras.backend.is_float_dtype(dtype) else "iu" if keras.backend.is_int_dtype(dtype) else ""
    return value.astype(dtype) if value.dtype.kind in kinds else value


def _softmax(x: Any, axis: int = -1) -> Any:
    """`K.softmax`, which took vectors, weights and arrays as well."""
    x = tf.convert_to_tensor(x)
    return tf.nn.softmax(x, axis) if x.shape.rank == 1 else _today.softmax(x, axis)


def _arange(start: Any, stop: Any = None, step: Any = 1, dtype: str = "int32") -> Any:
    """`K.arange`, which took the number of a tensor alone, too: `K.arange(K.shape(x)[1])`."""
    if stop is None and tf.is_tensor(start):
        start, stop = 0, tf.maximum(start, 0)
    return _today.arange(start, stop, step, dtype)


def _bias_add(x: Any, bias: Any, data_format: str | None = None) -> Any:
    """`K.bias_add`, which needed no `data_format` where there are samples and channels alone."""
    return _today.bias_add(x, bias, "channels_last" if len(x.shape) == 2 else data_format)


_TAKING_MORE: dict[str, Callable[..., Any]] = {"softmax": _softmax, "arange": _arange, "bias_add": _bias_add}


@functools.cache
def _unchanged(name: str) -> Any:
    if isinstance(getattr(_today, name), type):
        return getattr(_today, name)
    plain: Callable[..., Any] = _TAKING_MORE.get(name, getattr(_today, name))
    signature = inspect.signature(plain)

    @functools.wraps(plain)
    def on_any(*arguments: Any, **keywords: Any) -> Any:
        if not _any_symbolic(arguments, keywords):
            if name in _OF_TENSORS:
                arguments, keywords = keras.tree.map_structure(_value_of_weight, (arguments, keywords))
            return plain(*arguments, **keywords)
        if name in AS_OPERATIONS:
            # The operation of that name has other names of arguments, and other defaults (`axis`), in the same order.
            bound = signature.bind(*arguments, **keywords)
            bound.apply_defaults()
            of_tensors, *others = bound.args
            mixed = isinstance(of_tensors, (list, tuple)) and not all(map(_any_symbolic, of_tensors))
            if not mixed and not (name in _WITH_SIZES and _any_symbolic(others)):
                if name in _OF_TWO and isinstance(of_tensors, keras.KerasTensor):
                    others = [_beside(each, of_tensors) for each in others]
                return getattr(keras.ops, name)(of_tensors, *others)
        return layer_of(plain, arguments, keywords, f"keras.backend.{name}")

    return on_any


def _any_symbolic(*structures: Any) -> bool:
    return any(isinstance(leaf, keras.KerasTensor) for leaf in keras.tree.flatten(structures))


def __getattr__(name: str) -> Any:
    if name not in UNCHANGED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _unchanged(name)  # not kept in this module, whose own code means Python's `any`, `sum` and `max`


def __dir__() -> list[str]:
    return sorted({*globals(), *UNCHANGED})


# --- shapes and kinds ---------------------------------------------------------------------------------------------


def int_shape(x: Any) -> tuple[int | None, ...] | None:
    """Return the static shape of a tensor or variable as a tuple, None where a dimension is not known."""
    shape = getattr(x, "shape", None)
    if shape is None:
        return None
    try:
        return tuple(shape) if isinstance(shape, tuple) else tuple(shape.as_list())
    except ValueError:  # the rank is not known
        return None


get_variable_shape = int_shape


def shape(x: Any) -> Any:
    """Return the shape of a tensor, as a tensor."""
    if isinstance(x, keras.KerasTensor):
        return layer_of(tf.shape, (x,), {}, "tensorflow.shape")
    return tf.shape(_tensor(x))


def size(x: Any, name: str | None = None) -> Any:
    """Return the number of elements, as a tensor."""
    return layer_of(tf.size, (x,), {}, "tensorflow.size") if isinstance(x, keras.KerasTensor) else tf.size(_tensor(x))


def ndim(x: Any) -> int | None:
    """Return the number of axes."""
    known = int_shape(x)
    return None if known is None else len(known)


def dtype(x: Any) -> str:
    """Return the dtype's name, such as `"float32"`; of a number that was a variable (`optimizer.decay`), its type's."""
    if isinstance(x, (int, float)):
        return str(keras.config.floatx()) if isinstance(x, float) else "int32"
    return str(keras.backend.standardize_dtype(x.dtype))


def count_params(x: Any) -> int:
    """Return the number of scalars in a variable."""
    return int(np.prod([size or 0 for size in int_shape(x) or ()]))


def is_tensor(x: Any) -> bool:
    """Return whether `x` is a tensor or a variable, symbolic ones included."""
    return tf.is_tensor(x) or isinstance(x, (keras.KerasTensor, keras.Variable))


def is_variable(x: Any) -> bool:
    """Return whether `x` is a variable: a weight, or one of TensorFlow's."""
    return isinstance(x, (tf.Variable, keras.Variable))


def is_keras_tensor(x: Any) -> bool:
    """Return whether a layer or `Input` made the tensor; a variable or a number's tensor is not of Keras.

    Raises:
        ValueError: it is no tensor.
    """
    if not is_tensor(x) and not isinstance(x, tf.SparseTensor):
        raise ValueError(f"Expected a tensor or a variable. Received: {type(x).__name__} {x!r}")
    return isinstance(x, keras.KerasTensor)


def identity(x: Any, name: str | None = None) -> Any:
    """Return a tensor with the same content."""
    if isinstance(x, keras.KerasTensor):  # `keras.ops.identity` is a matrix
        return layer_of(tf.identity, (x,), {}, "tensorflow.identity")
    return tf.identity(_tensor(x), name)


def variable(value: Any, dtype: Any = None, name: str | None = None, constraint: Any = None) -> Any:
    """Return a variable; in a loss or a layer's `call`, which are traced once for many batches, a tensor."""
    make = functools.partial(_unchanged("variable"), value, dtype=dtype, name=name, constraint=constraint)
    if step_graph.is_built():
        return step_graph.variable(make)
    if _is_traced():
        return tf.convert_to_tensor(value, dtype or keras.backend.floatx())
    return make()


def _is_traced() -> bool:
    """Whether a loss or a `call` is traced, and no layer is being built, whose variables stay."""
    return not tf.executing_eagerly() and not keras3.layers.layers_being_built()


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Return a variable of zeros; in a loss or a layer, or of a shape that is not known yet, a tensor."""
    return _filled("zeros", shape, dtype, name)


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Return a variable of ones; in a loss or a layer, or of a shape that is not known yet, a tensor."""
    return _filled("ones", shape, dtype, name)


def eye(size: int, dtype: Any = None, name: str | None = None) -> Any:
    """Return a variable of an identity matrix; in a loss or a layer, a tensor."""
    return variable(tf.eye(size, dtype=dtype or keras.backend.floatx()), dtype, name)


def _filled(kind: str, shape: Any, dtype: Any, name: str | None) -> Any:
    if _any_symbolic(shape):
        return layer_of(getattr(tf, kind), (shape, dtype or keras.backend.floatx()), {}, f"tensorflow.{kind}")
    if step_graph.is_built():
        return step_graph.variable(functools.partial(_unchanged(kind), shape, dtype=dtype, name=name))
    if not tf.executing_eagerly():
        return getattr(tf, kind)(shape, dtype or keras.backend.floatx())
    return _unchanged(kind)(shape, dtype=dtype, name=name)


def relu(x: Any, alpha: Any = 0.0, max_value: Any = None, threshold: Any = 0.0) -> Any:
    """Return the rectified `x`; `alpha`, `max_value` and `threshold` may be tensors, one number for each unit."""
    if not any(is_tensor(each) for each in (alpha, max_value, threshold)):
        return _unchanged("relu")(x, alpha=alpha, max_value=max_value, threshold=threshold)
    over = x * keras.ops.cast(keras.ops.greater(x, threshold), x.dtype)
    if max_value is not None:
        over = keras.ops.minimum(keras.ops.maximum(over, 0.0), max_value)
    return over - alpha * keras.ops.relu(threshold - x)


# --- values -------------------------------------------------------------------------------------------------------


def get_value(x: Any) -> Any:
    """Return the value of a variable or tensor as a numpy array, or as a number of numpy if it has no axes.

    A number, which `lr *= 2` gives another of, where an array without axes would change for all who hold it.
    """
    if isinstance(x, keras.KerasTensor):
        raise TypeError(
            "Expected a variable or an eager tensor, which have a value. Received: a symbolic tensor. "
            "Call a `keras.Model(inputs, tensor)` on data instead."
        )
    if isinstance(x, call_context.LearningPhase):
        return np.False_  # what the flag was where nothing fed it
    if isinstance(x, (keras.Variable, tf.Variable)):
        with tf.init_scope():  # in a step that is traced: what it has now, as where a graph was made
            return as_numpy(x)
    if step_graph.has(x):
        return as_numpy(step_graph.value_of(x))
    return as_numpy(x) if tf.is_tensor(x) else x


def eval(x: Any) -> Any:
    """Return the value of a variable or tensor as a numpy array."""
    return get_value(tf.sparse.to_dense(x) if isinstance(x, tf.SparseTensor) else x)


def set_value(x: Any, value: Any) -> None:
    """Assign to a variable (`K.set_value(model.optimizer.lr, 1e-4)`)."""
    if not hasattr(x, "assign"):
        raise TypeError(
            f"Expected a variable to assign to. Received: {type(x).__name__} {x!r}. An optimizer whose learning rate "
            "is a schedule has no variable for it."
        )
    x.assign(np.asarray(value, dtype=dtype(x)))


def batch_get_value(ops: Sequence[Any]) -> list[Any]:
    """Return the values of several variables."""
    return [get_value(x) for x in ops]


def batch_set_value(tuples: Sequence[tuple[Any, Any]]) -> None:
    """Assign to several variables, given as pairs (variable, value)."""
    for x, value in tuples:
        set_value(x, value)


def print_tensor(x: Any, message: str = "") -> Any:
    """Print a tensor's values when it is computed, and return it."""
    tf.print(message, x)
    return x


def _tensor_or_symbol(x: Any) -> Any:
    return x if isinstance(x, keras.KerasTensor) else _tensor(x)


def _tensor(x: Any) -> Any:
    return keras.ops.convert_to_tensor(x)


def to_tensor(x: Any, dtype: Any) -> Any:
    """Turn a number, an array or a variable into a tensor of that dtype (the old `_to_tensor`)."""
    if isinstance(x, keras.KerasTensor):
        return keras.ops.cast(x, str(keras.backend.standardize_dtype(dtype)))
    return tf.convert_to_tensor(_tensor(x) if isinstance(x, keras.Variable) else x, dtype=dtype)


_to_tensor = to_tensor


# --- computations that went ---------------------------------------------------------------------------------------


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Compute log(sum(exp(x))) in a stable way."""
    return keras.ops.logsumexp(x, axis=axis, keepdims=keepdims)


def slice(x: Any, start: Any, size: Any) -> Any:
    """Return `x[start[0] : start[0] + size[0], ...]`."""
    return keras.ops.slice(x, start, size) if isinstance(x, keras.KerasTensor) else tf.slice(_tensor(x), start, size)


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    """Compute the crossentropy of probabilities clipped to [epsilon, 1 - epsilon], or of logits, element by element.

    TensorFlow's own `tensorflow.keras.backend` adds epsilon once more, which costs 4 % of the loss of a sure mistake.
    """
    return keras.ops.binary_crossentropy(_tensor_or_symbol(target), _tensor_or_symbol(output), from_logits)


def categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Any:
    """Compute the crossentropy of the labels of each sample with probabilities, or with logits."""
    target, output = _tensor_or_symbol(target), _tensor_or_symbol(output)
    return keras.ops.categorical_crossentropy(target, output, from_logits, axis)


def sparse_categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Any:
    """Compute the crossentropy of each label with probabilities, or with logits."""
    target, output = _tensor_or_symbol(target), _tensor_or_symbol(output)
    return keras.ops.sparse_categorical_crossentropy(target, output, from_logits, axis)


def switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    """Choose between two tensors: by a number the whole, by a tensor with fewer axes along the first axes.

    TensorFlow's own `tensorflow.keras.backend` compares a vector with the last axis instead.

    Args:
        condition: a number, or a tensor whose shape the other shapes begin with.
        then_expression: a tensor, or a function that returns one.
        else_expression: a tensor of the same shape, or a function that returns one.

    Raises:
        ValueError: if the condition has more axes than what it chooses from.
    """
    if isinstance(condition, bool | int | float):  # the learning phase, while a layer is called
        condition = tf.constant(bool(condition))
    axes = ndim(condition) or 0
    if not axes and not isinstance(condition, keras.KerasTensor):
        return _unchanged("switch")(condition, then_expression, else_expression)
    chosen, other = (each() if callable(each) else each for each in (then_expression, else_expression))
    more = len(getattr(chosen, "shape", ())) - axes
    if more < 0:
        raise ValueError(
            f"Expected a condition of at most {len(chosen.shape)} axes, as many as `then_expression` has. Received: "
            f"condition of shape {int_shape(condition)}"
        )
    condition = keras.ops.cast(condition, "bool")
    for _ in range(more):
        condition = keras.ops.expand_dims(condition, -1)
    return keras.ops.where(condition, chosen, other)


def in_train_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """Return `x` while the model trains and `alt` otherwise; either may be a function without arguments."""
    if training is None:
        training = learning_phase()
    if isinstance(training, call_context.LearningPhase):  # outside of every layer's call
        x, alt = (each() if callable(each) else each for each in (x, alt))
        symbolic = next((each for each in (x, alt) if isinstance(each, keras.KerasTensor)), None)
        return _as_tensor_like(alt, x) if symbolic is None else choose_symbolically(x, alt, symbolic)
    if isinstance(training, (bool, int, np.integer)):
        chosen, other = (x, alt) if training else (alt, x)
        return _as_tensor_like(chosen() if callable(chosen) else chosen, other)
    return switch(training, x, alt)


def _as_tensor_like(chosen: Any, other: Any) -> Any:
    """Return a number as a tensor where the other one is a tensor, and a variable's, for a graph's was made of both."""
    if isinstance(chosen, (keras.Variable, tf.Variable)) and not tf.executing_eagerly():
        return tf.convert_to_tensor(chosen)
    is_number = isinstance(chosen, (int, float)) and tf.is_tensor(other)
    return tf.convert_to_tensor(chosen, other.dtype) if is_number else chosen


def in_test_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """Return `x` while the model predicts and `alt` while it trains."""
    return in_train_phase(alt, x, training=training)


def batch_dot(x: Any, y: Any, axes: Any = None) -> Any:
    """Multiply the matrices in the last two axes of `x` and `y`; all axes before them are those of the batch.

    That is Keras 2.2.4's. Since 2.3 only the first axis is the batch's, which differs where `x` and `y` have 4 axes.

    >>> batch_dot(np.ones((2, 5, 3, 4)), np.ones((2, 5, 4, 6))).shape.as_list()
    [2, 5, 3, 6]

    Args:
        x: a tensor of 2 or more axes.
        y: a tensor of 2 or more axes; the one with fewer gets axes of size 1 at its end, which go again.
        axes: the axis of `x` and that of `y` that are summed over, or one for both; the last and the last but one
            if None.
    """
    x, y = _tensor_or_symbol(x), _tensor_or_symbol(y)
    x_ndim, y_ndim = len(x.shape), len(y.shape)
    pair = (x_ndim - 1, y_ndim - 2) if axes is None else (axes, axes) if isinstance(axes, int) else tuple(axes)
    if len(pair) != 2 or not (isinstance(pair[0], int) and isinstance(pair[1], int)):
        raise ValueError(f"Expected `axes` to be None, an integer or two integers. Received: axes={axes!r}")
    x_axis, y_axis = pair[0] % x_ndim, pair[1] % y_ndim
    ops, more = keras.ops, x_ndim - y_ndim
    for _ in range(more):
        y = ops.expand_dims(y, -1)
    for _ in range(-more):
        x = ops.expand_dims(x, -1)
    last = len(x.shape) - 1
    if last == 1:
        out = ops.sum((x if x_axis == y_axis else ops.transpose(x)) * y, axis=y_axis)
    else:
        out = ops.matmul(
            x if x_axis == last else ops.swapaxes(x, -1, -2), ops.swapaxes(y, -1, -2) if y_axis == last else y
        )
    first = x_ndim + y_ndim - 3 if more > 0 else x_ndim - 1
    if more:
        out = ops.squeeze(out, axis=tuple(range(first, first + (more if more > 0 else -more))))
    return ops.expand_dims(out, 1) if len(out.shape) == 1 else out


def ctc_decode(
    y_pred: Any, input_length: Any, greedy: bool = True, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[Any], Any]:
    """Decode what a network says at each step: see `legacy.ctc.ctc_decode`."""
    given: dict[str, Any] = {"greedy": greedy, "beam_width": beam_width, "top_paths": top_paths}
    if not _any_symbolic(y_pred, input_length):
        return ctc.ctc_decode(y_pred, input_length, **given)
    found: tuple[list[Any], Any] = layer_of(ctc.ctc_decode, (y_pred, input_length), given, "keras.backend.ctc_decode")
    return found


def random_binomial(shape: Any, p: float = 0.0, dtype: Any = None, seed: int | None = None) -> Any:
    """Return a tensor of ones with probability `p`, else zeros."""
    dtype = dtype or keras.backend.floatx()
    seed = np.random.randint(10_000_000) if seed is None else seed
    return tf.cast(tf.random.uniform(shape, dtype=dtype, seed=seed) <= p, dtype)


def separable_conv1d(
    x: Any,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: int = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: int = 1,
) -> Any:
    """Convolve in one dimension, first by channel, then across channels."""
    return keras.ops.separable_conv(
        x,
        depthwise_kernel,
        pointwise_kernel,
        strides=strides,
        padding=padding,
        data_format=normalize_data_format(data_format),
        dilation_rate=dilation_rate,
    )


def conv3d_transpose(
    x: Any,
    kernel: Any,
    output_shape: Any,
    strides: tuple[int, int, int] = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
) -> Any:
    """Convolve transposed in three dimensions."""
    channels_last = normalize_data_format(data_format) == "channels_last"
    if not channels_last:
        x = tf.transpose(x, (0, 2, 3, 4, 1))
        output_shape = tuple(output_shape[i] for i in (0, 2, 3, 4, 1))
    if not tf.is_tensor(output_shape) and output_shape[0] is None:
        output_shape = (tf.shape(x)[0], *output_shape[1:])
    x = tf.nn.conv3d_transpose(x, kernel, tf.stack(output_shape), (1, *strides, 1), padding.upper())
    return x if channels_last else tf.transpose(x, (0, 4, 1, 2, 3))


def normalize_batch_in_training(
    x: Any, gamma: Any, beta: Any, reduction_axes: Sequence[int], epsilon: float = 1e-3
) -> tuple[Any, Any, Any]:
    """Normalise a batch by its own mean and variance: (normalised, mean, variance)."""
    x = _tensor(x)
    axes = list(reduction_axes)
    mean, variance = tf.nn.moments(x, axes)
    wide = [1 if axis in axes else -1 if x.shape[axis] is None else x.shape[axis] for axis in range(len(x.shape))]

    def spread(value: Any) -> Any:
        return None if value is None else tf.reshape(_tensor(value), wide)

    normed = tf.nn.batch_normalization(x, spread(mean), spread(variance), spread(beta), spread(gamma), epsilon)
    return normed, mean, variance


# --- the graph ----------------------------------------------------------------------------------------------------


def clear_session() -> None:
    """Forget Keras's global state, the learning phase included."""
    forget_phase()
    keras.utils.clear_session()


def manual_variable_initialization(value: bool) -> None:
    """Change nothing: variables have their values from the start, whoever would initialize them.

    Args:
        value: whether the script runs the initializers of variables itself.
    """


_BACKEND = "tensorflow"  # scripts compare it with "theano"


def symbolic(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function: `symbolic` let it build the graph, `eager` compute at once, in Keras 2.3 on TensorFlow 2."""
    return func


eager = symbolic


# --- names that only changed their home ---------------------------------------------------------------------------


def image_dim_ordering() -> str:
    """Return Keras 1's name of the data format: "tf" or "th"."""
    return "th" if keras.backend.image_data_format() == "channels_first" else "tf"


def set_image_dim_ordering(dim_ordering: str) -> None:
    """Set the data format by Keras 1's name: "tf" or "th"."""
    if dim_ordering not in ("tf", "th"):
        raise ValueError(f'Expected `dim_ordering` to be "tf" or "th". Received: dim_ordering={dim_ordering!r}')
    keras.backend.set_image_data_format("channels_first" if dim_ordering == "th" else "channels_last")


def reset_uids() -> None:
    """Forget the counters of layer names (part of `clear_session` today)."""
    keras.utils.clear_session()
