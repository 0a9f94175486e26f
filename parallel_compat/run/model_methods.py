"""The methods of `keras.Model` with their old arguments, as `run` puts them on the class.

Each function is called for the user's code, with the method that stands there, and translates the arguments first.

"""

from __future__ import annotations

import functools
import os
import warnings
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import (
    held_metrics,
    kept_from_calls,
    metric_state,
    numbers_of_variables,
    patch_points,
    symbolic_losses,
    symbolic_values,
    users_strategies,
)
from parallel_compat.batches import generator_methods, ordered_batches
from parallel_compat.batches.batch import weighted_classes
from parallel_compat.batches.sources import is_generator, is_sequence
from parallel_compat.legacy import (
    compiled_metrics,
    compiled_weights,
    data_tensors,
    execution,
    kept_numbers,
    model_files,
    printed_lines,
)
from parallel_compat.legacy import summary as legacy_summary
from parallel_compat.legacy.numbers import (
    assigned_numbers,
    batch_logs,
    callback_params,
    logs,
    sample_order,
    stops_within_epochs,
)
from parallel_compat.names.eras import Era
from parallel_compat.recover.reader import look_over
from parallel_compat.run import callers, data_forms, data_workers, object_eras, usage, whole_arrays
from parallel_compat.run.compiling import compile, get_config, to_json, trained_on_arrays
from parallel_compat.run.drawing import (
    in_drawn_order,
    iterate_once_before,
    keeps_order,
    look_at_first_batch,
    lose_what_a_look_read,
    lose_what_is_read_ahead,
    note_batches,
    size_of_batches,
    take_images_in_turn,
)
from parallel_compat.run.given_weights import leave_out_weights, weigh_classes_and_samples, weigh_held_out_samples
from parallel_compat.run.method_arguments import (
    as_inputs,
    check_steps,
    dense,
    flatten,
    in_batches,
    in_whole_steps,
    is_parallel,
    is_sparse,
    note_of_method,
    translated,
)
from parallel_compat.run.validation_data import are_arrays, fields_of_arrays, hand_over, samples_of_arrays, validated_on
from parallel_compat.training.trainable_flags import as_compiled
from parallel_compat.warning_category import ParallelCompatWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from types import FrameType

    Method = Callable[..., Any]

# What is drawn from, and how many batches of it.
_VALIDATION = ("validation_data", "validation_steps")
_STEPS = (("generator", "steps"),)


def fit(original: Method, of: str, frame: FrameType, self: Any, /, *given: Any, **keywords: Any) -> Any:
    """`model.fit` with Keras 1's `nb_epoch`, generators that yield lists, and what callbacks were given."""
    say_if_flags_differ(self)
    drawing = _drawing(of, given, keywords)
    given, keywords = translated(of, given, keywords, frame)
    _check_compiled(self)
    assigned_numbers.take_into_graph(self)
    arguments = keras3.bind("fit", given, keywords)
    check_steps(arguments)
    era = object_eras.trained_as(callers.era_of(frame))
    if era is Era.TF_KERAS_2_2 and arguments.get("validation_split"):
        arguments["validation_data"] = None  # of the two the split counted
    held_out = arguments.get("validation_data")
    arguments, drawing = _read_from_tensors(self, "fit", arguments, drawing)
    arguments = data_forms.in_todays_structure(self, arguments, note_of_method(of, frame))
    leave_out_weights(self, "train", arguments, era, note_of_method(of, frame))
    weigh_classes_and_samples(self, arguments, era, note_of_method(of, frame))
    weigh_held_out_samples(arguments, era)
    held_out = validated_on(arguments) if held_out is None else held_out
    held_out_steps = arguments.get("validation_steps")
    arguments = in_whole_steps(whole_arrays.divided_by_steps(arguments, "steps_per_epoch", era))
    of_arrays = fields_of_arrays(arguments)
    hand_over(self, arguments.get("callbacks"), held_out, of_arrays)
    samples = of_arrays.get("samples") if arguments.get("steps_per_epoch") is None else None
    lines = printed_lines.of_fit(self, arguments.get("verbose", 1), samples, samples_of_arrays(held_out))
    given_x = arguments.get("x")
    arguments, drawing = whole_arrays.in_steps(arguments, drawing, era)
    batch_logs.takes_all(self, arguments.get("x") is not given_x)
    if drawing.get("workers") == 0:
        take_images_in_turn(self, arguments, drawing, (("x", "steps_per_epoch"), _VALIDATION))
    look_at_first_batch(self, arguments.get("x"))
    iterate_once_before(self, arguments)
    lose_what_is_read_ahead(self, arguments, drawing)
    lose_what_a_look_read(self, arguments, drawing)
    in_steps = not fields_of_arrays(arguments) or arguments.get("validation_steps") is not None
    batch_logs.evaluate_in_steps(
        self, (in_steps and not execution.is_eager()) or not are_arrays(arguments.get("validation_data"))
    )
    batch_logs.train_in_steps(self, isinstance(arguments.get("x"), tf.data.Dataset) and not execution.is_eager())
    note_batches(self, "train", {**arguments, "validation_data": held_out}, size_of_batches(self, arguments))
    arguments = in_drawn_order(self, arguments)
    if keeps_order(self, arguments.get("x"), drawing.get("workers")):
        arguments["shuffle"] = False
    x, held = arguments.get("x"), arguments.get("validation_data")
    in_batches_of_training = (
        era in (Era.KERAS_2_3, Era.TF_KERAS_1_15)
        and (is_generator(x) or is_sequence(x))
        and generator_methods.ArrayBatches.takes(held)
    )
    takes_part = execution.is_eager() and held_out_steps is not None
    asked_for = None if in_batches_of_training else held_out_steps
    batch_logs.evaluate_part_of(self, samples_of_arrays(held_out) if takes_part else None, asked_for)
    size = arguments.get("validation_batch_size") or arguments.get("batch_size")
    held_x = held_out[0] if isinstance(held_out, (tuple, list)) else None
    evaluating = batch_logs.evaluating(self, "test", held_x, size, arguments.get("validation_steps"))
    keeps_function = trained_on_arrays(self, era) if of_arrays and not execution.is_eager() else nullcontext()
    with lines, evaluating, keeps_function, batch_logs.training(self):
        if is_parallel(self) and not in_batches_of_training:  # which draws from generators itself
            history = original(self, **arguments, **drawing)
        else:
            feed = generator_methods.Feed(self, **drawing, targets_of_keras_2=True)
            if in_batches_of_training:  # its `fit` was its `fit_generator`
                arguments["validation_data"] = generator_methods.ArrayBatches(held, feed)
                arguments["validation_steps"] = None
            history = generator_methods.fit(self, feed, arguments, functools.partial(original, self))
    callback_params.complete(history, do_validation=held_out is not None, **of_arrays)
    return history


def summary(original: Method, of: str, frame: FrameType, self: Any, /, *given: Any, **keywords: Any) -> Any:
    """`model.summary` in the lines of its time, with a word on flags that differ from those that were compiled."""
    say_if_flags_differ(self)
    if object_eras.era_of_object(self) is Era.TODAY:
        return original(self, *given, **keywords)
    return legacy_summary.print_summary(self, *given, **keywords)


def say_if_flags_differ(model: Any) -> None:
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
    take_images_in_turn(model, arguments, arguments, (("generator", "steps_per_epoch"), _VALIDATION))
    hand_over(model, arguments.get("callbacks"), arguments.get("validation_data"))
    batch_logs.evaluate_in_steps(model, True)
    held_out = arguments.get("validation_data")
    in_steps = is_generator(held_out) or is_sequence(held_out)
    batch_logs.evaluate_part_of(model, None, arguments.get("validation_steps") if in_steps else None)
    of_dataset = isinstance(arguments.get("generator"), tf.data.Dataset)
    batch_logs.train_in_steps(model, of_dataset and not execution.is_eager())
    look_at_first_batch(model, arguments.get("generator"))
    iterate_once_before(model, arguments, "generator")
    lose_what_is_read_ahead(model, arguments, arguments)
    if arguments.get("class_weight") is not None and data_forms.is_ignored(model, arguments["class_weight"]):
        warnings.warn(
            f"class_weight={arguments['class_weight']!r} is left out, as Keras 2 did. Expected a dict of class -> "
            f"weight, or one for each of the outputs {data_forms.output_names(model)}, by name or in order.",
            ParallelCompatWarning,
            stacklevel=2,
        )
        arguments["class_weight"] = None
    _complete_generators(arguments)
    _note_drawn_batches(model, "train", arguments)
    with as_compiled(model), batch_logs.training(model):
        if keeps_order(model, arguments.get("generator"), arguments.get("workers")):
            arguments["shuffle"] = False
        history = generator_methods.fit_generator(**arguments)
    callback_params.complete(history, do_validation=arguments.get("validation_data") is not None)
    return history


def _evaluate_generator(**arguments: Any) -> Any:
    model = arguments["model"]
    _check_compiled(model)
    take_images_in_turn(model, arguments, arguments, _STEPS)
    stops_within_epochs.forget(model)
    _with_history(model, arguments)
    batch_logs.evaluate_in_steps(model, True)
    batch_logs.evaluate_part_of(model, None, arguments.get("steps"))
    _complete_generators(arguments)
    _note_drawn_batches(model, "test", arguments)
    with as_compiled(model), batch_logs.apart(model):
        results = generator_methods.evaluate_generator(**arguments, return_dict=True)
        return _ordered(model, logs.of_epoch(results, object_eras.era_of_training(model)))


def _predict_generator(**arguments: Any) -> Any:
    take_images_in_turn(arguments["model"], arguments, arguments, _STEPS)
    _complete_generators(arguments)
    stops_within_epochs.forget(arguments["model"])
    _with_history(arguments["model"], arguments)
    _note_drawn_batches(arguments["model"], "predict", arguments)
    batch_logs.predicts(arguments["model"])
    return generator_methods.predict_generator(**arguments)


def _with_history(model: Any, arguments: dict[str, Any]) -> None:
    """Let `evaluate` and `predict` give a model a history of their own, an empty one, as TensorFlow 2.2's loops did."""
    if object_eras.era_of_training(model) is not Era.TF_KERAS_2_2:
        return
    given = keras.tree.flatten(arguments["callbacks"]) if arguments.get("callbacks") else []
    if not any(isinstance(each, (keras.callbacks.History, keras.callbacks.CallbackList)) for each in given):
        arguments["callbacks"] = [*given, keras.callbacks.History()]


def _note_drawn_batches(model: Any, kind: str, arguments: dict[str, Any]) -> None:
    note_batches(model, kind, {"x": arguments.get("generator"), "validation_data": arguments.get("validation_data")})


def _complete_generators(arguments: dict[str, Any]) -> None:
    """Let generators' batches have what the model reads from tensors, in at least one step."""
    check_steps(arguments)
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
    return _in_old_order(original, of, frame, self, *given, **keywords)


def test_on_batch(original: Method, of: str, frame: FrameType, self: Any, /, *given: Any, **keywords: Any) -> Any:
    """`model.test_on_batch`, its list in the old order."""
    return _in_old_order(original, of, frame, self, *given, **keywords)


def predict(original: Method, of: str, frame: FrameType, self: Any, /, *given: Any, **keywords: Any) -> Any:
    """`model.predict`, silent by default as it was."""
    drawing = _drawing(of, given, keywords)
    given, keywords = translated(of, given, keywords, frame)
    arguments = in_whole_steps(keras3.bind("predict", given, keywords))
    check_steps(arguments)
    arguments, drawing = _read_from_tensors(self, "predict", arguments, drawing)
    arguments = data_forms.in_todays_structure(self, arguments, note_of_method(of, frame))
    arguments.setdefault("verbose", 0)
    lose_what_a_look_read(self, arguments, drawing)
    predicted = arguments["x"]
    if object_eras.era_of_training(self).is_standalone and fields_of_arrays(arguments).get("samples") == 0:
        return []  # as its loop did; Keras 3 ends in an error
    arguments = whole_arrays.inputs_in_steps(arguments, object_eras.trained_as(callers.era_of(frame)))
    if isinstance(arguments["x"], list) and any(each is None for each in arguments["x"]):
        raise ValueError(f"Expected an array for each input of '{self.name}'. Received: None among them")
    if is_sparse(arguments["x"]):
        arguments["x"] = in_batches(self, [arguments["x"]], arguments.pop("batch_size", None))
    divided = arguments.get("batch_size"), arguments.get("steps")
    note_batches(self, "predict", arguments, arguments.get("batch_size") or 32)
    batch_logs.predicts(self)
    stops_within_epochs.forget(self)
    _with_history(self, arguments)
    evaluating = batch_logs.evaluating(self, "predict", predicted, *divided)
    with evaluating, _fed(self, drawing, "prediction", arguments) as fed:
        return original(self, **fed)


def predict_on_batch(original: Method, of: str, frame: FrameType, self: Any, /, *given: Any, **keywords: Any) -> Any:
    """`model.predict_on_batch`, of inputs that may be read from tensors."""
    arguments, _ = _read_from_tensors(self, "predict_on_batch", keras3.bind("predict_on_batch", given, keywords), {})
    note_batches(self, "predict", arguments)
    x = as_inputs(self, arguments["x"])
    if users_strategies.has_replicas(self):  # each of which Keras 3 gives all of it, and returns one behind the other
        return self.predict(x, batch_size=len(flatten(x)[0]), verbose=0)
    return original(self, **{**arguments, "x": x})


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
    draw = sample_order.drawn(object_eras.era_of_training(model), arguments.get("shuffle", True) and name == "fit")
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
    losses, in_no_call = flatten(loss), keras3.training_of_call() is None
    if in_no_call and _counts_what_inputs_lead_to(self, callers.era_of(frame)):
        losses = [each for each in losses if not _is_left_out(each, frame)]
        if not losses:
            return None
    if all(isinstance(each, (int, float)) for each in losses) and getattr(self, "inputs", None):
        first = keras.ops.cast(self.inputs[0], keras.config.floatx())
        losses = [keras.ops.sum(keras.ops.zeros_like(first)) + each for each in losses]
    elif in_no_call and _adds_to_graph(self, callers.era_of(frame)):
        # In `build`, or from outside: a number that was computed of weights, which are others in the next step.
        losses = [
            functools.partial(numbers_of_variables.as_of_now, each) if _is_number(each) else each for each in losses
        ]
    if in_no_call and all(_is_kept(each) for each in losses):
        kept_numbers.keep_losses(self, losses, rest[0] if rest else keywords.get("inputs"))
        return None
    symbolic = [each for each in losses if isinstance(each, keras.KerasTensor)]
    if not symbolic and (
        _has_inputs(self) or (in_no_call and _is_refused_outside_calls(losses, callers.era_of(frame)))
    ):
        raise TypeError(
            f"{frame.f_code.co_filename}:{frame.f_lineno}: expected `add_loss` of a symbolic tensor, which is computed "
            "again whenever the model is called. Received a tensor that has been computed once "
            f"({keras.tree.map_structure(lambda each: type(each).__name__, losses)}). Hand it a function instead: "
            "`add_loss(lambda: ...)`, which computes it from the weights."
        )
    if not symbolic:
        keras3.note_added_loss(self)
        of_calls = [each for each in losses if kept_from_calls.is_of_another_graph(each)]
        if of_calls and not all(kept_from_calls.add_loss_of_calls(self, each) for each in of_calls):
            raise TypeError(
                f"{frame.f_code.co_filename}:{frame.f_lineno}: `add_loss` of a tensor that a call of a layer made, "
                "which is computed anew in each step. Say `self.add_loss(loss)` in that `call`, or keep the tensor in "
                "an attribute of this layer there (`self.loss = loss`) and add that."
            )
        if of_calls:
            return None
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
    if object_eras.era_of_object(self).is_tf_keras:
        _hold_layers_of(self, symbolic, where)
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
    """`layer.add_metric` of Keras 2.3 and tf.keras: a value of each batch, whose mean is logged, or of a metric."""
    if object_eras.era_of_object(self) is Era.KERAS_2_3 and name is None:
        aggregation, name = None, aggregation  # it had no `aggregation`
    metric = metric_state.metric_of_result(value)
    if metric is not None:
        if any(metric is each for each in keras3.layer_metrics(self)):  # which is logged, by its own name
            held_metrics.note_added(self, metric)
            return
        name = metric.name
    if name is None or aggregation not in (None, "mean"):
        raise ValueError(
            f"{frame.f_code.co_filename}:{frame.f_lineno}: expected `add_metric(value, name='...', "
            f"aggregation='mean')`. Received: name={name!r}, aggregation={aggregation!r}"
        )
    usage.record("Layer.add_metric", "a mean that the layer updates when it is called", frame)
    is_symbolic = isinstance(value, keras.KerasTensor)
    if is_symbolic and _has_inputs(self):
        symbolic_losses.add_symbolic_metric(self, name, value, of_compile=False)
        if object_eras.era_of_object(self).is_tf_keras:
            _hold_layers_of(self, [value], f"{frame.f_code.co_filename}:{frame.f_lineno}")
        return
    if _is_number(value) and _has_inputs(self):
        if not execution.computes_in_graphs(callers.era_of(frame)):
            raise ValueError(
                f"{frame.f_code.co_filename}:{frame.f_lineno}: expected a symbolic tensor for the value of "
                f"`add_metric(name={name!r})` of '{self.name}', which is computed again whenever the model is called. "
                "Received: a number that has been computed once. Write a layer that computes it in its `call` and says "
                "`self.add_metric(value, name=..., aggregation='mean')` there."
            )
        of_now = functools.partial(numbers_of_variables.as_of_now, value)
        symbolic_losses.add_symbolic_metric(self, name, of_now, of_compile=False)
        return
    metric = symbolic_losses.metric_of(self, name)  # made while the model is put together
    held_metrics.note_added(self, metric)
    if not is_symbolic:
        metric.update_state(value)


def _hold_layers_of(model: Any, tensors: list[Any], where: str) -> None:
    """Let a model of tf.keras have the layers that what is added to it is computed by."""
    try:
        keras3.hold_layers_of(model, tensors)
    except TypeError as error:
        raise TypeError(
            f"{where}: a tensor that is computed by layers with weights of their own, which `tf.keras` trained with "
            "the model, needs a functional model. Make one of this: `Model(model.inputs, model.outputs)`."
        ) from error


def _has_inputs(layer: Any) -> bool:
    """Whether a layer is a functional or Sequential model that has been put together."""
    return isinstance(layer, keras.Model) and bool(getattr(layer, "inputs", None))


def _adds_to_graph(layer: Any, era: Era) -> bool:
    """Whether a tensor that is added counts as in a graph; TensorFlow 1.15 left it out of a functional model's loss."""
    return execution.computes_in_graphs(era) and (era.is_standalone or not _has_inputs(layer))


def _counts_what_inputs_lead_to(layer: Any, era: Era) -> bool:
    return _has_inputs(layer) and era is Era.TF_KERAS_1_15 and execution.computes_in_graphs(era)


def _is_refused_outside_calls(losses: list[Any], era: Era) -> bool:
    return era is Era.TF_KERAS_2_2 and not keras3.layers_being_built() and any(map(_is_number, losses))


def _is_left_out(loss: Any, frame: FrameType) -> bool:
    """Say whether a loss of a functional model is computed from none of its inputs: TensorFlow 1.15 trained without."""
    if isinstance(loss, keras.KerasTensor):
        if symbolic_values.input_tensors_of([loss]):
            return False
    elif not (isinstance(loss, (int, float)) or _is_number(loss)):
        return False
    usage.record("Model.add_loss(tensor) without inputs", "left out, as TensorFlow 1.15 did", frame)
    warnings.warn(
        f"{frame.f_code.co_filename}:{frame.f_lineno}: `add_loss` of a tensor that is computed from no input of a "
        "model (of weights alone, for example) is left out, as TensorFlow 1.15 did. To train with it, hand over a "
        "function: `model.add_loss(lambda: ...)`.",
        ParallelCompatWarning,
        stacklevel=3,
    )
    return True


def _is_number(loss: Any) -> bool:
    return isinstance(loss, tf.Tensor) and hasattr(loss, "numpy")


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
    if not (is_generator(x) or is_sequence(x) or isinstance(x, tf.data.Dataset)):
        return nullcontext(arguments)
    if is_parallel(model):  # which draws from generators itself
        return nullcontext({**arguments, **drawing})
    return _drawn_from(model, drawing, what, arguments)


@contextmanager
def _drawn_from(model: Any, drawing: dict[str, Any], what: str, arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    feed = generator_methods.Feed(model, **drawing, targets_of_keras_2=True)
    with feed.open():
        yield {**arguments, "x": feed.adapter(arguments["x"], what, arguments.get("steps"))}


def _in_old_order(original: Method, of: str, frame: FrameType, self: Any, /, *given: Any, **keywords: Any) -> Any:
    name = of.rpartition(".")[2]
    drawing = _drawing(of, given, keywords)
    given, resets = _resetting(name, given, keywords)
    given, keywords = translated(of, given, keywords, frame)
    _check_compiled(self)
    arguments = keras3.bind(name, given, keywords)
    check_steps(arguments)
    arguments, drawing = _read_from_tensors(self, name, arguments, drawing)
    arguments = data_forms.in_todays_structure(self, arguments, note_of_method(of, frame))
    function = "train" if name == "train_on_batch" else "test"
    era = object_eras.trained_as(callers.era_of(frame))
    leave_out_weights(self, function, arguments, era, note_of_method(of, frame))
    weigh_classes_and_samples(self, arguments, era, note_of_method(of, frame))
    evaluated, steps = arguments.get("x"), arguments.get("steps")
    if name == "evaluate":
        stops_within_epochs.forget(self)
        _with_history(self, arguments)
        lose_what_a_look_read(self, arguments, drawing)
        arguments = in_whole_steps(whole_arrays.divided_by_steps(arguments, "steps", era))
        arguments, drawing = whole_arrays.evaluated_in_steps(arguments, drawing, era)
    in_steps = steps is not None
    batch_logs.evaluate_in_steps(self, (in_steps and not execution.is_eager()) or arguments.get("y") is None)
    takes_part = name == "evaluate" and in_steps and execution.is_eager()
    batch_logs.evaluate_part_of(self, samples_of_arrays((evaluated,)) if takes_part else None, steps)
    if name == "evaluate" and is_sparse(arguments.get("x")):
        parts = [arguments.pop(part, None) for part in ("x", "y", "sample_weight")]
        arguments["x"] = in_batches(self, parts, arguments.pop("batch_size", None))
    note_batches(self, function, arguments, arguments.get("batch_size") or 32 if name == "evaluate" else None)
    if name.endswith("_on_batch"):
        arguments["x"], arguments["y"] = as_inputs(self, arguments["x"]), dense(arguments.get("y"))
    on_batch = batch_logs.going_on(self, resets) if name.endswith("_on_batch") else nullcontext()
    evaluating: AbstractContextManager[None] = nullcontext()
    if name == "evaluate":
        divided = arguments.get("batch_size"), arguments.get("steps")
        evaluating = batch_logs.evaluating(self, "test", evaluated, *divided)
    counted = batch_logs.apart(self, resets and name.endswith("_on_batch"))
    with counted, on_batch, evaluating, _fed(self, drawing, "validation", arguments) as fed:
        if "return_dict" in fed:
            results = original(self, **fed)
            return _in_order(self, function, results) if fed["return_dict"] else results
        results = patch_points.plain_results(original(self, **fed, return_dict=True))
    if era is Era.TF_KERAS_2_2 and keras3.has_own_step(self, function):
        listed = [results.get(each) for each in compiled_metrics.metrics_names(self)]  # whatever its step returned
        return listed[0] if len(listed) == 1 else listed
    as_then = logs.of_epoch if name == "evaluate" else logs.of_batch
    return _ordered(self, as_then(results, object_eras.era_of_training(self)))


def _resetting(name: str, given: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], bool]:
    """Take tf.keras's `reset_metrics` out of the arguments of `train_on_batch` and `test_on_batch`."""
    place = {"train_on_batch": 4, "test_on_batch": 3}.get(name, len(given))
    if len(given) == place + 1:
        return given[:place], bool(given[place])
    return given, bool(keywords.pop("reset_metrics", True))


def _in_order(model: Any, function: str, results: dict[str, Any]) -> dict[str, Any]:
    """Return results by name as TensorFlow 2.2 did: in the order of the metrics, or as a step of the user's did."""
    results = patch_points.plain_results(results)
    if keras3.has_own_step(model, function):
        return batch_logs.as_returned(model, results)
    return {name: results[name] for name in compiled_metrics.in_old_order(model, results)} | results


def _ordered(model: Any, results: dict[str, Any]) -> Any:
    """Return results as the old methods did: a list, or the loss alone."""
    ordered = [results[name] for name in compiled_metrics.in_old_order(model, results)]
    return ordered if len(ordered) > 1 else ordered[0]


def _instead(legacy: Method, of: str, frame: FrameType, self: Any, filepath: Any, *given: Any, **keywords: Any) -> Any:
    became = f"parallel_compat.legacy.models.{legacy.__name__}"
    usage.record(f"{of.removeprefix('keras.')}({str(filepath)!r})", became, frame)
    return legacy(self, filepath, *given, **keywords)


METHODS: dict[str, Method] = {
    "summary": summary,
    "get_config": get_config,
    "to_json": to_json,
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
