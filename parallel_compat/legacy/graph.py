"""What old code did with a graph: placeholders, functions from some tensors to others, gradients, updates.

The graph is that of Keras's symbolic tensors. `function` computes what it is asked for in one `tf.function`, in which
`tf.gradients` differentiates as it always did: along the tensors of the same pass.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import ValuesView
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import (
    call_context,
    constant_folding,
    graphs_of_programs,
    own_optimizers,
    tensors_of_steps,
)
from parallel_compat.backend.keras3 import optimizer_steps as steps_of_keras
from parallel_compat.backend.keras3 import symbolic_values as graph_values
from parallel_compat.backend.keras3.batch_normalization import debiased_of_variable
from parallel_compat.backend.keras3.call_context import LearningPhase
from parallel_compat.backend.keras3.layers import asks_for_shapes, calls_of
from parallel_compat.backend.keras3.numbers_of_variables import as_of_now, is_noted
from parallel_compat.backend.keras3.symbolic_values import Values, values_in_use
from parallel_compat.legacy import data_tensors, kept_numbers, pending_updates
from parallel_compat.legacy.learning_phase import fixed_learning_phase
from parallel_compat.legacy.numbers import collected_updates, optimizer_steps
from parallel_compat.legacy.session_in_use import current
from parallel_compat.names.eras import Era
from parallel_compat.training.global_step import computes_for_replicas
from parallel_compat.warning_category import ParallelCompatWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def placeholder(
    shape: Sequence[int | None] | None = None,
    ndim: int | None = None,
    dtype: Any = None,
    sparse: bool = False,
    name: str | None = None,
) -> Any:
    """Return a symbolic tensor that stands for data to come.

    >>> placeholder(ndim=2).shape
    (None, None)

    Args:
        shape: its shape, that of the batch included, None where it is not known.
        ndim: the number of axes, where no shape is given.
        dtype: its dtype; Keras's `floatx` by default.
        sparse: whether the data will be sparse.
        name: its name.
    """
    if shape is None:
        if ndim is None:
            raise ValueError("Expected `shape` or `ndim`. Received: neither")
        shape = (None,) * ndim
    dtype = keras.backend.standardize_dtype(dtype) if dtype is not None else keras.backend.floatx()
    made = keras.Input(batch_shape=tuple(shape), dtype=dtype, sparse=sparse, name=name)
    graph_values.node_of(made).operation._parallel_compat_is_placeholder = True
    return made


def is_bare_placeholder(x: Any) -> bool:
    """Say whether `placeholder` made it, and not `Input`."""
    node = graph_values.node_of(x)
    return node is not None and getattr(node.operation, "_parallel_compat_is_placeholder", False)


def tf_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """Return a symbolic tensor, of which TensorFlow asked the dtype first.

    >>> tf_placeholder("float32", shape=(None, 3)).shape
    (None, 3)

    Args:
        dtype: its dtype.
        shape: its shape, that of the batch included. Without one it stands for a number, as a rate or what a summary
            is told: any other value is refused where it is fed.
        name: its name.
    """
    made = placeholder([] if shape is None else list(shape), dtype=dtype, name=name)
    graph_values.node_of(made).operation._parallel_compat_has_no_shape = shape is None
    return made


def _refuse_unknown_rank(x: Any, value: Any) -> None:
    if getattr(graph_values.node_of(x).operation, "_parallel_compat_has_no_shape", False) and np.ndim(value):
        raise ValueError(
            f"Expected `shape` of the placeholder that is fed with values of shape {np.shape(value)}. Received: none. "
            "Keras 3 has no tensors of unknown rank: write it out, with None where a size is not known."
        )


def is_placeholder(x: Any) -> bool:
    """Say whether `x` stands for data to come: a placeholder, or an input of a model."""
    node = graph_values.node_of(x) if isinstance(x, keras.KerasTensor) else None
    return isinstance(x, keras.KerasTensor) and (node is None or node.is_input)


# --- gradients ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _By:
    """Variables out of sight of Keras, which would take them for the layer's."""

    variables: list[Any]


@keras.saving.register_keras_serializable(package="parallel_compat")
class Gradients(keras.layers.Layer):  # type: ignore[misc]  # Keras carries no types
    """The gradients of a tensor with respect to others of the same pass.

    Args:
        variables: variables that it is differentiated by, after the tensors.
        name: the layer's name.
    """

    def __init__(self, variables: Sequence[Any] = (), name: str | None = None, **keywords: Any) -> None:
        super().__init__(name=name, autocast=False, **{k: v for k, v in keywords.items() if k == "trainable"})
        self.by = _By(list(variables))
        self.supports_masking = True

    def call(self, inputs: Any) -> list[Any]:
        """Differentiate the first tensor by the others."""
        loss, *tensors = inputs
        return _gradients_here(loss, [*tensors, *self.by.variables], zeros=True)

    def compute_output_spec(self, inputs: Any) -> Any:
        """Return the shapes and dtypes of what it is differentiated by."""
        made_by = [*inputs[1:], *self.by.variables]
        return [keras.KerasTensor(tuple(x.shape), keras.backend.standardize_dtype(x.dtype)) for x in made_by]

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> None:
        """There is no mask."""
        return

    def get_config(self) -> dict[str, Any]:
        """Return the configuration.

        Raises:
            NotImplementedError: it differentiates by variables, which no configuration can name.
        """
        if self.by.variables:
            raise NotImplementedError(
                f"Expected gradients with respect to tensors in a model that is saved or copied. Received: "
                f"'{self.name}', which differentiates by variables. Save the weights alone."
            )
        return dict(super().get_config())


def gradients(loss: Any, variables: Any) -> list[Any]:
    """Return the gradients of a loss with respect to tensors or variables (`K.gradients`).

    >>> x = keras.Input((1,))
    >>> slope = function([x], gradients(keras.ops.square(x), [x]))
    >>> slope([[[3.0]]])[0].tolist()
    [[6.0]]

    Args:
        loss: a tensor, or a list of tensors whose gradients are added up.
        variables: a tensor or a variable, or a list of them.

    Returns:
        A list with the gradient for each, None where the loss is not computed from it.

    Raises:
        TypeError: the loss is an eager tensor, which does not know what it was computed from.
    """
    return _gradients(loss, variables, None)


def _gradients(loss: Any, variables: Any, of_losses: Any) -> list[Any]:
    by = list(variables) if isinstance(variables, (list, tuple)) else [variables]
    if (of_step := own_optimizers.gradients_of_step(loss, by)) is not None:
        return of_step  # the loss that `get_updates` is asked with
    losses = list(loss) if isinstance(loss, (list, tuple)) else [loss]
    in_use = values_in_use()
    _refuse_on_replicas(in_use)
    if of_losses is not None:
        given = list(of_losses) if isinstance(of_losses, (list, tuple)) else [of_losses]
        losses = [y if g is None else y * keras.ops.stop_gradient(g) for y, g in zip(losses, given, strict=True)]
    if in_use is not None:
        return _gradients_here(in_use.of(losses), in_use.of(by))
    if not all(isinstance(each, keras.KerasTensor) for each in losses):
        return _gradients_here(losses, by)
    total = losses[0] if len(losses) == 1 else keras.ops.add(*[keras.ops.sum(each) for each in losses])
    for each in losses[2:]:
        total = keras.ops.add(total, keras.ops.sum(each))
    tensors = [x for x in by if isinstance(x, keras.KerasTensor) and graph_values.depends_on(total, x)]
    own = [x for x in by if not isinstance(x, keras.KerasTensor)]
    found: list[Any] = []
    if tensors or own:
        found = keras.tree.flatten(Gradients(own)([total, *tensors]))
    of = {id(x): gradient for x, gradient in zip([*tensors, *own], found, strict=True)}
    return [of.get(id(x)) for x in by]


def _refuse_on_replicas(in_use: Values | None) -> None:
    """Refuse gradients in a loss of a parallel model: those of one replica's samples are not the global batch's."""
    context = tf.distribute.get_replica_context()
    on_replica = context is not None and context.num_replicas_in_sync > 1
    if on_replica or getattr(in_use, "merged", False) or computes_for_replicas():
        raise NotImplementedError(
            "Expected a loss with `K.gradients` on one device. Received: a parallel model, whose replicas each have a "
            "graph of their own. Train the model that `multi_gpu_model` was given."
        )


def _gradients_here(losses: Any, by: Sequence[Any], zeros: bool = False) -> list[Any]:
    if tf.executing_eagerly():
        raise TypeError(
            "Expected `K.gradients` of a symbolic tensor, or in a function that TensorFlow traces. Received: an eager "
            "tensor, which does not know what it was computed from. Compute `K.function([...], K.gradients(...))`, "
            "train with `run_eagerly=False`, or use `tf.GradientTape`."
        )
    plain = [x.value if isinstance(x, keras.Variable) else x for x in by]
    found = tf.gradients(losses, plain)
    dense = [tf.convert_to_tensor(g) if isinstance(g, tf.IndexedSlices) else g for g in found]
    zeros = zeros or asks_for_shapes()  # one input of a layer by another: stand-ins are computed from nothing
    return [tf.zeros_like(x) if g is None and zeros else g for g, x in zip(dense, plain, strict=True)]


def tf_gradients(ys: Any, xs: Any, grad_ys: Any = None, *arguments: Any, **keywords: Any) -> Any:
    """Return `tf.gradients(ys, xs)`, of symbolic tensors as well.

    >>> x, slope = keras.Input((1,)), keras.Input((1,))
    >>> steps = function([x, slope], tf_gradients(keras.ops.square(x), x, -slope))
    >>> steps([[[3.0]], [[2.0]]])[0].tolist()
    [[-12.0]]

    Args:
        ys: a tensor, or a list of tensors whose gradients are added up.
        xs: tensors and variables.
        grad_ys: by what the gradients of each of `ys` are multiplied: the gradient of something that follows.
        *arguments: further arguments of `tf.gradients`.
        **keywords: the same by name.
    """
    symbolic = (
        ys is None
        or values_in_use() is not None
        or any(isinstance(each, keras.KerasTensor) for each in keras.tree.flatten((ys, xs, grad_ys)))
    )
    of_operations = {"name", "colocate_gradients_with_ops", "gate_gradients", "aggregation_method"}
    if symbolic and not arguments and not keywords.keys() - of_operations:
        return _gradients(ys, xs, grad_ys)
    return tf.gradients(ys, xs, grad_ys, *arguments, **keywords)


# --- updates ------------------------------------------------------------------------------------------------------


_run_alone: dict[Any, Function] = {}  # as a session keeps them, with the state of their optimizers


class _Operation:
    """What TensorFlow 1 had an operation for: it runs in a session, and by itself in the one that is in use."""

    @property
    def op(self) -> _Operation:
        """Itself: an assignment was a tensor, which had an operation."""
        return self

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Run it in a session, as `session.run(operation, feed_dict)` does.

        Args:
            feed_dict: values by symbolic tensors.
            session: the session; None for the one that is in use.
        """
        session = session or getattr(current, "session", None)
        if session is not None:
            session.run(self, feed_dict)
        else:
            run([self], dict(feed_dict or {}), _run_alone)


@dataclass(frozen=True, eq=False)
class Update(_Operation):
    """An assignment to come: what `K.update(variable, tensor)` returned. `K.function` and a session carry it out.

    Attributes:
        variable: the variable.
        value: a tensor, symbolic or not.
        method: "assign", "assign_add" or "assign_sub".
    """

    variable: Any
    value: Any
    method: str = "assign"

    def assign(self, value: Any) -> Any:
        """Assign the value, once it is computed, and return what the variable is then."""
        return getattr(self.variable, self.method)(tf.cast(value, self.variable.dtype))

    @property
    def op(self) -> Group:
        """The assignment alone, which gives nothing."""
        return Group([self])

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Run it as `run` does, and return what the variable is then."""
        self.run(feed_dict, session)
        return self.assigned()

    def assigned(self) -> Any:
        """Return what the variable is, once it ran."""
        variable = self.variable.variable if isinstance(self.variable, _Average) else self.variable
        return as_numpy(tf.convert_to_tensor(variable))


@dataclass(frozen=True, eq=False)
class Group(_Operation):
    """What `tf.group(...)` returned: operations that run together.

    Attributes:
        operations: they, none of them a group.
    """

    operations: list[Any]


def tf_group(*inputs: Any, **keywords: Any) -> Any:
    """Return operations as one, which a session runs.

    Args:
        *inputs: operations and tensors, in lists or not.
        **keywords: those of `tf.group`.
    """
    flat = keras.tree.flatten(inputs)
    if not any(map(is_update, flat)):
        return tf.group(*inputs, **keywords)
    return Group([part for each in flat for part in _parts(each)])


def _parts(fetch: Any) -> list[Any]:
    return fetch.operations if isinstance(fetch, Group) else [fetch]


@dataclass(frozen=True, eq=False)
class OptimizerStep(_Operation):
    """A step to come: what `optimizer.get_updates(loss, params)` returned.

    Attributes:
        optimizer: the optimizer.
        loss: a symbolic tensor.
        variables: what is trained.
    """

    optimizer: Any
    loss: Any
    variables: list[Any]


@dataclass(frozen=True, eq=False)
class GradientStep(_Operation):
    """A step to come: what `optimizer.apply_gradients(pairs)` returned for symbolic gradients.

    Attributes:
        optimizer: the optimizer.
        gradients: symbolic tensors.
        variables: what is trained.
        count: a variable that counts the steps, or None.
    """

    optimizer: Any
    gradients: list[Any]
    variables: list[Any]
    count: Any = None

    def apply(self, gradients: list[Any]) -> None:
        """Make the step with gradients that have been computed; none of them is clipped."""
        with steps_of_keras.unclipped(self.optimizer):
            self.optimizer.apply_gradients(list(zip(gradients, self.variables, strict=True)))
        if self.count is not None:
            self.count.assign_add(1)


@dataclass(frozen=True, eq=False)
class LayerUpdates(_Operation):
    """What layers write when they are called in training: what `model.get_updates_for(inputs)` returned.

    Attributes:
        layer: the layer or model.
    """

    layer: Any


def update(x: Any, new_x: Any) -> Any:
    """Assign to a variable: at once in a call that trains, else when a function or session runs what this returns."""
    return _update(x, new_x, "assign")


def update_add(x: Any, increment: Any) -> Any:
    """Add to a variable, as `update`."""
    return _update(x, increment, "assign_add")


def update_sub(x: Any, decrement: Any) -> Any:
    """Subtract from a variable, as `update`."""
    return _update(x, decrement, "assign_sub")


def tf_assign(ref: Any, value: Any, *rest: Any, **keywords: Any) -> Any:
    """Assign to a variable: at once where a step is traced, else when a session runs what this returns.

    Args:
        ref: one of TensorFlow's, or a weight.
        value: a number, a tensor, or what was computed of variables.
        *rest: further arguments of `tf.assign`.
        **keywords: the same by name.
    """
    return _tf_update(ref, value, "assign", rest, keywords)


def tf_assign_add(ref: Any, value: Any, *rest: Any, **keywords: Any) -> Any:
    """Add to a variable, as `tf_assign`."""
    return _tf_update(ref, value, "assign_add", rest, keywords)


def tf_assign_sub(ref: Any, value: Any, *rest: Any, **keywords: Any) -> Any:
    """Subtract from a variable, as `tf_assign`."""
    return _tf_update(ref, value, "assign_sub", rest, keywords)


def _tf_update(ref: Any, value: Any, method: str, rest: Any, keywords: dict[str, Any]) -> Any:
    if isinstance(value, keras.KerasTensor) or (tf.executing_eagerly() and _in_graph_era()):
        return Update(ref, value, method)
    pending = pending_updates.waiting(ref, value, method)
    if pending is not None:
        return pending
    variable = ref.value if isinstance(ref, keras.Variable) else ref
    return getattr(tf.compat.v1, method)(variable, value, *rest, **keywords)


def _scattered(name: str) -> Callable[..., Any]:
    def scatter(ref: Any, indices: Any, updates: Any, *rest: Any, **keywords: Any) -> Any:
        rows = indices if name.startswith("nd_") else tf.expand_dims(indices, -1)
        change = getattr(tf, f"tensor_scatter_nd_{name.removeprefix('nd_')}")
        if not tf.executing_eagerly():
            pending = pending_updates.waiting(ref, change(tf.convert_to_tensor(ref), rows, updates), "assign")
            if pending is not None:
                return pending
        return getattr(tf.compat.v1, f"scatter_{name}")(ref, indices, updates, *rest, **keywords)

    return scatter


scatter_add, scatter_sub, scatter_update = map(_scattered, ("add", "sub", "update"))
scatter_nd_add, scatter_nd_sub, scatter_nd_update = map(_scattered, ("nd_add", "nd_sub", "nd_update"))


def moving_average_update(x: Any, value: Any, momentum: float) -> Any:
    """Move a variable towards a value, as `update`; in a graph it was not mixed with the number that it began with.

    In Keras 2.3 it was.
    """
    if not _in_graph_era() or _era_of_process() is Era.KERAS_2_3:
        return update_sub(x, (x - keras.ops.cast(value, x.dtype)) * (1.0 - momentum))
    return _update(_Average(x, momentum), value, "assign")


@dataclass(frozen=True, eq=False)
class _Average:
    """A variable that is the moving average of what it is assigned, as `K.moving_average_update` had it in a graph."""

    variable: Any
    momentum: float

    def __post_init__(self) -> None:
        debiased_of_variable(self.variable)

    @property
    def dtype(self) -> Any:
        return self.variable.dtype

    def after(self, value: Any) -> Any:
        """Return what it will be."""
        return debiased_of_variable(self.variable).would_be(value, self.momentum)

    def assign(self, value: Any) -> Any:
        value = tf.cast(value, self.dtype)
        return self.variable.assign(debiased_of_variable(self.variable).after(value, self.momentum))


def _update(variable: Any, value: Any, method: str) -> Any:
    if isinstance(value, keras.KerasTensor) or own_optimizers.in_updates():
        return Update(variable, value, method)
    pending = pending_updates.waiting(variable, value, method)
    if pending is not None:
        return pending
    training = keras3.training_of_call()
    # In a graph an update ran only where it was asked for: with `add_update`, when the model trained.
    layer = call_context.layer_of_users()
    frozen = layer is not None and not (collected_updates.is_updated(layer) or is_stateful(layer))
    waits = training is False or (training is None and tf.executing_eagerly()) or frozen
    if waits and _in_graph_era():
        return Update(variable, value, method)
    return getattr(variable, method)(value)


def is_stateful(layer: keras.Layer) -> bool:
    """Say whether a layer says that its updates are its state, which each of the model's passes goes on from."""
    return bool(getattr(layer, "stateful", False))


def run_updates(updates: Any) -> None:
    """Carry out the updates that an optimizer of a user's returned, whose values have been computed.

    Args:
        updates: what `K.update` returned, or pairs (variable, value); what has been assigned is left alone.
    """
    for step in updates_to_run(updates):
        step()


def updates_to_run(updates: Any) -> list[Callable[[], Any]]:
    """Compute what updates assign, from what variables are now, and return what assigns it.

    Args:
        updates: as in `run_updates`.
    """
    found = [Update(*each) if isinstance(each, tuple) and len(each) == 2 else each for each in updates]
    steps: list[Callable[[], Any]] = []
    assigned: set[int] = set()
    again: list[str] = []
    for each in found:
        if isinstance(each, Update):
            if not tf.executing_eagerly():
                _refuse_constant(each)
            value = tf.convert_to_tensor(as_of_now(each.value))  # of a variable itself, what it holds now
            if each.method == "assign" and id(each.variable) in assigned:
                again.append(each.variable.name)
                change = tf.cast(value, each.variable.dtype) - tf.convert_to_tensor(each.variable)
                steps.append(functools.partial(each.variable.assign_add, change))
                continue
            assigned.add(id(each.variable))
            steps.append(functools.partial(each.assign, value))
    if again:  # `updates = super().get_updates(loss, params); updates.append(K.update(param, 0.9 * param))`
        warnings.warn(
            f"Expected one assignment to each variable in the updates of a step. Received: another one to "
            f"{', '.join(again)}. Keras 2.2.4 ran them in no order, so that now one and now the other was lost; here "
            "what each of them changes is added up. Assign once, what the second makes of the first's value.",
            ParallelCompatWarning,
            stacklevel=2,
        )
    return steps


def _refuse_constant(update: Update) -> None:
    value = update.value
    if (
        isinstance(value, (tf.Variable, keras.Variable))
        or is_noted(value)
        or not (tf.is_tensor(value) and hasattr(value, "numpy"))
    ):
        return
    raise TypeError(
        "Expected updates of numbers, variables or symbolic tensors. Received: a tensor that has been computed "
        "already, from no variables; every call would assign the same. Write `K.update_add(variable, increment)`, "
        "compute it from a variable, or assign outside of the call."
    )


def _era_of_process() -> Era:
    from parallel_compat.run import callers

    return callers.era_of_process()


def _in_graph_era() -> bool:
    from parallel_compat.run import object_eras

    return object_eras.trained_as(_era_of_process()).has_graphs


def get_updates(optimizer: Any, *arguments: Any, **keywords: Any) -> list[Any]:
    """Return the step that lowers a loss (`optimizer.get_updates(loss, params)`), for `K.function(updates=)`.

    Args:
        optimizer: the optimizer.
        *arguments: `loss, params`, or Keras 1's `params, constraints, loss`.
        **keywords: the same by name.
    """
    names = (
        ("params", "constraints", "loss")
        if arguments and isinstance(arguments[0], (list, tuple))
        else ("loss", "params")
    )
    given = {**dict(zip(names, arguments, strict=False)), **keywords}
    variables = list(given["params"])
    if not optimizer.built:
        optimizer.build(variables)
    return [OptimizerStep(optimizer, given["loss"], variables)]


def apply_gradients(optimizer: Any, grads_and_vars: Any, global_step: Any = None) -> GradientStep:
    """Return the step with symbolic gradients (`optimizer.apply_gradients(pairs)`), for a session to run.

    Args:
        optimizer: the optimizer.
        grads_and_vars: pairs; a variable whose gradient is None stays as it is.
        global_step: a variable that counts the steps.
    """
    pairs = [(gradient, variable) for gradient, variable in grads_and_vars if gradient is not None]
    gradients, variables = [g for g, _ in pairs], [v for _, v in pairs]
    if not optimizer.built:
        optimizer.build(variables)
    return GradientStep(keras3.optimizer_for(optimizer, variables), gradients, variables, global_step)


def trained_by(loss: Any) -> list[Any]:
    """List the trainable weights of the layers that a symbolic tensor was computed by."""
    layers = graph_values.layers_before(loss)
    return list({id(v): v for layer in layers for v in layer.trainable_weights}.values())


def get_gradients(optimizer: Any, loss: Any, params: Any) -> list[Any]:
    """Return the gradients of a loss, clipped as the optimizer does (`optimizer.get_gradients(loss, params)`)."""
    found = gradients(loss, list(params))
    if loss is None:
        return steps_of_keras.clipped(optimizer, found)
    return ClippedGradients(optimizer)(found) if optimizer_steps.clips_of(optimizer) else found


class ClippedGradients(keras.Operation):  # type: ignore[misc]  # Keras carries no types
    """Gradients as an optimizer clips them, all of a step together.

    Args:
        optimizer: the optimizer.
    """

    def __init__(self, optimizer: Any) -> None:
        super().__init__(name="clipped_gradients")
        self._optimizer = optimizer

    def call(self, gradients: list[Any]) -> list[Any]:
        """Clip them."""
        return steps_of_keras.clipped(self._optimizer, gradients)

    def compute_output_spec(self, gradients: list[Any]) -> list[Any]:
        """Return their shapes and dtypes."""
        return [keras.KerasTensor(each.shape, each.dtype) for each in gradients]


def get_updates_for(layer: Any, inputs: Any = None) -> list[Any]:
    """Return what the layer writes when it is called in training, for `K.function(updates=)`.

    Of a model's own inputs it is nothing in Keras 2.2.4, whose `model.updates` has what its layers write; in a graph of
    `tf.keras` it is that, too.
    """
    from parallel_compat.run import object_eras

    numbers = [number for number, of in kept_numbers.updates(layer) if kept_numbers.are_for(of, inputs)]
    era = object_eras.trained_as(object_eras.era_of_object(layer))
    if inputs is None or (isinstance(layer, keras.Model) and era is not Era.TF_KERAS_1_15):
        return numbers
    return [*numbers, *_written(layer)]


def _written(layer: Any) -> list[Any]:
    # One for each statistic of each layer that is not frozen, as Keras 2 counted them; states of seeds are none.
    seeds = {id(state) for state in keras3.seed_states(layer)}
    parts = [part for part in keras3.all_layers(layer) if part.trainable and not _only_predicts(part)]
    own = [each for part in parts for each in keras3.own_weights(part)[1]]
    return [LayerUpdates(layer) for each in own if id(each) not in seeds]


def _only_predicts(layer: Any) -> bool:
    """Say whether a script called the layer with `training=False` each time (`run.patches.layers` makes a 0 of it)."""
    given = [node.arguments.kwargs.get("training") for node in calls_of(layer)]
    return bool(given) and all(isinstance(each, int) and not isinstance(each, bool) and not each for each in given)


def updates_of(layer: Any) -> list[Any]:
    """Return what the layer writes when it is called in training (`layer.updates`)."""
    return [*(number for number, _ in kept_numbers.updates(layer)), *_written(layer)]


# --- functions ----------------------------------------------------------------------------------------------------


def function(inputs: Sequence[Any], outputs: Any, updates: Any = None, **kwargs: Any) -> Function:
    """Return a function from arrays to arrays, computed by what stands between two lists of symbolic tensors.

    >>> import keras, numpy as np
    >>> x = keras.Input((2,)); y = keras.layers.Activation("relu")(x)
    >>> f = function([x], [y])
    >>> f([np.array([[-1.0, 1.0]])])[0].tolist()
    [[0.0, 1.0]]

    Args:
        inputs: placeholders, inputs or any other tensors of models; `K.learning_phase()` among them takes 0 or 1.
        outputs: tensors computed from them, and variables; a list, or one of them.
        updates: pairs (variable, new value), and what `K.update` and `optimizer.get_updates` returned.
        **kwargs: went to `tf.Session.run`: `fetches`, further tensors and updates whose values are not returned, and
            `feed_dict`, values by placeholder that are looked up at each call. `name` is taken.

    Returns:
        A function that takes a list of arrays and returns a list of arrays.

    Raises:
        TypeError: for anything else among them, or other arguments of a session.
    """
    if kwargs.keys() - {"name", "fetches", "feed_dict"}:
        raise TypeError(
            f"Expected `inputs`, `outputs`, `updates`, `fetches` and `feed_dict`. Received: {sorted(kwargs)}, which "
            "went to a TensorFlow 1 session; there is none."
        )
    fetches, feed = kwargs.get("fetches") or [], kwargs.get("feed_dict") or {}
    # A tensor among `fetches` changes nothing.
    updates = [*(updates or ()), *(each for each in fetches if is_update(each))]
    return _FedFunction(inputs, outputs, updates, feed) if feed else Function(inputs, outputs, updates)


class MissingInputError(ValueError):
    """An output is computed from an input that is not among those given."""


class Function:
    """What `K.function` returns, see `function`.

    Args:
        inputs: as there.
        outputs: as there.
        updates: as there.
    """

    def __init__(self, inputs: Sequence[Any], outputs: Any, updates: Any = None) -> None:
        if not isinstance(inputs, (list, tuple)):
            raise TypeError(f"Expected `inputs` to be a list. Received: {type(inputs).__name__}")
        self.inputs = list(inputs)
        self._single = not isinstance(outputs, (list, tuple, ValuesView))
        self.outputs = [outputs] if self._single else list(outputs)
        self._updates = [_as_update(each) for each in updates or ()]
        for x in self.inputs:
            if not isinstance(x, (keras.KerasTensor, LearningPhase, int)):
                raise TypeError(_foreign("inputs", x))
        for x in self.outputs:
            if not isinstance(x, (keras.KerasTensor, keras.Variable, tf.Variable)) and not is_noted(x):
                raise TypeError(_foreign("outputs", x))
        for each in self._updates:
            if isinstance(each, Update):
                _refuse_constant(each)
        self._tensors = [x for x in self.inputs if isinstance(x, keras.KerasTensor)]
        self._layers, self._data = _layers_between(self._tensors, [*self.outputs, *_computed(self._updates)])
        self._tensors += self._data
        self._compiled: dict[Any, Any] = {}
        self._of_fewer: dict[tuple[int, ...], Function] = {}
        self.kept: Any = None

    @graphs_of_programs.outside
    def __call__(self, inputs: Any = ()) -> Any:
        """Compute the outputs for a list of arrays, and carry out the updates."""
        if _era_of_process().is_tf_keras:
            inputs = _flat(inputs) if isinstance(inputs, (list, tuple)) else keras.tree.flatten(inputs)
        if not isinstance(inputs, (list, tuple)):
            raise TypeError(f"Expected a list of arrays. Received: {type(inputs).__name__}")
        # As it was: what is beyond the inputs was left out, and those without a value counted where one was needed.
        pairs = [(x, value) for x, value in zip(self.inputs, inputs, strict=False) if value is not None]
        if len(pairs) < len(self.inputs):
            return self._of([x for x, _ in pairs])([value for _, value in pairs])
        step = data_tensors.Step()
        pairs += [(x, step.value(data_tensors.read_by(x))) for x in self._data]
        given = [_as_fed(x, value) for x, value in pairs if isinstance(x, keras.KerasTensor)]
        phases = [value for x, value in pairs if isinstance(x, (LearningPhase, int))]  # a number where none was fed
        training = bool(phases[0]) if phases and fixed_learning_phase() is None else False
        specs = tuple(_spec_to_feed(x, value) for x, value in zip(self._tensors, given, strict=True))
        if (training, specs) not in self._compiled:
            self._compiled[training, specs] = self._compile(training, specs)
        results = [as_numpy(result) for result in self._compiled[training, specs](*given)]
        return results[0] if self._single else results

    def _of(self, inputs: list[Any]) -> Function:
        """Return the function of some of the inputs."""
        key = tuple(map(id, inputs))
        if key not in self._of_fewer:
            outputs = self.outputs[0] if self._single else self.outputs
            self._of_fewer[key] = Function(inputs, outputs, self._updates)
        return self._of_fewer[key]

    def _compile(self, training: bool, specs: Sequence[Any]) -> Any:
        # Layers write (moving statistics) only where their updates are asked for; their random states always.
        kept = [each.layer for each in self._updates if isinstance(each, LayerUpdates)]
        seeds = [state for layer in self._layers for state in keras3.seed_states(layer)]
        # In Keras 2.2.4 what was fetched of a variable is what the updates left; later it is what they began with.
        after = bool(self._updates) and _era_of_process() is Era.KERAS_2_2_4

        def run(*given: Any) -> list[Any]:
            values = Values(zip(self._tensors, given, strict=True), training)
            if training and not kept:
                with keras3.written_to_scope() as scope:
                    outputs, steps = self._computed(values)
                for state in seeds:
                    written = scope.get_current_value(state)
                    if written is not None:
                        state.assign(written)
            else:
                outputs, steps = self._computed(values)
            with tf.control_dependencies(outputs):
                for step in steps:  # outside of the scope, which would swallow what an optimizer writes
                    step()
            if not after:
                return outputs
            pairs = zip(self.outputs, outputs, strict=True)
            return [_as_tensor(x) if isinstance(x, (keras.Variable, tf.Variable)) else output for x, output in pairs]

        function = tf.function(run, input_signature=specs, autograph=False)
        trains = any(isinstance(each, (OptimizerStep, GradientStep)) for each in self._updates)
        return constant_folding.unfolded(function) if trains else function

    def _computed(self, values: Values) -> tuple[list[Any], list[Callable[[], Any]]]:
        """Compute the outputs and what the updates need; return them with the steps that carry these out."""
        outputs = [_as_tensor(_value(each, values)) for each in self.outputs]
        if any(isinstance(each, LayerUpdates) for each in self._updates):
            values.of(_computed(self._updates))
        steps: list[Callable[[], Any]] = []
        for each in self._updates:
            if isinstance(each, Update):
                steps.append(functools.partial(each.assign, _value(each.value, values)))
            elif isinstance(each, OptimizerStep):
                found = _gradients_here(values.of(each.loss), each.variables, zeros=True)
                pairs = list(zip(found, each.variables, strict=True))
                steps.append(functools.partial(each.optimizer.apply_gradients, pairs))
            elif isinstance(each, GradientStep):
                steps.append(functools.partial(each.apply, [_value(g, values) for g in each.gradients]))
        return outputs, steps


def _flat(values: Sequence[Any]) -> list[Any]:
    """Take lists of arrays apart, as tf.keras did (`nest.flatten`); a list of numbers is an array."""

    def holds_arrays(value: Any) -> bool:
        return isinstance(value, (list, tuple)) and all(
            each is None or (hasattr(each, "shape") and each.shape != ()) for each in keras.tree.flatten(value)
        )

    return [each for value in values for each in (keras.tree.flatten(value) if holds_arrays(value) else [value])]


def _as_tensor(value: Any) -> Any:
    return value if isinstance(value, tf.RaggedTensor) else tf.convert_to_tensor(value)


def as_numpy(result: Any) -> Any:
    """Return an array of numpy, or a number of numpy for what has no axes; a ragged tensor as it is."""
    if isinstance(result, tf.RaggedTensor):
        return result
    with tf.init_scope():  # also while a step is traced, where it is made of constants and variables
        return keras.ops.convert_to_numpy(tensors_of_steps.value_now(result))[()]


def _spec_to_feed(x: Any, value: Any) -> Any:
    """Return the type of a placeholder, without the sizes that an array has otherwise: none were checked."""
    if isinstance(value, tf.RaggedTensor):
        return tf.RaggedTensorSpec(x.shape, x.dtype, value.ragged_rank, value.row_splits.dtype)
    shape, given = tuple(x.shape), tuple(value.shape)
    if len(shape) == len(given):
        shape = tuple(size if size == here else None for size, here in zip(shape, given, strict=True))
    return tf.SparseTensorSpec(shape, x.dtype) if x.sparse else tf.TensorSpec(shape, x.dtype)


class _FedFunction(Function):
    """A function with a `feed_dict`, which may change between calls."""

    def __init__(self, inputs: Sequence[Any], outputs: Any, updates: Any, feed: dict[Any, Any]) -> None:
        super().__init__([*inputs, *feed], outputs, updates)
        self._feed, self._fed = feed, list(feed)

    @graphs_of_programs.outside
    def __call__(self, inputs: Any = ()) -> Any:
        return super().__call__([*inputs, *(self._feed[each] for each in self._fed)])


def _value(x: Any, values: Values) -> Any:
    return values.of(x) if isinstance(x, keras.KerasTensor) else keras.ops.convert_to_tensor(as_of_now(x))


def _as_update(update: Any) -> Any:
    if is_update(update):
        return update
    if isinstance(update, tuple) and len(update) == 2 and hasattr(update[0], "assign"):
        return Update(*update)
    raise TypeError(
        "Expected `updates` of pairs (variable, new value), of `K.update(...)`, or of `optimizer.get_updates(...)`. "
        f"Received: {type(update).__name__}"
    )


def _computed(updates: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for each in updates:
        found += getattr(each, "gradients", None) or [
            each.value if isinstance(each, Update) else getattr(each, "loss", None)
        ]
    return [each for each in found if isinstance(each, keras.KerasTensor)]


def _layers_between(known: Sequence[Any], tensors: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the layers between tensors, and inputs that are read from tensors in the place of data."""
    stop = {id(x) for x in known}
    waiting, seen, layers, data = [x for x in tensors if isinstance(x, keras.KerasTensor)], set(), {}, []
    while waiting:
        current = waiting.pop()
        node = graph_values.node_of(current)
        if id(current) in stop or node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if node.is_input and data_tensors.read_by(current) is not None:
            data.append(current)
            continue
        if node.is_input:
            raise MissingInputError(
                f"Expected each output to be computed from `inputs`. Received: one that needs the tensor "
                f"'{current.name}' of shape {tuple(current.shape)} as well. Add it to the inputs."
            )
        if isinstance(node.operation, keras.layers.Layer):
            layers[id(node.operation)] = node.operation
        waiting += node.input_tensors
    return list(layers.values()), data


def _as_fed(x: Any, value: Any) -> Any:
    if x.sparse:
        return keras3.scipy_sparse_to_tensor(value) if keras3.is_scipy_sparse(value) else tf.sparse.from_dense(value)
    if isinstance(value, tf.RaggedTensor):
        return tf.cast(value, x.dtype)
    if x.dtype == "string":  # which numpy does not know by that name
        return tf.convert_to_tensor(value, tf.string)
    _refuse_unknown_rank(x, value)
    return tf.convert_to_tensor(np.asarray(value, x.dtype) if not tf.is_tensor(value) else value, x.dtype)


def _foreign(name: str, x: Any) -> str:
    return (
        f"Expected `{name}` of symbolic tensors (`K.placeholder`, `layer.input`, `layer.output`)"
        f"{' and variables' if name == 'outputs' else ' and `K.learning_phase()`'}. Received: {type(x).__name__}. "
        "What TensorFlow computes from variables alone is a number already: read it with `K.get_value`, or compute it "
        "in a function with `tf.GradientTape`."
    )


def run(fetches: Sequence[Any], feed: dict[Any, Any], made: dict[Any, Function]) -> list[Any]:
    """Compute symbolic tensors and carry out updates, for a session.

    Args:
        fetches: symbolic tensors, variables, and what `K.update` and `optimizer.get_updates` returned.
        feed: values by symbolic tensors and `K.learning_phase()`.
        made: the functions that were made for other calls; one is added where it is new.

    Returns:
        A value for each of the fetches: of an assignment what the variable is then, None for other operations.
    """
    outputs = [each for each in fetches if not is_update(each)]
    key = (*map(id, feed), None, *map(id, fetches))
    if key not in made:
        parts = [part for each in fetches if is_update(each) for part in _parts(each)]
        made[key] = Function(list(feed), outputs, [each for each in parts if is_update(each)])
        made[key].kept = fetches  # whose ids are in the key
    results = iter(made[key](list(feed.values())))
    return [_after(each) if is_update(each) else next(results) for each in fetches]


def _after(operation: Any) -> Any:
    return operation.assigned() if isinstance(operation, Update) else None


def is_update(fetch: Any) -> bool:
    """Say whether it is an assignment or a step to come."""
    return isinstance(fetch, (Update, Group, OptimizerStep, GradientStep, LayerUpdates))


def can_be_fed(key: Any) -> bool:
    """Say whether it is a symbolic tensor or the learning phase."""
    return isinstance(key, (keras.KerasTensor, LearningPhase))
