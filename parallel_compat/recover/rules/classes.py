"""Layer classes that are gone, renamed, or were never Keras's own."""

from __future__ import annotations

from parallel_compat.recover.config_json import Entry
from parallel_compat.recover.layer_weights import RENAMED
from parallel_compat.recover.rules.keras3_arguments import KERAS3_ARGUMENTS
from parallel_compat.recover.rules.locally_connected import LOCALLY_CONNECTED
from parallel_compat.recover.rules.plain_values import is_object
from parallel_compat.recover.translation import Translation

# Classes that plain Keras 3 would build from a name alone, and that run or load what a file brings along.
NEVER = frozenset({"TFSMLayer", "TorchModuleWrapper", "JaxLayer", "FlaxLayer", "Pipeline"})

GONE = {
    "TensorFlowOpLayer": "it holds a TensorFlow operation that no layer of Keras 3 computes",
    "ConvRNN2D": "it holds a convolutional cell",
    "Highway": "Keras 2 removed it",
    "MaxoutDense": "Keras 2 removed it",
    "Merge": "with this mode Keras 2 removed it",
    "ParametricSoftplus": "Keras 2 removed it",
    "SReLU": "Keras 2 removed it",
}


def renamed_class(entry: Entry, translation: Translation) -> None:
    """A class of the same meaning stands under its new name."""
    entry["class_name"] = RENAMED.get(entry["class_name"], entry["class_name"])


def thresholded_relu(entry: Entry, translation: Translation) -> None:
    """`ThresholdedReLU(theta)` is `ReLU(threshold=theta)`.

    x where x > theta, 0 elsewhere, in both; they part only at x == theta, which Keras 3 lets through.
    """
    if entry["class_name"] == "ThresholdedReLU" and "ThresholdedReLU" not in translation.target.layers:
        entry["class_name"] = "ReLU"
        entry["config"]["threshold"] = entry["config"].pop("theta", 1.0)


def unknown_class(entry: Entry, translation: Translation) -> None:
    """A class that is not Keras's own is kept as data, and reported."""
    name = entry["class_name"]
    if name in NEVER:
        translation.refuse(entry, f"the class {name} executes code of the file; no old Keras had it")
    elif name in LOCALLY_CONNECTED and name not in {*translation.custom_objects, *translation.target.layers}:
        return  # was refused before, with the reason
    elif name in GONE and name not in {*translation.custom_objects, *translation.target.layers}:
        translation.refuse(entry, f"Keras 3 has no {name}: {GONE[name]}")
    elif name not in KERAS3_ARGUMENTS and "layers" not in entry["config"]:
        if name not in translation.target.layers:
            translation.custom.setdefault(name, []).append(entry["name"])
        if "batch_input_shape" in entry["config"]:
            entry["batch_input_shape"] = entry["config"].pop("batch_input_shape")  # for `sequential_input`
    elif "layers" in entry["config"] and name not in ("Functional", "Sequential"):
        # A model with its own class: its layers are all there, the class adds methods alone.
        translation.note(entry, f"was of the class {name}; it is written as a functional model")
        entry["class_name"] = "Functional"


def lambda_layer(entry: Entry, translation: Translation) -> None:
    """A Lambda that does not belong to a parallel model is of a function of the project by name, or holds bytecode.

    Bytecode is kept as data, reported, and never run.
    """
    if entry["class_name"] != "Lambda":
        return
    config = entry["config"]
    function = config.get("function")
    by_name = config.get("function_type") == "function" and isinstance(function, str)
    by_name = by_name and config.get("output_shape_type", "raw") == "raw" and not is_object(config.get("output_shape"))
    if not by_name or is_object(config.get("arguments")):
        translation.lambdas.append(entry["name"])
        return
    if function not in translation.custom_objects:
        translation.custom.setdefault(str(function)[:120], []).append(f"{entry['name']}.function")
    for key in ("function_type", "output_shape_type", "module", "output_shape_module"):
        config.pop(key, None)
    # Where it stands as a plain name, Keras takes it for an object by itself before the layer does, and stops.
    config["function"] = {
        "module": "builtins",
        "class_name": "function",
        "config": function,
        "registered_name": "function",
    }
