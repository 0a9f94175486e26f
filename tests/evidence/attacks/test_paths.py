"""Paths that are no files, files that change while they are read, outputs that may not be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import pytest

from parallel_compat import CheckpointError, inspect_checkpoint
from parallel_compat.command import main
from parallel_compat.recover import reader
from parallel_compat.recover.reader import read
from parallel_compat.recover.recovering import recover
from tests.evidence.attacks.hostile_files import REAL, TEMPLATE, changed, layer_of, with_config

if TYPE_CHECKING:
    from collections.abc import Callable

posix = pytest.mark.skipif(os.name == "nt", reason="pipes and devices with names are POSIX's")


def refused(source: str | os.PathLike[str], tmp_path: Path) -> str:
    """Both commands end with code 2, soon, in one line; return it."""
    said = ""
    for arguments in (["inspect", os.fspath(source)], ["recover", os.fspath(source), "-o", str(tmp_path / "out.h5")]):
        run = subprocess.run(
            [sys.executable, "-c", "import sys; from parallel_compat.command import main; sys.exit(main())", *arguments],
            capture_output=True, timeout=300, cwd=Path(__file__).parents[3],
        )  # fmt: skip
        said = run.stderr.decode()
        assert run.returncode == 2, said
        assert said.startswith(("parallel-compat inspect: error: ", "parallel-compat recover: error: "))
        assert said.count("\n") == 1
    assert not (tmp_path / "out.h5").exists()
    return said


@posix
def test_a_pipe_without_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.h5")
    assert "not a regular file" in refused(tmp_path / "pipe.h5", tmp_path)


@posix
@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/dev/stdin"])
def test_a_device(path: str, tmp_path: Path) -> None:
    assert "not a regular file" in refused(path, tmp_path)


@pytest.mark.parametrize("path", [".", "", "no/such/file.h5", "x" * 5000 + ".h5"])
def test_no_file(path: str, tmp_path: Path) -> None:
    refused(path, tmp_path)


def test_a_name_with_nul() -> None:
    with pytest.raises(CheckpointError):
        inspect_checkpoint("a\0b.h5")


@posix
def test_a_circle_of_links(tmp_path: Path) -> None:
    (tmp_path / "a.h5").symlink_to(tmp_path / "b.h5")
    (tmp_path / "b.h5").symlink_to(tmp_path / "a.h5")
    refused(tmp_path / "a.h5", tmp_path)


@posix
@pytest.mark.parametrize("name", ["层 ü.h5".encode(), b"\xff\xfe.h5"])
def test_names_of_files_of_every_kind_are_read(name: bytes, tmp_path: Path) -> None:
    source = os.path.join(os.fsencode(tmp_path), name)
    try:
        Path(os.fsdecode(source)).write_bytes(REAL.read_bytes())
    except OSError:
        pytest.skip("this file system takes no such names")
    recover(os.fsdecode(source), tmp_path / "out.h5")
    assert h5py.is_hdf5(tmp_path / "out.h5")


@posix
def test_a_link_to_the_file_is_followed_and_a_linked_output_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link.h5").symlink_to(REAL)
    (tmp_path / "real").mkdir()
    (tmp_path / "out.h5").symlink_to(tmp_path / "real" / "out.h5")
    recover(tmp_path / "link.h5", tmp_path / "out.h5", force=True)
    assert (tmp_path / "out.h5").is_symlink()
    assert h5py.is_hdf5(tmp_path / "real" / "out.h5")


def weights(path: Path, size: int = 1 << 20) -> None:
    with h5py.File(path, "w") as file:
        file.attrs["layer_names"], file.attrs["keras_version"] = [b"a"], b"2.2.4"
        group = file.create_group("a")
        group.attrs["weight_names"] = [b"k:0", b"b:0"]
        group["k:0"], group["b:0"] = np.arange(size, dtype="f4"), np.arange(size, dtype="f4")


def read_all(path: Path, meanwhile: Callable[[], object]) -> None:
    """Read all arrays; something happens before each."""
    with read(path) as reading:
        for _, pieces in reading.arrays():
            meanwhile()
            for _ in pieces:
                pass


def test_a_file_cut_while_it_is_read(tmp_path: Path) -> None:
    source = tmp_path / "in.h5"
    weights(source, 4 << 20)
    with pytest.raises(CheckpointError, match="truncated while it was read"):
        read_all(source, lambda: os.truncate(source, 1 << 20))


def test_a_file_written_to_while_it_is_read(tmp_path: Path) -> None:
    source = tmp_path / "in.h5"
    weights(source)

    def change() -> None:
        time.sleep(0.02)  # of which its time of change is made
        with open(source, "r+b") as file:
            file.write(file.read(1))

    with pytest.raises(CheckpointError, match="changed while it was read"):
        read_all(source, change)


@posix
def test_another_file_under_the_same_name(tmp_path: Path) -> None:
    """The reading process opens what stands under the name by then; it is not the file that was asked for."""
    source, stop = tmp_path / "in.h5", threading.Event()
    weights(source)
    content = source.read_bytes()

    def replace() -> None:
        while not stop.is_set():
            (tmp_path / "new.h5").write_bytes(content)
            os.replace(tmp_path / "new.h5", source)

    thread = threading.Thread(target=replace)
    thread.start()
    refused = 0
    try:
        for _ in range(100):  # between the two openings the other thread has its turn, or not, on a busy machine
            try:
                inspect_checkpoint(source)
            except CheckpointError as error:
                assert "replaced or changed" in str(error)  # noqa: PT017
                refused += 1
            if refused == 3:
                break
    finally:
        stop.set()
        thread.join()
    assert refused == 3


@posix
def test_an_output_that_is_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "out.h5")
    with pytest.raises(CheckpointError, match="pipe or a device"):
        recover(REAL, tmp_path / "out.h5", force=True)


def test_an_output_that_is_a_folder_or_in_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out.h5").mkdir()
    assert main(["recover", str(REAL), "-o", str(tmp_path / "out.h5"), "--force"]) == 2
    assert main(["recover", str(REAL), "-o", str(tmp_path / "none" / "out.h5")]) == 2
    assert main(["recover", str(REAL), "-o", str(tmp_path / ("x" * 300 + ".h5"))]) == 2
    assert main(["recover", str(REAL), "-o", "a\0b.h5"]) == 2
    assert capsys.readouterr().err.count("error: ") == 4


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="a folder that even root cannot write to is Linux's")
def test_an_output_in_a_folder_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recover", str(REAL), "-o", "/proc/self/out.h5"]) == 2
    assert capsys.readouterr().err.startswith(("parallel-compat inspect: error: ", "parallel-compat recover: error: "))


WEIGHTS = TEMPLATE.with_name("sgd_even.parallel_weights.h5")


@posix
def test_an_architecture_that_is_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "model.json")
    with pytest.raises(CheckpointError, match="not a regular file"):
        recover(WEIGHTS, tmp_path / "out.h5", architecture=tmp_path / "model.json")


@pytest.mark.parametrize("text", [b"", b"\xff", b"[" * 100_000, b'{"class_name": "Model"}', b"{}" * 10**7])
def test_an_architecture_that_is_none(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.json").write_bytes(text)
    with pytest.raises(CheckpointError, match=r"model\.json"):
        recover(WEIGHTS, tmp_path / "out.h5", architecture=tmp_path / "model.json")


def test_an_architecture_in_hdf5_is_named(tmp_path: Path) -> None:
    def change(config: dict[str, Any]) -> None:
        layer_of(config, "hidden")["config"]["units"] = 10**30

    with_config(tmp_path / "model.h5", change)
    with pytest.raises(CheckpointError, match=r"model\.h5: model_config: a number beyond 64 bits"):
        recover(WEIGHTS, tmp_path / "out.h5", architecture=tmp_path / "model.h5")


def test_what_a_file_says_of_itself_neither_steers_the_terminal_nor_begins_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with changed(tmp_path / "in.h5") as file:
        for owner in (file, file["model_weights"]):
            owner.attrs["keras_version"] = "2.2.4\x1b[2J\nNo fault was found.\u202e"
    with read(tmp_path / "in.h5") as reading:
        assert (
            reading.stored.keras_version
            == "2.2.4\N{REPLACEMENT CHARACTER}[2J No fault was found.\N{REPLACEMENT CHARACTER}"
        )
    with_config(tmp_path / "in.h5", lambda config: layer_of(config, "hidden")["config"].update(activation="a\nb"))
    assert main(["recover", str(tmp_path / "in.h5"), "-o", str(tmp_path / "out.keras")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_architecture_is_never_the_output(tmp_path: Path) -> None:
    (tmp_path / "model.h5").write_bytes(TEMPLATE.read_bytes())
    with pytest.raises(CheckpointError, match="is the input"):
        recover(WEIGHTS, tmp_path / "model.h5", architecture=tmp_path / "model.h5", force=True)
    assert (tmp_path / "model.h5").read_bytes() == TEMPLATE.read_bytes()


def test_what_the_reading_process_says_of_places_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reading process that was taken over can make this side read nothing outside the file, and not much of it."""
    weights(tmp_path / "in.h5", 1000)
    size = (tmp_path / "in.h5").stat().st_size
    lies = [
        ([4000, 8], "beyond the end", size - 10),
        ([2, 4], "beyond the end", -4),
        ([10**9], "more bytes than are allowed", 0),
        ([10], "invalid answer", 1.5),
        ([10], "invalid answer", True),
    ]
    for shape, said, offset in lies:
        arrays = [{"name": "k:0", "shape": shape, "dtype": "float32", "offset": offset}]
        answer = json.dumps(
            {
                "form": "weights", "keras_version": "2.2.4", "backend": None, "model_config": None,
                "training_config": None, "layers": [{"name": "a", "weights": arrays}], "optimizer": [],
            }
        )  # fmt: skip
        frames = b"R" + bytes(8) + b"H" + len(answer).to_bytes(8, "big") + answer.encode()
        monkeypatch.setattr(reader, "BOOT", f"import sys; sys.stdout.buffer.write({frames!r}); sys.stdout.flush()")
        with pytest.raises(CheckpointError, match=said), read(tmp_path / "in.h5"):
            pass
