"""`tf.keras.mixed_precision.experimental` of TensorFlow 2.1 and 2.2: policies with a loss scale, and its optimizer."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

_DEFAULT = "USE_DEFAULT"
_FLOAT16 = "mixed_float16"
_OF_FIT = "gradients_are_scaled"
_NEVER = 2**31 - 1  # steps, which an int32 counts


class LossScale:
    """By what a loss is multiplied, so that gradients of float16 do not vanish: `loss_scale()` is the number of now."""

    def __init__(self, initial_loss_scale: float) -> None:
        self.initial_loss_scale = float(initial_loss_scale)
        self.optimizer: Any = None

    def __call__(self) -> tf.Tensor:
        """Return the scale, a float32 tensor of shape ()."""
        optimizer = self.optimizer
        is_built = optimizer is not None and optimizer.built
        return tf.convert_to_tensor(optimizer.dynamic_scale if is_built else self.initial_loss_scale, tf.float32)


class FixedLossScale(LossScale):
    """A scale that stays.

    >>> float(FixedLossScale(128)())
    128.0
    """

    def __init__(self, loss_scale_value: float) -> None:
        super().__init__(loss_scale_value)

    def get_config(self) -> dict[str, Any]:
        return {"loss_scale_value": self.initial_loss_scale}


class DynamicLossScale(LossScale):
    """A scale that doubles after so many steps, and halves where a gradient is not finite.

    >>> float(DynamicLossScale()())
    32768.0

    Args:
        initial_loss_scale: the first.
        increment_period: steps between two doublings.
        multiplier: 2.

    Raises:
        ValueError: another multiplier, which Keras 3 does not know.
    """

    def __init__(
        self, initial_loss_scale: float = 2.0**15, increment_period: int = 2000, multiplier: float = 2.0
    ) -> None:
        if multiplier != 2:
            raise ValueError(
                f"Expected multiplier=2, by which Keras 3 raises and lowers scales. Received: {multiplier}"
            )
        super().__init__(initial_loss_scale)
        self.increment_period, self.multiplier = int(increment_period), 2.0

    def get_config(self) -> dict[str, Any]:
        return {
            "initial_loss_scale": self.initial_loss_scale,
            "increment_period": self.increment_period,
            "multiplier": self.multiplier,
        }


def _scale_of(given: Any) -> Any:
    if given is None or isinstance(given, LossScale):
        return given
    if given == "dynamic":
        return DynamicLossScale()
    if isinstance(given, (int, float)):
        return FixedLossScale(given)
    raise ValueError(f"Expected loss_scale to be a number, 'dynamic' or a LossScale. Received: {given!r}")


class Policy(keras.DTypePolicy):  # type: ignore[misc]  # Keras carries no types
    """A dtype policy, which says a loss scale as well.

    >>> Policy("mixed_float16").loss_scale.initial_loss_scale
    32768.0

    Args:
        name: "mixed_float16", "mixed_bfloat16" or a dtype.
        loss_scale: None, a number, "dynamic" or a `LossScale`; dynamic for "mixed_float16", None for others, if not
            given.
    """

    def __init__(self, name: str, loss_scale: Any = _DEFAULT) -> None:
        super().__init__(name)
        self.has_own_scale = loss_scale != _DEFAULT
        self.loss_scale = _scale_of(loss_scale if self.has_own_scale else "dynamic" if name == _FLOAT16 else None)

    def get_config(self) -> dict[str, Any]:
        return {"name": self.name}


def set_policy(policy: Any) -> None:
    """Let layers that are made from now on have a policy.

    Args:
        policy: a `Policy`, its name, or None for float32.

    Raises:
        ValueError: its loss scale is another than `compile` gives an optimizer.
    """
    if getattr(policy, "has_own_scale", False):
        raise ValueError(
            f"Expected the loss scale that goes with {policy.name!r}. Received: one of its own. "
            "Leave it out, and compile with `LossScaleOptimizer(optimizer, loss_scale=...)`."
        )
    keras.mixed_precision.set_dtype_policy(keras.DTypePolicy(getattr(policy, "name", policy) or "float32"))


def global_policy() -> Policy:
    """Return the policy of layers that are made now."""
    return Policy(keras.mixed_precision.dtype_policy().name)


def get_layer_policy(layer: keras.layers.Layer) -> Policy:
    """Return the policy of a layer."""
    return Policy(layer.dtype_policy.name)


class LossScaleOptimizer(keras.optimizers.LossScaleOptimizer):  # type: ignore[misc]  # Keras carries no types
    """An optimizer whose losses are scaled, also in custom loops.

    >>> optimizer = LossScaleOptimizer(keras.optimizers.SGD(0.1), loss_scale=128)
    >>> float(optimizer.get_scaled_loss(tf.constant(2.0)))
    256.0

    Args:
        optimizer: what steps.
        loss_scale: a number, "dynamic" or a `LossScale`.
    """

    def __init__(self, optimizer: keras.optimizers.Optimizer, loss_scale: Any) -> None:
        scale = _scale_of(loss_scale)
        if scale is None:
            raise ValueError("loss_scale cannot be None.")
        steps = scale.increment_period if isinstance(scale, DynamicLossScale) else _NEVER
        super().__init__(optimizer, initial_scale=scale.initial_loss_scale, dynamic_growth_steps=steps)
        with keras.StatelessScope():  # nothing to track
            self.loss_scale = scale
        scale.optimizer = self

    def check_finite(self, grads: Any) -> Any:
        """Return whether a step is made: with a fixed scale always."""
        return super().check_finite(grads) if isinstance(self.loss_scale, DynamicLossScale) else tf.constant(True)

    def get_scaled_loss(self, loss: Any) -> Any:
        """Return a loss, or a function that computes one, times the scale."""
        if callable(loss):
            return lambda: self.get_scaled_loss(loss())
        return loss * tf.cast(self.loss_scale(), loss.dtype)

    def get_unscaled_gradients(self, grads: Any) -> list[Any]:
        """Return gradients of a scaled loss, divided by the scale; None stays None."""
        return [_times(gradient, 1 / self.loss_scale()) for gradient in grads]

    def scale_loss(self, loss: Any) -> Any:
        """Return a loss times the scale: `fit` does so, and hands on gradients of it as they are."""
        self.__dict__[_OF_FIT] = True
        return super().scale_loss(loss)

    def apply(self, grads: Any, trainable_variables: Any = None) -> Any:
        """Step, by gradients of a scaled loss."""
        self.__dict__.pop(_OF_FIT, None)
        return super().apply(grads, trainable_variables)

    def apply_gradients(self, grads_and_vars: Any, *given: Any, **keywords: Any) -> Any:
        """Step, by gradients that are unscaled already, as they had to be, unless `fit` calls it."""
        if not self.__dict__.pop(_OF_FIT, False):
            scale = self.loss_scale()
            grads_and_vars = [(_times(gradient, scale), variable) for gradient, variable in grads_and_vars]
        return super().apply_gradients(grads_and_vars, *given, **keywords)

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        return {
            "optimizer": config["inner_optimizer"],
            "loss_scale": {"class_name": type(self.loss_scale).__name__, "config": self.loss_scale.get_config()},
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> LossScaleOptimizer:
        optimizer = keras.optimizers.deserialize(dict(config["optimizer"]), custom_objects=custom_objects)
        kinds = {kind.__name__: kind for kind in (FixedLossScale, DynamicLossScale)}
        scale = config["loss_scale"]
        return cls(optimizer, kinds[scale["class_name"]](**scale["config"]))


def enable_mixed_precision_graph_rewrite(opt: Any, loss_scale: Any = "dynamic") -> LossScaleOptimizer:
    """Let TensorFlow compute in float16 where it may, on GPUs, and return an optimizer with a loss scale.

    Args:
        opt: an optimizer of Keras.
        loss_scale: as `LossScaleOptimizer` takes it.

    Raises:
        ValueError: another optimizer, or one that has a loss scale.
    """
    if not isinstance(opt, keras.optimizers.Optimizer) or isinstance(opt, keras.optimizers.LossScaleOptimizer):
        raise ValueError(f"Expected an optimizer of `keras.optimizers` without a loss scale. Received: {opt!r}")
    tf.config.optimizer.set_experimental_options({"auto_mixed_precision": True})
    return LossScaleOptimizer(opt, loss_scale)


def disable_mixed_precision_graph_rewrite() -> None:
    """Let TensorFlow compute in the dtypes that the script says, from now on."""
    tf.config.optimizer.set_experimental_options({"auto_mixed_precision": False})


def _times(gradient: Any, factor: tf.Tensor) -> Any:
    if gradient is None:
        return None
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(_times(gradient.values, factor), gradient.indices, gradient.dense_shape)
    return gradient * tf.cast(factor, gradient.dtype)
