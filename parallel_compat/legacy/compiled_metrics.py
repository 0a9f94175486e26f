"""The metrics of `compile` as an era made them: what "accuracy" means, the names in the logs, and their order.

Read in `Model.compile` of Keras 2.2.4 (`keras/engine/training.py`), `training_utils.get_metric_function` and
`get_metric_name` of TensorFlow 1.15, and `compile_utils.MetricsContainer` of TensorFlow 2.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import keras

from parallel_compat.backend import keras3
from parallel_compat.legacy import execution
from parallel_compat.legacy.numbers import metric_functions
from parallel_compat.legacy.numbers.metrics import LayerMetric, MetricOfEra, StatefulMetric
from parallel_compat.names.eras import Era
from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from collections.abc import Callable

    Function = Callable[..., Any]

# Strings whose function hangs on the loss and the output, with what they were logged as and the functions' tails.
_CHOSEN = {"accuracy": "accuracy", "acc": "accuracy", "crossentropy": "crossentropy", "ce": "crossentropy"}
_SUFFIXES = {"accuracy": "acc", "crossentropy": "ce"}
_ORDER = "_parallel_compat_results"
_ORDERS = "_parallel_compat_orders"
_NAMES = "_parallel_compat_names_of_results"
_CHOOSERS = "_parallel_compat_choosers"
_OF_ONE_NAME = "_parallel_compat_outputs_of_one_name"
_SHOWN = "_parallel_compat_shown_results"


class CompiledMetrics(NamedTuple):
    """What `keras.Model.compile` is to be given, and what it will log.

    Attributes:
        metrics: as Keras 3 takes it: a list, or one for each output.
        weighted_metrics: the same.
        names: the names of the results in the era's order; None where the outputs are not known yet.
        choosers: by output, the functions that stand for one that the first batch will choose.
        shown: what results are shown as that have another name here.
    """

    metrics: Any
    weighted_metrics: Any
    names: list[str] | None
    choosers: list[list[_Chosen]]
    shown: dict[str, str]


def say_of_one_name(model: Any, names: dict[str, str]) -> None:
    """Note the names that several outputs had in common, by those that tell them apart, before `compile`."""
    vars(model)[_OF_ONE_NAME] = names


def shown_as(model: Any, results: dict[str, Any]) -> dict[str, Any]:
    """Return results by the names that they had: in Keras 2.2.4 the last of several outputs of one name was shown.

    Args:
        model: a compiled model.
        results: results by name, those of a validation with `val_`.
    """
    shown = vars(model).get(_SHOWN)
    if not shown:
        return results
    found = {}
    for name, value in results.items():
        front, own = ("val_", name[4:]) if name.startswith("val_") else ("", name)
        found[front + shown.get(own, own)] = value
    return found


def of_compile(model: Any, era: Era, loss: Any, metrics: Any, weighted_metrics: Any) -> CompiledMetrics:
    """Make the metrics of an era.

    Args:
        model: the model that is compiled.
        era: the era.
        loss: as given to `compile`.
        metrics: as given to `compile`.
        weighted_metrics: as given to `compile`.
    """
    named_as, era = era, object_eras.trained_as(era)  # whose functions and names they have, and how they are counted
    outputs = _output_names(model)
    known = outputs or [""]
    count = len(known)
    with_loss = [_loss_of(loss, name, i, count) is not None for i, name in enumerate(known)]
    # It was TensorFlow 2.2 that let them count with whatever loss, that of a step of the user's, too.
    counts_without_loss = named_as is Era.TF_KERAS_2_2
    names = ["loss"] + ([f"{n}_loss" for n, has in zip(known, with_loss, strict=True) if has] if count > 1 else [])
    made: tuple[list[list[Any]], list[list[Any]]] = ([], [])
    choosers: list[list[_Chosen]] = [[] for _ in known]
    of_one_name = vars(model).get(_OF_ONE_NAME, {})
    shown = {f"{told}_loss": f"{name}_loss" for told, name in of_one_name.items()}
    for i, output in enumerate(known):
        kind = _kind_of_loss(_loss_of(loss, output, i, count))
        for given, weighted in ((metrics, False), (weighted_metrics, True)):
            entries = _of_output(given, output, i, count) if with_loss[i] or counts_without_loss else []
            if i > 0 and era is not Era.KERAS_2_2_4 and not _is_by_output(given):
                entries = [_copy(each) for each in entries]
            elif weighted and named_as is Era.TF_KERAS_1_15 and not _keeps_spelling(named_as):
                for each in entries:
                    _name_as_weighted(each)
            of_output = [_metric(entry, era, named_as, kind, weighted, choosers[i]) for entry in entries]
            if era in (Era.KERAS_2_3, Era.TF_KERAS_1_15):  # a dict by name there
                of_output = list({metric.name: metric for metric in of_output}.values())
            prefix = f"{output}_" if count > 1 else ""
            for metric in of_output:
                own = metric.name
                _name_uniquely(metric, prefix, names, weighted, era)
                if output in of_one_name:
                    taken = [shown.get(name, name) for name in names[:-1]]
                    shown[names[-1]] = _unique(f"{of_one_name[output]}_{own}", taken)
            made[weighted].append(of_output)
    if count > 1:
        plain, weighed = (each if any(each) else None for each in made)
        return CompiledMetrics(plain, weighed, names, choosers, shown)
    return CompiledMetrics(made[0][0] or None, made[1][0] or None, names if outputs else None, choosers, shown)


def of_loaded_model(model: Any, era: Era) -> None:
    """Give a model that was loaded compiled the metrics of an era, by the names in its file.

    Args:
        model: the model.
        era: that of the code which loads it.
    """
    if era is Era.TODAY or not getattr(model, "compiled", False):
        return
    saved = keras3.compile_arguments(model)
    given = [saved.get("loss"), *(_in_old_names(saved.get(name)) for name in ("metrics", "weighted_metrics"))]
    if era is Era.KERAS_2_2_4:
        given[2] = None  # its files did not hold them
    made = of_compile(model, era, *given)
    keras3.replace_compiled_metrics(model, made.metrics, made.weighted_metrics)
    remember(model, made)


def _in_old_names(given: Any) -> Any:
    """Return metrics of a file with the names of then: what was written as `logcosh` is read as today's `log_cosh`."""
    if isinstance(given, dict):
        return {output: _in_old_names(of_output) for output, of_output in given.items()}
    if isinstance(given, (list, tuple)):
        return [_in_old_names(each) for each in given]
    return metric_functions.old_name(given) if isinstance(given, str) else given


def remember(model: Any, made: CompiledMetrics) -> None:
    """Note what metrics a model was compiled with: their names in the order of its era, and which are yet to choose."""
    vars(model).update({_ORDER: made.names, _CHOOSERS: made.choosers, _SHOWN: made.shown})


def order_of(model: Any) -> list[str] | None:
    """Return the names of a compiled model's results in the order of its era; None where they are not known."""
    names: list[str] | None = getattr(model, "__dict__", {}).get(_ORDER)
    return names


def metrics_names(model: keras.Model) -> list[str]:
    """Return the names of what `evaluate` and `train_on_batch` return, in the order of the model's era.

    Keras 2.2.4 and TensorFlow 1.15 knew them when the model was compiled, TensorFlow 2.2 after the first batch.
    """
    names, shown = _names_of_results(model), vars(model).get(_SHOWN)
    return [shown.get(name, name) for name in names] if shown else names


def _names_of_results(model: keras.Model) -> list[str]:
    order = order_of(model)
    has_own_step = keras3.has_own_step(model, "test")  # which may call another model instead
    seen = getattr(model, "compiled", False) and (model.built or has_own_step) and keras3.Compiled(model).built
    if not seen and object_eras.era_of_training(model) is Era.TF_KERAS_2_2:
        return []
    if not seen:
        return list(order) if order is not None else in_old_order(model, {"loss": 0.0})
    metrics = model.metrics
    if has_own_step:
        loss, _, total = keras3.compiled_parts(model)
        if loss is None:
            return [metric.name for metric in metrics_of_era(model, metrics) if metric is not total]
    kept = vars(model).get(_NAMES)
    if kept is None or len(kept[0]) != len(metrics) or any(a is not b for a, b in zip(kept[0], metrics, strict=True)):
        # Asking metrics for their results takes longer than the step of a small model, and each `fit` asks for names.
        kept = vars(model)[_NAMES] = (metrics, in_old_order(model, model.get_metrics_result()))
    return list(kept[1])


def metrics_of_era(model: keras.Model, today: list[Any]) -> list[Any]:
    """Return what `model.metrics` was: in Keras 2.2.4 what `compile` was given, in tf.keras the metrics one by one.

    Those of several outputs stay together, as one that knows their names: here a metric's name lacks the output's.

    Args:
        model: a model.
        today: what it is in Keras 3, whose list holds the metrics of `compile` as one.
    """
    era = object_eras.era_of_training(model)
    if not getattr(model, "compiled", False) or era is Era.TODAY:
        return today
    if era is Era.KERAS_2_2_4:
        return keras3.compile_arguments(model).get("metrics") or []
    return keras3.metrics_one_by_one(model, today, losses=era is Era.TF_KERAS_2_2)


def in_old_order(model: keras.Model, results: dict[str, Any]) -> list[str]:
    """Order the names of results as Keras 2 did: the loss, the outputs' losses, the outputs' metrics.

    Args:
        model: the model.
        results: results by name.
    """
    first = [name for name in order_of(model) or () if name in results]
    if not first:
        outputs = list(getattr(model, "output_names", None) or ())
        losses = [f"{output}_loss" for output in outputs if f"{output}_loss" in results]
        first = [name for name in ("loss", *losses) if name in results]
    rest = [name for name in results if name not in first]
    if not rest:
        return first
    compiled = keras3.compiled_parts(model)
    kept = vars(model).get(_ORDERS)
    if kept is None or any(a is not b for a, b in zip(kept[0], compiled, strict=True)):
        kept = vars(model)[_ORDERS] = (compiled, {})
    found: list[str] | None = kept[1].get(tuple(results))
    if found is None:  # asking metrics for their results takes longer than the step of a small model
        order: list[str] = []  # not by `get_metrics_result`, which sorts by name in Keras 3.12
        for metric in model.metrics:
            result = metric.result()
            order += list(result) if isinstance(result, dict) else [metric.name]
        order += [name for name in rest if name not in order]  # of a step of the user's
        found = kept[1][tuple(results)] = [*first, *sorted(rest, key=order.index)]
    return found


def _metric(given: Any, era: Era, named_as: Era, loss: str | None, weighted: bool, choosers: list[_Chosen]) -> Any:
    """Make the metric of an era from what `compile` was given for an output; add to `choosers` what is to choose."""
    if isinstance(given, keras.metrics.Metric):
        return given
    if era.is_tf_keras and isinstance(given, keras.layers.Layer):
        return LayerMetric(given, era)
    if getattr(given, "stateful", False) and callable(getattr(given, "reset_states", None)):
        return StatefulMetric(given) if era is Era.KERAS_2_2_4 else LayerMetric(given, era)
    function: Any
    prefix = "weighted_" if weighted and not _keeps_spelling(named_as) else ""
    if isinstance(given, str) and given in _CHOSEN:
        name = given if _keeps_spelling(named_as) else _SUFFIXES[_CHOSEN[given]]
        choosers.append(_Chosen(_CHOSEN[given], era, loss))
        return MetricOfEra(choosers[-1], prefix + name, era, weighted)
    if isinstance(given, str):
        custom = keras.saving.get_registered_object(given)
        function = custom or metric_functions.of_name(given, named_as)
        if function is None:  # a class, or an error that Keras knows to word
            return keras.metrics.get(given)
        own = getattr(custom, "__name__", given) if custom else metric_functions.old_name(given)
        name = given if _keeps_spelling(named_as) else own
    else:
        old = metric_functions.named_as_keras_did(given)
        function = (metric_functions.of_name(old, named_as) if old else None) or given
        name = str(getattr(given, "name", None) or old or getattr(given, "__name__", type(given).__name__))
    if isinstance(function, type):
        return function()
    return MetricOfEra(function, prefix + name, era, weighted)


def _keeps_spelling(era: Era) -> bool:
    """Say whether metrics were named as `compile` was given them (`get_metric_name` in TensorFlow 1.15.5)."""
    return era in (Era.KERAS_2_3, Era.TF_KERAS_2_2) or (era is Era.TF_KERAS_1_15 and execution.has_v2_behavior())


class _Chosen:
    """The function that "accuracy" or "crossentropy" stands for, chosen when the shapes are known.

    TensorFlow 2.2 chose it with the first batch after `compile`. Of what a generator or Sequence yields it knew the
    rank alone, so labels `(samples, 1)` of classes were not seen to be numbers of classes there.

    Args:
        what: "accuracy" or "crossentropy".
        era: the era.
        loss: "binary", "sparse" or None, see `_kind_of_loss`.
    """

    def __init__(self, what: str, era: Era, loss: str | None) -> None:
        self._what, self._era, self._loss = what, era, loss
        self._kind: str | None = None
        self.last_axis_is_unknown = False

    @property
    def has_chosen(self) -> bool:
        """Whether a batch has come."""
        return self._kind is not None

    def __call__(self, y_true: Any, y_pred: Any) -> Any:
        kind = self._kind or self._kind_of(y_true, y_pred)
        if self._era is Era.TF_KERAS_2_2:
            self._kind = kind
        function = metric_functions.of_name(f"{kind}_{self._what}", self._era)
        assert function is not None
        return function(y_true, y_pred)

    def _kind_of(self, y_true: Any, y_pred: Any) -> str:
        units = y_pred.shape[-1]
        if self._era is Era.TF_KERAS_2_2:
            ranks = len(y_true.shape), len(y_pred.shape)
            binary, last = units == 1, None if self.last_axis_is_unknown else y_true.shape[-1]
            sparse = ranks[0] < ranks[1] or (last == 1 and units is not None and units > 1)
        else:
            binary, sparse = units == 1 or self._loss == "binary", self._loss == "sparse"
        return "binary" if binary else "sparse_categorical" if sparse else "categorical"


def of_drawn_targets(model: Any, targets: Any) -> None:
    """Let "accuracy" of TensorFlow 2.2 be what it was where the first batch comes from a generator or Sequence.

    Args:
        model: a compiled model.
        targets: what the first batch yielded for its outputs.
    """
    if object_eras.era_of_training(model) is not Era.TF_KERAS_2_2 or targets is None:
        return
    names = _output_names(model) or [""]
    if len(names) == 1:
        of_outputs = {names[0]: targets[names[0]] if isinstance(targets, dict) else targets}
    elif isinstance(targets, dict):
        of_outputs = targets
    else:
        of_outputs = dict(zip(names, targets, strict=False)) if isinstance(targets, (list, tuple)) else {}
    for choosers, target in zip(vars(model).get(_CHOOSERS, ()), map(of_outputs.get, names), strict=False):
        shape = getattr(target, "shape", ())
        for each in choosers:
            if not each.has_chosen:
                each.last_axis_is_unknown = len(shape) > 1


def _name_as_weighted(metric: Any) -> None:
    """Rename a metric object of `weighted_metrics` as TensorFlow 1.15 did."""
    if isinstance(metric, keras.metrics.Metric):
        metric.name = f"weighted_{metric.name}"


def _name_uniquely(metric: Any, prefix: str, names: list[str], weighted: bool, era: Era) -> None:
    name = metric.name
    if era is Era.TF_KERAS_2_2 and weighted and prefix + name in names:
        name = f"weighted_{name}"
    name = _unique(prefix + name, names).removeprefix(prefix)
    if name != metric.name:
        metric.name = name
    names.append(prefix + name)


def _unique(name: str, names: list[str]) -> str:
    found, number = name, 1
    while found in names:
        found = f"{name}_{number}"
        number += 1
    return found


def _is_by_output(given: Any) -> bool:
    """Say whether metrics are given for each output by itself; others are given for all."""
    return isinstance(given, dict) or (
        isinstance(given, (list, tuple)) and any(isinstance(each, (list, tuple)) for each in given)
    )


def _copy(metric: Any) -> Any:
    """Return another object for another output: each counts for itself, as `MetricsContainer` had it."""
    return type(metric).from_config(metric.get_config()) if isinstance(metric, keras.metrics.Metric) else metric


def _of_output(given: Any, output: str, i: int, count: int) -> list[Any]:
    """Return what was given for one output, as a list."""
    if isinstance(given, dict):
        given = given.get(output) if output or count > 1 else next(iter(given.values()), None)
    elif isinstance(given, (list, tuple)) and any(isinstance(each, (list, tuple)) for each in given):
        given = given[i] if len(given) == count else keras.tree.flatten(given)
    if given is None:
        return []
    return [each for each in keras.tree.flatten(given) if each is not None]


def _loss_of(loss: Any, output: str, i: int, count: int) -> Any:
    if isinstance(loss, dict):
        return loss.get(output) if output else next(iter(loss.values()), None)
    if isinstance(loss, (list, tuple)):
        return loss[i] if i < len(loss) else None
    return loss


def _kind_of_loss(loss: Any) -> str | None:
    """Return "binary" or "sparse" for these cross-entropies of Keras, by name, as a function or as an object."""
    name: Any = loss
    if isinstance(loss, str):
        pass
    elif isinstance(loss, keras.losses.Loss):
        name = getattr(keras3.function_of(loss), "__name__", "")
    else:
        name = metric_functions.named_as_keras_did(loss)
    return {"binary_crossentropy": "binary", "sparse_categorical_crossentropy": "sparse"}.get(name)


def _output_names(model: Any) -> list[str]:
    """Return the names of the outputs in order; none where they are not known yet or no plain list."""
    if isinstance(model, keras.Sequential):
        return [model.layers[-1].name] if model.layers else []
    names = list(getattr(model, "output_names", None) or ())
    return [] if names and isinstance(getattr(model, "output", None), dict) else names
