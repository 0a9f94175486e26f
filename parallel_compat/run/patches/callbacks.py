"""What is put on callbacks: their arguments, what they log and write."""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Any

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import patch_points
from parallel_compat.legacy.numbers import callback_params
from parallel_compat.legacy.numbers.logs import rename_rate
from parallel_compat.names.eras import Era
from parallel_compat.run import object_eras
from parallel_compat.run.patches.wrapping import like, looking_alike

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.backend.patches import Patches


def put_on(patches: Patches, keras: Any) -> None:
    from parallel_compat.legacy import callback_hooks, list_functions, printed_lines
    from parallel_compat.legacy.numbers import batch_logs, ends_of_data, stops_within_epochs
    from parallel_compat.legacy.numbers.logs import logs_of

    callback = keras.callbacks.Callback
    for name in patch_points.FIELDS_OF_CALLBACKS:
        patches.set(callback, name, None, why="there without `super().__init__()` as well")
    keras3.let_callbacks_set_their_model(patches)
    patches.wrap(keras.callbacks.History, "__init__", _history_init, why="old names of logs")
    patches.wrap(keras.callbacks.History, "on_train_begin", _history_begun, why="one that is given twice begins anew")
    set_params = looking_alike(lambda _: callback_params.set_params)
    patches.wrap(callback, "set_params", set_params, why="what `params` had in Keras 2")
    for hook in ("on_batch_begin", "on_batch_end"):
        make = functools.partial(_by_place, hook=hook)
        patches.wrap(callback, hook.replace("on_", "on_train_"), make, why="hooks name arguments as they like")
    patches.wrap(keras.callbacks.LambdaCallback, "__init__", _of_any_arguments, why="so do functions for hooks")
    bar, lines = keras.callbacks.ProgbarLogger, "what was printed of an epoch"
    patches.wrap(bar, "on_epoch_begin", printed_lines.first_line_of_epoch, why=lines)
    patches.wrap(bar, "on_epoch_end", printed_lines.last_line_of_epoch, why=lines)
    for kind in ("test", "predict"):
        samples = functools.partial(batch_logs.samples_evaluated, kind=kind)
        last_line = functools.partial(printed_lines.last_line_of_evaluation, samples=samples)
        patches.wrap(bar, f"on_{kind}_end", last_line, why="what was printed of an evaluation")
    patches.wrap(keras.utils.Progbar, "__init__", printed_lines.summing, why="bars of the user's own show means")
    scheduler = keras.callbacks.LearningRateScheduler
    patches.wrap(scheduler, "on_epoch_end", _logging_lr, why="the rate is logged as `lr`")
    patches.wrap(scheduler, "on_epoch_begin", _taking_tensors, why="a schedule could return a tensor in TensorFlow 2.2")
    patches.wrap(keras.callbacks.CSVLogger, "on_epoch_end", _writing_what_is_logged, why="columns are what is logged")
    for points, why in (
        (patch_points.of_logs(logs_of), "old names of logs, and their order"),
        (patch_points.of_monitors(_old_monitor_op), 'what `mode="auto"` was'),
        (
            batch_logs.points(),
            "logs of batches and means of epochs as the era counted",
        ),
        (list_functions.points(), "a model's functions took lists, and a program put its own there"),
        (
            patch_points.of_printed_lines(printed_lines.spelled, printed_lines.shown, printed_lines.averaged),
            "lines as scripts read them from logs, and what a bar shows",
        ),
        (stops_within_epochs.points(), "what is left of an epoch that a callback stops"),
        (ends_of_data.points(), "what is done where data ends before the steps of an epoch"),
        (callback_hooks.points(), "hooks that Keras 2.2.4 did not know are not called in its era"),
    ):
        for owner, name, wrap in points:
            patches.wrap(owner, name, wrap, why=why)


def _by_place(original: Any, hook: str) -> Any:
    @functools.wraps(original)  # with the mark by which Keras knows hooks that do nothing
    def on_train_batch(self: Any, batch: Any, logs: Any = None) -> None:
        getattr(self, hook)(batch, logs)

    return on_train_batch


def _of_any_arguments(original: Any) -> Any:
    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        for hook in ("on_train_batch_begin", "on_train_batch_end"):  # Keras 3 names the argument `logs`
            function = vars(self).get(hook)
            if function is not None:
                setattr(self, hook, functools.partial(_called_by_place, function))

    return __init__


def _called_by_place(function: Any, batch: Any, logs: Any = None) -> Any:
    return function(batch, logs)


def _history_init(original: Any) -> Any:
    from parallel_compat.legacy.numbers.logs import Logs

    @like(original)
    def __init__(self: Any) -> None:
        original(self)
        self.history = Logs()

    return __init__


def _history_begun(original: Any) -> Any:
    from parallel_compat.legacy.numbers.logs import Logs

    @like(original)
    def on_train_begin(self: Any, logs: Any = None) -> None:
        original(self, logs)
        if object_eras.era_of_training(self.model).has_graphs:
            self.history = Logs()

    return on_train_begin


def _logging_lr(original: Any) -> Any:
    @like(original)
    def on_epoch_end(self: Any, epoch: int, logs: Any = None) -> None:
        with _rate_by_its_name(self.model.optimizer):
            original(self, epoch, logs)
        if logs is not None and object_eras.era_of_object(self.model) is not Era.TODAY:
            rename_rate(logs)

    return on_epoch_end


def _taking_tensors(original: Any) -> Any:
    from parallel_compat.legacy.callbacks import tensors_as_rates

    @like(original)
    def on_epoch_begin(self: Any, epoch: int, logs: Any = None) -> None:
        takes_them = object_eras.era_of_training(self.model) is Era.TF_KERAS_2_2
        tensors = tensors_as_rates(self) if takes_them else contextlib.nullcontext()
        with tensors, _rate_by_its_name(self.model.optimizer):
            original(self, epoch, logs)

    return on_epoch_begin


@contextlib.contextmanager
def _rate_by_its_name(optimizer: Any) -> Iterator[None]:
    """Let an optimizer of the user's own that has a variable `lr` alone have it as `learning_rate`, for a while."""
    if hasattr(optimizer, "learning_rate") or not hasattr(getattr(optimizer, "lr", None), "assign"):
        yield
        return
    optimizer.learning_rate = optimizer.lr
    try:
        yield
        optimizer.lr.assign(optimizer.learning_rate)
    finally:
        del optimizer.learning_rate


def _writing_what_is_logged(original: Any) -> Any:
    @like(original)
    def on_epoch_end(self: Any, epoch: int, logs: Any = None) -> None:
        if self.keys is None and object_eras.era_of_object(self.model) is not Era.TODAY:
            self.keys = sorted(logs or ())  # Keras 3 adds columns for validation where there is none
        original(self, epoch, logs)

    return on_epoch_end


def _old_monitor_op(callback: Any) -> None:
    from parallel_compat.legacy.callbacks import set_old_monitor_op

    set_old_monitor_op(callback)
