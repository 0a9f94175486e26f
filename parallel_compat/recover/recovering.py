"""Recover the single model: from the old file to a new one, or to a living model."""

from __future__ import annotations

import errno
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parallel_compat.atomic_file import replacing
from parallel_compat.recover import h5_writer
from parallel_compat.recover.config_json import Entry, model_entry, parse
from parallel_compat.recover.errors import CheckpointError, naming
from parallel_compat.recover.limits import ATTRIBUTE_BYTES
from parallel_compat.recover.parallel_wrapper import unwrap
from parallel_compat.recover.raw_bytes import open_regular
from parallel_compat.recover.reader import Reading, Stored, read
from parallel_compat.recover.rules.training import compiled
from parallel_compat.recover.single_model import Template, template_of
from parallel_compat.recover.verifying import check_saved_model
from parallel_compat.warning_category import ParallelCompatWarning

SUFFIXES = (".weights.h5", ".keras", ".hdf5", ".h5")
NO_STATE_IN_H5 = (
    "The optimizer's state is not written: Keras 3 cannot load it from .h5 files, not even from its own. "
    "Write a .keras file to keep it."
)

OLD_GATES = (
    "The file does not contain the activation of the recurrent layers' gates. For hard_sigmoid (Keras 2's default) "
    "the weights must be converted for Keras 3: pass the architecture, or use `load_template_weights`."
)


@dataclass
class Recovery:
    """What was recovered."""

    template: Template  # the single model as it was found
    model: Any = None  # the living model, if one was built
    notes: list[str] = field(default_factory=list)  # what a user should know, one sentence each


def recover_template(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    weights_only: bool = False,
    custom_objects: Mapping[str, Any] | None = None,
    keep_lambda: bool = False,
    architecture: str | os.PathLike[str] | None = None,
    force: bool = False,
    max_bytes: int | None = None,
) -> Any:
    """Recover the single model from a file that a multi-GPU model, or any model of Keras 1 or 2, wrote.

    No code in the file is executed. The config is translated for Keras 3, so that plain Keras 3 loads the result and
    computes the same.

    Examples:
        >>> import parallel_compat
        >>> model = parallel_compat.recover_template("old_parallel.h5")
        >>> [layer.name for layer in model.layers]
        ['x', 'hidden', 'probs']
        >>> parallel_compat.recover_template("old_parallel.h5", "single.keras").name
        'single.keras'

    Args:
        path: the old file.
        out: file to write: `.keras` (with the optimizer's state), `.h5` or `.hdf5` (without it), or `.weights.h5`.
            Default: nothing is written, and the model is returned.
        weights_only: write the weights without the config (`.h5`, `.hdf5`; `.weights.h5` always does).
        custom_objects: dict from name to your classes and functions that the file uses.
        keep_lambda: keep your Lambda layers, as data. Keras loads the result only with `safe_mode=False`, which then
            executes them.
        architecture: for a file of weights, the file with the model's config: JSON of `model.to_json()`, or another old
            file.
        force: replace an existing `out`.
        max_bytes: limit of the total size of the arrays. Default: eight times the file's size, at least 32 MiB.

    Returns:
        `out` as a `pathlib.Path`, or a `keras.Model`, compiled as in the file if possible.

    Raises:
        CheckpointError: if the file cannot be read, or cannot be written for Keras 3. The message says what is wrong
            and where.
        OSError: if writing `out` failed. The file that was there before is unchanged.
    """
    found = recover(
        path,
        out,
        weights_only=weights_only,
        custom_objects=custom_objects,
        keep_lambda=keep_lambda,
        architecture=architecture,
        force=force,
        max_bytes=max_bytes,
    )
    for note in found.notes:
        warnings.warn(f"{os.fspath(path)}: {note}", ParallelCompatWarning, stacklevel=2)
    return found.model if out is None else Path(out)


def recover(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str] | None,
    *,
    weights_only: bool = False,
    custom_objects: Mapping[str, Any] | None = None,
    keep_lambda: bool = False,
    architecture: str | os.PathLike[str] | None = None,
    force: bool = False,
    max_bytes: int | None = None,
    started: Callable[[int], Callable[[int], object]] = lambda total: lambda count: None,
) -> Recovery:
    """Recover the single model, and return a report of it.

    Args:
        started: called with the number of bytes to come; what it returns is called with each piece's.
    """
    inputs = [path] if architecture is None else [path, architecture]
    suffix = None if out is None else check_output(inputs, out, weights_only=weights_only, force=force)
    objects = dict(custom_objects or {})
    entry = None if architecture is None else read_architecture(architecture, max_bytes)
    living = suffix in (None, ".keras", ".weights.h5")
    with read(path, optimizer=living and suffix != ".weights.h5", max_bytes=max_bytes) as reading:
        stored = reading.stored
        template = template_of(stored, objects, entry)
        found = Recovery(template, notes=list(template.notes))
        if template.tree is None:
            _require_no_config(stored, suffix)
            _require_current_layout(template.stored)
        elif template.translation is not None and not (weights_only and suffix in (".h5", ".hdf5")):
            with naming(stored.path):
                template.translation.check(
                    keep_lambda=keep_lambda, as_data=suffix in (".h5", ".hdf5"), written=suffix is not None
                )
            if suffix in (".h5", ".hdf5"):
                _require_single_axes(template.translation.config, stored.path)
            found.notes += _kept(template, keep_lambda=keep_lambda)
        advance = started(sum(array.nbytes for array in template.stored.weights))
        if living:
            _make_model(found, reading, objects, advance, optimizer=suffix != ".weights.h5")
            if out is not None:
                _save_model(found.model, Path(out), suffix, objects)
        else:
            assert out is not None
            # A file of weights stays one, even if the architecture was given to tell its layers apart.
            bare = weights_only or (stored.form == "weights" and architecture is None)
            _write_h5(found, reading, out, objects, advance, bare=bare)
    return found


def check_output(
    inputs: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str], *, weights_only: bool, force: bool
) -> str:
    """Refuse an output that cannot be, before anything is read; return its suffix."""
    name = os.fspath(out)
    suffix = next((suffix for suffix in SUFFIXES if name.endswith(suffix)), None)
    if suffix is None:
        raise CheckpointError(f"Expected an output that ends in .h5, .hdf5, .keras or .weights.h5. Received: {name}.")
    if weights_only and suffix == ".keras":
        raise CheckpointError("A .keras file holds a whole model. For weights only write .h5.")
    if os.path.isdir(name):
        raise CheckpointError(f"{name}: expected a file to write. Received: a folder.")
    if not os.path.isdir(os.path.dirname(os.path.abspath(name))):
        raise CheckpointError(f"{name}: the folder {os.path.dirname(os.path.abspath(name))} is not there.")
    if os.path.lexists(name):
        for path in inputs:
            if os.path.exists(path) and os.path.exists(name) and os.path.samefile(path, name):
                raise CheckpointError(f"{name}: is the input; write to another file.")
        if os.path.exists(name) and not os.path.isfile(name):
            raise CheckpointError(f"{name}: expected a file to write. Received: a pipe or a device.")
        if not force:
            raise CheckpointError(f"{name}: exists. Replace it with `force` (--force).")
    return suffix


def read_architecture(path: str | os.PathLike[str], max_bytes: int | None) -> Entry:
    """Read a single model's config from JSON or from another old file."""
    name = os.fspath(path)
    if not name.endswith((".json", ".txt")):
        with read(path, arrays=False, max_bytes=max_bytes) as reading, naming(name):
            if reading.stored.model_config is None:
                raise CheckpointError(f"{name}: holds weights only, no architecture.")
            return unwrap(model_entry(reading.stored.model_config))[0]
    try:
        with open_regular(name) as file:
            if os.fstat(file.fileno()).st_size > ATTRIBUTE_BYTES:
                raise CheckpointError(f"{name}: more than {ATTRIBUTE_BYTES:,} bytes of JSON.")
            text = file.read(ATTRIBUTE_BYTES).decode("utf-8")
    except (OSError, UnicodeError) as error:
        raise CheckpointError(f"{name}: cannot be read ({error}).") from error
    with naming(name):
        return unwrap(model_entry(text))[0]


def _require_single_axes(config: Any, path: str) -> None:
    """Refuse a layer of several axes: Keras 3, which reads `.h5` files, makes it one over the last axis."""
    if isinstance(config, list):
        for each in config:
            _require_single_axes(each, path)
    elif isinstance(config, dict):
        axis = config.get("axis")
        if isinstance(axis, list) and len(axis) > 1:
            raise CheckpointError(
                f"{path}: expected layers over one axis for an `.h5` file. Received: {config.get('name')!r} over {axis}"
                ", which Keras 3 reads only from `.keras` files. Write a `.keras` file."
            )
        for each in config.values():
            _require_single_axes(each, path)


def _require_no_config(stored: Stored, suffix: str | None) -> None:
    if suffix not in (".h5", ".hdf5"):
        what = "a model" if suffix is None else suffix
        raise CheckpointError(
            f"{stored.path}: holds weights only; {what} needs the architecture, too. Pass it "
            "(--architecture FILE), write .h5, or call `load_template_weights` on a model that your code builds."
        )


def _require_current_layout(stored: Stored) -> None:
    """Refuse weights that need another layout, where only the names of layers are known."""
    gates = any(re.search(r"/[WUb]_[ifcozrh](_\d+)?(:0)?$", weight.name) for weight in stored.weights)
    kernels = any(len(weight.shape) > 2 for weight in stored.weights)
    of_keras1 = (stored.keras_version or "").startswith(("0.", "1"))
    other = stored.backend not in (None, "tensorflow", "cntk")
    if ((gates or kernels) and of_keras1) or (kernels and other):
        who = "Keras 1" if of_keras1 else f"Keras on {str(stored.backend)[:40]}"
        raise CheckpointError(
            f"{stored.path}: {who} stored some of these weights in another layout; only the layers show which. "
            "Pass the architecture (--architecture FILE), or call `load_template_weights` on a model that your code "
            "builds."
        )


def _kept(template: Template, *, keep_lambda: bool) -> list[str]:
    translation = template.translation
    assert translation is not None
    notes = []
    if translation.lambdas and keep_lambda:
        notes.append(
            "Lambda layers are kept as data, with their old bytecode: "
            f"{', '.join(translation.lambdas)}. Keras loads them only with safe_mode=False."
        )
    for name, places in translation.custom.items():
        if name not in translation.custom_objects:
            notes.append(
                f"{name!r} is not part of Keras ({', '.join(places[:3])}); it is kept as "
                "data. Load the file with `custom_objects`."
            )
    return notes


def _training_config(stored: Stored, found: Recovery) -> dict[str, Any] | None:
    if stored.training_config is None or stored.form != "model":
        return None
    with naming(stored.path):
        return compiled(
            parse(stored.training_config, "training_config"), found.notes, tf_keras="tf" in (stored.keras_version or "")
        )


def _make_model(
    found: Recovery, reading: Reading, objects: dict[str, Any], advance: Callable[[int], object], *, optimizer: bool
) -> None:
    from parallel_compat.recover import keras_models

    stored = reading.stored
    training = _training_config(stored, found) if optimizer else None
    with naming(stored.path):
        found.model, arrays = keras_models.read_model(
            found.template, reading, objects, optimizer=optimizer, advance=advance
        )
        if optimizer:
            found.notes += keras_models.notes_on_masks(found.model)
        if training is not None:
            keras_models.compile_model(found.model, training, stored.path)
            found.notes += keras_models.restore_optimizer(found.model, found.template, arrays)


def _keep_gone_layers(template: Template) -> None:
    """Leave weights as they are whose layer another one stands for in Keras 3: code that reads them has the layer."""
    edits = {} if template.translation is None else template.translation.edits
    for leaf in template.leaves.values():
        kept = [edit for edit in edits.get(leaf.path, ()) if not edit.startswith("locally_connected")]
        if len(kept) < len(edits.get(leaf.path, ())):
            edits[leaf.path] = kept
            leaf.written = None


def _is_complete(template: Template) -> bool:
    """Return whether Keras can build a model without running what a file brings along."""
    translation = template.translation
    assert translation is not None
    return not translation.lambdas and set(translation.custom) <= set(translation.custom_objects)


def _write_h5(
    found: Recovery,
    reading: Reading,
    out: str | os.PathLike[str],
    objects: dict[str, Any],
    advance: Callable[[int], object],
    *,
    bare: bool,
) -> None:
    """Write a .h5 file, of weights alone if `bare`, and note what it lacks."""
    template, stored = found.template, reading.stored
    if bare:
        _keep_gone_layers(template)
    training = None if bare else _training_config(stored, found)
    if stored.optimizer and not bare:
        found.notes.append(NO_STATE_IN_H5)
    with naming(stored.path), replacing(out) as temporary:
        h5_writer.write(temporary, template, reading, weights_only=bare, training_config=training, advance=advance)
        if not bare and _is_complete(template):
            found.notes += _loaded_notes(temporary, template, objects)
    if bare and template.tree is None and template.wrappers:
        found.notes.append(
            "Weights were assigned to layers by name. If the template has nested models or had "
            "frozen layers, pass its architecture, or use `load_template_weights`."
        )
    if bare and template.tree is None and any("/recurrent_kernel" in one.name for one in template.stored.weights):
        found.notes.append(OLD_GATES)


def _loaded_notes(path: Path, template: Template, objects: dict[str, Any]) -> list[str]:
    """Load what was written as anybody will, with Keras's own function, and return what is to be said of it."""
    from parallel_compat.recover import keras_models

    assert template.translation is not None
    keras_models.make(template.translation.config, objects, keras_models.check_room, template.stored.path, alone=True)
    return keras_models.load_as_plain_keras(path, objects, template.stored.path)


def _save_model(model: Any, out: Path, suffix: str | None, objects: dict[str, Any]) -> None:
    with replacing(out) as temporary:
        variables = list(model.weights)
        try:
            if suffix == ".weights.h5":
                model.save_weights(temporary)
            else:
                model.save(temporary)
        except RuntimeError as error:  # what h5py makes of an error of the system
            raise OSError(errno.EIO, f"Cannot be written ({str(error)[:200]})", os.fspath(out)) from error
        if getattr(model, "optimizer", None) is not None:
            variables += model.optimizer.variables
        check_saved_model(temporary, variables)
        if suffix == ".keras":
            from parallel_compat.recover import keras_models

            keras_models.load_as_plain_keras(temporary, objects, os.fspath(out))
