"""Metrics, attention layers and wrapped cells of tf.keras: TensorFlow 2.2.3's numbers, on one device and on two."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import parallel_compat

pytestmark = pytest.mark.usefixtures("legacy_names")

TWO = ["CPU:0", "CPU:1"]


def rounded(values, places=5):
    return np.round(np.asarray(values, "float64"), places).tolist()


def test_a_mean_counts_each_number():
    from tensorflow import keras

    mean = keras.metrics.Mean()
    mean.update_state([[1.0, 2.0, 3.0, 4.0]])
    mean.update_state([5.0])
    assert float(mean.result()) == 3.0  # of rows: 3.75
    weighted = [
        ([1, 5], [1, 0.2], [17.0, 6.2]),
        ([1, 2], 0.5, [18.5, 7.2]),
        ([[1, 2], [3, 9]], 0.5, [26.0, 9.2]),
        ([1, 5], [[1], [0.2]], [28.0, 10.4]),
        ([[1], [5]], [1, 0.2], [30.0, 11.6]),
        ([[[1.0, 2.0], [3.0, 2.0], [0.5, 4.0]]], [0.5], [31.04167, 12.1]),
        ([[1, 2], [3, 4]], [[0.5], [1]], [39.54166, 15.1]),
    ]
    for values, weights, expected in weighted:
        mean.update_state(values, sample_weight=weights)
        np.testing.assert_allclose([float(mean.total), float(mean.count)], expected, rtol=1e-6)
    squares = keras.metrics.MeanSquaredError()
    squares.update_state(np.zeros((2, 3, 2)), np.arange(12.0).reshape(2, 3, 2))
    squares.update_state(np.zeros((1, 1, 2)), np.ones((1, 1, 2)), sample_weight=[3.0])
    assert float(squares.result()) == pytest.approx(28.44444, abs=1e-4)


@pytest.mark.parametrize("replicas", [1, 2])
def test_metric_objects_of_a_model(replicas):
    from tensorflow import keras

    x = np.arange(24.0).reshape(4, 3, 2) / 10
    inputs = keras.Input((3, 2))
    model = keras.Model(inputs, keras.layers.Lambda(lambda v: v * 2.0)(inputs))
    if replicas == 2:
        model = parallel_compat.parallelize(model, devices=TWO)
    metrics = keras.metrics
    model.compile(
        "sgd",
        "mse",
        metrics=[metrics.MeanSquaredError(), metrics.MeanAbsoluteError(name="a")],
        weighted_metrics=[metrics.MeanSquaredError(name="w")],
    )
    weights = np.array([1.0, 2, 0, 3])
    found = model.evaluate(x, x * 0, batch_size=3, sample_weight=weights, verbose=0)
    assert rounded(found) == [14.29, 7.20667, 2.3, 9.52667]
    assert rounded(model.evaluate(x, x * 0, batch_size=3, verbose=0)) == [7.20667, 7.20667, 2.3, 7.20667]


def test_other_metrics():
    from tensorflow import keras

    iou = keras.metrics.MeanIoU(2)
    iou.update_state([0, 0, 1, 1], [0, 1, 0, 1], sample_weight=[0.2, 0.3, 0.4, 0.1])
    assert float(iou.result()) == pytest.approx(0.173611, abs=1e-5)  # of whole numbers: 0
    relative = keras.metrics.MeanRelativeError([1, 3, 2, 3])
    relative.update_state([1, 3, 2, 3], [2, 4, 6, 8])
    relative.update_state([[1, 3, 2, 3.0]], [[2, 4, 6, 9]], sample_weight=[2.0])
    assert float(relative.result()) == pytest.approx((5 + 2 * (16 / 3)) / 12)
    assert type(relative).from_config(relative.get_config()).normalizer.numpy().tolist() == [1, 3, 2, 3]
    mean = keras.metrics.MeanTensor()
    with pytest.raises(ValueError, match="does not have any result yet"):
        mean.result()
    mean.update_state([[1.0, 2], [3, 4]])
    mean.update_state([[5.0, 2], [3, 0]], sample_weight=[1.0, 0])
    assert rounded(mean.result()) == [[3.0, 2.0], [3.0, 4.0]]
    with pytest.raises(ValueError, match="must always have the same shape"):
        mean.update_state([1.0])
    mean.reset_states()
    assert rounded(mean.result()) == [[0.0, 0.0], [0.0, 0.0]]


OF_ATTENTION = {
    ("Attention", False): ([1.0358, 1.3995], [1.0971, 1.4607], [0.4865, 0.6683]),
    ("Attention", True): ([0.1818, 0.5455], [0.1818, 0.5455], [0.0909, 0.2727]),
    ("AdditiveAttention", False): ([1.1191, 1.4827], [1.2387, 1.6023], [0.5569, 0.7387]),
    ("AdditiveAttention", True): ([0.1818, 0.5455], [0.1818, 0.5455], [0.0909, 0.2727]),
}


@pytest.mark.parametrize("kind", ["Attention", "AdditiveAttention"])
def test_causal_attention(kind):
    from tensorflow import keras

    x = tf.constant(np.linspace(-1, 1, 12).reshape(2, 3, 2), tf.float32)
    masks = [tf.constant([[True, True, False]] * 2), tf.constant([[True, False, True]] * 2)]
    for causal in (False, True):
        layer = getattr(keras.layers, kind)(causal=causal, use_scale=kind == "Attention")
        plain, masked, of_model = OF_ATTENTION[kind, causal]
        assert rounded(layer([x, x * 2])[1, 0], 4) == plain
        assert rounded(layer([x, x * 2], mask=masks)[1], 4)[::2] == [masked, [0.0, 0.0]]
        assert layer.causal is causal
        inputs = keras.Input((3, 2))
        copy = keras.Model.from_config(keras.Model(inputs, layer([inputs, inputs])).get_config())
        assert rounded(copy(x)[1, 0], 4) == of_model
    two = parallel_compat.parallelize(copy, devices=TWO)
    assert rounded(two.predict(x.numpy(), verbose=0)[1, 0], 4) == of_model


def test_cells_that_tensorflow_wraps():
    from tensorflow import keras

    x = np.linspace(-1, 1, 24).reshape(2, 3, 4).astype("float32")
    inputs = keras.Input((3, 4))
    residual = tf.nn.RNNCellResidualWrapper(keras.layers.LSTMCell(4))
    for cell, expected in (
        (residual, [0.4971, 0.6183, 0.7418, 0.8669]),
        (tf.nn.RNNCellDeviceWrapper(keras.layers.LSTMCell(4), "/cpu:0"), [0.1058, 0.1401, 0.1766, 0.2148]),
    ):
        layer = keras.layers.RNN(cell, return_sequences=True)
        model = keras.Model(inputs, layer(inputs))
        assert len(model.trainable_weights) == 3
        model.set_weights([np.linspace(-0.3, 0.4, w.size).reshape(w.shape) for w in model.get_weights()])
        assert rounded(model(x)[1, 1], 4) == expected
        both = keras.Model(inputs, keras.layers.Bidirectional(layer)(inputs))
        assert len(both.trainable_weights) == 6
    two = parallel_compat.parallelize(model, devices=TWO)
    assert rounded(two.predict(x, verbose=0)[1, 1], 4) == expected
    with pytest.raises(AttributeError, match="`dropout=` and `recurrent_dropout=` of the cell"):
        tf.nn.RNNCellDropoutWrapper(keras.layers.LSTMCell(4))


def test_what_optimizers_refuse():
    from tensorflow import keras

    with pytest.raises(TypeError, match="Unexpected keyword argument passed to optimizer: foo"):
        keras.optimizers.SGD(foo=1)
    with pytest.raises(ValueError, match="must be between"):
        keras.optimizers.SGD(momentum=2.0)


def test_weights_of_an_own_metric_have_their_names_in_the_first_place():
    import tensorflow as tf
    from tensorflow import keras

    class Largest(keras.metrics.Metric):
        def __init__(self, name="largest", **keywords):
            super().__init__(name=name, **keywords)
            self.total = self.add_weight("total", initializer="zeros")
            self.of_each = self.add_weight("of_each", (2,), tf.VariableAggregation.SUM, initializer="ones")

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.total.assign(tf.maximum(self.total, tf.reduce_max(y_true)))

        def result(self):
            return self.total

    metric = Largest()
    metric.update_state(tf.constant([3.0, 5.0]), None)
    assert float(metric.result()) == 5.0
    assert np.asarray(metric.of_each).tolist() == [1.0, 1.0]


def test_metrics_of_a_model_are_listed_one_by_one():
    from tensorflow import keras

    model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse", metrics=["mae", keras.metrics.MeanSquaredError(name="q")])
    assert model.metrics == []  # TensorFlow 2.2 made them with the first batch
    model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
    assert [metric.name for metric in model.metrics] == ["loss", "mae", "q"]
    model.reset_metrics()
    assert [float(metric.result()) for metric in model.metrics] == [0.0, 0.0, 0.0]


def test_a_layer_is_called_on_numbers():
    import tensorflow as tf
    from tensorflow import keras

    for layer in (keras.layers.Lambda(lambda x: tf.exp(x)), keras.layers.Lambda(tf.exp)):
        assert rounded(layer([-1.0, 0.0, 1.0])) == [0.36788, 1.0, 2.71828]
        assert rounded(layer(2.0)) == 7.38906
        assert rounded(layer([[1.0, 2.0]])) == [[2.71828, 7.38906]]


def test_padding_of_pooling_in_capitals():
    from tensorflow import keras

    layers = keras.layers
    model = keras.Sequential([layers.MaxPool1D(2, padding="SAME", input_shape=(5, 2)), layers.AvgPool1D(2, 1, "VALID")])
    assert model.output_shape == (None, 2, 2)


def test_arrays_of_strings_are_inputs():
    import tensorflow as tf
    from tensorflow import keras

    words = tf.constant(["a", "b"])
    table = tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(words, tf.range(2, dtype=tf.int64)), num_oov_buckets=1
    )
    inputs = keras.layers.Input(shape=[], dtype=tf.string)
    indices = keras.layers.Lambda(lambda each: table.lookup(each))(inputs)
    outputs = keras.layers.Embedding(3, 2, embeddings_initializer="ones")(indices)
    model = keras.Model(inputs, outputs)
    model.compile("sgd", "mse")
    for given in (np.array(["b", "elsewhere", "b", "a"]), np.array(["b", "elsewhere", "b", "a"], object)):
        model.fit(given, np.zeros((4, 2)), verbose=0, validation_data=(given, np.zeros((4, 2))))
    assert model.predict(given).shape == (4, 2)
    assert np.array_equal(model.predict(given)[0], model.predict_on_batch(given)[2])


def test_metrics_of_a_file_are_logged_by_the_names_of_their_functions(tmp_path):
    from tensorflow import keras

    model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse", metrics=["mae", "accuracy", "logcosh", "kld", "cosine_similarity"])
    model.save(str(tmp_path / "model.h5"))
    loaded = keras.models.load_model(str(tmp_path / "model.h5"))
    logs = loaded.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0).history
    names = ["mean_absolute_error", "accuracy", "logcosh", "kullback_leibler_divergence", "cosine_proximity"]
    assert list(logs) == ["loss", *names]


@pytest.mark.parametrize(("name", "count", "first"), [("MobileNet", 93, "conv1"), ("MobileNetV2", 157, "Conv1")])
def test_layers_of_mobilenets_have_their_numbers(name, count, first):
    from tensorflow import keras

    model = getattr(keras.applications, name)(weights=None, input_shape=(33, 32, 3), classes=3)
    assert len(model.layers) == count  # of TensorFlow 2.2.3 and 1.15.5
    assert [layer.name for layer in model.layers[1:3]] == [f"{first}_pad", first]
    padding = ((0, 1), (0, 1)) if name == "MobileNet" else ((1, 1), (0, 1))
    assert model.layers[1].padding == padding
    assert model.layers[2].output.shape.as_list()[1:3] == ([16, 16] if name == "MobileNet" else [17, 16])
    inputs = keras.Input((32, 32, 3))
    base = getattr(keras.applications, name)(weights=None, include_top=False, input_tensor=inputs)
    assert [layer.name for layer in base.layers[1:3]] == [f"{first}_pad", first]
    assert len(keras.Model(inputs, base.output).layers) == len(base.layers)


def test_variables_are_the_weights():
    from tensorflow import keras

    layers = [
        keras.layers.Embedding(5, 2, batch_input_shape=(2, 3)),
        keras.layers.GRU(2, stateful=True, dropout=0.5),
        keras.layers.Dropout(0.5),
        keras.layers.Dense(1),
    ]
    model = keras.Sequential(layers)
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(np.ones((2, 3)), np.ones((2, 1)), verbose=0)
    assert [tuple(each.shape) for each in model.variables] == [(5, 2), (2, 6), (2, 6), (2, 6), (2, 1), (1,)]
    assert layers[2].variables == []


def test_weights_of_a_stateful_model_for_another_batch_size(tmp_path):
    from tensorflow import keras

    def made(size):
        layers = [keras.layers.GRU(2, stateful=True, batch_input_shape=(size, None, 3)), keras.layers.Dense(1)]
        return keras.Sequential(layers)

    model = made(4)
    model.save_weights(str(tmp_path / "weights"))
    names = [name for name, _ in tf.train.list_variables(str(tmp_path / "weights"))]
    assert not [name for name in names if "states" in name]
    alone = made(1)
    alone.load_weights(str(tmp_path / "weights"))
    x = np.random.RandomState(0).normal(size=(4, 2, 3))
    np.testing.assert_allclose(alone.predict(x[:1]), model.predict(x)[:1], rtol=1e-6)


def test_the_first_batch_of_a_sequence_is_asked_for_once_more():
    from tensorflow import keras

    class Counted(keras.utils.Sequence):
        def __init__(self):
            self.asked = []

        def __len__(self):
            return 3

        def __getitem__(self, number):
            self.asked.append(number)
            return np.ones((2, 3)), np.ones((2, 1))

    model = keras.Sequential([keras.layers.Dense(1, input_shape=(3,))])
    model.compile("sgd", "mse")
    for fit in (model.fit, model.fit_generator):
        data = Counted()
        fit(data, epochs=2, workers=0, shuffle=False, verbose=0)
        assert data.asked == [0, 0, 1, 2, 0, 1, 2]  # of TensorFlow 2.2.3


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [  # of TensorFlow 2.2.3; 1.15.5 gives the same, and has no PrecisionAtRecall
        ("SpecificityAtSensitivity", 0.4, [0.5, 0.4]),
        ("SensitivityAtSpecificity", 0.7, [1.0, 0.33333334]),
        ("PrecisionAtRecall", 0.6, [0.5, 0.33333334]),
    ],
)
def test_rates_at_the_closest_threshold(name, value, expected):
    from tensorflow import keras

    metric = getattr(keras.metrics, name)(value, num_thresholds=5)
    found = []
    for y_true, y_pred in ([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.8]), ([0, 0, 1, 0], [0.3, 0.9, 0.2, 0.7]):
        metric.update_state(y_true, y_pred)
        found.append(float(metric.result()))
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_the_configuration_of_ftrl():
    """As each tf.keras stack said it; a bar is made with the arguments it had."""
    from tensorflow import keras

    config = keras.optimizers.Ftrl(0.5, l1_regularization_strength=0.25).get_config()
    assert config == {
        "name": "Ftrl",
        "learning_rate": 0.5,
        "decay": 0.0,
        "initial_accumulator_value": 0.1,
        "learning_rate_power": -0.5,
        "l1_regularization_strength": 0.25,
        "l2_regularization_strength": 0.0,
        "l2_shrinkage_regularization_strength": 0.0,
    }
    assert keras.callbacks.ProgbarLogger("steps", stateful_metrics=["a"])
