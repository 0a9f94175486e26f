"""What the guides of tf.keras wrote: layers of one's own, with weights that have no names."""

from __future__ import annotations

import pytest

import parallel_compat


@pytest.mark.parametrize(
    ("era", "names"),
    [
        ("tf.keras-1.15", ["Variable:0", "Variable_1:0", "kernel:0"]),  # as TensorFlow 1.15.5 says
        ("tf.keras-2.2", ["Variable:0", "Variable:0", "kernel:0"]),  # as TensorFlow 2.2.3 says
    ],
)
def test_names_of_weights_without_a_name(era, names):
    with parallel_compat.legacy_names(era=era):
        from tensorflow.keras import Input, Sequential, layers

        class Own(layers.Layer):
            def build(self, input_shape):
                self.first = self.add_weight(shape=(2,))
                self.second = self.add_weight(shape=(2,))
                self.third = self.add_weight("kernel", shape=(2,))

            def call(self, inputs):
                return inputs * self.first

        for scope in ("outer", "outer_1"):
            layer = Own(name=scope)
            Sequential([Input((2,)), layer])
            assert [weight.name for weight in layer.weights] == [f"{scope}/{name}" for name in names]


def test_a_metrics_result_is_logged_once_by_the_metrics_name():
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        import numpy as np
        from tensorflow import keras

        class Endpoint(keras.layers.Layer):
            def __init__(self, name):
                super().__init__(name=name)
                self.error = keras.metrics.MeanAbsoluteError()

            def call(self, targets, outputs):
                self.add_loss(keras.backend.mean(outputs))
                self.add_metric(self.error(targets, outputs), name="other")
                return outputs

        inputs, targets = keras.Input((3,)), keras.Input((3,))
        outputs = keras.layers.Dense(3, kernel_initializer="ones")(inputs)
        model = keras.Model([inputs, targets], Endpoint("end")(targets, outputs))
        model.compile("sgd")
        x = [np.ones((4, 3)) / 3, np.ones((4, 3)) * np.arange(4)[:, None]]
        history = model.fit(x, epochs=2, batch_size=2, shuffle=False, verbose=0).history
        # As TensorFlow 2.2.3 logs it.
        assert sorted(history) == ["loss", "mean_absolute_error"]
        np.testing.assert_allclose(history["loss"], [0.99778, 0.98889], atol=1e-5)
        np.testing.assert_allclose(history["mean_absolute_error"], [1.00222, 1.00667], atol=1e-5)


def test_the_configuration_of_a_separable_convolution_is_read_again():
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Sequential, layers, models

        layer = layers.SeparableConv2D(2, 3, name="separable", input_shape=(8, 8, 3))
        config = layer.get_config()
        assert config["kernel_initializer"] == {"class_name": "GlorotUniform", "config": {"seed": None}}
        assert layers.SeparableConv2D.from_config(config).name == "separable"
        made = layers.deserialize({"class_name": "SeparableConv2D", "config": config})
        assert type(made) is type(layer)
        model = Sequential([layer])
        assert models.clone_model(model).layers[0].name == Sequential.from_config(model.get_config()).layers[0].name
