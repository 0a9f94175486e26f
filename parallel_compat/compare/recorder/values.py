"""Values as lists, arrays and JSON, and functions that are called by others."""

from __future__ import print_function

import functools
import json
import types
import zlib

import numpy as np


def listed(value):
    """Return a value as a list."""
    return list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]


def keys_of(value, names=()):
    """Return a dict's keys in the order of some names, or of the keys where they are not among these."""
    return [name for name in names if name in value] if set(value) <= set(names) else sorted(value)


def flat(value, names=()):
    """Return the leaves of lists, tuples and dicts; those of a dict whose keys are among some names in their order."""
    if isinstance(value, dict):
        return [leaf for key in keys_of(value, names) for leaf in flat(value[key])]
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in flat(part)]
    return [] if value is None else [value]


def unflat(like, leaves, names=()):
    """Put leaves, in the order of `flat`, into the structure of another value, as tensors."""
    import tensorflow as tf

    leaves = iter(leaves)

    def build(value):
        if isinstance(value, dict):
            built = {key: build(value[key]) for key in keys_of(value, names)}
            return {key: built[key] for key in value}
        if isinstance(value, (list, tuple)):
            return type(value)([build(part) for part in value])
        return None if value is None else tf.convert_to_tensor(next(leaves))

    return build(like)


def plain(value):
    """Return a value as JSON has it: numbers for numbers of numpy, names for functions and objects."""

    def known(each):
        return float(each) if hasattr(each, "dtype") else getattr(each, "__name__", type(each).__name__)

    try:
        return json.loads(json.dumps(value, default=known))
    except (TypeError, ValueError):
        return str(value)


def tried(compute, otherwise=None):
    """Return what a function returns; something else where it cannot."""
    try:
        return compute()
    except Exception:
        return otherwise


def digest(data):
    """Return what tells the data of one call from those of another: sums of the arrays; None where it has none."""
    arrays = [data[key] for key in sorted(data)] if isinstance(data, dict) else listed(data)
    if not arrays or not all(isinstance(each, np.ndarray) and each.dtype.kind in "fiub" for each in arrays):
        return None
    return [[float(np.sum(each)), float(np.sum(np.abs(each.astype("float64"))))] for each in arrays]


def checksums(batch):
    """Return what tells the inputs and targets of a batch from others, whatever their types and shapes."""

    def added(sums, array):
        return zlib.crc32(np.ascontiguousarray(array, dtype="float32").tobytes(), sums) & 0xFFFFFFFF

    return [functools.reduce(added, batch.get(kind, ()), 0) for kind in "xy"]


def array_of(value):
    """Return a part of a batch as an array: one of scipy's sparse matrices and TensorFlow's sparse tensors, too."""
    if hasattr(value, "dense_shape"):
        import tensorflow as tf

        value = tf.sparse.to_dense(value)
    return value.toarray() if hasattr(value, "toarray") else np.asarray(value)


def like(array, own):
    """Return a recorded array in the shape and the form of the script's own."""
    array = array.reshape(np.shape(own))
    return type(own)(array) if hasattr(own, "toarray") else array


def dense(gradient):
    """Return a gradient as a tensor: that of an Embedding is its rows."""
    if hasattr(gradient, "indices"):
        import tensorflow as tf

        return tf.convert_to_tensor(gradient)
    return gradient


def around(owner, name, replacement):
    """Let a function of a class or module be called by another, once.

    That one gets the function, its positional arguments and its keywords: these may have any name.
    """
    original = getattr(owner, name, None)
    original = getattr(original, "__func__", original)  # of Python 2
    if not isinstance(original, types.FunctionType) or hasattr(original, "_record_keras"):
        return False

    def method(*given, **keywords):
        return replacement(original, given, keywords)

    for each in ("__name__", "__qualname__", "__doc__"):  # by `__module__` a parallel model sees that it is watched
        if getattr(original, each, None):
            setattr(method, each, getattr(original, each))
    method.__wrapped__ = original  # `inspect.signature` asks for it
    method._record_keras = True
    setattr(owner, name, method)
    return True
