"""The layers of Keras 1 and 2: those that went, and every other with its old arguments.

`parallel_compat.legacy.layers.Dense(output_dim=3, init="uniform", weights=[...])` makes a plain `keras.layers.Dense`;
a saved model names Keras's own class.
"""

from __future__ import annotations

import inspect
from functools import cache, wraps
from typing import Any

import keras

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import hidden_classes
from parallel_compat.legacy.call_arguments import translate
from parallel_compat.legacy.utils import unpack_singleton
from parallel_compat.names.table import lookup

_GLOROT = "glorot_uniform"


def __getattr__(name: str) -> Any:
    row = lookup(f"keras.layers.{name}")  # `Deconvolution2D` is `Conv2DTranspose` today
    kind = getattr(keras.layers, (row.target or name).rpartition(".")[2] if row else name, None)
    if not isinstance(kind, type) or not issubclass(kind, keras.layers.Layer):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return with_old_arguments(kind)


@cache
def with_old_arguments(kind: Any) -> Any:
    """Return a class that takes the old arguments and makes objects of `kind`.

    Returns:
        A subclass: called itself it makes a plain `kind`; a class derived from it takes the old arguments as well, and
        gives what its own `call` gives.
    """
    of = f"keras.layers.{kind.__name__}"

    def __new__(cls: Any, *given: Any, **keywords: Any) -> Any:
        if cls is not legacy:
            return kind.__new__(cls, *given, **keywords)
        given, keywords = translate(of, given, keywords)
        return make(kind, given, keywords)

    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        given, keywords = translate(of, given, keywords)
        after = take_common(keywords, kind)
        kind.__init__(self, *given, **keywords)
        after(self)

    members = {"__new__": __new__, "__init__": __init__, "__doc__": kind.__doc__}
    members["compute_output_spec"] = hidden_classes.spec_by_calling(kind, kind.compute_output_spec)
    legacy = type(kind.__name__, (kind,), members)
    return legacy


def make(kind: Any, given: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Make a layer from today's arguments and those that every old layer took."""
    after = take_common(keywords, kind)
    layer = kind(*given, **keywords)
    after(layer)
    return layer


def take_common(keywords: dict[str, Any], kind: Any = None) -> Any:
    """Take the arguments that every old layer took out of `keywords`.

    They are `weights`, `batch_input_shape`, `input_shape` with `batch_size`, `input_dim` with `input_length`, and
    `input_dtype`.

    Args:
        kind: the class, whose own arguments of these names are kept (`input_dim` of an `Embedding`).

    Returns:
        A function that gives them their effect on the layer, once it is made.
    """
    if "input_dtype" in keywords:
        keywords["dtype"] = keywords.pop("input_dtype")
    own = {} if kind is None else inspect.signature(kind.__init__).parameters
    of_kind: dict[str, Any] = {
        name: keywords.pop(name) for name in ("weights", "input_dim", "batch_size") if name in keywords if name in own
    }
    weights = keywords.pop("weights", None)
    batch_shape = keywords.pop("batch_input_shape", None)
    shape = keywords.pop("input_shape", None)
    batch_size = keywords.pop("batch_size", None)
    length = keywords.pop("input_length", None)
    size = keywords.pop("input_dim", None)
    keywords.update(of_kind)
    if size is not None:
        shape = (size,) if length is None else (length, size)
    if shape is not None and batch_size is not None:
        shape = BatchShape(shape, batch_size)
    if batch_shape is not None:
        shape = BatchShape(batch_shape[1:], batch_shape[0])

    def after(layer: Any) -> None:
        if shape is not None:
            keras3.layers.set_input_shape(layer, shape)
        if weights is not None:
            set_when_built(layer, weights)

    return after


class BatchShape(tuple[Any, ...]):
    """A shape without its batch axis, which remembers it: a stateful recurrent layer needs it."""

    batch: int | None

    def __new__(cls, shape: Any, batch: int | None = None) -> BatchShape:
        self = super().__new__(cls, tuple(shape))
        self.batch = batch
        return self


def set_when_built(layer: Any, weights: Any) -> None:
    """Give a layer its first weights as soon as it has variables."""
    if layer.built:
        layer.set_weights(weights)
        return
    build = layer.build

    @wraps(build)
    def build_and_set(*arguments: Any, **keywords: Any) -> Any:
        layer.build = build
        result = build(*arguments, **keywords)
        layer.set_weights(weights)
        return result

    layer.build = build_and_set


def Input(
    shape: Any = None,
    batch_shape: Any = None,
    name: str | None = None,
    dtype: Any = None,
    sparse: bool = False,
    tensor: Any = None,
    **keywords: Any,
) -> Any:
    """Make an input of a functional model, with the arguments in Keras 2.2.4's order.

    Args:
        shape: the shape without the batch axis.
        batch_shape: the shape with it.
        name: the input's name.
        dtype: its dtype.
        sparse: whether it takes sparse tensors.
        tensor: an existing tensor: a symbolic one of Keras is taken.
        **keywords: those that only today's `keras.Input` has.

    Raises:
        TypeError: for a tensor of TensorFlow 1.
    """
    if tensor is not None and not isinstance(tensor, keras.KerasTensor):
        raise TypeError(
            "Expected `tensor` to be a symbolic tensor of Keras. Received: "
            f"{type(tensor).__name__}. There are no tensors of a TensorFlow 1 graph; feed the data to `fit`."
        )
    given = {"shape": shape, "batch_shape": batch_shape, "name": name, "dtype": dtype, "tensor": tensor}
    if "batch_input_shape" in keywords:
        given["batch_shape"] = keywords.pop("batch_input_shape")
    if given["batch_shape"] is not None:
        given["shape"] = None  # it counted where both were given
    if "input_dtype" in keywords:
        given["dtype"] = keywords.pop("input_dtype")
    if sparse:
        given["sparse"] = True
    return keras.Input(**{key: value for key, value in given.items() if value is not None}, **keywords)


def output_shape(layer: Any) -> Any:
    """Return the shape of a layer's output (`layer.output_shape`), a list of them for several outputs."""
    return _shapes(layer.output)


def input_shape(layer: Any) -> Any:
    """Return the shape of a layer's input (`layer.input_shape`), a list of them for several inputs."""
    return _shapes(input_tensor(layer))


def input_tensor(layer: Any) -> Any:
    """Return a layer's or model's input (`layer.input`).

    Of an `InputLayer` it was its output, of which Keras 3 gives an empty list; a `Sequential` of Keras 3 has no `input`
    before it is called.

    >>> input_tensor(keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])).shape
    (None, 3)

    Args:
        layer: a layer, or a functional or Sequential model.
    """
    if isinstance(layer, keras.Model):
        return unpack_singleton(layer.inputs)
    return layer.output if isinstance(layer, keras.layers.InputLayer) else layer.input


def output_tensor(model: Any) -> Any:
    """Return a model's output (`model.output`): a `Sequential` of Keras 3 has none before it is called.

    >>> output_tensor(keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])).shape
    (None, 1)

    Args:
        model: a functional or Sequential model.
    """
    return unpack_singleton(model.outputs)


# What `Add` and its like derive from, and the layers of users that merge in their own way (`_merge_function`).
_Merge: Any = hidden_classes.MERGE
# What `Conv1D`, `Conv2D` and `Conv3D` derive from, and the convolutions of users: `_Conv(rank, filters, kernel_size)`.
_Conv: Any = hidden_classes.CONVOLUTION


def _shapes(tensors: Any) -> Any:
    flat = keras.tree.flatten(tensors)
    return unpack_singleton([tuple(tensor.shape) for tensor in flat])


# --- layers that went ---------------------------------------------------------------------------------------------


class _MakesToday(type):
    """A class whose objects are those of a class of today, and that counts these as its own."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.today)  # type: ignore[attr-defined]


class _CuDNN(metaclass=_MakesToday):
    today: Any
    of_cudnn: dict[str, Any]

    def __new__(cls, units: int, **keywords: Any) -> Any:
        return make(cls.today, (units,), {**cls.of_cudnn, **keywords})

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Make the layer from what `get_config` of the old one returned."""
        return cls(**config)


class CuDNNLSTM(_CuDNN):
    """`keras.layers.LSTM` with `sigmoid` gates, which uses cuDNN by itself where there is a GPU.

    Args:
        units: the size of the output.
        **keywords: those of the old layer.
    """

    today, of_cudnn = keras.layers.LSTM, {"recurrent_activation": "sigmoid"}


class CuDNNGRU(_CuDNN):
    """`keras.layers.GRU` with `sigmoid` gates and the reset gate after the matrix product, as cuDNN has it.

    Args:
        units: the size of the output.
        **keywords: those of the old layer.
    """

    today, of_cudnn = keras.layers.GRU, {"recurrent_activation": "sigmoid", "reset_after": True}


def AtrousConvolution1D(nb_filter: int, filter_length: int, *, atrous_rate: int = 1, **keywords: Any) -> Any:
    """Make a `keras.layers.Conv1D` with `dilation_rate`."""
    given, rest = translate("keras.layers.Conv1D", (nb_filter, filter_length), keywords)
    return make(keras.layers.Conv1D, given, {"dilation_rate": atrous_rate, **rest})


def AtrousConvolution2D(*given: Any, atrous_rate: Any = (1, 1), **keywords: Any) -> Any:
    """Make a `keras.layers.Conv2D` with `dilation_rate`."""
    given, rest = translate("keras.layers.Conv2D", given, keywords)
    return make(keras.layers.Conv2D, given, {"dilation_rate": atrous_rate, **rest})


AtrousConv1D, AtrousConv2D = AtrousConvolution1D, AtrousConvolution2D


class _OldLayer(keras.layers.Layer):  # type: ignore[misc]
    """What `MaxoutDense` and `Highway` share: Keras 1's names for the parts of a layer."""

    def __init__(
        self,
        init: Any,
        weights: Any = None,
        W_regularizer: Any = None,
        b_regularizer: Any = None,
        activity_regularizer: Any = None,
        W_constraint: Any = None,
        b_constraint: Any = None,
        bias: bool = True,
        input_dim: int | None = None,
        **keywords: Any,
    ) -> None:
        if input_dim:
            keywords["input_shape"] = (input_dim,)
        super().__init__(activity_regularizer=activity_regularizer, **keywords)
        self.init, self.bias = keras.initializers.get(init), bias
        self.W_regularizer, self.b_regularizer = map(keras.regularizers.get, (W_regularizer, b_regularizer))
        self.W_constraint, self.b_constraint = map(keras.constraints.get, (W_constraint, b_constraint))
        if weights is not None:
            set_when_built(self, weights)

    def _add_kernel(self, shape: tuple[int, ...]) -> Any:
        return self.add_weight(
            shape=shape, initializer=self.init, name="W", regularizer=self.W_regularizer, constraint=self.W_constraint
        )

    def _add_bias(self, shape: tuple[int, ...]) -> Any:
        if not self.bias:
            return None
        of_bias = {"regularizer": self.b_regularizer, "constraint": self.b_constraint}
        return self.add_weight(shape=shape, initializer="zeros", name="b", **of_bias)

    def get_config(self) -> dict[str, Any]:
        own: dict[str, Any] = {"init": keras.initializers.serialize(self.init), "bias": self.bias}
        for name in ("W", "b"):
            own[f"{name}_regularizer"] = keras.regularizers.serialize(getattr(self, f"{name}_regularizer"))
            own[f"{name}_constraint"] = keras.constraints.serialize(getattr(self, f"{name}_constraint"))
        return {**super().get_config(), **own}


@keras.saving.register_keras_serializable(package="parallel_compat")
class MaxoutDense(_OldLayer):
    """The element-wise maximum of `nb_feature` linear layers (Goodfellow et al. 2013, arXiv:1302.4389).

    Args:
        output_dim: the size of the output.
        nb_feature: how many linear layers.
        init: initializer of the kernels.
        *parts: `weights` (kernels (nb_feature, inputs, output_dim), biases (nb_feature, output_dim)), `W_regularizer`,
            `b_regularizer`, `activity_regularizer`, `W_constraint`, `b_constraint`, `bias` and `input_dim`.
        **keywords: these by name, and those of `keras.layers.Layer`.
    """

    def __init__(self, output_dim: int, nb_feature: int = 4, init: Any = _GLOROT, *parts: Any, **keywords: Any) -> None:
        super().__init__(init, *parts, **keywords)
        self.output_dim, self.nb_feature = output_dim, nb_feature

    def build(self, input_shape: Any) -> None:
        self.W = self._add_kernel((self.nb_feature, input_shape[-1], self.output_dim))
        self.b = self._add_bias((self.nb_feature, self.output_dim))
        self.built = True

    def call(self, x: Any) -> Any:
        output = keras.ops.einsum("ni,fio->nfo", x, self.W)
        return keras.ops.max(output if self.b is None else output + self.b, axis=1)

    def compute_output_shape(self, input_shape: Any) -> tuple[Any, int]:
        return (input_shape[0], self.output_dim)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "output_dim": self.output_dim, "nb_feature": self.nb_feature}


@keras.saving.register_keras_serializable(package="parallel_compat")
class Highway(_OldLayer):
    """A densely connected highway layer (Srivastava et al. 2015, arXiv:1505.00387).

    Args:
        init: initializer of the kernels.
        activation: of the transformed input.
        *parts: as those of `MaxoutDense`.
        **keywords: these by name, and those of `keras.layers.Layer`.
    """

    def __init__(self, init: Any = _GLOROT, activation: Any = None, *parts: Any, **keywords: Any) -> None:
        keywords.pop("transform_bias", None)
        super().__init__(init, *parts, **keywords)
        self.activation = keras.activations.get(activation)

    def build(self, input_shape: Any) -> None:
        size = input_shape[-1]
        self.W = self._add_kernel((size, size))
        self.W_carry = self.add_weight(shape=(size, size), initializer=self.init, name="W_carry")
        self.b = self._add_bias((size,))
        self.b_carry = self.add_weight(shape=(size,), initializer="ones", name="b_carry") if self.bias else None
        self.built = True

    def call(self, x: Any) -> Any:
        carry = keras.ops.matmul(x, self.W_carry)
        transformed = keras.ops.matmul(x, self.W)
        if self.bias:
            carry, transformed = carry + self.b_carry, transformed + self.b
        gate = keras.ops.sigmoid(carry)
        return self.activation(transformed) * gate + (1 - gate) * x

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "activation": keras.activations.serialize(self.activation)}
