"""The methods of `keras.Model` with their old arguments, as `run` puts them on the class.

Each function is called for the user's code, with the method that stands there, and translates the arguments first.
"""

from __future__ import annotations

import functools
import os
import sys
import warnings
from contextlib import contextmanager, nullcontext
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import metric_state, patch_points, symbolic_losses
from parallel_compat.backend.keras3.assigned import derives_from_layer_alone
from parallel_compat.batches import generator_methods, ordered_batches
from parallel_compat.batches.batch import weighted_classes
from parallel_compat.batches.sources import is_generator, is_sequence
from parallel_compat.legacy import (
    appended_metrics,
    as_of_now,
    closures,
    compile_checks,
    compiled_metrics,
    compiled_weights,
    data_tensors,
    first_outputs,
    kept_numbers,
    learning_phase,
    losses,
    model_files,
    own_trainable,
)
from parallel_compat.legacy import summary as legacy_summary
from parallel_compat.legacy.call_arguments import translate
from parallel_compat.legacy.numbers import (
    batch_logs,
    callback_params,
    made_functions,
    metric_functions,
    sample_order,
    weighted_losses,
)
from parallel_compat.legacy.utils import to_list
from parallel_compat.names.defaults import of_era, optimizers_by_name
from parallel_compat.names.eras import Era
from parallel_compat.names.identifiers import COSINE_METRICS, COSINE_PROXIMITY, identifiers
from parallel_compat.recover.reader import look_over
from parallel_compat.run import callers, data_forms, data_workers, object_eras, usage
from parallel_compat.training import in_memory
from parallel_compat.training.trainable_flags import as_compiled, keep_flags
from parallel_compat.warning_category import ParallelCompatWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from types import FrameType

    Method = Callable[..., Any]

# Bound here: under `run` an attribute of Keras's modules is found by a function of python.
_flatten = keras.tree.flatten


def compile(original: Method, of: str, frame: FrameType, self: Any, /, *given: Any, **keywords: Any) -> Any:
    """`model.compile` with metrics in third place, and the old names and defaults of strings."""
    era = callers.era_of(frame)
    object_eras.remember(self, era)
    made_functions.forget(self)
    tensors: list[Any] = []
    if era.has_graphs or _only_stand_for_targets(keywords.get("target_tensors")):
        tensors = data_tensors.set_targets(self, targets := keywords.pop("target_tensors", None))
        if targets is not None:
            _note(of, frame)("target_tensors=", "variables are read in each step; placeholders' targets come as data")
    if era is Era.KERAS_2_2_4:
        named = {**dict(zip(("optimizer", "loss"), given, strict=False)), **keywords}
        compile_checks.check(self, list(getattr(self, "output_names", None) or ()), named)
    given, keywords = _translated(of, given, keywords, frame)
    keywords = {**dict(zip(("optimizer", "loss"), given, strict=False)), **keywords}
    if tensors:
        keywords["loss"] = _of_targets_like(tensors, keywords.get("loss"))
    keywords["loss"] = _without_tensors_left(keywords.get("loss"))
    if era is Era.KERAS_2_2_4 and isinstance(keywords.get("optimizer"), str):
        keywords["optimizer"] = _optimizer(keywords["optimizer"], frame, era)
    if isinstance(keywords.get("optimizer"), keras.optimizers.Optimizer):
        keywords["optimizer"] = _for_one_compile(keywords["optimizer"], frame)
    given_names = [keywords.get(name) for name in ("loss", "metrics", "weighted_metrics")]
    for name, kind in (("loss", "loss"), ("metrics", "metric"), ("weighted_metrics", "metric")):
        if name in keywords:
            keywords[name] = _renamed(keywords[name], kind, frame)
    count = len(getattr(self, "output_names", None) or ())
    for name in ("metrics", "weighted_metrics"):
        keywords[name] = _for_each_output(self, keywords.get(name))
    if era is Era.KERAS_2_2_4 or keywords.get("loss") is not None:
        keywords = data_forms.for_outputs_with_loss(self, keywords, _note(of, frame))
    if count > 1 and (isinstance(keywords.get("loss"), str) or callable(keywords.get("loss"))):
        keywords["loss"] = [keywords["loss"]] * count  # Keras 3 would give it one weight
    if era is not Era.TODAY:
        _weigh_by_name(self, keywords)
    if era.is_tf_keras and self.dynamic is True:
        keywords = {"run_eagerly": True, **keywords}
    appended_metrics.forget(self)
    if callers.era_of(frame) is Era.KERAS_2_2_4:
        own_trainable.settle(keras.Layer.trainable.fset, self)
        _tell_of_layers_in_layers(self)

    def in_pass(given: Any) -> Any:
        if era.has_graphs:
            given = keras.tree.map_structure(as_of_now.as_of_now, given)
        return keras.tree.map_structure(lambda each: closures.in_pass(each, self), given)

    for name in ("loss", "metrics", "weighted_metrics"):
        if keywords.get(name) is not None:
            keywords[name] = in_pass(keywords[name])
    given_names = [each if each is None else in_pass(each) for each in given_names]
    if era is Era.TODAY:
        result = original(self, **keywords)
    else:
        of_era = compiled_metrics.of_compile(self, era, *given_names)
        keras3.forget_metrics(self)
        result = original(self, **{**keywords, "metrics": of_era.metrics, "weighted_metrics": of_era.weighted_metrics})
        # What is written to files is what Keras can read.
        keras3.say_compiled_with(self, **{name: keywords[name] for name in ("metrics", "weighted_metrics")})
        compiled_metrics.remember(self, of_era)
    batch_logs.begin(self)  # what was counted before is not gone on from
    weighted_losses.weighed_as_in(era, self)
    if era is not Era.TODAY and first_outputs.are_unknown(self):
        first_outputs.compile_with_first(self, era, keywords, given_names)
    if not _is_parallel(self):  # which keeps its own
        keep_flags(self)
    if era is not Era.TODAY and self.built:
        compiled_weights.keep(self)
    return result


def _tell_of_layers_in_layers(model: Any) -> None:
    """Say which layers of the user's hold layers whose weights Keras 2.2.4 passed over: Keras 2.3 does not."""
    for layer in keras3.all_layers(model):
        if type(layer).__module__.startswith(("keras.", "parallel_compat.")) or isinstance(layer, keras.Model):
            continue
        held = [each.name for each in keras3.layers_of(layer) if each.weights]
        if not held or not derives_from_layer_alone(layer) or "trainable_weights" in _attributes_of_user(type(layer)):
            continue
        warnings.warn(
            f"`{type(layer).__name__}` holds layers ({', '.join(held)}) and lists none of their weights. They are "
            "trained and saved, as since Keras 2.3; Keras 2.2.4 passed over them. For its results freeze them before "
            "`compile`: set `trainable = False` on each.",
            ParallelCompatWarning,
            stacklevel=5,
        )


def _attributes_of_user(kind: type) -> set[str]:
    return {name for each in kind.__mro__ if not each.__module__.startswith("keras.") for name in vars(each)}


def _weigh_by_name(model: Any, keywords: dict[str, Any]) -> None:
    """Give each output the loss weight of its name, or 1: Keras 3 takes those of a dict by the alphabet."""
    weights, names = keywords.get("loss_weights"), getattr(model, "output_names", None)
    if not isinstance(weights, dict) or not names:
        return
    unknown = [name for name in weights if name not in names]
    if unknown:
        raise ValueError(f"Expected names of outputs in `loss_weights`: {names}. Received: {unknown}")
    loss = keywords.get("loss")
    if isinstance(loss, dict):
        keywords["loss_weights"] = {name: weights.get(name, 1.0) for name in loss}
    elif isinstance(loss, (list, tuple)):
        keywords["loss_weights"] = [weights.get(name, 1.0) for name in names]


def _of_targets_like(tensors: list[Any], loss: Any) -> Any:
    """Return losses that get targets of the dtypes of `target_tensors`: whole numbers for `tf.nn.ctc_loss`."""
    if isinstance(loss, (list, tuple)) and len(loss) == len(tensors):
        return [_of_targets_like([tensor], each) for tensor, each in zip(tensors, loss, strict=True)]
    if len(tensors) != 1 or tensors[0] is None or not isinstance(loss, FunctionType):
        return loss
    if "float" in (dtype := tensors[0].dtype):
        return loss

    @functools.wraps(loss)
    def of_whole_numbers(y_true: Any, y_pred: Any, *rest: Any, **named: Any) -> Any:
        return loss(keras.ops.cast(y_true, dtype), y_pred, *rest, **named)

    return of_whole_numbers


def _without_tensors_left(loss: Any) -> Any:
    """Return losses after which their objects hold no tensors of a step.

    `self.ratio = tf.constant(self.ratio)` in a loss was done once, for the one graph. Here a loss is called for each
    step that is traced, and the tensors of one are of no use in another.
    """
    if isinstance(loss, (list, tuple)):
        return [_without_tensors_left(each) for each in loss]
    if isinstance(loss, dict):
        return {name: _without_tensors_left(each) for name, each in loss.items()}
    if not isinstance(loss, MethodType) or isinstance(loss.__self__, (keras.losses.Loss, keras.Layer, type)):
        return loss

    @functools.wraps(loss)
    def of_one_step(*given: Any, **named: Any) -> Any:
        held = vars(loss.__self__)
        before = dict(held)
        try:
            return loss(*given, **named)
        finally:
            left = [name for name, value in held.items() if tf.is_symbolic_tensor(value)]
            for name in left:
                held.pop(name)
                if name in before:
                    held[name] = before[name]

    return of_one_step


def _only_stand_for_targets(tensors: Any) -> bool:
    """Say whether `target_tensors` holds nothing but placeholders, in whose place `fit` put the targets."""
    flat = _flatten(tensors)
    return all(each is None or keras3.is_input(each) for each in flat)


def fit(original: Method, of: str, frame: FrameType, self: Any, /, *given: Any, **keywords: Any) -> Any:
    """`model.fit` with Keras 1's `nb_epoch`, generators that yield lists, and what callbacks were given."""
    learning_phase.check_can_train(self)
    _say_if_flags_differ(self)
    drawing = _drawing(of, given, keywords)
    given, keywords = _translated(of, given, keywords, frame)
    _check_compiled(self)
    arguments = keras3.bind("fit", given, keywords)
    if callers.era_of(frame) is Era.TF_KERAS_2_2 and arguments.get("validation_split"):
        arguments["validation_data"] = None  # of the two the split counted
    held_out = arguments.get("validation_data")
    arguments, drawing = _read_from_tensors(self, "fit", arguments, drawing)
    arguments = data_forms.in_todays_structure(self, arguments, _note(of, frame))
    _leave_out_weights(self, "train", arguments, callers.era_of(frame), _note(of, frame))
    _weigh_classes_and_samples(self, arguments, callers.era_of(frame), _note(of, frame))
    _weigh_held_out_samples(arguments, callers.era_of(frame))
    held_out = _validation_data(arguments) if held_out is None else held_out
    of_arrays = _of_arrays(arguments)
    hand_over(self, arguments.get("callbacks"), held_out, of_arrays)
    _look_at_first_batch(self, arguments.get("x"))
    _lose_what_is_read_ahead(self, arguments, drawing)
    batch_logs.evaluate_in_steps(
        self,
        not _of_arrays(arguments)
        or arguments.get("validation_steps") is not None
        or not _is_arrays(arguments.get("validation_data")),
    )
    batch_logs.train_in_steps(self, isinstance(arguments.get("x"), tf.data.Dataset))
    arguments = _in_drawn_order(self, arguments)
    if _keeps_order(self, arguments.get("x"), drawing.get("workers")):
        arguments["shuffle"] = False
    x, held = arguments.get("x"), arguments.get("validation_data")
    in_batches_of_training = (
        callers.era_of(frame) is Era.TF_KERAS_1_15
        and (is_generator(x) or is_sequence(x))
        and generator_methods.ArrayBatches.takes(held)
    )
    size = arguments.get("validation_batch_size") or arguments.get("batch_size")
    held_x = held_out[0] if isinstance(held_out, (tuple, list)) else None
    with batch_logs.evaluating(self, "test", held_x, size, arguments.get("validation_steps")):
        if _is_parallel(self) and not in_batches_of_training:  # which draws from generators itself
            history = original(self, **arguments, **drawing)
        else:
            feed = generator_methods.Feed(self, **drawing, targets_of_keras_2=True)
            if in_batches_of_training:  # its `fit` was its `fit_generator`
                arguments["validation_data"] = generator_methods.ArrayBatches(held, feed)
                arguments["validation_steps"] = None
            history = generator_methods.fit(self, feed, arguments, functools.partial(original, self))
    callback_params.complete(history, do_validation=held_out is not None, **of_arrays)
    return history


def _look_at_first_batch(model: Any, data: Any) -> None:
    """Ask a Sequence for its first batch once more, before the others, as TensorFlow 2.2 did (`_peek_and_restore`).

    A Sequence that draws from `np.random`, or counts its batches to seed it (`ImageDataGenerator.flow(seed=)`), gives
    others for it.
    """
    if is_sequence(data) and object_eras.era_of_object(model) is Era.TF_KERAS_2_2 and len(data):
        data[0]


def _lose_what_is_read_ahead(model: Any, arguments: dict[str, Any], drawing: Mapping[str, Any]) -> None:
    """Let each validation by a generator lose the batch behind its last one, as TensorFlow 2.2 did.

    It made a data set of the generator for each validation, which one worker read one batch ahead (`prefetch(1)`).
    More workers read ahead as far as they came, and none did not. The one was lost each time, but rarely, on a busy
    machine, a validation ended before it was read.
    """
    held: Any = arguments.get("validation_data")
    steps: Any = arguments.get("validation_steps")
    if (
        object_eras.era_of_object(model) is Era.TF_KERAS_2_2
        and is_generator(held)
        and not is_sequence(held)
        and steps
        and drawing.get("workers", 1) == 1
        and not drawing.get("use_multiprocessing")
        and not _is_parallel(model)
    ):
        arguments["validation_data"] = _losing_one(held, steps)


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


def _keeps_order(model: Any, data: Any, workers: Any) -> bool:
    """Whether a Sequence is not shuffled: before TensorFlow 2 those did that who drew for `workers`, and 0 had none."""
    return workers == 0 and is_sequence(data) and object_eras.era_of_object(model).has_graphs


_OF_WEIGHTS = ("sample_weight", "class_weight")
# Where a model has what draws the order of its samples: a training that goes on draws on from there.
_DRAWS = "_parallel_compat_draws"


def _in_drawn_order(model: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `fit` with arrays as batches, where the era drew their order from `np.random`."""
    era, shuffle = object_eras.era_of_object(model), arguments.get("shuffle", True)
    data = tuple(arguments.get(name) for name in ("x", "y", "sample_weight"))
    is_sparse = _is_sparse(data[0])
    if era is Era.TODAY or not ordered_batches.are_arrays(data) or arguments.get("steps_per_epoch") is not None:
        return arguments
    if keras3.is_built_under_a_strategy(model):  # which made a data set of the arrays, then as today
        return arguments
    held_out = _validation_data(arguments)

    def is_in_memory() -> bool:
        return not is_sparse and in_memory.why_general("fit", model, arguments) is None

    if (
        era is Era.TF_KERAS_1_15
        and isinstance(held_out, (tuple, list))
        and ordered_batches.are_arrays(held_out)
        and not is_in_memory()  # where the samples are taken in the order that is drawn
    ):
        draws = sample_order.DrawsForValidation(ordered_batches.samples_of_arrays(held_out))
        arguments = {**arguments, "callbacks": [*keras.tree.flatten(arguments.get("callbacks") or []), draws]}
    if not is_sparse and not (shuffle is not False and era in sample_order.DRAW_FROM_NUMPY):
        return arguments
    draw = vars(model)[_DRAWS] = sample_order.drawn(era, shuffle)
    if is_in_memory():
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
    batch_size = arguments.get("batch_size") or 32
    batches = ordered_batches.adapter(given, batch_size, draw, int(getattr(model, "steps_per_execution", None) or 1))
    kept = {
        name: value
        for name, value in arguments.items()
        if name not in ("x", "y", "sample_weight", "class_weight", "shuffle", "validation_split", "batch_size")
    }
    kept["validation_batch_size"] = arguments.get("validation_batch_size") or batch_size
    return {**kept, "x": batches, "validation_data": _dense_batches(model, held_out, batch_size)}


def _is_sparse(x: Any) -> bool:
    if type(x) is np.ndarray:
        return False
    return any(keras3.is_scipy_sparse(leaf) for leaf in _flatten(x) if leaf is not None)


def _dense_batches(model: Any, data: Any, batch_size: int | None) -> Any:
    """Return data of `evaluate`, `predict` or for validation with scipy's sparse matrices made dense batch by batch."""
    if not isinstance(data, (tuple, list)) or not _is_sparse(data[0]) or not ordered_batches.are_arrays(data):
        return data
    given = tuple(data)
    while given[-1] is None:
        given = given[:-1]
    draw = sample_order.drawn(Era.KERAS_2_2_4, False)
    return ordered_batches.adapter(given, batch_size or 32, draw, int(getattr(model, "steps_per_execution", None) or 1))


def summary(original: Method, of: str, frame: FrameType, self: Any, /, *given: Any, **keywords: Any) -> Any:
    """`model.summary` in the lines of its time, with a word on flags that differ from those that were compiled."""
    _say_if_flags_differ(self)
    if object_eras.era_of_object(self) is Era.TODAY:
        return original(self, *given, **keywords)
    return legacy_summary.print_summary(self, *given, **keywords)


def _say_if_flags_differ(model: Any) -> None:
    """Warn where `trainable` was set after `compile`, as Keras 2 did (`_check_trainable_weights_consistency`)."""
    compiled = compiled_weights.seen(model)
    if compiled is not None and len(compiled) != len(model.trainable_weights):
        warnings.warn(
            "Discrepancy between trainable weights and collected trainable weights: `trainable` was set without "
            "`compile` after it. What trains is what `compile` saw.",
            ParallelCompatWarning,
            stacklevel=4,
        )


class NotCompiledError(RuntimeError, ValueError):
    """A model is trained before `compile`: a RuntimeError in Keras 2, a ValueError in Keras 3."""


def _check_compiled(model: Any) -> None:
    if not model.compiled:
        raise NotCompiledError(
            "Expected a model that has been compiled. Received: one that has not. You must compile a model before "
            "training or testing: `model.compile(optimizer, loss)`."
        )


def _fit_generator(**arguments: Any) -> Any:
    model = arguments["model"]
    _check_compiled(model)
    learning_phase.check_can_train(model)
    hand_over(model, arguments.get("callbacks"), arguments.get("validation_data"))
    batch_logs.evaluate_in_steps(model, True)
    batch_logs.train_in_steps(model, isinstance(arguments.get("generator"), tf.data.Dataset))
    _look_at_first_batch(model, arguments.get("generator"))
    _lose_what_is_read_ahead(model, arguments, arguments)
    if arguments.get("class_weight") is not None and data_forms.is_ignored(model, arguments["class_weight"]):
        arguments["class_weight"] = None
    _complete_generators(arguments)
    with as_compiled(model):
        if _keeps_order(model, arguments.get("generator"), arguments.get("workers")):
            arguments["shuffle"] = False
        history = generator_methods.fit_generator(**arguments)
    callback_params.complete(history, do_validation=arguments.get("validation_data") is not None)
    return history


def _evaluate_generator(**arguments: Any) -> Any:
    model = arguments["model"]
    _check_compiled(model)
    batch_logs.evaluate_in_steps(model, True)
    _complete_generators(arguments)
    with as_compiled(model):
        return _ordered(model, generator_methods.evaluate_generator(**arguments, return_dict=True))


def _predict_generator(**arguments: Any) -> Any:
    _complete_generators(arguments)
    return generator_methods.predict_generator(**arguments)


def _complete_generators(arguments: dict[str, Any]) -> None:
    """Let generators' batches have what the model reads from tensors."""
    tensors = data_tensors.of_model(arguments["model"])
    if tensors is None:
        return
    for name in ("generator", "validation_data"):
        if is_generator(arguments.get(name)):
            arguments[name] = tensors.completed(arguments[name])
        elif arguments.get(name) is not None:
            raise TypeError(
                f"Expected a generator for '{arguments['model'].name}', some data of which is read from tensors. "
                f"Received: `{name}` of {type(arguments[name]).__name__}"
            )
    arguments["workers"] = 0  # read when they are needed, not ahead


# As `parallel_compat.fit_generator` and its relatives, with what the user's code had as well: fields of callbacks,
# layers that are trainable as they were compiled.
fit_generator = data_workers.generator_method(generator_methods.fit_generator, _fit_generator)
evaluate_generator = data_workers.generator_method(generator_methods.evaluate_generator, _evaluate_generator)
predict_generator = data_workers.generator_method(generator_methods.predict_generator, _predict_generator)


def evaluate(original: Method, of: str, frame: FrameType, self: Any, /, *given: Any, **keywords: Any) -> Any:
    """`model.evaluate` without the arguments of the loading queue, and its list in the old order."""
    return _in_old_order(original, of, frame, self, *given, **keywords)


def train_on_batch(original: Method, of: str, frame: FrameType, self: Any, /, *given: Any, **keywords: Any) -> Any:
    """`model.train_on_batch` of what was trainable when the model was compiled."""
    learning_phase.check_can_train(self)
    return _in_old_order(original, of, frame, self, *given, **keywords)


def test_on_batch(original: Method, of: str, frame: FrameType, self: Any, /, *given: Any, **keywords: Any) -> Any:
    """`model.test_on_batch`, its list in the old order."""
    return _in_old_order(original, of, frame, self, *given, **keywords)


def predict(original: Method, of: str, frame: FrameType, self: Any, /, *given: Any, **keywords: Any) -> Any:
    """`model.predict`, silent by default as it was."""
    drawing = _drawing(of, given, keywords)
    given, keywords = _translated(of, given, keywords, frame)
    arguments = keras3.bind("predict", given, keywords)
    arguments, drawing = _read_from_tensors(self, "predict", arguments, drawing)
    arguments = data_forms.in_todays_structure(self, arguments, _note(of, frame))
    arguments.setdefault("verbose", 0)
    if isinstance(arguments["x"], list) and any(each is None for each in arguments["x"]):
        raise ValueError(f"Expected an array for each input of '{self.name}'. Received: None among them")
    if _is_sparse(arguments["x"]):
        arguments["x"] = _dense_batches(self, [arguments["x"]], arguments.pop("batch_size", None))
    divided = arguments.get("batch_size"), arguments.get("steps")
    evaluating = batch_logs.evaluating(self, "predict", arguments["x"], *divided)
    with evaluating, _fed(self, drawing, "prediction", arguments) as fed:
        return original(self, **fed)


def predict_on_batch(original: Method, of: str, frame: FrameType, self: Any, /, *given: Any, **keywords: Any) -> Any:
    """`model.predict_on_batch`, of inputs that may be read from tensors."""
    arguments, _ = _read_from_tensors(self, "predict_on_batch", keras3.bind("predict_on_batch", given, keywords), {})
    return original(self, **arguments)


def _read_from_tensors(
    model: Any, name: str, arguments: dict[str, Any], drawing: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arguments of a method with data that has what the model reads from tensors, and how it is drawn.

    Raises:
        ValueError: if neither data nor a number of steps says how much there is.
    """
    tensors = data_tensors.of_model(model)
    if tensors is None:
        return arguments, drawing
    x, y, weights = (arguments.get(each) for each in ("x", "y", "sample_weight"))
    if name.endswith("_on_batch"):
        whole = zip(("x", "y", "sample_weight"), tensors.whole(x, y, weights), strict=True)
        return {**arguments, **{each: value for each, value in whole if value is not None}}, drawing
    steps = "steps_per_epoch" if name == "fit" else "steps"
    if is_sequence(x):
        raise TypeError(
            f"Expected arrays or a generator for '{model.name}', some data of which is read from tensors. Received: "
            f"{type(x).__name__}, a Sequence"
        )
    changed = {each: value for each, value in arguments.items() if each not in ("y", "sample_weight", "batch_size")}
    draw = sample_order.drawn(object_eras.era_of_object(model), arguments.get("shuffle", True) and name == "fit")
    if is_generator(x):
        changed["x"] = tensors.completed(x)
    elif tensors.is_all(x, y):
        if arguments.get(steps) is None:
            raise ValueError(
                f"Expected `{steps}`, for all data of '{model.name}' is read from tensors, without end. Received: None"
            )
        changed["x"] = tensors.steps()
    elif arguments.get(steps) is not None:
        changed["x"] = iter(lambda: tensors.whole(x, y, weights), None)
    else:
        if arguments.get("class_weight") is not None:
            weights = np.asarray(weighted_classes(y, weights, changed.pop("class_weight")))
        if part := changed.pop("validation_split", 0):
            start = int(ordered_batches.samples_of_arrays((x, y)) * (1 - part))
            cut = keras.tree.map_structure(lambda leaf: None if leaf is None else leaf[:start], (x, y, weights))
            changed.setdefault(
                "validation_data",
                keras.tree.map_structure(lambda leaf: None if leaf is None else leaf[start:], (x, y, weights)),
            )
            x, y, weights = cut
        changed["x"] = tensors.batches((x, y, weights), arguments.get("batch_size"), draw)
    held_out = changed.get("validation_data")
    if is_generator(held_out):
        changed["validation_data"] = tensors.completed(held_out)
    elif held_out is not None:
        in_order = sample_order.drawn(Era.KERAS_2_2_4, False)
        parts = (*held_out, None)[:3]
        changed["validation_data"] = tensors.batches(parts, arguments.get("batch_size"), in_order)
    elif arguments.get("validation_steps") is not None:
        changed["validation_data"] = tensors.steps()
    return changed, {**drawing, "workers": 0}  # read when they are needed, not ahead


def save(original: Method, of: str, frame: FrameType, self: Any, /, filepath: Any, *given: Any, **keywords: Any) -> Any:
    """`model.save` to a file of any name."""
    if str(filepath).endswith(".keras") and not given:
        return original(self, filepath, *given, **keywords)
    return _instead(model_files.save_model, of, frame, self, filepath, *given, **keywords)


def save_weights(
    original: Method, of: str, frame: FrameType, self: Any, /, filepath: Any, *given: Any, **keywords: Any
) -> Any:
    """`model.save_weights` to a file of any name."""
    if str(filepath).endswith(".weights.h5") and not given:
        return original(self, filepath, *given, **keywords)
    return _instead(model_files.save_weights, of, frame, self, filepath, *given, **keywords)


def load_weights(
    original: Method, of: str, frame: FrameType, self: Any, /, filepath: Any, *given: Any, **keywords: Any
) -> Any:
    """`model.load_weights` from a file of any name."""
    if str(filepath).endswith(".weights.h5") and not given:
        if os.path.isfile(filepath):
            look_over(filepath)
        return original(self, filepath, *given, **keywords)
    return _instead(model_files.load_weights, of, frame, self, filepath, *given, **keywords)


def add_loss(original: Method, of: str, frame: FrameType, self: Any, /, loss: Any, *rest: Any, **keywords: Any) -> Any:
    """`layer.add_loss`; on a functional model of a symbolic tensor, which it computes whenever it is called."""
    losses = _flatten(loss)
    if all(isinstance(each, (int, float)) for each in losses) and getattr(self, "inputs", None):
        first = keras.ops.cast(self.inputs[0], keras.config.floatx())
        losses = [keras.ops.sum(keras.ops.zeros_like(first)) + each for each in losses]
    elif all(_is_kept(each) for each in losses) and keras3.training_of_call() is None:
        kept_numbers.keep_losses(self, losses, rest[0] if rest else keywords.get("inputs"))
        return None
    symbolic = [each for each in losses if isinstance(each, keras.KerasTensor)]
    if not symbolic and isinstance(self, keras.Model) and getattr(self, "inputs", None):
        raise TypeError(
            f"{frame.f_code.co_filename}:{frame.f_lineno}: expected `add_loss` of a symbolic tensor, which is computed "
            "again whenever the model is called. Received a tensor that has been computed once "
            f"({keras.tree.map_structure(lambda each: type(each).__name__, losses)}). Hand it a function instead: "
            "`model.add_loss(lambda: ...)`, which computes it from the weights."
        )
    if not symbolic:
        return original(self, loss)  # `inputs=` said to a graph what the loss depends on
    where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
    if not isinstance(self, keras.Model) or not getattr(self, "outputs", None) or len(symbolic) < len(losses):
        raise TypeError(
            f"{where}: `add_loss` of a symbolic tensor needs a functional model, whose inputs the loss is computed "
            "from. Write a layer that computes the loss in its `call` and says `self.add_loss(loss)` there."
        )
    try:
        keras3.add_symbolic_losses(self, symbolic)
    except ValueError as error:
        raise TypeError(
            f"{where}: `add_loss` of a symbolic tensor that is not computed from the model's inputs alone. Make what "
            "it needs an input of the model."
        ) from error
    usage.record("Model.add_loss(tensor)", "a loss added whenever the model is called", frame)
    return None


def add_metric(
    original: Method,
    of: str,
    frame: FrameType,
    self: Any,
    /,
    value: Any,
    aggregation: str | None = None,
    name: str | None = None,
    **_: Any,
) -> None:
    """`layer.add_metric` of tf.keras: a value of each batch, whose mean is logged, or what a metric computed."""
    metric = metric_state.metric_of_result(value)
    if metric is not None:
        if any(metric is each for each in self.metrics):  # which is logged, by its own name
            return
        name = metric.name
    if name is None or aggregation not in (None, "mean"):
        raise ValueError(
            f"{frame.f_code.co_filename}:{frame.f_lineno}: expected `add_metric(value, name='...', "
            f"aggregation='mean')`. Received: name={name!r}, aggregation={aggregation!r}"
        )
    usage.record("Layer.add_metric", "a mean that the layer updates when it is called", frame)
    is_symbolic = isinstance(value, keras.KerasTensor)
    if is_symbolic and isinstance(self, keras.Model) and getattr(self, "inputs", None):
        symbolic_losses.add_symbolic_metric(self, name, value, of_compile=False)
        return
    metric = symbolic_losses.metric_of(self, name)  # made while the model is put together
    if not is_symbolic:
        metric.update_state(value)


def _is_kept(loss: Any) -> bool:
    return isinstance(loss, (int, float)) or (callable(loss) and not isinstance(loss, (keras.KerasTensor, keras.Layer)))


def _drawing(of: str, given: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
    """Take the arguments for drawing from generators and Sequences out of those of `fit`."""
    taken = {name: keywords.pop(name) for name in generator_methods.DRAWING if name in keywords}
    if not taken:
        return taken
    source = given[0] if given else keywords.get("x")
    return data_workers.in_threads_where_needed(of.removeprefix("keras."), taken, source)


def _fed(
    model: Any, drawing: dict[str, Any], what: str, arguments: dict[str, Any]
) -> AbstractContextManager[dict[str, Any]]:
    """Put a generator or Sequence, if there is one, where Keras can draw from it."""
    x = arguments.get("x")
    if not (is_generator(x) or is_sequence(x)):
        return nullcontext(arguments)
    if _is_parallel(model):  # which draws from generators itself
        return nullcontext({**arguments, **drawing})
    return _drawn_from(model, drawing, what, arguments)


@contextmanager
def _drawn_from(model: Any, drawing: dict[str, Any], what: str, arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    feed = generator_methods.Feed(model, **drawing, targets_of_keras_2=True)
    with feed.open():
        yield {**arguments, "x": feed.adapter(arguments["x"], what, arguments.get("steps"))}


def _is_parallel(model: Any) -> bool:
    parallel_model = sys.modules.get("parallel_compat.parallel_model")
    return parallel_model is not None and isinstance(model, parallel_model.ParallelModel)


def _in_old_order(original: Method, of: str, frame: FrameType, self: Any, /, *given: Any, **keywords: Any) -> Any:
    name = of.rpartition(".")[2]
    drawing = _drawing(of, given, keywords)
    given, resets = _resetting(name, given, keywords)
    given, keywords = _translated(of, given, keywords, frame)
    _check_compiled(self)
    arguments, drawing = _read_from_tensors(self, name, keras3.bind(name, given, keywords), drawing)
    arguments = data_forms.in_todays_structure(self, arguments, _note(of, frame))
    function = "train" if name == "train_on_batch" else "test"
    _leave_out_weights(self, function, arguments, callers.era_of(frame), _note(of, frame))
    _weigh_classes_and_samples(self, arguments, callers.era_of(frame), _note(of, frame))
    batch_logs.evaluate_in_steps(self, arguments.get("steps") is not None or arguments.get("y") is None)
    if name == "evaluate" and _is_sparse(arguments.get("x")):
        parts = [arguments.pop(part, None) for part in ("x", "y", "sample_weight")]
        arguments["x"] = _dense_batches(self, parts, arguments.pop("batch_size", None))
    on_batch = batch_logs.going_on(self, resets) if name.endswith("_on_batch") else nullcontext()
    evaluating: AbstractContextManager[None] = nullcontext()
    if name == "evaluate":
        divided = arguments.get("batch_size"), arguments.get("steps")
        evaluating = batch_logs.evaluating(self, "test", arguments.get("x"), *divided)
    with on_batch, evaluating, _fed(self, drawing, "validation", arguments) as fed:
        if "return_dict" in fed:
            results = original(self, **fed)
            return patch_points.plain_results(results) if fed["return_dict"] else results
        results = patch_points.plain_results(original(self, **fed, return_dict=True))
    return _ordered(self, results)


def _resetting(name: str, given: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], bool]:
    """Take tf.keras's `reset_metrics` out of the arguments of `train_on_batch` and `test_on_batch`."""
    place = {"train_on_batch": 4, "test_on_batch": 3}.get(name, len(given))
    if len(given) == place + 1:
        return given[:place], bool(given[place])
    return given, bool(keywords.pop("reset_metrics", True))


def _ordered(model: Any, results: dict[str, Any]) -> Any:
    """Return results as the old methods did: a list, or the loss alone."""
    ordered = [results[name] for name in compiled_metrics.in_old_order(model, results)]
    return ordered if len(ordered) > 1 else ordered[0]


def _leave_out_weights(
    model: Any, function: str, arguments: dict[str, Any], era: Era, note: Callable[[str, str], None]
) -> None:
    """Take out the weights of samples and classes that TensorFlow 1.15 left out, also those of held-out arrays."""
    if era is not Era.TF_KERAS_1_15 or arguments.get("y") is None:
        return
    left_out = "left out, as TensorFlow 1.15 did: it had trained or evaluated without, and weighed in the other since"
    weighted = any(arguments.get(name) is not None for name in _OF_WEIGHTS)
    heeded = made_functions.heeds_weights(model, function, weighted) or not weighted
    splits = weighted and arguments.get("validation_split") and arguments.get("validation_data") is None
    if splits and made_functions.heeds_weights(model, "test", weighted) != heeded:
        _split(arguments, weighs_held_out=not heeded)
        note("validation_split= with weights", left_out)
    if not heeded:
        note("sample_weight= or class_weight=", left_out)
        arguments.update({name: None for name in _OF_WEIGHTS if name in arguments})
    held_out = arguments.get("validation_data")
    if isinstance(held_out, (tuple, list)) and len(held_out) in (2, 3):
        weighted = len(held_out) == 3 and held_out[2] is not None
        if not made_functions.heeds_weights(model, "test", weighted) and weighted:
            note("validation_data= with weights", left_out)
            arguments["validation_data"] = tuple(held_out[:2])


def _split(arguments: dict[str, Any], weighs_held_out: bool) -> None:
    """Split the arrays of `fit` where only what trains, or only what evaluates, heeds weights."""
    y, weights, classes = arguments.get("y"), arguments.get("sample_weight"), arguments.get("class_weight")
    if classes is not None and not keras.tree.is_nested(y):
        weights = np.asarray(weighted_classes(y, weights, classes))
        arguments["class_weight"] = None
    fraction = arguments.pop("validation_split")
    (*data, trained), (*held_out, held_out_weights) = keras3.split((arguments["x"], y, weights), fraction)
    arguments["x"], arguments["y"] = data
    arguments["sample_weight"] = trained
    arguments["validation_data"] = (*held_out, held_out_weights) if weighs_held_out else tuple(held_out)


def _weigh_classes_and_samples(
    model: Any, arguments: dict[str, Any], era: Era, note: Callable[[str, str], None]
) -> None:
    """Make one of `class_weight` and `sample_weight`, which Keras 3 refuses together."""
    if arguments.get("sample_weight") is not None:
        compile_checks.check_weights(model, arguments["sample_weight"], arguments.get("y"))
    if arguments.get("class_weight") is not None and not len(arguments["class_weight"]):
        arguments["class_weight"] = None
    if arguments.get("class_weight") is not None and type(arguments.get("y")) is list and era.has_graphs:
        _weigh_classes_of_outputs(model, arguments, era, note)
    if arguments.get("class_weight") is not None and arguments.get("sample_weight") is None:
        _check_classes(arguments["class_weight"], arguments.get("y"), era)
    if arguments.get("class_weight") is None or arguments.get("sample_weight") is None:
        return
    classes = arguments.pop("class_weight")
    if era is Era.KERAS_2_2_4:  # `standardize_weights`
        note("class_weight= with sample_weight=", "left out, as Keras 2.2.4 did")
        return
    arguments["sample_weight"] = np.asarray(weighted_classes(arguments["y"], arguments["sample_weight"], classes))


def _weigh_classes_of_outputs(
    model: Any, arguments: dict[str, Any], era: Era, note: Callable[[str, str], None]
) -> None:
    """Make sample weights of class weights for several outputs, by name or in order.

    What is no output's name was no weight (`standardize_sample_or_class_weights`); TensorFlow 1.15 refused it.
    """
    classes, targets, names = arguments.pop("class_weight"), arguments["y"], list(model.output_names)
    if isinstance(classes, dict):
        unknown = [name for name in classes if name not in names]
        if unknown and era.is_tf_keras:
            raise ValueError(f"Expected names of outputs in `class_weight`: {names}. Received: {unknown}")
        if unknown:
            note(f"class_weight= of {unknown}", "left out, as Keras 2.2.4 did: no output has that name")
        classes = [classes.get(name) for name in names]
    if len(classes) != len(names) or len(targets) != len(names):
        raise ValueError(
            f"Expected `class_weight` and targets for {len(names)} outputs, {names}. Received: {len(classes)} dicts "
            f"and {len(targets)} targets."
        )
    weights = arguments.get("sample_weight") or [None] * len(names)
    made: list[Any] = []
    for target, weight, of_output in zip(targets, weights, classes, strict=True):
        if not isinstance(of_output, dict) or target is None or (weight is not None and not era.is_tf_keras):
            made.append(weight)
            continue
        _check_classes(of_output, target, era)
        made.append(np.asarray(weighted_classes(target, weight, of_output)))
    if any(each is not None for each in made):
        arguments["sample_weight"] = [
            np.ones(len(target), "float32") if weight is None and target is not None else weight
            for target, weight in zip(targets, made, strict=True)
        ]


def _check_classes(weights: Any, y: Any, era: Era) -> None:
    """Refuse class weights that leave out a class of the data, as Keras did before TensorFlow 2."""
    if not era.has_graphs or not isinstance(weights, dict):
        return
    if not isinstance(y, np.ndarray) or y.ndim > 2 or any(not isinstance(each, (int, np.integer)) for each in weights):
        return
    found = set(np.unique(y.argmax(axis=1) if y.ndim == 2 and y.shape[1] > 1 else y).astype(int).tolist())
    missing = sorted(found - {int(each) for each in weights})
    if missing:
        raise ValueError(
            f"Expected `class_weight` to contain all classes in the data. Received: none of {missing}. A weight of 1 "
            "changes nothing."
        )


def _weigh_held_out_samples(arguments: dict[str, Any], era: Era) -> None:
    """Weigh the samples that `validation_split` holds out by their classes, as Keras did before TensorFlow 2.

    It made weights of samples of `class_weight` first and split the data then (`Model.fit`).
    """
    classes, y = arguments.get("class_weight"), arguments.get("y")
    if not era.has_graphs or classes is None or keras.tree.is_nested(y):
        return
    if arguments.get("validation_split") and arguments.get("validation_data") is None:
        arguments["sample_weight"] = np.asarray(weighted_classes(y, None, arguments.pop("class_weight")))


def _instead(legacy: Method, of: str, frame: FrameType, self: Any, filepath: Any, *given: Any, **keywords: Any) -> Any:
    became = f"parallel_compat.legacy.models.{legacy.__name__}"
    usage.record(f"{of.removeprefix('keras.')}({str(filepath)!r})", became, frame)
    return legacy(self, filepath, *given, **keywords)


def without_compile_arguments(
    original: Method, of: str, frame: FrameType, self: Any, /, *given: Any, **keywords: Any
) -> Any:
    """`model.get_config` and `model.to_json`, of the layers alone."""
    with keras3.not_compiled(self):
        return original(self, *given, **keywords)


METHODS: dict[str, Method] = {
    "summary": summary,
    "get_config": without_compile_arguments,
    "to_json": without_compile_arguments,
    "compile": compile,
    "fit": fit,
    "evaluate": evaluate,
    "predict": predict,
    "predict_on_batch": predict_on_batch,
    "save": save,
    "save_weights": save_weights,
    "load_weights": load_weights,
    "train_on_batch": train_on_batch,
    "test_on_batch": test_on_batch,
    "add_loss": add_loss,
    "add_metric": add_metric,
}


def hand_over(model: Any, callbacks: Any, validation_data: Any, of_arrays: dict[str, int] | None = None) -> None:
    """Give callbacks the fields that Keras 2's `fit` set: `validation_data`, and more of `params`.

    Args:
        model: the model that is trained.
        callbacks: as given to `fit`.
        validation_data: as given to `fit`; set where it is arrays.
        of_arrays: `batch_size` and `samples`, where the training data is arrays.
    """
    arrays = _arrays(validation_data)
    of_tf_keras = object_eras.era_of_object(model).is_tf_keras
    for callback in _flatten(callbacks) if callbacks else ():
        if isinstance(callback, keras.callbacks.Callback):
            callback_params.extend(callback, do_validation=validation_data is not None, **(of_arrays or {}))
            if arrays is not None and not of_tf_keras:
                callback.validation_data = arrays


def _is_arrays(validation_data: Any) -> bool:
    return isinstance(validation_data, (tuple, list)) or validation_data is None


def _of_arrays(arguments: dict[str, Any]) -> dict[str, Any]:
    sizes = {int(each.shape[0]) for each in _flatten(arguments.get("x")) if getattr(each, "shape", ())}
    if len(sizes) != 1 or arguments.get("y") is None:
        return {}
    count = sizes.pop()
    if arguments.get("validation_split") and arguments.get("validation_data") is None:
        count = int(count * (1 - arguments["validation_split"]))
    return {
        "batch_size": arguments.get("batch_size") or 32,
        "samples": count,
        "steps": arguments.get("steps_per_epoch"),
    }


def _validation_data(arguments: dict[str, Any]) -> Any:
    """Return what `fit` validates on: as given, or the last samples of the arrays that it trains on."""
    part = arguments.get("validation_split")
    if arguments.get("validation_data") is not None or not part or arguments.get("y") is None:
        return arguments.get("validation_data")
    data: tuple[Any, ...] = (arguments["x"], arguments["y"])
    if arguments.get("sample_weight") is not None:
        data = (*data, arguments["sample_weight"])
    sizes = {int(each.shape[0]) for each in _flatten(data) if hasattr(each, "shape")}
    if len(sizes) != 1:
        return None
    start = int(sizes.pop() * (1 - part))
    return keras.tree.map_structure(lambda each: each[start:] if hasattr(each, "shape") else each, data)


def _arrays(validation_data: Any) -> list[Any] | None:
    if not isinstance(validation_data, (tuple, list)) or len(validation_data) < 2:
        return None
    x, y = to_list(validation_data[0], allow_tuple=True), to_list(validation_data[1], allow_tuple=True)
    if not all(getattr(each, "shape", ()) for each in (*x, *y)):
        return None
    weights = validation_data[2] if len(validation_data) > 2 else [np.ones(each.shape[0]) for each in y]
    with_two_axes = [each[:, None] if len(each.shape) == 1 else each for each in (*x, *y)]
    return [*with_two_axes, *to_list(weights, allow_tuple=True)]


def _translated(
    of: str, given: tuple[Any, ...], keywords: dict[str, Any], frame: FrameType
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return translate(of, given, keywords, _note(of, frame))


def _note(of: str, frame: FrameType) -> Callable[[str, str], None]:
    short = of.removeprefix("keras.")
    return lambda old, became: usage.record(f"{short}({old})", became, frame)


def _optimizer(name: str, frame: FrameType, era: Era) -> Any:
    from parallel_compat.legacy import optimizers

    kind = {**optimizers_by_name(), "rmsprop": "RMSprop"}.get(name.lower())
    if kind is None:
        return name
    today = getattr(keras.optimizers, kind)
    made = today.__new__(today)
    of = f"keras.optimizers.{kind}"
    rows = ", ".join(f"{argument}={value}" for argument, value in of_era(of, era).items())
    usage.record(f"Model.compile(optimizer={name!r})", f"{of}({rows})", frame)
    optimizers.initialize(today.__init__, made, of, (), {}, era=era)
    return made


def _for_one_compile(optimizer: Any, frame: FrameType) -> Any:
    """Return the optimizer, or a copy of one that was compiled before (in a GAN: one `Adam` for both models)."""
    from parallel_compat.legacy import optimizers

    given = optimizers.for_one_compile(optimizer)
    if given is not optimizer:
        usage.record(
            "Model.compile with an optimizer that was compiled before", "a copy with the same learning rate", frame
        )
    return given


def _for_each_output(model: Any, metrics: Any) -> Any:
    """Give a flat list of metrics to every output, as Keras 2 did; Keras 3 wants a list per output."""
    count = len(getattr(model, "output_names", None) or ())
    is_flat = isinstance(metrics, (list, tuple)) and not any(isinstance(m, (list, tuple, dict)) for m in metrics)
    return [list(metrics) for _ in range(count)] if count > 1 and is_flat and metrics else metrics


def _renamed(given: Any, kind: str, frame: FrameType) -> Any:
    if kind == "loss" and given is metric_functions.COSINE_LOSS:
        return keras.losses.cosine_similarity  # whose sign is the compiled model's
    if callers.era_of(frame) is Era.KERAS_2_2_4:
        old = losses.of_keras_2(given)
        if old is not None:
            usage.record(f"{kind} {old.__name__!r}", f"{old.__module__}.{old.__name__}", frame)
            return old
    if isinstance(given, str):
        if kind == "metric" and given in COSINE_METRICS:
            usage.record(f"{kind} {given!r}", COSINE_PROXIMITY, frame)
            return losses.cosine_proximity
        row = identifiers()[kind].get(given)
        if row is None:
            return given
        usage.record(f"{kind} {given!r}", repr(row.new), frame)
        return row.new
    if isinstance(given, dict):
        return {key: _renamed(value, kind, frame) for key, value in given.items()}
    if isinstance(given, (list, tuple)):
        return [_renamed(value, kind, frame) for value in given]
    return given
