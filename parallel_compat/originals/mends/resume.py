"""`--resume`: each `fit` saves its state at the end of each epoch, and continues from it when the script runs again.

Kept are the weights, the optimizer's, the history, the numbers, arrays and texts that the other callbacks hold, the
states of `random` and `numpy.random`, and the order of the samples. What a graph's own random operations (dropout) draw
after a restart is another sequence. The file is data alone, no pickled objects, and is written whole or not at all.
"""

from __future__ import annotations

import inspect
import json
import random
import sys
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from parallel_compat.atomic_file import replacing
from parallel_compat.originals.mends.register import Register

FORMAT = "parallel_compat training state of old Keras 1"


def apply(mends: Register) -> None:
    directory = mends.settings.resume
    if directory is None:
        return
    trainings = _Trainings(Path(directory))

    def continuing(module: ModuleType) -> None:
        for name in {"fit", "fit_generator"} & vars(module.Model).keys():
            mends.around(module.Model, name, trainings.fit, shown=True)

    training = "keras.engine.training"
    for name in (training, f"tensorflow.python.{training}", f"tensorflow.python.{training}_v1"):
        mends.after(name, continuing)
    root = "keras.engine.training_arrays"
    if mends.is_standalone:  # `tf.keras` begins each epoch with the samples in their own order
        mends.edit(root, "np.random.shuffle(index_array)", "np.random.shuffle(_go_on_with(index_array))")
        mends.after(root, lambda loop: setattr(loop, "_go_on_with", trainings.go_on_with))


class _Trainings:
    """The calls of `fit` of one process, numbered in their order."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.count = 0
        self.running = False
        self.order: Any = None  # the order of the samples, which each epoch shuffles on
        self.next_order: Any = None

    def go_on_with(self, order: Any) -> Any:
        """Return the array to shuffle: that of the epoch before, in the first epoch after a restart."""
        if self.next_order is not None and self.next_order.shape == order.shape:
            order[:] = self.next_order
        self.next_order = None
        self.order = order
        return order

    def fit(self, fit: Any, model: Any, *args: Any, **options: Any) -> Any:
        """Call `fit` or `fit_generator` with a callback that keeps the state, from where it ended before."""
        if self.running:
            return fit(model, *args, **options)
        # Keras 2 hides the signature behind its translation of Keras 1's arguments.
        signature = inspect.signature(getattr(fit, "_original_function", fit))
        of_keras_1 = {name: value for name, value in options.items() if name not in signature.parameters}
        of_keras_2 = {name: value for name, value in options.items() if name in signature.parameters}
        passed = {**signature.bind_partial(model, *args, **of_keras_2).arguments, **of_keras_1}
        model = passed.pop("self")
        epochs = passed.get("epochs", passed.get("nb_epoch", 1))
        self.count += 1
        self.running = True
        try:
            keeper = _keeper(self, self.directory / f"training-{self.count}.npz", passed.get("callbacks") or [])
            passed["callbacks"] = [*(passed.get("callbacks") or []), keeper]
            if keeper.state is not None:
                about = keeper.state.about
                passed["initial_epoch"] = epochs if about["ended"] else about["next_epoch"]
                print(f"parallel-compat: {keeper.progress(epochs)}", file=sys.stderr, flush=True)
            history = fit(model, **passed)
            keeper.ended()
            return history
        finally:
            self.running = False


def _keeper(trainings: _Trainings, path: Path, others: list[Any]) -> Any:
    """Return the callback that keeps the state of one training; its base class is the original's."""
    base = sys.modules.get("keras.callbacks") or sys.modules["tensorflow.python.keras.callbacks"]

    class Keeper(base.Callback):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.state = State.read(path)
            self.first = True

        def progress(self, epochs: int) -> str:
            assert self.state is not None
            about = self.state.about
            if about["ended"]:
                return f"training {trainings.count} is complete"
            return (
                f"training {trainings.count} continues at epoch {about['next_epoch'] + 1} of {epochs}; "
                "dropout and other random operations draw another sequence from here on"
            )

        def on_train_begin(self, logs: Any = None) -> None:
            if self.state is not None:
                self.state.put_into(self.model, others, path)

        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            if self.first and self.state is not None:
                self.state.put_random_states()
                trainings.next_order = self.state.arrays.get("order")
            if self.first:
                self.put_history()
            self.first = False

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            history = dict(self.model.history.history)
            if epoch not in self.model.history.epoch:  # the callback that notes it comes after this one
                history = {name: [*history.get(name, []), value] for name, value in (logs or {}).items()}
            ended = bool(self.model.stop_training)
            State.of(self.model, others, epoch + 1, ended, history, trainings.order).write(path)

        def on_train_end(self, logs: Any = None) -> None:
            if self.first:
                self.put_history()

        def put_history(self) -> None:
            if self.state is not None:
                self.model.history.epoch[:0] = range(self.state.about["next_epoch"])
                for name, values in self.state.about["history"].items():
                    self.model.history.history.setdefault(name, [])[:0] = values

        def ended(self) -> None:
            written = State.read(path)
            if written is not None and not written.about["ended"]:
                written.about["ended"] = True
                written.write(path)

    return Keeper()


class State:
    """The state of a training between two epochs.

    Args:
        about: what is no array, as JSON takes it.
    """

    def __init__(self, about: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.about, self.arrays = about, arrays

    @classmethod
    def of(cls, model: Any, others: list[Any], next_epoch: int, ended: bool, history: Any, order: Any) -> State:
        """Take the state of a model, of the other callbacks and of the random number generators."""
        arrays = {f"weight-{i}": value for i, value in enumerate(model.get_weights())}
        arrays |= {f"optimizer-{i}": value for i, value in enumerate(model.optimizer.get_weights())}
        if order is not None:
            arrays["order"] = order
        kind, keys, position, has_gauss, cached = np.random.get_state()
        arrays["numpy-random"] = keys
        callbacks = []
        for i, callback in enumerate(others):
            kept = {}
            for name, value in vars(callback).items():
                if isinstance(value, np.ndarray) and value.dtype != object:
                    arrays[f"callback-{i}-{name}"] = value
                elif _is_plain(value):
                    kept[name] = _plain(value)
            callbacks.append([type(callback).__name__, kept])
        about = {
            "format": FORMAT,
            "next_epoch": next_epoch,
            "ended": ended,
            "history": {name: [float(value) for value in values] for name, values in history.items()},
            "hyperparameters": _hyperparameters(model.optimizer),
            "callbacks": callbacks,
            "random": random.getstate(),
            "numpy": [kind, int(position), int(has_gauss), float(cached)],
        }
        return cls(about, arrays)

    def write(self, path: Path) -> None:
        """Write the state whole or not at all."""
        with replacing(path, make_folders=True) as temporary, temporary.open("wb") as file:
            np.savez(file, about=np.frombuffer(json.dumps(self.about).encode(), np.uint8), **self.arrays)

    @classmethod
    def read(cls, path: Path) -> State | None:
        """Read a state; None if there is none."""
        if not path.exists():
            return None
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            about = json.loads(arrays.pop("about").tobytes())
            if about["format"] != FORMAT:
                raise ValueError(about["format"])
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise ValueError(
                f"Expected the state of a training in {path}. Received: {error}. Remove it to start again."
            ) from error
        return cls(about, arrays)

    def put_into(self, model: Any, others: list[Any], path: Path) -> None:
        """Give a model and the other callbacks what they had."""
        weights, optimizer = (self._list(kind) for kind in ("weight", "optimizer"))
        shapes = [tuple(value.shape) for value in model.get_weights()]
        names = [type(each).__name__ for each in others]
        kept = ([value.shape for value in weights], [name for name, _ in self.about["callbacks"]])
        if kept != (shapes, names):
            raise ValueError(
                f"Expected the training whose state is in {path}. Received: another model or other callbacks "
                f"({names}, kept {kept[1]}). Remove the file to start again."
            )
        model.set_weights(weights)
        if hasattr(model.optimizer, "_create_all_weights"):  # tf.keras 2.2 makes them with the first step
            model.optimizer._create_all_weights(model.trainable_variables)
        model.optimizer.set_weights(optimizer)
        for name, value in self.about["hyperparameters"].items():
            _backend().set_value(getattr(model.optimizer, name), value)
        for i, (callback, (_, values)) in enumerate(zip(others, self.about["callbacks"], strict=True)):
            vars(callback).update(values)
            prefix = f"callback-{i}-"
            for name, value in self.arrays.items():
                if name.startswith(prefix):
                    setattr(callback, name.removeprefix(prefix), value)

    def put_random_states(self) -> None:
        """Let `random` and `numpy.random` go on where they were."""
        version, internal, gauss = self.about["random"]
        random.setstate((version, tuple(internal), gauss))
        kind, position, has_gauss, cached = self.about["numpy"]
        np.random.set_state((kind, self.arrays["numpy-random"], position, has_gauss, cached))

    def _list(self, kind: str) -> list[Any]:
        count = sum(name.startswith(f"{kind}-") for name in self.arrays)
        return [self.arrays[f"{kind}-{i}"] for i in range(count)]


def _backend() -> Any:
    return sys.modules.get("keras.backend") or sys.modules["tensorflow.python.keras.backend"]


def _hyperparameters(optimizer: Any) -> dict[str, float]:
    """Return the hyperparameters that are variables, such as a learning rate that a callback changes."""
    names = [name for name in optimizer.get_config() if hasattr(getattr(optimizer, name, None), "assign")]
    return {name: float(_backend().get_value(getattr(optimizer, name))) for name in names}


def _is_plain(value: Any) -> bool:
    if isinstance(value, (bool, int, float, str, np.bool_, np.integer, np.floating)):
        return True
    return isinstance(value, list) and all(_is_plain(each) for each in value)


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value
