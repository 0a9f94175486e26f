"""Names of what layers return: programs split off the layer (`x.name.split("/")[0]`) and print them."""

from __future__ import annotations

import pytest

import parallel_compat

# What Keras 2.2.4 on TensorFlow 1.15.5, tf.keras 1.15.5 and tf.keras 2.2.3 said.
RECORDED = {
    "keras-2.2.4": [
        "in:0", "dense_1/BiasAdd:0", "r/Relu:0", "nb/MatMul:0", "twice/BiasAdd:0", "twice_1/BiasAdd:0",
        "bn/cond/Merge:0", "c1/add:0", "ls/TensorArrayReadV3:0", "mm/out/Softmax:0",
    ],
    "tf.keras-1.15": [
        "in:0", "dense/BiasAdd:0", "r/Relu:0", "nb/MatMul:0", "twice/BiasAdd:0", "twice_1/BiasAdd:0",
        "bn/batchnorm/add_1:0", "c1/BiasAdd:0", "ls/strided_slice_7:0", "mm/out/Softmax:0",
    ],
    "tf.keras-2.2": [
        "in:0", "dense/Identity:0", "r/Identity:0", "nb/Identity:0", "twice/Identity:0", "twice_1/Identity:0",
        "bn/Identity:0", "c1/Identity:0", "ls/Identity:0", "mm/Identity:0",
    ],
}  # fmt: skip


def _modules(era: str):
    if era == "keras-2.2.4":
        import keras
        from keras import layers
    else:
        from tensorflow import keras
        from tensorflow.keras import layers
    return keras, layers


def _tensors(era: str):
    keras, layers = _modules(era)
    keras.backend.clear_session()
    flat, steps = keras.layers.Input((4,), name="in"), keras.layers.Input((5, 3), name="steps")
    dense, twice = layers.Dense(3), layers.Dense(3, name="twice")
    inner = keras.layers.Input((4,))
    model = keras.models.Model(inner, layers.Dense(2, activation="softmax", name="out")(inner), name="mm")
    made = [flat, dense(flat), layers.Dense(3, activation="relu", name="r")(flat)]
    made += [layers.Dense(3, use_bias=False, name="nb")(flat), twice(flat), twice(flat)]
    made += [layers.BatchNormalization(name="bn")(flat), layers.Conv1D(2, 3, name="c1")(steps)]
    return [*made, layers.LSTM(2, name="ls")(steps), model(flat)]


@pytest.mark.parametrize("era", sorted(RECORDED))
def test_names_of_what_layers_return(era: str) -> None:
    with parallel_compat.legacy_names(era=era):
        assert [tensor.name for tensor in _tensors(era)] == RECORDED[era]


def test_what_print_says_and_what_made_it() -> None:
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        flat, dense, *_ = _tensors("keras-2.2.4")
        assert str(dense) == 'Tensor("dense_1/BiasAdd:0", shape=(?, 3), dtype=float32)'
        assert repr([flat]) == "[<tf.Tensor 'in:0' shape=(?, 4) dtype=float32>]"
        assert (dense.op.name, dense.op.type, flat.op.type) == ("dense_1/BiasAdd", "BiasAdd", "Placeholder")


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15"])
def test_operations_of_relu(era: str) -> None:
    options = [{}, {"negative_slope": 0.2}, {"max_value": 6}, {"max_value": 3}, {"threshold": 1.0}]
    options += [{"threshold": 1.0, "max_value": 6}, {"negative_slope": 0.1, "max_value": 6}]
    with parallel_compat.legacy_names(era=era):
        _, layers = _modules(era)
        flat = layers.Input((4,))
        made = [layers.ReLU(name="r", **each)(flat).op for each in options]
    # As both stacks said.
    names = ["Relu", "LeakyRelu", "Relu6", "clip_by_value", "mul", "clip_by_value", "sub"]
    assert [each.name for each in made] == [f"r/{name}" for name in names]
    kinds = ["Relu", "LeakyRelu", "Relu6", "Maximum", "Mul", "Maximum", "Sub"]
    assert [each.type for each in made] == kinds


def test_inputs_are_fed_by_the_first_part_of_their_names() -> None:
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        import keras
        import numpy as np

        flat = keras.layers.Input((4,), name="in")
        model = keras.models.Model(flat, keras.layers.Dense(2)(flat))
        fed = {tensor.name.split(":")[0]: np.ones((3, 4), "float32") for tensor in model.inputs}
        assert model.predict(fed).shape == (3, 2)
        layer = model.get_layer(model.output.name.split("/")[0])
        assert layer is model.layers[-1]


def test_tensors_by_name_are_computed_together() -> None:
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        import numpy as np
        from tensorflow.keras import backend, layers, models

        model = models.Sequential([layers.Dense(2, input_shape=(4,)), layers.Activation("relu", name="a")])
        by_name = {layer.output.name: layer.output for layer in model.layers}
        assert list(by_name) == ["dense/BiasAdd:0", "a/Relu:0"]
        compute = backend.function(model.inputs, [model.output])
        np.testing.assert_array_equal(compute(np.zeros((3, 4)))[0], np.zeros((3, 2)))
        linear, positive = backend.function(model._feed_inputs, by_name.values())([np.ones((3, 4), "float32")])
        np.testing.assert_array_equal(positive, np.maximum(linear, 0))


def test_names_of_today_stay() -> None:
    import keras

    assert keras.layers.Dense(2)(keras.Input((4,))).name.startswith("keras_tensor")


def test_the_dtype_of_a_symbolic_tensor_has_a_name():
    """`x.dtype.name`, `x.dtype.base_dtype`, as in each of the old stacks; today's is a word, for Keras's own code."""
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        import tensorflow as tf
        from tensorflow.keras import backend as K
        from tensorflow.keras import layers

        x, words = layers.Input((3,)), layers.Input((4,), dtype="int32")
        assert (x.dtype.name, words.dtype.name, str(x.dtype)) == ("float32", "int32", "<dtype: 'float32'>")
        assert x.dtype == tf.float32
        assert x.dtype == "float32"
        assert K.dtype(x) == "float32"
        assert K.cast(words, x.dtype).dtype.is_floating
        assert K.int_shape(layers.Dense(2)(x) * tf.convert_to_tensor(2.0, x.dtype.base_dtype)) == (None, 2)
    assert not hasattr(x.dtype, "name")
