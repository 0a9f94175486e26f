"""Layers made of functions that were called on symbolic tensors, as `tf.keras` 2.x made them.

>>> import keras, tensorflow as tf
>>> import parallel_compat.legacy.symbolic_functions
>>> x = keras.Input((4, 3))
>>> y = tf.reduce_max(x, 2)
>>> keras.Model(x, y).layers[-1].get_config()["function"]
'tensorflow.math.reduce_max'

Any function of TensorFlow makes one, and any of the old backend. A model with such layers is saved as others are: the
layer's configuration names the function by its public path and holds the other arguments. Files are not to be trusted,
so only functions that compute tensors from tensors are looked up again (`_MODULES`, `_TOP_LEVEL`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as _backend

from parallel_compat.backend.keras3 import dispatch
from parallel_compat.legacy import ctc, sizes_of_shapes
from parallel_compat.names.backend_functions import PROVIDED, SINCE_KERAS_2_3, UNCHANGED

# Modules of which every function computes tensors from tensors, and touches no file, no device and no Python code.
_MODULES = frozenset({"bitwise", "image", "linalg", "math", "nn", "random", "signal", "sparse", "strings"})
# The others of `tf.` itself; what has a name in one of those modules as well is asked for by that name.
_TOP_LEVEL_NAMES = """
    argsort batch_to_space bitcast boolean_mask broadcast_dynamic_shape broadcast_to cast clip_by_global_norm
    clip_by_norm clip_by_value concat convert_to_tensor cumsum depth_to_space dynamic_partition dynamic_stitch
    edit_distance einsum ensure_shape expand_dims extract_volume_patches eye fill fingerprint gather gather_nd
    group histogram_fixed_width histogram_fixed_width_bins identity identity_n linspace meshgrid norm one_hot ones
    ones_like pad parallel_stack quantize_and_dequantize_v2 range rank realdiv repeat required_space_to_batch_paddings
    reshape reverse reverse_sequence roll saturate_cast scatter_nd searchsorted sequence_mask shape shape_n size slice
    sort space_to_batch space_to_batch_nd space_to_depth split squeeze stack stop_gradient strided_slice switch_case
    tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub tensor_scatter_nd_update
    tensordot tile transpose truncatediv truncatemod unique unique_with_counts unravel_index unstack where zeros
    zeros_like to_float to_double to_int32 to_int64 to_bfloat16 div sparse_to_dense add_n reverse_v2 matrix_band_part
"""
_TOP_LEVEL = frozenset(_TOP_LEVEL_NAMES.split())
_OPERATORS = "__operators__"
_BACKEND = "keras.backend"


class Place:
    """Stands in a layer's arguments for one of its input tensors."""

    def __init__(self, index: int) -> None:
        self.index = index


class _Call:
    """A function and its arguments, hidden from Keras, which would track the variables in them."""

    def __init__(self, function: Callable[..., Any], path: str | None, args: Any, kwargs: Any) -> None:
        self.function, self.path, self.args, self.kwargs = function, path, args, kwargs


@keras.saving.register_keras_serializable(package="parallel_compat")
class TensorFlowOpLayer(keras.layers.Layer):  # type: ignore[misc]  # Keras carries no types
    """A function on tensors as a layer.

    Args:
        function: its public path (`tensorflow.math.reduce_max`, `keras.backend.ctc_batch_cost`), or the function.
        args: its arguments, with a `Place` for each input tensor.
        kwargs: its keyword arguments, likewise.
        name: the layer's name.
    """

    def __init__(self, function: Any, args: Any = (), kwargs: Any = None, name: str | None = None, **of_layer: Any):
        path = function if isinstance(function, str) else None
        short = path.rpartition(".")[2] if path else getattr(function, "__name__", "function")
        of_layer.pop("dtype", None)
        super().__init__(name=name or _unique_name(short), autocast=False, **of_layer)
        self.made_of = _Call(resolve(path) if path else function, path, args, kwargs or {})
        self.supports_masking = True

    def build(self, input_shape: Any = None) -> None:
        """Do nothing: there are no weights."""
        self.built = True

    def call(self, inputs: Any) -> Any:
        of = self.made_of
        args, kwargs = _mapped(
            (of.args, of.kwargs), lambda leaf: inputs[leaf.index] if isinstance(leaf, Place) else leaf
        )
        return of.function(*args, **kwargs)

    def compute_output_spec(self, inputs: Any) -> Any:
        """Return the result's shape and type, with the sizes that TensorFlow reads off `tf.shape(x)` and the like."""
        if not any(sizes_of_shapes.holds_sizes(each) for each in inputs):
            return super().compute_output_spec(inputs)
        # Not both: each time that a random function is traced it may draw a seed.
        return sizes_of_shapes.output_spec(self, inputs)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> None:
        """A function's result has no mask."""
        return

    def get_config(self) -> dict[str, Any]:
        """Return the function's path and its arguments as plain data.

        Raises:
            NotImplementedError: the function or an argument of it is Python code or a variable.
        """
        of = self.made_of
        if of.path is None:
            raise NotImplementedError(
                f"Expected a public function of TensorFlow in a model that is saved or copied. Received: {of.function} "
                f"in the layer '{self.name}'. Put it into a Lambda layer, or save only the weights."
            )
        own = {"function": of.path, "args": encoded(list(of.args)), "kwargs": encoded(dict(of.kwargs))}
        return {**super().get_config(), **own}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> TensorFlowOpLayer:
        """Make the layer again; its function must be one of those that compute tensors from tensors."""
        kept = {key: value for key, value in config.items() if key in ("name", "trainable")}
        return cls(config["function"], tuple(decoded(config["args"])), decoded(config["kwargs"]), **kept)


def layer_of(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], path: str | None) -> Any:
    """Return the symbolic tensor that a function makes of others.

    Args:
        path: its public path, or None if it has none.
    """
    tensors: list[Any] = []

    def place(leaf: Any) -> Any:
        if not isinstance(leaf, keras.KerasTensor):
            return leaf
        index = next((i for i, tensor in enumerate(tensors) if tensor is leaf), len(tensors))
        if index == len(tensors):
            tensors.append(leaf)
        return Place(index)

    args, kwargs = _mapped((args, kwargs), place)
    layer = TensorFlowOpLayer(path or function, args, kwargs)
    return layer(tensors)


def on_symbolic_tensors(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Answer a TensorFlow function that was called on a symbolic tensor."""
    return layer_of(op, args, kwargs, path_of(op))


def path_of(op: Any) -> str | None:
    """Return the public path by which `resolve` finds a TensorFlow function, or None.

    >>> path_of(tf.reduce_max)
    'tensorflow.math.reduce_max'
    """
    for name in sorted(dispatch.api_names(op), key=lambda name: name.startswith("compat.v1.")):
        if _is_allowed(name) and dispatch.same_function(_found(name), op):
            return f"tensorflow.{name}"
    return None


def resolve(path: str) -> Callable[..., Any]:
    """Return the function of a public path, if it computes tensors from tensors.

    Args:
        path: `tensorflow.` or `keras.backend.` and names.

    Raises:
        ValueError: for any other path.
    """
    root, _, name = path.partition(".") if not path.startswith(_BACKEND + ".") else (_BACKEND, ".", path[14:])
    found: Any = None
    if root == "tensorflow" and _is_allowed(name):
        found = _found(name)
    elif root == _BACKEND and name in (*UNCHANGED, SINCE_KERAS_2_3):
        found = getattr(_backend, name)
    elif root == _BACKEND and name in PROVIDED:
        found = getattr(ctc, name)
    if found is None:
        raise ValueError(
            "Expected the path of a function of TensorFlow or of keras.backend that computes tensors from tensors. "
            f"Received: {path!r}. A file with it was not written by this package, or has been changed."
        )
    return found  # type: ignore[no-any-return]


def _is_allowed(name: str) -> bool:
    parts = name.removeprefix("compat.v1.").split(".")
    if any(part.startswith("_") for part in parts[1:]):
        return False
    return parts[0] in _TOP_LEVEL if len(parts) == 1 else parts[0] in _MODULES or parts[0] == _OPERATORS


def _found(name: str) -> Any:
    found: Any = tf
    for part in name.split("."):
        found = getattr(found, part, None)
    return found if callable(found) and not isinstance(found, type) and dispatch.api_names(found) else None


def _unique_name(short: str) -> str:
    short = "".join(c if c.isalnum() or c == "_" else "_" for c in short).strip("_")
    prefix = f"tf_op_layer_{short}"
    number = int(_backend.get_uid(prefix))
    return prefix if number == 1 else f"{prefix}_{number - 1}"


def _mapped(structure: Any, function: Callable[[Any], Any]) -> Any:
    """Map over lists, tuples, dicts and slices; unlike `keras.tree`, over what a slice is made of as well."""
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*(_mapped(each, function) for each in structure))
    if isinstance(structure, (list, tuple)):
        return type(structure)(_mapped(each, function) for each in structure)
    if isinstance(structure, dict):
        return {key: _mapped(each, function) for key, each in structure.items()}
    if isinstance(structure, slice):
        return slice(*(_mapped(each, function) for each in (structure.start, structure.stop, structure.step)))
    return function(structure)


# --- arguments as plain data --------------------------------------------------------------------------------------


def encoded(value: Any) -> Any:
    """Return an argument as data for JSON; `decoded` undoes it."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Place):
        return {"tensor": value.index}
    if isinstance(value, list):
        return [encoded(each) for each in value]
    if isinstance(value, tuple):
        return {"tuple": [encoded(each) for each in value]}
    if isinstance(value, dict):
        return {"dict": {key: encoded(each) for key, each in value.items()}}
    if isinstance(value, slice):
        return {"slice": [encoded(each) for each in (value.start, value.stop, value.step)]}
    if value is Ellipsis:
        return {"ellipsis": True}
    if isinstance(value, tf.TensorShape):
        return {"shape": value.as_list() if value.rank is not None else None}
    if isinstance(value, tf.DType):
        return {"dtype": value.name}
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return {"dtype": tf.as_dtype(value).name}
    is_constant = tf.is_tensor(value) and hasattr(value, "numpy") and not isinstance(value, tf.Variable)
    if is_constant or isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        return {"constant": array.tolist(), "dtype": tf.as_dtype(array.dtype).name, "shape": list(array.shape)}
    raise NotImplementedError(
        "Expected numbers, text, shapes and arrays next to the tensors in a function of a model that is saved or "
        f"copied. Received: {type(value).__name__}. Put the call into a Lambda layer, or save only the weights."
    )


def decoded(value: Any) -> Any:
    """Return the argument that `encoded` made data of."""
    if isinstance(value, (list, tuple)):
        return [decoded(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "constant" in value:
        return np.asarray(value["constant"], tf.as_dtype(value["dtype"]).as_numpy_dtype).reshape(value["shape"])
    kind: str = next(iter(value)) if len(value) == 1 else ""
    content: Any = value.get(kind)
    if kind == "tensor":
        return Place(int(content))
    if kind == "tuple":
        return tuple(decoded(each) for each in content)
    if kind == "dict":
        return {key: decoded(each) for key, each in content.items()}
    if kind == "slice":
        return slice(*(decoded(each) for each in content))
    if kind == "ellipsis":
        return Ellipsis
    if kind == "shape":
        return tf.TensorShape(content)
    if kind == "dtype":
        return tf.as_dtype(content)
    raise ValueError(f"Expected an argument as `TensorFlowOpLayer.get_config` writes it. Received: {value!r}")
