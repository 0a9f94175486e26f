"""Models in TensorFlow's SavedModel format, and models made of one. Read in Keras 3.15.1 and TensorFlow 2.21."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # it carries no types
from keras.src.legacy.saving import saving_utils
from keras.src.utils.python_utils import is_default
from tensorflow.core.protobuf import saved_model_pb2

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_INPUTS = "_parallel_compat_first_inputs"


def of_first_inputs() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a layer that is not built yet is called (`Layer._maybe_build`): it notes what it was called on.

    Keras 3 remembers shapes alone, and of some layers; TensorFlow 2 wrote `call` into a SavedModel for these inputs.
    """

    def wrap(original: Any) -> Any:
        def _maybe_build(self: Any, call_spec: Any) -> None:
            if not self.built and _INPUTS not in vars(self):
                vars(self)[_INPUTS] = keras.tree.map_structure(_spec, call_spec.first_arg)
            original(self, call_spec)

        return _maybe_build

    yield keras.layers.Layer, "_maybe_build", wrap


def first_inputs(layer: Any) -> Any:
    """Return what a layer was first called on, as `tf.TensorSpec` of any number of samples; None if that is unknown."""
    if isinstance(layer, keras.Model) and getattr(layer, "inputs", None):
        structure = layer._inputs_struct if hasattr(layer, "_inputs_struct") else layer.inputs
        specs = keras.tree.map_structure(_spec, structure)
        return specs[0] if isinstance(specs, (list, tuple)) and len(specs) == 1 else specs
    return vars(layer).get(_INPUTS)


def say_first_inputs(layer: Any, specs: Any) -> None:
    """Let a layer's first inputs be these."""
    vars(layer)[_INPUTS] = specs


def _spec(tensor: Any) -> Any:
    if not hasattr(tensor, "shape") or not hasattr(tensor, "dtype"):
        return tensor
    shape = list(tensor.shape)
    return tf.TensorSpec([None, *shape[1:]] if shape else [], tf.as_dtype(tensor.dtype))  # also NumPy's strings


def training_config(model: keras.Model) -> dict[str, Any] | None:
    """Return what a model was compiled with, as it is written into files; None if it was not."""
    compile_config = getattr(model, "_compile_config", None)
    if compile_config is None or not model.compiled:
        return None
    before = dict(compile_config.config)
    try:
        config: dict[str, Any] | None = saving_utils.model_metadata(model, True, False).get("training_config")
    finally:
        compile_config.config.update(before)  # of which Keras takes the optimizer out
    return config


def keras_metadata(folder: str) -> str | None:
    """Return what TensorFlow up to 2.4 said of a SavedModel's first object, JSON; None if that is nothing of Keras's.

    Args:
        folder: the folder.

    Raises:
        ValueError: the file in it is not of this format.
    """
    model = saved_model_pb2.SavedModel()
    with open(os.path.join(folder, "saved_model.pb"), "rb") as file:
        try:
            model.ParseFromString(file.read())
        except DecodeError as error:
            raise ValueError(str(error)) from error
    nodes = [node for graph in model.meta_graphs[:1] for node in graph.object_graph_def.nodes[:1]]
    first = nodes[0].user_object if nodes else None
    return str(first.metadata) if first is not None and first.identifier.startswith("_tf_keras_") else None


def lacks_config(layer: Any) -> bool:
    """Say whether a layer's class has no `get_config`; Keras 3 guesses one from what its `__init__` was given."""
    return bool(is_default(layer.get_config))


def holder() -> Any:
    """Return an object that holds what a SavedModel is made of."""
    return tf.__internal__.tracking.AutoTrackable()


def resource_of(weight: Any) -> tf.Variable:
    """Return TensorFlow's variable in one of Keras's."""
    return weight.value if isinstance(weight, keras.Variable) else weight


def captured_variables(functions: Sequence[Any]) -> list[tf.Variable]:
    """Return the variables that concrete functions use."""
    return [variable for function in functions for variable in function.graph.variables]


def weight(variable: tf.Variable, name: str, *, trainable: bool) -> keras.Variable:
    """Return a weight that is a variable which is there already."""
    made = keras.Variable(variable, trainable=trainable, dtype=variable.dtype.name, shape=variable.shape, name="weight")
    made._name = name
    return made


def share(made: keras.Variable, variable: tf.Variable) -> None:
    """Let a weight that was made with its layer be a variable which is there already."""
    made._value, made._initializer = variable, None


def own(layer: Any, trainable: Sequence[keras.Variable], others: Sequence[keras.Variable]) -> None:
    """Let weights that are there already be a layer's, those that are trained and those that are not."""
    for each in (*trainable, *others):
        layer._track_variable(each)
