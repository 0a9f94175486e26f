"""`mixed_precision.experimental` of TensorFlow 2.2."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import parallel_compat


def test_policies_are_those_of_layers_and_say_a_loss_scale() -> None:
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras.layers import Dense
        from tensorflow.keras.mixed_precision import experimental as mixed_precision

        policy = mixed_precision.Policy("mixed_float16")
        assert (policy.compute_dtype, policy.variable_dtype, policy.name) == ("float16", "float32", "mixed_float16")
        assert policy.loss_scale() == 2.0**15
        assert mixed_precision.Policy("float32").loss_scale is None
        try:
            mixed_precision.set_policy(policy)
            layer = Dense(1)
            assert mixed_precision.get_layer_policy(layer).compute_dtype == "float16"
            assert layer(tf.ones((1, 2))).dtype == tf.float16
            assert mixed_precision.global_policy().name == "mixed_float16"
            with pytest.raises(ValueError, match="LossScaleOptimizer"):
                mixed_precision.set_policy(mixed_precision.Policy("mixed_float16", loss_scale=8))
        finally:
            mixed_precision.set_policy(None)
        assert Dense(1).dtype_policy.name == "float32"


@pytest.mark.parametrize("loss_scale", [100, "dynamic"])
def test_an_optimizer_with_a_loss_scale_steps_as_without(loss_scale: object) -> None:
    x, y = np.linspace(-1, 1, 12, dtype="float32").reshape(6, 2), np.ones((6, 1), "float32")
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Input, Sequential, optimizers
        from tensorflow.keras.layers import Dense
        from tensorflow.keras.mixed_precision.experimental import LossScaleOptimizer

        def trained(optimizer: optimizers.Optimizer) -> list[float]:
            model = Sequential([Input((2,)), Dense(1, kernel_initializer="ones")])
            model.compile(optimizer, "mse")
            model.fit(x, y, batch_size=3, epochs=2, shuffle=False, verbose=0)
            for _ in range(2):  # and in a loop of its own
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((model(x) - y) ** 2)
                    if isinstance(optimizer, LossScaleOptimizer):
                        loss = optimizer.get_scaled_loss(loss)
                gradients = tape.gradient(loss, model.trainable_variables)
                if isinstance(optimizer, LossScaleOptimizer):
                    gradients = optimizer.get_unscaled_gradients(gradients)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=False))
            return np.ravel(model.get_weights()[0]).tolist()

        def adam() -> optimizers.Optimizer:
            return optimizers.Adam(0.1, epsilon=1e-2)

        scaled = LossScaleOptimizer(adam(), loss_scale)
        assert trained(scaled) == pytest.approx(trained(adam()), rel=1e-5)
        assert int(scaled.iterations.numpy()) == 6
        again = LossScaleOptimizer.from_config(scaled.get_config())
        assert again.loss_scale() == scaled.loss_scale()


def test_a_step_with_an_infinite_gradient_is_left_out_and_halves_a_dynamic_scale() -> None:
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import optimizers
        from tensorflow.keras.mixed_precision.experimental import LossScaleOptimizer

        variable = tf.Variable([1.0])
        optimizer = LossScaleOptimizer(optimizers.SGD(1.0), tf.mixed_precision.experimental.DynamicLossScale(8.0, 2))
        scales = []
        for gradient in (1.0, np.inf, 1.0, 1.0):
            optimizer.apply_gradients([(tf.constant([gradient]), variable)])
            scales.append(float(optimizer.loss_scale()))
        assert scales == [8.0, 4.0, 4.0, 8.0]
        assert variable.numpy().tolist() == [-2.0]


def test_the_rewriting_of_graphs_gives_an_optimizer_with_a_loss_scale() -> None:
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import optimizers

        try:
            made = tf.train.experimental.enable_mixed_precision_graph_rewrite(optimizers.SGD(0.1))
            assert made.loss_scale() == 2.0**15
            with pytest.raises(ValueError, match="without a loss scale"):
                tf.train.experimental.enable_mixed_precision_graph_rewrite(made)
        finally:
            tf.train.experimental.disable_mixed_precision_graph_rewrite()


def test_compile_gives_an_optimizer_a_loss_scale() -> None:
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import layers, mixed_precision, models

        try:
            mixed_precision.experimental.set_policy("mixed_float16")
            model = models.Sequential([layers.Dense(1, input_shape=(2,), dtype="float32")])
            for optimizer in ("sgd", tf.keras.optimizers.SGD(0.1)):
                model.compile(optimizer, "mse")
                assert model.optimizer.loss_scale() == 2.0**15
                assert model.optimizer.get_scaled_loss(tf.constant(2.0)) == 2.0**16
        finally:
            mixed_precision.experimental.set_policy("float32")
