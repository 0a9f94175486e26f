"""How layers are called: inputs, and the numbering of calls."""

from __future__ import annotations

from typing import Any

from parallel_compat.recover.config_json import Entry
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.rules.keras3_arguments import KERAS3_ARGUMENTS
from parallel_compat.recover.translation import Translation

FUNCTIONAL = frozenset({"name", "trainable", "layers", "input_layers", "output_layers"})
RECURRENT = frozenset({"LSTM", "GRU", "SimpleRNN", "RNN", "ConvLSTM2D", "Bidirectional"})


def input_layer(entry: Entry, translation: Translation) -> None:
    """An InputLayer says `batch_shape`; Keras 2 said `batch_input_shape`."""
    if entry["class_name"] != "InputLayer":
        return
    config = entry["config"]
    if "batch_input_shape" in config:
        config["batch_shape"] = config.pop("batch_input_shape")
    config.pop("input_dtype", None)
    if config.pop("ragged", False):
        translation.refuse(entry, "Keras 3 takes no ragged input like this one")
    if not _is_shape(config.get("batch_shape")):
        translation.refuse(entry, f"its shape is {str(config.get('batch_shape'))[:80]}, which is not a shape")


def functional_arguments(entry: Entry, translation: Translation) -> None:
    """A functional model is its layers, inputs and outputs; what else a project's own class wrote goes."""
    if entry["class_name"] == "Functional":
        for key in [key for key in entry["config"] if key not in FUNCTIONAL]:
            del entry["config"][key]


def sequential_input(entry: Entry, translation: Translation) -> None:
    """A Sequential begins with an InputLayer; Keras 2 wrote the shape into its first layer, or next to the layers."""
    if entry["class_name"] != "Sequential":
        return
    config = entry["config"]
    layers = config["layers"]
    shape = config.pop("build_input_shape", None)
    config.pop("dtype", None)
    config.pop("batch_input_shape", None)
    if not layers or layers[0]["class_name"] == "InputLayer":
        return
    first = layers[0]
    shape = first.get("batch_input_shape") or _input_shape(first) or shape
    if shape is None:
        translation.note(entry, "does not say the shape of its input; Keras builds it when it is first called")
        return
    if not _is_shape(shape):
        translation.refuse(entry, f"the shape of its input is {str(shape)[:80]}, which is not a shape")
        return
    dtype = first["config"].get("dtype")
    name = f"{first['name']}_input"
    # An Embedding's input was of its own dtype, float32, and holds whole numbers all the same.
    config["layers"] = [
        {
            "class_name": "InputLayer",
            "name": name,
            "config": {
                "batch_shape": shape,
                "dtype": dtype if dtype in ("float32", "float64", "int32", "int64") else "float32",
                "name": name,
            },
        },
        *layers,
    ]


def _input_shape(entry: Entry) -> Any:
    """Return the input shape of a first layer that is itself a wrapper or a model."""
    config = entry["config"]
    if "batch_input_shape" in entry:
        return entry["batch_input_shape"]
    if config.get("layers"):
        return config["layers"][0]["config"].get("batch_shape")
    return None


def wrapped_layer(entry: Entry, translation: Translation) -> None:
    """A layer inside another one says where its class is from, in Keras 3's form; Keras 2 gave the name alone.

    (`Bidirectional`, `TimeDistributed` and `RNN` of Keras 3.15 read their layer with `serialization_lib`.)
    """
    config = entry["config"]
    for key in ("layer", "backward_layer", "cell"):
        if isinstance(config.get(key), dict):
            config[key] = _keras3_form(config[key])
    if isinstance(config.get("cells"), list):
        config["cells"] = [_keras3_form(cell) for cell in config["cells"]]


def _keras3_form(entry: Entry) -> Entry:
    name = entry["class_name"]
    module = {"Functional": "keras.src.models.functional", "Sequential": "keras"}.get(name, "keras.layers")
    own = name in KERAS3_ARGUMENTS or module != "keras.layers"
    return {
        "module": module if own else None,
        "class_name": name,
        "config": entry["config"],
        "registered_name": None if own else name,
    }


def _is_shape(shape: Any) -> bool:
    return (
        isinstance(shape, list)
        and 1 <= len(shape) <= 16
        and all(size is None or (type(size) is int and 0 <= size < 1 << 31) for size in shape)
    )


def initial_state(model: Entry, translation: Translation) -> None:
    """A recurrent layer gets its initial state as an argument; Keras 2 wrote it as further inputs of the call."""
    for layer in model["config"]["layers"]:
        if layer["class_name"] not in RECURRENT:
            continue
        for number, node in enumerate(layer.get("inbound_nodes", [])):
            if len(node) > 1:
                states = [_tensor(one) for one in node[1:]]
                layer["inbound_nodes"][number] = {
                    "args": [_tensor(node[0])],
                    "kwargs": {"initial_state": states[0] if len(states) == 1 else states},
                }


def _tensor(tensor: list[Any]) -> dict[str, Any]:
    # Keras looks the tensor up by its history; shape and dtype are then those of the tensor it finds.
    return {
        "class_name": "__keras_tensor__",
        "config": {"shape": [None], "dtype": "float32", "keras_history": tensor[:3]},
    }


def call_numbers(model: Entry, translation: Translation) -> None:
    """Calls of a layer are numbered from 0.

    Keras 2 counted the building of a model as its call number 0, so that a model inside a model starts at 1; Keras 3
    does not, save in `output_layers` of a functional one (`functional_from_config`, Keras 3.15).
    """
    layers = {layer["name"]: layer for layer in model["config"]["layers"]}
    calls = {
        name: 1 if layer["class_name"] == "InputLayer" else len(layer.get("inbound_nodes", []))
        for name, layer in layers.items()
    }
    used: dict[str, set[int]] = {name: set() for name in layers}
    outputs = model["config"]["output_layers"]
    for tensor in _used_tensors(model):
        if tensor[0] not in layers:
            raise CheckpointError(f"{model['name']}: the layer {tensor[0][:80]!r} is used but missing.")
        used[tensor[0]].add(tensor[1])
    shift = {}
    for name, numbers in used.items():
        # Every call that is written down leads to an output: the highest number in use tells where counting began.
        shift[name] = max(numbers) - (calls[name] - 1) if numbers and max(numbers) >= calls[name] else 0
        if any(not 0 <= number - shift[name] < calls[name] for number in numbers):
            raise CheckpointError(
                f"{model['name']}: call number {max(numbers)} of the layer {name[:80]!r} is "
                f"not there; it has {calls[name]}."
            )
    for tensor in _used_tensors(model):
        tensor[1] -= shift[tensor[0]]
    for tensor in outputs:
        if layers[tensor[0]]["class_name"] == "Functional":
            tensor[1] += 1


def no_circle(model: Entry, translation: Translation) -> None:
    """Every call of a layer takes what calls before it made; a graph in which none can begin is refused."""
    waiting: dict[tuple[str, int], int] = {}
    feeds: dict[tuple[str, int], list[tuple[str, int]]] = {}
    ready: list[tuple[str, int]] = []
    for layer in model["config"]["layers"]:
        nodes = layer.get("inbound_nodes") or ([[]] if layer["class_name"] == "InputLayer" else [])
        for number, node in enumerate(nodes):
            call = (layer["name"], number)
            sources = {(tensor[0], tensor[1]) for tensor in _tensors_of(node)}
            waiting[call] = len(sources)
            for source in sources:
                feeds.setdefault(source, []).append(call)
            if not sources:
                ready.append(call)
    done = 0
    while ready:
        done += 1
        for call in feeds.get(ready.pop(), ()):
            waiting[call] -= 1
            if not waiting[call]:
                ready.append(call)
    if done < len(waiting):
        name = next(call[0] for call, count in waiting.items() if count)
        raise CheckpointError(f"{model['name']}: the layer {name[:80]!r} depends on its own output: a cycle.")


def single_tensors(model: Entry, translation: Translation) -> None:
    """A model of one input takes a tensor, and one of one output returns a tensor; Keras 3 takes a list of one for a
    list."""
    config = model["config"]
    for key in ("input_layers", "output_layers"):
        if len(config[key]) == 1:
            config[key] = config[key][0]


def _used_tensors(model: Entry) -> list[list[Any]]:
    """Return all places in a model's graph that name a tensor, to be read or changed there."""
    found = list(model["config"]["output_layers"])
    for layer in model["config"]["layers"]:
        for node in layer.get("inbound_nodes", []):
            found += _tensors_of(node)
    return found


def _tensors_of(node: Any) -> list[list[Any]]:
    """Return the tensors that one call takes."""
    if not isinstance(node, dict):
        return list(node)
    states = node["kwargs"]["initial_state"]
    tensors = [*node["args"], *(states if isinstance(states, list) else [states])]
    return [one["config"]["keras_history"] for one in tensors]
