"""Read what `record_keras.py` wrote, as untrusting as any other file (`recover/reader.py`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from parallel_compat.recover.config_json import parse
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.inspecting import RECORDING
from parallel_compat.recover.reader import read

if TYPE_CHECKING:
    import os

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
    arrays: dict[str, list[np.ndarray[Any, Any]]]

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
        if stored.backend != RECORDING or stored.training_config is None:
            raise CheckpointError(
                f"{path}: expected a recording of `record_keras.py`. Received: another HDF5 file. Make one with: "
                "parallel-compat recorder > record_keras.py; python record_keras.py train.py"
            )
        flat = []
        for array, pieces in reading.arrays():
            data = b"".join(bytes(piece) for piece in pieces)
            flat.append(np.frombuffer(data, dtype=array.dtype).reshape(array.shape))
    arrays: dict[str, list[np.ndarray[Any, Any]]] = {}
    for layer in stored.layers:
        arrays[layer.name], flat = flat[: len(layer.weights)], flat[len(layer.weights) :]
    facts = parse(stored.training_config, f"{path}: the recording")
    _check(str(path), facts)
    return Recording(str(path), facts, arrays)


def _check(path: str, facts: Any) -> None:
    """Hold the facts against their form: what is read of them later is what is looked at here."""
    try:
        if facts["version"] != VERSION:
            raise CheckpointError(
                f"{path}: expected a recording of version {VERSION}. Received: {facts['version']!r}. Record again, "
                "with the file that `parallel-compat recorder` prints"
            )
        fine = isinstance(facts["models"], list) and all(map(_is_model, facts["models"]))
    except (KeyError, TypeError, IndexError):
        fine = False
    if not fine:
        raise CheckpointError(f"{path}: the recording's description is not in the form that `record_keras.py` writes.")


def _is_model(model: Any) -> bool:
    return (
        all(isinstance(model[name], list) for name in ("layers", "steps", "history", "evaluate", "random_layers"))
        and all(isinstance(layer["name"], str) and isinstance(layer["class"], str) for layer in model["layers"])
        and all(isinstance(layer["weights"], list) for layer in model["layers"])
        and all(isinstance(place, int) for place in model.get("trainable", []))
        and isinstance(model["keras"], str)
        and all(map(_is_step, model["steps"]))
    )


def _is_step(step: Any) -> bool:
    return (
        len(step["names"]) == len(step["logs"])
        and all(isinstance(name, str) for name in (*step["names"], *step.get("layer_names", [])))
        and all(isinstance(value, (int, float)) for value in step["logs"])
        and all(isinstance(place, int) for place in step.get("gradient_of", []))
    )
