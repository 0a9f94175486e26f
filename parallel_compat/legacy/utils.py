"""Helpers of `keras.utils` and `keras.utils.generic_utils` that old code imports and Keras 3 no longer has."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np

_OF_DEVICES = {"_get_available_devices": "get_available_devices", "_normalize_device_name": "normalize_device_name"}


def __getattr__(name: str) -> Any:
    if name not in _OF_DEVICES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from parallel_compat.legacy import device_lib  # most that import this module ask for no devices

    return getattr(device_lib, _OF_DEVICES[name])


class HDF5Matrix:
    """A dataset of an HDF5 file, to be used in place of an array.

    Args:
        datapath: path of the file.
        dataset: name of the dataset in it.
        start: the first row, from 0.
        end: the row after the last; None for all.
        normalizer: a function applied to what is read.
    """

    def __init__(
        self,
        datapath: str,
        dataset: str,
        start: int = 0,
        end: int | None = None,
        normalizer: Callable[[Any], Any] | None = None,
    ) -> None:
        import h5py

        self.data = h5py.File(datapath, "r")[dataset]
        self.start = start
        self.end = self.data.shape[0] if end is None else end
        self.normalizer = normalizer
        first = self._normalized(self.data[0:1])
        self._base_shape, self.dtype = first.shape[1:], first.dtype

    def __len__(self) -> int:
        return int(self.end - self.start)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            if key.stop is not None and key.stop > len(self):
                raise IndexError(f"Expected rows up to {len(self)}. Received: {key}")
            start, stop, _step = key.indices(len(self))
            return self._normalized(self.data[start + self.start : stop + self.start])
        if isinstance(key, (int, np.integer)):
            if key >= len(self):
                raise IndexError(f"Expected an index below {len(self)}. Received: {key}")
            # As in Keras 2, -1 is the file's last row if the matrix begins with the file's first, wherever it ends.
            return self._normalized(self.data[int(key) + self.start])
        rows = np.asarray(key)
        if rows.size and rows.max() >= len(self):
            raise IndexError(f"Expected indices below {len(self)}. Received: {rows.max()}")
        # h5py reads increasing indices without repetition.
        unique, inverse = np.unique(rows, return_inverse=True)
        return self._normalized(self.data[(unique + self.start).tolist()][inverse.reshape(rows.shape)])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.asarray(self[:], dtype=dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape, rows first."""
        return (len(self), *self._base_shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of scalars."""
        return int(np.prod(self.shape))

    def _normalized(self, data: Any) -> Any:
        return data if self.normalizer is None else self.normalizer(data)


def to_list(x: Any, allow_tuple: bool = False) -> list[Any]:
    """Return `x` if it is a list, else a list of it."""
    if isinstance(x, list):
        return x
    if allow_tuple and isinstance(x, tuple):
        return list(x)
    return [x]


def unpack_singleton(x: Any) -> Any:
    """Return the only element, or `x` where there are more."""
    return x[0] if len(x) == 1 else x


def is_all_none(iterable_or_element: Any) -> bool:
    """Return whether every element is None."""
    elements = iterable_or_element if isinstance(iterable_or_element, (list, tuple)) else [iterable_or_element]
    return all(element is None for element in elements)


def object_list_uid(object_list: Any) -> str:
    """Return a string that tells lists of objects apart."""
    return ", ".join(str(abs(id(x))) for x in to_list(object_list))


def has_arg(fn: Callable[..., Any], name: str, accept_all: bool = False) -> bool:
    """Return whether a callable takes the keyword argument `name`.

    Args:
        fn: the callable.
        name: the argument.
        accept_all: what to answer where it takes any keyword by `**kwargs`.
    """
    parameters = inspect.signature(fn).parameters
    if name in parameters:
        return parameters[name].kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return accept_all and any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())


def slice_arrays(arrays: Any, start: Any = None, stop: Any = None) -> Any:
    """Slice an array or each array of a list, by bounds or by a list of indices."""
    if arrays is None:
        return [None]
    if isinstance(start, list) and stop is not None:
        raise ValueError("Expected `stop` to be None where `start` is a list of indices.")
    several = isinstance(arrays, list)
    given = arrays if several else [arrays]
    if hasattr(start, "__len__"):
        indices = start.tolist() if hasattr(start, "shape") else start
        sliced = [None if x is None else x[indices] for x in given]
    elif several:
        sliced = [None if x is None else x[start:stop] for x in given]
    else:
        return [None]  # as it was of one array and bounds
    return sliced if several else sliced[0]


def transpose_shape(shape: Sequence[Any], target_format: str, spatial_axes: Sequence[int]) -> tuple[Any, ...]:
    """Reorder a shape in channels-last order to the data format, leaving out axes that are not named.

    Args:
        shape: the shape, channels last.
        target_format: "channels_first" or "channels_last".
        spatial_axes: indices of the spatial axes in `shape`.
    """
    if target_format == "channels_first":
        new = (*shape[: spatial_axes[0]], shape[-1], *(shape[i] for i in spatial_axes))
    elif target_format == "channels_last":
        new = tuple(shape)
    else:
        raise ValueError(
            'Expected `target_format` to be "channels_first" or "channels_last". '
            f"Received: target_format={target_format!r}"
        )
    return tuple(new)


def count_params(weights: Any) -> int:
    """Return the number of scalars in a list of weights, each counted once."""
    different = {id(weight): weight for weight in weights}
    return sum(int(np.prod(tuple(weight.shape))) for weight in different.values())


def ask_to_proceed_with_overwrite(filepath: str) -> bool:
    """Ask on the terminal whether a file may be overwritten."""
    answer = input(f"[WARNING] {filepath} already exists - overwrite? [y/n]").strip().lower()
    while answer not in ("y", "n"):
        answer = input("Enter [y/n]: ").strip().lower()
    return answer == "y"


def to_categorical(
    y: Any = None,
    num_classes: int | None = None,
    dtype: Any = "float32",
    *,
    nb_classes: int | None = None,
    x: Any = None,
) -> Any:
    """Turn class indices into rows of zeros and a one.

    Args:
        y: the indices; `x` is its name today.
        num_classes: how many classes there are; `nb_classes` in Keras 1.
        dtype: dtype of the rows.
        nb_classes: see `num_classes`.
        x: see `y`.
    """
    y = x if y is None else y
    num_classes = nb_classes if num_classes is None else num_classes
    return keras.utils.to_categorical(y, num_classes).astype(dtype)


def get_test_data(
    num_train: int = 1000,
    num_test: int = 500,
    input_shape: tuple[int, ...] = (10,),
    output_shape: tuple[int, ...] = (2,),
    classification: bool = True,
    num_classes: int = 2,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Draw data to try a model on: ((x, y) for training, (x, y) for testing)."""
    samples = num_train + num_test
    if classification:
        y: Any = np.random.randint(0, num_classes, size=(samples,))
        centres = y
    else:
        centres = np.random.random((samples,))
        y = np.zeros((samples, *output_shape), dtype=np.float32)
    x = np.zeros((samples, *input_shape), dtype=np.float32)
    for i in range(samples):
        x[i] = np.random.normal(loc=centres[i], scale=0.7, size=input_shape)
        if not classification:
            y[i] = np.random.normal(loc=centres[i], scale=0.7, size=output_shape)
    return (x[:num_train], y[:num_train]), (x[num_train:], y[num_train:])


def normalize_tuple(value: Any, n: int, name: str) -> tuple[int, ...]:
    """Turn an int into a tuple of `n` of it, and check a tuple's length."""
    if isinstance(value, int):
        return (value,) * n
    try:
        values = tuple(int(single) for single in value)
    except (TypeError, ValueError):
        values = ()
    if len(values) != n:
        raise ValueError(f"Expected `{name}` to be an int or a tuple of {n} ints. Received: {name}={value!r}")
    return values


def normalize_padding(value: str) -> str:
    """Spell a padding in lower case and check it."""
    padding = value.lower()
    if padding not in {"valid", "same", "causal"}:
        raise ValueError(f'Expected `padding` to be "valid", "same" or "causal". Received: padding={value!r}')
    return padding


def normalize_data_format(value: str | None) -> str:
    """Return the data format, the configured one for None."""
    chosen = (value or keras.backend.image_data_format()).lower()
    if chosen not in {"channels_first", "channels_last"}:
        raise ValueError(
            f'Expected `data_format` to be "channels_first" or "channels_last". Received: data_format={value!r}'
        )
    return chosen


def conv_output_length(
    input_length: int | None, filter_size: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """Return the length after a convolution."""
    _check_padding(padding, {"same", "valid", "full", "causal"})
    if input_length is None:
        return None
    dilated = filter_size + (filter_size - 1) * (dilation - 1)
    added = {"same": 0, "causal": 0, "valid": 1 - dilated, "full": dilated - 1}[padding]
    return (input_length + added + stride - 1) // stride


def conv_input_length(output_length: int | None, filter_size: int, padding: str, stride: int) -> int | None:
    """Return the length before a convolution."""
    _check_padding(padding, {"same", "valid", "full"})
    if output_length is None:
        return None
    pad = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (output_length - 1) * stride - 2 * pad + filter_size


def deconv_length(
    dim_size: int | None,
    stride_size: int,
    kernel_size: int,
    padding: str,
    output_padding: int | None = None,
    dilation: int = 1,
) -> int | None:
    """Return the length after a transposed convolution."""
    _check_padding(padding, {"same", "valid", "full"})
    if dim_size is None:
        return None
    kernel = kernel_size + (kernel_size - 1) * (dilation - 1)
    if output_padding is None:
        if padding == "valid":
            return dim_size * stride_size + max(kernel - stride_size, 0)
        if padding == "full":
            return dim_size * stride_size - (stride_size + kernel - 2)
        return dim_size * stride_size
    pad = {"same": kernel // 2, "valid": 0, "full": kernel - 1}[padding]
    return (dim_size - 1) * stride_size + kernel - 2 * pad + output_padding


def _check_padding(padding: str, allowed: set[str]) -> None:
    if padding not in allowed:
        # An `AssertionError`, as in Keras 2: layers of old projects catch it.
        raise AssertionError(f"Expected `padding` to be one of {sorted(allowed)}. Received: padding={padding!r}")


def _obtain_input_shape(
    input_shape: tuple[int | None, ...] | None,
    default_size: int,
    min_size: int,
    data_format: str | None,
    require_flatten: bool = True,
    weights: str | None = None,
    include_top: bool | None = None,
) -> tuple[int | None, ...]:
    """Check the shape of a network's pictures, or give the default one.

    Args:
        input_shape: the shape of one picture; None for the default one.
        default_size: height and width of the default one, in pixels.
        min_size: the least height and width.
        data_format: "channels_last" or "channels_first"; None for that of the configuration.
        require_flatten: whether the network ends in layers that need the size.
        weights: "imagenet" for pictures of three channels only.
        include_top: the name of `require_flatten` before Keras 2.0.7.

    Raises:
        ValueError: the shape does not do.
    """
    flatten = require_flatten if include_top is None else include_top
    first = (data_format or keras.config.image_data_format()) == "channels_first"

    def shape_of(channels: int | None, size: int | None) -> tuple[int | None, ...]:
        return (channels, size, size) if first else (size, size, channels)

    if weights == "imagenet" and flatten:
        expected = shape_of(3, default_size)
        if input_shape not in (None, expected):
            raise ValueError(
                f"Expected `input_shape={expected}` with `include_top=True` and weights of imagenet. "
                f"Received: input_shape={input_shape}"
            )
        return expected
    if not input_shape:
        return shape_of(3, default_size if flatten else None)
    if len(input_shape) != 3:
        raise ValueError(f"Expected `input_shape` to be three integers. Received: input_shape={input_shape}")
    channels, *sizes = input_shape if first else (input_shape[2], *input_shape[:2])
    if weights == "imagenet" and channels != 3:
        raise ValueError(f"Expected 3 channels with weights of imagenet. Received: input_shape={input_shape}")
    if any(size is not None and size < min_size for size in sizes):
        raise ValueError(f"Expected at least {min_size} x {min_size} pixels. Received: input_shape={input_shape}")
    if flatten and None in input_shape:
        raise ValueError(f"Expected an `input_shape` without None with `include_top=True`. Received: {input_shape}")
    return tuple(input_shape)
