"""Names and arguments of Keras 1 that Keras 2.2.4 refuses; most of them it takes by itself.

Read in Keras 1.2.2. Names that only moved are in `older_keras.tsv`.
"""

from __future__ import annotations

import functools
import inspect
import sys
from types import ModuleType
from typing import Any

from parallel_compat.names.arguments import arguments
from parallel_compat.names.eras import Era
from parallel_compat.originals.mends import keras_1_functions
from parallel_compat.originals.mends.gone_packages import gone
from parallel_compat.originals.mends.merge_layers import single_axes
from parallel_compat.originals.mends.register import Register

# Functions of the backend whose arguments Keras 2 renamed.
_FUNCTIONS = ("random_normal", "random_uniform", "conv1d", "conv2d", "conv3d", "pool2d", "pool3d", "resize_images")
# Losses that took the output before the target.
_OUTPUT_FIRST = ("binary_crossentropy", "categorical_crossentropy", "sparse_categorical_crossentropy")
_ORDERS = {"th": "channels_first", "tf": "channels_last", "default": None}
_INITIALIZATIONS = (
    "uniform", "normal", "lecun_uniform", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform",
    "orthogonal", "identity", "zero", "one",
)  # fmt: skip


def apply(mends: Register) -> None:
    """Take the arguments, ask layers for `get_output_shape_for`, and let the modules be found."""
    if mends.era is not Era.KERAS_2_2_4:
        return

    backend = "keras.backend.tensorflow_backend"
    for name in _FUNCTIONS:
        renamed = {row.old: str(row.new) for row in arguments()[f"keras.backend.{name}"].values()}
        mends.around(backend, name, functools.partial(_taking, renamed), shown=True)
    mends.around(backend, "batch_dot", lambda dot, x, y, axes=None: dot(x, y, single_axes(axes)), shown=True)
    for name in _OUTPUT_FIRST:
        mends.around(backend, name, _say_which_is_first, shown=True)
    mends.around("keras.engine.base_layer", "Layer.compute_output_shape", _asking_as_before, shown=True)
    renaming = functools.partial(_taking, {"dim_ordering": "data_format"})
    mends.around("keras.preprocessing.image", "ImageDataGenerator.__init__", renaming, shown=True)
    mends.after("keras.initializers", lambda module: _set_module("keras.initializations", _initializations()))
    mends.around("keras.initializers", "get", _without_name, shown=True)

    def pictures(module: ModuleType) -> None:
        _set_module("keras.utils.visualize_util", {"plot": module.plot_model, "model_to_dot": module.model_to_dot})

    mends.after("keras.utils.vis_utils", pictures)
    graph = gone("keras.models.Graph", "write the model with keras.models.Model, as Keras 1 did already")
    mends.after("keras.models", lambda module: mends.add(module, Graph=graph))
    keras_1_functions.apply(mends)


def _taking(renamed: dict[str, str], function: Any, *args: Any, **options: Any) -> Any:
    for old in renamed.keys() & options.keys():
        value = options.pop(old)
        options[renamed[old]] = _ORDERS.get(value, value) if old == "dim_ordering" else value
    return function(*args, **options)


_said: set[str] = set()


def _say_which_is_first(loss: Any, target: Any, output: Any, *args: Any, **options: Any) -> Any:
    """Say once that a loss function passes the output first: that was right in Keras 1, and is computed all the same.

    In a compiled loss the target is a placeholder, and the output is computed.
    """
    kinds = [tensor.op.type if hasattr(tensor, "op") else "" for tensor in (target, output)]
    if kinds[1] == "Placeholder" and kinds[0] not in ("Placeholder", "") and loss.__name__ not in _said:
        _said.add(loss.__name__)
        print(
            f"parallel-compat: K.{loss.__name__} is called with a model's output first, as in Keras 1. Keras 2 "
            "takes the target first. If the script was written for Keras 1, swap the two arguments.",
            file=sys.stderr,
        )
    return loss(target, output, *args, **options)


def _asking_as_before(compute_output_shape: Any, self: Any, input_shape: Any) -> Any:
    before = getattr(self, "get_output_shape_for", None)
    return compute_output_shape(self, input_shape) if before is None else before(input_shape)


def _without_name(get: Any, identifier: Any) -> Any:
    """Let an initializer need a name, which Keras 1 passed beside the shape."""
    found = get(identifier)
    named = inspect.isfunction(found) and inspect.signature(found).parameters.get("name")
    if not named or named.default is not named.empty:
        return found
    return functools.wraps(found)(lambda shape, *args, **options: found(shape, *args, **{"name": None, **options}))


def _set_module(path: str, names: dict[str, Any]) -> None:
    package, _, name = path.rpartition(".")
    sys.modules[path] = ModuleType(path)
    vars(sys.modules[path]).update(names)
    setattr(sys.modules[package], name, sys.modules[path])


def _initializations() -> dict[str, Any]:
    functions: dict[str, Any] = {name: functools.partial(_initialize, name) for name in _INITIALIZATIONS}
    return {**functions, "get": lambda identifier: functions.get(identifier, identifier)}


def _initialize(
    of: str, shape: Any, scale: float | None = None, name: str | None = None, dim_ordering: str | None = None
) -> Any:
    """Return a variable that begins as the initialization says."""
    from keras import backend, initializers

    if scale is not None and of in ("uniform", "normal"):
        make = initializers.RandomUniform(-scale, scale) if of == "uniform" else initializers.RandomNormal(0.0, scale)
    else:
        options = {"gain": scale or {"orthogonal": 1.1}.get(of, 1.0)} if of in ("orthogonal", "identity") else {}
        make = initializers.get({"class_name": of, "config": options})
    return backend.variable(make(shape), name=name)
