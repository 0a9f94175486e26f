"""Read a checkpoint without trusting it: the file is opened in another process, and only its answers come here.

The reading process (`parallel_compat.recover.reading_process`) has limits on memory, processor time and open files
where the system has them, and a clock that this side keeps. Of its answers nothing is believed but plain JSON of
bounded size and the announced number of bytes of each array. However it ends (an error, a crash of the HDF5 library, a
kill, silence) comes out as one `CheckpointError`.

Arrays that stand in the file in one run are read from there, at places that are held against the file first
(`raw_bytes.py`); only packed ones are sent.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from parallel_compat.recover import damage, limits, raw_bytes
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.safe_names import printable

# The path is handed over, and not found by `-m`, which would put the current folder first.
BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); from "
    "parallel_compat.recover.reading_process import main; main()"
)
HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
HEADER_BYTES = 4 * limits.ATTRIBUTE_BYTES


@dataclass(frozen=True)
class StoredArray:
    """Name, shape and type of one array in the file."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    offset: int | None = None  # its first byte in the file; None where only the reading process can unpack it

    @property
    def size(self) -> int:
        """Number of values."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Number of bytes."""
        return self.size * np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class StoredLayer:
    """One layer as the file lists it: a model inside a model is one layer with many weights."""

    name: str
    weights: tuple[StoredArray, ...]


@dataclass(frozen=True)
class Stored:
    """What a file holds, without the values."""

    path: str
    form: str  # "model", "weights", or "keras3" (a `.weights.h5` of Keras 3)
    keras_version: str | None
    backend: str | None
    model_config: str | None
    training_config: str | None
    layers: tuple[StoredLayer, ...]
    optimizer: tuple[StoredArray, ...]

    @property
    def weights(self) -> list[StoredArray]:
        """The arrays of all layers, in the file's order."""
        return [weight for layer in self.layers for weight in layer.weights]


class Reading:
    """One file being read: its description, then its arrays one after the other, each once and in order."""

    def __init__(
        self, path: str, file: BinaryIO, process: subprocess.Popen[bytes], clock: _Clock, max_bytes: int | None
    ) -> None:
        self._path = path
        self._file = file
        self._state = raw_bytes.state_of(os.fstat(file.fileno()))
        self._max_bytes = max_bytes
        self._process = process
        self._clock = clock
        self._piece = bytearray(limits.BLOCK_BYTES)
        self.stored = self._describe()

    def arrays(self, *, optimizer: bool = False) -> Iterator[tuple[StoredArray, Iterator[memoryview]]]:
        """Yield each array with its bytes in pieces (C order, native); a piece is valid until the next
        is requested."""
        for array in self.stored.weights + (list(self.stored.optimizer) if optimizer else []):
            pieces = self._pieces(array)
            yield array, pieces
            for _ in pieces:  # what the caller left
                pass
        self._frame("Z", 0, limits.STRUCTURE_SECONDS)
        if raw_bytes.state_of(os.fstat(self._file.fileno())) != self._state:
            raise CheckpointError(f"{self._path}: was changed while it was read.")

    def _pieces(self, array: StoredArray) -> Iterator[memoryview]:
        if array.offset is not None:
            try:
                yield from raw_bytes.pieces(self._file, array.offset, array.nbytes, self._piece)
            except CheckpointError as error:
                raise CheckpointError(f"{self._path}: {error}") from error
            return
        left = array.nbytes
        while left:
            piece = self._frame("D", left, limits.STRUCTURE_SECONDS)
            if not piece:
                raise CheckpointError(f"{self._path}: the reading process sent an empty piece.")
            left -= len(piece)
            yield memoryview(piece)

    def _describe(self) -> Stored:
        self._frame("R", 0, limits.START_SECONDS)
        header = self._frame("H", HEADER_BYTES, limits.STRUCTURE_SECONDS)
        try:
            stored = _stored(self._path, json.loads(header))
            self._check(stored)
            return stored
        except CheckpointError as error:
            raise CheckpointError(f"{self._path}: {error}") from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise CheckpointError(f"{self._path}: the reading process sent an invalid answer ({error}).") from error

    def _check(self, stored: Stored) -> None:
        """Check the sizes and places that the reading process gives for arrays against the file itself."""
        arrays = stored.weights + list(stored.optimizer)
        size = self._state[2]
        if sum(array.nbytes for array in arrays) > limits.byte_budget(size, self._max_bytes):
            raise CheckpointError("its arrays have more bytes than are allowed.")
        raw_bytes.check_places(
            [(array.name, array.offset, array.nbytes) for array in arrays if array.offset is not None], size
        )

    def _frame(self, letter: str, most: int, seconds: float) -> bytes | bytearray:
        """Receive one frame of the expected kind and at most so many bytes, in the given time."""
        with self._clock.allow(seconds):
            head = self._exactly(9)
            received, length = head[:1].decode("latin-1"), int.from_bytes(head[1:], "big")
            if received == "E":
                sentence = self._exactly(min(length, 4096)).decode("utf-8", "replace")
                raise CheckpointError(f"{self._path}: {sentence}")
            if received != letter or length > most:
                raise CheckpointError(f"{self._path}: the reading process broke its protocol ({received}, {length}).")
            return self._exactly(length)

    def _exactly(self, length: int) -> bytearray:
        stream = self._process.stdout
        assert stream is not None
        # One buffer for all pieces of an array: fresh memory for each costs as much as reading it.
        data = self._piece if length == len(self._piece) else bytearray(length)
        view = memoryview(data)
        filled = 0
        while filled < length:
            # Buffers grow with what arrives, not with what is announced: `length` is bounded by the caller.
            count = stream.readinto(view[filled:])  # type: ignore[attr-defined]
            if not count:
                raise CheckpointError(f"{self._path}: {self._ending()}")
            filled += count
        return data

    def _ending(self) -> str:
        """Say how the reading process ended, when it ended without an answer."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1)
        if self._clock.rang:
            return f"reading it took longer than {self._clock.seconds:.1f} s without an answer; it was stopped."
        code = self._process.returncode
        if code is not None and code < 0:
            if -code == getattr(signal, "SIGXCPU", None):
                return "reading it took more processor time than is allowed; it was stopped."
            return f"the HDF5 library crashed on it (signal {-code}); it is damaged or malicious."
        return f"the reading process ended early (code {code}); the file may be damaged, or memory ran out."


class _Clock:
    """Kill a process that is silent for longer than it is allowed to be; works where pipes cannot be polled."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._changed = threading.Condition()
        self._deadline: float | None = None
        self._closed = False
        self.rang = False
        self.seconds = 0.0
        self._thread = threading.Thread(target=self._watch, daemon=True, name="checkpoint-clock")
        self._thread.start()

    @contextlib.contextmanager
    def allow(self, seconds: float) -> Iterator[None]:
        """Let the process be silent for so long inside the block."""
        with self._changed:
            self.seconds = seconds
            self._deadline = time.monotonic() + seconds
            self._changed.notify()
        try:
            yield
        finally:
            # Not woken: the thread finds out when the old deadline has passed.
            self._deadline = None

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _watch(self) -> None:
        with self._changed:
            while not self._closed:
                deadline = self._deadline
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    self.rang = True
                    self._process.kill()
                    return
                self._changed.wait(0.5 if left is None else min(left, 0.5))


def look_over(path: str | os.PathLike[str]) -> None:
    """Look at every object in an HDF5 file, in a process of its own, before a library reads it in this one."""
    with read(path, arrays=False):
        pass


@contextlib.contextmanager
def read(
    path: str | os.PathLike[str], *, arrays: bool = True, optimizer: bool = False, max_bytes: int | None = None
) -> Iterator[Reading]:
    """Open a checkpoint in a process of its own.

    >>> from parallel_compat.recover.reader import read
    >>> with read("old_parallel.h5", arrays=False) as reading:
    ...     [layer.name for layer in reading.stored.layers]
    ['x', 'lambda_1', 'lambda_2', 'mlp', 'probs']

    Args:
        arrays: whether the arrays are read, too, and not the description alone.
        max_bytes: how many bytes the arrays may have in all, unpacked. Default: eight times the file's size, at least
            32 MiB.
    """
    name = os.fspath(path)
    with raw_bytes.open_regular(name) as file:
        look_at(name, file)
        # Child and parent may differ in their current folder only by a race; an absolute path has none.
        request = {
            "path": os.path.abspath(name),
            "file": raw_bytes.state_of(os.fstat(file.fileno())),
            "max_bytes": max_bytes,
            "arrays": arrays,
            "optimizer": optimizer,
        }
        process = start(request)
        clock = _Clock(process)
        try:
            yield Reading(name, file, process, clock, max_bytes)
        finally:
            clock.close()
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


def start(request: dict[str, Any]) -> subprocess.Popen[bytes]:
    """Start the reading process: the user's environment does not influence Python or HDF5 in it."""
    if not sys.executable:
        raise CheckpointError(
            "No Python executable is known (`sys.executable` is empty), so no reading process can be started."
        )
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "HDF5_"))}
    environment |= {
        "HDF5_PLUGIN_PRELOAD": "::",  # no filter is loaded from outside the library
        "HDF5_USE_FILE_LOCKING": "FALSE",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }
    try:
        return subprocess.Popen(
            [
                sys.executable,
                "-I",
                "-B",  # below a limit of file sizes Python 3.11 would keep half of a module's bytecode
                "-c",
                BOOT,
                json.dumps([os.path.abspath(one) for one in sys.path]),
                json.dumps(request),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=environment,
            pipesize=1 << 20,
        )
    except OSError as error:
        raise CheckpointError(f"The reading process could not be started: {error}.") from error


def look_at(path: str, file: BinaryIO) -> None:
    """Look at a file's first bytes; refuse, with a hint, what is no HDF5 file."""
    try:
        head = _signature(file)
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read ({error}).") from error
    if head.startswith(b"PK\x03\x04"):
        raise CheckpointError(
            f"{path}: a .keras file of Keras 3 (or another zip); it needs no recovery: "
            "`keras.models.load_model` reads it."
        )
    if head != HDF5_SIGNATURE:
        why = damage.of_tensorflow(path) or damage.not_hdf5(head, os.fstat(file.fileno()).st_size)
        raise CheckpointError(f"{path}: {why}")


def _signature(file: BinaryIO) -> bytes:
    """Return the first eight bytes; HDF5 allows its signature also at 512, 1024, 2048, ..."""
    first = file.read(8)
    place = 512
    while place <= 1 << 20:
        if first == HDF5_SIGNATURE:
            return first
        file.seek(place)
        if file.read(8) == HDF5_SIGNATURE:
            return HDF5_SIGNATURE
        place *= 2
    return first


def _stored(path: str, header: dict[str, Any]) -> Stored:
    def line(key: str) -> str | None:
        value = header[key]
        if value is not None and not isinstance(value, str):
            raise TypeError(key)
        return value

    def word(key: str) -> str | None:
        return None if (value := line(key)) is None else printable(value)

    def listed(entries: list[dict[str, Any]]) -> tuple[StoredArray, ...]:
        found = []
        for entry in entries:
            shape = tuple(entry["shape"])
            if not all(isinstance(size, int) and size >= 0 for size in shape) or entry["dtype"] not in limits.DTYPES:
                raise TypeError("array")
            offset = entry["offset"]
            if offset is not None and type(offset) is not int:
                raise TypeError("offset")
            found.append(StoredArray(str(entry["name"]), shape, entry["dtype"], offset))
        return tuple(found)

    form = header["form"]
    if form not in ("model", "weights", "keras3"):
        raise ValueError("form")
    return Stored(
        path,
        form,
        word("keras_version"),
        word("backend"),
        line("model_config"),
        line("training_config"),
        tuple(StoredLayer(str(layer["name"]), listed(layer["weights"])) for layer in header["layers"]),
        listed(header["optimizer"]),
    )
