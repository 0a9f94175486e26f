"""Details of Keras 2's layers and models that code of its time leans on, found with Keras 2.2.4's own tests."""

from __future__ import annotations

import hashlib
import warnings

import h5py
import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("legacy_names")


def test_recurrent_layers_called_by_their_method():
    """`layer.call(x)` of a symbolic tensor, states in lists, zeros for the samples of a tensor."""
    from keras import backend as K
    from keras.layers import GRU, LSTM, RNN, Bidirectional, GRUCell, Input, LSTMCell

    x = Input((4, 3))
    both = Bidirectional(LSTM(2, return_state=True, return_sequences=True), merge_mode=None)
    outputs = both(x)
    assert isinstance(outputs, list)
    assert len(outputs) == 6
    forward, backward = both.forward_layer.call(x), both.backward_layer.call(x)
    data = np.random.RandomState(0).rand(2, 4, 3)
    found = K.function([x], outputs)([data])
    of_forward, of_backward = (K.function([x], each)([data]) for each in (forward, backward))
    np.testing.assert_allclose(found[0], of_forward[0], atol=1e-6)
    np.testing.assert_allclose(found[1], of_backward[0][:, ::-1], atol=1e-6)
    assert both.layer is not both.forward_layer
    assert both.layer.states == [None, None]
    with pytest.raises(ValueError, match="`initial_state` of 'bidirectional_2' to be a list"):
        Bidirectional(LSTM(2))(x, initial_state=outputs[2])

    layer = GRU(2)
    states = layer.get_initial_state(x)
    assert [K.int_shape(state) for state in states] == [(None, 2)]
    assert K.function([x], states)([data])[0].tolist() == [[0, 0], [0, 0]]
    stacked = RNN([LSTMCell(2), GRUCell(3)], return_state=True)
    assert stacked.compute_output_shape((None, 4, 3)) == [(None, 3), (None, 2), (None, 2), (None, 3)]


def test_constants_go_to_those_of_stacked_cells_that_take_them():
    import keras
    from keras import backend as K
    from keras.layers import RNN, GRUCell, Input

    class Adding(keras.layers.Layer):
        state_size = 2

        def call(self, inputs, states, constants):
            return inputs[:, :2] + states[0] + constants[0], [states[0] + 1.0]

    x, c = Input((3, 4)), Input((2,))
    y = RNN([GRUCell(2, kernel_initializer="zeros", recurrent_initializer="zeros"), Adding()])(x, constants=c)
    value = K.function([x, c], [y])([np.zeros((1, 3, 4)), np.array([[5.0, 7.0]])])[0]
    np.testing.assert_allclose(value, [[7.0, 9.0]])  # the last of three steps


def test_shapes_that_a_layer_cannot_take_are_value_errors():
    from keras.layers import Conv2D, DepthwiseConv2D, Embedding, Input, SeparableConv1D, Subtract
    from keras.models import Sequential

    for layer, shape in ((Conv2D, (5, 5, None)), (SeparableConv1D, (5, None)), (DepthwiseConv2D, (5, 5, None))):
        with pytest.raises(ValueError, match="known number of channels"):
            Sequential([layer(2, 3, input_shape=shape)])
    for shape in ((3, 4, 5), (3,)):
        with pytest.raises(ValueError, match="`input_length` to be that of `input_shape`"):
            Embedding(10, 4, input_length=2, input_shape=shape)
    Embedding(10, 4, input_length=2, input_shape=(2,))
    subtract = Subtract()
    subtract([Input((2,)), Input((2,))])
    with pytest.raises(ValueError, match="Expected two tensors"):
        subtract([Input((2,)), Input((2,)), Input((2,))])


def test_numbers_as_losses_and_updates_of_layers():
    from keras.layers import Activation, Dense, Input
    from keras.models import Model

    x = Input((2,))
    layer = Dense(1, kernel_initializer="zeros")
    layer.add_loss(2.0, inputs=x)
    layer.add_loss(3.0)
    layer.add_update(0, inputs=x)
    layer.add_update(1)
    assert (layer.get_losses_for(x), layer.get_losses_for(None)) == ([2.0], [3.0])
    assert (layer.get_updates_for(x), layer.get_updates_for(None), layer.updates) == ([0], [1], [0, 1])
    model = Model(x, Activation("linear")(layer(x)))
    model.compile("sgd", "mse")
    # A number counts once, in training and when it is evaluated.
    assert model.test_on_batch(np.zeros((4, 2)), np.ones((4, 1))) == pytest.approx(6.0)
    assert model.train_on_batch(np.zeros((4, 2)), np.ones((4, 1))) == pytest.approx(6.0)


def test_functions_with_their_old_arguments_and_parts_by_their_old_names():
    import keras
    from keras import activations, constraints, losses, metrics, regularizers

    x = np.array([[-1.0, 3.0]], "float32")
    for call in (lambda: activations.relu(x, alpha=0.1), lambda: keras.activations.relu(x, alpha=0.1, max_value=3.0)):
        np.testing.assert_allclose(call(), [[-0.1, 3.0]], rtol=1e-6)
    layer = keras.layers.Dense(2, activation="relu", kernel_regularizer="l1_l2", kernel_constraint="maxnorm")
    assert compares_with_relu(layer.activation)
    assert isinstance(layer.kernel_constraint, constraints.MaxNorm)
    assert float(layer.kernel_regularizer(x)) == pytest.approx(0.01 * 4 + 0.01 * 10)
    assert float(regularizers.get("l1_l2")(x)) == pytest.approx(0.14)
    assert [losses.serialize(losses.mse), metrics.serialize(metrics.mae)] == [
        "mean_squared_error",
        "mean_absolute_error",
    ]


def compares_with_relu(activation):
    import keras

    return activation == keras.activations.relu


def test_losses_of_nested_models_and_of_layers_in_time():
    from keras import backend as K
    from keras.layers import Average, Dense, Input, TimeDistributed
    from keras.models import Model, Sequential

    x = Input((2,))
    inner = Model(x, Dense(1, kernel_initializer="ones", activity_regularizer="l2", kernel_regularizer="l1")(x))
    a, b = Input((2,)), Input((2,))
    outer = Model([a, b], Average()([inner(a), inner(b)]))
    assert len(outer.losses) == 3  # the kernel's, and that of each call
    of_calls = K.function([a, b], outer.losses[1:])([np.ones((1, 2)), 2 * np.ones((1, 2))])
    np.testing.assert_allclose(of_calls, [0.01 * 4, 0.01 * 16], rtol=1e-5)
    in_time = Sequential([TimeDistributed(Dense(2, activity_regularizer="l1"), input_shape=(3, 4))])
    assert len(in_time.losses) == 1


def test_functions_of_lambda_layers_are_found_again(tmp_path):
    """By name, in the process that wrote them; two of one name are told apart."""
    import keras
    from keras import backend as K
    from keras.layers import Input, Lambda
    from keras.models import Model, clone_model, load_model

    def twice(x):
        return 2.0 * x

    x = Input((2,))
    model = Model(x, Lambda(twice)(x))
    path = str(tmp_path / "model.h5")
    model.save(path)
    for copy in (clone_model(model), Model.from_config(model.get_config()), load_model(path)):
        assert copy.predict(np.ones((1, 2))).tolist() == [[2.0, 2.0]]

    def other():
        def twice(x):
            return 2.0 * x + 1.0

        return twice

    config = Lambda(other()).get_config()
    found = keras.layers.deserialize({"class_name": "Lambda", "config": config})
    assert K.get_value(found(K.constant([[1.0]]))).tolist() == [[3.0]]
    again = other()
    keep = Lambda(again)
    keep.get_config()
    assert load_model(path).predict(np.ones((1, 2))).tolist() == [[2.0, 2.0]]  # the one of the two that was saved

    of_file = Lambda.from_config(Lambda(lambda t: K.mean(t, axis=-1)).get_config(), safe_mode=False)
    assert of_file(Input((2, 4))).shape == (None, 2)


def test_a_model_that_was_not_compiled_says_so_as_keras_2_did():
    import keras

    model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,))])
    x, y = np.ones((4, 2)), np.ones((4, 1))
    for call in (lambda: model.train_on_batch(x, y), lambda: model.fit(x, y), lambda: model.evaluate(x, y)):
        with pytest.raises(RuntimeError, match="must compile a model before"):
            call()
    with pytest.raises(ValueError, match="None among them"):
        model.predict([None])


def test_sparse_matrices_as_targets():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    import keras

    x, y = scipy_sparse.eye(6, 3).tocsr(), scipy_sparse.eye(6, 2).tocsr()
    model = keras.Sequential([keras.layers.Dense(2, input_shape=(3,), kernel_initializer="zeros")])
    model.compile("sgd", "mse")
    history = model.fit(x, y, epochs=1, batch_size=3, validation_split=0.5, verbose=0, shuffle=False)
    assert history.history["loss"] == [pytest.approx(2 / 6)]


@pytest.mark.parametrize("replicas", [1, 2])
def test_sparse_matrices_as_one_batch(replicas):
    """As `fit` of them; recorded from Keras 2.2.4."""
    scipy_sparse = pytest.importorskip("scipy.sparse")
    import keras
    from keras.utils import multi_gpu_model

    dense, y = np.tile(np.eye(3), (2, 1)), np.tile(np.eye(2, 3).T, (2, 1))
    inputs = keras.layers.Input((3,), sparse=True)
    model = keras.models.Model(inputs, keras.layers.Dense(2, activation="softmax", kernel_initializer="zeros")(inputs))
    trained = multi_gpu_model(model, replicas) if replicas > 1 else model
    trained.compile(keras.optimizers.SGD(1.0), "mse")
    x = scipy_sparse.csr_matrix(dense)
    assert trained.train_on_batch(x, y) == pytest.approx(0.25, rel=1e-5)
    assert trained.test_on_batch(x, y) == pytest.approx(0.22343843, rel=1e-5)
    np.testing.assert_allclose(trained.predict_on_batch(x), model.predict(dense), rtol=1e-5)


def test_sparse_matrices_stay_sparse_for_sparse_inputs():
    """Recorded from Keras 2.2.4 on TensorFlow 1.15."""
    scipy_sparse = pytest.importorskip("scipy.sparse")
    import keras
    import tensorflow as tf

    def product(tensors):
        return tf.sparse_tensor_dense_matmul(tensors[1], tf.ones((4, 3))) + tensors[0][:, :3]

    def model_of(*inputs):
        hidden = keras.layers.Lambda(lambda tensors: product(tensors), output_shape=(3,))(list(inputs[:2]))
        if len(inputs) > 2:
            hidden = keras.layers.add([hidden, keras.layers.Lambda(lambda x: x[:, :3])(inputs[2])])
        model = keras.models.Model(list(inputs), keras.layers.Dense(2, kernel_initializer="ones")(hidden))
        model.compile("sgd", "mse")
        return model

    dense, sparse, other = keras.layers.Input((6,)), keras.layers.Input((4,), sparse=True), keras.layers.Input((4,))
    random = np.random.RandomState(0)
    x = [random.rand(5, 6), *(scipy_sparse.csr_matrix(random.rand(5, 4) > 0.5, dtype="float32") for _ in range(2))]
    y = np.ones((5, 2))
    model = model_of(dense, sparse, other)
    options = {"batch_size": 2, "epochs": 2, "verbose": 0, "shuffle": False}
    history = model.fit(x, y, validation_data=(x, y), **options).history
    assert history["loss"] == pytest.approx([53.09714, 6.94262], rel=1e-5)
    assert history["val_loss"] == pytest.approx([9.95677, 1.51598], rel=1e-5)
    assert model.fit(x, y, validation_split=0.4, **options).history["val_loss"][-1] == pytest.approx(0.57997, rel=1e-4)
    assert model.evaluate(x, y, verbose=0) == pytest.approx(0.30535, rel=1e-4)
    assert model.predict(x)[0] == pytest.approx(1.22477, rel=1e-5)
    model = model_of(dense, sparse)
    model.fit(x[:2], y, **options)
    model.fit(x[:2], y, validation_split=0.4, **options)
    assert model.train_on_batch(x[:2], y) == pytest.approx(0.61951, rel=1e-4)
    assert model.test_on_batch(x[:2], y) == pytest.approx(0.47652, rel=1e-4)
    assert model.predict_on_batch(x[:2])[0] == pytest.approx(1.14047, rel=1e-5)


def test_what_ctc_decode_returns():
    """Recorded from Keras 2.2.4 on TensorFlow 1.15."""
    from keras import backend as K

    p = np.random.RandomState(0).rand(2, 6, 5).astype("float32")
    p /= p.sum(-1, keepdims=True)
    (best,), score = K.ctc_decode(K.variable(p), K.variable(np.array([6, 4])))
    assert K.eval(best).tolist() == [[1, 3, 0, 2], [1, 3, 2, 0]]
    np.testing.assert_allclose(K.eval(score), [[7.0443134], [4.3737912]], rtol=1e-5)
    paths, score = K.ctc_decode(K.variable(p), K.variable(np.array([6, 4])), greedy=False, beam_width=4, top_paths=2)
    assert [K.eval(path).tolist() for path in paths] == [[[2, 3, 0], [1, 0, -1]], [[1, 3, 0], [1, 2, 0]]]
    np.testing.assert_allclose(K.eval(score), [[-6.1862311, -6.2556233], [-3.8333969, -4.0582232]], rtol=1e-5)
    probabilities, lengths = K.placeholder((2, 6, 5)), K.placeholder((2,), dtype="int32")
    (symbolic,), _ = K.ctc_decode(probabilities, lengths)
    assert K.function([probabilities, lengths], [symbolic])([p, [6, 4]])[0].tolist() == K.eval(best).tolist()


def test_what_is_a_tensor_of_keras():
    from keras import backend as K
    from keras.layers import Dense, Input

    assert K.is_keras_tensor(Input((2,)))
    assert K.is_keras_tensor(Dense(1)(Input((2,))))
    assert not K.is_keras_tensor(K.placeholder((2, 3)))
    assert not K.is_keras_tensor(K.variable(1.0))
    with pytest.raises(ValueError, match="Received: ndarray"):
        K.is_keras_tensor(np.ones(2))


def test_internals_that_tools_of_the_time_read():
    from keras.layers import BatchNormalization, Dense, Input, Layer
    from keras.models import Model

    a, b = Input((2,), name="a"), Input((2,), name="b")
    shared = Dense(2, name="shared")
    model = Model([a, b], [shared(a), Dense(1, name="end")(Dense(3, name="middle")(shared(b)))])
    assert [layer.name for layer in model._input_layers] == ["a", "b"]
    assert [layer.name for layer in model._output_layers] == ["shared", "end"]
    by_depth = {layer.name: depth for depth, layers in model._layers_by_depth.items() for layer in layers}
    assert by_depth["shared"] == 2
    assert by_depth["a"] == by_depth["b"] == 3
    assert by_depth["end"] == 0
    fixed = BatchNormalization()
    fixed(a, training=False)
    assert not fixed.updates

    class Twins(Layer):
        def call(self, inputs):
            return [inputs, inputs]

        def compute_output_shape(self, input_shape):
            shape = super().compute_output_shape(input_shape)
            return [shape, shape]

    assert [each.shape for each in Twins()(a)] == [(None, 2), (None, 2)]


@pytest.mark.parametrize("shapes", [lambda shape: [(shape[0], 1)], lambda shape: (shape[0], 1)])
@pytest.mark.parametrize("outputs", [lambda total: [total], lambda total: total])
def test_a_list_of_one_output_is_that_output(outputs, shapes):
    """Recorded with Keras 2.2.4: 3.0 and 9.0 summed, then twice that, from each of the four."""
    from keras import backend as K
    from keras.layers import Input, Layer, concatenate
    from keras.models import Model

    class Total(Layer):
        def call(self, inputs):
            return outputs(K.sum(inputs, axis=-1, keepdims=True))

        def compute_output_shape(self, input_shape):
            return shapes(input_shape)

    class Twice(Layer):
        def call(self, inputs):
            return 2.0 * Total()(inputs)

        def compute_output_shape(self, input_shape):
            return (input_shape[0], 1)

    x = Input((2,))
    total = Total()(x)
    assert K.int_shape(total) == (None, 1)
    model = Model(x, concatenate([total, Twice()(x)]))
    assert model.predict(np.array([[1.0, 2.0], [4.0, 5.0]])).tolist() == [[3.0, 6.0], [9.0, 18.0]]


def test_what_is_the_same_and_what_is_missing():
    import keras
    from keras import backend as K

    x = keras.layers.Input((2,))
    assert K.function([x], [K.identity(x)])([[[1.0, 2.0]]])[0].tolist() == [[1.0, 2.0]]
    text = K.placeholder((), dtype="string")
    assert K.function([text], [K.identity(text)])([b"word"]) == [b"word"]
    model = keras.Sequential([keras.layers.Dense(3, activation="softmax", input_shape=(2,))])
    model.compile("sgd", "categorical_crossentropy")
    with pytest.raises(ValueError, match=r"all classes in the data. Received: none of \[2\]"):
        model.fit(np.ones((3, 2)), np.eye(3), class_weight={0: 1.0, 1: 2.0}, verbose=0)
    model.fit(np.ones((3, 2)), np.eye(3), class_weight={0: 1.0, 1: 2.0, 2: 1.0}, verbose=0)


def test_yaml_of_a_compiled_model():
    pytest.importorskip("yaml")
    import keras
    from keras.models import model_from_yaml

    model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    assert model_from_yaml(model.to_yaml()).layers[0].units == 1


def test_configurations_are_spelled_as_then(tmp_path):
    """The user's code reads `hard_sigmoid`, and gets Keras 2's function of that name back."""
    import keras
    from keras import backend as K
    from keras.layers import GRU, LSTM, Activation, Dense
    from keras.models import Sequential

    layer = LSTM(2)
    config = layer.get_config()
    assert config["recurrent_activation"] == "hard_sigmoid"
    of_name = Dense(1, activation="hard_sigmoid")
    assert of_name.get_config()["activation"] == "hard_sigmoid"
    for again in (LSTM.from_config(config), GRU.from_config(GRU(2).get_config())):
        np.testing.assert_allclose(K.get_value(again.cell.recurrent_activation(K.constant([1.0]))), [0.7], rtol=1e-6)
    model = Sequential([Activation("hard_sigmoid", input_shape=(1,))])
    for copy in (Sequential.from_config(model.get_config()), keras.models.model_from_json(model.to_json())):
        np.testing.assert_allclose(copy.predict(np.ones((1, 1))), [[0.7]], rtol=1e-6)

    for of_name in (keras.activations.get("hard_sigmoid"), keras.activations.deserialize("hard_sigmoid")):
        assert of_name is keras.activations.hard_sigmoid
    with pytest.warns(UserWarning, match="Received: the layer"):
        keras.activations.get(Dense(1))

    class Mine(LSTM):
        def get_config(self):
            return dict(super().get_config())

    assert keras.layers.serialize(Mine(2))["config"]["recurrent_activation"] == "hard_sigmoid"
    Sequential([Mine(2, input_shape=(3, 2))]).save(str(tmp_path / "mine.h5"))
    with h5py.File(tmp_path / "mine.h5", "r") as file:
        assert ">hard_sigmoid" in file.attrs["model_config"]  # which Keras 3 reads as well


def test_configurations_of_tf_keras():
    import keras

    import parallel_compat

    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        config = keras.layers.SeparableConv2D(2, 3).get_config()
        assert config["kernel_initializer"]["class_name"] == "GlorotUniform"
        assert keras.layers.SeparableConv2D.from_config(config).filters == 2
        assert keras.optimizers.Nadam().get_config()["decay"] == 0.004
        x = keras.layers.Input((2,))
        dense = keras.layers.Dense(2, kernel_regularizer="l2", activity_regularizer="l1")
        model = keras.Model(x, dense(dense(x)))
        assert len(model.losses) == 3  # of the kernel and of both calls
        model(np.ones((1, 2), "float32"))
        assert all(hasattr(each, "numpy") for each in model.losses)  # those of a call on numbers, from then on


def test_what_layers_of_several_inputs_refuse():
    from keras.layers import Add, Concatenate, Conv2D, Dot, Input, Maximum, Subtract
    from keras.models import Model

    a, b = Input((2, 3)), Input((2, 3))
    for layer in (Add(), Maximum(), Subtract(), Concatenate()):
        with pytest.raises(ValueError, match=r"tensors for .*Received: 1"):
            layer([a])
        layer([a, b])
        assert layer.compute_mask([a, b], [None, None]) is None
        for inputs, mask in (([a, b], a), (a, [None, None]), ([a, b], [None])):
            with pytest.raises(ValueError, match=r"`(mask|inputs)` should be a list|should have the same length"):
                layer.compute_mask(inputs, mask)
    with pytest.raises(ValueError, match="two tensors"):
        Dot(1)([a, b, a])
    assert Model([a, b], [a, b]).compute_mask([a, b], [None, None]) == [None, None]
    convolution = Conv2D(1, 2)
    assert convolution.compute_mask([a], [None]) is None
    for mask in ([np.ones(2)], np.ones(2)):
        with pytest.raises(TypeError, match="does not support masking"):
            convolution.compute_mask([a], mask)


def test_arguments_that_keras_3_refuses():
    from keras.layers import Conv2D, Cropping1D, Input, LeakyReLU
    from keras.models import Sequential

    model = Sequential([LeakyReLU(alpha=-2.0, input_shape=(2,))])
    assert model.predict(np.array([[-3.0, 4.0]])).tolist() == [[6.0, 4.0]]
    again = LeakyReLU.from_config(model.layers[0].get_config())
    assert again.negative_slope == -2.0
    cropping = Sequential([Cropping1D((2, 2), input_shape=(4, 3))])
    assert cropping.layers[0].compute_output_shape((None, 4, 3)) == (None, 0, 3)
    assert cropping.predict(np.ones((2, 4, 3))).shape == (2, 0, 3)
    layer = Conv2D(2, 3, strides=2, dilation_rate=2)
    assert layer.get_config()["strides"] == (2, 2)
    with pytest.raises(ValueError, match=r"Expected strides of 1 or a dilation of 1 .*strides=\(2, 2\)"):
        layer(Input((9, 9, 1)))


def test_states_of_stacked_cells_in_reverse_order():
    """`h` of the last cell comes first, as what is given and as what is returned; the output is the same."""
    from keras.layers import RNN, GRUCell, Input, LSTMCell, StackedRNNCells
    from keras.models import Model

    data = np.random.RandomState(0).rand(2, 4, 3)
    states = [np.random.RandomState(i).rand(2, size) for i, size in enumerate((5, 2, 2))]
    found = []
    for backwards in (True, False):
        stack = StackedRNNCells([LSTMCell(2), GRUCell(5)], reverse_state_order=backwards)
        assert stack.state_size == ((5, 2, 2) if backwards else (2, 2, 5))
        layer = RNN(stack, return_state=True)
        assert layer.compute_output_shape((None, 4, 3))[1:] == [(None, size) for size in stack.state_size]
        x, given = Input((4, 3)), [Input((size,)) for size in stack.state_size]
        model = Model([x, *given], layer(x, initial_state=given))
        random = np.random.RandomState(1)
        model.set_weights([random.rand(*weight.shape) for weight in model.get_weights()])
        of_cells = states if backwards else [*states[1:], states[0]]
        found.append(model.predict([data, *of_cells]))
        found.append(Model(x, layer(x)).predict(data))
    (with_states, plain), (expected, expected_plain) = found[:2], found[2:]
    for mine, theirs in ((with_states, expected), (plain, expected_plain)):
        np.testing.assert_allclose(mine[0], theirs[0], atol=1e-6)
        for one, other in zip(mine[1:], [theirs[3], *theirs[1:3]], strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)


def test_warnings_of_keras_2():
    """Flags set after `compile`, a generator with processes, an argument that went."""
    from keras.callbacks import ReduceLROnPlateau
    from keras.layers import Dense, Input
    from keras.models import Model

    a, b = Input((3,)), Input((3,))
    inner = Model(a, Dense(1)(a))
    inner.trainable = False
    model = Model(b, Dense(1)(inner(b)))
    model.compile("sgd", "mse")
    x, y = np.zeros((4, 3)), np.zeros((4, 1))
    inner.trainable = True
    before = inner.get_weights()
    with pytest.warns(UserWarning, match="Discrepancy between trainable weights"):
        model.summary(print_fn=lambda line: None)
    with pytest.warns(UserWarning, match="What trains is what `compile` saw"):
        model.fit(x + 1, y, verbose=0)
    for mine, theirs in zip(inner.get_weights(), before, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    model.compile("sgd", "mse")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.summary(print_fn=lambda line: None)

    def batches():
        while True:
            yield x, y

    with pytest.warns(UserWarning, match=r"Consider a `keras.utils.Sequence`"):
        model.fit_generator(batches(), steps_per_epoch=1, workers=2, use_multiprocessing=True, verbose=0)
    with pytest.warns(UserWarning, match="`epsilon` argument is deprecated"):
        callback = ReduceLROnPlateau(epsilon=1e-13)
    assert callback.min_delta == 1e-13


def test_objects_of_scripts_without_methods_of_today(tmp_path):
    """An optimizer that has `lr` alone, a loss without `from_config`, a metric that has a name alone."""
    from keras import backend as K
    from keras import losses, metrics
    from keras.callbacks import ReduceLROnPlateau
    from keras.layers import Dense
    from keras.models import Sequential, load_model
    from keras.utils.generic_utils import custom_object_scope

    class Optimizer:
        lr = K.variable(1.0)

    class Model:
        optimizer = Optimizer()

    callback = ReduceLROnPlateau(monitor="loss", patience=2, factor=0.5)
    callback.model = Model()
    rates = []
    for loss in (1.0, 2.0, 3.0):
        callback.on_epoch_end(0, logs={"loss": loss})
        rates.append(K.get_value(Optimizer.lr))
    assert rates == [1.0, 1.0, 0.5]
    assert not hasattr(callback.model.optimizer, "learning_rate")

    class Scaled:
        def __init__(self, factor):
            self.factor = factor

        def __call__(self, y_true, y_pred):
            return self.factor * losses.mse(y_true, y_pred)

        def get_config(self):
            return {"factor": self.factor}

    with custom_object_scope({"Scaled": Scaled}):
        made = losses.deserialize(losses.serialize(Scaled(0.25)))
    assert isinstance(made, Scaled)
    assert made.factor == 0.25
    assert losses.deserialize("mse") is losses.mse

    x, y = np.random.RandomState(0).rand(2, 8, 1)
    model = Sequential([Dense(1, input_shape=(1,), name="out")])
    model.compile("sgd", loss={"out": Scaled(0.25)})
    model.save(str(tmp_path / "model.h5"))
    with custom_object_scope({"Scaled": Scaled}):
        again = load_model(str(tmp_path / "model.h5"))
    assert isinstance(again.loss["out"], Scaled)
    assert again.evaluate(x, y, verbose=0) == model.evaluate(x, y, verbose=0)
    np.testing.assert_allclose(again.evaluate(x, y, verbose=0), 0.25 * np.mean((model.predict(x) - y) ** 2), rtol=1e-6)

    class Named:
        __name__ = "named"

    assert metrics.serialize(Named()) == "named"
    assert metrics.deserialize("named", custom_objects={"named": 7}) == 7
    assert metrics.deserialize("mae") is metrics.mae


def test_values_of_layers_say_whether_they_depend_on_the_learning_phase():
    from keras import backend as K
    from keras.layers import LSTM, Dense

    x = K.ones((2, 3, 4))
    layer = LSTM(2, dropout=0.5)
    assert layer(x)._uses_learning_phase
    assert not layer(x, training=True)._uses_learning_phase
    assert not Dense(1)(x)._uses_learning_phase


def test_variables_are_keys_and_answers_are_replaced(monkeypatch):
    import six.moves
    from keras import backend as K
    from keras import optimizers
    from keras.utils.io_utils import ask_to_proceed_with_overwrite

    first, second = K.variable(0.0), K.variable(0.0)
    names = {first: "first", second: "second"}
    assert names[second] == "second"
    assert len({first, second, first}) == 2
    optimizers.SGD().get_updates([first], {first: lambda x: x}, K.mean(first))
    for answer in ("y", "n"):
        monkeypatch.setattr(six.moves, "input", lambda question, answer=answer: answer)
        assert ask_to_proceed_with_overwrite("file") is (answer == "y")


def test_what_compile_refuses():
    from keras.layers import Dense, Input
    from keras.models import Model

    x = Input((2,))
    model = Model(x, [Dense(1, name="a")(x), Dense(1, name="b")(x)])
    for error, arguments in (
        (ValueError, {"loss": ["mse", "mae", "mape"]}),
        (ValueError, {"loss": []}),
        (ValueError, {"loss_weights": [0.5]}),
        (ValueError, {"loss_weights": {"c": 0.5}}),
        (TypeError, {"loss_weights": (0.5, 0.5)}),
        (ValueError, {"sample_weight_mode": {"c": "temporal"}}),
        (ValueError, {"sample_weight_mode": {"a": "temporal"}}),
        (ValueError, {"sample_weight_mode": ["temporal"]}),
    ):
        with pytest.raises(error, match=f"Expected .*`{next(iter(arguments))}`"):
            model.compile("sgd", **{"loss": "mse", **arguments})
    data, y, weights = np.ones((3, 2)), [np.ones((3, 1))] * 2, np.ones(3)
    model.compile("sgd", "mse", loss_weights={"a": 0.2, "b": 0.8})
    with pytest.raises(ValueError, match=r"one sample weight for each sample. Received: weights of the shape \(3, 4\)"):
        model.train_on_batch(data, y, sample_weight=[None, np.ones((3, 4))])
    model.compile("sgd", "mse", sample_weight_mode=[None, "temporal"])
    with pytest.raises(ValueError, match=r"Expected targets of at least three axes.*shape \(3, 1\)"):
        model.train_on_batch(data, y, sample_weight=[None, weights])
    model.train_on_batch(data, y, sample_weight=[weights, None])


def test_random_tensors_are_drawn_whenever_they_are_evaluated():
    from keras import backend as K

    for tensor in (
        K.random_normal((20,), seed=1),
        K.random_uniform((20,), seed=1),
        K.truncated_normal((20,), seed=1),
        K.random_binomial((99,), p=0.5, seed=1),
    ):
        first = np.asarray(tensor)
        np.testing.assert_array_equal(K.eval(tensor), first)
        assert not np.array_equal(K.eval(tensor), first)


def test_digests_of_files(tmp_path):
    from keras.utils.data_utils import _hash_file, validate_file

    path = tmp_path / "file"
    path.write_bytes(b"text")
    digests = hashlib.sha256(b"text").hexdigest(), hashlib.md5(b"text").hexdigest()
    assert (_hash_file(path), _hash_file(path, algorithm="md5")) == digests
    for digest in digests:
        assert validate_file(path, digest)
        assert not validate_file(path, digest[::-1])


def test_names_of_the_applications_that_weights_of_2017_are_loaded_with():
    """`load_model("mobilenet.h5", custom_objects={"relu6": mobilenet.relu6, ...})`, and copies of the networks."""
    import keras
    from keras.applications.imagenet_utils import _obtain_input_shape
    from keras.applications.mobilenet import DepthwiseConv2D, relu6

    assert keras.applications.mobilenet.relu6 is relu6
    assert float(relu6(7.0)) == 6.0
    assert DepthwiseConv2D is keras.layers.DepthwiseConv2D
    assert _obtain_input_shape(None, 224, 32, None, True) == (224, 224, 3)
    assert _obtain_input_shape((64, 48, 1), 224, 32, "channels_last", include_top=False) == (64, 48, 1)
    with pytest.raises(ValueError, match="at least 32"):
        _obtain_input_shape((8, 8, 3), 224, 32, "channels_last", include_top=False)


def test_attributes_that_programs_print():
    from keras.layers import Dense, Embedding, Flatten
    from keras.models import Sequential

    model = Sequential([Embedding(10, 4, input_length=5), Flatten(), Dense(3)])
    assert [model.layers[0].input_length, Embedding(10, 4).input_length] == [5, None]
    assert not model._is_compiled
    model.compile("sgd", "mse")
    assert model._is_compiled
    assert [tensor.name for tensor in model._feed_inputs] == [model.inputs[0].name]
    assert model._feed_input_names == ["embedding_1_input"]
    model.trainable = False
    assert [len(model._collected_trainable_weights), len(model.trainable_weights)] == [3, 0]


def test_an_error_in_a_lambda_layer_is_told_as_it_is():
    """Keras 3 says that it could not find the shape of the output, whatever went wrong."""
    from keras.layers import Input, Lambda

    with pytest.raises(AttributeError, match="no attribute 'bar'"):
        Lambda(lambda x: x.bar(3))(Input((8,)))


def test_printed_tensors(capfd):
    import tensorflow as tf
    from keras import backend as K
    from keras.layers import Input, Lambda
    from keras.models import Model

    x = Input((2,))
    model = Model(x, Lambda(lambda t: tf.Print(t, [tf.shape(t), t], "batch: ", summarize=4))(x))
    assert model.predict(np.ones((3, 2)), verbose=0).tolist() == np.ones((3, 2)).tolist()
    assert "batch: [3 2][[1 1][1 1]" in capfd.readouterr().err
    model.compile("sgd", lambda y_true, y_pred: tf.Print(K.mean(y_pred), [K.sum(y_true)], "sum: "))
    model.evaluate(np.ones((3, 2)), 2 * np.ones((3, 2)), verbose=0)
    assert "sum: [12]" in capfd.readouterr().err


@pytest.mark.parametrize(("era", "refused"), [("keras-2.2.4", True), ("tf.keras-2.2", False)])
def test_a_merge_of_one_tensor(era, refused):
    """Keras 2.2.4 refused it in each call, tf.keras where the layer was built."""
    import parallel_compat

    with parallel_compat.legacy_names(era=era):
        from keras.layers import Concatenate, Input

        a, b = Input((4, 5)), Input((4, 5))
        layer = Concatenate()
        layer([a, b])
        if refused:
            with pytest.raises(ValueError, match=r"list of inputs|at least 2"):
                layer([a])
        else:
            assert tuple(layer([a]).shape) == (None, 4, 5)
        with pytest.raises(ValueError, match="at least 2"):
            Concatenate()([a])


def test_operations_with_a_kernel_of_each_place():
    from keras import backend as K
    from keras.layers import Input, Lambda
    from keras.models import Model

    # The sums are those of Keras 2.2.4 on TensorFlow 1.15.5.
    draw = np.random.RandomState(0)

    def mixed(tensor):
        values = np.asarray(K.eval(tensor))
        return values.shape, pytest.approx(float((values.ravel() * np.cos(np.arange(values.size))).sum()), rel=1e-5)

    def drawn(*shape):
        return K.variable(draw.normal(size=shape))

    x = drawn(2, 5, 3)
    assert mixed(K.local_conv1d(x, drawn(2, 6, 4), (2,), (2,))) == ((2, 2, 4), -4.898150157077041)
    kernel = drawn(2, 6, 4)
    assert mixed(K.local_conv1d(x, kernel, (2,), (2,), "channels_first")) == ((2, 2, 4), -5.406350178761071)
    last, first = drawn(2, 4, 5, 3), drawn(2, 3, 4, 5)
    found = K.local_conv2d(last, drawn(6, 12, 2), (2, 2), (1, 2), (3, 2))
    assert mixed(found) == ((2, 3, 2, 2), -31.416399096208632)
    found = K.local_conv2d(first, drawn(6, 12, 2), (2, 2), (1, 2), (3, 2), "channels_first")
    assert mixed(found) == ((2, 2, 3, 2), 2.385179967199125)
    steps, weights = Input((5, 3)), drawn(2, 6, 4)
    model = Model(steps, Lambda(lambda t: K.local_conv1d(t, weights, (2,), (2,)))(steps))
    assert model.output_shape == (None, 2, 4)
    assert model.predict(np.ones((2, 5, 3))).sum() == pytest.approx(-21.12647247314453, rel=1e-5)


def test_masks_pass_by_softmax():
    from keras.layers import Embedding, Input, Softmax
    from keras.models import Model

    ids = Input((5,))
    model = Model(ids, Softmax()(Embedding(6, 5, mask_zero=True)(ids)))  # as many steps as numbers: a mask would fit
    model.set_weights([np.arange(30).reshape(6, 5) % 4])
    # Of Keras 2.2.4 on TensorFlow 1.15.5, the first two steps.
    expected = [[0.0802, 0.2179, 0.5923, 0.0295, 0.0802], [0.0311, 0.0844, 0.2295, 0.6239, 0.0311]]
    np.testing.assert_allclose(model.predict(np.array([[1, 0, 2, 0, 0]]))[0, :2], expected, atol=1e-4)


def test_a_mean_of_no_steps_has_no_gradient():
    from keras.layers import Dense, GlobalAveragePooling1D, Input, Masking
    from keras.models import Model

    steps = Input((5, 3))
    model = Model(steps, GlobalAveragePooling1D()(Dense(3)(Masking()(steps))))
    model.compile("sgd", "mse")
    x = np.ones((8, 5, 3))
    x[0] = 0
    assert np.isnan(model.train_on_batch(x, np.ones((8, 3))))
    assert all(np.isnan(weight).all() for weight in model.get_weights())  # as in Keras 2.2.4


def test_initializers_are_asked_as_then():
    from keras import initializers

    assert type(initializers.Identity()((3, 3))) is np.ndarray
    assert type(initializers.Orthogonal(seed=1)((3, 3))) is np.ndarray
    scaling = initializers.VarianceScaling(2.0, "fan_out")
    config = {"scale": 2.0, "mode": "fan_out", "distribution": "normal", "seed": None}
    assert scaling.get_config() == config
    assert type(scaling).from_config(config).get_config() == config


def test_moving_statistics_in_float64():
    from keras import backend as K
    from keras.layers import BatchNormalization, Dense
    from keras.models import Sequential

    before = K.floatx()
    K.set_floatx("float64")
    try:
        model = Sequential([Dense(3, input_shape=(4,)), BatchNormalization(momentum=0.5)])
        model.set_weights([np.arange(w.size).reshape(w.shape) % 3 * 0.3 + 0.1 for w in model.get_weights()])
        model.compile("sgd", "mse")
        x = np.random.RandomState(0).normal(size=(9, 4))
        losses = [model.train_on_batch(x, x[:, :3]) for _ in range(2)]
        mean, variance = model.get_weights()[4:]
    finally:
        K.set_floatx(before)
    # Of Keras 2.2.4 on TensorFlow 1.15.5.
    np.testing.assert_allclose(losses, [1.3311071956614655, 1.3202336646367714], rtol=1e-6)
    np.testing.assert_allclose(mean[:2], [0.22102389916591192, 0.8770050048199072], rtol=1e-6)
    np.testing.assert_allclose(variance[:2], [0.06487278177430246, 1.0267637244394228], rtol=1e-6)


def test_metrics_of_a_model_are_those_that_compile_was_given():
    import keras

    model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse", metrics=["mae"])
    assert model.metrics == ["mae"]
    model.compile("sgd", "mse")
    assert model.metrics == []


def test_hooks_are_called_with_their_arguments_in_place():
    import keras

    seen = []

    class OwnNames(keras.callbacks.Callback):
        def on_epoch_end(self, number, log):
            seen.append(sorted(log))

        def on_batch_begin(self, number, log):
            seen.append((number, log["size"]))

        def on_batch_end(self, number, log={}):  # noqa: B006  # as it was written
            seen.append((number, sorted(log)))

    model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    model.fit(np.ones((3, 2)), np.ones((3, 1)), batch_size=2, verbose=0, callbacks=[OwnNames()])
    of_batch = ["batch", "loss", "size"]
    assert seen == [(0, 2), (0, of_batch), (1, 1), (1, of_batch), ["loss"]]


def test_params_of_a_history():
    import keras

    model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse", metrics=["mae"])
    x, y = np.ones((4, 2)), np.ones((4, 1))
    names = ["loss", "mean_absolute_error"]
    params = model.fit(x, y, batch_size=2, verbose=0).params
    expected = {"batch_size": 2, "epochs": 1, "steps": None, "samples": 4, "verbose": 0, "do_validation": False}
    assert list(params.items()) == [*expected.items(), ("metrics", names)]
    params = model.fit_generator(((x, y) for _ in range(4)), 2, verbose=0, validation_data=(x, y)).params
    expected = {"epochs": 1, "steps": 2, "verbose": 0, "do_validation": True}
    assert list(params.items()) == [*expected.items(), ("metrics", names + [f"val_{name}" for name in names])]


def test_constructors_of_classes_of_their_own():
    """A model's name by its place, and a regularizer that a recurrent layer reads from its cell."""
    from keras.layers import RNN, SimpleRNNCell
    from keras.models import Model

    class Policy(Model):
        def __init__(self):
            super().__init__("policy")

    class Cell(SimpleRNNCell):
        penalty = "of the cell"

    class Reading(RNN):
        @property
        def activity_regularizer(self):
            return self.cell.penalty

    assert Policy().name == "policy"
    assert Reading(Cell(2)).activity_regularizer == "of the cell"
    with pytest.raises(AttributeError, match="no setter"):
        Reading(Cell(2)).activity_regularizer = "another"


def test_flags_of_layers_are_their_own():
    """What `[layer.trainable for layer in model.layers]` was in Keras 2.2.4: inputs never, others as they were set."""
    from keras.layers import Dense, Input
    from keras.models import Model

    x = Input((4,))
    model = Model(x, Dense(2)(Dense(5)(x)))

    def flags():
        return [layer.trainable for layer in model.layers]

    assert flags() == [False, True, True]
    model.trainable = False
    assert flags() == [False, True, True]
    assert model.trainable_weights == []
    model.layers[2].trainable = False  # Keras 3 has it frozen already, by the model's flag
    model.trainable = True
    assert flags() == [False, True, False]
    assert len(model.trainable_weights) == 2
    model.layers[0].trainable = True
    assert flags() == [True, True, False]


def test_a_recurrent_class_of_the_users_with_a_call_and_a_cell_of_its_own():
    """As attention layers of 2018 are written: `call(inputs, ...)`, and a cell with the `input_spec` of the layer."""
    from keras import backend as K
    from keras.engine import InputSpec
    from keras.layers import RNN, Input, Layer
    from keras.models import Model

    class Cell(Layer):
        def __init__(self, units, **kwargs):
            super().__init__(**kwargs)
            self.units = self.state_size = units
            self.input_spec = [InputSpec(ndim=3)]

        def build(self, input_shape):
            self.kernel = self.add_weight(name="kernel", shape=(input_shape[-1], self.units), initializer="ones")
            self.built = True

        def call(self, inputs, states, training=None):
            output = K.dot(inputs, self.kernel) + 0.5 * states[0]
            return output, [output]

    class Recurrent(RNN):
        def __init__(self, units, **kwargs):
            super().__init__(Cell(units), **kwargs)

        def build(self, input_shape):
            self.cell.build(input_shape)

        def call(self, inputs, mask=None, training=None, initial_state=None):
            return super().call(inputs, mask=mask, training=training, initial_state=initial_state)

    x = Input((3, 2))
    model = Model(x, Recurrent(4, return_sequences=True)(x))
    assert K.int_shape(model.output) == (None, 3, 4)
    np.testing.assert_allclose(model.predict(np.ones((2, 3, 2)))[0, :, 0], [2.0, 3.0, 3.5])
    assert model.layers[1].cell.kernel in model.trainable_weights


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-2.2"])
def test_a_layer_of_ones_own_without_get_config(era, tmp_path):
    """Keras 2.2.4 wrote its name alone, whatever it was made with, and read it with the defaults; tf.keras refused."""
    import keras
    from keras import regularizers
    from keras.layers import Input
    from keras.models import Model, load_model

    import parallel_compat

    class Scaled(keras.layers.Layer):
        def __init__(self, times=2.0, regularizer=None, **kwargs):
            super().__init__(**kwargs)
            self.times, self.regularizer = times, regularizer

        def build(self, input_shape):
            self.scale = self.add_weight(name="scale", shape=(1,), initializer="ones", regularizer=self.regularizer)
            super().build(input_shape)

        def call(self, inputs):
            return inputs * self.scale * self.times

    with parallel_compat.legacy_names(era=era):
        x = Input((3,))
        model = Model(x, Scaled(regularizer=regularizers.l2(0.1), name="scaled")(x))
        model.layers[1].set_weights([np.array([4.0])])
        path = str(tmp_path / "scaled.h5")
        if era != "keras-2.2.4":
            with pytest.raises(NotImplementedError):
                model.save(path)
            return
        assert model.layers[1].get_config() == {"name": "scaled", "trainable": True}
        model.save(path)
        again = load_model(path, custom_objects={"Scaled": Scaled})
        assert again.layers[1].name == "scaled"
        assert again.predict(np.ones((1, 3))).tolist() == [[8.0, 8.0, 8.0]]


def test_softmax_of_samples_left_its_axis_out(era):
    """Read from the real stacks; the layer of tf.keras asked for the axis, that of Keras 2.2.4 called the function."""
    from keras import activations
    from keras import backend as K
    from keras.layers import Input, Softmax
    from keras.models import Model

    x = np.array([[0.0, 1.0], [0.0, 3.0]], "float32")
    by_rows, by_columns = [0.26894143, 0.73105858], [0.5, 0.11920292]
    for axis in (0, -2, 2):
        np.testing.assert_allclose(K.eval(activations.softmax(K.constant(x), axis=axis))[0], by_rows, rtol=1e-6)
    inputs = Input((2,))
    got = Model(inputs, Softmax(axis=0)(inputs)).predict(x)[0]
    np.testing.assert_allclose(got, by_rows if era == "keras-2.2.4" else by_columns, rtol=1e-6)
    over_all = activations.softmax(K.constant(x[None]), axis=[1, 2])
    np.testing.assert_allclose(K.eval(over_all).sum(), 1.0, rtol=1e-6)
    with pytest.raises(ValueError, match="Expected a tensor of two axes"):
        activations.softmax(K.constant(x[0]), axis=0)
