"""Callbacks, and the `fit` that they are called in. Read in Keras 3.15.1."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import keras
from tensorflow.python.eager import context as tensorflow_context

from parallel_compat.backend.keras3 import moved_names
from parallel_compat.backend.keras3.compiled import Compiled
from parallel_compat.backend.keras3.in_memory import build_compiled, build_optimizer
from parallel_compat.backend.keras3.layers import output_spec
from parallel_compat.backend.patches import CORE


def let_callbacks_set_their_model() -> None:
    """Give `Callback.model` a setter, as it had in Keras 2, where it was a plain attribute.

    Callbacks of old projects assign it to redirect themselves to the template; Keras 3.15 has a property
    without a setter.
    """

    def set_model(callback: Any, model: Any) -> None:
        keras.callbacks.Callback.set_model(callback, model)  # not that of its class, which may do more

    why = "old callbacks assign their `model`"
    CORE.wrap(keras.callbacks.Callback, "model", lambda model: model.setter(set_model), why=why)


def let_callbacks_come_last() -> None:
    """Call hooks of callbacks before or after those of all callbacks of the list, whatever their order in it."""
    for hook, before, after in _HOOKS:
        between = functools.partial(_between, before, after)
        CORE.around(keras.callbacks.CallbackList, hook, between, why="`Resume` keeps what all callbacks have seen")


# Keras's hook, and those before and after it, which get the list, and the epoch; Keras puts `History` at the end.
_HOOKS = (
    ("on_train_begin", "before_train_begin", "after_train_begin"),
    ("on_epoch_begin", "before_epoch_begin", "after_epoch_begin"),
    ("on_epoch_end", "", "after_epoch_end"),
    ("on_train_end", "", "after_train_end"),
)


def _between(before: str, after: str, original: Any, self: Any, *given: Any, **keywords: Any) -> None:
    for callback in list(self.callbacks):  # `Resume` goes to its end
        getattr(callback, before, _nothing)(self)
    original(self, *given, **keywords)
    for callback in self.callbacks:
        getattr(callback, after, _nothing)(self, *given[:1])  # the epoch, if there is one


def _nothing(*_: Any) -> None:
    pass


def let_fit_tell_its_batches() -> None:
    """Note what batches a model gets in `fit` before it has weights, for `build_for_fit`.

    Keras's own `fit` calls `_maybe_symbolic_build` before callbacks begin; under a strategy that builds the model.
    """

    def build(original: Any, self: Any, iterator: Any = None, data_batch: Any = None) -> Any:
        if iterator is not None and not self.built:
            vars(self)[_BATCHES] = getattr(iterator._distributed_dataset, "element_spec", None)
        return original(self, iterator=iterator, data_batch=data_batch)

    why = "`Resume` builds a model that has no weights yet"
    CORE.around(moved_names.Trainer, "_maybe_symbolic_build", build, why=why)


_BATCHES = "_parallel_compat_batches"


def build_for_fit(model: keras.Model) -> None:
    """Build a model in `fit` that would be built on its first batch, with what is compiled, as Keras does on JAX."""
    batches = vars(model).pop(_BATCHES, None)
    if model.built or batches is None:
        return

    def symbolic(spec: Any) -> Any:
        return spec if spec is None else keras.KerasTensor(tuple(spec.shape), spec.dtype.name)

    x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(keras.tree.map_structure(symbolic, batches))
    outputs = output_spec(model, x, training=False)
    Compiled(model).build(y, outputs, sample_weight, symbolic=True)
    build_optimizer(model)


def begin_at_epoch(model: keras.Model, epoch: int | None) -> None:
    """Let the `fit` that has begun start at an epoch (`Trainer._initial_epoch`); None for that of its argument."""
    model._initial_epoch = epoch


def leave_out_batches(model: keras.Model, callbacks: Any, count: int, then: Callable[[], None]) -> None:
    """Let the epoch that has begun in Keras's own `fit` draw its first batches and do nothing with them.

    Args:
        callbacks: the list that the loop calls.
        then: called before the next batch.
    """
    step, left = model.train_function, count

    def leave_out(batch: Any) -> dict[str, Any]:
        # Keras 3.12 hands over the iterator, 3.15 a list of batches.
        drawn = next(batch) if hasattr(batch, "__next__") else batch[0]
        _, y, sample_weight = keras.utils.unpack_x_y_sample_weight(drawn)
        build_compiled(model, y, sample_weight)  # what counts must be there, to count on
        return {}

    def begin(batch: int, logs: Any = None) -> None:
        nonlocal left
        if left:
            left -= 1
            return
        model.train_function = step
        del callbacks.on_train_batch_begin, callbacks.on_train_batch_end
        then()
        callbacks.on_train_batch_begin(batch, logs)

    model.train_function = leave_out
    callbacks.on_train_batch_begin = begin
    callbacks.on_train_batch_end = _nothing


def metric_variables(model: keras.Model) -> list[keras.Variable]:
    """List what the loss and the metrics of a model count in, each once."""
    return list({id(variable): variable for metric in model.metrics for variable in metric.variables}.values())


def seeding() -> Any:
    """Return what eager operations of TensorFlow take their seeds from (`context._rng`), or None.

    Each call of `tf.random.set_seed` makes another one; without it there is none.
    """
    return getattr(tensorflow_context.context(), "_rng", None)


def operation_seeds() -> Any:
    """Return the state of `seeding`, or None."""
    generator = seeding()
    return None if generator is None else generator.getstate()


def set_operation_seeds(state: Any) -> None:
    """Set what `operation_seeds` returned."""
    generator = seeding()
    if generator is not None and state is not None:
        generator.setstate(state)


class CallbackWithModel(keras.callbacks.Callback):  # type: ignore[misc]  # Keras carries no types
    """A callback whose `model` can be assigned, without the patch too."""

    # A callback that does not call `super().__init__()` has no fields yet.
    _parallel_compat_model: Any = None
    params: Any = None

    @property
    def model(self) -> Any:
        """The model that is trained, or what was assigned."""
        return self._parallel_compat_model

    @model.setter
    def model(self, model: Any) -> None:
        self._parallel_compat_model = model

    def set_model(self, model: Any) -> None:
        """Take the model that is trained."""
        self.model = model


# The parallel models in whose `fit` we are, the innermost last: the model, its template, the arguments of `fit`.
_in_fit: list[tuple[keras.Model, keras.Model, dict[str, Any]]] = []


@contextlib.contextmanager
def in_fit(model: keras.Model, template: keras.Model, arguments: dict[str, Any]) -> Iterator[None]:
    """Note for callbacks that `model`, which trains `template`, is in `fit` with `arguments`."""
    entry = (model, template, arguments)
    _in_fit.append(entry)
    try:
        yield
    finally:
        _in_fit.remove(entry)


def _fit_of(model: Any) -> tuple[keras.Model | None, dict[str, Any]]:
    """Return the parallel model in `fit` that is or trains `model`, with the arguments of `fit`."""
    for trainer, template, arguments in reversed(_in_fit):
        if model is trainer or model is template:
            return trainer, arguments
    return None, {}


def validates_seldom(model: Any) -> bool:
    """Whether the `fit` of a parallel model, that is or trains `model`, validates, but not after every epoch."""
    _, arguments = _fit_of(model)
    return arguments.get("validation_data") is not None and arguments.get("validation_freq", 1) != 1


def let_callbacks_ask_the_model_that_trains() -> None:
    """Let callbacks that were given the template find the direction of a metric where it is compiled.

    `MonitorCallback._set_monitor_op` looks at the metrics of the callback's model. Callbacks of old projects have the
    template for it, which is not compiled.
    """

    def set_monitor_op(original: Any, callback: Any) -> None:
        model = callback.model
        keras.callbacks.Callback.set_model(callback, _fit_of(model)[0] or model)
        try:
            original(callback)
        finally:
            keras.callbacks.Callback.set_model(callback, model)

    kind = next(kind for kind in keras.callbacks.EarlyStopping.__mro__ if "_set_monitor_op" in vars(kind))
    why = "a callback that has the template finds a metric's direction in the model that trains it"
    CORE.around(kind, "_set_monitor_op", set_monitor_op, why=why)


def training_summaries(board: keras.callbacks.TensorBoard) -> Any:
    """Return the writer of a `TensorBoard`'s training summaries (`TensorBoard._train_writer`)."""
    return board._train_writer
