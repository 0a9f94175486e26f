"""The steps of an era's optimizers: from `keras/optimizers.py` of 2.2.4 and `optimizer_v2` of TensorFlow 1.15 and 2.2.

On dense gradients the three eras step alike, and Keras 3 differs in RMSprop, Adagrad and Nadam: epsilon is added to
the root, not under it, and Nadam's schedule has another exponent. On an Embedding's gradient Keras 2.2.4 made the
gradient dense, so that every row moves; tf.keras added up a row's parts, and with most optimizers left the rows
alone that were not looked up. Keras 3 squares each part of a row by itself.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from parallel_compat.backend.keras3 import learning_rate, optimizer_steps
from parallel_compat.legacy import config_spelling
from parallel_compat.names.arguments import SCHEDULE_DECAY
from parallel_compat.names.eras import Era

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import keras

    from parallel_compat.backend.keras3.optimizer_steps import Step


def step_as(
    optimizer: keras.optimizers.Optimizer,
    era: Era,
    *,
    clipnorm: float | None = None,
    clipvalue: float | None = None,
    schedule_decay: float = SCHEDULE_DECAY,
) -> bool:
    """Let an optimizer clip and step as in its era.

    Args:
        optimizer: an optimizer of Keras that has not been built; of a class of its own it stays as it is.
        era: the era.
        clipnorm: the old argument: for Keras 2.2.4 the norm of all gradients together, for tf.keras of each.
        clipvalue: the old argument; with `clipnorm` it is applied after it.
        schedule_decay: the old argument of Nadam.

    Returns:
        Whether the optimizer steps as in the era from now on.
    """
    if not is_known(optimizer, era):
        return False
    formula = _FORMULAS[optimizer_steps.kind_of(optimizer)]
    rows = not era.is_standalone
    clip = _clip_together if era.is_standalone else _clip_each
    optimizer_steps.set_step(
        optimizer,
        formula=formula,
        clip=clip,
        together=era.is_standalone,
        clipnorm=clipnorm,
        clipvalue=clipvalue,
        rows_touched=rows,
        schedule=partial(_nadam_momentum, schedule_decay=schedule_decay),
        # tf.keras called it `decay` in files, and made the default of what it read there.
        slots_by_gradient=era is Era.TF_KERAS_2_2,
        config={} if era.is_tf_keras or schedule_decay == SCHEDULE_DECAY else {"schedule_decay": schedule_decay},
    )
    return True


def schedule_decay_of(optimizer: Any) -> float:
    """Return the `schedule_decay` that `step_as` gave an optimizer, or its default."""
    schedule = (optimizer_steps.step_settings(optimizer) or {}).get("schedule")
    return float(schedule.keywords["schedule_decay"]) if isinstance(schedule, partial) else SCHEDULE_DECAY


def kind_of(optimizer: Any) -> str:
    """Return the name of an optimizer's class if it is one of Keras's own, else ""."""
    return optimizer_steps.kind_of(optimizer)


def config_in_era(optimizer: Any, config: dict[str, Any], era: Era) -> Any:
    """Return the configuration of an optimizer for the code of an era.

    Args:
        optimizer: the optimizer.
        config: what today's `get_config` says.
        era: of the code that asks.
    """
    decay = learning_rate.decay_of(optimizer)
    config = config if decay is None else {**config, "decay": decay}
    if learning_rate.is_function(optimizer):
        config = {**config, "learning_rate": float(optimizer.learning_rate)}
    clips, schedule_decay = clips_of(optimizer), schedule_decay_of(optimizer)
    return config_spelling.of_optimizer(kind_of(optimizer), config, era, clips, schedule_decay)


def clips_of(optimizer: Any) -> dict[str, float]:
    """Return the `clipnorm` and `clipvalue` of an optimizer that `step_as` was given."""
    given = {} if optimizer_steps.step_settings(optimizer) is None else optimizer_steps.clips_of(optimizer)
    return {name: value for name, value in given.items() if value is not None}


def step_as_tensorflow_1(optimizer: keras.optimizers.Optimizer) -> Any:
    """Let an optimizer of Keras step as the one of `tf.train` that it was made for, and return it.

    Their kernels are those of tf.keras, but for RMSProp's, which has epsilon under the root and starts at 1.
    """
    step_as(optimizer, Era.TF_KERAS_1_15)
    if optimizer_steps.kind_of(optimizer) == "RMSprop":
        settings = optimizer_steps.step_settings(optimizer) or {}
        optimizer_steps.set_step(optimizer, **{**settings, "formula": partial(_rmsprop, inside=True)})
        optimizer_steps.start_slot_at(optimizer, "velocity", 1.0)
    return optimizer


def clip_each(optimizer: keras.optimizers.Optimizer) -> None:
    """Let an optimizer that steps as Keras 2.2.4's limit the norm of each gradient: TensorFlow's copy of it did."""
    settings = optimizer_steps.step_settings(optimizer) or {}
    optimizer_steps.set_step(optimizer, **{**settings, "clip": _clip_each, "together": False})


def is_known(optimizer: keras.optimizers.Optimizer, era: Era) -> bool:
    """Say whether an optimizer's steps in an era are known: those of Keras's own classes that the era had."""
    return era is not Era.TODAY and optimizer_steps.kind_of(optimizer) in _FORMULAS


# --- clipping -----------------------------------------------------------------------------------------------------


def clip_of(era: Era) -> Callable[..., list[Any]]:
    """Return what clips the gradients of an era's optimizers, called with them, `clipnorm` and `clipvalue`."""
    return _clip_together if era.is_standalone else _clip_each


def _clip_together(gradients: Sequence[Any], clipnorm: float | None, clipvalue: float | None) -> list[Any]:
    """As `Optimizer.get_gradients` of Keras 2.2.4; 0 is off.

    The norm is that of whole gradients; by value the parts of a row were clipped before they were added up.
    """
    clipped = list(gradients)
    if clipnorm is not None and clipnorm > 0:
        squares = [tf.reduce_sum(tf.square(optimizer_steps.dense(each))) for each in clipped]
        norm = tf.sqrt(tf.add_n([tf.cast(each, "float32") for each in squares]))
        scale = tf.where(norm >= clipnorm, clipnorm / tf.maximum(norm, 1e-30), 1.0)
        clipped = [tf.math.scalar_mul(tf.cast(scale, each.dtype), each) for each in clipped]
    if clipvalue is not None and clipvalue > 0:
        clipped = [tf.clip_by_value(each, -clipvalue, clipvalue) for each in clipped]
    return clipped


def _clip_each(gradients: Sequence[Any], clipnorm: float | None, clipvalue: float | None) -> list[Any]:
    """As `OptimizerV2.get_gradients`: each gradient by itself, the parts of a row before they are added up.

    0 clips to 0 there.
    """
    clipped = list(gradients)
    if clipnorm is not None:
        clipped = [tf.clip_by_norm(each, clipnorm) for each in clipped]
    if clipvalue is not None:
        clipped = [tf.clip_by_value(each, -clipvalue, clipvalue) for each in clipped]
    return clipped


# --- steps --------------------------------------------------------------------------------------------------------
#
# `step.keep(slot, value)` writes a slot where the step touches it and returns what it is afterwards; `everywhere=True`
# writes the other rows as well.


def _sgd(step: Step) -> None:
    if not step.has("momentum"):
        step.move(-step.rate * step.gradient)
        return
    momentum, pull = step.number("momentum"), step.rate * step.gradient
    velocity = step.keep("momentum", momentum * step.slot("momentum") - pull)
    step.move(momentum * velocity - pull if step.option("nesterov") else velocity)


def _rmsprop(step: Step, inside: bool = False) -> None:
    rho, gradient = step.number("rho"), step.gradient
    inside = inside or step.has("momentum")  # TensorFlow's kernels add epsilon under the root
    square = step.keep("velocity", rho * step.slot("velocity") + (1 - rho) * tf.square(gradient), everywhere=not inside)
    if step.option("centered"):
        mean = step.keep("mean", rho * step.slot("mean") + (1 - rho) * gradient, everywhere=not inside)
        square = square - tf.square(mean)
    if not inside:
        step.move(-step.rate * gradient / (tf.sqrt(square) + step.epsilon))
        return
    pull = step.rate * gradient * tf.math.rsqrt(square + step.epsilon)
    if step.has("momentum"):
        pull = step.keep("momentum", step.number("momentum") * step.slot("momentum") + pull)
    step.move(-pull)


def _adagrad(step: Step) -> None:
    sums = step.keep("accumulator", step.slot("accumulator") + tf.square(step.gradient))
    step.move(-step.rate * step.gradient / (tf.sqrt(sums) + step.epsilon))


def _adadelta(step: Step) -> None:
    rho, epsilon = step.number("rho"), step.epsilon
    before = step.slot("delta")
    square = step.keep("accumulator", rho * step.slot("accumulator") + (1 - rho) * tf.square(step.gradient))
    update = step.gradient * tf.sqrt(before + epsilon) / tf.sqrt(square + epsilon)
    step.keep("delta", rho * before + (1 - rho) * tf.square(update))
    step.move(-step.rate * update)


def _adam(step: Step) -> None:
    beta_1, beta_2, gradient = step.number("beta_1"), step.number("beta_2"), step.gradient
    rate = step.rate * tf.sqrt(1 - tf.pow(beta_2, step.count)) / (1 - tf.pow(beta_1, step.count))
    m = step.keep("m", beta_1 * step.slot("m") + (1 - beta_1) * gradient, everywhere=True)
    v = step.keep("v", beta_2 * step.slot("v") + (1 - beta_2) * tf.square(gradient), everywhere=True)
    if step.option("amsgrad"):
        v = step.keep("greatest", tf.maximum(step.slot("greatest"), v), everywhere=True)
    step.move(-rate * m / (tf.sqrt(v) + step.epsilon), everywhere=True)


def _adamax(step: Step) -> None:
    beta_1, beta_2, gradient = step.number("beta_1"), step.number("beta_2"), step.gradient
    m = step.keep("m", beta_1 * step.slot("m") + (1 - beta_1) * gradient)
    u = step.keep("u", tf.maximum(beta_2 * step.slot("u"), tf.abs(gradient)))
    step.move(-step.rate / (1 - tf.pow(beta_1, step.count)) * m / (u + step.epsilon))


def _nadam(step: Step) -> None:
    beta_1, beta_2, gradient = step.number("beta_1"), step.number("beta_2"), step.gradient
    now, following = (step.schedule(beta_1, step.count + ahead) for ahead in (0, 1))
    product = step.product  # of the momenta up to this step
    m = step.keep("m", beta_1 * step.slot("m") + (1 - beta_1) * gradient, everywhere=True)
    v = step.keep("v", beta_2 * step.slot("v") + (1 - beta_2) * tf.square(gradient), everywhere=True)
    mean = (1 - now) * gradient / (1 - product) + following * m / (1 - product * following)
    variance = v / (1 - tf.pow(beta_2, step.count))
    step.move(-step.rate * mean / (tf.sqrt(variance) + step.epsilon))


def _nadam_momentum(beta_1: Any, count: Any, schedule_decay: float) -> Any:
    """Nadam's momentum in a step, counted from 1."""
    return beta_1 * (1 - 0.5 * tf.exp(math.log(0.96) * schedule_decay * count))


def _ftrl(step: Step) -> None:
    variable, power = step.value, -float(step.option("learning_rate_power"))
    # As TensorFlow's `ApplyFtrl`, which takes the root for the usual power: what is subtracted is nearly the same.
    raised = tf.sqrt if power == 0.5 else partial(tf.pow, y=power)
    before = step.slot("accumulator")
    shrunk = step.gradient + 2 * float(step.option("l2_shrinkage_regularization_strength")) * variable
    sums = step.keep("accumulator", before + tf.square(step.gradient))
    by = shrunk - (raised(sums) - raised(before)) / step.rate * variable
    linear = step.keep("linear", step.slot("linear") + by)
    quadratic = raised(sums) / step.rate + 2 * float(step.option("l2_regularization_strength"))
    edge = float(step.option("l1_regularization_strength"))
    # Not by a difference from the value before, which may be a thousand times as large.
    step.become((tf.clip_by_value(linear, -edge, edge) - linear) / quadratic)


_FORMULAS: dict[str, Callable[[Step], None]] = {
    "SGD": _sgd,
    "RMSprop": _rmsprop,
    "Adagrad": _adagrad,
    "Adadelta": _adadelta,
    "Adam": _adam,
    "Adamax": _adamax,
    "Nadam": _nadam,
    "Ftrl": _ftrl,
}
