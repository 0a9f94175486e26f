"""Files whose arrays and attributes are laid out by hand, as no library would write them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import h5py
import numpy as np

from tests.evidence.attacks.hostile_files import HOSTILE, KERNEL, changed, hostile, weights_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _patched_shape(shape: tuple[int, int]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with weights_file(path) as file:
            file["a"].create_dataset("k:0", data=np.zeros((12_345, 77), "f4"))
        data = path.read_bytes()
        written = struct.pack("<QQ", 12_345, 77)
        assert written in data
        path.write_bytes(data.replace(written, struct.pack("<QQ", *shape)))

    return write


HOSTILE["shape_beyond_its_bytes"] = _patched_shape((12_345, 78))
HOSTILE["shape_of_half_its_bytes"] = _patched_shape((1_234, 77))
HOSTILE["shape_of_2_to_the_70"] = _patched_shape((2**40, 2**30))
HOSTILE["shape_that_overflows"] = _patched_shape((2**63, 4))


def _patched_place(place: Callable[[int, int], int]) -> Callable[[Path], None]:
    """Move the first of two arrays to where `place(second, end)` says."""

    def write(path: Path) -> None:
        with weights_file(path) as file:
            first = file["a"].create_dataset("k:0", data=np.zeros((1000, 7), "f4")).id.get_offset()
            second = file["a"].create_dataset("b:0", data=np.zeros((1000, 7), "f4")).id.get_offset()
            file["a"].attrs["weight_names"] = [b"k:0", b"b:0"]
        data = path.read_bytes()
        written = struct.pack("<QQ", first, 28_000)
        assert data.count(written) == 1
        path.write_bytes(data.replace(written, struct.pack("<QQ", place(second, len(data)), 28_000)))

    return write


HOSTILE["two_arrays_in_the_same_bytes"] = _patched_place(lambda second, end: second)
HOSTILE["two_arrays_that_overlap"] = _patched_place(lambda second, end: second - 4)
HOSTILE["array_beyond_the_end"] = _patched_place(lambda second, end: end - 100)
HOSTILE["array_at_2_to_the_62"] = _patched_place(lambda second, end: 2**62)
HOSTILE["array_at_no_place"] = _patched_place(lambda second, end: 2**64 - 1)
HOSTILE["array_at_the_files_begin"] = _patched_place(lambda second, end: 0)


@hostile
def names_that_are_all_one_string_of_a_megabyte(path: Path) -> None:
    """Three thousand variable-length names that point to the same bytes: 3 GB from 1 MB."""
    with weights_file(path) as file:
        del file["a"].attrs["weight_names"]
        names = ["x" * 1_000_000] + ["y"] * 3000
        file["a"].attrs.create("weight_names", names, dtype=h5py.string_dtype())
    data = bytearray(path.read_bytes())
    length = struct.pack("<I", 1_000_000)
    place = data.find(length)
    while data[place + 16 : place + 20] != struct.pack("<I", 1):  # the next name's length
        place = data.find(length, place + 1)
        assert place >= 0
    data[place : place + 16 * 3001] = bytes(data[place : place + 16]) * 3001
    path.write_bytes(data)


@hostile
def variable_length_config_of_300_mb(path: Path) -> None:
    with changed(path) as file:
        del file.attrs["model_config"]
        file.attrs["model_config"] = "[" * (300 << 20)


@hostile
def million_layer_names(path: Path) -> None:
    with h5py.File(path, "w", libver="latest") as file:
        file.attrs["keras_version"] = b"2.2.4"
        file.attrs["layer_names"] = np.asarray([b"%d" % number for number in range(10**6)])


@hostile
def named_type_as_group(path: Path) -> None:
    with changed(path) as file:
        del file["model_weights/mlp"]
        file["model_weights/mlp"] = np.dtype("f4")


@hostile
def named_type_as_array(path: Path) -> None:
    with changed(path) as file:
        del file[KERNEL]
        file[KERNEL] = np.dtype("f4")


@hostile
def array_of_32_axes(path: Path) -> None:
    with weights_file(path) as file:
        file["a"].create_dataset("k:0", data=np.zeros((1,) * 32, "f4"))


@hostile
def forty_thousand_arrays(path: Path) -> None:
    """Each is small, and each takes memory of the HDF5 library while it is open."""
    with h5py.File(path, "w", libver="latest") as file:
        file.attrs["layer_names"], file.attrs["keras_version"] = [b"a"], b"2.2.4"
        group = file.create_group("a")
        names = np.asarray([b"k%05d:0" % number for number in range(40_000)])
        for number, piece in enumerate(np.array_split(names, 20)):
            group.attrs[f"weight_names{number}"] = piece
        space = h5py.h5s.create_simple((1,))
        for name in names:
            h5py.h5d.create(group.id, bytes(name), h5py.h5t.IEEE_F32LE, space).write(
                h5py.h5s.ALL, h5py.h5s.ALL, np.zeros(1, "f4")
            )


def _attribute(owner: str, name: str, value: object) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with changed(path) as file:
            target = file[owner] if owner else file
            target.attrs.pop(name, None)
            target.attrs[name] = value

    return write


TEMPLATE_GROUP = "model_weights/mlp"
HOSTILE["weight_names_that_are_numbers"] = _attribute(TEMPLATE_GROUP, "weight_names", np.arange(4))
HOSTILE["weight_names_that_are_one_number"] = _attribute(TEMPLATE_GROUP, "weight_names", 1.5)
HOSTILE["weight_names_that_are_opaque"] = _attribute(TEMPLATE_GROUP, "weight_names", np.void(b"abc"))
HOSTILE["weight_names_with_nul"] = _attribute(
    TEMPLATE_GROUP, "weight_names", np.asarray([b"hidden/kernel:0", b"a\0b", b"c", b"d"])
)
HOSTILE["weight_names_not_utf8"] = _attribute(
    TEMPLATE_GROUP, "weight_names", np.asarray([b"\xff\xfe", b"c", b"d", b"e"])
)
HOSTILE["weight_names_twice"] = _attribute(
    TEMPLATE_GROUP, "weight_names", np.asarray([b"hidden/kernel:0"] * 2 + [b"hidden/bias:0"] * 2)
)
HOSTILE["weight_names_empty"] = _attribute(TEMPLATE_GROUP, "weight_names", h5py.Empty("S1"))
HOSTILE["layer_names_twice"] = _attribute("model_weights", "layer_names", np.asarray([b"mlp", b"mlp"]))
HOSTILE["version_that_is_a_number"] = _attribute("", "keras_version", 2.2)
HOSTILE["version_of_60_000_characters"] = _attribute("", "keras_version", b"2" * 60_000)
HOSTILE["backend_of_60_000_characters"] = _attribute("", "backend", b"q" * 60_000)
HOSTILE["training_config_that_is_a_list"] = _attribute("", "training_config", b"[]")
HOSTILE["training_config_with_garbled_numbers"] = _attribute(
    "",
    "training_config",
    b'{"optimizer_config": {"class_name": "SGD", "config": {"lr": 1e999, "momentum": "x", "decay": [1]}}}',
)
