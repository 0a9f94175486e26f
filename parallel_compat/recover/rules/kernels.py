"""How the weights of a layer were laid out by Keras 1, and by Theano."""

from __future__ import annotations

from parallel_compat.recover import keras1
from parallel_compat.recover.config_json import Entry
from parallel_compat.recover.layer_weights import specs
from parallel_compat.recover.translation import Translation

# Keras 2's `conv_layers`: Theano's kernels of these are turned. (`SeparableConv2D` and `DepthwiseConv2D` turned them
# themselves.)
TURNED = frozenset({"Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "ConvLSTM2D"})
CORRELATING = frozenset({"tensorflow", "cntk"})


def layout_of_keras1(entry: Entry, translation: Translation) -> None:
    """Kernels of Keras 1 had their axes in another order, and recurrent layers a kernel for each gate."""
    if not translation.keras1:
        return
    config, name = entry["config"], entry["class_name"]
    count = len(specs(name, config) or ())
    if name == "ConvLSTM2D" or (name in ("LSTM", "GRU") and config.get("implementation") != 2):
        count = 9 if name == "GRU" else 12
    for edit in keras1.edits(name, config.get("data_format"), count):
        translation.edit(entry, edit)


def turned_kernel(entry: Entry, translation: Translation) -> None:
    """Theano convolved where TensorFlow correlates: its kernels are turned by 180 degrees."""
    backend, name = translation.backend, entry["class_name"]
    if backend is None or backend in CORRELATING or name not in TURNED:
        return
    if backend == "theano":
        translation.edit(entry, "turned")
    else:
        translation.refuse(entry, f"its kernel is of Keras on {backend[:40]!r}, whose orientation is not known")
