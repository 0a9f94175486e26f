"""Functions below `keras.engine` and `keras.utils` that old projects called; numbers as Keras 2.2.4 answered."""

from __future__ import annotations

import keras
import numpy as np
import pytest

from parallel_compat.legacy import initializers, old_weights, training_utils, yaml_models

pytestmark = pytest.mark.usefixtures("legacy_names")


def close(mine, theirs):
    np.testing.assert_allclose(mine, theirs, rtol=1e-5)


# --- training loops of one's own ----------------------------------------------------------------------------------


def test_loss_with_weights_and_mask():
    from keras import backend as K
    from keras.engine.training_utils import weighted_masked_objective

    loss = weighted_masked_objective(keras.losses.mean_squared_error)
    y = np.arange(12.0, dtype="float32").reshape(2, 3, 2)
    other = y[:, ::-1] * np.float32(1.5)
    mask = np.array([[1, 1, 0], [1, 0, 0]], "float32")
    of_rows, with_zero = np.array([0.5, 2.0], "float32"), np.array([0.0, 2.0], "float32")
    close(K.eval(loss(K.variable(y), K.variable(other), K.variable(of_rows), K.variable(mask))), 63.875)
    close(K.eval(loss(K.variable(y), K.variable(other), with_zero, None)), 69.583336)
    close(K.eval(loss(K.variable(y), K.variable(other), None, mask)), 42.125)
    assert weighted_masked_objective(None) is None


def test_batches_of_indices():
    np.random.seed(3)
    assert training_utils.batch_shuffle(np.arange(11), 3).tolist() == [3, 4, 5, 0, 1, 2, 6, 7, 8, 9, 10]
    assert training_utils.make_batches(7, 3) == [(0, 3), (3, 6), (6, 7)]


def test_weights_of_classes():
    y = np.eye(3)[[0, 2, 2]]
    assert training_utils.standardize_weights(y, class_weight={0: 1.0, 1: 2.0, 2: 0.5}).tolist() == [1.0, 0.5, 0.5]
    with pytest.raises(ValueError, match=r"Received: none of \[2\]"):
        training_utils.standardize_weights(y, class_weight={0: 1.0, 1: 2.0})
    with pytest.raises(ValueError, match='needs `sample_weight_mode="temporal"`'):
        training_utils.standardize_weights(y, sample_weight=np.ones((3, 3)))


def test_data_that_do_not_fit_are_refused():
    a, b = np.ones((4, 3)), np.ones((5, 3))
    for wrong in ((a, a), [a], None), ([a], [b], None), ([a], [a], [b]):
        inputs, *rest = wrong
        with pytest.raises(ValueError, match="as many samples"):
            training_utils.check_array_length_consistency([a, b] if isinstance(inputs, tuple) else inputs, *rest)
    check = training_utils.check_loss_and_target_compatibility
    check([a, None], [keras.losses.mean_squared_error] * 2, [(None, 3), (None, 1)])
    with pytest.raises(ValueError, match="sparse_categorical_crossentropy"):
        check([np.ones((4, 1))], [keras.losses.categorical_crossentropy], [(None, 3)])
    with pytest.raises(ValueError, match=r"targets to have the same shape as the output.*\(None, 2\)"):
        check([a], [keras.losses.mean_squared_error], [(None, 2)])
    with pytest.raises(ValueError, match="'second' of shape"):
        training_utils.standardize_input_data([a, a], ["first", "second"], [(None, 3), (None, 4)], False)


# --- arrays of old files ------------------------------------------------------------------------------------------


def test_weights_of_old_layouts():
    """A number for each array: its entries, weighed by their places."""
    drawn = np.random.RandomState(0)

    def converted(layer, shapes, **keywords):
        keras.Sequential([layer])
        arrays = [drawn.rand(*shape) for shape in shapes]
        found = old_weights.preprocess_weights_for_loading(layer, arrays, **keywords)
        return [float((each * np.arange(1, each.size + 1).reshape(each.shape)).sum()) for each in found]

    layers, of_gate, keras_1 = keras.layers, [(3, 2), (2, 2), (2,)], {"original_keras_version": "1"}
    close(converted(layers.GRU(2, input_shape=(4, 3)), of_gate * 3, **keras_1), [79.32911, 52.455015, 10.155832])
    close(converted(layers.LSTM(2, input_shape=(4, 3)), of_gate * 4, **keras_1), [125.136457, 55.216811, 15.059135])
    conv = layers.Conv2D(2, (3, 2), input_shape=(5, 5, 1))
    close(converted(conv, [(3, 2, 1, 2), (2,)], original_backend="theano"), [36.0457208, 0.62672803])
    cudnn = layers.LSTM(2, input_shape=(4, 3))
    close(converted(cudnn, [(3, 8), (2, 8), (16,)]), [173.3267785, 64.0655287, 44.5753879])
    both = layers.Bidirectional(layers.GRU(2), input_shape=(4, 3))
    expected = [63.809258, 44.9723112, 12.9577885, 84.0886840, 41.8624454, 11.3919366]
    close(converted(both, of_gate * 6, **keras_1), expected)
    transposed = layers.Conv2DTranspose(2, (3, 2), input_shape=(5, 5, 1))
    close(converted(transposed, [(3, 2, 1, 2), (2,)], **keras_1), [29.0591857, 1.4511974])

    close(old_weights.convert_kernel(drawn.rand(2, 3, 1, 2)).ravel()[:3], [0.35561274, 0.94043195, 0.14484776])
    dense = keras.layers.Dense(2)
    dense.build((None, 12))
    dense.set_weights([np.arange(24.0).reshape(12, 2), np.zeros(2)])
    old_weights.convert_dense_weights_data_format(dense, (2, 3, 2), "channels_first")
    assert dense.get_weights()[0][:, 0].tolist() == [0, 4, 8, 12, 16, 20, 2, 6, 10, 14, 18, 22]


def test_identity_matrices_side_by_side():
    from keras.initializers import Identity

    assert np.asarray(Identity(2.0)((1, 3))).tolist() == [[2.0, 2.0, 2.0]]
    assert np.asarray(Identity(2.0)((4, 2))).tolist() == [[2.0, 0.0], [0.0, 2.0], [2.0, 0.0], [0.0, 2.0]]
    lstm = keras.layers.LSTM(2, recurrent_initializer="identity", input_shape=(4, 3))
    keras.Sequential([lstm])
    assert lstm.get_weights()[1].tolist() == [[1.0, 0.0] * 4, [0.0, 1.0] * 4]
    with pytest.raises(ValueError, match="a multiple"):
        initializers.tiled_identity((2, 3))


# --- the graph ----------------------------------------------------------------------------------------------------


def small_model():
    from keras import backend as K

    x = keras.Input((3,))
    layer = keras.layers.Dense(2, kernel_regularizer="l2", activity_regularizer="l1")
    a, b = layer(x), layer(keras.layers.Dropout(0.5)(x))
    model = keras.Model(x, keras.layers.add([a, b]))
    model.add_loss(K.mean(a))
    model.add_loss(1.0)
    return model, layer, x, a, b


def test_losses_before_anything_is_computed():
    model, layer, x, _, _ = small_model()
    assert [len(model.losses), len(layer.losses)] == [5, 3]
    assert [len(layer.get_losses_for(None)), len(layer.get_losses_for(x))] == [1, 1]
    model.compile("sgd", "mse")
    layer.set_weights([np.full((3, 2), 0.5), np.zeros(2)])
    close(model.train_on_batch(np.zeros((2, 3)), np.zeros((2, 2))), 1.0 + 0.01 * 6 * 0.25)


def test_what_depends_on_the_learning_phase():
    model, _, x, a, b = small_model()
    assert [t._uses_learning_phase for t in (x, a, b)] == [False, False, True]
    assert model.uses_learning_phase
    assert not keras.Model(x, a).uses_learning_phase
    assert not keras.layers.Dropout(0.5)(x, training=True)._uses_learning_phase


def test_what_is_given_to_a_layer_says_whether_it_depends_on_the_learning_phase():
    """As in Keras 2.2.4: behind a Dropout in the model, also while the model trains."""
    seen = []

    class Own(keras.layers.Layer):
        def call(self, x):
            seen.append(x._uses_learning_phase)
            return x * (2.0 if seen[-1] else 1.0)

        def compute_output_shape(self, shape):
            return shape

    def model(*layers):
        return keras.Sequential([keras.layers.Activation("linear", input_shape=(2,)), *layers, Own()])

    ones = np.ones((2, 2))
    for each, expected in (
        (keras.Sequential([Own(input_shape=(2,))]), 1.0),
        (model(), 1.0),
        (model(keras.layers.Dropout(0.5)), 2.0),
        (model(keras.layers.Dropout(0.5), keras.layers.Activation("linear")), 2.0),
        (model(keras.layers.Dropout(0.0)), 1.0),
    ):
        np.testing.assert_array_equal(each.predict(ones), ones * expected)
        each.compile("sgd", "mse")
        seen.clear()
        each.train_on_batch(ones, ones)
        assert {*map(bool, seen)} == {expected == 2.0}


def test_activity_regularizer_of_simple_rnn():
    layer = keras.layers.SimpleRNN(
        2, activity_regularizer="l2", kernel_initializer="ones", recurrent_initializer="zeros", input_shape=(2, 1)
    )
    model = keras.Sequential([layer])
    model.compile("sgd", "mse")
    close(model.test_on_batch(np.ones((3, 2, 1)), np.zeros((3, 2))), 0.61482722)


def test_fetches_and_feed_dict_of_a_function():
    from keras import backend as K

    x, z = K.placeholder((2,)), K.placeholder((2,))
    v, u = K.variable(1.0), K.variable(0.0)
    feed = {z: np.array([1.0, 2.0])}
    function = K.function([x], [x + z], updates=[(v, K.sum(x) * 2)], fetches=[K.update(u, K.sum(z))], feed_dict=feed)
    assert function([np.ones(2)])[0].tolist() == [2.0, 3.0]
    feed[z] = np.array([5.0, 5.0])
    assert function([np.ones(2)])[0].tolist() == [6.0, 6.0]
    assert [float(K.eval(each)) for each in (v, u)] == [4.0, 10.0]


def test_constants_of_stacked_cells():
    class Scaled(keras.layers.Layer):
        def __init__(self, units, **keywords):
            self.units = self.state_size = units
            super().__init__(**keywords)

        def build(self, input_shape):
            inputs, constants = input_shape
            self.kernel = self.add_weight(shape=(inputs[-1], self.units), initializer="ones", name="kernel")
            self.scale = self.add_weight(shape=(constants[-1], self.units), initializer="ones", name="scale")
            self.built = True

        def call(self, inputs, states, constants):
            output = keras.backend.dot(inputs, self.kernel) + states[0] + keras.backend.dot(constants[0], self.scale)
            return output, [output]

    x, c = keras.Input((None, 2)), keras.Input((3,))
    stack = keras.layers.RNN([Scaled(2), Scaled(4)])
    model = keras.Model([x, c], stack(x, constants=c))
    assert stack.cell.state_size == (2, 4)
    # The first cell: 2 + 3, and again on its state; the second sums both units of that and the constants.
    close(model.predict([np.ones((1, 2, 2)), np.ones((1, 3))]), [[10 + 3 + 20 + 3] * 4])


def test_yaml():
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: Keras 3 does not need it")
    from keras.models import model_from_yaml

    model = keras.Sequential([keras.layers.Dense(2, input_shape=(3,), name="only")])
    text = model.to_yaml()
    assert [layer.name for layer in model_from_yaml(text).layers] == ["only"]
    with pytest.raises(ValueError, match="as YAML"):
        yaml_models.model_from_yaml("!!python/object/apply:os.getcwd []")
    assert yaml.safe_load(text)


def test_a_mask_is_no_input():
    model = keras.Sequential([keras.layers.Masking(input_shape=(3, 4)), keras.layers.LSTM(2)])
    assert model.layers[1].input is model.layers[0].output


def test_a_metric_that_counts_by_itself():
    from keras import backend as K

    class Hits(keras.layers.Layer):
        def __init__(self, name="hits", **keywords):
            super().__init__(name=name, **keywords)
            self.stateful = True
            self.count = K.variable(value=0, dtype="int32")

        def reset_states(self):
            K.set_value(self.count, 0)

        def __call__(self, y_true, y_pred):
            equal = K.equal(K.cast(y_true, "int32"), K.cast(K.round(y_pred), "int32"))
            found, before = K.sum(K.cast(equal, "int32")), self.count * 1
            self.add_update(K.update_add(self.count, found), inputs=[y_true, y_pred])
            return before + found

    model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
    model.compile("sgd", "mse", metrics=[Hits()])
    x, y = np.arange(20.0).reshape(10, 2) / 10, np.ones((10, 1))
    close(model.evaluate(x, y, batch_size=3, verbose=0), [2.13, 2.0])
    history = model.fit(x, y, batch_size=4, epochs=2, verbose=0, shuffle=False, validation_data=(x, y)).history
    close(history["hits"], [2.0, 3.0])
    close(history["val_hits"], [3.0, 3.0])
    close(history["val_loss"], [1.40947586, 0.98405249])


def test_updates_are_those_of_layers_that_are_not_frozen():
    model = keras.Sequential([keras.layers.BatchNormalization(input_shape=(2,)), keras.layers.Dropout(0.1)])
    assert len(model.updates) == 2
    model.layers[0].trainable = False
    assert model.updates == []


def test_updates_of_a_model_for_its_inputs(era):
    """Read from the real stacks: only a session of TensorFlow 1.15 was given those of the layers."""
    from keras import backend as K

    model = keras.Sequential([keras.layers.BatchNormalization(momentum=0.9, input_shape=(2,))])
    updates = model.get_updates_for(model.inputs)
    assert (len(updates), model.get_updates_for(None)) == (2 if era == "tf.keras-1.15" else 0, [])
    if updates:
        K.function([model.input, K.learning_phase()], [model.output], updates=updates)(
            [np.array([[1.0, 2], [3, 4]]), 1]
        )
        close(model.get_weights()[2], [0.2, 0.3])


def test_names_that_tensorflow_has_for_dtypes(era):
    if era == "keras-2.2.4":
        import keras
    else:
        from tensorflow import keras
    given = {"half": "float16", "float": "float32", "double": "float64"}
    assert [keras.backend.dtype(keras.layers.Input((2,), dtype=name)) for name in given] == list(given.values())
    assert keras.backend.dtype(keras.layers.Dense(1, dtype="float")(keras.layers.Input((2,)))) == "float32"
    assert keras.models.Sequential([keras.layers.Dense(1, input_shape=(2,))]).optimizer is None
