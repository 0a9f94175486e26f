"""Folders of TensorFlow's SavedModel format in code of tf.keras. Numbers are those of TensorFlow 2.2.3."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

pytestmark = pytest.mark.usefixtures("legacy_names")

x = np.arange(24).reshape(8, 3).astype("float32") / 24
y = np.ones((8, 2), "float32")


def own_layer(units):
    class Own(tf.keras.layers.Layer):
        def __init__(self, units, **keywords):
            super().__init__(**keywords)
            self.units = units

        def build(self, shape):
            self.k = self.add_weight("k", (int(shape[-1]), self.units), initializer="ones", regularizer="l2")

        def call(self, x, training=None):
            self.add_loss(tf.reduce_sum(x))
            return tf.matmul(x, self.k)

    return Own(units)


def subclassed(inner):
    class Two(tf.keras.Model):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def call(self, x, training=None):
            self.add_loss(tf.reduce_sum(x) * 100)
            return self.inner(x)

        @tf.function(input_signature=[tf.TensorSpec([None, 3])])
        def twice(self, x):
            return 2 * self.inner(x)

    return Two(inner)


def sequential():
    first = tf.keras.layers.Dense(3, kernel_initializer="ones", activity_regularizer="l2", input_shape=(3,))
    return tf.keras.Sequential([first, own_layer(2)])


@pytest.mark.parametrize(
    ("make", "before", "after", "losses"),
    [
        (
            lambda: subclassed(tf.keras.layers.Dense(2, kernel_initializer="ones", kernel_regularizer="l2")),
            1150.972412109375,
            0.9724111557006836,
            1,
        ),
        (lambda: subclassed(own_layer(2)), 1162.4761962890625, 0.9761601686477661, 1),
        (sequential, 38.06531524658203, 10.027985572814941, 2),
    ],
)
def test_models_without_a_configuration_are_saved_to_folders(tmp_path, make, before, after, losses):
    """What `call` adds by `add_loss` is not in TensorFlow 2.2's loaded model; regularizers of weights are."""
    model = make()
    model.compile("sgd", "mse")
    model.fit(x, y, epochs=1, verbose=0, shuffle=False)
    model.save(str(tmp_path / "model"))
    loaded = tf.keras.models.load_model(str(tmp_path / "model"))
    np.testing.assert_allclose([model.evaluate(x, y, verbose=0), loaded.evaluate(x, y, verbose=0)], [before, after])
    assert len(loaded.losses) == losses
    assert type(loaded).__name__ == type(model).__name__
    assert loaded.fit(x, y, epochs=1, verbose=0).history["loss"] == pytest.approx([after])
    assert not np.allclose(loaded.get_weights()[0], model.get_weights()[0])  # trained on, by itself
    loaded.save(str(tmp_path / "again"))
    again = tf.keras.models.load_model(str(tmp_path / "again"), compile=False)
    np.testing.assert_array_equal(again.predict(x), loaded.predict(x))


def test_a_saved_model_is_loaded_by_tensorflow(tmp_path):
    model = subclassed(tf.keras.layers.Dense(2))
    with pytest.raises(ValueError, match="the input shapes have not been set"):
        model.save(str(tmp_path / "model"))
    model(x)
    tf.saved_model.save(model, str(tmp_path / "model"))
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    np.testing.assert_array_equal(loaded(x), model(x))
    np.testing.assert_array_equal(loaded.twice(x), 2 * model(x))
    assert (len(loaded.variables), len(loaded.trainable_variables)) == (2, 2)
    served = loaded.signatures["serving_default"]
    assert list(served.structured_input_signature[1]) == ["input_1"]
    np.testing.assert_array_equal(served(tf.constant(x))["output_1"], model(x))


def test_a_sequential_is_served_by_the_names_of_its_layers(tmp_path):
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,), name="of_last")])
    tf.saved_model.save(model, str(tmp_path / "model"))
    served = tf.saved_model.load(str(tmp_path / "model")).signatures["serving_default"]
    assert list(served.structured_input_signature[1]) == ["of_last_input"]
    assert list(served.structured_outputs) == ["of_last"]


def test_the_optimizer_of_a_model_from_a_folder_begins_anew(tmp_path):
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,), kernel_initializer="ones")])
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(x, y, epochs=3, verbose=0, shuffle=False)
    model.save(str(tmp_path / "model"))
    loaded = tf.keras.models.load_model(str(tmp_path / "model"))
    assert loaded.optimizer.iterations.numpy() == 0
    history = loaded.fit(x, y, epochs=2, verbose=0, shuffle=False).history
    # An Adam that went on from the third step gives 0.91535991, 2e-6 away; two kinds of processors differ by 2e-7.
    np.testing.assert_allclose(history["loss"], [0.9189207553863525, 0.9153580665588379], rtol=8e-7)
    np.testing.assert_allclose(history["mean_absolute_error"], [0.8085629940032959, 0.807250440120697], rtol=1e-6)


def test_tables_are_in_the_saved_model(tmp_path):
    column = tf.feature_column.categorical_column_with_vocabulary_list("word", ["a", "b"])
    layer = tf.keras.layers.DenseFeatures([tf.feature_column.indicator_column(column)])
    model = tf.keras.Sequential([layer, tf.keras.layers.Dense(1)])
    data = tf.data.Dataset.from_tensor_slices({"word": [["a"], ["b"], ["c"]]}).batch(3)
    expected = model.predict(data)
    model.save(str(tmp_path / "model"))
    np.testing.assert_array_equal(tf.keras.models.load_model(str(tmp_path / "model")).predict(data), expected)


def test_models_and_layers_in_a_model_from_a_folder_are_made_of_their_configurations(tmp_path):
    """They draw initial weights, and are trained where the model was, as in TensorFlow 2.2."""

    class Auto(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.encoder = tf.keras.Sequential([tf.keras.layers.Dense(3, "relu"), tf.keras.layers.Dense(2)])
            self.decoder = tf.keras.layers.Bidirectional(tf.keras.layers.SimpleRNN(2))
            self.encoder.trainable = False
            self.own, self.last = own_layer(2), tf.keras.layers.Dense(2)
            self.last.trainable = False

        def call(self, inputs):
            return self.last(self.own(self.decoder(self.encoder(inputs)[:, None])))

    tf.random.set_seed(3)
    model = Auto()
    model(x)
    model.save(str(tmp_path / "model"))
    loaded = tf.keras.models.load_model(str(tmp_path / "model"))
    np.testing.assert_allclose(tf.random.uniform([]), 0.5250265598297119, rtol=1e-6)
    np.testing.assert_allclose(loaded(x), model(x), rtol=1e-6)
    assert [type(layer).__name__ for layer in loaded.layers] == ["Sequential", "Bidirectional", "Own", "Dense"]
    assert isinstance(loaded.last, tf.keras.layers.Dense)
    assert loaded.last.units == 2
    assert (len(loaded.trainable_weights), len(loaded.get_weights())) == (9, 13)
    assert [weight.name for weight in loaded.weights] == [weight.name for weight in model.weights]
    loaded.compile("sgd", "mse")
    history = loaded.fit(x, y, epochs=2, verbose=0, shuffle=False).history["loss"]
    np.testing.assert_allclose(history, [0.3596755862236023, 0.33992698788642883], rtol=1e-6)
