"""Old arguments of optimizers and of `apply_gradients`."""

from __future__ import annotations

import inspect
import re
import sys
import warnings
from typing import Any

from parallel_compat.names.eras import Era
from parallel_compat.run import (
    callers,
    object_eras,
)
from parallel_compat.run.patches.wrapping import like, noting


def optimizer_init(original: Any, kind: Any, of: str) -> Any:
    parameters = list(inspect.signature(original).parameters)[1:]

    @like(original)
    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        from parallel_compat.legacy import optimizers

        frame = callers.user_frame(sys._getframe(1))
        object_eras.remember(self, callers.era_of_caller())
        if next(each for each in type(self).__mro__ if each.__module__.startswith("keras.")) is not kind:
            original(self, *given, **keywords)
        elif frame is None:  # by name or from a config, on behalf of the user's code: it steps as it did there
            keywords, era = {**dict(zip(parameters, given, strict=False)), **keywords}, callers.era_of_caller()
            if kind.__name__ == "Adagrad" and era.is_tf_keras:
                keywords.setdefault("initial_accumulator_value", 0.0)  # `Adagrad.from_config` there, a string's way
            optimizers.initialize(original, self, of, (), keywords, era=era)
        else:
            # A tensor with a value was as good as a number: `SGD(learning_rate=tf.constant(0.1))`.
            given = tuple(map(_number, given))
            keywords = {name: _number(value) for name, value in keywords.items()}
            if callers.era_of(frame).is_tf_keras:
                given, keywords = _as_tf_keras_took(given, keywords)
            era = callers.era_of(frame)
            try:
                optimizers.initialize(original, self, of, given, keywords, noting(of, frame), era)
            except ValueError as error:
                raise (error if era is Era.TODAY else _as_optimizers_told(error)) from None

    return __init__


def _as_optimizers_told(error: ValueError) -> Exception:
    """Return the error that optimizers raised then, whose kind and words a script may look at."""
    unknown = re.match(r"Argument\(s\) not recognized: \{'(\w+)'", str(error))
    if unknown:
        return TypeError(f"Unexpected keyword argument passed to optimizer: {unknown[1]}")
    if str(error).startswith("`momentum` must be a float between"):
        return ValueError("`momentum` must be between [0, 1].")
    return error


def _as_tf_keras_took(given: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Let `lr` count before `learning_rate`, as it did, and refuse what was refused."""
    for name in ("clipnorm", "clipvalue", "lr", "decay"):
        value = keywords.get(name)
        if isinstance(value, (int, float)) and value < 0:
            raise ValueError(f"Expected {name} >= 0, received: {value}")
    if "lr" in keywords and (given or "learning_rate" in keywords):
        keywords = {**keywords, "learning_rate": keywords["lr"]}
        keywords.pop("lr")
        if given:
            given = (keywords.pop("learning_rate"), *given[1:])
    return given, keywords


def apply_gradients(original: Any) -> Any:
    @like(original)
    def apply_gradients(self: Any, grads_and_vars: Any, *given: Any, **keywords: Any) -> Any:
        if callers.user_frame(sys._getframe(1)) is None:
            return original(self, grads_and_vars, *given, **keywords)
        for name in ("name", "experimental_aggregate_gradients"):  # an operation's; there is one process
            keywords.pop(name, None)
        import keras

        from parallel_compat.legacy import graph, optimizer_methods

        grads_and_vars = list(grads_and_vars)
        if any(isinstance(gradient, keras.KerasTensor) for gradient, _ in grads_and_vars):
            return graph.apply_gradients(self, grads_and_vars, *given, **keywords)
        global_step = keywords.pop("global_step", given[0] if given else None)
        if optimizer_methods.is_global_step(global_step):  # of `tf.train`'s optimizers; else an operation's name
            result = apply_gradients(self, grads_and_vars, **keywords)
            global_step.assign_add(1)
            return result
        if not object_eras.era_of_object(self).is_tf_keras:
            return original(self, grads_and_vars, **keywords)
        if not grads_and_vars:  # which did nothing
            return None
        from parallel_compat.backend.keras3 import optimizer_steps

        with optimizer_steps.unclipped(self):  # there `fit` and `minimize` clipped, and this did not
            return original(self, grads_and_vars, **keywords)

    return apply_gradients


def optimizer_copy(self: Any) -> Any:
    """Return what `copy.copy` gives: an optimizer with the same variables, but for the moments of weights.

    Keras 3 copies an optimizer by way of a file. The count of iterations of `tf.keras` was made with the first step.
    """
    era = object_eras.era_of_object(self)
    if era is Era.TODAY:
        return _copy_of_file(self)
    from parallel_compat.backend.keras3 import optimizers

    copied = optimizers.twin_of(self, counts_alone=era.is_tf_keras and not self.built)
    object_eras.remember(copied, era)
    return copied


def optimizer_deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    """Return what `copy.deepcopy` gives: an optimizer with variables of its own, of the same values."""
    copied = _copy_of_file(self)
    if object_eras.era_of_object(self) is not Era.TODAY:
        copied.iterations.assign(self.iterations)
    memo[id(self)] = copied
    return copied


def _copy_of_file(optimizer: Any) -> Any:
    from parallel_compat.backend.keras3 import shallow_copies

    with warnings.catch_warnings():  # the moments are those of a model that the copy does not know yet
        warnings.filterwarnings("ignore", "Skipping variable loading")
        return shallow_copies.copied_by_file(optimizer)


def _number(value: Any) -> Any:
    import tensorflow as tf

    if isinstance(value, tf.Tensor) and not tf.is_symbolic_tensor(value) and value.shape.rank == 0:
        return value.numpy().item()
    return value
