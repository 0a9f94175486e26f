"""Go on with a training whose process was killed, from the last epoch that ended.

What is kept is data alone: numbers and names, no pickled objects. It is written whole or not at all, and read only if
it is of this training.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np

from parallel_compat import workers
from parallel_compat.atomic_file import replacing
from parallel_compat.backend import keras3
from parallel_compat.batches.epochs import skip
from parallel_compat.training import in_memory

FORMAT = "parallel_compat training state 2"
# `EarlyStopping` and `ReduceLROnPlateau` choose it with the sign of `min_delta` at the end of the first epoch.
_MONITOR = "monitor_op"
_LARGEST_TEXT = 64 << 20  # bytes of what is no array: a history of 10,000 epochs with 10 logs takes 2 MB


class Resume(keras.callbacks.Callback):  # type: ignore[misc]  # Keras carries no types
    """Save the state of a training at the end of each epoch, and continue from it when the same script runs again.

    The results are those of a training that was not interrupted, if the script does the same each time until `fit`.
    Saved are the weights and the state of layers, the optimizer, the history, numbers, arrays and strings of the other
    callbacks (`EarlyStopping`, `ReduceLROnPlateau`, the best value of a checkpoint), and the states of `random`,
    `numpy.random`, Keras's and TensorFlow's rng.

    Batches of generators and Sequences that were already trained on are drawn again and skipped. Arrays that Keras's
    own `fit` shuffles get a new order; a parallel model and `run` keep the old one. A completed training is not
    repeated: `fit` returns its history, and the model has its last weights.

    On several workers the chief writes the state, and all continue from it.

    Examples:
        >>> import keras, numpy as np, parallel_compat, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> def script(epochs):
        ...     keras.utils.set_random_seed(1)
        ...     model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
        ...     model.compile("adam", "mse")
        ...     resume = parallel_compat.Resume(folder)
        ...     return model.fit(np.ones((8, 8)), np.ones((8, 1)), epochs=epochs, verbose=0, callbacks=[resume])
        >>> _ = script(epochs=2)  # and then the process is killed
        >>> script(epochs=5).epoch
        [0, 1, 2, 3, 4]

    Args:
        directory: folder of the states, created if missing. There is one file for each `fit` with this object, about as
            large as the weights and the optimizer's state. All workers must see the folder.
        first: the number of the first `fit` with this object.
        every: also keep the state after this number of batches, if the number of batches of an epoch is known. The
            epoch then continues at that batch, so the batches must come in the same order each time: shuffled
            datasets, and arrays that Keras's own `fit` shuffles, do not. Default: at the end of epochs only.

    Raises:
        ValueError: when `fit` begins, for a damaged file, a file of another kind, the state of another training,
            workers that see different states, or `every` if `fit` takes several batches at once.
    """

    # Whether there is one in the process: masks then come from generators whose state can be kept.
    is_made = False

    def __init__(self, directory: str | os.PathLike[str], first: int = 1, every: int | None = None) -> None:
        super().__init__()
        Resume.is_made = True
        if every is not None and (not isinstance(every, int) or every < 1):
            raise ValueError(f"Expected `every` to be a number of batches, or None. Received: every={every!r}")
        if every is not None:
            # Only here: where no callback looks at batches, nothing is read after each of them.
            self.on_train_batch_end = self._batch_ended
        self._every = every
        self._within: _State | None = None
        self._drawn = False
        self._at_begin: dict[str, Any] = {}
        self._epoch = 0
        self._listed: Any = None
        self.directory = Path(directory)
        self._number = first - 1
        self._resumed: _State | None = None
        self._begun: list[dict[str, Any]] = []

    @property
    def path(self) -> Path:
        """The file of the `fit` that it is given to now."""
        return self.directory / f"training-{self._number}.npz"

    def before_train_begin(self, callbacks: Any) -> None:
        """Look for a state, before the other callbacks begin."""
        self._number += 1
        self._resumed = None
        model = callbacks.model
        if self._every is not None:
            self._listed = callbacks
            callbacks.callbacks.remove(self)
            callbacks.callbacks.append(self)  # what is kept after a batch is what all callbacks have seen
            if model.steps_per_execution != 1:
                raise ValueError(
                    "Expected `steps_per_execution=1` in `compile` for `Resume(every=...)`. Received: "
                    f"steps_per_execution={model.steps_per_execution}"
                )
        keras3.callbacks.build_for_fit(model)
        if not model.built:
            raise ValueError(
                f"Expected a built model for `Resume`. Received: {model.name!r}, which has no weights before its first "
                "batch, and cannot be built before it. Build it before `fit`: `model.build(shape)`."
            )
        if model.optimizer is not None:
            keras3.in_memory.build_optimizer(model)
        self.directory.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            self._resumed = _State.read(self.path, model, _others(callbacks))
            for callback in _others(callbacks):
                if isinstance(callback, keras.callbacks.CSVLogger) and _writes(model):
                    _keep_rows(callback, len(self._resumed.history["epochs"]))
        if getattr(model, "several_workers", False):
            for what, number in (("epochs", "next_epoch"), ("batches", "batches")):
                found = workers.of_all(-1 if self._resumed is None else getattr(self._resumed, number), model.strategy)
                if len(set(found)) > 1:
                    raise ValueError(
                        f"Expected a directory that all workers see. Received: {self.directory}, in which they found "
                        f"states after {found} {what} (-1: none). Give one on a file system that they share."
                    )

    def after_train_begin(self, callbacks: Any, *_: Any) -> None:
        """Put the state in, after the other callbacks began."""
        self._begun = [_data_of(each) for each in _others(callbacks)]
        state = self._resumed
        if state is None:
            return
        model, epochs = callbacks.model, callbacks.params["epochs"]
        self._drawn = skip(model, state.next_epoch, state.validations)
        state.put_into(model, _history(callbacks), _others(callbacks), random_states=not self._drawn)
        ended = state.stopped or state.next_epoch >= epochs
        keras3.callbacks.begin_at_epoch(model, epochs if ended else state.next_epoch)
        what = "is complete, it is not repeated" if ended else f"continues at epoch {state.next_epoch + 1} of {epochs}"
        what += f", batch {state.batches + 1}" if state.batches and not ended else ""
        self._within = state if state.batches and not ended else None
        print(f"Resume: training {self._number} {what} ({self.path}).", file=sys.stderr)

    def before_epoch_begin(self, *_: Any) -> None:
        """Note the random states, from which the order of the epoch is drawn."""
        if self._every is not None:
            self._at_begin = _random_states()

    def after_epoch_begin(self, callbacks: Any, epoch: int) -> None:
        """Go on within the epoch that was begun, after the other callbacks have begun it again."""
        self._epoch = epoch
        state, self._within = self._within, None
        if state is None:
            return
        model = callbacks.model

        def go_on() -> None:
            history = _history(callbacks)
            state.put_within_epoch(model, history, _others(callbacks), random_states=not self._drawn)

        if in_memory.IN_EPOCH in vars(model):
            in_memory.leave_out_batches(model, state.batches, go_on)
        else:
            keras3.callbacks.leave_out_batches(model, callbacks, state.batches, go_on)

    def _batch_ended(self, batch: int, logs: Any = None) -> None:
        assert self._every is not None
        steps = (self.params or {}).get("steps")
        if steps is not None and batch + 1 < steps and (batch + 1) % self._every == 0:
            self._write(self._listed, self._epoch, bool(self._listed.model.stop_training), batch + 1)

    def after_epoch_end(self, callbacks: Any, epoch: int) -> None:
        """Write the state, after the other callbacks have seen the epoch's end."""
        self._write(callbacks, epoch + 1, bool(callbacks.model.stop_training))

    def after_train_end(self, callbacks: Any, *_: Any) -> None:
        """Write the state at the end: a callback may have put other weights in."""
        model = callbacks.model
        keras3.callbacks.begin_at_epoch(model, None)
        had_stopped = self._resumed is not None and self._resumed.stopped
        epochs = _history(callbacks).epoch
        next_epoch = epochs[-1] + 1 if epochs else 0
        self._write(callbacks, next_epoch, had_stopped or bool(model.stop_training))

    def _write(self, callbacks: Any, next_epoch: int, stopped: bool, batches: int = 0) -> None:
        if not _writes(callbacks.model):
            return
        others = _others(callbacks)
        changed = [
            {name: value for name, value in _data_of(callback).items() if not _is_same(value, begun.get(name))}
            for callback, begun in zip(others, self._begun, strict=True)
        ]
        state = _State.of(callbacks.model, _history(callbacks), others, changed, next_epoch, stopped)
        if batches:
            state.add_batches(callbacks.model, batches, self._at_begin)
        state.write(self.path)


def _writes(model: keras.Model) -> bool:
    """Whether this process writes files: the chief of several workers, whose states are all the same."""
    return workers.is_chief() and bool(getattr(model, "is_chief", True))


def _history(callbacks: Any) -> keras.callbacks.History:
    """Return the history of a training: a callback that evaluates may have given the model another one."""
    return [each for each in callbacks.callbacks if isinstance(each, keras.callbacks.History)][-1]


def _others(callbacks: Any) -> list[Any]:
    """Return the callbacks whose state is kept: not `History`, which the state has by itself, and not the bar."""
    kinds = (Resume, keras.callbacks.History, keras.callbacks.ProgbarLogger)
    return [each for each in callbacks.callbacks if not isinstance(each, kinds)]


class _State:
    """The state of a training after an epoch, or after some batches of one.

    Args:
        about: what is no array.
    """

    def __init__(self, about: dict[str, Any], arrays: dict[str, np.ndarray[Any, Any]]) -> None:
        self.about, self.arrays = about, arrays
        self.next_epoch: int = about["next_epoch"]
        self.stopped: bool = about["stopped"]
        self.history: dict[str, Any] = about["history"]
        self.batches: int = about.get("within_epoch", {}).get("batches", 0)

    @property
    def validations(self) -> int:
        """After how many epochs there was a validation."""
        logs = _decode(self.history["logs"], self.arrays)
        return max((len(values) for name, values in logs.items() if name.startswith("val_")), default=0)

    @classmethod
    def of(
        cls,
        model: keras.Model,
        history: keras.callbacks.History,
        callbacks: Sequence[Any],
        changed: Sequence[dict[str, Any]],
        next_epoch: int,
        stopped: bool,
    ) -> _State:
        """Read the state off a training.

        Args:
            changed: for each of them what training has changed in it.
            next_epoch: the epoch that is to come.
            stopped: whether a callback has ended the training.
        """
        arrays = {
            f"variables/{number}": np.asarray(keras.ops.convert_to_numpy(variable))
            for number, variable in enumerate(keras3.layers.variables_of_training(model))
        }
        about = {
            "format": FORMAT,
            "next_epoch": next_epoch,
            "stopped": stopped,
            "training": _identity(model, callbacks),
            "history": {"epochs": list(history.epoch), "logs": _encode(dict(history.history), arrays)},
            "callbacks": [{name: _encode(value, arrays) for name, value in each.items()} for each in changed],
            "random": _encode(_random_states(), arrays),
        }
        return cls(about, arrays)

    def add_batches(self, model: keras.Model, batches: int, at_begin: dict[str, Any]) -> None:
        """Let it be the state within the epoch that comes next.

        Args:
            batches: how many of the epoch were trained on.
            at_begin: the random states with which the epoch began; those that the state has are of now.
        """
        self.batches = batches
        metrics = [np.asarray(keras.ops.convert_to_numpy(each)) for each in keras3.callbacks.metric_variables(model)]
        self.about["within_epoch"] = {
            "batches": batches,
            "metrics": _encode(metrics, self.arrays),
            "random": self.about["random"],
        }
        self.about["random"] = _encode(at_begin, self.arrays)

    def put_within_epoch(
        self, model: keras.Model, history: keras.callbacks.History, callbacks: Sequence[Any], *, random_states: bool
    ) -> None:
        """Put the state in again, and what only the epoch has, after callbacks have begun it; see `put_into`."""
        within = {name: _decode(value, self.arrays) for name, value in self.about["within_epoch"].items()}
        variables = keras3.callbacks.metric_variables(model)
        if len(variables) != len(within["metrics"]):
            raise ValueError(
                f"Expected the state of {len(variables)} variables of metrics. Received: {len(within['metrics'])}. "
                "Remove the file to start this training again."
            )
        self.put_into(model, history, callbacks, random_states=False)
        for variable, value in zip(variables, within["metrics"], strict=True):
            variable.assign(value)
        if random_states:
            _set_random_states(within["random"])

    def write(self, path: Path) -> None:
        """Write the state, whole or not at all."""
        text = np.frombuffer(json.dumps(self.about).encode(), np.uint8)
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, about=text, **self.arrays)

    @classmethod
    def read(cls, path: Path, model: keras.Model, callbacks: Sequence[Any]) -> _State:
        """Read the state of this training."""
        identity = _identity(model, callbacks)
        try:
            about, arrays = _read(path, sum(size for *_, size in identity["variables"]))
        except (OSError, ValueError, KeyError, TypeError, EOFError, MemoryError, zipfile.BadZipFile) as error:
            raise ValueError(
                f"Expected a state that `Resume` wrote. Received: {path} ({error}). Remove it to begin this training "
                "again."
            ) from error
        for part, mine in identity.items():
            if about["training"].get(part) != mine:
                raise ValueError(
                    f"Expected the state of this training. Received: {path}, of one with other {part}: "
                    f"{_difference(about['training'].get(part), mine)}. Give another directory, or remove the file to "
                    "begin this training anew."
                )
        return cls(about, arrays)

    def put_into(
        self, model: keras.Model, history: keras.callbacks.History, callbacks: Sequence[Any], *, random_states: bool
    ) -> None:
        """Put the state into a training that begins.

        Args:
            random_states: whether the states of `random` and `numpy.random` are set; where batches are drawn again,
                they come to the same.
        """
        for number, variable in enumerate(keras3.layers.variables_of_training(model)):
            variable.assign(self.arrays[f"variables/{number}"])
        history.epoch[:] = self.history["epochs"]
        history.history.clear()
        history.history.update(_decode(self.history["logs"], self.arrays))
        for callback, attributes in zip(callbacks, self.about["callbacks"], strict=True):
            data = {name: _decode(value, self.arrays) for name, value in attributes.items()}
            if data.get(_MONITOR):
                data[_MONITOR] = getattr(keras.ops, data[_MONITOR])
            vars(callback).update(data)
        states = _decode(self.about["random"], self.arrays)
        keras3.callbacks.set_operation_seeds(states["tensorflow"])
        if random_states:
            _set_random_states(states)


def _read(path: Path, variables: int) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    with zipfile.ZipFile(path) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
        limit = 4 * variables + 2 * _LARGEST_TEXT  # callbacks may hold the weights, too
        if size > limit:
            raise ValueError(f"it unpacks to {size} bytes, for a training of this size at most {limit} are expected")
    with np.load(path, allow_pickle=False) as file:
        if "about" not in file:
            raise ValueError("its content is different")
        about = json.loads(file["about"].tobytes())
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise ValueError("its content is different")
        arrays = {name: file[name] for name in file.files if name != "about"}
    missing = {"next_epoch", "stopped", "training", "history", "callbacks", "random"} - set(about)
    if missing:
        raise ValueError(f"it has no {', '.join(sorted(missing))}")
    return about, arrays


def _identity(model: keras.Model, callbacks: Sequence[Any]) -> dict[str, list[Any]]:
    """Tell a training from others: its variables, with their sizes in bytes, and its callbacks."""
    variables = [
        [list(variable.shape), str(variable.dtype), int(np.prod(variable.shape)) * 8]
        for variable in keras3.layers.variables_of_training(model)
    ]
    return {"variables": variables, "callbacks": [type(callback).__name__ for callback in callbacks]}


def _difference(kept: Any, mine: list[Any]) -> str:
    for one, other in itertools.zip_longest(kept if isinstance(kept, list) else [], mine, fillvalue="none"):
        if one != other:
            return f"{one} there, {other} here"
    return "none there"


# Data of callbacks and generators: None, bool, int, float, str, numpy's arrays and numbers, and lists, tuples and dicts
# of them.


class _NoData(TypeError):
    """A value that is no data."""


def _encode(value: Any, arrays: dict[str, Any]) -> Any:
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, float) and not isinstance(value, np.generic):
        return float(value)
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufc":
        name = f"data/{len(arrays)}"
        arrays[name] = np.asarray(value)
        return {"array" if isinstance(value, np.ndarray) else "number": name}
    if type(value) in (list, tuple):
        return {type(value).__name__: [_encode(each, arrays) for each in value]}
    if type(value) is dict:
        return {"dict": [[_encode(key, arrays), _encode(each, arrays)] for key, each in value.items()]}
    raise _NoData(f"{type(value).__name__} is no data")


def _decode(value: Any, arrays: dict[str, Any]) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind in ("array", "number"):
        return arrays[content] if kind == "array" else arrays[content][()]
    if kind == "dict":
        return {_decode(key, arrays): _decode(each, arrays) for key, each in content}
    items = [_decode(each, arrays) for each in content]
    return tuple(items) if kind == "tuple" else items


def _data_of(callback: Any) -> dict[str, Any]:
    """Return a copy of the attributes of a callback that are data; the script makes the others again."""
    found = {}
    for name, value in vars(callback).items():
        if name in ("params", "validation_data"):
            continue
        if name == _MONITOR and getattr(value, "__name__", "") in ("less", "greater"):
            value = value.__name__
        with contextlib.suppress(_NoData):
            found[name] = _copy(value)
    return found


def _copy(value: Any) -> Any:
    arrays: dict[str, Any] = {}
    encoded = _encode(value, arrays)
    return _decode(encoded, {name: array.copy() for name, array in arrays.items()})


def _is_same(value: Any, other: Any) -> bool:
    one: dict[str, Any] = {}
    two: dict[str, Any] = {}
    if _encode(value, one) != _encode(other, two):
        return False
    return all(np.array_equal(one[name], two[name]) for name in one)


def _random_states() -> dict[str, Any]:
    """Return the states of the random generators that the order of samples and the script may draw from."""
    return {
        "python": random.getstate(),
        "numpy": np.random.get_state(),
        "tensorflow": keras3.callbacks.operation_seeds(),
    }


def _set_random_states(states: dict[str, Any]) -> None:
    keras3.callbacks.set_operation_seeds(states["tensorflow"])
    random.setstate(states["python"])
    np.random.set_state(states["numpy"])


def _keep_rows(logger: keras.callbacks.CSVLogger, epochs: int) -> None:
    """Let a CSVLogger go on after the rows of so many epochs: it would start its file again."""
    path = Path(logger.filename)
    if epochs and path.exists():
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join(lines[: epochs + 1]), encoding="utf-8")
        logger.append = True


keras3.callbacks.let_callbacks_come_last()
keras3.callbacks.let_fit_tell_its_batches()
