"""Models in folders of TensorFlow's SavedModel format, as tf.keras wrote and read them, with a configuration or none.

The folder has what each model and layer of the user's computes, as functions of TensorFlow, and beside them a file that
says what they are. A model made of it is called, trained and saved again without the class that it was of. It
has what TensorFlow 2.2's had: weights with their regularizers, and layers, but no loss that a `call` adds.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import os
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.atomic_file import replacing
from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import h5_files, saved_models
from parallel_compat.hdf5_output import writing as writing_hdf5
from parallel_compat.legacy import metrics_in_files, nodes, old_files, total_loss, weight_names
from parallel_compat.names.eras import Era
from parallel_compat.run import callers, object_eras

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_DESCRIPTION = "parallel_compat.json"
_LAYERS = "_parallel_compat_layers"
_SAVED = "_parallel_compat_saved"
CONFIGURED = "keras_model.h5"  # of a model that is made of its configuration
_NO_INPUTS = (
    "Model {0} cannot be saved because the input shapes have not been set. Usually, input shapes are automatically "
    "determined from calling .fit() or .predict(), or from calling the model on a batch."
)


# --- writing ----------------------------------------------------------------------------------------------------------


def save(obj: Any, export_dir: str, signatures: Any = None, options: Any = None) -> None:
    """Write an object to a folder (`tf.saved_model.save`): a model or layer of tf.keras as it wrote them.

    Args:
        obj: a model, a layer, or any other object that TensorFlow saves.
        export_dir: the folder.
        signatures: functions that are to be served; those of a model are its outputs.
        options: of TensorFlow.
    """
    model = getattr(obj, "template", obj)
    if isinstance(model, keras.layers.Layer) and object_eras.era_of_object(model) is not Era.TODAY:
        write(model, os.fspath(export_dir), signatures, options)
    else:
        tf.saved_model.save(obj, os.fspath(export_dir), signatures=signatures, options=options)


def write(
    layer: Any, folder: str, signatures: Any = None, options: Any = None, *, include_optimizer: bool = True
) -> None:
    """Write what a model or layer computes, and the configuration of a model that is made of it.

    Args:
        layer: the model or layer, which has been called.
        folder: the folder, which is made.
        signatures: functions to serve; None for the outputs of the model.
        options: of TensorFlow.
        include_optimizer: whether it is written what the model was compiled with.

    Raises:
        ValueError: it is not known on what the model is called.
    """
    if os.path.isfile(folder):
        os.remove(folder)
    os.makedirs(folder, exist_ok=True)
    described = os.path.join(folder, CONFIGURED)
    if isinstance(layer, keras.Model) and has_config(layer):
        with replacing(described) as temporary, writing_hdf5(temporary) as (file, _), _configs_of_all(layer):
            compiled_with = total_loss.compiled_with(layer)
            with metrics_in_files.left_out():  # a layer whose class is not known has none when it is read
                h5_files.write_model(layer, file, include_optimizer=include_optimizer, compiled_with=compiled_with)
    elif os.path.exists(described):
        os.remove(described)
    writing = _Writing()
    root, description = writing.holder_of(layer, needed=isinstance(layer, keras.Model))
    if signatures is None and "__call__" in description["functions"]:
        signatures = {"serving_default": _served(layer)}
        root.served = writing.kept = list(signatures.values())
    concrete = signatures.values() if isinstance(signatures, dict) else [signatures] if signatures is not None else []
    traced = [each for each in concrete if hasattr(each, "graph")]
    root.resources = [each for inner in _all_layers(layer) for each in _resources_of(inner)]
    root.all_variables = _unique([*writing.variables, *saved_models.captured_variables([*writing.traced, *traced])])
    if isinstance(layer, keras.Model) and include_optimizer:
        training = saved_models.training_config(layer)
        description["training_config"] = training and {**training, **total_loss.compiled_with(layer)}
    tf.saved_model.save(root, folder, signatures=signatures, options=options)
    with replacing(os.path.join(folder, _DESCRIPTION)) as temporary, open(temporary, "w", encoding="utf-8") as file:
        json.dump(description, file, default=_plain)


def _all_layers(layer: Any) -> list[Any]:
    return [layer, *(inner for each in keras3.layers_of(layer) for inner in _all_layers(each))]


def _resources_of(layer: Any) -> list[Any]:
    """Return what a layer holds that functions use and no weight is: tables."""
    held = [value if isinstance(value, (list, tuple)) else [value] for value in vars(layer).values()]
    return [each for some in held for each in some if isinstance(each, tf.saved_model.experimental.TrackableResource)]


class _Writing:
    """What one SavedModel is made of; a layer in several places is written once."""

    def __init__(self) -> None:
        self.made: dict[int, tuple[Any, dict[str, Any]]] = {}
        self.variables: list[tf.Variable] = []
        self.traced: list[Any] = []
        self.kept: list[Any] = []

    def holder_of(self, layer: Any, *, needed: bool = False) -> tuple[Any, dict[str, Any]]:
        """Return an object with the functions and weights of a layer, and a description of it.

        Args:
            layer: the layer.
            needed: whether its function must be there.
        """
        if id(layer) in self.made:
            return self.made[id(layer)]
        root = saved_models.holder()
        era = object_eras.era_of_object(layer)
        trainable, others = keras3.own_weights(layer)
        names = [weight_names.in_era(weight, weight.name, era) for weight in (*trainable, *others)]
        description: dict[str, Any] = {
            "class_name": type(layer).__name__,
            "name": layer.name,
            "is_model": isinstance(layer, keras.Model),
            "of_keras": _is_of_keras(layer),
            "trainable": bool(layer.trainable),
            "lacks_config": _lacks_config(layer),
            "weights": names,
            "functions": [],
            "attributes": {},
            "weight_attributes": {},
        }
        self.made[id(layer)] = root, description
        if (made_of := _made_of(layer)) is not None:
            description.update(made_of)
        every = keras3.all_weights(layer)
        description["names"] = [weight_names.in_era(weight, weight.name, era) for weight in every]
        root.every = [saved_models.resource_of(weight) for weight in every]
        root.own_trainable = [saved_models.resource_of(weight) for weight in trainable]
        root.own_others = [saved_models.resource_of(weight) for weight in others]
        self.variables += [saved_models.resource_of(weight) for weight in layer.variables]
        # Its function counts with them: they last as long as it.
        root.of_metrics = [saved_models.resource_of(each) for each in layer.metrics_variables]
        root.variables = [saved_models.resource_of(weight) for weight in layer.weights]
        root.trainable_variables = [saved_models.resource_of(weight) for weight in layer.trainable_weights]
        root.regularizers = {}
        for number, weight in enumerate((*trainable, *others)):
            if getattr(weight, "regularizer", None) is not None:
                root.regularizers[str(number)] = self._regularization(weight)
        self._add_calls(layer, root, description, needed)
        self._add_attributes(layer, root, description)
        held = [self.holder_of(each) for each in _worth_writing(layer)]
        description["layers"] = [said for _, said in held]
        root.layers = [holder for holder, _ in held]
        return root, description

    def _regularization(self, weight: Any) -> Any:
        made = tf.function(lambda: weight.regularizer(weight))
        self.traced.append(made.get_concrete_function())
        return made

    def _add_calls(self, layer: Any, root: Any, description: dict[str, Any], needed: bool) -> None:
        specs = saved_models.first_inputs(layer)
        if specs is None:
            if needed:
                raise ValueError(_NO_INPUTS.format(layer))
            return

        def call(inputs: Any, training: bool = False) -> Any:
            return layer(inputs, training=training)

        try:
            root.__call__ = self._traced(call, specs)
        except Exception:
            if needed:
                raise
            return  # a layer inside that is called in another way
        description["functions"].append("__call__")
        description["inputs"] = keras.tree.map_structure(lambda spec: [spec.shape.as_list(), spec.dtype.name], specs)

    def _traced(self, function: Callable[..., Any], specs: Any) -> Any:
        made = tf.function(function)
        self.traced += [made.get_concrete_function(specs, training) for training in (False, True)]
        return made

    def _add_attributes(self, layer: Any, root: Any, description: dict[str, Any]) -> None:
        """Add the user's functions with a signature, layers, and objects such as tables that functions use."""
        by_layer = {id(each): number for number, each in enumerate(_worth_writing(layer))}
        trainable, others = keras3.own_weights(layer)
        by_weight = {id(weight): number for number, weight in enumerate((*trainable, *others))}
        for name, value in [*vars(type(layer)).items(), *vars(layer).items()]:
            if hasattr(value, "get_concrete_function"):
                function = getattr(layer, name)
                if name != "call" and getattr(function, "input_signature", None) is not None:
                    setattr(root, name, function)
                    self.traced.append(function.get_concrete_function())
                    description["functions"].append(name)
            elif id(value) in by_layer:
                description["attributes"][name] = by_layer[id(value)]
                setattr(root, name, self.holder_of(value)[0])
            elif id(value) in by_weight:
                description["weight_attributes"][name] = by_weight[id(value)]
                setattr(root, name, saved_models.resource_of(value))
            elif isinstance(value, tf.Module):
                setattr(root, name, value)
            elif isinstance(value, (list, tuple)) and value and all(id(each) in by_layer for each in value):
                description["attributes"][name] = [by_layer[id(each)] for each in value]


def _made_of(layer: Any) -> dict[str, Any] | None:
    """Return the configuration that a layer is made of, and what it is built of; None for a layer that has none."""
    if _lacks_config(layer) or (isinstance(layer, keras.Model) and not has_config(layer)):
        return None
    with _configs_of_all(layer) if has_config(layer) else contextlib.nullcontext():
        return {"config": h5_files.config_of(layer), "built_of": layer.get_build_config() if layer.built else None}


def _worth_writing(layer: Any) -> list[Any]:
    """Return the layers in a layer; of one that a configuration describes, those of the user's."""
    held = [each for each in keras3.layers_of(layer) if not isinstance(each, keras.layers.InputLayer)]
    if not has_config(layer):
        return held
    return [inner for each in held for inner in ([each] if not _is_of_keras(each) else _worth_writing(each))]


def has_config(layer: Any) -> bool:
    """Say whether a model is made of its configuration: a functional or Sequential one, of no class of the user's."""
    return _is_of_keras(layer) and _is_graph(layer)


@contextlib.contextmanager
def _configs_of_all(model: keras.Model) -> Iterator[None]:
    """Let layers without a configuration have one that holds their names, by which they are found in the folder."""
    given = [layer for layer in keras3.all_layers(model) if not has_config(layer) and _lacks_config(layer)]
    for layer in given:
        vars(layer)["get_config"] = functools.partial(dict, name=layer.name, trainable=layer.trainable)
    try:
        yield
    finally:
        for layer in given:
            del vars(layer)["get_config"]


def _lacks_config(layer: Any) -> bool:
    if saved_models.lacks_config(layer):
        return True
    try:
        layer.get_config()
    except NotImplementedError:
        return True
    return False


def _is_graph(layer: Any) -> bool:
    return isinstance(layer, keras.Model) and bool(getattr(layer, "inputs", None))


def _is_of_keras(layer: Any) -> bool:
    return type(layer).__module__.startswith(("keras.", "parallel_compat.")) and not isinstance(layer, _Revived)


def _served(model: Any) -> Any:
    """Return the function that is served: tensors by the names of inputs in, outputs by their names out."""
    specs = saved_models.first_inputs(model)
    flat = keras.tree.flatten(specs)
    names = _names_of_inputs(model, specs, len(flat))
    named = [tf.TensorSpec(spec.shape, spec.dtype, name=name) for spec, name in zip(flat, names, strict=True)]

    def serve(*tensors: Any) -> dict[str, Any]:
        outputs = model(keras.tree.pack_sequence_as(specs, list(tensors)), training=False)
        tensors = keras.tree.flatten(outputs)
        # Keras 3 has no such list of a Sequential.
        of_last = [model.layers[-1].name] if isinstance(model, keras.Sequential) else None
        given = getattr(model, "output_names", of_last) if _is_graph(model) else None
        if given is None or len(given) != len(tensors):
            given = [f"output_{number}" for number in range(1, len(tensors) + 1)]
        return dict(zip(given, tensors, strict=True))

    return tf.function(serve, input_signature=named).get_concrete_function()


def _names_of_inputs(model: Any, specs: Any, number: int) -> Sequence[str]:
    if _is_graph(model):
        names = [layer.name for layer in nodes.input_layers(model)]
        return names if len(set(names)) == number else [f"input_{n}" for n in range(1, number + 1)]
    if isinstance(specs, dict) and len(specs) == number:
        return sorted(specs)
    return [f"input_{n}" for n in range(1, number + 1)]


def _unique(variables: list[tf.Variable]) -> list[tf.Variable]:
    return list({id(variable): variable for variable in variables}.values())


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    return keras.saving.serialize_keras_object(value) if hasattr(value, "get_config") else str(value)


# --- reading ----------------------------------------------------------------------------------------------------------


def is_here(path: str) -> bool:
    """Say whether a folder is one that `write` made."""
    return os.path.isfile(os.path.join(path, _DESCRIPTION))


def trainable(folder: str) -> bool | None:
    """Say whether the model of a folder was trained, whatever its layers were; None where the folder is another."""
    return bool(_described(folder)["trainable"]) if is_here(folder) else None


def load(folder: str, given: dict[str, Any], *, safe_mode: bool) -> tuple[Any, dict[str, Any] | None]:
    """Make the model or layer that a folder holds.

    Args:
        folder: the folder.
        given: the user's classes and functions, by name.
        safe_mode: whether Lambda layers in it are called as they were saved, and not made of their code.

    Returns:
        It, and what it was compiled with.
    """
    root, description = _opened(folder)
    known = _Known(root, description, given, safe_mode)
    model = _revived(root, description, known)
    if known.era is not Era.TF_KERAS_1_15:
        _train_as_saved(root, description, known)
    return model, description.get("training_config")


def classes_for(folder: str, given: dict[str, Any], *, safe_mode: bool) -> dict[str, Any]:
    """Return classes for the layers of a folder's configuration: the user's, or ones that find layers by their names.

    Args:
        folder: the folder.
        given: the user's, by name; they make layers that have a configuration.
        safe_mode: whether Lambda layers within these layers are called as they were saved.
    """
    if not is_here(folder):
        return given
    root, description = _opened(folder)
    known = _Known(root, description, given, safe_mode)
    return {**given, **_by_name(root, description, known, lambda: known.again())}


def _by_name(root: Any, description: dict[str, Any], known: _Known, known_to: Callable[[], _Known]) -> dict[str, Any]:
    """Return classes for those layers in a model with a configuration that are of no class that is known."""
    found: dict[str, Any] = {}
    for holder, said in zip(root.layers, description["layers"], strict=True):
        if "__call__" in said["functions"] and not known.has_class_of(said):
            made = found.setdefault(said["class_name"], type(said["class_name"], (_FromFolder,), {"by_name": {}}))
            made.by_name[said["name"]] = (holder, said, known_to)
    return found


def name_weights(model: keras.Model, folder: str) -> None:
    """Let the weights of a model that was made of its configuration have the names that they were saved with."""
    weights = keras3.all_weights(model)
    names = _described(folder).get("names", ()) if is_here(folder) else ()
    if len(names) == len(weights):
        for weight, name in zip(weights, names, strict=True):
            weight_names.give(weight, name)


def _opened(folder: str) -> tuple[Any, dict[str, Any]]:
    return tf.saved_model.load(folder), _described(folder)


def _described(folder: str) -> dict[str, Any]:
    with open(os.path.join(folder, _DESCRIPTION), encoding="utf-8") as file:
        return dict(json.load(file))


class _FromFolder(keras.layers.Layer):  # type: ignore[misc]  # Keras carries no types
    """Stands for the class of a layer where its model is made of a configuration."""

    by_name: dict[str, tuple[Any, dict[str, Any], Callable[[], _Known]]]

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """Make the layer of that name."""
        root, description, known_to = cls.by_name[config["name"]]
        return _revived(root, description, known_to())


class _Revived:
    """What a layer and a model of a SavedModel have in common."""

    name: str

    def revive(self, root: Any, description: dict[str, Any], known: _Known) -> None:
        """Take the weights, layers and functions of the SavedModel."""
        vars(self)[_SAVED] = {
            "root": root,
            "functions": description["functions"],
            "inputs": description.get("inputs"),
            "config": description.get("config"),
        }
        own, number = known.weights[id(root)]
        saved_models.own(self, own[:number], own[number:])
        for position, function in root.regularizers.items():
            own[int(position)].regularizer = functools.partial(_regularized, function)
        for name, which in description["weight_attributes"].items():
            setattr(self, name, own[which])
        held = [_revived(holder, said, known) for holder, said in zip(root.layers, description["layers"], strict=True)]
        # In this order, which is that of the weights.
        left = dict(enumerate(held))
        for name, which in description["attributes"].items():
            one = held[which] if isinstance(which, int) else [held[number] for number in which]
            setattr(self, name, one)
            for number in [which] if isinstance(which, int) else which:
                left.pop(number, None)
        setattr(self, _LAYERS, list(left.values()))
        for name in description["functions"]:
            if not name.startswith("_") and not hasattr(type(self), name):
                vars(self)[name] = getattr(root, name)
        if description.get("inputs") is not None:
            specs = _specs(description["inputs"])
            saved_models.say_first_inputs(self, specs)
            vars(self)[_SAVED]["specs"] = specs
        self.built = True
        if not description["trainable"]:
            self.trainable = False

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """Compute what the layer of that time computed."""
        saved = vars(self)[_SAVED]
        if "__call__" not in saved["functions"]:
            raise ValueError(f"Expected a layer that was called before it was saved. Received: {self.name!r}.")
        specs = saved["specs"]
        inputs = keras.tree.map_structure_up_to(
            specs, lambda spec, given: keras.ops.cast(given, spec.dtype.name), specs, inputs
        )
        return saved["root"](inputs, bool(training))

    def get_config(self) -> dict[str, Any]:
        """Return that of the layer of that time, if it had one."""
        if vars(self)[_SAVED]["config"] is not None:
            return dict(vars(self)[_SAVED]["config"]["config"])
        raise NotImplementedError(f"{self.name!r} was made of a SavedModel, which has no configuration of it.")


def _regularized(function: Callable[[], Any], _value: Any) -> Any:
    return function()


class _Known:
    """The weights of each object of a SavedModel, made at once (a model is made where none may be), and its layer.

    Args:
        root: the object that holds the others.
        description: what it is.
        given: the user's classes and functions, by name.
        safe_mode: whether Lambda layers are called as they were saved, and not made of their code.
    """

    def __init__(self, root: Any, description: dict[str, Any], given: dict[str, Any], safe_mode: bool) -> None:
        self.weights: dict[int, tuple[list[Any], int]] = {}
        self.layers: dict[int, Any] = {}
        self.given, self.safe_mode, self.era = given, safe_mode, callers.era_of_caller()
        self._add(root, description)

    def _add(self, root: Any, description: dict[str, Any]) -> None:
        if id(root) in self.weights:
            return
        variables = [*root.own_trainable, *root.own_others]
        number = len(root.own_trainable)
        made = [
            saved_models.weight(variable, name, trainable=position < number)
            for position, (variable, name) in enumerate(zip(variables, description["weights"], strict=True))
        ]
        self.weights[id(root)] = made, number
        for holder, said in zip(root.layers, description["layers"], strict=True):
            self._add(holder, said)

    def again(self) -> _Known:
        """Return the same without layers: a model may be made twice, first to look at its shapes."""
        other = copy.copy(self)
        other.layers = {}
        return other

    def has_class_of(self, description: dict[str, Any]) -> bool:
        """Whether an object is made of its configuration: it has one, and is of Keras's or of a class that is given.

        TensorFlow 1.15 made none of Keras's layers so, but models.
        """
        of_keras = description["of_keras"] and (description["is_model"] or self.era is not Era.TF_KERAS_1_15)
        return "config" in description and (of_keras or description["class_name"] in self.given)


def _revived(root: Any, description: dict[str, Any], known: _Known) -> Any:
    if id(root) not in known.layers:
        made = _configured(root, description, known) if known.has_class_of(description) else None
        if made is not None:
            known.layers[id(root)] = made
            return made
        kind: Any = keras.Model if description["is_model"] else keras.layers.Layer
        made = type(description["class_name"], (_Revived, kind), {})(name=description["name"])
        object_eras.remember(made, known.era)
        known.layers[id(root)] = made
        made.revive(root, description, known)
    return known.layers[id(root)]


def _configured(root: Any, description: dict[str, Any], known: _Known) -> Any:
    """Make a layer of its configuration, as TensorFlow 2.2 did: it drew initial weights, and got those of the folder.

    Returns:
        It, with the weights of the SavedModel; None for a layer that cannot be made so.
    """
    classes = {**known.given, **_by_name(root, description, known, lambda: known)}
    try:
        made = old_files.layer_from_config(description["config"], classes, safe_mode=known.safe_mode)
        if not made.built and description["built_of"] is not None:
            made.build_from_config(description["built_of"])
    except (TypeError, ValueError):
        if description["is_model"]:  # whose layers are described by this alone
            raise
        return None
    weights = keras3.all_weights(made)
    if [tuple(weight.shape) for weight in weights] != [tuple(each.shape) for each in root.every]:
        return None
    for weight, variable, name in zip(weights, root.every, description["names"], strict=True):
        saved_models.share(weight, variable)
        weight_names.give(weight, name)
    made.built = True
    made.trainable = description["trainable"]
    for each in [made, *keras3.held_layers(made)]:
        object_eras.remember(each, known.era)
    return made


def _train_as_saved(root: Any, description: dict[str, Any], known: _Known) -> None:
    """Let all that a model holds be trained or not as the model was; of models in models, as the innermost was."""
    if description["is_model"] and id(root) in known.layers:
        old_files.train_all(known.layers[id(root)], description["trainable"])
    for holder, said in zip(root.layers, description["layers"], strict=True):
        _train_as_saved(holder, said, known)


def _specs(inputs: Any) -> Any:
    if isinstance(inputs, dict):
        return {name: _specs(each) for name, each in inputs.items()}
    if len(inputs) == 2 and isinstance(inputs[1], str):
        return tf.TensorSpec(*inputs)
    return [_specs(each) for each in inputs]
