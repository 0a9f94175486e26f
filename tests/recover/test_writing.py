"""The output is written whole or not at all; the input never; an existing file only with `force`."""

from __future__ import annotations

import io
import itertools
import os
import platform
import random
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from parallel_compat import CheckpointError, atomic_file, hdf5_output, inspect_checkpoint
from parallel_compat.atomic_file import replacing
from parallel_compat.recover import h5_writer, recovering, verifying
from parallel_compat.recover.reader import read
from parallel_compat.recover.recovering import recover
from parallel_compat.recover.single_model import template_of

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


class FailingSystem:
    """The `os` of `atomic_file`, whose nth call that can fail does.

    Args:
        nth: which; 0 for none.
    """

    def __init__(self, nth: int) -> None:
        self.nth, self.calls = nth, 0

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in ("open", "fsync", "close", "chmod", "replace"):
            return real

        def call(*arguments: Any, **keywords: Any) -> Any:
            self.calls += 1
            if self.calls == self.nth:
                raise OSError(5, "Input/output error")
            return real(*arguments, **keywords)

        return call


def test_every_step_that_fails_leaves_the_old_file_or_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the file has its name only the folder is flushed: where that fails, the new file is there, whole."""
    out = tmp_path / "out.h5"
    ends = []
    for nth in itertools.count(1):
        out.write_bytes(OLD_CONTENT)
        system = FailingSystem(nth)
        monkeypatch.setattr(atomic_file, "os", system)
        try:
            recover(SOURCE, out, force=True)
        except OSError as error:
            assert error.errno == 5  # noqa: PT017
        whole = out.read_bytes() != OLD_CONTENT
        if whole:
            assert inspect_checkpoint(out).parameters == 195
        assert os.listdir(tmp_path) == ["out.h5"]
        if system.calls < nth:
            break
        ends.append(whole)
    assert ends == sorted(ends)
    assert ends.count(False) >= 4
    assert ends.count(True) >= 3


def test_every_system_call_that_fails_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first, the second, the third ... open, seek, read, write, truncate, flush or close of the new file fails."""
    out = tmp_path / "out.h5"
    out.write_bytes(OLD_CONTENT)
    count, failing = [0], [0]

    class Disk(io.FileIO):
        def _called(self) -> None:
            count[0] += 1
            if count[0] == failing[0]:
                raise OSError(5, "Input/output error")

        def write(self, data: Any) -> int:
            self._called()
            return super().write(bytes(data)[:700])  # takes a part, as disks may

        def seek(self, *arguments: Any) -> int:
            self._called()
            return super().seek(*arguments)

        def readinto(self, buffer: Any) -> int:
            self._called()
            return super().readinto(buffer)

        def truncate(self, size: int | None = None) -> int:
            self._called()
            return super().truncate(size)

        def flush(self) -> None:
            self._called()
            super().flush()

        def close(self) -> None:
            if not self.closed:
                self._called()
            super().close()

    def opened(path: Any) -> Disk:
        count[0] += 1
        if count[0] == failing[0]:
            raise OSError(5, "Input/output error", str(path))
        return Disk(path, "w+b")

    monkeypatch.setattr(hdf5_output, "_open", opened)
    with read(SOURCE) as reading:
        template = template_of(reading.stored)
        arrays = [(array, [bytes(piece) for piece in pieces]) for array, pieces in reading.arrays()]
        monkeypatch.setattr(reading, "arrays", lambda: iter(arrays))

        def write() -> None:
            with replacing(out) as temporary:
                h5_writer.write(temporary, template, reading, weights_only=False, training_config=None)

        write()
        calls = count[0]
        assert calls > 60
        assert inspect_checkpoint(out).parameters == 195
        for nth in range(1, calls + 1):
            out.write_bytes(OLD_CONTENT)
            count[0], failing[0] = 0, nth
            with pytest.raises(OSError, match=r"Input/output error.*out\.h5"):
                write()
            assert out.read_bytes() == OLD_CONTENT
            assert os.listdir(tmp_path) == ["out.h5"]


@pytest.mark.parametrize("suffix", [".h5", ".keras", ".weights.h5"])
def test_what_was_written_is_compared_with_what_was_meant(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that says it wrote, and wrote something else."""
    out = tmp_path / f"out{suffix}"
    out.write_bytes(OLD_CONTENT)
    kernel = np.ascontiguousarray(h5py.File(SOURCE)["model_weights/mlp/hidden/kernel:0"]).tobytes()
    damaged = []

    def damaging(check: Any) -> Any:
        def damage(path: Path, *meant: Any) -> None:
            content = path.read_bytes()
            assert content.count(kernel) == 1
            path.write_bytes(content.replace(kernel, bytes([kernel[0] ^ 1]) + kernel[1:]))
            damaged.append(path)
            check(path, *meant)

        return damage

    monkeypatch.setattr(h5_writer, "check_arrays", damaging(verifying.check_arrays))
    monkeypatch.setattr(recovering, "check_saved_model", damaging(verifying.check_saved_model))
    with pytest.raises(OSError, match="not as intended"):
        recover(SOURCE, out, force=True)
    assert len(damaged) == 1
    assert out.read_bytes() == OLD_CONTENT
    assert os.listdir(tmp_path) == [out.name]


def test_cleaning_up_hides_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder that became read-only, nothing can be removed either."""

    def refuse(path: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("parallel_compat.atomic_file.os.unlink", refuse)
    with pytest.raises(ValueError, match="the real one"), replacing(tmp_path / "out.h5"):
        raise ValueError("the real one")


def test_errors_name_the_file_that_was_asked_for(tmp_path: Path) -> None:
    out = tmp_path / "missing" / "out.h5"
    for write in (lambda path: path.write_bytes(b""), lambda path: h5py.File(path, "w")):
        with pytest.raises(FileNotFoundError, match="No such folder") as raised, replacing(out) as temporary:
            write(temporary)
        assert raised.value.filename == str(out.parent)
        assert ".tmp" not in str(raised.value)
    (tmp_path / "missing").mkdir()
    with pytest.raises(PermissionError) as refused, replacing(out) as temporary:
        raise PermissionError(13, "Permission denied", str(temporary))
    assert refused.value.filename == str(out)


def test_what_a_killed_process_left_is_removed_by_the_next_write(tmp_path: Path) -> None:
    out = tmp_path / "out.h5"
    run = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    gone, here = int(run.stdout), f"{zlib.crc32(platform.node().encode()):08x}"
    left = [f".out.h5.{here}-{gone}-00000000.tmp.h5", f".out.h5.{here}-{os.getpid()}-00000000.tmp.h5"]
    others = [
        f".out.h5.{here}-{os.getppid()}-00000000.tmp.h5",  # of a process that runs
        f".out.h5.00000000-{gone}-00000000.tmp.h5",  # of another machine
        f".other.h5.{here}-{gone}-00000000.tmp.h5",
        f".out.h5.{here}-{gone}-00000000.tmp.h5.bak",
        "out.h5.tmp",
    ]
    for name in left + others:
        (tmp_path / name).write_bytes(b"half")
    with replacing(out) as first, replacing(out) as second:  # threads of this process
        first.write_bytes(b"first")
        second.write_bytes(b"second")
    assert out.read_bytes() == b"first"
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "out.h5"])


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
        [sys.executable, "-B", "-c", FULL_DISK, str(SOURCE), str(out), str(room)], timeout=300, capture_output=True
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
    recover(source, out, force=True)
    assert sorted(os.listdir(tmp_path)) == ["in.h5", "out.h5"]


def test_killed_10_times(tmp_path: Path) -> None:
    """The slow one after it does the same a hundred times."""
    killed_in_a_loop(tmp_path, 10)


@pytest.mark.slow
def test_killed_100_times(tmp_path: Path) -> None:
    killed_in_a_loop(tmp_path, 100)
