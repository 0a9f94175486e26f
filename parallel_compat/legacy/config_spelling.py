"""Configurations as an era spelled them, for the code of that era that reads or changes them.

What this package writes to files names Keras 2's `hard_sigmoid` as its own, because Keras 3's function of that name is
another one. The user's `layer.get_config()` says `hard_sigmoid`, and the user's `from_config` means that function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import numpy as np
from keras import backend

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import layers
from parallel_compat.backend.keras3.optimizer_steps import name_as_then
from parallel_compat.legacy import config_keys
from parallel_compat.legacy.activations import REGISTERED_HARD_SIGMOID
from parallel_compat.names.eras import Era
from parallel_compat.run import callers

if TYPE_CHECKING:
    from types import FrameType

_NAME = "hard_sigmoid"
_SUM_OVER_BATCH = "SumOverBatch"  # what this package puts around an activity regularizer of Keras 2.2.4


class OptimizerConfig(dict[str, Any]):
    """The configuration of an optimizer as its era spelled it; today's `learning_rate` is answered as well.

    >>> config = OptimizerConfig(lr=0.1)
    >>> list(config), config["learning_rate"]
    (['lr'], 0.1)
    """

    def __missing__(self, name: str) -> Any:
        if name != "learning_rate":
            raise KeyError(name)
        return self["lr"]


# What the configuration of each class held, besides the learning rate, and in which order.
_OF_OPTIMIZERS = {
    "SGD": ("momentum", "decay", "nesterov"),
    "RMSprop": ("rho", "decay", "epsilon"),
    "Adagrad": ("decay", "epsilon"),
    "Adadelta": ("rho", "decay", "epsilon"),
    "Adam": ("beta_1", "beta_2", "decay", "epsilon", "amsgrad"),
    "Adamax": ("beta_1", "beta_2", "decay", "epsilon"),
    "Nadam": ("beta_1", "beta_2", "epsilon", "schedule_decay"),
}
_OF_OPTIMIZERS_OF_TENSORFLOW = {
    "SGD": ("decay", "momentum", "nesterov"),
    "RMSprop": ("decay", "rho", "momentum", "epsilon", "centered"),
    "Adagrad": ("decay", "initial_accumulator_value", "epsilon"),
    "Adadelta": ("decay", "rho", "epsilon"),
    "Adam": ("decay", "beta_1", "beta_2", "epsilon", "amsgrad"),
    "Adamax": ("decay", "beta_1", "beta_2", "epsilon"),
    "Nadam": ("decay", "beta_1", "beta_2", "epsilon"),
    "Ftrl": (
        "decay",
        "initial_accumulator_value",
        "learning_rate_power",
        "l1_regularization_strength",
        "l2_regularization_strength",
        "l2_shrinkage_regularization_strength",
    ),
}


def of_optimizer(kind: str, config: dict[str, Any], era: Era, clips: dict[str, Any], schedule_decay: float) -> Any:
    """Return the configuration of an optimizer for the code of an era.

    >>> from parallel_compat.names.eras import Era
    >>> of_optimizer("SGD", {"learning_rate": 0.1, "momentum": 0.0, "nesterov": False}, Era.KERAS_2_2_4, {}, 0.004)
    {'lr': 0.1, 'momentum': 0.0, 'decay': 0.0, 'nesterov': False}

    Args:
        kind: the name of the class.
        config: what today's `get_config` says.
        era: of the code that asks.
        clips: `clipnorm` and `clipvalue`, where they were given.
        schedule_decay: that of a Nadam.
    """
    names = (_OF_OPTIMIZERS if era.is_standalone else _OF_OPTIMIZERS_OF_TENSORFLOW).get(kind)
    if names is None:
        return config
    # tf.keras called Nadam's `decay`.
    own = {"decay": schedule_decay if kind == "Nadam" else 0.0, "schedule_decay": schedule_decay, **config}
    if kind == "Nadam":
        own["decay"] = schedule_decay
    if era.is_standalone:
        numbers = ("momentum", "decay", "beta_1", "beta_2", *(["rho"] if kind == "RMSprop" else []))
        own |= {name: float(np.float32(own[name])) for name in numbers if name in names}  # which were variables
        rate = "lr" if era is Era.KERAS_2_2_4 else "learning_rate"
        return OptimizerConfig({**clips, rate: config["learning_rate"], **{name: own[name] for name in names}})
    if isinstance(own["learning_rate"], float):  # as TensorFlow's floats of 32 bits are printed
        own["learning_rate"] = float(str(np.float32(own["learning_rate"])))
    head = {"name": name_as_then(config["name"], kind), **clips, "learning_rate": own["learning_rate"]}
    return {**head, **{each: own[each] for each in names}}


# What today's configurations hold besides, with the values that say what the era did anyway.
_SINCE: dict[str, tuple[Any, ...]] = {
    "autocast": (True,),
    "dilation_rate": ((1, 1, 1),),  # of Conv3DTranspose
    "groups": (1,),
    "implementation": (1,),  # of LocallyConnected in Keras 2.2.4
    "keepdims": (False,),
    "optional": (False,),
    "quantization_config": (None,),
    "renorm": (False,),
    "renorm_clipping": (None,),
    "renorm_momentum": (0.99,),
    "rms_scaling": (False,),
    "score_mode": ("dot",),
    "seed": (None,),
    "synchronized": (False,),
    "zero_output_for_mask": (False,),
    "data_format": ("channels_last", "channels_first", None),  # of ZeroPadding1D and SpatialDropout
    "dropout": (0.0,),  # of AdditiveAttention in TensorFlow 1.15
    "mask": (None,),
    "noise_shape": (None,),  # of AlphaDropout
}
_BASE = ("name", "trainable", "batch_input_shape", "batch_shape", "dtype")
# Where a layer has what it wraps.
_INNER = {"Bidirectional": {"layer": "forward_layer"}, "RNN": {"cell": "cell"}, "TimeDistributed": {"layer": "layer"}}
_LAYERS = ("cell", "cells", "layer")
_SCALED = {
    "GlorotNormal": (1.0, "fan_avg", "truncated_normal"),
    "GlorotUniform": (1.0, "fan_avg", "uniform"),
    "HeNormal": (2.0, "fan_in", "truncated_normal"),
    "HeUniform": (2.0, "fan_in", "uniform"),
    "LecunNormal": (1.0, "fan_in", "truncated_normal"),
    "LecunUniform": (1.0, "fan_in", "uniform"),
}
_OF_INITIALIZERS = {
    "VarianceScaling": ("scale", "mode", "distribution", "seed"),
    "RandomNormal": ("mean", "stddev", "seed"),
    "TruncatedNormal": ("mean", "stddev", "seed"),
    "RandomUniform": ("minval", "maxval", "seed"),
    "Orthogonal": ("gain", "seed"),
    "Constant": ("value",),
    "Identity": ("gain",),
    "GlorotNormal": ("seed",),
    "GlorotUniform": ("seed",),
    "Zeros": (),
    "Ones": (),
}
_REGULARIZERS = ("L1", "L2", "L1L2")
_PREFIX = "parallel_compat>"
_OF_KERAS = ("keras", "parallel_compat")


def of_layer(kind: str, config: dict[str, Any], era: Era, layer: Any = None) -> dict[str, Any]:
    """Return the configuration of a layer for the code of an era, with the era's arguments in its order.

    >>> from parallel_compat.names.eras import Era
    >>> of_layer("LeakyReLU", {"name": "a", "trainable": True, "negative_slope": 0.25}, Era.KERAS_2_2_4)
    {'name': 'a', 'trainable': True, 'alpha': 0.25}

    Args:
        kind: the name of the class.
        config: what today's `get_config` says.
        era: of the code that asks.
        layer: the layer, where it is at hand: it knows the shape that it was given.
    """
    names = config_keys.of_era(era).get(kind)
    own = {
        name: _spelled(name, value, era, _inner(kind, name, layer))
        for name, value in config.items()
        if name not in _BASE
    }
    base = _base(kind, config, era, layer)
    if names is None:
        return {**base, **own}
    if kind == "InputLayer":
        own |= base
        return {name: own.get(name, False) for name in names}
    if "negative_slope" in own and kind == "LeakyReLU":
        own["alpha"] = float(np.float32(own.pop("negative_slope")))
    if kind == "Bidirectional":
        if _is_the_other_way(config):
            own.pop("backward_layer", None)
        inner = own["layer"]["config"]  # of the layer that was given, which itself was never built
        inner["name"] = inner["name"].removeprefix("forward_")
        if era is Era.TF_KERAS_1_15 and inner.get("dtype") == backend.floatx():
            inner["dtype"] = None
    if era.is_tf_keras and kind in ("BatchNormalization", "LayerNormalization"):
        own["axis"] = _axes(own["axis"], layer)
    held = [name for name in names if name in own or name not in _LAYERS]  # a class of the user's may leave one out
    found = {**base, **{name: own.pop(name) if name in own else _missing(name, era, layer) for name in held}}
    return found | {name: value for name, value in own.items() if _is_meant(name, value)}


def for_asker(layer: Any, config: dict[str, Any], frame: FrameType | None) -> dict[str, Any]:
    """Return the configuration of a layer for the frame that asks: for the user's code, as its era spelled it.

    A `get_config` of the user's asks on behalf of what calls it: that may be Keras, which writes a file.

    Args:
        layer: the layer.
        config: what today's `get_config` says.
        frame: the frame that asks.
    """
    asker = asking(frame)
    era = Era.TODAY if asker is None else callers.era_of(asker)
    return config if era is Era.TODAY else of_layer(kind_of(layer), config, era, layer)


def asking(frame: FrameType | None) -> FrameType | None:
    """Return the user's frame that asks for a configuration, or None where Keras does."""
    while frame is not None and frame.f_code.co_name == "get_config" and callers.is_users(frame):
        frame = frame.f_back
    return callers.user_frame(frame)


def kind_of(layer: Any) -> str:
    """Return the class of Keras that a layer is of, or that its class was derived from.

    >>> kind_of(keras.layers.Dense(2))
    'Dense'
    """
    for kind in type(layer).__mro__:
        if kind.__module__.partition(".")[0] in _OF_KERAS:
            return kind.__name__
    return ""


def _is_meant(name: str, value: Any) -> bool:
    return name not in _SINCE or (tuple(value) if isinstance(value, list) else value) not in _SINCE[name]


def _axes(axis: Any, layer: Any) -> Any:
    """Return the axes of a normalization, which tf.keras counted from the front once it was built, in a list."""
    if layer is None or not layer.built:
        return axis
    rank = len(layer.get_build_config()["input_shape"])
    return [each % rank for each in (axis if isinstance(axis, (list, tuple)) else [axis])]


def _inner(kind: str, name: str, layer: Any) -> Any:
    if kind == "StackedRNNCells" and name == "cells":
        return getattr(layer, name, None)
    attribute = _INNER.get(kind, {}).get(name)
    return None if attribute is None else getattr(layer, attribute, None)


def _is_the_other_way(config: dict[str, Any]) -> bool:
    """Say whether the backward layer of a `Bidirectional` is the forward one, made to go backwards."""
    one, other = (config.get(name, {}).get("config", {}) for name in ("layer", "backward_layer"))
    own = ("name", "go_backwards")
    return {k: v for k, v in one.items() if k not in own} == {k: v for k, v in other.items() if k not in own}


def _missing(name: str, era: Era, layer: Any) -> Any:
    """Return an argument that today's configuration does not hold."""
    if name == "input_length":
        return vars(layer).get(name) if layer is not None else None
    if name == "time_major":
        return bool(getattr(layer, name, False))
    if name == "implementation":
        return 2 if era is Era.TF_KERAS_2_2 else 1
    if name == "kernel_initializer":  # a separable convolution, whose own kernel it never had
        return of_form({"class_name": "GlorotUniform", "config": {"seed": None}}, era)
    return False if name == "causal" else None


def _base(kind: str, config: dict[str, Any], era: Era, layer: Any) -> dict[str, Any]:
    """Return what `Layer.get_config` said of every layer: its name, and the shape and dtype of a first one."""
    found = {"name": config["name"]} if "name" in config else {}
    if "trainable" in config or kind in config_keys.of_era(era):
        found["trainable"] = config.get("trainable", True if layer is None else layer.trainable)
    shape = _shape(kind, config, layer)
    dtype = config.get("dtype")
    if isinstance(dtype, dict):
        dtype = dtype["config"].get("name", dtype)
    if shape is not None:
        found["batch_input_shape"] = shape
    if era is Era.TF_KERAS_1_15 and kind != "InputLayer" and layer is not None and not _was_called(layer):
        dtype = dtype if dtype != backend.floatx() or (shape is not None and kind == "Embedding") else None
    if shape is not None or (era is not Era.KERAS_2_2_4 and "dtype" in config):
        found["dtype"] = dtype
    return found


def _was_called(layer: Any) -> bool:
    return layer.built and bool(layer.weights or layers.calls_of(layer))


def _shape(kind: str, config: dict[str, Any], layer: Any) -> tuple[Any, ...] | None:
    """Return the shape of a first layer's input, the samples included."""
    if "batch_input_shape" in config:
        return tuple(config["batch_input_shape"])
    own = {} if layer is None else vars(layer)
    for name in ("_batch_input_shape", "batch_input_shape"):  # that code of the time has put there
        if name in own:
            return tuple(own[name])
    if "batch_shape" in config:
        return tuple(config["batch_shape"])
    shape = None if layer is None else keras3.input_shape_given_to(layer)
    if shape is not None:
        return (getattr(shape, "batch", None), *shape)
    if kind == "Embedding":
        length = own.get("input_length")
        return (None, *length) if isinstance(length, (list, tuple)) else (None, length)
    return None


def of_form(form: dict[str, Any], era: Era, thing: Any = None) -> Any:
    """Return what an object is in a configuration: its class and its own configuration, or the name of a function.

    >>> from parallel_compat.names.eras import Era
    >>> form = {"module": "keras.regularizers", "class_name": "L1", "config": {"l1": 0.5}, "registered_name": None}
    >>> of_form(form, Era.TF_KERAS_2_2)
    {'class_name': 'L1L2', 'config': {'l1': 0.5, 'l2': 0.0}}

    Args:
        form: what Keras 3 writes of it.
        era: of the code that asks.
        thing: the object, where it is at hand.
    """
    kind, config = form["class_name"], form["config"]
    if kind == "function":
        return config.removeprefix(_PREFIX)
    if kind == _SUM_OVER_BATCH:
        return _spelled("", config["regularizer"], era)
    if kind in _OF_INITIALIZERS or kind in _SCALED:
        kind, config = _of_initializer(kind, config, era)
    elif kind in _REGULARIZERS:
        kind, config = "L1L2", {name: float(np.float32(config.get(name, 0.0))) for name in ("l1", "l2")}
    elif isinstance(thing, keras.layers.Layer):
        config = of_layer(kind_of(thing), config, era, thing)
    elif kind in config_keys.of_era(era) and (form.get("module") or "").partition(".")[0] in _OF_KERAS:
        config = of_layer(kind, config, era)
    elif isinstance(config, dict):
        config = {name: _spelled(name, value, era) for name, value in config.items()}
    return {"class_name": kind, "config": config}


def _spelled(name: str, value: Any, era: Era, thing: Any = None) -> Any:
    if isinstance(value, dict):
        if "class_name" in value and "config" in value:
            return of_form(value, era, thing)
        return {key: _spelled(key, each, era) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        things = thing if isinstance(thing, (list, tuple)) else [None] * len(value)
        return type(value)(_spelled("", each, era, of) for each, of in zip(value, things, strict=True))
    if name.endswith("activation") and isinstance(value, str):
        return value.removeprefix(_PREFIX)
    return value


def _of_initializer(kind: str, config: dict[str, Any], era: Era) -> tuple[str, dict[str, Any]]:
    """Keras 2 made most of them by functions, of `VarianceScaling`; tf.keras had classes for the two of Glorot."""
    if kind in _SCALED and not (era.is_tf_keras and kind.startswith("Glorot")):
        config = dict(zip(_OF_INITIALIZERS["VarianceScaling"], (*_SCALED[kind], config.get("seed")), strict=True))
        kind = "VarianceScaling"
    config = {name: config[name] for name in _OF_INITIALIZERS[kind] if name in config}
    if era.is_standalone and config.get("distribution") == "truncated_normal":
        config["distribution"] = "normal"
    return kind, {**config, "dtype": "float32"} if era is Era.TF_KERAS_1_15 else config


def initializer_of_today(form: dict[str, Any]) -> dict[str, Any]:
    """Return an initializer's class and configuration as Keras 3 takes them.

    >>> initializer_of_today({"class_name": "Zeros", "config": {"dtype": "float32"}})
    {'class_name': 'Zeros', 'config': {}}
    """
    config = {name: value for name, value in form["config"].items() if name != "dtype"}
    if config.get("distribution") == "normal":
        config["distribution"] = "truncated_normal"
    return {**form, "config": config}


def with_activations_of_old(config: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration that code of an old era hands to a class of its own, for today's functions.

    >>> with_activations_of_old({"activation": "hard_sigmoid", "name": "hard_sigmoid"})
    {'activation': 'parallel_compat>hard_sigmoid', 'name': 'hard_sigmoid'}
    """
    changed: dict[str, Any] = _replaced(config, _NAME, REGISTERED_HARD_SIGMOID)
    return changed


def _replaced(value: Any, old: str, new: str, key: str = "") -> Any:
    """Replace the name of an activation, wherever a configuration has one."""
    of_activation = key.endswith("activation")
    if isinstance(value, dict):
        if key.endswith("initializer") and isinstance(value.get("config"), dict):
            return initializer_of_today(value)
        if of_activation and value.get("class_name") == "function" and value.get("config") == old:
            return new
        made = {k: _replaced(v, old, new, k) for k, v in value.items()}
        if "pointwise_initializer" in made and old == _NAME:
            made.pop("kernel_initializer", None)
        return made
    if isinstance(value, list):
        return [_replaced(each, old, new) for each in value]
    return new if of_activation and isinstance(value, str) and value == old else value
