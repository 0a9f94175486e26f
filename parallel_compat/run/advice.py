"""Advice on errors that Keras raises about its surroundings: too few devices, a damaged file, no TensorFlow."""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Iterator
from types import FrameType
from typing import Any

from parallel_compat.missing_keras import explain
from parallel_compat.recover import damage

_SIMULATED = "To try the same code on simulated GPUs: "
REPLICAS = "parallel-compat run --replicas {} SCRIPT"
_GPUS_OF_ORIGINALS = re.compile(
    r"`gpus=.*we expect the following devices to be available: (\[.*?\])\. However this machine only has: (\[.*\])"
)
_GPUS_OF_TODAY = re.compile(r"Expected the devices (\[.*?\]) for `gpus`")
_GPU_OF_OPERATION = re.compile(
    r"(?:explicitly assigned to |satisfy device specification '|'?)\S*device:GPU:(\d+)'?"
    r"(?: but available devices are|\. enable_soft_placement=0|.*unknown device)"
)
_NO_HDF5 = ("Unable to open file", "Unable to synchronously open file", "SavedModel file does not exist at")
_DAMAGED = (
    "Unable to open object",
    "Unable to synchronously open object",
    "Can't read data",
    "Can't synchronously read",
)


def advice(error: BaseException, replicas: str = REPLICAS) -> str | None:
    """Return one sentence of advice on an error of Keras; None if there is none.

    Args:
        replicas: how devices are asked for here, with {} for their number.
    """
    if isinstance(error, ImportError):
        reason = explain(error)
        return f"{reason}." if reason else None
    if isinstance(error, ValueError):
        return _of_gpus(str(error), replicas)
    if isinstance(error, (OSError, KeyError, RuntimeError)):
        return _of_file(error)
    return _of_operation(error, replicas)


def _of_operation(error: BaseException, replicas: str) -> str | None:
    """Return advice on an operation in `tf.device("/gpu:1")`: devices for all operations of its graph."""
    match = _GPU_OF_OPERATION.search(str(error))
    if match is None:
        return None
    graphs = (getattr(frame.f_locals.get("self"), "graph", None) for frame in _frames(error))
    graph = next((graph for graph in graphs if hasattr(graph, "get_operations")), None)  # the session's
    devices = " ".join(each.device for each in graph.get_operations()) if graph is not None else ""
    most = max(int(number) for number in [match[1], *re.findall(r"GPU:(\d+)", devices, re.IGNORECASE)])
    return f"this process has no GPU {match[1]}. {_SIMULATED}{replicas.format(most + 1)}"


def _of_gpus(text: str, replicas: str) -> str | None:
    match = _GPUS_OF_ORIGINALS.search(text)
    if match:
        wanted = [int(number) for number in re.findall(r"gpu:(\d+)", match[1], re.IGNORECASE)]
        there = len(re.findall(r"gpu:\d", match[2], re.IGNORECASE))
        has = f"has {there or 'no'} GPU{'s' * (there > 1)}"
    else:
        match = _GPUS_OF_TODAY.search(text)
        if match is None or replicas == REPLICAS:  # the message says it
            return None
        wanted, has = [int(number) for number in re.findall(r"\d+", match[1])], "has fewer"
    if not wanted:
        return None
    return f"this process {has}. {_SIMULATED}{replicas.format(max(wanted) + 1)}"


def _of_file(error: BaseException) -> str | None:
    text = str(error)
    if not any(part in text for part in (*_NO_HDF5, *_DAMAGED)):
        return None
    path = next(_files(error), None)
    if path is None:
        return None
    if any(part in text for part in _DAMAGED):
        return f"{path}: a damaged HDF5 file. {damage.AGAIN}; `parallel-compat inspect {path}` says what is in it."
    found = damage.cut(text) or _beginning(path)
    return f"{path}: {found}" if found else None


def _beginning(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            head, size = file.read(8), os.fstat(file.fileno()).st_size
    except OSError:
        return None
    return None if head == b"\x89HDF\r\n\x1a\n" else damage.not_hdf5(head, size)


def _files(error: BaseException) -> Iterator[str]:
    """Yield the files that the functions in a traceback were called for, the innermost first."""
    for frame in _frames(error):
        for name in ("filepath", "path", "name", "filename", "export_dir"):
            value: Any = frame.f_locals.get(name)
            path = os.fsdecode(value) if isinstance(value, (bytes, str, os.PathLike)) else ""
            if path and os.path.isfile(path):
                yield path


def _frames(error: BaseException) -> list[FrameType]:
    """Return the frames of a traceback, the innermost first."""
    return [frame for frame, _ in traceback.walk_tb(error.__traceback__)][::-1]
