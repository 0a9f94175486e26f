"""Recurrent layers that only ran on NVIDIA's library."""

from __future__ import annotations

import copy

from parallel_compat.recover.config_json import Entry
from parallel_compat.recover.translation import Translation

CUDNN = {"CuDNNLSTM": "LSTM", "CuDNNGRU": "GRU"}


def cudnn(entry: Entry, translation: Translation) -> None:
    """`CuDNNLSTM` and `CuDNNGRU` are the plain layers with cuDNN's activations; their weights get another layout.

    Sources: `keras/layers/cudnn_recurrent.py` of Keras 2.2.4 (what they compute), `_convert_rnn_weights` in its
    `keras/engine/saving.py` (the layout; here in `weight_edits.py`).
    """
    new = CUDNN.get(entry["class_name"])
    if new is None:
        return
    entry["class_name"] = new
    config = entry["config"]
    config |= {"activation": "tanh", "recurrent_activation": "sigmoid", "use_bias": True}
    if new == "GRU":
        config["reset_after"] = True
        translation.edit(entry, "cudnn_gru")
    else:
        translation.edit(entry, "cudnn_lstm")


def backwards(entry: Entry, translation: Translation) -> None:
    """The backward layer of `Bidirectional(LSTM(..., go_backwards=True))` goes forwards; Keras 3's goes backwards."""
    config = entry["config"]
    layer = config.get("layer")
    if entry["class_name"] != "Bidirectional" or not isinstance(layer, dict) or config.get("backward_layer"):
        return
    if layer["config"].get("go_backwards"):
        twin = copy.deepcopy(layer)
        twin["config"] |= {"go_backwards": False, "name": f"backward_{layer['config']['name']}"}
        config["backward_layer"] = twin
