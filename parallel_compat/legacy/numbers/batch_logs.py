"""Logs of batches and epochs as the eras counted them.

Keras 3 logs the mean since the epoch began after every batch, and counts the loss of one output once a batch, however
few samples it has; its logs are in the order of the alphabet.

- In Keras 2.2.4 callbacks get what the batch alone gave, with its `size`, and `BaseLogger` and `test_loop` average that
  by samples (`keras/callbacks.py`, `keras/engine/training_arrays.py`). What was validated stands first in an epoch's.
- In Keras 2.3 and TensorFlow 1.15 the loss alone is the batch's own. Its mean is over samples, in TensorFlow 1.15 over
  batches where `evaluate` counts steps (`training_utils.MetricsAggregator`); Keras 2.3 gave that of the last batch
  where a generator or Sequence was evaluated (`engine/training_generator.py`).
- In TensorFlow 2.2 all are means since the epoch began, the losses of outputs over samples (`LossesContainer`).
"""

from __future__ import annotations

import contextlib
import copy
import functools
import math
from types import GeneratorType
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import patch_points, users_strategies
from parallel_compat.batches import epochs
from parallel_compat.legacy import compiled_metrics, execution, printed_lines, weight_order
from parallel_compat.legacy.numbers import logs as logs_as_then
from parallel_compat.legacy.numbers import metrics
from parallel_compat.legacy.numbers.callback_params import Params
from parallel_compat.legacy.numbers.logs import InOrder, Logs
from parallel_compat.names.eras import Era
from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator

    from parallel_compat.backend.keras3.patch_points import Point


class BatchLogs(dict[str, Any]):
    """What one batch gave, by today's names of the logs.

    Args:
        values: the logs of the batch alone.
        size: its samples.
        means: the mean over the samples of all batches since the epoch began.
    """

    def __init__(self, values: dict[str, float], size: int, means: dict[str, float]) -> None:
        super().__init__(values)
        self.size = size
        self.means = means


class Totals:
    """Adds up what the batches of an epoch gave.

    Attributes:
        samples: how many there were.

    >>> totals = Totals()
    >>> totals.add({"loss": 3.0}, 2).means
    {'loss': 3.0}
    >>> totals.add({"loss": 6.0}, 1).means
    {'loss': 4.0}
    """

    def __init__(self) -> None:
        self.samples = 0
        self._sums: dict[str, Any] = {}

    def add(self, logs: dict[str, Any], samples: int, averaged: Container[str] | None = None) -> BatchLogs:
        """Add a batch of so many samples.

        Args:
            logs: what the batch gave.
            samples: its samples.
            averaged: the logs that are the batch's own; the others are means already. None for all.
        """
        # A metric of the user's may give an array.
        values: dict[str, Any] = {name: float(v) if np.ndim(v) == 0 else np.asarray(v) for name, v in logs.items()}
        self.samples += samples
        means = dict(values)
        for name, value in values.items():
            if averaged is None or name in averaged:
                self._sums[name] = self._sums.get(name, 0.0) + value * samples
                means[name] = self._sums[name] / self.samples if self.samples else value
        return BatchLogs(values, samples, means)

    def state_of_epoch(self) -> dict[str, Any]:
        """What has been added, as data."""
        return {"samples": self.samples, "sums": dict(self._sums)}

    def go_on_from(self, state: dict[str, Any]) -> None:
        """Add to what `state_of_epoch` returned."""
        self.samples, self._sums = state["samples"], dict(state["sums"])


_TOTALS = "_parallel_compat_totals_of_epoch"
_TRAINS = "_parallel_compat_is_trained"
_GOES_ON = "_parallel_compat_metrics_go_on"
_PREDICTED = "_parallel_compat_predicted"
_IN_STEPS = "_parallel_compat_evaluates_in_steps"
_EVALUATED = "_parallel_compat_evaluated_arrays"
_PART_OF = "_parallel_compat_evaluates_part_of_samples"
_TRAINS_IN_STEPS = "_parallel_compat_trains_in_steps"
_DIVISOR = "_parallel_compat_divisor_of_loss"
_RETURNED = "_parallel_compat_returned_by_step"
_TAKES_ALL = "_parallel_compat_takes_all_samples_in_each_step"
# The eras of graphs whose callbacks had hooks for what is evaluated and predicted.
_WITH_HOOKS = (Era.KERAS_2_3, Era.TF_KERAS_1_15)


def begin(model: Any) -> None:
    """Begin an epoch of a model."""
    vars(model)[_TOTALS] = Totals()
    vars(model).pop(_PREDICTED, None)


def predicts(model: Any) -> None:
    """Say that a model predicts, which in TensorFlow 1.15 reset its metrics: the next batch begins them anew."""
    if object_eras.era_of_training(model) is not Era.TF_KERAS_1_15:
        return
    if vars(model).get(_TRAINS):
        with apart(model, resets=True):
            return
    vars(model)[_PREDICTED] = True


def add(model: Any, logs: dict[str, Any], samples: int, averaged: Container[str] | None = None) -> BatchLogs:
    """Count a batch in the epoch of a model; see `Totals.add`."""
    totals: Totals = vars(model).setdefault(_TOTALS, Totals())
    return totals.add(logs, samples, averaged)


@contextlib.contextmanager
def uncounted(model: Any) -> Iterator[None]:
    """Count batches of a model in no epoch for a while."""
    kept = vars(model).pop(_TOTALS, None)
    try:
        yield
    finally:
        vars(model)[_TOTALS] = Totals() if kept is None else kept


@contextlib.contextmanager
def training(model: Any) -> Iterator[None]:
    """Let a model know that it is trained for a while: see `apart`."""
    before = vars(model).get(_TRAINS, False)
    vars(model)[_TRAINS] = True
    try:
        yield
    finally:
        vars(model)[_TRAINS] = before


def apart(model: Any, resets: bool = False) -> contextlib.AbstractContextManager[None]:
    """Count what a callback evaluates, or trains a batch on, apart from the epoch of the training that it is called in.

    The loops of graphs added up the losses of an epoch themselves. The metrics, which were the model's, went on from
    what was evaluated, except in Keras 2.2.4; in TensorFlow 2.2 the losses did, too.

    Args:
        model: a compiled model.
        resets: whether the metrics begin anew afterwards.
    """
    era = object_eras.era_of_training(model) if vars(model).get(_TRAINS) else Era.TODAY
    return contextlib.nullcontext() if era is Era.TODAY else _apart(model, resets, era)


@contextlib.contextmanager
def _apart(model: Any, resets: bool, era: Era) -> Iterator[None]:
    kept, tracker = vars(model).get(_TOTALS, Totals()), patch_points.loss_tracker(model) if era.has_graphs else None
    variables = [] if tracker is None else tracker.variables
    state = [keras.ops.convert_to_numpy(each) for each in variables]
    vars(model)[_TRAINS] = False
    vars(model)[_TOTALS] = copy.deepcopy(kept)
    try:
        yield
    finally:
        vars(model)[_TRAINS] = True
        if resets:
            model.reset_metrics()
        if era.has_graphs:
            vars(model)[_TOTALS] = kept
        for variable, value in zip(variables, state, strict=True):
            variable.assign(value)


class going_on:  # used as `contextlib`'s functions are; a generator takes three times as long
    """Let `train_on_batch` or `test_on_batch` go on from the metrics of what was before, as tf.keras did.

    It reset them after each batch, not before: the first batch after `fit` or `evaluate` went on from the last epoch.

    Args:
        model: a compiled model.
        reset: whether they are reset afterwards (`reset_metrics=`).
    """

    def __init__(self, model: Any, reset: bool = True) -> None:
        self._model = model
        self._reset = reset

    def __enter__(self) -> None:
        attributes = vars(self._model)
        if attributes.pop(_PREDICTED, False):
            self._model.reset_metrics()
        counted = _TOTALS in attributes and attributes[_TOTALS].samples > 0
        self._counting = metrics.count_on()
        if object_eras.era_of_training(self._model) is not Era.KERAS_2_2_4 and (counted or not self._reset):
            attributes[_GOES_ON] = counted

    def __exit__(self, *raised: object) -> None:
        went_on = vars(self._model).pop(_GOES_ON, None) is not None
        if not went_on:
            begin(self._model)
        if self._reset and (went_on or _are_weights(self._model)):
            self._model.reset_metrics()
        metrics.count_on_no_more(self._counting)


def _are_weights(model: Any) -> bool:
    """Say whether what metrics count with is among a model's weights, where it is seen after each batch."""
    return weight_order.have_metrics(model, object_eras.era_of_training(model))


def goes_on(model: Any) -> bool:
    """Whether the next batch of a model is counted with those before."""
    return _GOES_ON in vars(model)


def count_with(model: Any, totals: Totals) -> None:
    """Let a batch that goes on be counted with these.

    Args:
        model: a compiled model.
        totals: of its last epoch.
    """
    vars(model)[_TOTALS] = totals


def evaluate_in_steps(model: Any, in_steps: bool) -> None:
    """Say whether the evaluations to come count batches, as TensorFlow 1.15 did with generators and `steps`."""
    vars(model)[_IN_STEPS] = in_steps


def evaluate_part_of(model: Any, samples: int | None, steps: float | None = None) -> None:
    """Say by what number the loss of the evaluations to come is divided where it is not that of what they take.

    TensorFlow 1.15 divided it by all samples, with `steps` of arrays where execution was eager, and by the steps that
    it was asked for: three batches by 2.5 (`MetricsAggregator.finalize`).

    Args:
        model: the model.
        samples: how many there are; None where all are taken.
        steps: how many batches were asked for.
    """
    fraction = None if steps is None or float(steps).is_integer() else float(steps)
    vars(model)[_PART_OF] = fraction if samples is None else samples


def train_in_steps(model: Any, in_steps: bool) -> None:
    """Say whether the training to come counts batches, as TensorFlow 1.15 did with datasets."""
    vars(model)[_TRAINS_IN_STEPS] = in_steps


def takes_all(model: Any, in_each_step: bool) -> None:
    """Say whether each step of training takes all samples of arrays, which callbacks are told of as one."""
    vars(model)[_TAKES_ALL] = in_each_step


def divide_loss(model: Any, divisor: float) -> None:
    """Let the loss of the epoch or evaluation that ends be divided once more, as TensorFlow 1.15 did."""
    vars(model)[_DIVISOR] = divisor


def weight_of_batch(model: Any, samples: int, era: Era) -> int:
    """Return what the loss of a batch counts in the mean: its samples, or 1 where TensorFlow 2.2 knew no targets.

    It then counted each number of a tensor that was given to `add_loss`.

    Args:
        model: a compiled model.
        samples: the samples of the batch.
        era: the era of the model.
    """
    is_without = era is Era.TF_KERAS_2_2 and all(each is None for each in keras.tree.flatten(model.loss))
    if not is_without:
        return samples
    added = (each.shape for each in keras3.symbolic_losses_of(model) if len(each.shape))
    return next((samples * math.prod(each or 1 for each in shape[1:]) for shape in added), 1)


def values_of_batch(model: Any, samples: int, era: Era) -> int:
    """Return how many values of the loss a batch gives: one, or with `Reduction.NONE` those of all its samples.

    TensorFlow 2.2 took the mean of them all, each weighted by the samples of its batch.

    Args:
        model: a compiled model.
        samples: the samples of the batch.
        era: the era of the model.
    """
    losses = keras.tree.flatten(model.loss) if era is Era.TF_KERAS_2_2 else []
    if not any(isinstance(each, keras.losses.Loss) and each.reduction in (None, "none") for each in losses):
        return 1
    outputs = getattr(model, "outputs", None) or [None]
    steps = getattr(outputs[0], "shape", ())[1:-1]
    return samples * int(math.prod(each or 1 for each in steps))


class MeanMetrics:
    """The metrics of a compiled model, if they can be computed batch by batch.

    Args:
        model: a compiled model.
    """

    def __init__(self, model: Any) -> None:
        self._loss = patch_points.loss_tracker(model)
        parts = [getattr(metric, "metrics", [metric]) for metric in model.metrics]
        self._metrics = [metric for part in parts for metric in part]

    @property
    def all_means(self) -> bool:
        """Whether each of them is a mean, and the samples of a batch are known."""
        return self._loss is not None and all(isinstance(metric, keras.metrics.Mean) for metric in self._metrics)

    def reset(self) -> None:
        """Forget the batches before."""
        for metric in self._metrics:
            metric.reset_state()

    def samples(self) -> int:
        """Return the samples since `reset`: they are what the loss is weighted by."""
        return round(float(keras.ops.convert_to_numpy(self._loss.count)))


def points() -> Iterator[Point]:
    """Yield where batches are trained and evaluated, and where logs go to callbacks, with what is done there."""
    yield from patch_points.of_functions_of_a_step(lambda name: functools.partial(_batch_by_batch, name=name))
    yield from patch_points.of_metric_resets(_beginning)
    yield from patch_points.of_results(_means_of_epoch)
    yield from patch_points.of_batch_begins(lambda kind: functools.partial(_giving_place, kind=kind))
    yield from patch_points.of_test_begins(_silencing)
    yield from patch_points.of_train_ends(_without_logs)
    yield from patch_points.of_test_ends(_without_logs_of_evaluation)
    yield from patch_points.of_batch_ends(lambda hook: functools.partial(_giving_batch_logs, hook=hook))
    yield from patch_points.of_predicted_batches(_giving_predictions)
    yield from patch_points.of_epoch_ends(_giving_epoch_logs)
    yield from patch_points.of_callback_lists(_recording_last)


def _batch_by_batch(original: Any, name: str) -> Any:
    def make(self: Any, force: bool = False) -> Any:
        is_new = getattr(self, name) is None or force
        result = original(self, force)
        function = getattr(self, name)
        era = object_eras.era_of_training(self)
        if not is_new or era is Era.TODAY or self.steps_per_execution != 1:
            return result
        is_test = name == "test_function"
        # Of both, as they count with the same metrics.
        shows_returned = era is Era.TF_KERAS_2_2 and any(keras3.has_own_step(self, kind) for kind in ("train", "test"))

        def of_one_batch(iterator: Any) -> Any:
            if era is Era.KERAS_2_2_4:
                return _on_its_own(self, function, iterator)
            if isinstance(iterator, GeneratorType):  # of `train_on_batch`: a `train_step` of the user's unpacks two
                iterator = (users_strategies.divided_among_replicas(self, _without_none(batch)) for batch in iterator)
            if shows_returned:
                by_name = function(iterator)
                vars(self)[_RETURNED] = tuple(by_name)
                returned = as_returned(self, keras3.plain_logs(by_name))
                add(self, {}, 1)  # `going_on` asks whether there was a batch
                return BatchLogs(returned, 0, returned)
            return _with_losses_on_their_own(self, function, iterator, era, is_test)

        setattr(self, name, of_one_batch)
        return of_one_batch

    return make


def as_returned(model: Any, logs: dict[str, Any]) -> dict[str, Any]:
    """Return logs in the order in which a step of the user's returned them; Keras sorts them.

    Args:
        model: the model.
        logs: as Keras returns them; in their order where the model has no step of the user's.
    """
    return {name: logs[name] for name in vars(model).get(_RETURNED, ()) if name in logs} | logs


def _without_none(batch: Any) -> Any:
    while isinstance(batch, tuple) and len(batch) > 1 and batch[-1] is None:
        batch = batch[:-1]
    return batch


def _on_its_own(model: Any, function: Callable[[Any], Any], iterator: Any) -> Any:
    before = MeanMetrics(model)
    if before.all_means:
        before.reset()
    logs = function(iterator)
    after = MeanMetrics(model)  # the first batch has made the metrics
    return add(model, logs, after.samples()) if after.all_means else logs


def _with_losses_on_their_own(
    model: Any, function: Callable[[Any], Any], iterator: Any, era: Era, is_test: bool
) -> Any:
    total = patch_points.loss_tracker(model)
    if total is None:
        return function(iterator)
    of_outputs = patch_points.output_loss_trackers(model) if era is Era.TF_KERAS_2_2 else []
    for tracker in (total, *of_outputs):
        tracker.reset_state()
    logs = function(iterator)
    size = samples = round(users_strategies.count_of_all_replicas(model, total))
    if not samples or not isinstance(logs, dict):  # a step of the user's own
        return logs
    logs = users_strategies.results_of_all_replicas(model) or logs
    if era is Era.TF_KERAS_1_15 and vars(model).get(_IN_STEPS if is_test else _TRAINS_IN_STEPS):
        samples = 1
    samples = weight_of_batch(model, samples, era)
    of_outputs = patch_points.output_loss_trackers(model) if era is Era.TF_KERAS_2_2 else []
    for name in [name for name, value in logs.items() if isinstance(value, dict)]:  # all metrics of `compile` as one
        logs = {**{key: value for key, value in logs.items() if key != name}, **logs[name]}
    counted = add(model, logs, samples, {"loss", *(tracker.name for tracker in of_outputs)})
    if not era.has_graphs:
        return BatchLogs(counted.means, samples, counted.means)
    if is_test and (all_samples := vars(model).get(_PART_OF)):
        counted.means["loss"] *= vars(model)[_TOTALS].samples / all_samples
    drawn = epochs.of_data(model, "validation" if is_test else "training")
    if drawn is not None:
        counted.size = size  # batches that are drawn count as 1, but callbacks were told how many samples they have
        if is_test and era is Era.KERAS_2_3 and not drawn.is_of_arrays:
            counted.means["loss"] = counted["loss"]  # `evaluate_generator` returned that of the last batch
    return counted


def _beginning(original: Any) -> Any:
    def reset_metrics(self: Any) -> None:
        if vars(self).get(_GOES_ON):
            return
        original(self)
        begin(self)

    return reset_metrics


def _means_of_epoch(original: Any) -> Any:
    def results(self: Any, logs: Any) -> Any:
        if not isinstance(logs, BatchLogs):
            return original(self, logs)
        if divisor := vars(self).pop(_DIVISOR, None):
            logs.means["loss"] /= divisor
        return dict(logs.means)

    return results


def _place(callbacks: Any, batch: int, size: int | None = None, begins: str = "") -> dict[str, int]:
    """Return what the logs of a batch said of the batch itself: its number, and its samples where known.

    Args:
        callbacks: Keras's list of them.
        batch: its number.
        size: its samples, None where they are not known.
        begins: "train", "test" or "predict" where it is about to begin.
    """
    era = object_eras.era_of_training(getattr(callbacks, "model", None))
    if not era.has_graphs or (begins in _WHAT and era is Era.KERAS_2_2_4):
        return {}
    if begins not in _WHAT and vars(callbacks.model).get(_TAKES_ALL):
        size = 1
    elif size is None and begins in _WHAT:
        size = _samples_of_evaluated(callbacks.model, begins, batch)
    elif size is None:
        all_params = (getattr(callback, "params", None) for callback in callbacks.callbacks)
        params = next((each for each in all_params if isinstance(each, Params)), None)
        size = params.size_of_batch(batch) if params is not None else None
        if size is None and (drawn := epochs.of_training(callbacks.model)) is not None:
            # Those eras drew a generator's batch before they called the hook.
            size = drawn.samples_of_next() if begins else drawn.last_samples
    return {"batch": batch} if size is None else {"batch": batch, "size": size}


# What is evaluated, by the kind of its hooks, as `Epochs` are called.
_WHAT = {"test": "validation", "predict": "prediction"}


def _samples_of_evaluated(model: Any, kind: str, batch: int) -> int | None:
    drawn = epochs.of_data(model, _WHAT[kind])
    samples, batch_size = vars(model).get(_EVALUATED, {}).get(kind, (0, 0))
    if drawn is not None and batch_size != 1:  # all samples of arrays in each step are drawn, but count as one
        return drawn.samples_of_next()
    return min(batch_size, samples - batch * batch_size) if batch * batch_size < samples else None


@contextlib.contextmanager
def evaluating(model: Any, kind: str, x: Any, batch_size: int | None, steps: int | None = None) -> Iterator[None]:
    """Let the hooks of TensorFlow 1.15 for the batches of arrays be told how many samples they have.

    Args:
        model: the model.
        kind: "test" or "predict".
        x: the arrays.
        batch_size: how they are divided, 32 by default.
        steps: how often all of them are taken in a graph, each counted as one sample; None for once, in batches.
    """
    first = next((each for each in keras.tree.flatten(x) if getattr(each, "shape", ())), None)
    if first is None or object_eras.era_of_training(model) not in _WITH_HOOKS:
        yield
        return
    before = vars(model).get(_EVALUATED, {})
    in_steps = steps is not None and not execution.is_eager()
    counted = (steps, 1) if in_steps else (int(first.shape[0]), batch_size or 32)
    vars(model)[_EVALUATED] = {**before, kind: counted}
    try:
        yield
    finally:
        vars(model)[_EVALUATED] = before


def samples_evaluated(model: Any, kind: str) -> int | None:
    """Return how many samples of arrays TensorFlow 1.15 evaluates; None where it counts batches, and in other eras.

    Args:
        model: the model.
        kind: "test" or "predict".
    """
    if epochs.of_data(model, _WHAT[kind]) is not None:
        return None
    counted: tuple[int | None, int] = vars(model).get(_EVALUATED, {}).get(kind, (None, 0))
    return counted[0]


def _giving_place(original: Any, kind: str) -> Any:
    def on_batch_begin(self: Any, batch: int, logs: Any = None) -> None:
        if object_eras.era_of_training(getattr(self, "model", None)) is Era.TODAY:
            original(self, batch, logs)
            return
        given = Logs(keras3.plain_logs(logs) if logs else _place(self, batch, begins=kind))
        for callback in self.callbacks:
            getattr(callback, f"on_{kind}_batch_begin")(batch, given)  # which names its arguments as it likes

    return on_batch_begin


def _silencing(original: Any) -> Any:
    """A validation in `fit` set the `verbose` of the one dict that all callbacks of TensorFlow 1.15 have to 0."""

    def on_test_begin(self: Any, logs: Any = None) -> None:
        for callback in self.callbacks:
            params = getattr(callback, "params", None)
            if isinstance(params, Params) and params.get("do_validation"):
                params.validates()
        original(self, logs)

    return on_test_begin


def _without_logs(original: Any) -> Any:
    """The end of a training had no logs before TensorFlow 2.3."""

    def on_train_end(self: Any, logs: Any = None) -> None:
        original(self, logs if object_eras.era_of_training(getattr(self, "model", None)) is Era.TODAY else None)

    return on_train_end


def _without_logs_of_evaluation(original: Any) -> Any:
    """Nor had the end of an evaluation; Keras's own callbacks are told what they show and write."""

    def on_test_end(self: Any, logs: Any = None) -> None:
        era = object_eras.era_of_training(getattr(self, "model", None))
        if era is Era.TODAY:
            original(self, logs)
            return
        nothing: dict[str, Any] | None = {} if era is Era.TF_KERAS_2_2 else None
        order = _order(self.model, logs) if logs else ()
        shown = Logs(compiled_metrics.shown_as(self.model, {name: logs[name] for name in order}))
        callbacks = self.callbacks
        for callback in callbacks:
            own = getattr(callback.on_test_end, "__module__", "").startswith("keras.")
            callback.on_test_end(shown if own else nothing)
        try:
            self.callbacks = []
            original(self, logs)  # which counts the end
        finally:
            self.callbacks = callbacks

    return on_test_end


def _giving_batch_logs(original: Any, hook: str) -> Any:
    def give(self: Any, batch: int, logs: Any = None) -> None:
        if isinstance(logs, BatchLogs):
            order = _order(self.model, logs)
            given, means = (
                Logs(compiled_metrics.shown_as(self.model, {name: values[name] for name in order}))
                for values in (logs, logs.means)
            )
            era, own = object_eras.era_of_training(self.model), given
            given = Logs({**_place(self, batch, logs.size), **logs_as_then.of_batch(own, era)})
        else:  # of metrics that are no means; validation had no `batch`, and its samples are not known here
            place = _place(self, batch) if hook == "on_train_batch_end" else {}
            if not place and object_eras.era_of_training(getattr(self, "model", None)) is Era.TODAY:
                original(self, batch, logs)
                return
            means = Logs(keras3.plain_logs(logs or {}))
            given = Logs({**place, **logs_as_then.of_batch(means, object_eras.era_of_training(self.model))})
        for callback in self.callbacks:
            is_bar = isinstance(callback, keras.callbacks.ProgbarLogger)
            if is_bar and isinstance(logs, BatchLogs) and hook == "on_train_batch_end":
                printed_lines.add_batch(callback, own, era)
            getattr(callback, hook)(batch, means if is_bar else given)

    return give


def _giving_predictions(original: Any) -> Any:
    """TensorFlow 1.15 gave the hook for a predicted batch a list of arrays, and said which batch it was."""

    def on_predict_batch_end(self: Any, batch: int, logs: Any = None) -> None:
        if not logs or object_eras.era_of_training(getattr(self, "model", None)) not in _WITH_HOOKS:
            original(self, batch, logs)
            return
        outputs = [keras.ops.convert_to_numpy(each) for each in keras.tree.flatten(logs["outputs"])]
        given = Logs({**_place(self, batch, len(outputs[0])), "outputs": outputs})
        for callback in self.callbacks:
            callback.on_predict_batch_end(batch, given)

    return on_predict_batch_end


def _giving_epoch_logs(original: Any) -> Any:
    def on_epoch_end(self: Any, epoch: int, logs: Any = None) -> None:
        era = object_eras.era_of_training(self.model)
        if logs and era is not Era.TODAY:
            order = _order(self.model, {name: logs[name] for name in logs if not name.startswith("val_")})
            validated = [f"val_{name}" for name in order if f"val_{name}" in logs]
            order = [*validated, *order] if era.is_standalone else [*order, *validated]
            ordered = {name: logs[name] for name in (*order, *(each for each in logs if each not in order))}
            logs = InOrder(
                compiled_metrics.shown_as(self.model, ordered),
                era,
                _logs_of_all_epochs(self) if era.is_standalone else None,
            )
        original(self, epoch, logs)

    return on_epoch_end


def _logs_of_all_epochs(callbacks: Any) -> Logs | None:
    """Return the one dict that Keras 2.2.4's `fit_generator` gave to callbacks at the end of all epochs, or None.

    What a callback adds (`lr`, a score of its own) is seen by those before it an epoch later, and what was validated in
    an epoch is there in the next ones, too.
    """
    if epochs.of_training(callbacks.model) is None:
        return None
    logs: Logs = vars(callbacks).setdefault("_parallel_compat_logs_of_epochs", Logs())
    return logs


def _recording_last(original: Any) -> Any:
    @functools.wraps(original)
    def __init__(
        self: Any, callbacks: Any = None, add_history: bool = False, *given: Any, model: Any = None, **keywords: Any
    ) -> None:
        given_ones = keras.tree.flatten(callbacks) if callbacks else []
        records = any(isinstance(each, keras.callbacks.History) for each in given_ones)
        if add_history and records and object_eras.era_of_training(model).has_graphs:
            # The history that `fit` returned was one more, after all callbacks; today it is the one that is given.
            callbacks = [*given_ones, keras.callbacks.History()]
        original(self, callbacks, add_history, *given, model=model, **keywords)

    return __init__


def _order(model: Any, logs: dict[str, Any]) -> list[str]:
    """Return the names of logs in the order of the model's era."""
    if _RETURNED in vars(model):
        return list(logs)
    try:
        return compiled_metrics.in_old_order(model, logs)
    except ValueError:  # a step of the user's own logs what no metric of the model has
        return list(logs)
