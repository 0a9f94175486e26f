"""The defaults of h5py before version 3, for reading and opening files.

Strings: a variable-length attribute with ASCII characters was `bytes`, one with UTF-8 was `str`, and a dataset of
UTF-8 was `str`. h5py 3 gives `str` for each attribute and `bytes` for each dataset. Old Keras writes ASCII and decodes
what it reads. A list of `bytes` was written with a fixed length. `File(name)` opened for writing where that was
allowed. Its errors said `Unable to open file`. `Dataset.value` and `File.fid` are gone.

Seen in h5py 3.8 to 3.15.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np

from parallel_compat.originals.mends.register import Register


def _in_old_words(error: OSError) -> OSError:
    """Return the error of a file as h5py 2 raised it: with its text alone, which old Keras reads."""
    return OSError(str(error.args[-1]).replace("Unable to synchronously ", "Unable to "))


def apply(mends: Register) -> None:
    try:
        import h5py
    except ImportError:
        return  # Keras does without
    mends.once(h5py, mend)
    mends.around("keras.utils.io_utils", "H5Dict.__getitem__", _returns_lists)


def mend(mends: Register, h5py: Any) -> None:
    """Let h5py read and open as it did."""
    from h5py import h5t

    def reads_attributes(getitem: Any, self: Any, name: Any) -> Any:
        value = getitem(self, name)
        kind = self.get_id(name).get_type()
        if isinstance(kind, h5t.TypeStringID) and kind.is_variable_str() and kind.get_cset() == h5t.CSET_ASCII:
            if isinstance(value, str):
                return value.encode("utf-8", "surrogateescape")
            if isinstance(value, np.ndarray):
                encoded = [each.encode("utf-8", "surrogateescape") for each in value.ravel()]
                return np.array(encoded, dtype=object).reshape(value.shape)
        return value

    def reads_datasets(read: Any, self: Any, *args: Any, **options: Any) -> Any:
        value = read(self, *args, **options)
        kind = h5py.check_string_dtype(self.dtype)
        if kind is not None and kind.length is None and kind.encoding == "utf-8":
            if isinstance(value, bytes):
                return value.decode()
            if isinstance(value, np.ndarray) and value.dtype == object:
                decoded = [each.decode() if isinstance(each, bytes) else each for each in value.ravel()]
                return np.array(decoded, dtype=object).reshape(value.shape)
        return value

    def opens(init: Any, self: Any, name: Any, mode: str | None = None, *args: Any, **options: Any) -> None:
        try:
            init(self, name, "a" if mode is None else mode, *args, **options)
        except OSError as error:
            if mode is not None or not os.path.isfile(name):
                raise _in_old_words(error) from error
            init(self, name, "r", *args, **options)

    mends.around(h5py.AttributeManager, "__getitem__", reads_attributes)
    mends.around(h5py.AttributeManager, "create", functools.partial(_with_fixed_length, 1))
    mends.around(h5py.Group, "create_dataset", functools.partial(_with_fixed_length, 3))
    mends.around(h5py.Dataset, "__getitem__", reads_datasets)
    mends.around(h5py.Dataset, "__array__", reads_datasets)
    mends.around(h5py.File, "__init__", opens)
    mends.add(h5py.Dataset, value=property(lambda self: self[()]))
    mends.add(h5py.File, fid=property(lambda self: self.id))


def _with_fixed_length(index: int, write: Any, self: Any, *args: Any, **options: Any) -> Any:
    """Write lists of bytes, which are passed at an index or as `data`, with a fixed length."""
    if len(args) > index:
        args = (*args[:index], _fixed(args[index]), *args[index + 1 :])
    elif "data" in options:
        options["data"] = _fixed(options["data"])
    return write(self, *args, **options)


def _fixed(data: Any) -> Any:
    """Return a list of bytes as an array of them."""
    if isinstance(data, (list, tuple)) and data and isinstance(data[0], bytes):
        return np.asarray(data)
    return data


def _returns_lists(getitem: Any, self: Any, name: Any) -> Any:
    """Let Keras ask for the truth of a list of names, where it would ask for that of an array."""
    value = getitem(self, name)
    is_list = isinstance(value, np.ndarray) and (value.dtype == object or value.shape == (0,))
    return value.tolist() if is_list else value
