"""Say what a checkpoint is, without loading it."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from parallel_compat.recover.config_json import parse
from parallel_compat.recover.errors import naming
from parallel_compat.recover.layer_tree import Branch
from parallel_compat.recover.parallel_wrapper import Wrapper
from parallel_compat.recover.reader import Stored, read
from parallel_compat.recover.rules.training import compiled
from parallel_compat.recover.single_model import Template, template_of, written_by_keras3

# What `record_keras.py` writes in place of a backend.
RECORDING = "parallel-compat recording"


@dataclass(frozen=True)
class InspectedLayer:
    """One layer of the single model: the shapes of its weights, in order, and how many numbers they are."""

    name: str
    class_name: str | None
    shapes: tuple[tuple[int, ...], ...]
    parameters: int


@dataclass(frozen=True)
class InspectedCheckpoint:
    """What a checkpoint is.

    Attributes:
        path: the file.
        bytes: its size.
        form: "model" (config and weights), "weights", "keras3" (weights in Keras 3's own format), or "recording" (of a
            training, for `parallel-compat compare`).
        keras_version: of the Keras that wrote it; with "-tf" behind it, the one inside TensorFlow.
        parallel: the parallel models around the single one, outermost first: name, gpus, style.
        name: the single model's name, where the file says it.
        class_name: "Functional" or "Sequential", where the file says it.
        layers: the single model's layers, those without weights too where the file says them.
        parameters: how many numbers its weights are.
        optimizer: name of the optimizer, where the file says it.
        optimizer_arrays: how many arrays its state has.
        loss: what the file says of it.
        lambdas: Lambda layers of the model's own; they hold bytecode, which is never run.
        custom: classes and functions that are not Keras's -> where they are used.
        refused: what has no counterpart in Keras 3.
        notes: what else a user should know.
    """

    path: str
    bytes: int
    form: str
    keras_version: str | None
    parallel: tuple[Wrapper, ...]
    name: str | None
    class_name: str | None
    layers: tuple[InspectedLayer, ...]
    parameters: int
    optimizer: str | None = None
    optimizer_arrays: int = 0
    loss: Any = None
    lambdas: tuple[str, ...] = ()
    custom: dict[str, list[str]] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def gpus(self) -> int | None:
        """Over how many devices the parallel model ran; None for a single model."""
        return self.parallel[0].gpus if self.parallel else None

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data for JSON."""
        return asdict(self)


def inspect_checkpoint(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> InspectedCheckpoint:
    """Return what a checkpoint is: model or weights, parallel or single, and which Keras wrote it.

    No code in the file is executed, and no array is read.

    Examples:
        >>> import parallel_compat
        >>> found = parallel_compat.inspect_checkpoint("old_parallel.h5")
        >>> found.form, found.gpus, found.keras_version, found.name, found.parameters
        ('model', 2, '2.2.4', 'mlp', 195)

    Args:
        path: the file.
        max_bytes: limit of the total size of its arrays. Default: eight times the file's size, at least 32 MiB.

    Returns:
        An `InspectedCheckpoint` with these facts as attributes.

    Raises:
        CheckpointError: if Keras did not write the file, or it is damaged.
    """
    with read(path, arrays=False, max_bytes=max_bytes) as reading:
        stored = reading.stored
    size = os.stat(path).st_size
    if stored.backend == RECORDING:
        note = "A recording of a training (`record_keras.py`): compare it with `parallel-compat compare`."
        return _by_lists(replace(stored, form="recording"), size, (), (note,))
    if stored.form == "keras3" or written_by_keras3(stored):
        note = "Written by Keras 3; it needs no recovery."
        return _by_lists(stored, size, (), (note,))
    template = template_of(stored)
    if template.tree is None or template.entry is None:
        return _by_lists(stored, size, tuple(template.wrappers), ())
    return _by_config(stored, size, template)


def _by_lists(stored: Stored, size: int, wrappers: tuple[Wrapper, ...], notes: tuple[str, ...]) -> InspectedCheckpoint:
    layers = tuple(
        InspectedLayer(
            layer.name, None, tuple(array.shape for array in layer.weights), sum(array.size for array in layer.weights)
        )
        for layer in stored.layers
        if not wrappers or layer.weights
    )
    name = layers[0].name if wrappers and len(layers) == 1 else None
    total = sum(layer.parameters for layer in layers)
    return InspectedCheckpoint(
        stored.path,
        size,
        stored.form,
        stored.keras_version,
        wrappers,
        name,
        None,
        layers,
        total,
        optimizer_arrays=len(stored.optimizer),
        notes=notes,
    )


def _by_config(stored: Stored, size: int, template: Template) -> InspectedCheckpoint:
    assert template.tree is not None
    assert template.entry is not None
    assert template.translation is not None
    arrays = template.stored.weights
    layers = []
    for child, entry in zip(template.tree.children, template.entry["config"]["layers"], strict=True):
        positions = [position for leaf in child.leaves() for position in template.indices.get(leaf.path, ())]
        shapes = tuple(arrays[position].shape for position in positions)
        layers.append(
            InspectedLayer(
                child.path[-1], entry["class_name"], shapes, sum(arrays[position].size for position in positions)
            )
        )
        assert isinstance(child, Branch) or child.class_name == entry["class_name"]
    notes = list(template.notes)
    optimizer, loss = None, None
    if stored.training_config is not None:
        with naming(stored.path):
            training = parse(stored.training_config, "training_config")
            compiled(training, notes, tf_keras="tf" in (stored.keras_version or ""))
            loss = training.get("loss")
            optimizer = str((training.get("optimizer_config") or {}).get("class_name"))
    return InspectedCheckpoint(
        stored.path,
        size,
        stored.form,
        stored.keras_version,
        tuple(template.wrappers),
        template.entry["name"],
        template.entry["class_name"],
        tuple(layers),
        sum(layer.parameters for layer in layers),
        optimizer,
        len(stored.optimizer),
        loss,
        tuple(template.translation.lambdas),
        dict(template.translation.custom),
        tuple(template.translation.refused),
        tuple(notes),
    )


__all__ = ["InspectedCheckpoint", "InspectedLayer", "inspect_checkpoint"]
