"""Look into an HDF5 file that may be hostile; runs only in the reading process.

The walk goes by the names that the file's own lists give (`layer_names`, `weight_names`), never by what else lies in
the file. At each step the *kind* of link, object, type and storage is looked at before it is opened, and only what
Keras itself writes is let through:

- hard links, from a group to what lies inside it, no object twice;
- arrays of plain floats, integers and booleans; contiguous, compact or chunked; filters gzip, shuffle, fletcher32;
- attributes that are strings or lists of strings.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import h5py
import numpy as np
from h5py import h5a, h5d, h5g, h5l, h5o, h5p, h5s, h5t, h5z

from parallel_compat.recover import limits
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.safe_names import parts, short

FILTERS = {h5z.FILTER_DEFLATE: "gzip", h5z.FILTER_SHUFFLE: "shuffle", h5z.FILTER_FLETCHER32: "fletcher32"}
_FAMILIES = {"f": "IEEE_F", "i": "STD_I", "u": "STD_U"}
PLAIN_TYPES = {
    name: [getattr(h5t, f"{_FAMILIES[name[0]]}{8 * np.dtype(name).itemsize}{order}") for order in ("LE", "BE")]
    for name in limits.DTYPES - {"bool"}
}


@dataclass
class Array:
    """One array that was found and looked at, not yet read."""

    name: str
    dataset: h5d.DatasetID
    shape: tuple[int, ...]
    dtype: str
    chunks: tuple[int, ...] | None
    offset: int | None  # its first byte in the file, where its bytes stand there as they are in memory

    @property
    def size(self) -> int:
        """Its bytes, unpacked."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


@dataclass
class Walk:
    """One walk through one file: what it has seen and how much it may still take."""

    budget: int
    left: int = field(init=False)
    weights: int = 0
    seen: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.left = self.budget

    def group(self, parent: h5g.GroupID, name: str, where: str) -> h5g.GroupID:
        """Open the group `name` (parts between slashes) inside `parent`."""
        found = self.follow(parent, name, where)
        if not isinstance(found, h5g.GroupID):
            raise CheckpointError(f"{where}: expected a group at {short(name)}. Received: {kind(found)}.")
        return found

    def array(self, parent: h5g.GroupID, name: str, where: str) -> Array:
        """Open the array `name` inside `parent` and take its size from the budget; nothing of it is read."""
        where = f"{where}/{short(name)}"
        self.weights += 1
        if self.weights > limits.NAMES:
            raise CheckpointError(f"{where}: more than {limits.NAMES:,} weights.")
        dataset = self.follow(parent, name, where)
        if not isinstance(dataset, h5d.DatasetID):
            raise CheckpointError(f"{where}: expected an array. Received: {kind(dataset)}.")
        address = h5o.get_info(dataset).addr
        if address in self.seen:
            raise CheckpointError(f"{where}: the same array has two names.")
        self.seen.add(address)
        dtype = plain_type(dataset.get_type(), where)
        shape = plain_shape(dataset, where)
        chunks = storage(dataset, shape, where)
        found = Array(name, dataset, shape, dtype, chunks, plain_offset(dataset, dtype))
        unpacked = found.size
        if chunks is None and dataset.get_storage_size() != unpacked:
            raise CheckpointError(
                f"{where}: expected {unpacked:,} bytes, by its shape {shape}. "
                f"Received: {dataset.get_storage_size():,} in the file."
            )
        if chunks is not None and unpacked:
            unpacked = max(unpacked, math.prod(chunks) * np.dtype(dtype).itemsize)
        if unpacked > self.left:
            raise CheckpointError(
                f"{where}: expected at most {self.budget:,} bytes of arrays in a file of this "
                "size. Received: an array "
                f"of shape {shape} and type {dtype} that exceeds it. If the file is yours, "
                "raise `max_bytes` (--max-bytes)."
            )
        self.left -= unpacked
        return found

    def follow(self, parent: h5g.GroupID, name: str, where: str) -> Any:
        here: Any = parent
        for part in parts(name, where):
            if not isinstance(here, h5g.GroupID):
                raise CheckpointError(f"{where}: {short(name)} leads through {kind(here)}, not a group.")
            key = part.encode()
            if key not in here:
                raise CheckpointError(f"{where}: {short(name)} is listed but missing.")
            link = here.links.get_info(key)
            if link.type != h5l.TYPE_HARD:
                names = {h5l.TYPE_SOFT: "a soft link", h5l.TYPE_EXTERNAL: "an external link"}
                raise CheckpointError(
                    f"{where}: {short(name)} is {names.get(link.type, 'a foreign link')}; links are not followed."
                )
            here = h5o.open(here, key)
        return here


def plain_type(stored: h5t.TypeID, where: str) -> str:
    """Return the numpy name of a stored type, if it is one that weights are made of."""
    for name, same in PLAIN_TYPES.items():
        if any(stored.equal(one) for one in same):
            return name
    if isinstance(stored, h5t.TypeEnumID) and stored.get_size() == 1 and stored.get_nmembers() == 2:
        members = {stored.get_member_name(k): stored.get_member_value(k) for k in range(2)}
        if members == {b"FALSE": 0, b"TRUE": 1}:
            return "bool"
    names = {
        h5t.VLEN: "variable-length values",
        h5t.REFERENCE: "references",
        h5t.STRING: "strings",
        h5t.COMPOUND: "compound values",
        h5t.OPAQUE: "opaque values",
        h5t.ARRAY: "arrays",
        h5t.ENUM: "an enumeration",
    }
    raise CheckpointError(
        f"{where}: expected plain floats, integers or booleans. Received: "
        f"{names.get(stored.get_class(), 'another type')}."
    )


def plain_shape(dataset: h5d.DatasetID, where: str) -> tuple[int, ...]:
    """Return the shape of an array, if it has one."""
    space = dataset.get_space()
    if space.get_simple_extent_type() == h5s.NULL:
        raise CheckpointError(f"{where}: expected an array. Received: an empty dataspace.")
    shape = tuple(int(size) for size in space.get_simple_extent_dims())
    if len(shape) > limits.RANK:
        raise CheckpointError(f"{where}: expected at most {limits.RANK} axes. Received: {len(shape)}.")
    return shape


def storage(dataset: h5d.DatasetID, shape: tuple[int, ...], where: str) -> tuple[int, ...] | None:
    """Look at how an array is stored; return its chunks' shape, or None where it has none."""
    plist = dataset.get_create_plist()
    layout = plist.get_layout()
    if layout == h5d.VIRTUAL:
        raise CheckpointError(f"{where}: is a virtual dataset, made of other files.")
    if layout not in (h5d.COMPACT, h5d.CONTIGUOUS, h5d.CHUNKED):
        raise CheckpointError(f"{where}: is stored in a layout that Keras never wrote.")
    if plist.get_external_count():
        raise CheckpointError(f"{where}: keeps its values in another file (external storage).")
    if plist.get_nfilters() > len(FILTERS):
        raise CheckpointError(f"{where}: passes through {plist.get_nfilters()} filters; Keras uses none.")
    used = [plist.get_filter(k)[0] for k in range(plist.get_nfilters())]
    for code in used:
        if code not in FILTERS or used.count(code) > 1:
            raise CheckpointError(
                f"{where}: expected the filters {', '.join(FILTERS.values())}, each once. "
                f"Received: filter number {code}."
            )
    if math.prod(shape) and not dataset.get_storage_size():
        raise CheckpointError(f"{where}: declares the shape {shape} but holds no value; it was never written.")
    return tuple(int(size) for size in plist.get_chunk()) if layout == h5d.CHUNKED else None


def plain_offset(dataset: h5d.DatasetID, dtype: str) -> int | None:
    """Return where in the file an array's bytes begin, if they stand there in one run, unchanged."""
    plist = dataset.get_create_plist()
    if plist.get_layout() != h5d.CONTIGUOUS or plist.get_nfilters():
        return None
    native = np.dtype(dtype)
    if native.itemsize > 1 and not dataset.get_type().equal(h5t.py_create(native)):
        return None  # of the other byte order
    offset = dataset.get_offset()
    return None if offset is None else int(offset)


def blocks(array: Array) -> Iterator[memoryview]:
    """Read an array in C order, in pieces of about `limits.BLOCK_BYTES`, each chunk of the file once."""
    if not array.size:
        return
    itemsize = np.dtype(array.dtype).itemsize
    for start, count in slabs(array.shape, array.chunks, itemsize):
        piece = np.empty(count, array.dtype)
        memory = h5s.create_simple(count) if count else h5s.create(h5s.SCALAR)
        space = array.dataset.get_space()
        if count:
            space.select_hyperslab(start, count)
        array.dataset.read(memory, space, piece)
        yield piece.reshape(-1).view("uint8").data


def slabs(
    shape: tuple[int, ...], chunks: tuple[int, ...] | None, itemsize: int
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Cut a shape into (start, count) boxes that follow one another in C order."""
    if not shape:
        yield (), ()
        return
    most = max(1, limits.BLOCK_BYTES // itemsize)
    # The axis along which is cut: all axes behind it are taken whole.
    axis = 0
    if chunks is None:
        while axis < len(shape) - 1 and math.prod(shape[axis + 1 :]) > most:
            axis += 1
        step = max(1, most // math.prod(shape[axis + 1 :]))
    else:
        row = chunks[0] * math.prod(shape[1:])
        step = chunks[0] * max(1, most // row)
    for lead in np.ndindex(*shape[:axis]):
        for start in range(0, shape[axis], step):
            count = min(step, shape[axis] - start)
            yield (*lead, start, *(0,) * (len(shape) - axis - 1)), (*(1,) * axis, count, *shape[axis + 1 :])


def text(owner: Any, name: str, where: str) -> str | None:
    """Read an attribute that holds one string; None where there is no such attribute."""
    found = strings(owner, name, where, single=True)
    return None if found is None else found[0]


def names(owner: Any, name: str, where: str) -> list[str] | None:
    """Read an attribute that holds a list of names, also where Keras cut it into `name0`, `name1`, ..."""
    found = strings(owner, name, where)
    if found is None and h5a.exists(owner, f"{name}0".encode()):
        found = []
        piece: list[str] | None = []
        count = 0
        while piece is not None:
            found += piece
            piece = strings(owner, f"{name}{count}", where)
            count += 1
            if count > limits.NAMES or len(found) > limits.NAMES:
                raise CheckpointError(f"{where}: more than {limits.NAMES:,} entries in the attribute {name}.")
    return found


def strings(owner: Any, name: str, where: str, *, single: bool = False) -> list[str] | None:
    """Read an attribute of strings after looking at its type, shape and size."""
    key = name.encode()
    if not h5a.exists(owner, key):
        return None
    attribute = h5a.open(owner, key)
    stored, space = attribute.get_type(), attribute.get_space()
    what = f"{where}: the attribute {name}"
    if space.get_simple_extent_type() == h5s.NULL:
        return []
    shape = tuple(int(size) for size in space.get_simple_extent_dims())
    count = math.prod(shape)
    if not count:
        return []
    if stored.get_class() != h5t.STRING:
        raise CheckpointError(f"{what} is not a string.")
    if len(shape) > 1 or (single and count != 1) or count > limits.NAMES:
        raise CheckpointError(
            f"{what} has the shape {shape}; that is not {'one string' if single else 'a list of names'}."
        )
    if not stored.is_variable_str() and count * stored.get_size() > limits.ATTRIBUTE_BYTES:
        raise CheckpointError(
            f"{what} has {count * stored.get_size():,} bytes; at most {limits.ATTRIBUTE_BYTES:,} are read."
        )
    value = h5py.Group(owner).attrs[name] if not isinstance(owner, h5py.Group) else owner.attrs[name]
    values = [value] if not shape else list(value)
    found = []
    total = 0
    for one in values:
        data = one.encode("utf-8", "surrogateescape") if isinstance(one, str) else bytes(one)
        total += len(data)
        if total > limits.ATTRIBUTE_BYTES:
            raise CheckpointError(f"{what} has more than {limits.ATTRIBUTE_BYTES:,} bytes.")
        try:
            found.append(data.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise CheckpointError(f"{what} is not UTF-8 text.") from error
    return found


def kind(found: Any) -> str:
    """Name what was found where something else was expected."""
    if isinstance(found, h5g.GroupID):
        return "a group"
    return "an array" if isinstance(found, h5d.DatasetID) else "a named type"


def open_file(path: str) -> h5py.File:
    """Open a file for reading, with the smallest caches HDF5 allows."""
    access = h5p.create(h5p.FILE_ACCESS)
    access.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
    # (unused, slots, bytes, preemption): each chunk is read once, a cache would only hold memory.
    access.set_cache(0, 521, 0, 0.75)
    return h5py.File(h5py.h5f.open(os.fsencode(path), h5py.h5f.ACC_RDONLY, fapl=access))
