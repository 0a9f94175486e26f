"""Activations: their names, and the one whose meaning changed."""

from __future__ import annotations

from parallel_compat.recover.config_json import Entry
from parallel_compat.recover.layer_weights import cells_of, specs
from parallel_compat.recover.rules.keras3_arguments import KERAS3_ARGUMENTS
from parallel_compat.recover.translation import Translation
from parallel_compat.recover.weight_edits import part_of

_KNOWN = """
    elu exponential hard_sigmoid linear log_softmax relu relu6 selu sigmoid softmax softplus softsign swish tanh
"""
KNOWN = frozenset(_KNOWN.split())
# Before TensorFlow 2.4 a function of this name was a project's own: a "gelu" most often BERT's approximation with
# tanh, which is not Keras 3's.
KNOWN_SINCE = {"gelu": (2, 4), "silu": (2, 4)}
RENAMED = {  # functions of TensorFlow, by the names that they have in its sources
    "softmax_v2": "softmax",
    "log_softmax_v2": "log_softmax",
    "swish_impl": "swish",
}
ARGUMENTS = ("activation", "recurrent_activation")
_LAYERS = ("LeakyReLU", "ReLU", "ELU", "Softmax", "PReLU")


def renamed_activation(entry: Entry, translation: Translation) -> None:
    """An activation stands under its name in Keras 3; one that is not Keras's own is reported."""
    if entry["class_name"] not in KERAS3_ARGUMENTS:
        return
    config = entry["config"]
    for argument in ARGUMENTS:
        if argument not in config:
            continue
        given = config[argument]
        if given is None and argument == "activation":
            config[argument] = "linear"
            continue
        given = RENAMED.get(given, given) if isinstance(given, str) else given
        if isinstance(given, dict) and given.get("class_name") in _LAYERS:
            translation.refuse(entry, f"its {argument} is the layer {given['class_name']}; make it a separate layer")
        elif not isinstance(given, str) or not (given in KNOWN or translation.version >= KNOWN_SINCE.get(given, (4,))):
            name = str(given.get("class_name") if isinstance(given, dict) else given)[:120]
            translation.custom.setdefault(name[:120], []).append(f"{entry['name']}.{argument}")
        config[argument] = given


# Layers whose weighted sum goes straight into the activation: scaling the weights scales its argument.
SUMMED = frozenset({"Dense", "Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "Conv3DTranspose", "DepthwiseConv2D"})
GATED = frozenset({"LSTM", "GRU", "ConvLSTM2D"})
CELLS = frozenset({"LSTMCell", "GRUCell"})
# In front of the activation stands the pointwise kernel with the bias; the depthwise kernel comes before.
SEPARABLE = frozenset({"SeparableConv1D", "SeparableConv2D"})


def hard_sigmoid(entry: Entry, translation: Translation) -> None:
    """`hard_sigmoid` was clip(0.2 x + 0.5, 0, 1), in Keras 3 it is clip(x / 6 + 0.5, 0, 1).

    The old one at x is the new one at 1.2 x. In front of it stands a weighted sum, in an LSTM's gates for instance, so
    its weights are multiplied by 1.2 (`weight_edits.py`). An `Activation` layer has no weights; it becomes a small
    model of the same name that computes the old formula. Where the target has the old function, it is named instead.
    """
    config, name = entry["config"], entry["class_name"]
    if translation.target.hard_sigmoid is not None:
        for argument in ARGUMENTS:
            if name in KERAS3_ARGUMENTS and config.get(argument) == "hard_sigmoid":
                config[argument] = dict(translation.target.hard_sigmoid)
        return
    if name in GATED and config.get("recurrent_activation") == "hard_sigmoid":
        translation.edit(entry, "old_hard_sigmoid_gates")
    if name == "RNN":
        _hard_sigmoid_cells(entry, translation)
    if config.get("activation") != "hard_sigmoid" or name not in KERAS3_ARGUMENTS:
        return
    if name in SUMMED:
        translation.edit(entry, "old_hard_sigmoid")
    elif name in SEPARABLE:
        translation.edit(entry, part_of("old_hard_sigmoid", name, 1, 3 if config.get("use_bias", True) else 2))
    elif name == "Activation":
        entry["class_name"] = "Sequential"
        entry["config"] = {
            "name": config["name"],
            "layers": [
                {
                    "class_name": "Rescaling",
                    "name": f"{config['name']}_slope",
                    "config": {"name": f"{config['name']}_slope", "scale": 0.2, "offset": 0.5},
                },
                {
                    "class_name": "ReLU",
                    "name": f"{config['name']}_clip",
                    "config": {"name": f"{config['name']}_clip", "max_value": 1.0},
                },
            ],
        }
        translation.note(
            entry, "hard_sigmoid is another function in Keras 3; the old one is written as a Rescaling and a ReLU"
        )
    else:
        translation.refuse(entry, "its activation hard_sigmoid is another function in Keras 3")


def _hard_sigmoid_cells(entry: Entry, translation: Translation) -> None:
    """The layer around cells has all their weights, one cell's after the other's."""
    start = 0
    cells = cells_of(entry["config"]["cell"])
    gated = [cell["config"].get("recurrent_activation") == "hard_sigmoid" for cell in cells]
    for cell, is_gated in zip(cells, gated, strict=True):
        mine = specs("RNN", {"cell": cell})
        if mine is None:
            if any(gated):
                translation.refuse(
                    entry,
                    "hard_sigmoid is another function in Keras 3, and it cannot be converted next to a custom cell",
                )
            return
        if is_gated and cell["class_name"] in CELLS:
            translation.edit(entry, part_of("old_hard_sigmoid_gates", cell["class_name"], start, start + len(mine)))
        start += len(mine)
