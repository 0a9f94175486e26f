"""What old projects called of Keras 2's training loop: batches, checks of data, losses with weights and masks.

The functions of `keras.engine.training_utils` (`keras.engine.training` before 2.2.3) that custom loops were
written with, and those that tests of losses call.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import keras
import numpy as np

from parallel_compat.batches import sources

_OF_SEQUENCE = ("__getitem__", "__len__", "__iter__", "on_epoch_end")


def make_batches(size: int, batch_size: int) -> list[tuple[int, int]]:
    """Return the bounds of the batches that so many samples are cut into.

    >>> make_batches(5, 2)
    [(0, 2), (2, 4), (4, 5)]

    Args:
        size: the number of samples.
        batch_size: how many a batch has; the last one has the rest.
    """
    return [(start, min(start + batch_size, size)) for start in range(0, size, batch_size)]


def batch_shuffle(index_array: Any, batch_size: int) -> Any:
    """Shuffle whole batches of indices; what does not fill a batch stays at the end.

    >>> np.random.seed(0)
    >>> batch_shuffle(np.arange(5), 2).tolist()
    [2, 3, 0, 1, 4]
    """
    whole = len(index_array) // batch_size * batch_size
    batches = np.array(index_array[:whole]).reshape(-1, batch_size)
    np.random.shuffle(batches)
    return np.append(batches, index_array[whole:])


def iter_sequence_infinite(seq: Any) -> Iterator[Any]:
    """Yield the batches of a Sequence over and over."""
    while True:
        yield from (seq[i] for i in range(len(seq)))


def check_array_length_consistency(inputs: Any, targets: Any, weights: Any = None) -> None:
    """Check that inputs, targets and weights have as many samples as each other.

    >>> check_array_length_consistency([np.ones(3)], [np.ones(3)], [np.ones(3)])

    Args:
        inputs: a list of arrays; None among them, or for it, counts as no samples.
        targets: the same.
        weights: the same.

    Raises:
        ValueError: they have not.
    """
    lengths = {}
    for name, arrays in (("inputs", inputs), ("targets", targets), ("weights", weights)):
        given = [None] if arrays is None else arrays
        lengths[name] = sorted({0 if array is None else int(array.shape[0]) for array in given})
    alone = all(len(found) <= 1 for found in lengths.values())
    of_inputs, of_targets, of_weights = lengths.values()
    agree = all(not a or not b or a == b for a, b in ((of_inputs, of_targets), (of_targets, of_weights)))
    if not alone or not agree:
        raise ValueError(f"Expected as many samples in inputs, targets and weights. Received: {lengths}")


def check_loss_and_target_compatibility(
    targets: Sequence[Any], loss_fns: Sequence[Any], output_shapes: Sequence[Any]
) -> None:
    """Check that targets have the shapes that losses need.

    Args:
        targets: an array for each output, or None.
        loss_fns: a loss function for each output, or None.
        output_shapes: the shapes of the outputs.

    Raises:
        ValueError: a target has another shape than the output, or class indices meet `categorical_crossentropy`.
    """
    names = ("mean_squared_error", "binary_crossentropy", "categorical_crossentropy")
    for y, loss, shape in zip(targets, loss_fns, output_shapes, strict=False):
        name = getattr(loss, "__name__", None)
        if y is None or name not in names or loss is not getattr(keras.losses, name):
            continue
        if name == "categorical_crossentropy" and y.shape[-1] == 1:
            raise ValueError(
                f"You are passing a target array of shape {tuple(y.shape)} for `categorical_crossentropy`. Expected "
                "zeros and ones, of shape (samples, classes). Use `to_categorical`, or "
                "`sparse_categorical_crossentropy`."
            )
        pairs = zip(y.shape[1:], shape[1:], strict=False)
        if any(size is not None and size != given for given, size in pairs):
            raise ValueError(
                f"Expected targets to have the same shape as the output for `{name}`: {tuple(shape)}. Received: shape "
                f"{tuple(y.shape)}"
            )


def weighted_masked_objective(fn: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """Return a function `(y_true, y_pred, weights, mask)` that gives the loss of a batch as Keras 2 computed it.

    >>> loss = weighted_masked_objective(keras.losses.mean_absolute_error)
    >>> float(loss(np.zeros((2, 3), "float32"), np.ones((2, 3), "float32"), np.array([0.5, 0.0], "float32")))
    0.5

    Args:
        fn: a function `(y_true, y_pred)` that gives a loss for each sample.
    """
    if fn is None:
        return None

    def weighted(y_true: Any, y_pred: Any, weights: Any, mask: Any = None) -> Any:
        ops = keras.ops
        scores = fn(y_true, y_pred)
        if mask is not None:
            mask = ops.cast(mask, keras.config.floatx())
            scores = scores * mask / ops.mean(mask)
        if weights is not None:
            weights = ops.convert_to_tensor(weights)
            axes = tuple(range(len(weights.shape), len(scores.shape)))
            scores = (ops.mean(scores, axis=axes) if axes else scores) * weights
            scores = scores / ops.mean(ops.cast(ops.not_equal(weights, 0), keras.config.floatx()))
        return ops.mean(scores)

    return weighted


def standardize_weights(
    y: Any, sample_weight: Any = None, class_weight: dict[Any, float] | None = None, sample_weight_mode: Any = None
) -> Any:
    """Return the weight of each sample (or time step) of an output.

    Args:
        y: its targets, of at least two axes.
        sample_weight: an array of them; `class_weight` is not used then.
        class_weight: a weight by class.
        sample_weight_mode: None, or "temporal" for a weight of each time step.

    Raises:
        ValueError: the weights' shape does not fit the targets, or a class has no weight.
    """
    axes = 1 if sample_weight_mode is None else 2
    if sample_weight_mode not in (None, "temporal"):
        raise ValueError(f'Expected `sample_weight_mode` to be None or "temporal". Received: {sample_weight_mode!r}')
    if axes == 2 and len(y.shape) < 3:
        raise ValueError(f"Expected targets with a time axis for weights of time steps. Received: shape {y.shape}")
    if sample_weight is not None:
        if len(sample_weight.shape) != axes or tuple(y.shape[:axes]) != tuple(sample_weight.shape):
            raise ValueError(
                f"Expected `sample_weight` of shape {tuple(y.shape[:axes])}. Received: {tuple(sample_weight.shape)}. "
                'A weight of each time step needs `sample_weight_mode="temporal"`.'
            )
        return sample_weight
    if not isinstance(class_weight, dict):
        return np.ones(y.shape[:axes], keras.config.floatx())
    if len(y.shape) > 2:
        raise ValueError(f"Expected targets of at most 2 axes for `class_weight`. Received: shape {y.shape}")
    classes = np.argmax(y, axis=1) if y.shape[1] > 1 else np.reshape(y, len(y))
    missing = {each for each in classes.tolist() if each not in class_weight}
    if missing:
        raise ValueError(f"Expected a weight of every class in `class_weight`. Received: none of {sorted(missing)}")
    return np.asarray([class_weight[each] for each in classes.tolist()])


def standardize_single_array(x: Any) -> Any:
    """Give an array of one axis a second one."""
    return np.expand_dims(x, 1) if isinstance(x, np.ndarray) and x.ndim == 1 else x


def standardize_input_data(
    data: Any,
    names: Sequence[str],
    shapes: Sequence[Any] | None = None,
    check_batch_axis: bool = True,
    exception_prefix: str = "",
) -> list[Any]:
    """Return arrays in the order of names, and check their shapes.

    >>> standardize_input_data({"a": np.ones(2)}, ["a"])[0].shape
    (2, 1)

    Args:
        data: an array, a list of arrays, or a dictionary of them by name; data frames as well.
        names: the names.
        shapes: the expected shapes, None where one is not known.
        check_batch_axis: whether the first axis is compared as well.
        exception_prefix: what the data are, for the error.

    Raises:
        ValueError: there are too many or too few, or a shape differs.
    """
    what = exception_prefix or "data"
    if data is None:
        return [None for _ in names]
    if isinstance(data, dict):
        missing = [name for name in names if name not in data]
        if missing:
            raise ValueError(f"Expected {what} for each of {list(names)}. Received: none for {missing}")
        arrays = [data[name] for name in names]
    elif isinstance(data, list):
        numbers = len(names) == 1 and data and isinstance(data[0], (int, float))
        arrays = [np.asarray(data)] if numbers else [np.asarray(x) if isinstance(x, list) else x for x in data]
    else:
        arrays = [data]
    arrays = [standardize_single_array(x.to_numpy() if hasattr(x, "to_numpy") else x) for x in arrays]
    if len(arrays) != len(names):
        raise ValueError(f"Expected {len(names)} arrays of {what}. Received: {len(arrays)}")
    for x, name, shape in zip(arrays, names, shapes or [None] * len(names), strict=True):
        first = 0 if check_batch_axis else 1
        if shape is None or x is None:
            continue
        pairs = zip(x.shape[first:], shape[first:], strict=False)
        if len(x.shape) != len(shape) or any(size and size != given for given, size in pairs):
            raise ValueError(f"Expected {what} '{name}' of shape {tuple(shape)}. Received: shape {tuple(x.shape)}")
    return arrays


def is_sequence(seq: Any) -> bool:
    """Return whether an object is a `Sequence`, or has all that one has."""
    return sources.is_sequence(seq) or all(hasattr(seq, name) for name in _OF_SEQUENCE)


def is_generator_or_sequence(x: Any) -> bool:
    """Return whether an object is a generator or a `Sequence`."""
    return inspect.isgenerator(x) or is_sequence(x)


def should_run_validation(validation_freq: Any, epoch: int) -> bool:
    """Return whether an epoch is one to validate after.

    >>> should_run_validation(2, 1), should_run_validation([1, 3], 1)
    (True, False)

    Args:
        validation_freq: after how many epochs, or after which ones, the first of which is 1.
        epoch: the epoch, the first of which is 0.
    """
    if isinstance(validation_freq, int):
        if validation_freq < 1:
            raise ValueError(f"Expected `validation_freq` of 1 or more. Received: {validation_freq}")
        return (epoch + 1) % validation_freq == 0
    return epoch + 1 in validation_freq
