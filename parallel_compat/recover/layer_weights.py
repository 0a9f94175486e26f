"""Which weights each layer of Keras 2 has, with what shapes, known from its config alone.

The order is Keras's own: trainable weights first. Sources: the `build` methods of Keras 2.2.4 and of tf.keras in
TensorFlow 2.2 (they agree), held against the real layers by `tests/recover/test_keras3_tables.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from parallel_compat.names import tsv
from parallel_compat.recover.errors import CheckpointError

Shape = tuple["int | None", ...]


@dataclass(frozen=True)
class Spec:
    """One weight that a layer must have. None in the shape, or for it, stands for what only the input tells.

    What a metric counts with that the layer holds (`of_metric`) has not the layer's name in front.
    """

    name: str
    shape: Shape | None
    trainable: bool = True
    of_metric: bool = False

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Return whether an array of this shape can be the weight."""
        return self.shape is None or (
            len(shape) == len(self.shape)
            and all((size > 0 if want is None else want == size) for want, size in zip(self.shape, shape, strict=True))
        )


def specs(class_name: str, config: dict[str, Any]) -> tuple[Spec, ...] | None:
    """Return the weights of a layer, or None if the class is not one of Keras 2.

    >>> from parallel_compat.recover.layer_weights import specs
    >>> [(spec.name, spec.shape) for spec in specs("Dense", {"units": 3, "use_bias": True})]
    [('kernel', (None, 3)), ('bias', (3,))]
    """
    if class_name in WITHOUT_WEIGHTS:
        return ()
    rule = RULES.get(RENAMED.get(class_name, class_name))
    if rule is None:
        return None
    try:
        if class_name == "RNN" and any(cell["class_name"] not in CELLS for cell in cells_of(config["cell"])):
            return None  # a cell of the project's own
        return tuple(rule(config))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise CheckpointError(
            f"layer {config.get('name')!r}: the config of this {class_name} has no valid value for {error}."
        ) from error


def _size(config: dict[str, Any], key: str) -> int:
    value = config[key]
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int or value < 0:
        raise ValueError(key)
    return value


def sides(value: Any, rank: int, what: str) -> list[int]:
    """Return the sides of a window, of which a config says one for all or a list."""
    sizes = [value] * rank if isinstance(value, int) else list(value)
    if len(sizes) != rank or not all(type(size) is int and size > 0 for size in sizes):
        raise ValueError(what)
    return sizes


def _window(config: dict[str, Any], rank: int) -> list[int]:
    return sides(config["kernel_size"], rank, "kernel_size")


def _biased(config: dict[str, Any], kernels: list[Spec], bias: Shape) -> list[Spec]:
    return [*kernels, Spec("bias", bias)] if config.get("use_bias", True) else kernels


def _dense(config: dict[str, Any]) -> list[Spec]:
    units = _size(config, "units")
    return _biased(config, [Spec("kernel", (None, units))], (units,))


def _conv(rank: int, *, transposed: bool = False) -> Callable[[dict[str, Any]], list[Spec]]:
    def rule(config: dict[str, Any]) -> list[Spec]:
        filters = _size(config, "filters")
        channels = (filters, None) if transposed else (None, filters)
        return _biased(config, [Spec("kernel", (*_window(config, rank), *channels))], (filters,))

    return rule


def _separable(rank: int) -> Callable[[dict[str, Any]], list[Spec]]:
    def rule(config: dict[str, Any]) -> list[Spec]:
        filters = _size(config, "filters")
        kernels = [
            Spec("depthwise_kernel", (*_window(config, rank), None, _size(config, "depth_multiplier"))),
            Spec("pointwise_kernel", (*(1,) * rank, None, filters)),
        ]
        return _biased(config, kernels, (filters,))

    return rule


def _depthwise(config: dict[str, Any]) -> list[Spec]:
    kernel = Spec("depthwise_kernel", (*_window(config, 2), None, _size(config, "depth_multiplier")))
    return _biased(config, [kernel], (None,))


def _embedding(config: dict[str, Any]) -> list[Spec]:
    return [Spec("embeddings", (_size(config, "input_dim"), _size(config, "output_dim")))]


def _batch_normalization(config: dict[str, Any]) -> list[Spec]:
    found = [Spec(name, (None,)) for name, key in (("gamma", "scale"), ("beta", "center")) if config.get(key, True)]
    return [*found, Spec("moving_mean", (None,), False), Spec("moving_variance", (None,), False)]


def _layer_normalization(config: dict[str, Any]) -> list[Spec]:
    return [Spec(name, None) for name, key in (("gamma", "scale"), ("beta", "center")) if config.get(key, True)]


def _recurrent(gates: int, *, cudnn: bool = False) -> Callable[[dict[str, Any]], list[Spec]]:
    def rule(config: dict[str, Any]) -> list[Spec]:
        units = _size(config, "units")
        kernels = [Spec("kernel", (None, gates * units)), Spec("recurrent_kernel", (units, gates * units))]
        bias: Shape = (gates * units,)
        if cudnn:
            return [*kernels, Spec("bias", (2 * gates * units,))]
        if gates == 3 and config.get("reset_after", False):
            bias = (2, gates * units)
        return _biased(config, kernels, bias)

    return rule


def _conv_lstm(config: dict[str, Any]) -> list[Spec]:
    filters, window = _size(config, "filters"), _window(config, 2)
    kernels = [Spec("kernel", (*window, None, 4 * filters)), Spec("recurrent_kernel", (*window, filters, 4 * filters))]
    return _biased(config, kernels, (4 * filters,))


def _cells(config: dict[str, Any]) -> list[Spec]:
    """RNN around one cell, or a stack of them."""
    found: list[Spec] = []
    for one in cells_of(config["cell"]):
        found += CELLS[one["class_name"]](one["config"])
    return found


def _locally_connected(config: dict[str, Any]) -> list[Spec]:
    """One kernel for each place, and a bias: their shapes depend on the input, and on the implementation."""
    return [Spec("kernel", None), *([Spec("bias", None)] if config.get("use_bias", True) else [])]


def cells_of(cell: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the entries of the cells that an RNN's cell is: itself, or those of a stack."""
    if cell["class_name"] != "StackedRNNCells":
        return [cell]
    return [one for inner in cell["config"]["cells"] for one in cells_of(inner)]


def _attention(config: dict[str, Any]) -> list[Spec]:
    found = [Spec("scale", ())] if config.get("use_scale", False) else []
    return [*found, Spec("concat_score_weight", ())] if config.get("score_mode") == "concat" else found


def _additive_attention(config: dict[str, Any]) -> list[Spec]:
    return [Spec("scale", (None,))] if config.get("use_scale", True) else []


_ROWS = tsv.rows("layer_weights.tsv", 3, __package__)
# Old name of a class -> its name in Keras 3.
RENAMED = {name: today for kind, name, today in _ROWS if kind == "renamed"}
# What one kind of weight is called in one version of Keras and another.
ALIASES = {name: set(others.split()) for kind, name, others in _ROWS if kind == "alias"}

CELLS: dict[str, Callable[[dict[str, Any]], list[Spec]]] = {
    "SimpleRNNCell": _recurrent(1),
    "GRUCell": _recurrent(3),
    "LSTMCell": _recurrent(4),
}

RULES: dict[str, Callable[[dict[str, Any]], list[Spec]]] = {
    "Dense": _dense,
    "Conv1D": _conv(1),
    "Conv2D": _conv(2),
    "Conv3D": _conv(3),
    "Conv2DTranspose": _conv(2, transposed=True),
    "Conv3DTranspose": _conv(3, transposed=True),
    "SeparableConv1D": _separable(1),
    "SeparableConv2D": _separable(2),
    "DepthwiseConv2D": _depthwise,
    "Embedding": _embedding,
    "BatchNormalization": _batch_normalization,
    "LayerNormalization": _layer_normalization,
    "LocallyConnected1D": _locally_connected,
    "LocallyConnected2D": _locally_connected,
    "PReLU": lambda config: [Spec("alpha", None)],
    "SimpleRNN": _recurrent(1),
    "GRU": _recurrent(3),
    "LSTM": _recurrent(4),
    "CuDNNGRU": _recurrent(3, cudnn=True),
    "CuDNNLSTM": _recurrent(4, cudnn=True),
    "ConvLSTM2D": _conv_lstm,
    "RNN": _cells,
    "Attention": _attention,
    "AdditiveAttention": _additive_attention,
}

WITHOUT_WEIGHTS = frozenset(name for kind, names, _ in _ROWS if kind == "without weights" for name in names.split())
