"""`keras.engine.saving`: weights out of an open HDF5 file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from parallel_compat.backend.keras3 import h5_files
from parallel_compat.legacy import automatic_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    import h5py


def load_weights_from_hdf5_group(f: h5py.Group, layers: Sequence[Any], reshape: bool = False) -> None:
    """Read the weights of layers in their order.

    Args:
        f: the open group.
        layers: the layers, as `model.layers` lists them.
        reshape: must be false.
    """
    _check(reshape)
    h5_files.read_weights(_Layers(layers), f)


def load_weights_from_hdf5_group_by_name(
    f: h5py.Group, layers: Sequence[Any], skip_mismatch: bool = False, reshape: bool = False
) -> None:
    """Read the weights of layers by their names.

    Args:
        f: the open group.
        layers: the layers.
        skip_mismatch: whether layers whose shapes differ are left as they are.
        reshape: must be false.
    """
    _check(reshape)
    read_by_name(_Layers(layers), f, skip_mismatch=skip_mismatch)


def read_by_name(model: Any, group: h5py.Group, *, skip_mismatch: bool = False) -> None:
    """Read the weights of a model's layers by their names in the Keras that wrote the file.

    Args:
        model: has `layers`.
        group: the open group.
        skip_mismatch: whether layers whose shapes differ are left as they are.

    Raises:
        ValueError: the layers' names do not tell which weights they take.
    """
    old = h5_files.is_of_standalone_keras(group)
    names = automatic_names.in_file(model.layers, h5_files.layer_names(group)) if old else {}
    h5_files.read_weights_by_name(model, group, skip_mismatch=skip_mismatch, names=names)


def _check(reshape: bool) -> None:
    if reshape:
        raise ValueError("Expected `reshape=False`: Keras 3 does not reshape weights. Reshape them with numpy.")


class _Layers:
    """Layers without a model, as far as reading weights looks at one."""

    def __init__(self, layers: Sequence[Any]) -> None:
        self.layers = list(layers)
        self.name = "layers"
        self._trainable_variables: list[Any] = []
        self._non_trainable_variables: list[Any] = []
        self.weights: list[Any] = []
