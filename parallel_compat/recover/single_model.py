"""The single model in a file: its layers, and which of the file's arrays belong to each."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from parallel_compat.recover import keras1, weight_edits
from parallel_compat.recover.config_json import Entry, model_entry
from parallel_compat.recover.config_walk import translate
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.layer_tree import Branch, Leaf, Node, Path, tree_of_config
from parallel_compat.recover.layer_weights import Spec
from parallel_compat.recover.parallel_wrapper import Wrapper, unwrap
from parallel_compat.recover.placement import place, split
from parallel_compat.recover.reader import Stored, StoredLayer
from parallel_compat.recover.translation import PLAIN_KERAS, Target, Translation

LAMBDA_NAME = re.compile(r"lambda(_\d+)?")


@dataclass
class Template:
    """The single model that a file holds."""

    stored: Stored  # the file
    wrappers: list[Wrapper]  # the parallel models around it, outermost first
    entry: Entry | None = None  # its config as the file has it; None in a file of weights
    tree: Branch | None = None  # its layers; None in a file of weights
    translation: Translation | None = None  # its config for Keras 3; None in a file of weights
    # Leaf -> indices of its arrays in the file, counted over all layers.
    indices: dict[Path, list[int]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # what a user should know

    @property
    def leaves(self) -> dict[Path, Leaf]:
        """The layers that have weights, by path."""
        return (
            {} if self.tree is None else {leaf.path: leaf for leaf in self.tree.leaves() if leaf.path in self.indices}
        )


def template_of(
    stored: Stored,
    custom_objects: Collection[str] = (),
    architecture: Entry | None = None,
    target: Target = PLAIN_KERAS,
) -> Template:
    """Find the single model in a file.

    Args:
        architecture: the single model's config from elsewhere, for a file of weights.
    """
    if stored.form == "keras3":
        raise CheckpointError(f"{stored.path}: weights in Keras 3's own format; `model.load_weights` reads them.")
    try:
        return _template(stored, custom_objects, architecture, target)
    except CheckpointError as error:
        raise (error if str(error).startswith(stored.path) else CheckpointError(f"{stored.path}: {error}")) from error


def _template(stored: Stored, custom_objects: Collection[str], architecture: Entry | None, target: Target) -> Template:
    if written_by_keras3(stored):
        raise CheckpointError(
            f"written by Keras {stored.keras_version}; it needs no recovery: Keras 3 loads it unchanged."
        )
    of_keras1 = keras1.is_keras1(stored)
    if of_keras1:
        stored = keras1.as_keras2(stored)
    if stored.form == "weights" and architecture is None:
        return Template(stored, wrappers_of_weights(stored))
    if stored.model_config is None and architecture is None:
        raise CheckpointError("a whole model's file without `model_config`; its config is lost.")
    if architecture is not None:
        entry, _ = unwrap(keras1.entry_of_keras2(architecture) if of_keras1 else architecture)
        if stored.form == "model":
            raise CheckpointError("holds its own architecture; leave out `architecture` (--architecture).")
        wrappers = wrappers_of_weights(stored)
        group = _full(stored)[0].name if wrappers else None
    else:
        assert stored.model_config is not None
        outer = model_entry(stored.model_config, [layer.name for layer in stored.layers])
        entry, wrappers = unwrap(keras1.entry_of_keras2(outer) if of_keras1 else keras1.without_merges(outer))
        # The outermost wrapper's one layer with weights carries the name of what it wraps.
        group = None if not wrappers else wrappers[1].name if len(wrappers) > 1 else entry["name"]
    tree = tree_of_config(entry)
    assert isinstance(tree, Branch)
    for leaf in tree.leaves() if of_keras1 else ():
        keras1.apply_layout(leaf)
    translation = translate(entry, stored.keras_version, custom_objects, target, stored.backend)
    template = Template(stored, wrappers, entry, tree, translation)
    template.indices = _indices(stored, tree, group)
    for path, config in translation.shaped.items():
        shapes = [stored.weights[position].shape for position in template.indices.get(path, ())]
        if shapes and len(shapes[0]) == 3:  # the bias, or the kernel without its windows
            config["output_shape"] = list(shapes[1]) if len(shapes) == 2 else [shapes[0][0], shapes[0][-1]]
    for leaf in tree.leaves():
        written = weight_edits.written(translation.edits.get(leaf.path, ()), len(template.indices.get(leaf.path, ())))
        if written is not None:
            leaf.written = tuple(Spec(name, None, trainable) for name, trainable in written)
    template.notes += template.translation.notes if template.translation else []
    return template


def _indices(stored: Stored, tree: Branch, group: str | None) -> dict[Path, list[int]]:
    """Give each leaf its arrays, group by group."""
    groups: dict[str, tuple[int, StoredLayer]] = {}
    start = 0
    for layer in stored.layers:
        groups[layer.name] = (start, layer)
        start += len(layer.weights)
    found: dict[Path, list[int]] = {}
    wanted = [(group, tree)] if group is not None else _groups_of(tree, groups)
    for name, node in wanted:
        first, group_of_it = groups.pop(name, (0, None))
        arrays = () if group_of_it is None else group_of_it.weights
        placed = place(node, arrays, f"layer {name[:80]!r}")
        for leaf in node.leaves():
            positions = placed.get(leaf.path)
            if not positions:
                continue
            found[leaf.path] = [first + position for position in positions]
            if leaf.specs is None:  # a class of the project's own: what it has is what the file has
                leaf.specs = tuple(
                    Spec(split(arrays[position].name)[1], arrays[position].shape) for position in positions
                )
    for name, (_, layer) in groups.items():
        if layer.weights:
            raise CheckpointError(f"the layer {name[:80]!r} has weights in the file but is not in its config.")
    return found


def _groups_of(tree: Branch, groups: Collection[str]) -> list[tuple[str, Node]]:
    """Return the layers that have groups of their own: in a `Sequential` of Keras 1, also those of models before a
    `Merge`."""
    found: list[tuple[str, Node]] = []
    for child in tree.children:
        inside = [leaf.path[-1] for leaf in child.leaves()] if isinstance(child, Branch) else []
        if child.path[-1] not in groups and isinstance(child, Branch) and set(inside) & set(groups):
            found += _groups_of(child, groups)
        else:
            found.append((child.path[-1], child))
    return found


def written_by_keras3(stored: Stored) -> bool:
    """Return whether a file is Keras 3's own."""
    return (stored.keras_version or "").startswith(("3.", "4."))


def _full(stored: Stored) -> list[StoredLayer]:
    return [layer for layer in stored.layers if layer.weights]


def wrappers_of_weights(stored: Stored) -> list[Wrapper]:
    """Return the parallel model that wrote weights, if the layers' names tell of one.

    Those list ``[inputs, lambdas, <template>, outputs]``, with all weights in the template. The number of devices is
    the number of lambdas over the number of inputs.
    """
    full = _full(stored)
    if len(full) != 1:
        return []
    names = [layer.name for layer in stored.layers]
    template = names.index(full[0].name)
    slices = [number for number, name in enumerate(names[:template]) if LAMBDA_NAME.fullmatch(name)]
    if not slices or slices != list(range(slices[0], template)) or not slices[0] or template == len(names) - 1:
        return []
    gpus, rest = divmod(len(slices), slices[0])
    if rest or gpus < 2:
        return []
    return [Wrapper("", gpus, "by its layers' names")]
