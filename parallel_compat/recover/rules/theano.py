"""Where Theano placed the windows of `padding="same"`: half of the window on either side, whatever the strides."""

from __future__ import annotations

from typing import Any

from parallel_compat.recover.config_json import Entry
from parallel_compat.recover.layer_weights import sides
from parallel_compat.recover.translation import Translation

_PADDED = {"Conv1D": 1, "Conv2D": 2, "Conv3D": 3, "SeparableConv1D": 1, "SeparableConv2D": 2, "DepthwiseConv2D": 2}
_OTHERS = {"Conv2DTranspose": 2, "Conv3DTranspose": 3, "ConvLSTM2D": 2}
_POOLS = {f"{kind}Pooling{rank}D": rank for kind in ("Max", "Average") for rank in (1, 2, 3)}


def padding_of_theano(entry: Entry, translation: Translation) -> None:
    """A convolution whose windows TensorFlow puts elsewhere gets its zeros from a padding layer.

    TensorFlow pads as little as it can, at the end first. With strides of 1 and a window of odd sides the two agree.
    """
    if translation.backend != "theano":
        return
    config, name = entry["config"], entry["class_name"]
    rank = {**_PADDED, **_OTHERS, **_POOLS}.get(name)
    if rank is None or (config.get("padding") != "same" and name != "ConvLSTM2D"):
        return
    window = sides(config.get("pool_size" if name in _POOLS else "kernel_size"), rank, "the sides of a window")
    strides = sides(config.get("strides") or (window if name in _POOLS else 1), rank, "the sides of a window")
    rates = sides(config.get("dilation_rate") or 1, rank, "the sides of a window")
    window = [(side - 1) * rate + 1 for side, rate in zip(window, rates, strict=True)]
    odd = all(side % 2 for side in window)
    if name == "ConvLSTM2D" and odd and (config.get("padding") != "same" or set(strides) == {1}):
        return
    if odd and set(strides) == {1} and (name not in _POOLS or set(window) <= {1, 3}):
        return
    if name not in _PADDED:
        translation.refuse(entry, 'Theano placed the windows of its `padding="same"` differently from Keras 3')
        return
    zeros = [[side // 2, (side - 1) // 2] for side in window]
    pad: dict[str, Any] = {"name": f"{config['name']}_padding", "padding": zeros if rank > 1 else zeros[0]}
    if config.get("data_format") is not None:
        pad["data_format"] = config["data_format"]
    kernels = {**config, "name": f"{config['name']}_kernels", "padding": "valid"}
    entry["config"] = {
        "name": config["name"],
        "layers": [
            {"class_name": f"ZeroPadding{rank}D", "name": pad["name"], "config": pad},
            {"class_name": name, "name": kernels["name"], "config": kernels},
        ],
    }
    entry["class_name"] = "Sequential"
    translation.note(entry, 'Theano placed the windows of its `padding="same"` differently, as a ZeroPadding now does')
