"""Whole models of files in this process, with the layers and activations of the stand-ins.

`parallel_compat.recover` reads and translates the files; what a translated model finds here in addition to Keras 3 is
said by `target`.
"""

from __future__ import annotations

import base64
import contextlib
import inspect
import marshal
import random
import warnings
import zipfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import h5py
import keras
import numpy as np

from parallel_compat import bytecode
from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import h5_files, hidden_classes
from parallel_compat.legacy import activations, layers, locally_connected, optimizers
from parallel_compat.legacy.metrics import metric_function
from parallel_compat.legacy.model_files import reading_into_code
from parallel_compat.names.identifiers import identifiers
from parallel_compat.recover import keras_models
from parallel_compat.recover.config_json import model_entry, parse
from parallel_compat.recover.config_walk import translate
from parallel_compat.recover.errors import CheckpointError, naming
from parallel_compat.recover.h5_writer import gather
from parallel_compat.recover.parallel_wrapper import unwrap
from parallel_compat.recover.reader import read
from parallel_compat.recover.rules.activations import RENAMED
from parallel_compat.recover.rules.training import old_training
from parallel_compat.recover.single_model import template_of, written_by_keras3
from parallel_compat.recover.translation import Target
from parallel_compat.warning_category import ParallelCompatWarning

if TYPE_CHECKING:
    from types import CodeType

    from parallel_compat.recover.reader import Reading
    from parallel_compat.recover.translation import Translation


_LARGE = 10_000  # up to here two sizes make a kernel of 400 MB at most


def target(given: Mapping[str, Any]) -> Target:
    """Return what a translated model finds here: layers of Keras 3 and of the stand-ins, and the old `hard_sigmoid`."""
    here = {name for name, value in vars(keras.layers).items() if inspect.isclass(value)}
    own = (
        name
        for name, kind in given.items()
        if name in here
        and inspect.isclass(kind)
        and kind.__module__.partition(".")[0] not in ("keras", "parallel_compat")
    )
    return Target(frozenset(here | set(old_layers())), activations.REGISTERED_HARD_SIGMOID, own=frozenset(own))


def old_layers() -> dict[str, Any]:
    """Return the classes of layers that only `parallel_compat.legacy` has, or Keras keeps for old files."""
    held = [*hidden_classes.kept_layers(), locally_connected.LocallyConnected1D, locally_connected.LocallyConnected2D]
    return {kind.__name__: kind for kind in held if not hasattr(keras.layers, kind.__name__)} | {
        name: value
        for name, value in vars(layers).items()
        if inspect.isclass(value) and issubclass(value, keras.layers.Layer) and not name.startswith("_")
    }


def load(path: str, custom_objects: dict[str, Any] | None, *, compile: bool, safe_mode: bool) -> keras.Model:
    """Make the model that an HDF5 file holds, compiled as it was, with the state of its optimizer.

    Args:
        safe_mode: whether Lambda layers that hold Python code are refused.

    Raises:
        CheckpointError: the file is damaged or hostile, holds weights alone or Python code, or something of which this
            process has no counterpart; each by name.
    """
    given = h5_files.custom_objects(custom_objects)
    with read(path, optimizer=compile) as reading, naming(path):
        stored = reading.stored
        if stored.form == "keras3" or stored.model_config is None:
            raise CheckpointError(
                f"Expected a whole model in {path}. Received: only weights. Build the model and call "
                "`model.load_weights` on it."
            )
        if written_by_keras3(stored):
            return _of_keras3(reading, given, compile=compile, safe_mode=safe_mode)
        template = template_of(stored, given, target=target(given))
        assert template.translation is not None
        _refuse_unknown_layers(template.translation)
        single, state = keras_models.read_model(template, reading, {**old_layers(), **given}, optimizer=compile)
    with naming(path):
        model = _restore_parallel(single, [wrapper.gpus for wrapper in template.wrappers])
        if not compile or stored.training_config is None:
            return model
        notes: list[str] = []
        tf_keras = "tf" in (stored.keras_version or "")
        training = old_training(parse(stored.training_config, "training_config"), notes, given, tf_keras=tf_keras)
        if training is not None:
            compile_as_saved(model, training, given)
            notes += keras_models.restore_optimizer(single, template, state, optimizer=model.optimizer)
    for note in notes:
        warnings.warn(f"{path}: {note}", ParallelCompatWarning, stacklevel=4)
    return model


def _of_keras3(reading: Reading, given: dict[str, Any], *, compile: bool, safe_mode: bool) -> keras.Model:
    """Let Keras read its own format, after every object in the file was looked at and the model's shapes are known."""
    stored = reading.stored
    assert stored.model_config is not None
    config = h5_files.with_operations(parse(stored.model_config, "model_config"), given)
    if "layers" not in config["config"]:
        raise CheckpointError(
            "Expected a functional or Sequential model, which its configuration describes. Received: the class "
            f"{config['class_name']!r}, of which the file has the weights alone. {reading_into_code(stored.path)}"
        )
    state = [gather(array, pieces) for array, pieces in reading.arrays(optimizer=compile)]
    shapes = sorted(array.shape for layer in stored.layers for array in layer.weights)
    known = {
        **functions_of_tensorflow(),
        **h5_files.parts_of_configs(),
        **old_layers(),
        "Lambda": LambdaOfFile(given, safe_mode),
        **given,
    }
    with keras3.global_state.variables_without_values(), keras3.global_state.uncounted_names():
        probe = h5_files.model_from_config(keras_models.stateless(config), known, safe_mode)
        wanted = sorted(tuple(variable.shape) for variable in h5_files.weights_in_file(probe))
        if wanted != shapes:
            raise CheckpointError(
                f"expected weights of the shapes {wanted}, by the model's config. Received: {shapes} in the file."
            )
    model = h5_files.model_from_config(config, known, safe_mode)
    with h5py.File(stored.path, "r") as file:
        h5_files.read_weights(model, file["model_weights"])
    if compile and stored.training_config is not None:
        training = parse(stored.training_config, "training_config")
        compile_as_saved(model, training, given)
        state = state[len(shapes) :]
        if state:
            note = keras3.model_saving.restore_optimizer(model.optimizer, model.trainable_variables, state)
            if note is not None:
                warnings.warn(f"{stored.path}: {note}", ParallelCompatWarning, stacklevel=5)
    return model


def require_room(path: str, known: dict[str, Any], *, safe_mode: bool) -> None:
    """Refuse a `.keras` file of a model that this machine has no memory for; what else is wrong with it Keras says."""
    with zipfile.ZipFile(path) as archive, naming(path):
        config = parse(archive.read("config.json").decode(), "config.json")
    if _largest(config) < _LARGE:
        return
    state = random.getstate()  # of which Keras draws the seeds of layers
    with (
        keras3.global_state.variables_without_values() as variables,
        keras3.global_state.uncounted_names(),
        contextlib.suppress(Exception),
    ):
        h5_files.model_of_today(keras_models.stateless(config), known, safe_mode)
    random.setstate(state)
    with naming(path):
        keras_models.require_room(variables)


def _largest(value: Any) -> float:
    """Return the largest number in a config."""
    if isinstance(value, (dict, list)):
        return max(map(_largest, value.values() if isinstance(value, dict) else value), default=0)
    return value if isinstance(value, (int, float)) else 0


def functions_of_tensorflow() -> dict[str, Any]:
    """Return activations by the names that functions of TensorFlow have in its sources: Keras 3 writes these."""
    return {name: keras.activations.get(today) for name, today in RENAMED.items()}


def model_from_text(text: str, custom_objects: dict[str, Any] | None, *, safe_mode: bool) -> keras.Model:
    """Make a model from the JSON of a config that Keras 2 wrote (`model.to_json()`), or Keras 3.

    Args:
        safe_mode: whether Lambda layers that hold Python code are refused.

    Raises:
        CheckpointError: it is no model's config, holds Python code, or something of which this process has no
            counterpart; each by name.
    """
    given = h5_files.custom_objects(custom_objects)
    config = parse(text, "the config")
    if isinstance(config, dict) and ("module" in config or "registered_name" in config):
        config.pop("compile_config", None)  # a config of Keras 2 said nothing of `compile`
        config = h5_files.with_own_functions(config, given)
        known = {**functions_of_tensorflow(), "Lambda": LambdaOfFile(given, safe_mode), **given}
        with keras3.global_state.variables_without_values(), keras3.global_state.uncounted_names():
            keras_models.check_room(h5_files.model_of_today(keras_models.stateless(config), known, safe_mode))
        return h5_files.model_of_today(config, known, safe_mode)
    entry, wrappers = unwrap(model_entry(text))
    version = config.get("keras_version") if isinstance(config, dict) else None
    translation = translate(entry, version if isinstance(version, str) else None, given, target(given))
    _refuse_unknown_layers(translation)
    for note in translation.notes:
        warnings.warn(note, ParallelCompatWarning, stacklevel=4)
    single = keras_models.make(
        translation.config,
        {**old_layers(), **given},
        keras_models.check_room,
        "the model's config",
        keras3.global_state.uncounted_names,
    )
    return _restore_parallel(single, [wrapper.gpus for wrapper in wrappers])


def _refuse_unknown_layers(translation: Translation) -> None:
    if translation.lambdas:
        raise CheckpointError(
            f"Expected a model without Python code. Received: the Lambda layer '{translation.lambdas[0]}', whose "
            "function is stored as bytecode of an old Python,  which this one cannot run. Build the model in "
            "code and call `load_weights`."
        )
    translation.check()


def _restore_parallel(single: keras.Model, gpus: list[int]) -> keras.Model:
    """Return the parallel model that a file was written by: its script looks for `layers[-2]`, the single one."""
    if not gpus:
        return single
    from parallel_compat.devices import available_devices
    from parallel_compat.parallelize_model import parallelize

    count = len(available_devices())
    if len(gpus) > 1 or gpus[0] > count:
        raise CheckpointError(
            f"Expected a single model, or {max(gpus)} devices. Received: the file of a parallel model over {gpus[0]} "
            f"devices, and {count} here. Get the single model with `parallel-compat recover`, or simulate the devices: "
            f"`parallel_compat.simulate_devices({max(gpus)})`."
        )
    return parallelize(single, gpus=gpus[0])


class LambdaOfFile:
    """What makes the Lambda layers of a file of Keras 3: their code sees what Keras 2 let it see.

    Keras 2.2.4 gave it the names of `keras/layers/core.py` (`K`, `np`) and `custom_objects`; Keras 3 gives it none.
    Code that is equal to a function of the script is the script's: that one is run, with the names of its module.
    """

    def __init__(self, custom_objects: dict[str, Any], safe_mode: bool) -> None:
        self._custom_objects = custom_objects
        self._safe_mode = safe_mode

    def from_config(self, config: dict[str, Any]) -> keras.layers.Lambda:
        """Make one layer.

        Raises:
            CheckpointError: it holds code that is not the script's, in safe mode.
        """
        config = {**config}
        names: dict[str, Any] = {}
        codes = [key for key in ("function", "output_shape") if _is_code(config.get(key))]
        for key in codes:
            written = config[key]["config"]
            own = _code_of_script(written.get("code"))
            if own is not None:
                code = base64.b64encode(marshal.dumps(own[0])).decode()
                config[key] = {**config[key], "config": {**written, "code": code}}
                names |= own[1]
            elif self._safe_mode:
                raise CheckpointError(
                    f"Expected a model without foreign code. Received: the Lambda layer '{config.get('name')}', whose "
                    "function is stored as bytecode, and is not one of this script's. Build the model in code and call "
                    "`load_weights`. If you trust the file: `load_model(..., safe_mode=False)`."
                )
        safe_mode = self._safe_mode and not codes
        layer = h5_files.lambda_of_config(config, self._custom_objects, safe_mode)
        if codes:
            from parallel_compat.legacy import backend

            h5_files.give_names(layer, {"K": backend, "np": np, "keras": keras, **names, **self._custom_objects})
        return layer


def _is_code(function: Any) -> bool:
    return isinstance(function, dict) and function.get("class_name") == "__lambda__"


def _code_of_script(code: Any) -> tuple[CodeType, dict[str, Any]] | None:
    """Return the script's own code that is equal to a file's, and its globals; None if it has none."""
    try:
        return bytecode.code_of_script(bytecode.read(base64.b64decode(code)))
    except (bytecode.BytecodeError, TypeError, ValueError):
        return None


# --- as it was compiled ---------------------------------------------------------------------------------------------


def compile_as_saved(model: keras.Model, training: dict[str, Any], custom_objects: dict[str, Any]) -> None:
    """Compile a model as its file's `training_config` says."""
    with keras.saving.custom_object_scope(custom_objects):
        arguments = {"optimizer": _optimizer(training["optimizer_config"], custom_objects)}
        for name, kind in (("loss", "loss"), ("metrics", "metric"), ("weighted_metrics", "metric")):
            if name != "weighted_metrics" or training.get(name):
                arguments[name] = _objects(training.get(name), kind, custom_objects)
        model.compile(**arguments, loss_weights=training.get("loss_weights"))


def _optimizer(config: dict[str, Any], custom_objects: dict[str, Any]) -> Any:
    settings = {key: value for key, value in config["config"].items() if key not in ("name", "is_legacy_optimizer")}
    settings = {key: value for key, value in settings.items() if value is not None or key == "epsilon"}
    if isinstance(settings.get("learning_rate"), dict):
        settings["learning_rate"] = keras.optimizers.schedules.deserialize(settings["learning_rate"], custom_objects)
    if config["class_name"] in custom_objects:
        return custom_objects[config["class_name"]].from_config(settings)
    by_lower = {kind.lower(): kind for kind in dir(keras.optimizers) if kind[0].isupper()}
    name = by_lower.get(config["class_name"].lower(), config["class_name"])
    try:
        return getattr(optimizers, name)(**settings)
    except TypeError as error:  # the table knows of an argument that Keras 3 has nothing for
        raise CheckpointError(f"training_config: {error} Or load the model with `compile=False`.") from error


def _objects(given: Any, kind: str, custom_objects: dict[str, Any]) -> Any:
    """Replace names by the user's objects or today's names, and configs by the objects that they describe."""
    if isinstance(given, dict) and "class_name" not in given:
        return {key: _objects(value, kind, custom_objects) for key, value in given.items()}
    if isinstance(given, list):
        return [_objects(each, kind, custom_objects) for each in given]
    if isinstance(given, str):
        row = identifiers()[kind].get(given)
        if given not in custom_objects:
            return given if row is None else row.new
        given = custom_objects[given]
    elif isinstance(given, dict):
        given = _deserialized(given, kind, custom_objects)
    return metric_function(given) if kind == "metric" else given


def _deserialized(config: dict[str, Any], kind: str, custom_objects: dict[str, Any]) -> Any:
    """Make a loss or metric of its config, also of a class without `from_config`."""
    settings = config.get("config")
    if isinstance(settings, dict) and settings.get("reduction") == "auto":
        config = {**config, "config": {**settings, "reduction": "sum_over_batch_size"}}
    found = keras.saving.get_registered_object(config.get("class_name"), custom_objects)
    if isinstance(found, type) and not hasattr(found, "from_config"):
        return found(**config["config"])
    module = keras.losses if kind == "loss" else keras.metrics
    return module.deserialize(config, custom_objects)
