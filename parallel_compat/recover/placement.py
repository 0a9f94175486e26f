"""Find out which array of a file belongs to which layer, where the file gives only a flat list.

A model inside a model is one group in the file, its arrays a flat list: first all trainable ones, layer after layer,
then the others (`Container.weights` in Keras 2). A parallel model's file has the whole template in one such group. Two
independent witnesses say where an array belongs, its name and its position, and its shape must fit; what they leave in
doubt is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.layer_tree import Branch, Leaf, Node, Path
from parallel_compat.recover.layer_weights import ALIASES
from parallel_compat.recover.reader import StoredArray


def place(node: Node, arrays: Sequence[StoredArray], where: str) -> dict[Path, list[int]]:
    """Return for each leaf the positions of its arrays in the flat list, in the order of the leaf's weights."""
    if isinstance(node, Leaf):
        _check_leaf(node, arrays, where)
        return {node.path: list(range(len(arrays)))}
    leaves = [leaf for leaf in node.leaves() if leaf.specs != ()]
    known = [leaf for leaf in leaves if leaf.specs is not None]
    if len(known) == len(leaves):
        expected = sum(len(leaf.specs or ()) for leaf in leaves)
        if expected != len(arrays):
            raise CheckpointError(
                f"{where}: expected {expected} weights, by its layers' configs. Received: {len(arrays)}."
            )
        if len(leaves) == 1:
            _check_leaf(leaves[0], arrays, where)
            return {leaves[0].path: list(range(len(arrays)))}
    found = _by_name(leaves, arrays)
    if found is None and len(known) == len(leaves):
        for frozen, sectioned in ((True, True), (False, True), (False, False)):
            found = _by_position(node, arrays, frozen=frozen, sectioned=sectioned)
            if found is not None:
                break
    if found is None:
        raise CheckpointError(
            f"{where}: neither names nor order show which of its {len(arrays)} weights belongs "
            f"to which layer. {_mismatch(leaves, arrays)}"
        )
    return found


def _check_leaf(leaf: Leaf, arrays: Sequence[StoredArray], where: str) -> None:
    if leaf.specs is None:
        return
    if len(leaf.specs) != len(arrays):
        raise CheckpointError(
            f"{where}: expected {len(leaf.specs)} weights for a {leaf.class_name} "
            f"({', '.join(spec.name for spec in leaf.specs)}). "
            f"Received: {len(arrays)}."
        )
    for spec, array in zip(leaf.specs, arrays, strict=True):
        if not spec.fits(array.shape):
            raise CheckpointError(
                f"{where}: expected the shape {_written(spec.shape)} for {spec.name}, by the layer's config. "
                f"Received: {array.shape} in {array.name!r}."
            )


def _by_name(leaves: list[Leaf], arrays: Sequence[StoredArray]) -> dict[Path, list[int]] | None:
    """Group the arrays by what stands in front of their names, and give each leaf the group that carries its name."""
    groups: dict[str, list[int]] = {}
    for position, array in enumerate(arrays):
        groups.setdefault(split(array.name)[0], []).append(position)
    keys = {leaf.key for leaf in leaves}
    lengths = {key.count("/") + 1 for key in keys}
    # A layer that is a part of a longer name ("conv" in "block/conv") counts only between slashes.
    carrying: dict[str, list[str]] = {}
    for prefix in groups:
        words = prefix.split("/")
        for inside in {
            "/".join(words[start : start + length]) for length in lengths for start in range(len(words) - length + 1)
        }:
            if inside in keys:
                carrying.setdefault(inside, []).append(prefix)
    taken: dict[str, Leaf] = {}
    found: dict[Path, list[int]] = {}
    for leaf in leaves:
        mine = carrying.get(leaf.key, [])
        if any(prefix in taken for prefix in mine):
            return None
        taken.update(dict.fromkeys(mine, leaf))
        positions = [position for prefix in mine for position in groups[prefix]]
        if leaf.specs is not None and not _fits(leaf, [arrays[position] for position in positions]):
            return None
        found[leaf.path] = positions
    return found if len(taken) == len(groups) else None


def _by_position(
    node: Branch, arrays: Sequence[StoredArray], *, frozen: bool, sectioned: bool
) -> dict[Path, list[int]] | None:
    """Lay the arrays out in Keras's order, and accept it only if every name agrees.

    Names agree if each weight is called what it is ("kernel", "moving_mean"), if all of one layer have the same words
    in front, and if no two layers have the same.
    """
    if sectioned:
        first, second = node.sections(frozen=frozen)
        order = first + second
    else:  # TensorFlow 2.1 on, in some places: layer by layer
        order = [(leaf, index) for leaf in node.leaves() for index in range(len(leaf.specs or ()))]
    found: dict[Path, list[int]] = {leaf.path: [0] * len(leaf.specs or ()) for leaf in node.leaves() if leaf.specs}
    fronts: dict[str, Path] = {}
    for position, ((leaf, index), array) in enumerate(zip(order, arrays, strict=True)):
        front = "" if leaf.specs is not None and leaf.specs[index].of_metric else split(array.name)[0]
        if front and fronts.setdefault(front, leaf.path) != leaf.path:
            return None
        found[leaf.path][index] = position
    for leaf in node.leaves():
        mine = [arrays[position] for position in found.get(leaf.path, [])]
        fronts_of_leaf = {
            split(array.name)[0] for spec, array in zip(leaf.specs or (), mine, strict=True) if not spec.of_metric
        }
        if not _fits(leaf, mine) or (leaf.class_name != "RNN" and len(fronts_of_leaf) > 1):
            return None
    return found


def _fits(leaf: Leaf, arrays: Sequence[StoredArray]) -> bool:
    wanted = leaf.specs or ()
    return len(wanted) == len(arrays) and all(
        spec.fits(array.shape) and split(array.name)[1] in ALIASES.get(spec.name, {spec.name})
        for spec, array in zip(wanted, arrays, strict=True)
    )


def split(name: str) -> tuple[str, str]:
    """Split "block/conv/kernel_1:0" into "block/conv" and "kernel"."""
    front, _, last = re.sub(r":\d+$", "", name).rpartition("/")
    return front, re.sub(r"_\d+$", "", last)


def _mismatch(leaves: list[Leaf], arrays: Sequence[StoredArray]) -> str:
    def wanted(leaf: Leaf) -> str:
        names = [f"{spec.name} {_written(spec.shape)}" for spec in leaf.specs or ()]
        return f"{'/'.join(leaf.path)}: {', '.join(names) or '?'}"

    held = ", ".join(f"{array.name} {array.shape}" for array in arrays[:6])
    return f"Expected: {'; '.join(wanted(leaf) for leaf in leaves[:4])} ... Received: {held} ..."


def _written(shape: tuple[int | None, ...] | None) -> str:
    if shape is None:
        return "(any)"
    inner = ", ".join("any" if size is None else str(size) for size in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"
