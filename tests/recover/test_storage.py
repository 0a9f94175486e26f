"""However an array is stored, its values arrive: in one run, packed, of the other byte order, behind a user block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import pytest

from parallel_compat.recover.reader import read
from parallel_compat.recover.recovering import recover

if TYPE_CHECKING:
    from pathlib import Path

VALUES = np.arange(3 * 1000 * 700, dtype="f4").reshape(3, 1000, 700)  # two pieces and a half
STORED: dict[str, dict[str, Any]] = {
    "plain": {"data": VALUES},
    "gzip": {"data": VALUES, "compression": "gzip", "shuffle": True, "fletcher32": True, "chunks": (2, 300, 64)},
    "big_endian": {"data": VALUES.astype(">f4")},
    "half": {"data": (VALUES % 1000).astype("f2")},
    "truth": {"data": VALUES % 2 == 0},
    "scalar": {"data": np.float32(7.5)},
    "empty": {"data": np.zeros((0, 5), "f4")},
    "one": {"data": np.asarray([3], "i8")},
}


def weights(path: Path, names: list[str], **options: Any) -> None:
    with h5py.File(path, "w", **options) as file:
        file.attrs["layer_names"], file.attrs["keras_version"] = [b"a"], b"2.2.4"
        group = file.create_group("a")
        group.attrs["weight_names"] = [f"{name}:0".encode() for name in names]
        for name in names:
            group.create_dataset(f"{name}:0", **STORED[name])


@pytest.mark.parametrize("user_block", [0, 512, 4096])
def test_every_value_arrives(user_block: int, tmp_path: Path) -> None:
    weights(tmp_path / "in.h5", list(STORED), userblock_size=user_block)
    moved: list[int] = []
    recover(tmp_path / "in.h5", tmp_path / "out.h5", started=lambda total: moved.append)
    with h5py.File(tmp_path / "out.h5") as file:
        for name, stored in STORED.items():
            found = file[f"a/{name}:0"]
            np.testing.assert_array_equal(found[()], stored["data"], err_msg=name)
            assert found.dtype == stored["data"].dtype.newbyteorder("=")
        assert sum(moved) == sum(stored["data"].nbytes for stored in STORED.values())


def test_only_what_stands_in_one_run_is_read_past_hdf5(tmp_path: Path) -> None:
    weights(tmp_path / "in.h5", list(STORED))
    with read(tmp_path / "in.h5", arrays=False) as reading:
        places = {array.name: array.offset for layer in reading.stored.layers for array in layer.weights}
    assert {name for name, offset in places.items() if offset is None} == {"gzip:0", "big_endian:0", "empty:0"}
    data = (tmp_path / "in.h5").read_bytes()
    start = places["plain:0"]
    assert start is not None
    assert data[start : start + VALUES.nbytes] == VALUES.tobytes()
