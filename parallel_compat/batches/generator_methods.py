"""`fit_generator`, `evaluate_generator` and `predict_generator` of Keras 2, for any Keras 3 model.

Generators and Sequences are fed to `fit`, `evaluate` and `predict` by `parallel_compat.batches.sources`; a
parallel model's own `fit`, `evaluate` and `predict` do the same with them.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, cast

import keras

from parallel_compat.backend import keras3
from parallel_compat.batches.batch import BatchReader, as_tensor
from parallel_compat.batches.epochs import Epochs
from parallel_compat.batches.sources import GeneratorSource, SequenceSource, Source, is_generator, is_sequence
from parallel_compat.names.generator_arguments import in_keras_2
from parallel_compat.own_methods import of_models

# How batches are drawn: arguments that `fit` had up to TensorFlow 2.15, and that Keras 3 moved into `PyDataset`.
QUEUE_ARGUMENTS = ("workers", "use_multiprocessing", "max_queue_size")


class Feed:
    """The generators and Sequences of one call of `fit`, `evaluate` or `predict`, closed when it ends."""

    def __init__(
        self,
        model: keras.Model,
        workers: int = 1,
        use_multiprocessing: bool = False,
        max_queue_size: int = 10,
        targets_of_keras_2: bool = False,
    ) -> None:
        self._targets_of_keras_2 = targets_of_keras_2
        self._model = model
        self._workers = workers
        self._processes = use_multiprocessing
        self._queue = max_queue_size
        self._epochs: list[Epochs] = []

    def adapter(
        self, data: Any, what: str, steps: int | None, passes: int = 1, shuffle: bool = False, class_weight: Any = None
    ) -> Any:
        """Return what to give to Keras for `data`: an adapter where it is no arrays, else `data` itself.

        Args:
            steps: how many batches a pass takes, None for all there are.
        """
        if not (is_generator(data) or is_sequence(data)):
            return data
        if keras3.data_adapters.is_built_under_a_strategy(self._model):
            raise ValueError(
                "Expected a model on one device, or a parallel model. Received: a model made under `strategy.scope()`, "
                "each replica of which would compute a generator's batch whole. Make it outside, and use "
                "`parallelize(model, strategy=strategy)`."
            )
        needed = steps * passes if steps else None
        read = BatchReader(self._model, what, class_weight, self._targets_of_keras_2)
        source: Source
        if is_sequence(data):
            workers = 0 if isinstance(data, ArrayBatches) else self._workers
            source = SequenceSource(data, read, workers, self._processes, self._queue, shuffle, needed)
        else:
            source = GeneratorSource(data, read, self._queue if self._workers else 0, needed)
        epochs = Epochs(source, self._model, what, steps)
        self._epochs.append(epochs)
        return keras3.data_adapters.BatchAdapter(epochs, steps is not None)

    @property
    def last_samples(self) -> int | None:
        """The samples of the last batch of training."""
        return self._epochs[0].last_samples if self._epochs else None

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Close all sources at the end, whatever it is."""
        with warnings.catch_warnings():
            # Keras says so for every generator that ends; where it matters it is said above, with the number.
            warnings.filterwarnings("ignore", "Your input ran out of data")
            try:
                yield
            finally:
                for epochs in self._epochs:
                    epochs.close()
        for epochs in self._epochs:
            if epochs.error is not None:
                raise epochs.error


class ArrayBatches(keras.utils.PyDataset):  # type: ignore[misc]  # Keras carries no types
    """Arrays for validation, in batches as large as training's last one, as Keras 2's `fit_generator` took them.

    A metric of the whole batch depends on that.

    Args:
        data: `(x, y)` or `(x, y, sample_weight)`, of arrays or structures of them.
    """

    def __init__(self, data: Any, feed: Feed) -> None:
        super().__init__()
        self._data = keras.utils.unpack_x_y_sample_weight(data)
        self._feed = feed

    @staticmethod
    def takes(data: Any) -> bool:
        """Whether `data` is a tuple or list of arrays."""
        if not isinstance(data, (tuple, list)) or not 2 <= len(data) <= 3:
            return False
        return all(hasattr(leaf, "shape") for leaf in keras.tree.flatten(data) if leaf is not None)

    @property
    def num_batches(self) -> int:
        first = next(leaf for leaf in keras.tree.flatten(self._data) if leaf is not None)
        return math.ceil(int(first.shape[0]) / self._samples)

    def __len__(self) -> int:
        return self.num_batches

    @property
    def _samples(self) -> int:
        return self._feed.last_samples or 32

    def __getitem__(self, index: int) -> Any:
        cut = slice(index * self._samples, (index + 1) * self._samples)
        return keras.tree.map_structure(lambda leaf: None if leaf is None else leaf[cut], self._data)


def fit(model: keras.Model, feed: Feed, arguments: dict[str, Any], call: Any = None) -> keras.callbacks.History:
    """Call `fit` with `arguments`, of which `x` and `validation_data` may be generators or Sequences.

    Args:
        call: what to call instead of Keras's own `fit`. A class that overrides it may call this.
    """
    arguments = dict(arguments)
    epochs, initial = arguments.get("epochs", 1), arguments.get("initial_epoch", 0)
    check_data_comes_alone(arguments.get("x"), arguments)
    drawn = _is_generator_or_sequence(arguments.get("x"))
    # Arrays alone need no queue.
    if hasattr(arguments.get("x"), "shape") and not _is_generator_or_sequence(arguments.get("validation_data")):
        return cast("keras.callbacks.History", (call or keras3.compiled.own_method(model, "fit"))(**arguments))
    if drawn:
        arguments["x"] = feed.adapter(
            arguments["x"], "training", arguments.get("steps_per_epoch"), max(epochs - initial, 0),
            arguments.pop("shuffle", True), arguments.pop("class_weight", None),
        )  # fmt: skip
    # How often validation runs is `validation_freq`'s business; a generator is drawn at most once an epoch.
    arguments["validation_data"] = feed.adapter(
        arguments.get("validation_data"), "validation", arguments.get("validation_steps"), max(epochs - initial, 0)
    )
    with feed.open():
        history: keras.callbacks.History = (call or keras3.compiled.own_method(model, "fit"))(**arguments)
    return history


def _is_generator_or_sequence(data: Any) -> bool:
    return is_generator(data) or is_sequence(data)


def check_data_comes_alone(data: Any, arguments: Mapping[str, Any]) -> None:
    """Refuse what a generator or Sequence has in its batches, or cannot be divided by."""
    given = [name for name in ("y", "sample_weight") if arguments.get(name) is not None]
    given += ["validation_split"] * bool(arguments.get("validation_split"))
    if given and (is_generator(data) or is_sequence(data)):
        raise ValueError(
            f"Expected a generator or Sequence to yield `(x, y)` or `(x, y, sample_weight)`. Received: {given} as "
            f"well as it. Let {type(data).__name__} yield targets and weights; give `validation_data` data of its own."
        )


@of_models("fit_generator")
def fit_generator(
    model: keras.Model,
    generator: Any,
    steps_per_epoch: int | None = None,
    epochs: int = 1,
    verbose: Any = 1,
    callbacks: Any = None,
    validation_data: Any = None,
    validation_steps: int | None = None,
    class_weight: Mapping[Any, Any] | None = None,
    max_queue_size: int = 10,
    workers: int = 1,
    use_multiprocessing: bool = False,
    shuffle: bool = True,
    initial_epoch: int = 0,
    validation_freq: Any = 1,
    **keras_1: Any,
) -> keras.callbacks.History:
    """Train on a generator or Sequence, with the arguments of Keras 2's `Model.fit_generator`.

    Examples:
        >>> import keras, numpy as np, parallel_compat
        >>> model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
        >>> model.compile("sgd", "mse")
        >>> def batches():
        ...     while True:
        ...         yield [np.ones((4, 8))], [np.ones((4, 1))]
        >>> history = parallel_compat.fit_generator(model, batches(), steps_per_epoch=3, epochs=2, verbose=0)
        >>> len(history.history["loss"])
        2

    Args:
        model: any compiled Keras model.
        generator: a `keras.utils.Sequence`, or a generator of `(x, y)` or `(x, y, sample_weight)`: tuples or lists of
            arrays, or of lists or dicts of arrays. Each batch is used once and in order. The generator continues
            across epochs. As in Keras 2, integer targets become floats, and targets of shape `(samples,)` become
            `(samples, 1)`.
        steps_per_epoch: number of batches per epoch. A generator needs it. Default: the length of the Sequence.
        epochs: the epoch to stop at.
        verbose: 0, 1 or 2.
        callbacks: Keras callbacks.
        validation_data: arrays `(x, y)` or `(x, y, sample_weight)`, a Sequence, or a generator, which continues from
            one validation to the next. Arrays are used whole, in batches of the size of the last training batch.
        validation_steps: number of batches per validation.
        class_weight: dict from class to weight; for several outputs, a dict of them by output name.
        max_queue_size: number of batches that are prepared ahead.
        workers: number of threads (or processes) that draw from a Sequence; 0 draws in the training thread. One thread
            draws from a generator.
        use_multiprocessing: use processes instead of threads for a Sequence.
        shuffle: draw the batches of a Sequence in a new order in each epoch.
        initial_epoch: the epoch to start at.
        validation_freq: validate after this number of epochs, or after the listed epochs.
        **keras_1: arguments under their Keras 1 names, see `parallel_compat.names.generator_arguments`.

    Returns:
        The `keras.callbacks.History`.

    Raises:
        TypeError: for an argument that neither Keras 1 nor Keras 2 had.
        ValueError: for a batch of the wrong structure, a generator without `steps_per_epoch`, a generator that has no
            batch for an epoch, or a generator for validation without `validation_steps`.
    """
    given: dict[str, Any] = {
        "steps_per_epoch": steps_per_epoch, "epochs": epochs, "validation_steps": validation_steps,
        "max_queue_size": max_queue_size, "workers": workers, "use_multiprocessing": use_multiprocessing,
    }  # fmt: skip
    given, samples = in_keras_2(given, keras_1)
    generator = _settle_steps(generator, "steps_per_epoch", given, samples)
    validation_data = _settle_steps(validation_data, "validation_steps", given, samples)
    feed = Feed(model, given.pop("workers"), given.pop("use_multiprocessing"), given.pop("max_queue_size"), True)
    if (is_generator(generator) or is_sequence(generator)) and ArrayBatches.takes(validation_data):
        validation_data, given["validation_steps"] = ArrayBatches(validation_data, feed), None
    arguments = {
        **given, "x": generator, "verbose": verbose, "callbacks": callbacks, "validation_data": validation_data,
        "class_weight": class_weight, "shuffle": shuffle, "initial_epoch": initial_epoch,
        "validation_freq": validation_freq,
    }  # fmt: skip
    return fit(model, feed, arguments)


@of_models("evaluate_generator")
def evaluate_generator(
    model: keras.Model,
    generator: Any,
    steps: int | None = None,
    max_queue_size: int = 10,
    workers: int = 1,
    use_multiprocessing: bool = False,
    verbose: Any = 0,
    return_dict: bool = False,
    callbacks: Any = None,
    **keras_1: Any,
) -> Any:
    """Evaluate on a generator or Sequence, with the arguments of Keras 2's `Model.evaluate_generator`.

    Examples:
        >>> import keras, numpy as np, parallel_compat
        >>> model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1, kernel_initializer="zeros")])
        >>> model.compile("sgd", "mse")
        >>> float(parallel_compat.evaluate_generator(model, ([np.ones((4, 8)), np.ones((4, 1))] for _ in range(3)), 3))
        1.0

    Args:
        model: any compiled Keras model.
        generator: as in `fit_generator`.
        steps: number of batches.
        max_queue_size: as in `fit_generator`.
        workers: as in `fit_generator`.
        use_multiprocessing: as in `fit_generator`.
        verbose: 0 or 1.
        return_dict: return a dict by metric name.
        callbacks: Keras callbacks, as in tf.keras and Keras 2.3.
        **keras_1: as in `fit_generator`.

    Returns:
        The loss, or a list of the loss and the metrics, as `Model.evaluate` returns them.

    Raises:
        TypeError: for an argument that neither Keras 1 nor Keras 2 had.
        ValueError: for a batch of the wrong structure, or a generator without `steps`.
    """
    given: dict[str, Any] = {
        "steps": steps, "max_queue_size": max_queue_size, "workers": workers, "use_multiprocessing": use_multiprocessing
    }  # fmt: skip
    given, samples = in_keras_2(given, keras_1)
    generator = _settle_steps(generator, "steps", given, samples)
    feed = Feed(model, given["workers"], given["use_multiprocessing"], given["max_queue_size"], True)
    with feed.open():
        return keras3.compiled.own_method(model, "evaluate")(
            feed.adapter(generator, "validation", given["steps"]),
            steps=given["steps"],
            verbose=verbose,
            return_dict=return_dict,
            callbacks=callbacks,
        )


@of_models("predict_generator")
def predict_generator(
    model: keras.Model,
    generator: Any,
    steps: int | None = None,
    max_queue_size: int = 10,
    workers: int = 1,
    use_multiprocessing: bool = False,
    verbose: Any = 0,
    callbacks: Any = None,
    **keras_1: Any,
) -> Any:
    """Predict on a generator or Sequence, with the arguments of Keras 2's `Model.predict_generator`.

    Examples:
        >>> import keras, numpy as np, parallel_compat
        >>> model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
        >>> parallel_compat.predict_generator(model, (np.ones((4, 8)) for _ in range(3)), 3).shape
        (12, 1)

    Args:
        model: any Keras model.
        generator: a Sequence, or a generator of inputs or of tuples that begin with the inputs.
        steps: number of batches.
        max_queue_size: as in `fit_generator`.
        workers: as in `fit_generator`.
        use_multiprocessing: as in `fit_generator`.
        verbose: 0 or 1.
        callbacks: as in `evaluate_generator`.
        **keras_1: as in `fit_generator`.

    Returns:
        The predictions, one array or a structure of arrays.

    Raises:
        TypeError: for an argument that neither Keras 1 nor Keras 2 had.
        ValueError: for a batch of the wrong structure, or a generator without `steps`.
    """
    given: dict[str, Any] = {
        "steps": steps, "max_queue_size": max_queue_size, "workers": workers, "use_multiprocessing": use_multiprocessing
    }  # fmt: skip
    given, samples = in_keras_2(given, keras_1)
    generator = _settle_steps(generator, "steps", given, samples)
    feed = Feed(model, given["workers"], given["use_multiprocessing"], given["max_queue_size"])
    with feed.open():
        return keras3.compiled.own_method(model, "predict")(
            feed.adapter(generator, "prediction", given["steps"]),
            steps=given["steps"],
            verbose=verbose,
            callbacks=callbacks,
        )


def _settle_steps(data: Any, argument: str, given: dict[str, Any], samples: dict[str, Any]) -> Any:
    """Make a whole number of batches of what was given, and return the data, from which nothing is missing.

    Keras 2 drew batches while their number was less than `steps`, whatever kind of number that was
    (`len(x) / batch_size`). A generator without a number is refused, as Keras 2 did: an endless one would be drawn
    from forever.
    """
    data, steps = steps_of_samples(data, samples.get(argument), given[argument])
    given[argument] = math.ceil(steps) if steps else steps
    if is_generator(data) and not is_sequence(data) and steps is None:
        raise ValueError(
            f"Expected `{argument}`, the number of batches, with a generator, which may be endless. Received: "
            f"{argument}=None. Give the number, or a `keras.utils.Sequence`, which knows its length."
        )
    return data


def steps_of_samples(data: Any, samples: int | None, steps: int | None) -> tuple[Any, int | None]:
    """Turn Keras 1's number of samples of an epoch into a number of batches, as the size of the first batch has it.

    Keras 1 drew batches until it had seen so many samples.

    Args:
        steps: the number of batches, which counts where `samples` is None.

    Returns:
        `data`, from which nothing is missing, and the number of batches.
    """
    if samples is None:
        return data, steps
    if is_generator(data):
        first = next(data)
        data = itertools.chain([first], data)
    else:
        first = data[0]
    parts = first if isinstance(first, (tuple, list)) else (first,)
    of_a_batch = int(as_tensor(keras.tree.flatten(parts[0])[0]).shape[0])
    return data, math.ceil(samples / of_a_batch)
