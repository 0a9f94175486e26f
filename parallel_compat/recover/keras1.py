"""Say a file of Keras 1 in Keras 2's words: its config, and how its layers' weights are laid out.

Keras 1 wrote neither its version (into files of weights) nor its backend; the names of weights tell: "dense_1_W:0" is
of TensorFlow, "dense_1_W" of Theano, "dense_1/kernel:0" of Keras 2. Sources: the layers of Keras 1.2.2, and what
Keras 2.2.4 makes of their configs (`legacy/interfaces.py`) and weights (`preprocess_weights_for_loading`).
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from parallel_compat.names import tsv
from parallel_compat.recover.config_json import Entry, own_entries
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.layer_tree import Leaf
from parallel_compat.recover.layer_weights import Spec
from parallel_compat.recover.reader import Stored

_WEIGHT = re.compile(
    r"(.+)_((?:W|U|b)(?:_[ifcozrh])?|gamma|beta|running_mean|running_std|alphas|depthwise_kernel|pointwise_kernel)"
    r"((?:_\d+)?(?::\d+)?)"
)
_OF_KERAS_2 = re.compile(
    r".*/(?:\w*kernel|bias|embeddings|gamma|beta|moving_mean|moving_variance|alpha)(?:_\d+)?(?::\d+)?"
)


def is_keras1(stored: Stored) -> bool:
    """Return whether Keras 1, or one before it, wrote a file."""
    if stored.form == "keras3":
        return False
    if stored.keras_version is not None:
        return stored.keras_version.startswith(("0.", "1."))
    return not any(_OF_KERAS_2.fullmatch(weight.name) for weight in stored.weights)


def as_keras2(stored: Stored) -> Stored:
    """Return a file of Keras 1 with a version and a backend, and with a slash after the layer in names of weights."""
    names = [weight.name for weight in stored.weights]
    backend = stored.backend
    if backend is None and names:
        of_keras_1 = [name for name in names if _WEIGHT.fullmatch(name)]
        on_tensorflow = any(name.endswith(":0") for name in names)
        backend = "tensorflow" if on_tensorflow else "theano" if of_keras_1 else "unknown"
    layers = tuple(
        dataclasses.replace(
            layer,
            weights=tuple(dataclasses.replace(one, name=_WEIGHT.sub(r"\1/\2\3", one.name)) for one in layer.weights),
        )
        for layer in stored.layers
    )
    return dataclasses.replace(stored, keras_version=stored.keras_version or "1", backend=backend, layers=layers)


# --- the config -------------------------------------------------------------------------------------------------------


def _renamed(what: str) -> dict[str, str]:
    return {old: new for of, old, new in tsv.rows("keras1.tsv", 3, __package__) if of == what}


_CLASSES, _MERGES, _ARGUMENTS = _renamed("class"), _renamed("mode of Merge"), _renamed("argument")
# What said how weights began, or what the layer found out when it was built.
_WITHOUT_EFFECT = {"forget_bias_init", "input_dim", "input_length"}
_IMPLEMENTATIONS = {"cpu": 0, "mem": 1, "gpu": 2}
_ORDERS = {"th": "channels_first", "tf": "channels_last"}
# Their configs do not say the order of axes: it was that of the whole program.
_IN_THE_ORDER_OF_ALL = frozenset(
    [
        *(f"{what}{rank}D" for what in ("UpSampling", "ZeroPadding", "Cropping", "SpatialDropout") for rank in (2, 3)),
        *(f"Global{what}Pooling{rank}D" for what in ("Max", "Average") for rank in (2, 3)),
    ]
)


def entry_of_keras2(entry: Entry) -> Entry:
    """Return a model's config of Keras 1 as Keras 2 would have written it.

    What has no counterpart keeps its name, so that the rules for Keras 2 report it.
    """
    try:
        return _entry(entry, _order(entry))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(
            f"model_config: not of a form that Keras 1 wrote ({type(error).__name__}: {str(error)[:200]})."
        ) from error


def without_merges(entry: Entry) -> Entry:
    """Return a model's config of Keras 2 with today's layer for each `Merge`, which Keras had until 2.1."""
    return _entry(entry, None, merges_alone=True)


def _order(entry: Entry) -> str | None:
    """Return the order of axes that all layers of a model say."""
    said = {config["dim_ordering"] for config in _configs(entry) if config.get("dim_ordering") in _ORDERS}
    if len(said) > 1:
        return None
    return _ORDERS[said.pop()] if said else "channels_last"


def _configs(entry: Entry) -> list[dict[str, Any]]:
    found = [entry["config"]]
    inner = [*entry["config"].get("layers", ()), *own_entries(entry)]
    inner += [entry["config"]["layer"]] if isinstance(entry["config"].get("layer"), dict) else []
    for one in inner:
        found += _configs(one)
    return found


def _entry(entry: Entry, order: str | None, merges_alone: bool = False) -> Entry:
    config = dict(entry["config"])
    if "layers" in config:
        config["layers"] = [_entry(layer, order, merges_alone) for layer in config["layers"]]
        made = {**entry, "config": config}
        merge = entry["config"]["layers"][0] if entry["config"]["layers"] else {}
        starts = entry["class_name"] == "Sequential" and merge.get("class_name") == "Merge"
        return (
            _merged_inputs(made, [_entry(one, order, merges_alone) for one in own_entries(merge)]) if starts else made
        )
    if isinstance(config.get("layer"), dict):
        config["layer"] = _entry(config["layer"], order, merges_alone)
    if entry["class_name"] == "Merge":
        return _merge(entry, config)
    if merges_alone:
        return {**entry, "config": config}
    name = str(_CLASSES.get(entry["class_name"], entry["class_name"]))
    return {**entry, "class_name": name, "config": _arguments(name, config, order)}


def _merge(entry: Entry, config: dict[str, Any]) -> Entry:
    mode = config.get("mode")
    if mode not in _MERGES or config.get("mode_type", "raw") != "raw":
        return entry
    kept: dict[str, Any] = {"name": config["name"]}
    if mode == "concat":
        kept["axis"] = config.get("concat_axis", -1)
    if mode == "dot":
        kept["axes"] = config.get("dot_axes", -1)
    made = {key: value for key, value in entry.items() if key != "own_layers"}
    for node in made.get("inbound_nodes", ()):
        for tensor in node:
            tensor[3].pop("mask", None)  # Keras 2.0 wrote the masks that it passed
    return {**made, "class_name": _MERGES[mode], "config": kept}


def _arguments(name: str, config: dict[str, Any], order: str | None) -> dict[str, Any]:
    names = {**_ARGUMENTS, **_renamed(name)}
    new: dict[str, Any] = {}
    for key, value in config.items():
        if key in _WITHOUT_EFFECT and (name != "Embedding" or key != "input_dim"):
            continue
        if key.endswith("_regularizer"):
            value = _regularizer(value)
        elif key.endswith("_constraint"):
            value = _constraint(value)
        elif key == "dim_ordering":
            value = _ORDERS.get(value)
        elif key == "consume_less":
            value = _IMPLEMENTATIONS.get(value)
        new[names.get(key, key)] = value
    if "nb_row" in new:
        new["kernel_size"] = [new.pop("nb_row"), new.pop("nb_col", None)]
    if "kernel_dim1" in new:
        new["kernel_size"] = [new.pop(f"kernel_dim{axis}") for axis in (1, 2, 3)]
    if name in _IN_THE_ORDER_OF_ALL and "data_format" not in new:
        if order is None:
            raise CheckpointError(
                f"layer {config.get('name')!r}: its config lacks the order of its axes, and the layers of the model "
                "have different orders. Build the model with its own code and use `load_template_weights`."
            )
        new["data_format"] = order
    if name.startswith(("ZeroPadding", "Cropping")):
        for key in ("padding", "cropping"):
            if key in new:
                new[key] = _sides(new[key])
    if name == "BatchNormalization" and new.get("mode") == 0:
        del new["mode"]
    if name == "Embedding":
        new.pop("dropout", None)  # of the training alone
    if name == "SeparableConv2D":
        new.pop("pointwise_initializer", None)
    if name == "Conv2DTranspose" and new.get("strides") in ([1, 1], 1):
        new.pop("output_shape", None)  # can be one alone
    return new


def _regularizer(value: Any) -> Any:
    if isinstance(value, dict) and "class_name" not in value and ("l1" in value or "l2" in value):
        return {"class_name": "L1L2", "config": {key: value.get(key, 0.0) for key in ("l1", "l2")}}
    return value


def _constraint(value: Any) -> Any:
    if isinstance(value, dict) and "class_name" not in value and isinstance(value.get("name"), str):
        config = {"max_value" if key == "m" else key: one for key, one in value.items() if key != "name"}
        return {"class_name": value["name"], "config": config}
    return value


def _sides(value: Any) -> Any:
    """Return a padding of four numbers, or by names, as pairs."""
    if isinstance(value, dict):
        sides = [("top_pad", "bottom_pad"), ("left_pad", "right_pad")]
        pairs = [[value.get(one, 0) for one in pair] for pair in sides]
        return pairs if "top_pad" in value or "bottom_pad" in value else pairs[1]
    if isinstance(value, list) and len(value) == 4:
        return [value[:2], value[2:]]
    return value


def _merged_inputs(model: Entry, branches: list[Entry]) -> Entry:
    """Make a graph of a Sequential that begins with a merge of several models."""
    merge, *rest = model["config"]["layers"]
    layers: list[Entry] = []
    inputs, merged = [], []
    for branch in branches:
        held = branch["config"].get("layers", ())
        if branch["class_name"] == "Functional":
            shapes = [
                one["config"].get("batch_input_shape")
                for tensor in branch["config"]["input_layers"]
                for one in held
                if one["name"] == tensor[0]
            ]
        else:
            first = held[0] if held else branch
            shapes = [first["config"].get("batch_input_shape")]
        names = [f"{branch['name']}_input_{number}" for number in range(1, len(shapes) + 1)]
        for name, shape in zip(names, shapes, strict=True):
            config = {"name": name, "batch_input_shape": shape}
            layers.append({"class_name": "InputLayer", "name": name, "config": config, "inbound_nodes": []})
            inputs.append([name, 0, 0])
        layers.append({**branch, "inbound_nodes": [[[name, 0, 0, {}] for name in names]]})
        merged.append([branch["name"], 0, 0, {}])
    before = merged
    for layer in (merge, *rest):
        layers.append({**layer, "inbound_nodes": [before]})
        before = [[layer["name"], 0, 0, {}]]
    config = {"name": model["name"], "layers": layers, "input_layers": inputs, "output_layers": [before[0][:3]]}
    return {**model, "class_name": "Functional", "config": config}


# --- the weights ------------------------------------------------------------------------------------------------------

_GATES = {"LSTM": "icfo", "GRU": "zrh", "ConvLSTM2D": "icfo"}


def edits(class_name: str, data_format: str | None, count: int) -> list[str]:
    """Return the edits that turn the weights of a layer of Keras 1 into those of Keras 2.

    Args:
        class_name: in Keras 2.
    """
    if class_name in _GATES and count == 3 * len(_GATES[class_name]):
        first = "_first" if class_name == "ConvLSTM2D" and data_format == "channels_first" else ""
        return [f"keras1_{class_name}{first}"]
    if class_name == "Conv1D":
        return ["keras1_Conv1D"]
    if class_name in ("Conv2D", "Conv3D") and data_format == "channels_first":
        return ["keras1_first"]
    if class_name == "Conv2DTranspose":
        return ["keras1_transposed_first" if data_format == "channels_first" else "keras1_transposed"]
    return []


def lay_out(leaf: Leaf, *, gate_by_gate: bool) -> None:
    """Say what weights a layer has in a file of Keras 1.

    Args:
        gate_by_gate: whether a recurrent layer has a kernel for each gate.
    """
    if leaf.class_name in _GATES and gate_by_gate:
        gates = _GATES[leaf.class_name]
        leaf.specs = tuple(Spec(f"{kind}_{gate}", None) for gate in gates for kind in "WUb")
    elif leaf.specs and leaf.class_name in ("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose"):
        leaf.specs = (Spec("kernel", None), *leaf.specs[1:])


def apply_layout(leaf: Leaf) -> None:
    """Say what weights a layer has in a file of Keras 1, by its config there."""
    lay_out(leaf, gate_by_gate=leaf.class_name == "ConvLSTM2D" or leaf.config.get("implementation") != 2)
