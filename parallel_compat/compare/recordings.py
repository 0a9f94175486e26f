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
    """What a script computed."""

    path: str  # the file
    facts: dict[str, Any]  # all that is no array, as `record_keras.py` wrote it
    arrays: dict[str, list[Array]]  # by section ("model0/step2/gradients")

    @property
    def models(self) -> list[dict[str, Any]]:
        """The models that were trained, in the order in which they first were."""
        found: list[dict[str, Any]] = self.facts["models"]
        return found


def read_recording(path: str | os.PathLike[str], max_bytes: int | None = None) -> Recording:
    """Read a recording."""
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
        flat: the file's arrays, one for each type, and "json".
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
    """Check the form of the facts: what is read of them later is what is looked at here."""
    if isinstance(facts, dict) and "version" in facts and facts["version"] != VERSION:
        raise CheckpointError(
            f"{path}: expected a recording of version {VERSION}. Received: {facts['version']!r}. Record again, "
            "with the file that `parallel-compat recorder` prints"
        )
    if not _is(facts, _FORM):
        raise CheckpointError(f"{path}: the recording's description is not in the form that `record_keras.py` writes.")


# A type, or several; a list of one form; a dict of forms, of which those with a "?" may be missing; a function.
_NUMBER, _NAME_OR_NONE, _DICT_OR_NONE = (int, float), (str, type(None)), (dict, type(None))
_CALL = {"weights": bool, "data": lambda data: data is None or _is(data, [_is_pair])}
_STEP = {"names": [str], "logs": [_NUMBER], "layer_names?": [str], "gradient_of?": [int], "trainable?": [int]}
_MODEL = {
    "keras": str,
    "optimizer_config?": _DICT_OR_NONE,
    "compiled?": [{"at": int, "optimizer": str, "optimizer_config": _DICT_OR_NONE}],
    "layers": [{"name": str, "class": str, "weights": list}],
    "steps": [lambda step: _is(step, _STEP) and len(step["names"]) == len(step["logs"])],
    "history": [{"logs": dict, "steps": int}],
    "evaluate": [{**_CALL, "values": [_NUMBER], "names": [str]}],
    "predict": [_CALL],
    "random_layers": list,
    "masked_layers?": [str],
    "trainable?": [int],
    "state_names?": [_NAME_OR_NONE],
    "losses?": [_NUMBER],
    "batches?": list,
    "fed?": [int],
}
_FORM = {
    "version": int,
    "models": [_MODEL],
    "sections": [lambda section: _is(section, list) and len(section) == 2 and _is_section(*section)],
    "notes?": [str],
    "machine?": [str],
    "files?": [str],
}


def _is(value: Any, form: Any) -> bool:
    if isinstance(form, dict):
        names = ((name.rstrip("?"), name[-1] == "?", inner) for name, inner in form.items())
        return isinstance(value, dict) and all(
            _is(value[name], inner) if name in value else optional for name, optional, inner in names
        )
    if isinstance(form, list):
        return isinstance(value, list) and all(_is(each, form[0]) for each in value)
    return isinstance(value, form) if isinstance(form, (type, tuple)) else bool(form(value))


def _is_pair(sums: Any) -> bool:
    return _is(sums, [_NUMBER]) and len(sums) == 2


def _is_section(name: Any, rows: Any) -> bool:
    return (
        isinstance(name, str)
        and isinstance(rows, list)
        and all(
            isinstance(row, list)
            and len(row) == 2
            and isinstance(row[0], str)
            and isinstance(row[1], list)
            and all(type(size) is int and size >= 0 for size in row[1])
            for row in rows
        )
    )
