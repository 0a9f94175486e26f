"""`fit`, `evaluate`, `predict` and their relatives on arrays in memory: slices of the arrays go straight into the step.

Keras builds a `tf.data` pipeline, and traces a function around it, in each of these calls. Here functions stay with the
model (`step_function`), and logs stay on the device until somebody reads them. Everything else is as in Keras's own
loops: callbacks, logs, history, what is printed, errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from parallel_compat.backend import keras3
from parallel_compat.batches.array_batches import batches
from parallel_compat.training.step_function import Results, step_function

# What a model's class must not override, for each call.
_STEPS = {
    "fit": ("train_step", "make_train_function", "reset_metrics", "get_metrics_result"),
    "evaluate": ("test_step", "make_test_function", "reset_metrics", "get_metrics_result"),
    "predict": ("predict_step", "make_predict_function"),
    "train_on_batch": ("train_step", "make_train_function", "reset_metrics", "get_metrics_result"),
    "test_on_batch": ("test_step", "make_test_function", "reset_metrics", "get_metrics_result"),
    "predict_on_batch": ("predict_step", "make_predict_function"),
}
# Where callbacks say that a loop shall end.
_STOP = {"train": "stop_training", "test": "stop_evaluating", "predict": "stop_predicting"}
_FUNCTIONS = {"fit": "train", "train_on_batch": "train", "evaluate": "test", "test_on_batch": "test"}


def why_keras_loop(name: str, model: keras.Model, arguments: dict[str, Any]) -> str | None:
    """Return why a call needs Keras's own loop; None if it is one on arrays in memory."""
    if "_use_cached_eval_dataset" in arguments:
        return "a validation inside of Keras's own `fit`"
    for argument in ("steps_per_epoch", "steps", "validation_steps"):
        if arguments.get(argument) is not None:
            return f"`{argument}` counts batches"
    data = [arguments.get(argument) for argument in ("x", "y", "sample_weight")]
    validation = arguments.get("validation_data")
    if validation is not None:
        if not isinstance(validation, (tuple, list)) or not 2 <= len(validation) <= 3:
            return "validation on something else than arrays"
        data += validation
    if data[0] is None:
        return "data that is not numpy arrays or tensors of numbers"
    for part in data:
        for leaf in (part,) if part is None or type(part) is np.ndarray else keras.tree.flatten(part):
            if leaf is None:
                continue
            if not keras3.in_memory.is_array(leaf):
                return "data that is not numpy arrays or tensors of numbers"
            if leaf.shape[0] == 0:
                return "no samples"
    steps = _STEPS[name]
    if name == "fit" and (validation is not None or arguments.get("validation_split")):
        steps = (*steps, *_STEPS["evaluate"], "evaluate")
    if not keras3.in_memory.is_defined_by(model, steps, keras3.in_memory.OWN_PACKAGES):
        return "the model's class overrides the step or the loop"
    function = getattr(model, f"{_FUNCTIONS.get(name, 'predict')}_function")
    if function is not None and not str(getattr(function, "__module__", "")).startswith(
        (*keras3.in_memory.OWN_PACKAGES, "tensorflow.")
    ):
        return "a train, test or predict function set by the user"
    if "predict" not in name and model.compiled and not keras3.in_memory.can_build_compiled(model):
        return "outputs that are not known before the first batch"
    if keras3.data_adapters.is_built_under_a_strategy(model):
        return "a model made under a `tf.distribute` strategy"
    if model.run_eagerly or model.jit_compile or model.steps_per_execution != 1:
        return "run_eagerly, jit_compile or steps_per_execution"
    if isinstance(arguments.get("callbacks"), keras.callbacks.CallbackList):
        return "a `CallbackList`"
    is_limited = keras.config.max_epochs() or keras.config.max_steps_per_epoch()
    return "KERAS_MAX_EPOCHS or KERAS_MAX_STEPS_PER_EPOCH" if is_limited else None


def call(name: str, model: keras.Model, keras_loop: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Call a method of a model: here if it is on arrays in memory, else with Keras's own loop."""
    if why_keras_loop(name, model, arguments) is not None:
        return keras_loop(**arguments)
    return _CALLS[name](model, **arguments)


class EpochLogs:
    """Keeps the logs of an epoch's last batch: metrics accumulate over the batches."""

    def __init__(self) -> None:
        self._last: Results | None = None

    def add(self, results: Results) -> None:
        """Add the results of a batch."""
        self._last = results

    def read(self) -> dict[str, Any]:
        """Return the logs, which are also what callbacks get after a batch."""
        return {} if self._last is None else self._last.read()


class Outputs:
    """The outputs of the batches of a prediction."""

    def __init__(self) -> None:
        self.batches: list[Any] = []

    def add(self, outputs: Any) -> None:
        """Add the outputs of a batch."""
        self.batches.append(outputs)

    def read(self) -> dict[str, Any]:
        """Return what callbacks get after a batch."""
        return {"outputs": self.batches[-1]}


# What a model has while it is in an epoch of arrays in memory.
IN_EPOCH = "_parallel_compat_in_epoch"
_LEAVES_OUT = "_parallel_compat_leaves_out"


def leave_out_batches(model: keras.Model, count: int, then: Callable[[], None]) -> None:
    """Let the epoch that begins leave out its first batches.

    Args:
        then: called before the next batch.
    """
    vars(model)[_LEAVES_OUT] = (count, then)


def fit(
    model: keras.Model,
    x: Any = None,
    y: Any = None,
    batch_size: int | None = None,
    epochs: int = 1,
    verbose: Any = "auto",
    callbacks: Any = None,
    validation_split: float = 0.0,
    validation_data: Any = None,
    shuffle: Any = True,
    class_weight: Any = None,
    sample_weight: Any = None,
    initial_epoch: int = 0,
    steps_per_epoch: None = None,
    validation_steps: None = None,
    validation_batch_size: int | None = None,
    validation_freq: Any = 1,
) -> keras.callbacks.History:
    """Train as `keras.Model.fit`."""
    keras3.in_memory.assert_compiled(model)
    if validation_split and validation_data is None:
        (x, y, sample_weight), validation_data = keras3.in_memory.split((x, y, sample_weight), validation_split)
    data = keras3.in_memory.ArrayData(x, y, sample_weight, batch_size, class_weight)
    validation = None
    listed = keras3.in_memory.callback_list(
        model, callbacks, history=True, verbose=verbose, epochs=epochs, steps=data.batches
    )
    model.stop_training = False
    listed.on_train_begin()
    logs = None
    for epoch in range(keras3.in_memory.initial_epoch(model, initial_epoch), epochs):
        results = EpochLogs()
        model.reset_metrics()
        vars(model)[IN_EPOCH] = True
        listed.on_epoch_begin(epoch)
        _run(model, "train", step_function(model, "train"), data, results, listed, shuffle)
        logs = dict(results.read())
        vars(model).pop(IN_EPOCH, None)  # a callback may have called `fit` of this model
        if validation_data is not None and keras3.in_memory.validates_after(model, epoch, validation_freq):
            if validation is None:
                val_x, val_y, val_weight = keras.utils.unpack_x_y_sample_weight(tuple(validation_data))
                validation = keras3.in_memory.ArrayData(val_x, val_y, val_weight, validation_batch_size or batch_size)
            logs.update({f"val_{name}": value for name, value in _evaluate(model, validation, listed).items()})
        listed.on_epoch_end(epoch, logs)
        if model.stop_training:
            break
    if epochs > 0 and keras3.in_memory.averages_weights(model.optimizer):
        model.optimizer.finalize_variable_values(model.trainable_weights)
    listed.on_train_end(logs=logs)
    history: keras.callbacks.History = model.history
    return history


def evaluate(
    model: keras.Model,
    x: Any = None,
    y: Any = None,
    batch_size: int | None = None,
    verbose: Any = "auto",
    sample_weight: Any = None,
    steps: None = None,
    callbacks: Any = None,
    return_dict: bool = False,
) -> Any:
    """Evaluate as `keras.Model.evaluate`."""
    keras3.in_memory.assert_compiled(model)
    data = keras3.in_memory.ArrayData(x, y, sample_weight, batch_size)
    listed = keras3.in_memory.callback_list(
        model, callbacks, history=False, verbose=verbose, epochs=1, steps=data.batches
    )
    logs = _evaluate(model, data, listed)
    return logs if return_dict else keras3.in_memory.in_order(model, logs)


def _evaluate(model: keras.Model, data: keras3.in_memory.ArrayData, listed: Any) -> dict[str, Any]:
    model.stop_evaluating = False
    listed.on_test_begin()
    results = EpochLogs()
    model.reset_metrics()
    _run(model, "test", step_function(model, "test"), data, results, listed)
    logs = keras3.in_memory.plain_logs(results.read())
    listed.on_test_end(logs)
    return logs


def predict(
    model: keras.Model,
    x: Any,
    batch_size: int | None = None,
    verbose: Any = "auto",
    steps: None = None,
    callbacks: Any = None,
) -> Any:
    """Predict as `keras.Model.predict`."""
    data = keras3.in_memory.ArrayData(x, batch_size=batch_size)
    listed = keras3.in_memory.callback_list(
        model, callbacks, history=False, verbose=verbose, epochs=1, steps=data.batches
    )
    predict_step = step_function(model, "predict")
    model.stop_predicting = False
    listed.on_predict_begin()
    outputs = Outputs()
    _run(
        model,
        "predict",
        lambda batch: predict_step(batch if isinstance(batch, tuple) else (batch,)),
        data,
        outputs,
        listed,
    )
    listed.on_predict_end()
    return keras3.in_memory.joined(outputs.batches)


def _run(
    model: keras.Model,
    kind: str,
    step: Callable[[Any], Any],
    data: keras3.in_memory.ArrayData,
    results: EpochLogs | Outputs,
    listed: Any,
    shuffle: Any = False,
) -> None:
    """Run a step on each batch, between the hooks of the callbacks, until one of them stops the model."""
    begins, ends = (
        keras3.in_memory.any_looks_at(listed, f"on_{kind}_batch_{end}", *([f"on_batch_{end}"] * (kind == "train")))
        for end in ("begin", "end")
    )
    begin, end, stop = getattr(listed, f"on_{kind}_batch_begin"), getattr(listed, f"on_{kind}_batch_end"), _STOP[kind]
    leave_out, then = vars(model).pop(_LEAVES_OUT, (0, None)) if kind == "train" else (0, None)
    for number, batch in enumerate(batches(data, shuffle)):
        if number < leave_out:
            continue
        if then is not None:
            _, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data.data)
            keras3.in_memory.build_compiled(model, y, sample_weight)  # what counts must be there, to count on
            then = then()
        if begins:
            begin(number)
        results.add(step(batch))
        if ends:
            end(number, results.read())
        if getattr(model, stop):
            break


def train_on_batch(
    model: keras.Model,
    x: Any,
    y: Any = None,
    sample_weight: Any = None,
    class_weight: Any = None,
    return_dict: bool = False,
) -> Any:
    """Train on one batch as `keras.Model.train_on_batch`."""
    keras3.in_memory.assert_compiled(model)
    sample_weight = keras3.in_memory.weights_of_batch(y, sample_weight, class_weight)
    logs = step_function(model, "train", alone=True)(keras3.in_memory.in_floatx((x, y, sample_weight))).read()
    return logs if return_dict else keras3.in_memory.in_order(model, logs)


def evaluate_on_batch(
    model: keras.Model, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False
) -> Any:
    """Evaluate one batch as `keras.Model.test_on_batch`."""
    keras3.in_memory.assert_compiled(model)
    logs = step_function(model, "test", alone=True)(keras3.in_memory.in_floatx((x, y, sample_weight))).read()
    return logs if return_dict else keras3.in_memory.in_order(model, logs)


def predict_on_batch(model: keras.Model, x: Any) -> Any:
    """Predict one batch as `keras.Model.predict_on_batch`."""
    return keras3.in_memory.joined([step_function(model, "predict")(keras3.in_memory.in_floatx((x,)))])


_CALLS: dict[str, Callable[..., Any]] = {
    "fit": fit,
    "evaluate": evaluate,
    "predict": predict,
    "train_on_batch": train_on_batch,
    "test_on_batch": evaluate_on_batch,
    "predict_on_batch": predict_on_batch,
}
