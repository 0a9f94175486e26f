"""`keras.utils.io_utils.H5Dict`: an HDF5 group or a dictionary behind one interface, as Keras 2 wrote models into."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 64_512  # bytes of one attribute; longer lists are cut into `name0`, `name1`, ...
_GROUP = "_is_group"


class H5Dict:
    """Arrays, attributes and groups by name.

    >>> store = H5Dict({})
    >>> store["layer"]["kernel"] = np.ones((2, 3))
    >>> store["layer"]["kernel"].shape
    (2, 3)

    Args:
        path: an HDF5 file's path, an open group, or a dictionary.
        mode: "r", "w" or "a", as `h5py.File` takes it.

    Raises:
        TypeError: `path` is something else.
    """

    def __init__(self, path: Any, mode: str = "a") -> None:
        self._is_file = isinstance(path, (str, os.PathLike))
        if self._is_file:
            self.data: Any = h5py.File(path, mode)
        elif isinstance(path, (h5py.Group, dict)):
            self.data = path
            if isinstance(path, dict):
                if mode == "w":
                    path.clear()
                path[_GROUP] = True
        else:
            raise TypeError(f"Expected `path` to be a path, an HDF5 group or a dict. Received: {type(path).__name__}")
        self.read_only = mode == "r"

    def __setitem__(self, name: Any, value: Any) -> None:
        name = _text(name)
        if self.read_only:
            raise ValueError(f"Expected a store that was opened to write. Received: {name!r} for one of mode 'r'.")
        if isinstance(self.data, dict):
            self.data[name] = value
        elif name in self.data:
            raise KeyError(f"Expected a name that is not there. Received: {name!r}, which is a group or an array.")
        elif isinstance(value, (np.ndarray, np.generic)):
            self.data.create_dataset(name, data=value)
        elif isinstance(value, list):
            self._set_list(name, value)
        else:
            self.data.attrs[name] = value

    def _set_list(self, name: str, values: list[Any]) -> None:
        values = [value.encode("utf-8") if isinstance(value, str) else value for value in values]
        whole = np.asarray(values)
        count = 1
        while any(piece.nbytes > _MOST for piece in np.array_split(whole, count)):
            count += 1
            if count > max(1, len(values)):
                raise RuntimeError(f"Expected entries of at most {_MOST:,} bytes. Received: longer ones for {name!r}.")
        if count == 1:
            self.data.attrs[name] = whole
        else:
            for number, piece in enumerate(np.array_split(whole, count)):
                self.data.attrs[f"{name}{number}"] = piece

    def __getitem__(self, name: Any) -> Any:
        name = _text(name)
        if isinstance(self.data, dict):
            if name not in self.data:
                return H5Dict(self._new(name, lambda: self.data.setdefault(name, {})))
            value = self.data[name]
            return H5Dict(value) if isinstance(value, dict) and value.get(_GROUP) else value
        if name in self.data.attrs:
            value = self.data.attrs[name]
            return value.tolist() if isinstance(value, np.ndarray) and value.dtype.kind == "S" else value
        if name in self.data:
            value = self.data[name]
            return (
                np.asarray(value) if isinstance(value, h5py.Dataset) else H5Dict(value, "r" if self.read_only else "a")
            )
        if f"{name}0" in self.data.attrs:
            return self._joined(name)
        return H5Dict(self._new(name, lambda: self.data.create_group(name)))

    def _joined(self, name: str) -> list[str]:
        found: list[str] = []
        number = 0
        while f"{name}{number}" in self.data.attrs:
            found += [_text(each) for each in self.data.attrs[f"{name}{number}"]]
            number += 1
        return found

    def _new(self, name: str, make: Any) -> Any:
        if self.read_only:
            raise ValueError(f"Expected a name that is there, in a store of mode 'r'. Received: {name!r}")
        return make()

    def get(self, name: Any, default: Any = None) -> Any:
        """Return what is under a name, or a default."""
        return self[name] if name in self else default  # noqa: SIM401

    def __contains__(self, name: Any) -> bool:
        name = _text(name)
        if isinstance(self.data, dict):
            return name in self.data
        return name in self.data or name in self.data.attrs or f"{name}0" in self.data.attrs

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def iter(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self.data)

    def __getattr__(self, name: str) -> Any:
        if name == "data":  # before `__init__` set it
            raise AttributeError(name)
        return getattr(self.data, name)

    def close(self) -> None:
        """Write what is open, and close a file that was opened here."""
        if isinstance(self.data, h5py.Group):
            self.data.file.flush()
            if self._is_file:
                self.data.close()

    def __enter__(self) -> H5Dict:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()


def _text(name: Any) -> str:
    return name.decode("utf-8") if isinstance(name, bytes) else str(name)
