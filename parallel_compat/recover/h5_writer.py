"""Write `.h5`/`.hdf5`: a whole model, or weights, in the format that both Keras 2 and Keras 3 read.

Arrays go from the file that is read to the one that is written in pieces, none is held whole, save those of a layer
whose weights have to be changed.
"""

from __future__ import annotations

import errno
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import h5py
import numpy as np

from parallel_compat.hdf5_output import Disk, writing
from parallel_compat.missing_keras import installed_version
from parallel_compat.recover import weight_edits
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.layer_tree import Leaf, Node, Path
from parallel_compat.recover.reader import Reading, StoredArray
from parallel_compat.recover.rules.layer_names import keras3_name
from parallel_compat.recover.single_model import Template
from parallel_compat.recover.verifying import check_arrays, checksum

ATTRIBUTE_LIMIT = 64_512  # HDF5's object header; Keras cuts longer lists into pieces of at most this


@dataclass(frozen=True)
class Slot:
    """One array to be written: where it comes from and where it goes."""

    layer: str
    name: str
    position: int | None  # in the file that is read; None where an edit makes it of several
    leaf: Path | None  # whose edits apply
    index: int = 0  # among the leaf's weights


def plan(template: Template) -> dict[str, list[Slot]]:
    """Return the arrays that each layer of the single model gets, in the order in which Keras 3 reads them."""
    if template.tree is None:
        return _plan_of_weights(template)
    arrays = template.stored.weights
    found: dict[str, list[Slot]] = {}
    for child in template.tree.children:
        order = _keras3_order(child)
        name = keras3_name(child.path[-1])
        found[name] = [
            _slot(name, template, arrays, leaf, index) for leaf, index in order if leaf.path in template.indices
        ]
    return found


def _slot(layer: str, template: Template, arrays: list[StoredArray], leaf: Leaf, index: int) -> Slot:
    if leaf.written is not None:
        return Slot(layer, f"{leaf.key}/{leaf.written[index].name}:0", None, leaf.path, index)
    position = template.indices[leaf.path][index]
    return Slot(layer, arrays[position].name, position, leaf.path, index)


def _keras3_order(node: Node) -> list[tuple[Leaf, int]]:
    """Put trainable weights before the others, as Keras 3.15 reads them; unknown layers keep their order."""
    first, second = node.sections(frozen=True)
    return first + second


def _plan_of_weights(template: Template) -> dict[str, list[Slot]]:
    found: dict[str, list[Slot]] = {}
    position = 0
    for layer in template.stored.layers:
        if not template.wrappers:
            found[layer.name] = []
        seen_statistics = False
        for weight in layer.weights:
            name = _layer_of(weight.name) if template.wrappers else layer.name
            if template.wrappers:
                statistics = re.search(r"/moving_(mean|variance)(_\d+)?(:\d+)?$", weight.name) is not None
                if seen_statistics and not statistics:
                    raise CheckpointError(
                        f"{template.stored.path}: some layers were frozen when these weights "
                        "were written, so the file has another order than the model. "
                        "Pass the model (--architecture), or use `load_template_weights`."
                    )
                seen_statistics |= statistics
            found.setdefault(name, []).append(Slot(name, weight.name, position, None))
            position += 1
    return found


def _layer_of(name: str) -> str:
    """Tell a layer's name from its weight's: "conv1/bn/gamma:0", "both/forward_lstm/kernel:0", "lstm/lstm_cell/bias:0".

    Keras 3's name for it: slashes were a part of it, save in front of what wrappers and recurrent layers have inside.
    """
    front = name.rpartition("/")[0] or name
    return keras3_name(re.split(r"/(?:forward_|backward_|\w+_cell(?:_\d+)?(?:/|$))", front)[0])


def write(
    path: FilePath,
    template: Template,
    reading: Reading,
    *,
    weights_only: bool,
    training_config: dict[str, Any] | None,
    advance: Callable[[int], object] = lambda count: None,
) -> None:
    """Write the single model.

    Args:
        reading: the open file; its arrays are consumed.
        training_config: how it was compiled, for Keras 3; None where that is not known.
        advance: called with the number of bytes after each piece.
    """
    layers = plan(template)
    version = installed_version("keras") or "3.0.0"
    _require_room(path, sum(array.nbytes + 4096 for array in template.stored.weights) + 65536)
    texts = {}
    if not weights_only:
        assert template.translation is not None
        config = template.translation.config
        texts["model_config"] = json.dumps({"class_name": config["class_name"], "config": config["config"]})
        texts |= {"keras_version": version, "backend": "tensorflow"}
        if training_config is not None:
            texts["training_config"] = json.dumps(training_config)
    with writing(path) as (file, disk):
        for name, text in texts.items():
            _text(file, name, text)
        weights = file if weights_only else file.create_group("model_weights")
        _text(weights, "keras_version", version)
        _text(weights, "backend", "tensorflow")
        _names(weights, "layer_names", list(layers))
        for name, slots in layers.items():
            group = weights.create_group(name)
            _names(group, "weight_names", [slot.name for slot in slots])
        sums = _copy(weights, template, reading, layers, advance, disk)
        if not weights_only:
            # Keras 3 looks for it, and finds that the model has no weights of its own.
            _names(weights.create_group("top_level_model_weights"), "weight_names", [])
    check_arrays(path, sums, texts)


def _require_room(path: FilePath, size: int) -> None:
    """Raise an error if the disk has no room for the file, before it is written for minutes."""
    if shutil.disk_usage(path.parent).free < size:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))


def _copy(
    weights: h5py.Group,
    template: Template,
    reading: Reading,
    layers: dict[str, list[Slot]],
    advance: Callable[[int], object],
    disk: Disk,
) -> dict[str, int]:
    """Copy all arrays, and return the checksum of each by its path in the new file."""
    sums = {}
    every = [slot for slots in layers.values() for slot in slots]
    by_position = {slot.position: slot for slot in every if slot.position is not None}
    leaves = template.leaves
    edits = template.translation.edits if template.translation is not None else {}
    edited = {position: path for path in edits for position in template.indices.get(path, ())}
    held: dict[Path, dict[int, np.ndarray[Any, Any]]] = {}
    for position, (array, pieces) in enumerate(reading.arrays()):
        path = edited.get(position)
        if path is None:
            slot = by_position.get(position)
            if slot is not None:
                group = weights[slot.layer]
                sums[f"{group.name}/{slot.name}"] = _stream(group, slot.name, array, pieces, advance, disk)
            continue
        held.setdefault(path, {})[position] = gather(array, pieces)
        advance(array.nbytes)
        indices = template.indices[path]
        if len(held[path]) == len(indices):
            mine = held.pop(path)
            changed = weight_edits.apply(edits[path], leaves[path].class_name, [mine[place] for place in indices])
            targets = sorted((slot for slot in every if slot.leaf == path), key=lambda slot: slot.index)
            for target, value in zip(targets, changed, strict=True):
                written = np.ascontiguousarray(value)
                weights[target.layer].create_dataset(target.name, data=written)
                sums[f"{weights[target.layer].name}/{target.name}"] = checksum([written.reshape(-1).view("uint8").data])
    return sums


def _stream(
    group: h5py.Group, name: str, array: StoredArray, pieces: Any, advance: Callable[[int], object], disk: Disk
) -> int:
    """Write an array in pieces, past HDF5, into the place that HDF5 reserved for it: that is faster."""
    if not array.shape or not array.nbytes:
        # h5py leaves out the property list for a scalar; there is nothing to place, either.
        value = gather(array, pieces)
        group.create_dataset(name, data=value)
        advance(array.nbytes)
        return checksum([value.reshape(-1).view("uint8").data]) if array.nbytes else 0
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    plist.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    dataset = group.create_dataset(name, array.shape, dtype=array.dtype, dcpl=plist)
    offset, total = dataset.id.get_offset(), 0
    for piece in pieces:
        disk.write_at(offset, piece)
        total = checksum([piece], total)
        offset += len(piece)
        advance(len(piece))
    return total


def gather(array: StoredArray, pieces: Any) -> np.ndarray[Any, Any]:
    """Put the pieces of an array together."""
    whole = bytearray()
    for piece in pieces:
        whole += piece
    return np.frombuffer(bytes(whole), array.dtype).reshape(array.shape)


def _text(owner: Any, name: str, value: str) -> None:
    owner.attrs[name] = value.encode()


def _names(owner: Any, name: str, values: list[str]) -> None:
    data = np.asarray([value.encode() for value in values]) if values else np.asarray([], "S1")
    count = 1
    while any(piece.nbytes > ATTRIBUTE_LIMIT for piece in np.array_split(data, count)):
        count += 1
    if count == 1:
        owner.attrs[name] = data
    else:
        for number, piece in enumerate(np.array_split(data, count)):
            owner.attrs[f"{name}{number}"] = piece
