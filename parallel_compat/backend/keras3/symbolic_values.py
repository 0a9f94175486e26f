"""The values that symbolic tensors have where some of them are given. Read in Keras 3.15.1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import keras

from parallel_compat.backend.keras3.layers import symbolic_history, takes


class Values:
    """Values of symbolic tensors: those that are known, and what the layers make of them.

    >>> import keras, tensorflow as tf
    >>> x = keras.Input((2,)); y = keras.ops.square(x)
    >>> Values([(x, tf.constant([[3.0, 1.0]]))]).of({"y": y})["y"].numpy().tolist()
    [[9.0, 1.0]]

    Args:
        known: pairs of a symbolic tensor and its value.
        training: passed to layers that have to be called.
    """

    def __init__(self, known: Iterable[tuple[Any, Any]] = (), training: bool | None = None) -> None:
        self._values: dict[int, Any] = {}
        self._tensors: list[Any] = []  # whose ids the keys are: they must live
        self._training = training
        for tensor, value in known:
            self._put(tensor, value)

    def _put(self, tensor: Any, value: Any) -> None:
        self._values[id(tensor)] = value
        self._tensors.append(tensor)

    def of(self, structure: Any) -> Any:
        """Return a structure with its symbolic tensors replaced by their values."""
        return keras.tree.map_structure(
            lambda leaf: self._of(leaf) if isinstance(leaf, keras.KerasTensor) else leaf, structure
        )

    def _of(self, tensor: Any) -> Any:
        waiting = [tensor]
        while waiting:
            current = waiting[-1]
            if id(current) in self._values:
                waiting.pop()
                continue
            node = node_of(current)
            missing = [each for each in node.input_tensors if id(each) not in self._values]
            if missing:
                waiting += missing
                continue
            args, kwargs = self.of((node.arguments.args, node.arguments.kwargs))
            if self._training is not None and takes(node.operation, "training"):
                kwargs["training"] = self._training
            results = node.operation(*args, **kwargs)
            for output, value in zip(node.outputs, keras.tree.flatten(results), strict=True):
                self._put(output, value)
        return self._values[id(tensor)]


def behind(tensors: Iterable[Any], known: Iterable[Any] = ()) -> Iterator[tuple[Any, Any]]:
    """Yield each symbolic tensor that some are computed from, and they themselves, with the call that made it.

    Args:
        known: tensors behind which nothing is looked for, and that are not yielded.
    """
    seen, waiting = {id(each) for each in known}, list(tensors)
    while waiting:
        tensor = waiting.pop()
        if id(tensor) not in seen:
            seen.add(id(tensor))
            node = node_of(tensor)
            yield tensor, node
            waiting += node.input_tensors if node is not None else ()


def node_of(tensor: Any) -> Any:
    """Return the call that made a symbolic tensor (`Operation._inbound_nodes`), or None."""
    history = symbolic_history(tensor)
    return None if history is None else history[0]._inbound_nodes[history[1]]
