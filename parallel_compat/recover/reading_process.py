"""The process that opens the file: it looks, answers in a plain protocol, and can be lost without harm.

Started by `parallel_compat.recover.reader` with one JSON argument: `path`, `file` (what its state was when it
was first opened), `max_bytes`, `arrays` (whether the
values are wanted, or only the description) and `optimizer` (whether the optimizer's are).

On its standard output go frames: one letter, the length as eight bytes (big-endian), then the content.

    R  ready: the libraries are loaded, the file is not yet open
    H  the description, as JSON: format, versions, configs, and name, shape, type and, where known, place of each array
    D  a piece of an array, in the order of the description; none of those that the description says the place of
    Z  all is sent
    E  one sentence that says what is wrong with the file
"""

from __future__ import annotations

import json
import math
import os
import stat
import sys
from typing import Any

import numpy as np
from h5py import h5d, h5g, h5o

from parallel_compat.recover import damage, hdf5, limits
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.hdf5 import Array, Walk
from parallel_compat.recover.raw_bytes import state_of
from parallel_compat.recover.safe_names import short


def send(letter: bytes, content: bytes | memoryview = b"") -> None:
    """Write one frame."""
    out = sys.stdout.buffer
    out.write(letter + len(content).to_bytes(8, "big"))
    out.write(content)
    out.flush()


def main() -> None:
    """Answer one request."""
    request = json.loads(sys.argv[1])
    limits.limit_this_process(limits.MEMORY_BYTES)
    limits.limit_seconds(limits.STRUCTURE_SECONDS)
    send(b"R")
    try:
        answer(request)
    except CheckpointError as error:
        send(b"E", str(error).encode("utf-8", "replace"))
    except MemoryError:
        send(b"E", b"reading it takes more memory than is allowed.")
    except RecursionError:
        send(b"E", b"it is nested too deep.")
    except (OSError, ValueError, TypeError, LookupError, RuntimeError, OverflowError, AttributeError) as error:
        # What HDF5 and h5py raise on bytes that are not what they should be.
        if "memory allocation failed" in str(error):
            send(b"E", b"reading it takes more memory than is allowed.")
            return
        text = damage.cut(str(error)) or f"not a readable HDF5 file ({type(error).__name__}: {str(error)[:300]})."
        send(b"E", text.encode("utf-8", "replace"))


def answer(request: dict[str, Any]) -> None:
    """Describe the file and send its arrays, as far as the request asks for them."""
    state = os.stat(request["path"])
    if not stat.S_ISREG(state.st_mode):
        raise CheckpointError("not a file.")
    with hdf5.open_file(request["path"]) as file:
        if state_of(os.stat(request["path"])) != request["file"]:
            raise CheckpointError("was replaced or changed while it was read.")
        walk = Walk(limits.byte_budget(state.st_size, request["max_bytes"]))
        description, arrays, optimizer = describe(file.id, walk)
        send(b"H", json.dumps(description).encode())
        if request["arrays"]:
            wanted = arrays + (optimizer if request["optimizer"] else [])
            wanted = [array for array in wanted if array.offset is None]
            total = sum(array.size for array in wanted)
            chunked = [chunk_bytes(array) for array in wanted if array.chunks is not None]
            limits.limit_seconds(limits.STRUCTURE_SECONDS + total / limits.SLOWEST_BYTES_PER_SECOND)
            limits.limit_memory(limits.MEMORY_BYTES // 2 + 3 * max(chunked, default=0))
            for array in wanted:
                for block in hdf5.blocks(array):
                    send(b"D", block)
        send(b"Z")


def chunk_bytes(array: Array) -> int:
    """Return the most that reading one row of chunks of an array may hold in memory."""
    assert array.chunks is not None
    rows = array.chunks[0] if array.chunks else 1
    row = math.prod(max(size, chunk) for size, chunk in zip(array.shape[1:], array.chunks[1:], strict=True))
    return rows * row * np.dtype(array.dtype).itemsize


def describe(root: Any, walk: Walk) -> tuple[dict[str, Any], list[Array], list[Array]]:
    """Find out what the file is, and open each array that its lists name."""
    top = "the file"
    model_config = hdf5.text(root, "model_config", top)
    if model_config is not None or b"model_weights" in root:
        form = "model"
        weights = walk.group(root, "model_weights", top)
    elif hdf5.names(root, "layer_names", top) is not None:
        form, weights = "weights", root
    elif b"layers" in root or b"_layer_checkpoint_dependencies" in root:
        form, weights = "keras3", None
    else:
        raise CheckpointError("an HDF5 file, but not one of Keras: neither `model_config` nor `layer_names` is in it.")
    arrays: list[Array] = []
    layers = []
    if weights is None:
        audit(root, walk)
    else:
        layer_names = hdf5.names(weights, "layer_names", "model_weights")
        if layer_names is None:
            raise CheckpointError("model_weights: the attribute layer_names is missing.")
        if len(set(layer_names)) != len(layer_names):
            raise CheckpointError("model_weights: the attribute layer_names has one name twice.")
        if len(layer_names) > limits.GRAPH_LAYERS:
            raise CheckpointError(f"model_weights: more than {limits.GRAPH_LAYERS:,} layers.")
        for name in layer_names:
            where = f"layer {short(name)}"
            group = walk.group(weights, name, where)
            found = list_of_arrays(group, walk, where)
            arrays += found
            layers.append({"name": name, "weights": [entry(array) for array in found]})
        if b"top_level_model_weights" in weights and "top_level_model_weights" not in layer_names:
            # The model's own, of Keras 2.6 on: listed where there are any.
            group = walk.group(weights, "top_level_model_weights", "model_weights")
            found = list_of_arrays(group, walk, "top_level_model_weights")
            arrays += found
            if found:
                layers.append({"name": "top_level_model_weights", "weights": [entry(array) for array in found]})
    optimizer = []
    if form == "model" and b"optimizer_weights" in root:
        optimizer = list_of_arrays(walk.group(root, "optimizer_weights", top), walk, "optimizer_weights")
    versions = {
        key: hdf5.text(weights if form == "weights" else root, key, top) for key in ("keras_version", "backend")
    }
    if weights is not None and versions["backend"] is None:  # the first of Keras 2 say it with the weights alone
        versions["backend"] = hdf5.text(weights, "backend", "model_weights")
    for key, value in versions.items():
        if value is not None and len(value) > limits.NAME_LENGTH:
            raise CheckpointError(f"{top}: the attribute {key} has {len(value):,} characters.")
    return (
        {
            "form": form,
            **versions,
            "model_config": model_config,
            "training_config": hdf5.text(root, "training_config", top),
            "layers": layers,
            "optimizer": [entry(array) for array in optimizer],
        },
        arrays,
        optimizer,
    )


def list_of_arrays(group: Any, walk: Walk, where: str) -> list[Array]:
    """Open the arrays that a group's `weight_names` lists."""
    weight_names = hdf5.names(group, "weight_names", where)
    if weight_names is None:
        raise CheckpointError(f"{where}: the attribute weight_names is missing.")
    return [walk.array(group, name, where) for name in weight_names]


def entry(array: Array) -> dict[str, Any]:
    """Describe one array for the answer."""
    return {"name": array.name, "shape": list(array.shape), "dtype": array.dtype, "offset": array.offset}


def audit(root: Any, walk: Walk) -> None:
    """Look at everything in a file of Keras 3 (it has no list of names), so that Keras itself may read it."""
    groups = [(root, "the file", 0)]
    while groups:
        group, where, depth = groups.pop()
        if depth > limits.NAME_DEPTH:
            raise CheckpointError(f"{where}: groups are nested more than {limits.NAME_DEPTH} deep.")
        address = h5o.get_info(group).addr
        if address in walk.seen:
            raise CheckpointError(f"{where}: the same group has two names.")
        walk.seen.add(address)
        for key in group:
            name = key.decode("utf-8", "replace")
            child = walk.follow(group, name, where)
            if isinstance(child, h5d.DatasetID):
                walk.array(group, name, where)
            elif isinstance(child, h5g.GroupID):
                groups.append((child, f"{where}/{short(name)}", depth + 1))
            else:
                raise CheckpointError(f"{where}: {short(name)} is neither group nor array.")


if __name__ == "__main__":
    main()
