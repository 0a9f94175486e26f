"""Whole models in `.h5` files of Keras 2: the config in today's terms, and the training they were compiled for."""

from __future__ import annotations

import copy
import json
import warnings
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from parallel_compat.backend.keras3 import h5_files, optimizer_steps
from parallel_compat.legacy import optimizers
from parallel_compat.names.eras import Era
from parallel_compat.names.identifiers import identifiers
from parallel_compat.run import callers

if TYPE_CHECKING:
    from collections.abc import Iterator

    import h5py

# What later versions of Keras 2 wrote and Keras 3 does not take; none of it changes what a layer computes.
_DROPPED = {
    "LSTM": ("time_major", "implementation"),
    "GRU": ("time_major", "implementation"),
    "SimpleRNN": ("time_major", "implementation"),
    "CuDNNLSTM": ("time_major",),
    "CuDNNGRU": ("time_major",),
    "BatchNormalization": ("virtual_batch_size", "fused", "renorm", "adjustment"),
    "Embedding": ("input_length",),
    "Bidirectional": (),
}
_NETWORKS = ("Model", "Functional", "Sequential", "Network")


def model_from_config(
    config: dict[str, Any], custom_objects: dict[str, Any] | None, safe_mode: bool = True
) -> keras.Model:
    """Make a model from a config that Keras 2 wrote (`model_config` of a file, or `model.to_json()`).

    Args:
        config: with `class_name` and `config`; not changed.
        custom_objects: name -> class or function.
        safe_mode: whether Lambda layers that hold Python code are refused.

    Raises:
        ValueError: a Lambda layer holds Python code, in safe mode.
    """
    from parallel_compat.legacy.layers import CuDNNGRU, CuDNNLSTM

    objects = custom_objects or {}
    known = {"CuDNNLSTM": CuDNNLSTM, "CuDNNGRU": CuDNNGRU, "Lambda": _LambdaOfFile(objects, safe_mode), **objects}
    return h5_files.model_from_config(_modern(copy.deepcopy(config)), known, safe_mode)


class _LambdaOfFile:
    """What makes the Lambda layers of a file: their code sees what Keras 2 let it see, `K` and custom objects.

    Keras 2.2.4 gave it the names of `keras/layers/core.py` (`K`, `np`) and `custom_objects`; Keras 3 gives it none.
    """

    def __init__(self, custom_objects: dict[str, Any], safe_mode: bool) -> None:
        self._custom_objects = custom_objects
        self._safe_mode = safe_mode

    def from_config(self, config: dict[str, Any]) -> keras.layers.Lambda:
        name = config.get("name")
        # Keras 2 wrote the bytecode of every function, named ones too, and said so beside it.
        old = "lambda" in (config.pop("function_type", None), config.pop("output_shape_type", None))
        code = [key for key in ("function", "output_shape") if _is_code(config.get(key))]
        if (code or old) and self._safe_mode:
            raise ValueError(
                f"Expected a model without Python code. Received: the Lambda layer '{name}', whose function is stored "
                "as bytecode, which Keras 2 ran when it loaded the file. Build the model in code and call "
                "`load_weights`. If you trust the file: `load_model(..., safe_mode=False)`, or `parallel-compat run "
                "--allow-lambdas`."
            )
        if old:
            raise ValueError(
                f"Expected bytecode of this Python. Received: the Lambda layer '{name}' of a file that Keras 2 wrote, "
                "with bytecode of another Python, which cannot be run. Build the model in code and call `load_weights`."
            )
        layer = keras.layers.Lambda.from_config(config, custom_objects=self._custom_objects, safe_mode=self._safe_mode)
        if code:
            from parallel_compat.legacy import backend

            h5_files.give_names(layer, {"K": backend, "np": np, "keras": keras, **self._custom_objects})
        return layer


def _is_code(function: Any) -> bool:
    return isinstance(function, dict) and function.get("class_name") == "__lambda__"


def _modern(config: Any) -> Any:
    """Put a config of a model or layer, and those in it, in today's terms."""
    if isinstance(config, list):
        return [_modern(each) for each in config]
    if not isinstance(config, dict):
        return config
    inner = config.get("config")
    if "class_name" in config and isinstance(inner, list):  # Keras 2.2's Sequential
        config["config"] = inner = {"name": "sequential", "layers": inner}
    if "class_name" in config and isinstance(inner, dict):
        for name in _DROPPED.get(config["class_name"], ()):
            inner.pop(name, None)
        if config["class_name"] == "Sequential":
            _with_input(inner)
        if isinstance(inner.get("layers"), list):
            inner["layers"] = _modern(inner["layers"])
            _count_calls_from_zero(inner)
        for wrapped in ("layer", "backward_layer"):
            if isinstance(inner.get(wrapped), dict):
                inner[wrapped] = _modern(inner[wrapped])
        if inner.get("activation") == "hard_sigmoid" or inner.get("recurrent_activation") == "hard_sigmoid":
            from parallel_compat.legacy import activations

            for name in ("activation", "recurrent_activation"):
                if inner.get(name) == "hard_sigmoid":
                    inner[name] = activations.REGISTERED_HARD_SIGMOID
    return config


def _count_calls_from_zero(model: dict[str, Any]) -> None:
    """Count the calls of nested models from 0: in Keras 2 the first was the one that a model made of itself."""
    nested = {layer.get("name") for layer in model["layers"] if layer.get("class_name") in _NETWORKS}
    references = [model.get(key) for key in ("input_layers", "output_layers")]
    references += [layer.get("inbound_nodes") for layer in model["layers"]]
    for name in nested:
        calls = list(_calls(references, name))
        if calls and min(call[1] for call in calls) > 0:
            for call in calls:
                call[1] -= 1


def _calls(references: Any, name: str) -> Iterator[list[Any]]:
    """Yield the references `[name, call, tensor, ...]` to a layer."""
    if isinstance(references, list):
        if len(references) >= 3 and references[0] == name and isinstance(references[1], int):
            yield references
        else:
            for each in references:
                yield from _calls(each, name)


def _with_input(sequential: dict[str, Any]) -> None:
    """Say the input's shape by a layer of its own: Keras 2 wrote it into the first layer."""
    layers = sequential.get("layers") or []
    if not layers or layers[0].get("class_name") == "InputLayer":
        return
    first = layers[0]["config"]
    shape = first.pop("batch_input_shape", None)
    if shape is None:  # a nested model comes first
        return
    name = f"{first.get('name', 'sequential')}_input"
    entry = {"batch_input_shape": shape, "dtype": first.get("dtype") or "float32", "name": name}
    sequential["layers"] = [{"class_name": "InputLayer", "config": entry}, *layers]


def compile_as_saved(model: keras.Model, training: dict[str, Any], custom_objects: dict[str, Any] | None) -> None:
    """Compile a model as its file's `training_config` says.

    Args:
        model: the model.
        training: the decoded `training_config`.
        custom_objects: name -> class or function.
    """
    config = training["optimizer_config"]
    settings = {key: value for key, value in config["config"].items() if key not in ("name", "is_legacy_optimizer")}
    settings = {key: value for key, value in settings.items() if value is not None or key == "epsilon"}
    settings.pop("schedule_decay", None)
    kind = getattr(optimizers, _capitalized(config["class_name"]))
    optimizer = kind(**settings)
    if callers.era_of_caller() is Era.KERAS_2_2_4:
        optimizer_steps.step_as_keras_2(optimizer)
    with keras.saving.custom_object_scope(custom_objects or {}):
        model.compile(
            optimizer=optimizer,
            loss=_named(training.get("loss"), "loss", custom_objects),
            metrics=_named(training.get("metrics"), "metric", custom_objects),
            loss_weights=training.get("loss_weights"),
        )
    h5_files.build_losses(model)


def _capitalized(name: str) -> str:
    by_lower = {kind.lower(): kind for kind in dir(keras.optimizers) if kind[0].isupper()}
    return by_lower.get(name.lower(), name)


def _named(given: Any, kind: str, custom_objects: dict[str, Any] | None) -> Any:
    if isinstance(given, dict) and "class_name" not in given:
        return {key: _named(value, kind, custom_objects) for key, value in given.items()}
    if isinstance(given, list):
        return [_named(each, kind, custom_objects) for each in given]
    if isinstance(given, str):
        custom = (custom_objects or {}).get(given) or keras.saving.get_custom_objects().get(given)
        row = identifiers()[kind].get(given)
        return custom or (row.new if row else given)
    if isinstance(given, dict):
        return (keras.losses if kind == "loss" else keras.metrics).deserialize(given, custom_objects=custom_objects)
    return given


def restore_optimizer(model: keras.Model, group: h5py.Group) -> None:
    """Give a compiled model's optimizer the state in a file: its iterations and its moments.

    Keras 2 wrote `[iterations, *first moments, *second moments]` in the order of the trainable weights; Keras 3
    keeps a variable per weight and moment. Where the counts do not fit, the optimizer starts anew, with a warning.

    Args:
        model: compiled.
        group: `optimizer_weights` of the file.
    """
    names = [name.decode() if isinstance(name, bytes) else name for name in group.attrs.get("weight_names", ())]
    values = [np.asarray(group[name]) for name in names]
    optimizer = model.optimizer
    optimizer.build(model.trainable_variables)
    if values and values[0].shape == () and len(values) == len(optimizer.variables):  # written by Keras 3
        optimizer.set_weights(values)
        return
    iterations = values.pop(0) if values and values[0].shape == () else None
    if iterations is not None:
        optimizer.iterations.assign(int(iterations))
    count = len(model.trainable_variables)
    moments = [[v for v in optimizer.variables if v.path.endswith(f"_{moment}")] for moment in ("momentum", "velocity")]
    moments = [variables for variables in moments if variables]
    fits = len(values) >= count * len(moments) and all(
        tuple(variable.shape) == value.shape
        for number, variables in enumerate(moments)
        for variable, value in zip(variables, values[number * count : (number + 1) * count], strict=True)
    )
    if not fits:
        warnings.warn(
            f"The state of the optimizer {type(optimizer).__name__} in the file does not fit today's; the optimizer "
            "starts anew. Expect a higher loss in the first epochs.",
            stacklevel=3,
        )
        return
    for number, variables in enumerate(moments):
        for variable, value in zip(variables, values[number * count : (number + 1) * count], strict=True):
            variable.assign(value)


def decoded(attribute: Any) -> Any:
    """Return a JSON attribute of a file as Python objects, or None."""
    if attribute is None:
        return None
    return json.loads(attribute.decode("utf-8") if isinstance(attribute, bytes) else attribute)
