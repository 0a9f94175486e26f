"""Classes of which TensorFlow had two versions: each spelling has its own defaults, as TensorFlow 1.15.5 and 2.2.3."""

from __future__ import annotations

import numpy as np
import pytest

import parallel_compat

# (spelling, recurrent_activation of LSTM and GRU, reset_after of GRU), the same in both.
_SPELLINGS = [
    ("tensorflow.compat.v1.keras.layers", "hard_sigmoid", False),
    ("tensorflow.python.keras.layers.recurrent", "hard_sigmoid", False),
    ("tensorflow.compat.v2.keras.layers", "sigmoid", True),
    ("tensorflow.python.keras.layers.recurrent_v2", "sigmoid", True),
]


@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])
def test_each_spelling_has_the_defaults_of_its_version(era):
    """Also a class derived from it; those that only `tf.keras` names have the era's."""
    with parallel_compat.legacy_names(era=era):
        from importlib import import_module

        import tensorflow as tf
        from tensorflow.python.keras.layers import GRU, LSTM, recurrent

        of_2 = era == "tf.keras-2.2"
        for lstm, gru in ((tf.keras.layers.LSTM, tf.keras.layers.GRU), (LSTM, GRU)):
            assert lstm(1).recurrent_activation.__name__ == ("sigmoid" if of_2 else "hard_sigmoid")
            assert gru(1).reset_after is of_2
        for spelling, gates, reset_after in _SPELLINGS:
            module = import_module(spelling)
            for name in ("LSTM", "GRU", "LSTMCell", "GRUCell"):
                kind = getattr(module, name)
                layer = kind(2)
                assert (spelling, name, layer.recurrent_activation.__name__) == (spelling, name, gates)
                assert kind(2, "tanh", "relu").recurrent_activation.__name__ == "relu"
                assert isinstance(layer, kind)
                assert isinstance(layer, getattr(tf.keras.layers, name))
                assert not isinstance(tf.keras.layers.Dense(1), kind)
                if name.startswith("GRU"):
                    assert layer.reset_after is reset_after
                    assert kind(2, reset_after=not reset_after).reset_after is not reset_after

        class Mine(recurrent.LSTM):
            def call(self, inputs, mask=None, training=None, initial_state=None):
                return 2.0 * super().call(inputs, mask=mask, training=training, initial_state=initial_state)

        x = np.linspace(-0.3, 0.3, 12, dtype="float32").reshape(1, 4, 3)
        ones = {"kernel_initializer": "ones", "recurrent_initializer": "ones", "input_shape": (4, 3)}
        # Recorded with TensorFlow 2.2.3.
        for layer, expected in (
            (recurrent.LSTM(2, **ones), 0.07818622),
            (recurrent.LSTM(2, recurrent_activation="hard_sigmoid", **ones), 0.07818622),
            (Mine(2, **ones), 2 * 0.07818622),
            (tf.compat.v2.keras.layers.LSTM(2, **ones), 0.09752107),
            (tf.compat.v1.keras.layers.GRU(2, **ones), 0.08140489),
            (tf.compat.v2.keras.layers.GRU(2, **ones), 0.08472884),
        ):
            np.testing.assert_allclose(layer(x).numpy(), [[expected] * 2], rtol=1e-5)


def test_a_frozen_normalization_of_the_first_version_still_normalises_batches():
    """The numbers are those of TensorFlow 2.2.3."""
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        import tensorflow as tf
        from tensorflow.python.keras.layers import normalization

        x = np.array([[1.0], [3.0], [8.0]], "float32")
        of_batch = [-1.0189904, -0.3396635, 1.3586539]
        for kind, frozen in (
            (normalization.BatchNormalization, of_batch),
            (tf.compat.v1.keras.layers.BatchNormalization, of_batch),
            (tf.compat.v2.keras.layers.BatchNormalization, [0.9995004, 2.9985013, 7.996003]),
        ):
            layer = kind(momentum=0.5)
            layer.trainable = False
            np.testing.assert_allclose(layer(x, training=True).numpy().ravel(), frozen, rtol=1e-4)
            np.testing.assert_allclose(layer.moving_mean.numpy(), [0.0])


def test_optimizers_that_tensorflow_kept_of_keras_2():
    """Their defaults, as TensorFlow 1.15.5 has them, and the norm of each gradient by itself."""
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        import keras
        from tensorflow.keras import optimizers as of_tf_keras
        from tensorflow.python.keras import optimizers

        rates = {"Adadelta": 1.0, "Adagrad": 0.01, "Adamax": 0.002, "Nadam": 0.002, "Adam": 0.001, "SGD": 0.01}
        for name, rate in rates.items():
            made = getattr(optimizers, name)()
            np.testing.assert_allclose(float(made.learning_rate.numpy()), rate, rtol=1e-6)
            assert isinstance(made, getattr(optimizers, name))
        np.testing.assert_allclose(float(of_tf_keras.Adagrad().learning_rate.numpy()), 0.001, rtol=1e-6)
        variables = [keras.Variable([0.0, 0.0]), keras.Variable([0.0])]
        gradients = [keras.ops.convert_to_tensor(each) for each in ([3.0, 4.0], [0.5])]
        optimizers.SGD(lr=1.0, clipnorm=1.0).apply(gradients, variables)
        np.testing.assert_allclose(np.concatenate([v.numpy() for v in variables]), [-0.6, -0.8, -0.5], rtol=1e-6)
