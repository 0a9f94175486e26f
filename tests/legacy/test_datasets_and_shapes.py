"""Targets of datasets, and shapes as tf.keras took them; the numbers are those of TensorFlow 2.2.3."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import parallel_compat


@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])
def test_one_number_of_each_sample_is_a_column(era: str) -> None:
    x, y = np.ones((10, 3), "float32"), np.arange(10, dtype="float32")
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(5)
    with parallel_compat.legacy_names(era=era):
        from tensorflow.keras import Sequential, layers

        def first(y_true: Any, y_pred: Any) -> Any:
            return y_true[:, 0]

        model = Sequential([layers.Dense(4, input_shape=(3,), kernel_initializer="ones")])
        model.compile("sgd", "mse", metrics=["mae", first])
        assert model.evaluate(data, verbose=0) == pytest.approx([10.5, 2.7, 4.5], rel=1e-6)
        history = model.fit(data, validation_data=data, verbose=0).history
        assert history["loss"] == pytest.approx([10.5802001953125], rel=1e-6)


def test_a_shape_may_be_a_number_and_build_takes_it_by_name() -> None:
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Input, layers

        assert tuple(Input(4).shape) == (None, 4)
        for layer in (layers.LSTM(2), layers.Bidirectional(layers.GRU(2)), layers.RNN(layers.LSTMCell(2))):
            layer.build(input_shape=(2, 4, 3))
            assert [next(iter(weight.shape)) for weight in layer.weights][:2] == [3, 2]


@pytest.mark.parametrize("replicas", [1, 2])
def test_epochs_of_a_data_set_of_unknown_length(replicas: int) -> None:
    def rows() -> Any:
        for at in range(20):
            yield [float(at), 1.0], [float(at % 2)]

    data = tf.data.Dataset.from_generator(rows, (tf.float32, tf.float32), ((2,), (1,))).batch(8)
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Sequential, layers, optimizers, utils

        model = Sequential([layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
        model = utils.multi_gpu_model(model, replicas) if replicas > 1 else model
        model.compile(optimizers.SGD(0.001), "mse")
        history = model.fit(data, validation_data=data, epochs=3, verbose=0).history
    np.testing.assert_allclose(history["loss"], [94.719566, 7.0582914, 0.80826837], rtol=1e-5)
    np.testing.assert_allclose(history["val_loss"], [9.8098707, 1.0188551, 0.36193413], rtol=1e-5)


@pytest.mark.parametrize("replicas", [1, 2])
def test_tensors_of_a_batch_before_a_fit_of_their_data_set(replicas: int) -> None:
    x, y = np.arange(20, dtype="float32").reshape(10, 2), np.arange(10)
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(4)
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Sequential, layers, optimizers, utils

        model = Sequential([layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
        model = utils.multi_gpu_model(model, replicas) if replicas > 1 else model
        model.compile(optimizers.SGD(0.001), "mse")
        first = model.train_on_batch(*next(iter(data)))
        history = model.fit(data, verbose=0).history
    np.testing.assert_allclose([first, *history["loss"]], [41.5, 129.711700], rtol=1e-5)


@pytest.mark.parametrize("replicas", [1, 2])
def test_lists_of_rows(replicas: int) -> None:
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Sequential, layers, optimizers, utils

        model = Sequential([layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
        model = utils.multi_gpu_model(model, replicas) if replicas > 1 else model
        model.compile(optimizers.SGD(0.1), "mse")
        x, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [[0], [1], [1], [0]]
        history = model.fit(x, y, epochs=2, validation_data=(x, y), verbose=0).history
        found = [*history["loss"], *history["val_loss"], model.evaluate(x, y, verbose=0), *model.predict(x)[:, 0]]
    np.testing.assert_allclose(found, [1.0, 0.745, 0.745, 0.6175375, 0.6175375, -0.16, 0.665, 0.665, 1.49], rtol=1e-5)


@pytest.mark.parametrize("replicas", [1, 2])
def test_optimizers_count_no_step_without_a_batch_but_fade_as_in_their_first_epoch(replicas: int) -> None:
    tokens, y = np.arange(24).reshape(8, 3) % 5, np.arange(8.0).reshape(8, 1) / 4

    def rows() -> Any:
        for at in range(0, 8, 2):
            yield tokens[at : at + 2], y[at : at + 2]

    data = tf.data.Dataset.from_generator(rows, (tf.int32, tf.float32), ((None, 3), (None, 1)))
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Sequential, layers, utils

        for optimizer, losses in {
            "adam": [26.41219, 25.9043, 25.41081],
            "nadam": [26.43013, 26.04879, 25.65129],
            "rmsprop": [26.11894, 25.21313, 24.5579],
        }.items():
            embedding = layers.Embedding(5, 2, input_length=3, embeddings_initializer="ones")
            model = Sequential([embedding, layers.Flatten(), layers.Dense(1, kernel_initializer="ones")])
            model = utils.multi_gpu_model(model, replicas) if replicas > 1 else model
            model.compile(optimizer, "mse")
            assert model.fit(data, epochs=3, verbose=0).history["loss"] == pytest.approx(losses, rel=1e-6), optimizer
            assert int(model.optimizer.iterations.numpy()) == 12


@pytest.mark.parametrize("kind", [str, object])
def test_text_is_vectorized_of_arrays_of_strings(kind: type) -> None:
    texts = np.array([["a b c a"], ["b d e"], ["a a"]], dtype=kind)
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras.layers.experimental.preprocessing import TextVectorization

        layer = TextVectorization(output_sequence_length=4)
        layer.adapt(texts)
        assert layer(texts).numpy().tolist() == [[2, 3, 6, 2], [3, 5, 4, 0], [2, 2, 0, 0]]
