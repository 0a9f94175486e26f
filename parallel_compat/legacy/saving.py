"""`keras.engine.saving`: weights out of a file of any name, and out of an open HDF5 file."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import h5py

from parallel_compat.backend.keras3 import h5_files
from parallel_compat.legacy import layer_names, tensorflow_checkpoints
from parallel_compat.legacy.model_files import IN_FOLDER
from parallel_compat.recover.keras_archive import look_over_archive
from parallel_compat.recover.keras_models import Layers
from parallel_compat.recover.loading import load_template_weights, load_weights_by_name
from parallel_compat.recover.reader import read
from parallel_compat.recover.single_model import written_by_keras3
from parallel_compat.warning_category import ParallelCompatWarning

if TYPE_CHECKING:
    from parallel_compat.recover.reader import Stored


def load_weights(
    model: Any, filepath: Any, by_name: bool = False, skip_mismatch: bool = False, reshape: bool = False
) -> Any:
    """Read weights as `parallel_compat.legacy.models.load_weights`, which says what the arguments are."""
    single = getattr(model, "template", model)
    path = existing(filepath)
    is_checkpoint = tensorflow_checkpoints.is_checkpoint(path)
    of_keras = not is_checkpoint and is_for_keras(path)
    if not (is_checkpoint or of_keras):
        with read(path, arrays=False) as reading:  # looks at every object in the file
            of_keras = reading.stored.form == "keras3"
    if reshape and (is_checkpoint or of_keras):
        raise ValueError(
            f"Expected `reshape=False`: {path!r} is no HDF5 file of Keras 2. Received: reshape=True. Reshape the "
            "arrays with numpy, and give them to `layer.set_weights`."
        )
    if is_checkpoint:
        if by_name:
            raise ValueError(
                f"Expected `by_name=False` with a checkpoint of TensorFlow, {path!r}: its weights have no names of "
                "layers. Received: by_name=True. Write the weights to a `.h5` file."
            )
        return tensorflow_checkpoints.load(single, path)
    if of_keras:
        model.load_weights(path, **({"skip_mismatch": True} if skip_mismatch else {}))
    elif by_name:
        load_by_name(single, path, skip_mismatch=skip_mismatch, reshape=reshape)
    else:
        load_in_order(single, path, reshape=reshape)
    return None


def load_weights_from_hdf5_group(f: h5py.Group, layers: Sequence[Any], reshape: bool = False) -> None:
    """Read the weights of layers in their order.

    Args:
        f: the open group.
        layers: the layers, as `model.layers` lists them.
        reshape: whether an array of the right size takes the shape of a convolution's kernel.
    """
    with as_file(f) as path:
        load_in_order(Layers(layers), path, reshape=reshape)


def load_weights_from_hdf5_group_by_name(
    f: h5py.Group, layers: Sequence[Any], skip_mismatch: bool = False, reshape: bool = False
) -> None:
    """Read the weights of layers by their names.

    Args:
        f: the open group.
        layers: the layers.
        skip_mismatch: whether weights whose shapes differ are skipped.
        reshape: whether an array of the right size takes the shape of a convolution's kernel.
    """
    with as_file(f) as path:
        load_by_name(Layers(layers), path, skip_mismatch=skip_mismatch, reshape=reshape)


def save_weights_to_hdf5_group(f: h5py.Group, layers: Sequence[Any]) -> None:
    """Write the weights of layers into an open group, as `save_weights` does those of a model.

    Args:
        f: the open group.
        layers: the layers, as `model.layers` lists them.
    """
    h5_files.write_weights_of_layers(layers, f)


def load_in_order(model: Any, path: str, *, reshape: bool = False) -> None:
    """Read the weights of a model from a file in Keras 2's layout, by the order of the layers.

    Args:
        path: the file; `reader.read` has looked at it.
    """
    with read(path, arrays=False) as reading:
        stored = reading.stored
    if reshape or not written_by_keras3(stored):
        load_template_weights(model, path, reshape=reshape)
        return
    with h5py.File(path, "r") as file:
        h5_files.read_weights(model, file["model_weights"] if stored.form == "model" else file)


def load_by_name(model: Any, path: str, *, skip_mismatch: bool = False, reshape: bool = False) -> None:
    """Read the weights of a model's layers by their names in the Keras that wrote the file.

    Raises:
        ValueError: the layers' names do not tell which weights they take.
    """

    def names(stored: Stored) -> Mapping[Any, str]:
        old = _of_standalone_keras(stored.keras_version or "1")
        return layer_names.in_file(model.layers, [layer.name for layer in stored.layers]) if old else {}

    loaded = load_weights_by_name(model, path, names=names, skip_mismatch=skip_mismatch, reshape=reshape)
    if not loaded.weights and not skip_mismatch:
        warnings.warn(
            f"{path}: nothing was loaded: no layer with weights has a name in it that the model has. Expected names "
            f"such as {[layer.name for layer in model.layers if layer.weights][:5]}.",
            ParallelCompatWarning,
            stacklevel=2,
        )


@contextlib.contextmanager
def as_file(group: h5py.Group) -> Iterator[str]:
    """Yield the path of a file that has what an open group has: only files are looked over before they are read."""
    with tempfile.TemporaryDirectory(prefix="parallel-compat-") as folder:
        path = os.path.join(folder, "group.h5")
        with h5py.File(path, "w") as file:
            for name in group:
                group.copy(name, file)
            for name, value in group.attrs.items():
                file.attrs[name] = value
        yield path


def _of_standalone_keras(version: str) -> bool:
    """Return whether Keras 1 or 2.0 to 2.3 wrote a file, not `tensorflow.keras` ("2.2.4-tf", 2.4 and later)."""
    return version.partition(".")[0] == "1" or (
        version.startswith(("2.0.", "2.1.", "2.2.", "2.3.")) and not version.endswith("-tf")
    )


def existing(filepath: Any) -> str:
    """Return a file's path; a checkpoint of TensorFlow is the beginning of the names of several files."""
    path: str = os.fspath(filepath)
    if not os.path.exists(path) and not os.path.exists(f"{path}.index"):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    inside = os.path.join(path, IN_FOLDER)
    return inside if os.path.isfile(inside) else path


def is_for_keras(path: str) -> bool:
    """Return whether Keras reads a path by itself: a `.keras` archive, which is checked first, or no file."""
    if not os.path.isfile(path):
        return True  # a folder, or the beginning of names
    if not zipfile.is_zipfile(path):
        return False
    look_over_archive(path)
    return True
