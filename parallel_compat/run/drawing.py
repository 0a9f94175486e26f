"""The order in which `fit` draws samples, and what it reads ahead."""

from __future__ import annotations

import functools
import itertools
from types import GeneratorType
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import patch_points
from parallel_compat.batches import ordered_batches
from parallel_compat.batches.batch import weighted_classes
from parallel_compat.batches.sources import is_generator, is_sequence
from parallel_compat.legacy import execution
from parallel_compat.legacy.numbers import draws_of_functions, draws_of_tensorflow, ends_of_data, sample_order
from parallel_compat.legacy.utils import HDF5Matrix
from parallel_compat.names.eras import Era
from parallel_compat.run import object_eras
from parallel_compat.run.method_arguments import in_batches, is_parallel, is_sparse
from parallel_compat.run.validation_data import validated_on
from parallel_compat.training import in_memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def note_batches(model: Any, kind: str, arguments: Mapping[str, Any], batch_size: int | None = None) -> None:
    """Say what batches a function of a model is to run on: what draws in it began anew for each kind of them.

    Args:
        model: the model.
        kind: "train", "test" or "predict".
        arguments: those of the method that runs the function.
        batch_size: of how many samples each batch of arrays is to be; None for all of them.
    """
    if object_eras.era_of_training(model) is not Era.TF_KERAS_2_2 or is_parallel(model):
        return
    x, y, weights = (arguments.get(name) for name in ("x", "y", "sample_weight"))
    held_out = arguments.get("validation_data")
    if arguments.get("validation_split") and held_out is not None and ordered_batches.are_arrays((x, y, weights)):
        count = ordered_batches.samples_of_arrays((x, y, weights)) - ordered_batches.samples_of_arrays(held_out)
        x, y, weights = keras.tree.map_structure(lambda leaf: None if leaf is None else leaf[:count], (x, y, weights))
    if weights is None and arguments.get("class_weight") is not None and isinstance(y, np.ndarray):
        weights = np.broadcast_to(np.float32(1), y.shape[:1])
    draws_of_functions.run_on(model, kind, (x, y, weights), batch_size)
    if kind == "train" and held_out is not None:
        data = held_out if isinstance(held_out, (tuple, list)) else (held_out,)
        draws_of_functions.run_on(model, "test", tuple(data), arguments.get("validation_batch_size") or batch_size)


def look_at_first_batch(model: Any, data: Any) -> None:
    """Ask a Sequence for its first batch once more, before the others, as TensorFlow 2.2 did (`_peek_and_restore`).

    A Sequence that draws from `np.random`, or counts its batches to seed it (`ImageDataGenerator.flow(seed=)`), gives
    others for it.
    """
    if is_sequence(data) and object_eras.era_of_training(model) is Era.TF_KERAS_2_2 and len(data):
        data[0]


def iterate_once_before(model: Any, arguments: dict[str, Any], name: str = "x") -> None:
    """Make an iterator of a data set that nobody reads, as TensorFlow 2.2 did before the first epoch.

    A data set that is shuffled takes another seed for each iterator (`DataHandler.enumerate_epochs`). Each epoch had
    one of its own also where the steps that are asked for are all there are: then they need not be asked for.

    Args:
        model: the model.
        arguments: those of `fit` or `fit_generator`, which are changed.
        name: that of the data.
    """
    data = arguments.get(name)
    if not isinstance(data, tf.data.Dataset) or object_eras.era_of_training(model) is not Era.TF_KERAS_2_2:
        return
    if arguments.get("steps_per_epoch") == int(data.cardinality()):
        arguments["steps_per_epoch"] = None
    if arguments.get("steps_per_epoch") is None:
        iter(data)


def lose_what_is_read_ahead(model: Any, arguments: dict[str, Any], drawing: Mapping[str, Any]) -> None:
    """Let each validation by a generator lose the batches behind its last one that tf.keras had read ahead.

    TensorFlow 2.2 made a data set of the generator for each validation, which one worker read one batch ahead
    (`prefetch(1)`). More workers read ahead as far as they came, and none did not. The one was lost each time, but
    rarely, on a busy machine, a validation ended before it was read.

    TensorFlow 1.15 made a queue for each, and lost what was in it and what was to come into it. All that had been asked
    for was read, but rarely one less had been; a generator that was slow was still being read when the next began.
    """
    held: Any = arguments.get("validation_data")
    steps: Any = arguments.get("validation_steps")
    era, workers = object_eras.era_of_training(model), drawing.get("workers", 1)
    if not is_generator(held) or is_sequence(held) or not steps or drawing.get("use_multiprocessing"):
        return
    if era is Era.TF_KERAS_1_15 and workers:
        arguments["validation_data"] = _losing(held, steps, _read_by_queue(drawing))
    if era is Era.TF_KERAS_2_2 and workers == 1 and not is_parallel(model):
        arguments["validation_data"] = _losing_one(held, steps)


def lose_what_a_look_read(model: Any, arguments: dict[str, Any], drawing: Mapping[str, Any]) -> None:
    """Let a generator lose what TensorFlow 1.15 read when it looked at the first batch, where execution was eager.

    It did so by a queue, and began another one with the same batch (`GeneratorDataAdapter`).

    Args:
        model: the model.
        arguments: those of `fit`, `evaluate` or `predict`, which are changed.
        drawing: how batches are drawn.
    """
    data = arguments.get("x")
    if not isinstance(data, GeneratorType) or object_eras.era_of_training(model) is not Era.TF_KERAS_1_15:
        return
    if execution.is_eager() and drawing.get("workers", 1) and not drawing.get("use_multiprocessing"):
        arguments["x"] = itertools.chain(itertools.islice(data, 1), _without_first(data, _read_by_queue(drawing)))


def _read_by_queue(drawing: Mapping[str, Any]) -> int:
    """Return how many batches a queue read that nobody took: those in it, and the one that waited for a place."""
    return int(drawing.get("max_queue_size", 10)) + 1


def _without_first(batches: Iterator[Any], count: int) -> Iterator[Any]:
    yield from itertools.islice(batches, count, None)


def _losing(batches: Iterator[Any], steps: int, lost: int) -> Iterator[Any]:
    """Yield batches, and leave out so many behind each `steps` of them."""
    end = object()
    while (batch := next(batches, end)) is not end:
        yield batch
        yield from itertools.islice(batches, steps - 1)
        next(itertools.islice(batches, lost, lost), None)


def _losing_one(batches: Iterator[Any], steps: int) -> Iterator[Any]:
    """Yield batches that are read one ahead, and leave out the one behind each `steps` of them."""
    end = object()
    while (batch := next(batches, end)) is not end:
        for _ in range(steps):
            ahead = next(batches, end)
            yield batch
            if ahead is end:
                return
            batch = ahead


def take_images_in_turn(
    model: Any,
    arguments: dict[str, Any],
    drawing: Mapping[str, Any],
    names: tuple[tuple[str, str], ...],
) -> None:
    """Draw from `ImageDataGenerator.flow` and its relatives as from a generator where the time's Keras did.

    In Keras 2.2.4 they were Sequences of TensorFlow's Keras, which is imported first, and none of its own: it did not
    shuffle their batches, and `next` made them, so that their samples follow from `np.random` alone. Keras 2.3 and
    TensorFlow 1.15 iterated over a Sequence without `workers`, and their iterator is `next`. The passes are theirs
    then, with their order and seeds, and go on where the one before, or a look at a batch, ended.

    Args:
        model: the model.
        arguments: those of the method, which are changed.
        drawing: how batches are drawn.
        names: of what is drawn from, each with that of the number of its batches.
    """
    era, workers = object_eras.era_of_training(model), drawing.get("workers", 1)
    is_alone = not drawing.get("use_multiprocessing") or (workers or 0) < 2
    if not (is_alone if era is Era.KERAS_2_2_4 else era.has_graphs and workers == 0):
        return
    for name, steps in names:
        batches = arguments.get(name)
        if is_sequence(batches) and isinstance(batches, patch_points.image_iterator_class()):
            if arguments.get(steps) is None:
                arguments[steps] = len(batches)
            arguments[name] = _InTurn(batches)


class _InTurn:
    """What is drawn from by `next` alone."""

    def __init__(self, batches: Iterator[Any]) -> None:
        self._batches = batches

    def __iter__(self) -> _InTurn:
        return self

    def __next__(self) -> Any:
        return next(self._batches)


def keeps_order(model: Any, data: Any, workers: Any) -> bool:
    """Whether a Sequence is not shuffled: before TensorFlow 2 those did that who drew for `workers`, and 0 had none."""
    return workers == 0 and is_sequence(data) and object_eras.era_of_training(model).has_graphs


def size_of_batches(model: Any, arguments: Mapping[str, Any]) -> int:
    """Return how many samples a batch of the arrays of `fit` has: TensorFlow 2.2 divided them by the steps.

    Args:
        model: the model.
        arguments: those of `fit`.
    """
    given, steps = arguments.get("batch_size"), arguments.get("steps_per_epoch")
    data = tuple(arguments.get(name) for name in _DATA)
    in_steps = object_eras.era_of_training(model) is Era.TF_KERAS_2_2 and ordered_batches.are_arrays(data)
    if given or not in_steps or not steps:
        return given or 32
    samples = ordered_batches.samples_of_arrays(data)
    if arguments.get("validation_split"):
        samples -= ordered_batches.samples_of_arrays(validated_on(dict(arguments)))
    return int(-(-samples // steps))


# Where a model has what draws the order of its samples: a training that goes on draws on from there.
_DRAWS = "_parallel_compat_draws"
_DATA = ("x", "y", "sample_weight")


def _is_composite(leaf: Any) -> bool:
    return isinstance(leaf, (tf.RaggedTensor, tf.SparseTensor))


def _sparse_as_tensor(leaf: Any) -> Any:
    return keras3.scipy_sparse_to_tensor(leaf) if keras3.is_scipy_sparse(leaf) else leaf


def _as_elements(model: Any, arguments: dict[str, Any], shuffle: Any) -> dict[str, Any]:
    """Return the arguments of `fit` with ragged or sparse tensors as TensorFlow 2.2 took them: as a data set.

    Each epoch began it anew (`CompositeTensorDataAdapter`).
    """
    data = [keras.tree.map_structure(_sparse_as_tensor, arguments.get(name)) for name in _DATA]
    while data[-1] is None:
        data.pop()
    elements = tf.data.Dataset.from_tensor_slices(tuple(data))
    samples, steps = int(elements.cardinality()), arguments.get("steps_per_epoch")
    if shuffle:
        elements = elements.shuffle(samples)
    batches = elements.batch(arguments.get("batch_size") or (-(-samples // steps) if steps else 32))
    if steps and steps <= int(batches.cardinality()):
        batches, steps = batches.take(steps), None
    kept = {name: value for name, value in arguments.items() if name not in (*_DATA, "batch_size", "shuffle")}
    kept["validation_batch_size"] = arguments.get("validation_batch_size") or arguments.get("batch_size")
    arguments = {**kept, "x": batches, "steps_per_epoch": steps}
    iterate_once_before(model, arguments)
    return arguments


def _refuse_to_hold_out(arguments: dict[str, Any]) -> None:
    if arguments.get("validation_split"):
        raise ValueError(
            "Expected arrays where `validation_split` holds samples out. Received: ragged or sparse ones, of which "
            "TensorFlow 2.2 held none out. Give `validation_data`."
        )


def _arrays_of_tensors(data: Any) -> Any:
    """Return tensors of numbers as arrays: TensorFlow 2.2 drew one order for both (`TensorLikeDataAdapter`)."""
    leaves = [leaf for leaf in keras.tree.flatten(data) if leaf is not None]
    if not leaves or not all(_is_tensor_of_numbers(leaf) for leaf in leaves):
        return data
    return keras.tree.map_structure(lambda leaf: None if leaf is None else leaf.numpy(), data)


def _is_tensor_of_numbers(leaf: Any) -> bool:
    return hasattr(leaf, "numpy") and isinstance(leaf, tf.Tensor) and leaf.dtype not in (tf.string, tf.variant)


def _read_from_files(data: Any) -> Any:
    """Return data with what is in HDF5 files as arrays, which Keras 3 makes of it as well."""

    def read(leaf: Any) -> Any:
        return np.asarray(leaf) if isinstance(leaf, HDF5Matrix) or type(leaf).__module__.startswith("h5py.") else leaf

    return keras.tree.map_structure(read, data)


def in_drawn_order(model: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `fit` with arrays as batches, where their order follows from a seed of the era."""
    era, shuffle = object_eras.era_of_training(model), arguments.get("shuffle", True)
    if era is Era.TF_KERAS_2_2:
        arguments = {**arguments, **{name: _arrays_of_tensors(arguments.get(name)) for name in _DATA}}
    elif era.has_graphs:
        arguments = {**arguments, **{name: _read_from_files(arguments.get(name)) for name in _DATA}}
    data = tuple(arguments.get(name) for name in _DATA)
    are_sparse = is_sparse(data[0])
    if era is Era.TF_KERAS_2_2 and (are_sparse or any(map(_is_composite, keras.tree.flatten(data[0])))):
        _refuse_to_hold_out(arguments)
        if not are_sparse or arguments.get("steps_per_epoch") is not None:
            return _as_elements(model, arguments, shuffle)
    if era is Era.TODAY or not ordered_batches.are_arrays(data):
        return arguments
    # TensorFlow 2.2 passed `epochs` times through the arrays, in epochs of as many steps as it was told.
    in_steps = arguments.get("steps_per_epoch") is not None
    if in_steps and (era is not Era.TF_KERAS_2_2 or shuffle == "batch"):
        return arguments
    under_strategy = keras3.is_built_under_a_strategy(model)
    if under_strategy and (era is not Era.TF_KERAS_2_2 or are_sparse):  # which made a data set of the arrays
        return arguments
    held_out = validated_on(arguments)

    def is_in_memory() -> bool:
        return not are_sparse and in_memory.why_general("fit", model, arguments) is None

    if (
        era is Era.TF_KERAS_1_15
        and not execution.is_eager()
        and isinstance(held_out, (tuple, list))
        and ordered_batches.are_arrays(held_out)
        and not is_in_memory()  # where the samples are taken in the order that is drawn
    ):
        draws = sample_order.DrawsForValidation(ordered_batches.samples_of_arrays(held_out))
        arguments = {**arguments, "callbacks": [*keras.tree.flatten(arguments.get("callbacks") or []), draws]}
    by_tensorflow = era is Era.TF_KERAS_2_2 and shuffle and shuffle != "batch"
    follows = by_tensorflow and keras3.operation_seeds() is not None
    if not are_sparse and not follows and not in_steps and not (shuffle is not False and era.has_graphs):
        return arguments
    draw: Any
    if by_tensorflow:
        draw = draws_of_tensorflow.order_of_elements() if are_sparse else draws_of_tensorflow.order_of_samples()
    else:
        draw = sample_order.drawn(era, shuffle)
    vars(model)[_DRAWS] = draw
    if not in_steps and is_in_memory():
        return {**arguments, "shuffle": draw}
    x, y, weights = data
    if arguments.get("class_weight") is not None and keras.tree.is_nested(y):
        return arguments
    class_weight = arguments.get("class_weight")
    if arguments.get("validation_data") is None and held_out is not None:
        count = ordered_batches.samples_of_arrays(data) - ordered_batches.samples_of_arrays(held_out)
        x, y, weights = keras.tree.map_structure(lambda leaf: None if leaf is None else leaf[:count], data)
    if class_weight is not None and y is not None:
        weights = np.asarray(weighted_classes(y, weights, class_weight))
    given = (x,) if y is None else (x, y) if weights is None else (x, y, weights)
    batch_size = size_of_batches(model, {**arguments, "x": x, "y": y, "sample_weight": None, "validation_split": 0})
    at_once = int(getattr(model, "steps_per_execution", None) or 1)
    passes = int(arguments.get("epochs", 1)) - int(arguments.get("initial_epoch", 0)) if in_steps else None
    sparse = keras3.has_sparse_inputs(model)
    ended = functools.partial(ends_of_data.ended, model, "training", arguments.get("steps_per_epoch"))
    samples = ordered_batches.samples_of_arrays(given)
    # What a layer draws by TensorFlow itself goes on from batch to batch, as long as the step is traced once.
    is_traced_for_any_size = by_tensorflow and not are_sparse and not sparse and samples % batch_size != 0
    if under_strategy or is_traced_for_any_size:
        ordered = ordered_batches.OrderedDataset(given, batch_size, draw, passes)
        batches = ordered.dataset
        callbacks = keras.tree.flatten(arguments.get("callbacks") or [])
        arguments = {**arguments, "callbacks": [*callbacks, ordered]}
    else:
        batches = ordered_batches.adapter(given, batch_size, draw, at_once, passes, sparse, ended)
    kept = {
        name: value
        for name, value in arguments.items()
        if name not in ("x", "y", "sample_weight", "class_weight", "shuffle", "validation_split", "batch_size")
    }
    # Without steps it is as large as those of training; else Keras divides what is held out by its own steps.
    kept["validation_batch_size"] = arguments.get("validation_batch_size") or arguments.get("batch_size")
    return {**kept, "x": batches, "validation_data": in_batches(model, held_out, batch_size)}
