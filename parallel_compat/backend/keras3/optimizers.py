"""Optimizers for several models, and on several replicas. Read in Keras 3.15.1."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import keras
import tensorflow as tf
from tensorflow.python.distribute import distribute_lib
from tensorflow.python.framework import ops as tf_ops

from parallel_compat.backend.keras3 import learning_rate, optimizer_slots
from parallel_compat.backend.patches import CORE


def optimizer_for(optimizer: keras.optimizers.Optimizer, variables: Sequence[keras.Variable]) -> Any:
    """Return an optimizer that can update `variables`: `optimizer` itself, or a twin if it belongs to others.

    In Keras 2 one optimizer object could be compiled into several models: each model had its own moments, the
    learning rate and the count of iterations were common. Keras 3 builds an optimizer for one set of variables
    (`BaseOptimizer._trainable_variables_indices`) and refuses others. The twin shares `_learning_rate` and
    `_iterations`.
    """
    if isinstance(optimizer, keras.optimizers.LossScaleOptimizer):
        inner = optimizer_for(optimizer.inner_optimizer, variables)
        if inner is optimizer.inner_optimizer:
            return optimizer
        with tf.init_scope():
            return keras.optimizers.LossScaleOptimizer(inner, optimizer.initial_scale, optimizer.dynamic_growth_steps)
    if (
        not optimizer.built
        or takes_any_variables(optimizer)
        or all(optimizer_slots.knows(optimizer, v) for v in variables)
    ):
        return optimizer
    if has_moments_of(optimizer, variables):  # of a part of a model, the rest of which was frozen
        optimizer_slots.extend(optimizer, [v for v in variables if not optimizer_slots.knows(optimizer, v)])
        return optimizer
    return twin_of(optimizer)


def takes_any_variables(optimizer: Any) -> bool:
    """Return whether an optimizer steps any variables, as those of `legacy.graph_optimizers`."""
    return getattr(optimizer, "takes_any_variables", False)


def has_moments_of(optimizer: keras.optimizers.Optimizer, variables: Sequence[keras.Variable]) -> bool:
    """Return whether an optimizer has stepped one of these variables, and can go on with more of them."""
    is_known = optimizer_slots.kind_of(optimizer) in optimizer_slots.SLOTS
    return is_known and any(optimizer_slots.knows(optimizer, each) for each in variables)


def twin_of(optimizer: keras.optimizers.Optimizer) -> keras.optimizers.Optimizer:
    """Return an optimizer without moments that shares the learning rate and the count of iterations."""
    with tf.init_scope():
        config = {key: value for key, value in optimizer.get_config().items() if key != "decay"}
        twin = type(optimizer).from_config(config)
        shared = [(twin.iterations, optimizer.iterations)]
        rate = learning_rate.variable_of(optimizer)
        if rate is not None:
            shared.append((learning_rate.variable_of(twin), rate))
        optimizer_slots.share_variables(twin, shared)
    # What was set on the object, of which its configuration says nothing that Keras heeds.
    decay = learning_rate.decay_of(optimizer)
    if decay is not None:
        learning_rate.step_with(twin, decay)
    return twin


@contextlib.contextmanager
def outside_replicas() -> Iterator[None]:
    """Leave the scope of a `tf.distribute` strategy for a while, as if none had been entered.

    What an optimizer does there is what it does on one device. Stands on TensorFlow's `_push_per_thread_mode`,
    `_get_default_replica_mode` and `Graph._variable_creator_stack` (read in 2.21).
    """
    graph = tf_ops.get_default_graph()
    distribute_lib._push_per_thread_mode(distribute_lib._get_default_replica_mode())
    creators, graph._variable_creator_stack = graph._variable_creator_stack, []
    try:
        yield
    finally:
        graph._variable_creator_stack = creators
        distribute_lib._pop_per_thread_mode()


def update_once_for_all_replicas() -> None:
    """Let optimizers be called on each replica of a custom loop, for variables that exist once.

    `strategy.run(step)` calls `optimizer.apply_gradients` on every replica. For mirrored variables Keras adds up
    the gradients and updates every copy; for a variable that all replicas share it fails. Here the replicas' gradients
    are added up and the optimizer is called once, as on one device, so clipping, averaging and accumulation
    see the gradient of the global batch. Replaces `apply` of the optimizer classes that define one; it acts as before
    outside of replicas and for mirrored variables.
    """
    optimizers = [value for value in vars(keras.optimizers).values() if isinstance(value, type)]
    bases: set[Any] = {base for optimizer in optimizers for base in optimizer.__mro__}
    for base in bases:
        if "apply" in vars(base):
            CORE.around(base, "apply", _merging_apply, why="gradients of replicas are added up and applied once")


def keep_reads_before_updates() -> None:
    """Let no weight be updated before the step has read it.

    Keras's TensorFlow optimizers pass the gradients through `ReplicaContext.all_reduce` on one device too, where it is
    an `IdentityN` of all of them. Grappler takes the path through it for an order (each read of a weight comes before
    all gradients, so the edge from the read to the weight's own update is dropped as implied), then takes the
    `IdentityN` away, and the order with it. Where a loss is linear in a weight (WGAN critics), no gradient needs the
    forward pass: the weight may be updated first, and losses and other gradients are then those of the new weight; in
    15 of 100 traces with Keras 3.15.1 on TensorFlow 2.21. With one replica there is nothing to reduce.
    """
    name = "_all_reduce_sum_gradients"
    why = "on one device an update may overtake the forward pass's read of the weight"
    CORE.around(_class_with(name), name, _reduce_over_replicas, why=why)


def follow_models_into_strategies() -> None:
    """Let an optimizer that was made before `strategy.scope()` train a model that was made in it, as in TensorFlow 2.2.

    Keras notes the strategy when the optimizer is made; its first variables (step counter, learning rate) are then no
    mirrored ones, and it refuses the model's ("Mixing different tf.distribute.Strategy objects").
    """
    why = "an optimizer made before strategy.scope() is refused by the model made in it"
    CORE.around(_class_with("build"), "build", _following_build, why=why)


def _class_with(method: str) -> Any:
    """Return the class from which Keras's optimizers have a method."""
    return next(kind for kind in keras.optimizers.Optimizer.__mro__ if method in vars(kind))


def _following_build(original: Callable[..., None], self: Any, variables: Any) -> None:
    strategy = tf.distribute.get_strategy()
    other = getattr(self, "_distribution_strategy", strategy) is not strategy
    if other and tf.distribute.in_cross_replica_context() and any(map(_is_mirrored, variables)):
        with tf.init_scope(), strategy.scope():
            for variable in self.variables:
                variable._initialize(tf.constant(variable.numpy(), variable.dtype))
        self._distribution_strategy = strategy
    original(self, variables)


def _reduce_over_replicas(original: Callable[..., Any], self: Any, grads_and_vars: Any) -> Any:
    context = tf.distribute.get_replica_context()
    is_alone = context is None or context.num_replicas_in_sync == 1
    return grads_and_vars if is_alone else original(self, grads_and_vars)


def _merging_apply(original: Callable[..., None], self: Any, grads: Any, trainable_variables: Any = None) -> None:
    context = tf.distribute.get_replica_context()
    grads = list(grads)
    variables = None if trainable_variables is None else list(trainable_variables)
    known = self.variables if variables is None else variables
    if context is None or context.num_replicas_in_sync == 1 or any(map(_is_mirrored, known)):
        return original(self, grads, trainable_variables)
    present = [i for i, gradient in enumerate(grads) if gradient is not None]

    def once(strategy: tf.distribute.Strategy, *own: Any) -> None:
        # Not `context.all_reduce`, see `keep_reads_before_updates`.
        reduced = strategy.extended.batch_reduce_to(tf.distribute.ReduceOp.SUM, [(g, g) for g in own])
        whole: list[Any] = [None] * len(grads)
        for i, gradient in zip(present, reduced, strict=True):
            whole[i] = strategy.experimental_local_results(gradient)[0]
        with tf.init_scope(), outside_replicas():
            self._distribution_strategy = tf.distribute.get_strategy()
            if not self.built and variables is not None:
                self.build(variables)
        with outside_replicas():
            original(self, whole, variables)

    context.merge_call(once, args=tuple(grads[i] for i in present))
    return None


def _is_mirrored(variable: Any) -> bool:
    value = variable.value if isinstance(variable, keras.Variable) else variable
    return isinstance(value, tf.distribute.DistributedValues)
