"""Optimizers of `tf.train`, which models of tf.keras 1 were compiled with: Keras's own, with their arguments.

Their steps are those of TensorFlow 1.15. In a graph of TensorFlow 1 they have no counterpart.
"""

from __future__ import annotations

from typing import Any

import keras


def GradientDescentOptimizer(
    learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"
) -> keras.optimizers.SGD:
    """Return plain gradient descent.

    >>> float(GradientDescentOptimizer(0.5).learning_rate)
    0.5

    Args:
        learning_rate: the size of a step, a number or a schedule of Keras.
        use_locking: not used: variables are always updated one after another.
        name: of the optimizer.
    """
    return keras.optimizers.SGD(learning_rate, name=name)


def MomentumOptimizer(
    learning_rate: Any, momentum: float, use_locking: bool = False, name: str = "Momentum", use_nesterov: bool = False
) -> keras.optimizers.SGD:
    """Return gradient descent with momentum.

    Args:
        learning_rate: the size of a step, a number or a schedule of Keras.
        momentum: how much of the last step is made again.
        use_locking: not used.
        name: of the optimizer.
        use_nesterov: whether the gradient is that of the place to which the momentum leads.
    """
    return keras.optimizers.SGD(learning_rate, momentum=float(momentum), nesterov=use_nesterov, name=name)


def AdamOptimizer(
    learning_rate: Any = 0.001,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    use_locking: bool = False,
    name: str = "Adam",
) -> keras.optimizers.Adam:
    """Return Adam, whose epsilon is ten times smaller than Keras's.

    Args:
        learning_rate: the size of a step, a number or a schedule of Keras.
        beta1: how much of the mean gradient is kept.
        beta2: how much of the mean squared gradient is kept.
        epsilon: what is added to the root of that.
        use_locking: not used.
        name: of the optimizer.
    """
    return keras.optimizers.Adam(learning_rate, beta1, beta2, epsilon, name=name)


def AdagradOptimizer(
    learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False, name: str = "Adagrad"
) -> keras.optimizers.Adagrad:
    """Return Adagrad, which adds no epsilon.

    Args:
        learning_rate: the size of a step, a number or a schedule of Keras.
        initial_accumulator_value: what the sums of squared gradients begin with.
        use_locking: not used.
        name: of the optimizer.
    """
    return keras.optimizers.Adagrad(learning_rate, initial_accumulator_value, epsilon=0.0, name=name)


def AdadeltaOptimizer(
    learning_rate: Any = 0.001,
    rho: float = 0.95,
    epsilon: float = 1e-8,
    use_locking: bool = False,
    name: str = "Adadelta",
) -> keras.optimizers.Adadelta:
    """Return Adadelta.

    Args:
        learning_rate: the size of a step, a number or a schedule of Keras.
        rho: how much of the means of squares is kept.
        epsilon: what is added to these.
        use_locking: not used.
        name: of the optimizer.
    """
    return keras.optimizers.Adadelta(learning_rate, rho, epsilon, name=name)


def FtrlOptimizer(
    learning_rate: Any,
    learning_rate_power: float = -0.5,
    initial_accumulator_value: float = 0.1,
    l1_regularization_strength: float = 0.0,
    l2_regularization_strength: float = 0.0,
    use_locking: bool = False,
    name: str = "Ftrl",
    accum_name: str | None = None,
    linear_name: str | None = None,
    l2_shrinkage_regularization_strength: float = 0.0,
) -> keras.optimizers.Ftrl:
    """Return Ftrl.

    Args:
        learning_rate: the size of a step, a number or a schedule of Keras.
        learning_rate_power: how the steps shrink, 0 or less.
        initial_accumulator_value: what the sums of squared gradients begin with.
        l1_regularization_strength: of the sum of weights.
        l2_regularization_strength: of the sum of squared weights.
        use_locking: not used.
        name: of the optimizer.
        accum_name: not used.
        linear_name: not used.
        l2_shrinkage_regularization_strength: of the squared weights in the gradient alone.
    """
    return keras.optimizers.Ftrl(
        learning_rate,
        learning_rate_power,
        initial_accumulator_value,
        l1_regularization_strength,
        l2_regularization_strength,
        l2_shrinkage_regularization_strength,
        name=name,
    )


@keras.saving.register_keras_serializable(package="parallel_compat")
class RMSPropOptimizer(keras.optimizers.RMSprop):  # type: ignore[misc]
    """RMSprop whose mean squared gradients begin with 1 instead of 0: its first steps are shorter.

    Args:
        learning_rate: the size of a step, a number or a schedule of Keras.
        decay: how much of the mean squared gradient is kept.
        momentum: how much of the last step is made again.
        epsilon: what is added to the mean squared gradient.
        use_locking: not used.
        centered: whether the squared mean gradient is subtracted from it.
        name: of the optimizer.
    """

    def __init__(
        self,
        learning_rate: Any,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
        **of_keras: Any,
    ) -> None:
        decay = of_keras.pop("rho", decay)
        super().__init__(learning_rate, decay, float(momentum), epsilon, centered, name=name, **of_keras)

    def add_optimizer_variables(self, trainable_variables: Any, name: Any, initializer: Any = "zeros") -> Any:
        # Not assigned in `build`: a compiled model builds it in a graph whose assignments are never run.
        return super().add_optimizer_variables(trainable_variables, name, "ones" if name == "velocity" else initializer)
