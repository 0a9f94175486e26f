"""The output is written whole or not at all; the input never; an existing file only with `force`."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from parallel_compat import CheckpointError, inspect_checkpoint
from parallel_compat.recover import h5_writer
from parallel_compat.recover.recovering import recover

SOURCE = Path(__file__).parent.parent / "data" / "oracle" / "h5" / "sgd_even.parallel.h5"
OLD_CONTENT = b"what was there before"


def test_an_existing_file_is_kept_without_force(tmp_path: Path) -> None:
    out = tmp_path / "out.h5"
    out.write_bytes(OLD_CONTENT)
    with pytest.raises(CheckpointError, match="--force"):
        recover(SOURCE, out)
    assert out.read_bytes() == OLD_CONTENT
    recover(SOURCE, out, force=True)
    assert h5py.is_hdf5(out)


def test_the_input_is_never_the_output(tmp_path: Path) -> None:
    source = tmp_path / "in.h5"
    source.write_bytes(SOURCE.read_bytes())
    (tmp_path / "link.h5").symlink_to(source)
    for out in (source, tmp_path / "link.h5"):
        with pytest.raises(CheckpointError, match="is the input"):
            recover(source, out, force=True)
    assert source.read_bytes() == SOURCE.read_bytes()


def test_a_read_only_input_is_enough(tmp_path: Path) -> None:
    source = tmp_path / "in.h5"
    source.write_bytes(SOURCE.read_bytes())
    source.chmod(0o444)
    before = source.stat()
    recover(source, tmp_path / "out.h5")
    assert (source.stat().st_mtime_ns, source.read_bytes()) == (before.st_mtime_ns, SOURCE.read_bytes())


@pytest.mark.parametrize("name", ["fsync", "replace", "chmod"])
def test_a_step_that_fails_leaves_the_old_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.h5"
    out.write_bytes(OLD_CONTENT)

    def fails(*arguments: Any, **keywords: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, name, fails)
    with pytest.raises(OSError, match="No space"):
        recover(SOURCE, out, force=True)
    assert out.read_bytes() == OLD_CONTENT
    assert os.listdir(tmp_path) == ["out.h5"]


@pytest.mark.parametrize("nth", range(1, 4))
@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_the_nth_step_that_fails_leaves_the_old_file_or_the_new_one(
    name: str, nth: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the file has its name only the folder is flushed: where that fails, the new file is there, whole."""
    out = tmp_path / "out.h5"
    out.write_bytes(OLD_CONTENT)
    real, count = getattr(os, name), [0]

    def fails(*arguments: Any, **keywords: Any) -> Any:
        count[0] += 1
        if count[0] == nth:
            raise OSError(5, "Input/output error")
        return real(*arguments, **keywords)

    monkeypatch.setattr(os, name, fails)
    failed = False
    try:
        recover(SOURCE, out, force=True)
    except OSError:
        failed = True
    assert failed == (count[0] >= nth)
    if nth == 1:
        assert out.read_bytes() == OLD_CONTENT
    else:
        assert inspect_checkpoint(out).parameters == 195
    assert os.listdir(tmp_path) == ["out.h5"]


@pytest.mark.parametrize("nth", range(6))
def test_the_nth_piece_that_cannot_be_written(nth: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes of arrays go past HDF5; a write of them that fails, or that takes only a part, is as any other."""
    import io

    out = tmp_path / "out.h5"
    out.write_bytes(OLD_CONTENT)
    count = [0]

    class Disk(io.FileIO):
        def write(self, data: Any) -> int:
            count[0] += 1
            if count[0] > nth:
                raise OSError(28, "No space left on device")
            return super().write(bytes(data)[:100])

    monkeypatch.setattr(h5_writer, "open", lambda path, mode, buffering: Disk(path, mode), raising=False)
    with pytest.raises(OSError, match="No space"):
        recover(SOURCE, out, force=True)
    assert count[0] == nth + 1
    assert out.read_bytes() == OLD_CONTENT
    assert os.listdir(tmp_path) == ["out.h5"]


@pytest.mark.parametrize("nth", range(4))
def test_the_nth_array_that_cannot_be_written(nth: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.h5"
    out.write_bytes(OLD_CONTENT)
    create, count = h5py.Group.create_dataset, [0]

    def fails(*arguments: Any, **keywords: Any) -> Any:
        count[0] += 1
        if count[0] > nth:
            raise OSError(28, "No space left on device")
        return create(*arguments, **keywords)

    monkeypatch.setattr(h5py.Group, "create_dataset", fails)
    with pytest.raises(OSError, match="No space"):
        recover(SOURCE, out, force=True)
    assert out.read_bytes() == OLD_CONTENT
    assert os.listdir(tmp_path) == ["out.h5"]


FULL_DISK = """
import resource, signal, sys
from parallel_compat.recover.recovering import recover
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
try:
    recover(sys.argv[1], sys.argv[2], force=True)
except OSError:
    sys.exit(3)
"""


@pytest.mark.parametrize("room", [0, 100, 2_000, 6_000, 9_000])
def test_a_disk_that_is_full_after_some_bytes(room: int, tmp_path: Path) -> None:
    out = tmp_path / "out.h5"
    out.write_bytes(OLD_CONTENT)
    run = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(SOURCE), str(out), str(room)], timeout=60, capture_output=True
    )
    assert run.returncode == 3, run.stderr
    assert out.read_bytes() == OLD_CONTENT
    assert os.listdir(tmp_path) == ["out.h5"]


KILLED = """
import sys
from parallel_compat.recover.recovering import recover
print("ready", flush=True)
while True:
    recover(sys.argv[1], sys.argv[2], force=True)
"""


def killed_in_a_loop(tmp_path: Path, rounds: int) -> None:
    source, out = tmp_path / "in.h5", tmp_path / "out.h5"
    values = np.arange(1 << 20, dtype="f4")
    with h5py.File(source, "w") as file:
        file.attrs["layer_names"], file.attrs["keras_version"] = [b"a"], b"2.2.4"
        group = file.create_group("a")
        group.attrs["weight_names"] = [b"k:0"]
        group["k:0"] = values
    recover(source, out)
    chance = random.Random(0)
    for _ in range(rounds):
        process = subprocess.Popen([sys.executable, "-c", KILLED, str(source), str(out)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.uniform(0.0, 0.6))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        with h5py.File(out) as file:
            np.testing.assert_array_equal(file["a/k:0"][:], values)


def test_killed_10_times(tmp_path: Path) -> None:
    """The slow one after it does the same a hundred times."""
    killed_in_a_loop(tmp_path, 10)


@pytest.mark.slow
def test_killed_100_times(tmp_path: Path) -> None:
    killed_in_a_loop(tmp_path, 100)
