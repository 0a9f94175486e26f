"""Read what `record_keras.py` wrote, as untrusting as any other file (`recover/reader.py`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from parallel_compat.recover.config_json import parse
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.inspecting import RECORDING
from parallel_compat.recover.reader import read
from parallel_compat.recover.safe_names import printable

if TYPE_CHECKING:
    import os

    Array = np.ndarray[Any, Any]

VERSION = 1


@dataclass(frozen=True)
class Recording:
    """What a script computed.

    Attributes:
        path: the file.
        facts: all that is no array, as `record_keras.py` wrote it.
        arrays: by section ("model0/step2/gradients").
    """

    path: str
    facts: dict[str, Any]
    arrays: dict[str, list[Array]]

    @property
    def models(self) -> list[dict[str, Any]]:
        """The models that were trained, in the order in which they first were."""
        found: list[dict[str, Any]] = self.facts["models"]
        return found


def read_recording(path: str | os.PathLike[str], max_bytes: int | None = None) -> Recording:
    """Read a recording.

    Args:
        path: the file.
        max_bytes: how many bytes its arrays may have in all. Default: eight times its size, at least 32 MiB.

    Raises:
        CheckpointError: it is no recording, or damaged, or holds what none holds.
    """
    with read(path, max_bytes=max_bytes) as reading:
        stored = reading.stored
        if stored.backend != RECORDING:
            raise CheckpointError(
                f"{path}: expected a recording of `record_keras.py`. Received: another HDF5 file. Make one with: "
                "parallel-compat recorder > record_keras.py; python record_keras.py train.py"
            )
        flat = {}
        for array, pieces in reading.arrays():
            data = b"".join(bytes(piece) for piece in pieces)
            flat[array.name] = np.frombuffer(data, dtype=array.dtype)
    return recording_of(str(path), flat)


def recording_of(path: str, flat: dict[str, Array]) -> Recording:
    """Return what the arrays of a file say.

    Args:
        path: the file, for errors.
        flat: the file's arrays, one for each type, and "json".

    Raises:
        CheckpointError: it is no recording, or holds what none holds.
    """
    facts = parse(flat["json"].tobytes().decode("utf-8", "replace") if "json" in flat else "", f"{path}: the recording")
    facts = _printable(facts)
    _check(path, facts)
    return Recording(path, facts, _cut(path, flat, facts["sections"]))


def _cut(path: str, flat: dict[str, Array], sections: list[Any]) -> dict[str, list[Array]]:
    """Cut the file's arrays, one for each type, into those of the sections."""
    places = dict.fromkeys(flat, 0)
    arrays: dict[str, list[Array]] = {}
    for name, rows in sections:
        arrays[name] = []
        for kind, shape in rows:
            place, size = places.get(kind, 0), math.prod(shape)
            if kind not in flat or place + size > len(flat[kind]):
                raise CheckpointError(
                    f"{path}: expected an array of the shape {shape} in section {name}. Received: "
                    f"{len(flat.get(kind, ())) - place} numbers of the type {kind}"
                )
            arrays[name].append(flat[kind][place : place + size].reshape(shape))
            places[kind] = place + size
    return arrays


def _printable(facts: Any) -> Any:
    """Return the facts without signs that a terminal obeys, and halves of pairs that no file can hold."""
    if isinstance(facts, str):
        return printable(facts)
    if isinstance(facts, list):
        return [_printable(each) for each in facts]
    if isinstance(facts, dict):
        return {printable(key): _printable(each) for key, each in facts.items()}
    return facts


def _check(path: str, facts: Any) -> None:
    """Hold the facts against their form: what is read of them later is what is looked at here."""
    try:
        if facts["version"] != VERSION:
            raise CheckpointError(
                f"{path}: expected a recording of version {VERSION}. Received: {facts['version']!r}. Record again, "
                "with the file that `parallel-compat recorder` prints"
            )
        fine = isinstance(facts["models"], list) and all(map(_is_model, facts["models"]))
        fine = fine and isinstance(facts["sections"], list) and all(map(_is_section, facts["sections"]))
        fine = fine and all(isinstance(note, str) for note in (*facts.get("notes", []), *facts.get("machine", [])))
    except (KeyError, TypeError, IndexError, ValueError):
        fine = False
    if not fine:
        raise CheckpointError(f"{path}: the recording's description is not in the form that `record_keras.py` writes.")


_LISTS = ("layers", "steps", "history", "evaluate", "predict", "random_layers")


def _is_section(section: Any) -> bool:
    name, rows = section
    return isinstance(name, str) and all(
        isinstance(kind, str) and isinstance(shape, list) and all(type(size) is int and size >= 0 for size in shape)
        for kind, shape in rows
    )


def _is_model(model: Any) -> bool:
    return (
        all(isinstance(model[name], list) for name in _LISTS)
        and all(isinstance(layer["name"], str) and isinstance(layer["class"], str) for layer in model["layers"])
        and all(isinstance(layer["weights"], list) for layer in model["layers"])
        and all(isinstance(place, int) for place in model.get("trainable", []))
        and isinstance(model["keras"], str)
        and isinstance(model.get("optimizer_config") or {}, dict)
        and all(name is None or isinstance(name, str) for name in model.get("state_names", []))
        and all(map(_is_step, model["steps"]))
        and all(isinstance(epoch["logs"], dict) and isinstance(epoch["steps"], int) for epoch in model["history"])
        and all(map(_is_call, (*model["evaluate"], *model["predict"])))
        and all(map(_is_evaluation, model["evaluate"]))
        and all(map(_is_number, model.get("losses", [])))
        and isinstance(model.get("batches", []), list)
        and all(type(step) is int for step in model.get("fed", []))
        and all(isinstance(name, str) for name in model.get("masked_layers", []))
    )


def _is_call(call: Any) -> bool:
    data = call["data"]
    return isinstance(call["weights"], bool) and (
        data is None or all(len(sums) == 2 and all(map(_is_number, sums)) for sums in data)
    )


def _is_evaluation(call: Any) -> bool:
    return all(map(_is_number, call["values"])) and all(isinstance(name, str) for name in call["names"])


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _is_step(step: Any) -> bool:
    return (
        len(step["names"]) == len(step["logs"])
        and all(isinstance(name, str) for name in (*step["names"], *step.get("layer_names", [])))
        and all(isinstance(value, (int, float)) for value in step["logs"])
        and all(isinstance(place, int) for place in step.get("gradient_of", []))
    )
