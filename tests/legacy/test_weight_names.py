"""The names of weights: those of scopes, which a graph does not give twice."""

from __future__ import annotations

import numpy as np
import pytest

import parallel_compat

TF_KERAS = ("tf.keras-1.15", "tf.keras-2.2")


@pytest.fixture
def era(request):
    with parallel_compat.legacy_names(era=request.param):
        yield request.param


def kernels(model):
    return [weight.name for weight in model.weights if weight.name.endswith("/kernel:0")]


def made(layers, models):
    a = layers.Input((4,), name="a")
    return models.Model(a, layers.Dense(2, name="last")(layers.Dense(3)(a)), name="m")


@pytest.mark.parametrize("era", TF_KERAS, indirect=True)
def test_a_model_that_is_made_again_has_other_names(era):
    """As TensorFlow 1.15.5 and 2.2.3 printed them."""
    from tensorflow.keras import backend, layers, models

    backend.clear_session()
    model = made(layers, models)
    assert kernels(model) == ["dense/kernel:0", "last/kernel:0"]
    assert kernels(models.clone_model(model)) == ["dense_1/kernel:0", "last_1/kernel:0"]
    assert kernels(models.Model.from_config(model.get_config())) == ["dense_2/kernel:0", "last_2/kernel:0"]
    assert kernels(models.model_from_json(model.to_json())) == ["dense_3/kernel:0", "last_3/kernel:0"]
    backend.clear_session()
    assert kernels(made(layers, models)) == ["dense/kernel:0", "last/kernel:0"]


@pytest.mark.parametrize("era", TF_KERAS, indirect=True)
def test_each_call_takes_a_name(era):
    """As TensorFlow 1.15.5 and 2.2.3 printed them: also of layers of a Sequential, each called once."""
    from tensorflow.keras import backend, layers, models

    backend.clear_session()
    a = layers.Input((4,))
    first, second = layers.Dense(4), layers.Dense(4)
    first(first(a))
    second(a)
    assert kernels(second) == ["dense_1_1/kernel:0"]
    backend.clear_session()
    model = models.Sequential([layers.Dense(3, input_shape=(4,)), layers.Dense(2)])
    model.add(layers.Dense(5, name="top"))
    model.pop()
    assert kernels(models.clone_model(model)) == ["dense_2/kernel:0", "dense_1_1/kernel:0"]
    deferred = models.Sequential([layers.Dense(2, name="last")])
    deferred(layers.Input((4,)))
    assert kernels(deferred) == [f"{deferred.name}/last/kernel:0"]
    one, other, again = (layers.Dense(1, name=name) for name in ("Top", "top_1", "Top"))
    for each in (one, other, again):
        each(a)
    assert kernels(again) == ["Top_2/kernel:0"]  # the first is in `Top_1`: `top`, which was popped, is in use


@pytest.mark.parametrize("era", TF_KERAS, indirect=True)
def test_what_a_wrapper_holds_is_in_its_scope(era):
    """As TensorFlow 1.15.5 printed them (2.2.3 has the cells besides); read from a config, Keras 3 builds it before."""
    from tensorflow.keras import backend, layers, models

    backend.clear_session()
    a = layers.Input((5, 3))
    outputs = [layers.Bidirectional(layers.GRU(2), name="d")(a), layers.TimeDistributed(layers.Dense(2), name="t")(a)]
    model = models.Model(a, outputs)
    names = kernels(models.clone_model(model))
    assert [name.split("/")[:-1][:2] for name in names] == [["d_1", "forward_gru"], ["d_1", "backward_gru"], ["t_1"]]


@pytest.mark.parametrize("era", ["keras-2.2.4"], indirect=True)
def test_keras_2_2_4_has_them_too(era):
    from keras import backend, layers, models

    backend.clear_session()
    model = made(layers, models)
    assert kernels(model) == ["dense_1/kernel:0", "last/kernel:0"]
    assert kernels(models.clone_model(model)) == ["dense_1_1/kernel:0", "last_1/kernel:0"]


@pytest.mark.parametrize("era", ["tf.keras-2.2"], indirect=True)
def test_a_model_that_is_read_takes_one_name(era, tmp_path):
    """As TensorFlow 2.2.3 printed it. The file's model is made twice, once to look at its shapes."""
    from tensorflow.keras import backend, layers, models

    backend.clear_session()
    made(layers, models).save(str(tmp_path / "m.h5"))
    model = models.load_model(str(tmp_path / "m.h5"))
    assert kernels(model) == ["dense_1/kernel:0", "last_1/kernel:0"]


def test_a_layer_in_a_model_and_in_one_inside_it_is_listed_twice():
    """As TensorFlow 1.15.5 listed, counted and set its weights; it trained them once."""
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        from tensorflow import keras as tf_keras

        base = tf_keras.Sequential([tf_keras.layers.Dense(1, use_bias=False, input_shape=(1,))])
        a, b = tf_keras.Input((1,)), tf_keras.Input((1,))
        model = tf_keras.Model([a, b], tf_keras.layers.add([base(a), base.layers[0](b)]))
        assert (len(model.weights), len(model.get_weights()), model.count_params()) == (2, 2, 2)
        model.set_weights([np.zeros((1, 1)), np.ones((1, 1))])
        model.compile(tf_keras.optimizers.SGD(0.1), "mse")
        ones = np.ones((2, 1))
        assert model.train_on_batch([ones, ones], 0 * ones) == 4.0
        np.testing.assert_allclose([each.item() for each in model.get_weights()], [0.2, 0.2], atol=1e-6)
        assert base.count_params() == 1


def test_cells_of_a_cloned_bidirectional():
    """As TensorFlow 2.2.3 printed them: the layer of the config is made, then the forward and the backward one."""
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import backend, layers, models

        backend.clear_session()
        model = models.Sequential([layers.Bidirectional(layers.GRU(2), input_shape=(3, 2))])
        cells = [name.split("/")[-2] for name in kernels(models.clone_model(model)) if "recurrent" not in name]
        assert cells == ["gru_cell_4", "gru_cell_5"]
