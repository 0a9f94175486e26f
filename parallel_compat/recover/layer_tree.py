"""A model as a tree: models and wrappers are branches, layers with weights of their own are leaves.

The same tree is made of a config (here) and of a living Keras model (`keras_models.tree_of`), so that arrays
from a file find their place in either by the same rules (`placement.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from parallel_compat.recover.config_json import Entry
from parallel_compat.recover.layer_weights import Spec, specs

Path = tuple[str, ...]


@dataclass
class Leaf:
    """A layer with its own weights."""

    path: Path  # names from the model inwards
    key: str  # the name that its weights carry in front ("forward_lstm_1" inside a Bidirectional)
    class_name: str  # the class in the file
    config: dict[str, Any]  # its config there
    specs: tuple[Spec, ...] | None  # what weights it must have; None where the class is not known
    trainable: bool = True  # whether it was frozen when the file was written
    # What weights it has in Keras 3, where that is not one for each in the file.
    written: tuple[Spec, ...] | None = None

    def leaves(self) -> Iterator[Leaf]:
        """Yield itself."""
        yield self

    def sections(self, *, frozen: bool) -> tuple[list[tuple[Leaf, int]], list[tuple[Leaf, int]]]:
        """Return its weights in Keras's two sections: trainable, and not. A frozen layer has all in
        the second."""
        specs = self.written or self.specs or ()
        places = [(self, index) for index in range(len(specs))]
        if frozen and not self.trainable:
            return [], places
        kinds = [spec.trainable for spec in specs]
        return (
            [place for place, kind in zip(places, kinds, strict=True) if kind],
            [place for place, kind in zip(places, kinds, strict=True) if not kind],
        )


@dataclass
class Branch:
    """A model or wrapper: layers, in Keras's order."""

    path: Path
    children: list[Leaf | Branch] = field(default_factory=list)

    def leaves(self) -> Iterator[Leaf]:
        """Yield all leaves, depth first."""
        for child in self.children:
            yield from child.leaves()

    def sections(self, *, frozen: bool) -> tuple[list[tuple[Leaf, int]], list[tuple[Leaf, int]]]:
        """Return the weights of all children: their trainable sections one after the other, then the
        others."""
        found = [child.sections(frozen=frozen) for child in self.children]
        return [place for first, _ in found for place in first], [place for _, second in found for place in second]


Node = Leaf | Branch


def tree_of_config(entry: Entry, path: Path = (), key: str | None = None) -> Node:
    """Make the tree of a model's (or layer's) entry."""
    config, name = entry["config"], entry["name"]
    if "layers" in config:
        return Branch(path, [tree_of_config(layer, (*path, layer["name"])) for layer in config["layers"]])
    if entry["class_name"] == "Bidirectional" and isinstance(config.get("layer"), dict):
        forward = config["layer"]
        backward = config.get("backward_layer") or forward
        # Keras names the pair "forward_<name>" and "backward_<name>" after the layer that was given.
        base = forward["name"].removeprefix("forward_")
        return Branch(
            path,
            [
                tree_of_config(forward, (*path, "forward_layer"), f"{name}/forward_{base}"),
                tree_of_config(backward, (*path, "backward_layer"), f"{name}/backward_{base}"),
            ],
        )
    if entry["class_name"] == "TimeDistributed" and isinstance(config.get("layer"), dict):
        # The weights are built under the wrapper's name, not the layer's own.
        return Branch(path, [tree_of_config(config["layer"], (*path, "layer"), key or name)])
    return Leaf(
        path,
        key or name,
        entry["class_name"],
        config,
        specs(entry["class_name"], config),
        config.get("trainable") is not False,
    )
