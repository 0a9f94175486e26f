"""The steps of Keras 2.2.4's optimizers where Keras 3's are others: private state of optimizers, read in Keras 3.15.1.

From `keras/optimizers.py`, 2.2.4. Adam, Adamax, Adadelta and SGD step today as they did.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import keras


def step_as_keras_2(optimizer: keras.optimizers.Optimizer) -> None:
    """Let an RMSprop, Adagrad or Nadam step as in Keras 2.2.4; other optimizers stay as they are.

    Set on the object, not on its class: a saved model names Keras's own class.

    - RMSprop and Adagrad divide by `sqrt(v) + epsilon`; Keras 3 by `sqrt(v + epsilon)`, which shortens the steps where
      gradients are small.
    - Nadam's momentum is `beta_1 * (1 - 0.5 * 0.96 ** (0.004 * t))`; Keras 3's lacks the 0.004.

    Args:
        optimizer: not built yet.
    """
    import keras

    kind = type(optimizer)
    if kind is keras.optimizers.RMSprop and not optimizer.momentum and not optimizer.centered:
        optimizer.update_step = partial(_rmsprop, optimizer)
    elif kind is keras.optimizers.Adagrad:
        optimizer.update_step = partial(_adagrad, optimizer)
    elif kind is keras.optimizers.Nadam:
        optimizer.update_step = partial(_nadam, optimizer)
        optimizer._backend_update_step = partial(_nadam_schedule, optimizer)


def steps_as_keras_2(optimizer: keras.optimizers.Optimizer) -> bool:
    """Say whether `step_as_keras_2` changed an optimizer."""
    return isinstance(vars(optimizer).get("update_step"), partial)


def _rmsprop(optimizer: Any, gradient: Any, variable: Any, learning_rate: Any) -> None:
    import keras

    rate, gradient = (keras.ops.cast(value, variable.dtype) for value in (learning_rate, gradient))
    velocity = optimizer._velocities[optimizer._get_variable_index(variable)]
    optimizer.assign(velocity, optimizer.rho * velocity + (1 - optimizer.rho) * keras.ops.square(gradient))
    optimizer.assign_sub(variable, rate * gradient / (keras.ops.sqrt(velocity) + optimizer.epsilon))


def _adagrad(optimizer: Any, gradient: Any, variable: Any, learning_rate: Any) -> None:
    import keras

    rate, gradient = (keras.ops.cast(value, variable.dtype) for value in (learning_rate, gradient))
    accumulator = optimizer._accumulators[optimizer._get_variable_index(variable)]
    optimizer.assign_add(accumulator, keras.ops.square(gradient))
    optimizer.assign_sub(variable, rate * gradient / (keras.ops.sqrt(accumulator) + optimizer.epsilon))


def _nadam_momentum(optimizer: Any, step: Any) -> Any:
    import keras

    return optimizer.beta_1 * (1 - 0.5 * keras.ops.power(keras.ops.cast(0.96, step.dtype), 0.004 * step))


def _nadam_schedule(optimizer: Any, gradients: Any, variables: Any, learning_rate: Any) -> None:
    import keras

    step = keras.ops.cast(optimizer.iterations + 1, optimizer._u_product.dtype)
    optimizer.assign(optimizer._u_product, optimizer._u_product * _nadam_momentum(optimizer, step))
    # Past Nadam's own, which would multiply by its momentum as well.
    super(keras.optimizers.Nadam, optimizer)._backend_update_step(gradients, variables, learning_rate)


def _nadam(optimizer: Any, gradient: Any, variable: Any, learning_rate: Any) -> None:
    import keras

    ops = keras.ops
    rate, gradient = (ops.cast(value, variable.dtype) for value in (learning_rate, gradient))
    step = ops.cast(optimizer.iterations + 1, variable.dtype)
    now, following = _nadam_momentum(optimizer, step), _nadam_momentum(optimizer, step + 1)
    product = ops.cast(optimizer._u_product, variable.dtype)
    index = optimizer._get_variable_index(variable)
    m, v = optimizer._momentums[index], optimizer._velocities[index]
    optimizer.assign(m, optimizer.beta_1 * m + (1 - optimizer.beta_1) * gradient)
    optimizer.assign(v, optimizer.beta_2 * v + (1 - optimizer.beta_2) * ops.square(gradient))
    mean = (1 - now) * gradient / (1 - product) + following * m / (1 - product * following)
    variance = v / (1 - ops.power(ops.cast(optimizer.beta_2, variable.dtype), step))
    optimizer.assign_sub(variable, rate * mean / (ops.sqrt(variance) + optimizer.epsilon))
