"""`fit`, `compile`, `evaluate` and the generator methods as Keras 2's code calls them."""

from __future__ import annotations

import keras
import numpy as np
import pytest

import parallel_compat
from parallel_compat import parallelize
from parallel_compat.legacy import layers


def two_outputs():
    inputs = layers.Input((3,))
    outputs = [layers.Dense(1, name="a")(inputs), layers.Dense(1, name="b")(inputs)]
    model = keras.Model(input=inputs, output=outputs)
    model.compile("sgd", "mse", ["mae"], {"a": 1.0, "b": 0.5})
    return model


def one_output():
    model = keras.Sequential([layers.Dense(2, activation="softmax", input_shape=(3,))])
    model.compile("sgd", "categorical_crossentropy", ["accuracy"])
    return model


X, Y = np.random.RandomState(0).rand(8, 3), np.eye(2)[[0, 1] * 4]


def batches(rows=4):
    while True:
        for start in range(0, len(X), rows):
            yield [X[start : start + rows]], [Y[start : start + rows]]


def test_metrics_come_third_and_go_to_every_output():
    model = two_outputs()
    history = model.fit(X, [Y[:, :1], Y[:, 1:]], verbose=0)
    assert set(history.history) == {"loss", "a_loss", "b_loss", "a_mean_absolute_error", "b_mean_absolute_error"}
    assert history.history["a_mean_absolute_error"] == history.history["a_mae"]


def test_lists_of_results_have_the_old_order():
    model = two_outputs()
    names = ["loss", "a_loss", "b_loss", "a_mean_absolute_error", "b_mean_absolute_error"]
    y = [Y[:, :1], Y[:, 1:]]
    for values in (model.train_on_batch(X, y), model.test_on_batch(X, y), model.evaluate(X, y, verbose=0)):
        results = dict(zip(names, values, strict=True))
        assert results["loss"] == pytest.approx(results["a_loss"] + 0.5 * results["b_loss"], rel=1e-5)
    assert model.metrics_names == names
    single = one_output()
    single.evaluate(X, Y, verbose=0)
    assert single.metrics_names == ["loss", "acc"]


@pytest.mark.parametrize("parallel", [False, True])
def test_generator_methods_train_as_the_same_arrays(parallel):
    def trained(call):
        keras.utils.set_random_seed(0)
        template = one_output()
        model = parallel_compat.multi_gpu_model(template, gpus=2) if parallel else template
        model.compile("sgd", "categorical_crossentropy", ["accuracy"])
        call(model)
        return template.get_weights()[0]

    arrays = trained(lambda m: m.fit(X, Y, batch_size=4, nb_epoch=2, shuffle=False, verbose=0))
    by_method = trained(
        lambda m: m.fit_generator(
            batches(), steps_per_epoch=2, epochs=2, verbose=0, workers=2, max_queue_size=3, use_multiprocessing=False
        )
    )
    keras_1 = trained(lambda m: m.fit_generator(batches(), samples_per_epoch=8, nb_epoch=2, verbose=0, nb_worker=1))
    by_fit = trained(lambda m: m.fit(batches(), steps_per_epoch=2, epochs=2, verbose=0))
    for weights in (by_method, keras_1, by_fit):
        np.testing.assert_allclose(weights, arrays, atol=1e-6)


def test_evaluate_and_predict_on_generators():
    model = one_output()
    np.testing.assert_allclose(model.predict_generator(batches(), steps=2), model.predict(X), atol=1e-6)
    np.testing.assert_allclose(model.predict((x for x, _ in batches()), steps=2), model.predict(X), atol=1e-6)
    expected = model.evaluate(X, Y, verbose=0)
    assert model.evaluate_generator(batches(), steps=2) == pytest.approx(expected, rel=1e-5)
    assert model.evaluate(batches(), steps=2, verbose=0) == pytest.approx(expected, rel=1e-5)


def test_callbacks_of_fit_generator_get_the_validation_data():
    seen = []

    class Watch(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            seen.append((self.validation_data[0].shape, "val_acc" in logs))

    one_output().fit_generator(batches(), 2, 1, 0, [Watch()], (X, Y))
    assert seen == [((8, 3), True)]


def test_classes_and_probabilities():
    model = one_output()
    assert model.predict_classes(X).tolist() == model.predict(X).argmax(axis=1).tolist()
    np.testing.assert_array_equal(model.predict_proba(X), model.predict(X))
    single = keras.Sequential([layers.Dense(1, activation="sigmoid", input_shape=(3,))])
    assert single.predict_classes(X).tolist() == (single.predict(X) > 0.5).astype(int).tolist()


def test_what_cannot_be_honoured_is_refused():
    model = one_output()
    with pytest.raises(TypeError, match=r"Expected `target_tensors` to be a variable, .* Received: int"):
        model.compile("sgd", "mse", target_tensors=[1])
    with pytest.raises(AttributeError, match=r"test_training\.py:\d+: `Model\.container_nodes` is gone\. Keras 3"):
        _ = model.container_nodes


def test_old_names_of_losses():
    model = keras.Sequential([layers.Dense(2, input_shape=(3,))])
    model.compile("sgd", "cosine_proximity", ["kullback_leibler_divergence", "cosine_proximity"])
    loss, _, metric = model.evaluate(X, Y, verbose=0)
    p, y = model.predict(X), Y
    cosine = -(p * y).sum(1) / np.linalg.norm(p, axis=1) / np.linalg.norm(y, axis=1)
    assert loss == metric == pytest.approx(cosine.mean(), rel=1e-5)


@pytest.mark.parametrize("replicas", [1, 2])
def test_train_on_batch_leaves_class_weights_out_beside_sample_weights(replicas):
    template = keras.Sequential([layers.Dense(2, input_shape=(3,), activation="softmax")])
    model = template if replicas == 1 else parallelize(template, replicas)
    model.compile(keras.optimizers.SGD(0.0), "categorical_crossentropy")
    labels, weights = np.arange(5) % 2, np.arange(1.0, 6.0)
    x, y = np.random.RandomState(0).rand(5, 3), np.eye(2)[labels]
    both = model.train_on_batch(x, y, sample_weight=weights, class_weight={0: 0.5, 1: 3.0})
    one = model.train_on_batch(x, y, sample_weight=weights)
    assert both == pytest.approx(one, rel=1e-6)


def test_targets_are_floats_with_two_axes():
    """`(rows,)` times `(rows, 1)` would be `(rows, rows)`."""

    def product(y_true, y_pred):
        return keras.ops.mean(y_true * y_pred)

    model = keras.Sequential([layers.Dense(1, input_shape=(1,), kernel_initializer="ones")])
    model.compile("sgd", "mse", metrics=[product])
    assert model.evaluate(np.arange(4.0)[:, None], np.array([0, 0, 1, 1]), verbose=0)[1] == pytest.approx(5 / 4)
    assert model.test_on_batch(np.arange(4.0)[:, None], np.array([0, 0, 1, 1]))[1] == pytest.approx(5 / 4)


def test_results_have_the_order_of_the_metrics():
    model = keras.Sequential([layers.Dense(1, input_shape=(3,))])
    model.compile("sgd", "mse", ["mse", "mae"])
    y = Y[:, :1] * 5
    for values in (model.train_on_batch(X, y), model.test_on_batch(X, y), model.evaluate(X, y, verbose=0)):
        assert values[0] == pytest.approx(values[1], rel=1e-5)
        assert values[2] != pytest.approx(values[1], rel=1e-2)
    assert model.metrics_names == ["loss", "mean_squared_error", "mean_absolute_error"]


def test_names_of_results_are_asked_of_the_metrics_once_a_compile(monkeypatch):
    """`fit` writes them into the params of callbacks each time: results are computed, names need not be."""
    model = keras.Sequential([layers.Dense(1, input_shape=(3,))])
    asked, real = [], type(model).get_metrics_result
    monkeypatch.setattr(type(model), "get_metrics_result", lambda self: asked.append(1) or real(self))
    for metrics, names in (["mse"], ["loss", "mean_squared_error"]), (["mae"], ["loss", "mean_absolute_error"]):
        model.compile("sgd", "mse", metrics)
        model.train_on_batch(X, Y[:, :1])
        assert model.metrics_names == names
        asked.clear()
        assert [model.metrics_names for _ in range(3)] == [names] * 3
        assert not asked


def test_a_model_that_was_built_on_its_first_batch_is_fed_smaller_ones():
    """A Sequential of Sequentials: Keras 3 builds it on the first batch, for that number of samples."""
    from keras.layers import Activation, Dense
    from keras.models import Sequential

    x, y = np.random.default_rng(0).random((90, 8)), np.eye(2)[np.arange(90) % 2]
    inner = Sequential([Dense(6, input_shape=(8,)), Activation("relu"), Dense(2)])
    middle = Sequential()
    middle.add(inner)
    model = Sequential()
    model.add(middle)
    model.add(Activation("softmax"))
    model.compile(loss="categorical_crossentropy", optimizer="sgd")
    flat = Sequential([*inner.layers, Activation("softmax")])
    flat.compile(loss="categorical_crossentropy", optimizer="sgd")
    weights = model.get_weights() or inner.get_weights()
    histories = []
    for each in (model, flat):
        inner.set_weights(weights)
        runs = [each.fit(x, y, batch_size=32, epochs=2, shuffle=False, verbose=0).history["loss"] for _ in range(2)]
        histories.append(runs)
    np.testing.assert_allclose(histories[0], histories[1], rtol=1e-5)


def test_outputs_without_axes_are_losses():
    """Losses that the graph computes, as in style transfer: Keras 2 took the mean of whatever a loss gave."""
    from keras.layers import Dense, Input, Lambda
    from keras.models import Model

    from parallel_compat.legacy import backend as K

    x, wanted = Input((3,)), Input((2,))
    y = Dense(2, name="y")(x)
    content = Lambda(lambda pair: K.sum(K.square(pair[0] - pair[1])), output_shape=(1,), name="content")([y, wanted])
    model = Model([x, wanted], [content, y])
    model.compile("sgd", {"content": lambda true, predicted: predicted, "y": "mse"}, loss_weights=[2.0, 0.0])
    targets = np.random.RandomState(1).rand(8, 2)
    error = ((model.predict([X, targets])[1] - targets) ** 2).sum()
    losses = model.train_on_batch([X, targets], [np.zeros(8), targets])
    np.testing.assert_allclose(losses[:2], [2 * error, error], rtol=1e-5)
    assert model.evaluate([X, targets], [np.zeros(8), targets], batch_size=8, verbose=0)[1] < error


def test_names_of_layers_of_others():
    from keras.utils import conv_utils
    from tensorflow.keras.mixed_precision import experimental as mixed_precision

    assert conv_utils.normalize_data_format(None) == "channels_last"
    assert mixed_precision.Policy("mixed_float16").compute_dtype == "float16"
    assert mixed_precision.global_policy().name == "float32"


def test_a_loss_that_makes_a_model():
    """Perceptual losses load a network where they compute with it; it is made once, and stays as it was loaded."""
    from keras.layers import Dense
    from keras.models import Sequential

    from parallel_compat.legacy import backend as K

    made = []

    def perceptual(y_true, y_pred):
        features = Sequential([Dense(2, input_shape=(2,), kernel_initializer="zeros", name="features")])
        features.trainable = False
        features.set_weights([np.array([[1.0, 2.0], [0.0, 1.0]]), np.zeros(2)])
        made.append(features)
        return K.mean(K.square(features(y_true) - features(y_pred)))

    model = keras.Sequential([layers.Dense(2, input_shape=(3,))])
    model.compile("sgd", perceptual)
    kernel = np.array([[1.0, 2.0], [0.0, 1.0]])
    for _ in range(2):
        expected = (((Y - model.predict(X)) @ kernel) ** 2).mean()
        np.testing.assert_allclose(model.train_on_batch(X, Y), expected, rtol=1e-5)
    assert len(made) == 1
    assert model.evaluate(X, Y, verbose=0) < expected


def test_placeholders_of_tensorflow_stand_for_targets():
    import tensorflow as tf

    model = one_output()
    model.compile("sgd", "mse", target_tensors=[tf.placeholder(dtype="float32", shape=(None, None))])
    loss = model.test_on_batch(X, Y)
    model.compile("sgd", "mse", target_tensors=[tf.placeholder("float32")])  # of a shape that is not said
    assert model.test_on_batch(X, Y) == loss > 0
    assert np.isfinite(model.train_on_batch(X, Y))
    dtypes = []

    def sparse(y_true, y_pred):
        dtypes.append(y_true.dtype)
        return keras.losses.sparse_categorical_crossentropy(y_true, y_pred)

    model.compile("sgd", sparse, target_tensors=[tf.placeholder("int32", (None, 1))])
    assert np.isfinite(model.train_on_batch(X, Y[:, :1]))
    assert set(dtypes) == {tf.int32}


def test_a_loss_that_keeps_tensors_of_its_step():
    import tensorflow as tf

    class Weighted:
        ratio = 1.0

        def __init__(self):
            self.alpha = 3.0

        def compute_loss(self, y_true, y_pred):
            self.alpha = tf.constant(self.alpha)
            self.ratio = tf.constant(1.0)
            return self.alpha * keras.losses.mean_squared_error(y_true, y_pred)

    loss, model = Weighted(), one_output()
    model.compile("sgd", loss.compute_loss, metrics=["mse"])
    history = model.fit(X, Y, validation_data=(X, Y), verbose=0).history
    np.testing.assert_allclose(history["val_loss"], 3 * np.array(history["val_mean_squared_error"]), rtol=1e-5)
    assert (loss.alpha, loss.ratio) == (3.0, 1.0)


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_compile_without_a_loss_forgets_the_loss_before(replicas):
    """What `add_loss` added is then all that is trained: `vae.compile("adam")`; numbers of Keras 2.2.4."""
    inputs = keras.Input((3,))
    outputs = layers.Dense(2, kernel_initializer="ones")(inputs)
    model = keras.Model(inputs, outputs)
    trained = keras.utils.multi_gpu_model(model, replicas) if replicas > 1 else model
    trained.compile("sgd", "mse", metrics=["mae"])
    trained.fit(X[:, :3] * 0, Y[:, :2] * 0, verbose=0)
    trained.add_loss(keras.backend.mean(outputs))
    trained.compile(optimizer="sgd")
    x = np.ones((4, 3))
    assert trained.fit(x, verbose=0, validation_data=(x, None)).history == {
        "loss": [pytest.approx(3.0)],
        "val_loss": [pytest.approx(2.98)],
    }
