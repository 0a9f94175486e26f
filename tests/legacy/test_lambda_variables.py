"""What a Lambda layer's function may do with variables, by TensorFlow 2.2 and by Keras before."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import parallel_compat


def test_a_function_that_makes_weights_is_refused_as_by_tensorflow_2_2() -> None:
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras.layers import Dense, Input, Lambda

        dense = Dense(1)
        with pytest.raises(ValueError, match=r"created within a Lambda layer \(late\)[\s\S]*late/dense/kernel"):
            Lambda(lambda x: dense(x + 1), name="late")(Input((3,)))
        with pytest.raises(ValueError, match="created within a Lambda layer"):
            Lambda(lambda x: x * tf.Variable(2.0))(tf.ones((2, 3)))


def test_it_is_refused_by_a_model_of_a_class() -> None:
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Model
        from tensorflow.keras.layers import Dense, Lambda

        class Late(Model):
            def __init__(self) -> None:
                super().__init__()
                self.dense = [Dense(1)]
                self.late = Lambda(lambda x: self.dense[0](x))

            def call(self, x: tf.Tensor) -> tf.Tensor:
                return self.late(x)

        with pytest.raises(ValueError, match="created within a Lambda layer"):
            Late()(np.ones((2, 3), "float32"))


def test_a_function_that_uses_weights_of_others_is_told_once() -> None:
    told: list[str] = []
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras.layers import Dense, Dropout, Lambda

        dense = Dense(1)
        dense.build((None, 3))
        layer = Lambda(lambda x: Dropout(0.5)(dense(x)))
        layer._warn = told.append
        layer(tf.ones((2, 3)))
        layer(tf.ones((2, 3)))
        assert [each.count("dense/kernel") for each in told] == [1]


def test_keras_2_2_4_let_it_be() -> None:
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        from tensorflow.keras.layers import Dense, Input, Lambda

        dense = Dense(1)
        assert Lambda(lambda x: dense(x + 1))(Input((3,))).shape == (None, 1)
