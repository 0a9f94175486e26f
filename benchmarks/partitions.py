"""Which bytes cross devices in a call of TensorFlow functions, read off the graphs as TensorFlow cut them for devices.

TensorFlow puts a `_Send` and a `_Recv` wherever a tensor passes from a device to another. Logical CPU devices of one
process are cut as GPUs are. Sizes are those that shape inference finds in the graph after TensorFlow's optimizations.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.core.framework.graph_pb2 import GraphDef
from tensorflow.python.eager import context

if TYPE_CHECKING:
    from collections.abc import Callable

# Variables are arguments of the graph; here they become tensors, so that what is read from them has a shape.
# They give the shape that they got, which importing a graph does not find for what goes round in a loop.
_PASS_ON = ("Identity", "Switch", "Merge", "Enter", "Exit", "AddN")
_COLLECTIVES = ("CollectiveReduceV2", "CollectiveGatherV2")
_READS = {"ReadVariableOp": ("Identity", {"dtype": "T"}), "ResourceGather": ("Gather", {"dtype": "Tparams"})}


class Traffic:
    """Bytes that leave and reach each device, by its short name; `tensors` holds each as (from, to, bytes, name)."""

    def __init__(self) -> None:
        self.sent: Counter[str] = Counter()
        self.received: Counter[str] = Counter()
        self.tensors: list[tuple[str, str, float, str]] = []

    def add(self, sender: str, receiver: str, size: float, name: str) -> None:
        """Count a tensor of `size` bytes."""
        self.sent[sender] += size  # type: ignore[assignment]  # a share of a ring's bytes need not be an int
        self.received[receiver] += size  # type: ignore[assignment]
        self.tensors.append((sender, receiver, size, name))

    @property
    def busiest(self) -> float:
        """The bytes that the busiest device sends or receives, whichever is more."""
        return max([*self.sent.values(), *self.received.values()], default=0)


def traffic_of(call: Callable[[], Any], turns: int = 1, dense: float | None = None) -> Traffic:
    """Count the bytes that cross devices in the largest graph of `call`, which must be the first call of its functions.

    Args:
        call: calls one step.
        turns: of the loops in it; what is sent within a loop is sent in each turn.
        dense: bytes of all gradients that are not sparse, for what a collective operation adds up if shape inference
            does not find its size (gradients that come out of loops).

    Raises:
        ValueError: if the size of a tensor that is sent cannot be inferred.
    """
    current = context.context()
    current.ensure_initialized()
    current.enable_run_metadata()
    try:
        current.export_run_metadata()
        call()
        metadata = current.export_run_metadata()
    finally:
        current.disable_run_metadata()
    found = Traffic()
    # The step; the others fill the iterator.
    step = max(metadata.function_graphs, key=lambda graphs: len(graphs.post_optimization_graph.node))
    nodes = [node for graph in step.partition_graphs for node in graph.node]
    size_of = _sizes(step.post_optimization_graph)
    # Stands for "this was done" on another device: an empty tensor, made when the graph was cut.
    signals = {node.name for node in nodes if node.op == "Const" and "/ctrl/" in node.name}
    for node in nodes:
        if node.op in ("_Send", "_HostSend"):
            sender, receiver = (_short(node.attr[f"{end}_device"].s) for end in ("send", "recv"))
            if sender != receiver and node.input[0] not in signals:
                times = turns if _is_in_a_loop(node.input[0]) else 1
                found.add(sender, receiver, times * size_of(node.input[0]), node.input[0])
    _count_collectives([node for node in nodes if node.op in _COLLECTIVES], size_of, found, dense)
    return found


def _count_collectives(nodes: list[Any], size_of: Callable[[str], float], found: Traffic, dense: float | None) -> None:
    """A ring sends (n-1)/n of a tensor to the next device to add it up, and as much again to share the sum."""
    devices = sorted({_short(node.device) for node in nodes})
    following = dict(zip(devices, [*devices[1:], *devices[:1]], strict=True))
    for node in nodes:
        device, n = _short(node.device), len(devices)
        if "/else/" in node.name or "/else/" in node.input[0]:
            continue  # both branches are in the graph; sparse gradients of equal size take the first
        try:
            size = size_of(node.input[0])
        except ValueError:
            if dense is None or node.op != "CollectiveReduceV2":
                raise
            size = dense
        share = 2 * (n - 1) / n * size if node.op == "CollectiveReduceV2" else (n - 1) * size
        found.add(device, following[device], share, f"{node.op} of {node.input[0]}")


def _sizes(graph: GraphDef) -> Callable[[str], float]:
    """Return the size of each tensor of a graph by its name, in bytes."""
    plain = GraphDef(versions=graph.versions, library=graph.library)
    handles = set()
    for node in graph.node:
        if node.op == "_Retval" or node.op.startswith("Assign") or node.op == "NoOp":
            continue
        new = plain.node.add(name=node.name, op=node.op)
        new.input.extend(name for name in node.input if not name.startswith("^"))
        if node.op == "_Arg":
            new.op = "Placeholder"
            new.attr["dtype"].type = node.attr["T"].type
            _set_shape(new, node.attr["_output_shapes"])
            if node.attr["_handle_shapes"].list.shape:
                handles.add(node.name)
                value = plain.node.add(name=f"{node.name}/value", op="Placeholder")
                value.attr["dtype"].type = node.attr["_handle_dtypes"].list.type[0]
                _set_shape(value, node.attr["_handle_shapes"])
            continue
        renamed = {}
        if node.op in _READS and node.input[0] in handles:
            new.op, renamed = _READS[node.op]
            new.input[0] = f"{node.input[0]}/value"
        for name, value in node.attr.items():
            if not name.startswith("_") and not (renamed and name in ("batch_dims", "validate_indices")):
                new.attr[renamed.get(name, name)].CopyFrom(value)
    imported = tf.Graph()
    with imported.as_default():
        tf.graph_util.import_graph_def(plain, name="")

    def size(name: str) -> float:
        tensor = imported.get_tensor_by_name(name if ":" in name else f"{name}:0")
        while not tensor.shape.is_fully_defined() and tensor.op.type in _PASS_ON:
            tensor = tensor.op.inputs[0]
        if not tensor.shape.is_fully_defined():
            raise ValueError(f"Expected a known shape for each tensor that is sent. Received: {tensor}")
        return float(math.prod(tensor.shape) * tensor.dtype.size)

    return size


def _is_in_a_loop(name: str) -> bool:
    """By the names that TensorFlow gives to what it makes of a `while` loop."""
    return "/while" in name and ("/body/" in name or "/LoopCond/" in name)


def _set_shape(node: Any, shapes: Any) -> None:
    if shapes.list.shape:
        node.attr["shape"].shape.CopyFrom(shapes.list.shape[0])


def _short(device: bytes | str) -> str:
    name = device.decode() if isinstance(device, bytes) else device
    return name.rpartition("device:")[2]
