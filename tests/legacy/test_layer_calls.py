"""Layers named, called and wrapped as in Keras 2."""

from __future__ import annotations

import keras
import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("legacy_names")


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


# --- names --------------------------------------------------------------------------------------------------------


def test_names_with_slashes_are_kept_trained_and_saved(tmp_path):
    inputs = keras.Input((3,), name="in/put")
    hidden = keras.layers.Dense(4, name="block1/dense")(inputs)
    outputs = [keras.layers.Dense(1, name=f"heads/{name}")(hidden) for name in "ab"]
    model = keras.Model(inputs, outputs, name="net/model")
    assert model.get_layer("block1/dense").name == "block1/dense"
    model.compile("sgd", {"heads/a": "mse", "heads/b": "mae"})
    x, y = np.ones((4, 3)), [np.zeros((4, 1))] * 2
    history = model.fit(x, y, verbose=0).history
    assert {"loss", "heads/a_loss", "heads/b_loss"} <= set(history)
    for name in ("model.h5", "model.keras"):
        model.save(tmp_path / name)
        loaded = keras.models.load_model(tmp_path / name)
        assert [layer.name for layer in loaded.layers] == [layer.name for layer in model.layers]
        for mine, theirs in zip(model.predict(x), loaded.predict(x), strict=True):
            np.testing.assert_array_equal(mine, theirs)
    model.save_weights(tmp_path / "weights.h5")
    expected = model.predict(x)
    for weight in model.weights:
        weight.assign(weight * 0)
    model.load_weights(tmp_path / "weights.h5", by_name=True)
    np.testing.assert_array_equal(model.predict(x), expected)


class Scaled(keras.layers.Layer):
    def build(self, input_shape):
        self.scale = self.add_weight(name=f"{self.name}/scale", shape=(int(input_shape[-1]),), initializer="ones")
        super().build(input_shape)

    def call(self, inputs):
        return inputs * self.scale


def test_names_of_weights_may_have_slashes(tmp_path):
    def made():
        model = keras.models.Sequential([Scaled(input_shape=(2,), name="own"), keras.layers.Dense(1, name="d")])
        model.compile("sgd", "mse")
        return model

    model = made()
    model.fit(np.ones((4, 2)), np.zeros((4, 1)), verbose=0)
    assert [weight.name for weight in model.weights][:2] == ["own/own/scale:0", "d/kernel:0"]  # as Keras 2.2.4 has it
    model.save_weights(tmp_path / "weights.h5")
    again = made()
    again.load_weights(tmp_path / "weights.h5", by_name=True)
    for mine, theirs in zip(model.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", ["U-Net (small)", "_net", "100%"])
def test_a_model_has_any_name(name, tmp_path):
    def batches():
        while True:
            yield np.ones((4, 3)), np.zeros((4, 1))

    inputs = keras.Input((3,))
    model = keras.Model(inputs, keras.layers.Dense(1)(inputs), name=name)
    model.compile("sgd", "mse")
    losses = model.fit_generator(batches(), 2, 1, validation_data=batches(), validation_steps=1, verbose=0).history
    assert losses["val_loss"][-1] < losses["loss"][0]
    model.save(tmp_path / "model.h5")
    assert keras.models.load_model(tmp_path / "model.h5").name == model.name == name


# --- numbers ------------------------------------------------------------------------------------------------------


def test_numbers_among_tensors():
    class Plus(keras.layers.Layer):
        def call(self, both):
            x, n = both
            return x + keras.ops.cast(n, "float32")

        def compute_output_shape(self, shapes):
            return shapes[0]

    inputs = keras.Input((3,))
    model = keras.Model(inputs, Plus()([inputs, 3]))
    np.testing.assert_array_equal(model.predict(np.ones((2, 3))), np.full((2, 3), 4.0))


def test_a_number_alone_becomes_a_tensor():
    """As `base_layer.Layer.__call__` of TensorFlow 1.15 and 2.2 did."""

    class First(keras.layers.Layer):
        def build(self, input_shape):
            assert input_shape == ()
            self.table = self.add_weight(shape=(5, 2), initializer="ones", name="table")

        def call(self, count):
            return self.table[:count]

    assert First()(3).shape == (3, 2)


# --- recurrent layers ---------------------------------------------------------------------------------------------


def test_states_in_a_list():
    x, h, c = keras.Input((5, 3)), keras.Input((4,)), keras.Input((4,))
    rng = np.random.default_rng(0)
    data = [rng.normal(size=shape).astype("float32") for shape in ((2, 5, 3), (2, 4), (2, 4))]
    for layer, states in ((keras.layers.LSTM(4), [h, c]), (keras.layers.Bidirectional(keras.layers.GRU(4)), [h, c])):
        listed = keras.Model([x, h, c], layer([x, *states]))
        named = keras.Model([x, h, c], layer(x, initial_state=states))
        close(listed.predict(data), named.predict(data))
        assert np.abs(listed.predict([data[0], data[1] * 0, data[2]]) - listed.predict(data)).max() > 1e-3
    outputs = keras.layers.LSTM(4, return_state=True)([x, h, c])
    assert isinstance(outputs, list)
    assert len(outputs) == 3


@keras.saving.register_keras_serializable(package="tests of layer calls")
class WithConstant(keras.layers.Layer):
    """h = x w + h_before u + constant v"""

    def __init__(self, units, **keywords):
        self.units = self.state_size = units
        super().__init__(**keywords)

    def build(self, shapes):
        assert isinstance(shapes, list)
        step, constant = shapes
        self.w = self.add_weight(shape=(step[-1], self.units), name="w", initializer="uniform")
        self.u = self.add_weight(shape=(self.units, self.units), name="u", initializer="uniform")
        self.v = self.add_weight(shape=(constant[-1], self.units), name="v", initializer="uniform")
        self.built = True

    def call(self, inputs, states, constants):
        h = inputs @ self.w + states[0] @ self.u + constants[0] @ self.v
        return h, [h]

    def get_config(self):
        return {**super().get_config(), "units": self.units}


def by_hand(x, constant, weights, backwards=False):
    w, u, v = weights
    h = np.zeros((len(x), len(u)))
    for t in reversed(range(x.shape[1])) if backwards else range(x.shape[1]):
        h = x[:, t] @ w + h @ u + constant @ v
    return h


def test_constants_of_recurrent_layers():
    rng = np.random.default_rng(0)
    data = [rng.normal(size=(6, 5, 4)).astype("float32"), rng.normal(size=(6, 3)).astype("float32")]
    x, constant = keras.Input((5, 4)), keras.Input((3,))
    layer = keras.layers.RNN(WithConstant(7))
    model = keras.Model([x, constant], layer(x, constants=constant))
    close(model.predict(data), by_hand(*data, model.get_weights()))
    model.compile("sgd", "mse")
    model.train_on_batch(data, np.zeros((6, 7)))

    with keras.utils.CustomObjectScope({"WithConstant": WithConstant}):
        again = keras.layers.RNN.from_config(layer.get_config())
    listed = keras.Model([x, constant], again([x, constant]))  # it knows from its configuration that one is a constant
    listed.set_weights(model.get_weights())
    close(listed.predict(data), model.predict(data))

    both = keras.layers.Bidirectional(keras.layers.RNN(WithConstant(7)))
    model = keras.Model([x, constant], both(x, constants=constant))
    forward, backward = model.get_weights()[:3], model.get_weights()[3:]
    expected = np.concatenate([by_hand(*data, forward), by_hand(*data, backward, backwards=True)], axis=-1)
    close(model.predict(data), expected)


def test_a_cell_of_ones_own_is_given_tuples_for_shapes_when_it_is_loaded(tmp_path):
    """Several shapes were a list, one a tuple; a file has lists for both."""

    class Cell(keras.layers.Layer):
        state_size = 2

        def build(self, shapes):
            first = shapes[0] if isinstance(shapes, list) else shapes
            self.kernel = self.add_weight(name="kernel", shape=(first[-1], 2), initializer="ones")
            self.built = True

        def call(self, x, states):
            return keras.ops.matmul(x, self.kernel) + states[0], [states[0]]

    x = keras.Input((4, 3))
    model = keras.Model(x, keras.layers.RNN(Cell())(x))
    model.save(tmp_path / "model.h5")
    loaded = keras.models.load_model(tmp_path / "model.h5", custom_objects={"Cell": Cell})
    close(loaded.predict(np.ones((2, 4, 3))), np.full((2, 2), 3.0))


def test_cells_that_are_no_layers():
    class Sum:
        def __init__(self, size):
            self.state_size = size

        def call(self, inputs, states):
            h = inputs + 2 * states[0]
            return h, [h]

    x = keras.Input((3, 2))
    data = np.arange(6.0).reshape(1, 3, 2)
    once = data[:, 2] + 2 * data[:, 1] + 4 * data[:, 0]
    model = keras.Model(x, keras.layers.RNN(Sum(2))(x))
    close(model.predict(data), once)
    outputs = keras.layers.RNN([Sum(2), Sum(2)], return_state=True)(x)
    assert len(outputs) == 3  # the states of stacked cells one after the other
    out, first, second = keras.Model(x, outputs).predict(data)
    close(first, once)
    close(out, second)


def test_masked_steps_of_bidirectional_repeat_the_last_output():
    from keras.layers import LSTM, Bidirectional, Masking  # standalone Keras

    model = keras.Sequential([Masking(input_shape=(4, 3)), Bidirectional(LSTM(2, return_sequences=True))])
    x = np.random.default_rng(0).normal(size=(1, 4, 3))
    x[:, 2:] = 0
    forward = model.predict(x)[..., :2]
    assert np.abs(forward[:, 1]).min() > 0
    np.testing.assert_array_equal(forward[:, 2], forward[:, 1])
    np.testing.assert_array_equal(forward[:, 3], forward[:, 1])


# --- TimeDistributed ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("time", [4, None])
def test_masks_reach_the_layer_in_time_distributed_and_come_out(time):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 4, 5, 3))
    x[:, :, 3:] = 0  # two steps of each sentence
    x[:, 3] = 0  # a whole sentence
    model = keras.Sequential(
        [
            keras.layers.TimeDistributed(keras.layers.Masking(), input_shape=(time, 5, 3)),
            keras.layers.TimeDistributed(keras.layers.LSTM(6)),
            keras.layers.LSTM(2),
        ]
    )
    words = keras.Sequential([keras.layers.LSTM(6, input_shape=(3, 3))])
    words.set_weights(model.get_weights()[:3])
    sentences = keras.Sequential([keras.layers.LSTM(2, input_shape=(3, 6))])
    sentences.set_weights(model.get_weights()[3:])
    inner = words.predict(x[:, :3, :3].reshape(6, 3, 3)).reshape(2, 3, 6)
    close(model.predict(x), sentences.predict(inner))


def test_time_is_a_part_of_the_batch_in_time_distributed():
    normalization = keras.layers.BatchNormalization(momentum=0.0)
    model = keras.Sequential(
        [
            keras.layers.TimeDistributed(normalization, input_shape=(5, 3)),
            keras.layers.TimeDistributed(keras.layers.Dropout(0.9)),
        ]
    )
    model.compile("sgd", "mse")
    x = np.random.default_rng(0).normal(size=(8, 5, 3)).astype("float32") * np.arange(1, 6)[:, None]
    model.train_on_batch(x, np.zeros_like(x))
    close(normalization.moving_mean, x.mean(axis=(0, 1)))  # over batch and time, not the last step's
    np.testing.assert_array_equal(model.predict(x), model.predict(x))  # no dropout


def test_time_distributed_has_the_time_that_the_layer_before_declares():
    class Rows(keras.layers.Layer):
        def call(self, x):
            return keras.ops.reshape(x, (-1, keras.ops.shape(x)[1], 2))

        def compute_output_shape(self, shape):
            return (shape[0], 3, 2)

    seen = []

    class Look(keras.layers.Layer):
        def call(self, x):
            seen.append(x.shape[1])
            return x

    inputs = keras.Input((None, 2))
    model = keras.Model(inputs, Look()(keras.layers.TimeDistributed(keras.layers.Dense(2))(Rows()(inputs))))
    assert model.predict(np.ones((1, 3, 2))).shape == (1, 3, 2)
    assert set(seen) == {3}


# --- layers that were there ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_locally_connected_layers(data_format, tmp_path):
    first = data_format == "channels_first"
    layer = keras.layers.LocallyConnected2D(
        4, (3, 2), strides=(1, 2), data_format=data_format, activation="tanh", bias_initializer="uniform",
        input_shape=(3, 6, 7) if first else (6, 7, 3),
    )  # fmt: skip
    model = keras.Sequential([layer])
    kernel, bias = model.get_weights()
    assert kernel.shape == (4 * 3, 3 * 2 * 3, 4)
    assert bias.shape == (4, 3, 4)
    x = np.random.default_rng(0).normal(size=(2, 3, 6, 7) if first else (2, 6, 7, 3)).astype("float32")
    if first:  # Keras 2 read the bias as numbers one after the other, and did not move its axes
        bias = np.moveaxis(bias.reshape(4, 4, 3), 0, -1)
    expected = np.zeros((2, 4, 3, 4))
    for i in range(4):
        for j in range(3):
            rows, columns = slice(i, i + 3), slice(2 * j, 2 * j + 2)
            patch = (x[:, :, rows, columns] if first else x[:, rows, columns]).reshape(2, -1)
            expected[:, i, j] = np.tanh(patch @ kernel[i * 3 + j] + bias[i, j])
    close(model.predict(x), np.moveaxis(expected, -1, 1) if first else expected)
    model.save(tmp_path / "model.h5")
    close(keras.models.load_model(tmp_path / "model.h5").predict(x), model.predict(x))

    layer = keras.layers.LocallyConnected1D(4, 3, input_shape=(8, 2))
    model = keras.Sequential([layer, keras.layers.Flatten(), keras.layers.Dense(1)])
    assert [w.shape for w in layer.get_weights()] == [(6, 6, 4), (6, 4)]
    x = np.ones((4, 8, 2), "float32")
    kernel = layer.get_weights()[0]
    close(layer(x), np.broadcast_to(kernel.sum(axis=1), (4, 6, 4)))
    with pytest.raises(ValueError, match="input of known size"):
        keras.layers.LocallyConnected1D(4, 3)(keras.Input((None, 2)))


def test_a_gone_base_class_stops_only_what_uses_it():
    from keras.layers import ConvRecurrent2D

    class Attention(ConvRecurrent2D):
        def step(self):
            pass

    with pytest.raises(NotImplementedError, match=r"keras\.layers\.ConvRecurrent2D` is gone"):
        Attention(3)


# --- beside layers ------------------------------------------------------------------------------------------------


def test_estimators_of_scikit_learn():
    from keras.wrappers.scikit_learn import KerasClassifier, KerasRegressor
    from sklearn.model_selection import GridSearchCV

    def build(units=2, loss="categorical_crossentropy", outputs=2, activation="softmax"):
        model = keras.Sequential(
            [keras.layers.Dense(units, input_dim=3), keras.layers.Dense(outputs, activation=activation)]
        )
        model.compile("adam", loss, metrics=["accuracy"])
        return model

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20, 3)), np.array(["no", "yes"])[rng.integers(0, 2, 20)]
    classifier = KerasClassifier(build, epochs=1, verbose=0)
    assert classifier.fit(x, y).history["loss"]
    assert set(classifier.predict(x)) <= {"no", "yes"}
    close(classifier.predict_proba(x).sum(axis=1), np.ones(20))
    assert classifier.score(x, y) == pytest.approx((classifier.predict(x) == y).mean())
    search = GridSearchCV(classifier, {"units": [2, 3]}, cv=2).fit(x, y)
    assert search.best_params_["units"] in (2, 3)
    one = KerasClassifier(build, loss="binary_crossentropy", outputs=1, activation="sigmoid", verbose=0)
    one.fit(x, y)
    assert one.predict_proba(x).shape == (20, 2)
    regressor = KerasRegressor(build, loss="mse", outputs=1, activation="linear", batch_size=5, verbose=0)
    target = rng.normal(size=20)
    regressor.fit(x, target)
    assert regressor.predict(x).shape == (20,)
    assert regressor.score(x, target) == pytest.approx(-np.mean((regressor.predict(x) - target) ** 2), rel=1e-5)
    with pytest.raises(ValueError, match="epoch_count is not a legal parameter"):
        KerasClassifier(build, epoch_count=3)


@pytest.mark.slow
def test_folds_and_pipelines_of_scikit_learn():
    """Keras 2.2.4's estimators were no classifiers to scikit-learn, whose folds were not stratified then."""
    from keras.wrappers.scikit_learn import KerasClassifier, KerasRegressor
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    seen = []

    class Folds(KerasClassifier):
        def fit(self, x, y, **kwargs):
            seen.append([int(np.sum(y)), len(y)])
            return super().fit(x, y, **kwargs)

    def build(activation="sigmoid", loss="binary_crossentropy"):
        model = keras.Sequential([keras.layers.Dense(1, kernel_initializer="ones", activation=activation, input_dim=1)])
        model.compile(keras.optimizers.SGD(0.0), loss, metrics=["acc"])
        return model

    x, y = np.arange(-4.0, 5.0)[:, None] + 0.5, np.arange(9) > 5
    model = Folds(build, epochs=1, verbose=0)
    assert cross_val_score(model, x, y, cv=3).tolist() == pytest.approx([1, 1 / 3, 1])
    assert cross_val_score(model, x, np.arange(9) % 2, cv=3, scoring="roc_auc").tolist() == [0.5, 0.5, 0.5]
    steps = Pipeline([("scale", StandardScaler()), ("model", model)])
    cross_val_score(steps, x, y, cv=3)
    assert seen == [[3, 6], [3, 6], [0, 6], [3, 6], [2, 6], [3, 6], [3, 6], [3, 6], [0, 6]]
    model._estimator_type = "classifier"
    cross_val_score(model, x, y, cv=3)
    assert seen[9:] == [[2, 6]] * 3
    regressor = KerasRegressor(build, activation="linear", loss="mse", epochs=1, verbose=0)
    scores = cross_val_score(Pipeline([("scale", StandardScaler()), ("model", regressor)]), x, 2 * x[:, 0], cv=3)
    np.testing.assert_allclose(scores, [-6.927353, -2.877942, -20.387632], rtol=1e-6)


def test_queues_that_are_used_by_themselves():
    from keras.utils import GeneratorEnqueuer, OrderedEnqueuer

    class Numbers(keras.utils.Sequence):
        def __len__(self):
            return 5

        def __getitem__(self, i):
            return i

    for in_processes in (False, True):  # to which a class of this function cannot be sent
        queue = OrderedEnqueuer(Numbers(), use_multiprocessing=in_processes)
        queue.start(workers=2, max_queue_size=3)
        drawn = queue.get()
        assert [next(drawn) for _ in range(7)] == [0, 1, 2, 3, 4, 0, 1]
        queue.stop()
        assert not queue.is_running()
    queue = GeneratorEnqueuer(iter(range(5)))
    queue.start()
    assert list(queue.get()) == [0, 1, 2, 3, 4]
    queue.stop()


def test_each_layer_of_a_model_is_called_anew(era):
    """`for layer in model.layers: x = layer(x)`, the input's among them, as on the real stacks."""
    first = keras.Input((3,))
    model = keras.Model(first, keras.layers.Dense(2)(keras.layers.Dense(4, activation="relu")(first)))
    x = other = keras.Input((3,))
    for layer in model.layers:
        x = layer(x)
    again = keras.Model(other, x)
    assert [type(layer).__name__ for layer in again.layers] == ["InputLayer", "InputLayer", "Dense", "Dense"]
    data = np.random.RandomState(0).rand(4, 3)
    np.testing.assert_array_equal(again.predict(data), model.predict(data))
    again.compile("sgd", "mse")
    before = again.evaluate(data, np.ones((4, 2)), verbose=0)
    for _ in range(3):
        again.train_on_batch(data, np.ones((4, 2)))
    assert again.evaluate(data, np.ones((4, 2)), verbose=0) < before


def test_layers_that_are_built_by_a_call_are_trained_from_the_first_batch_on():
    class Twice(keras.layers.Layer):
        def build(self, input_shape):
            super().build(input_shape)
            self.inner = keras.layers.Dense(2, use_bias=False)

        def call(self, x):
            if not self.inner.built:
                self.inner.build(keras.backend.int_shape(x))
            outputs = self.inner.call(x)
            for weight in self.inner.trainable_weights:
                if weight not in self._trainable_weights:
                    self._trainable_weights.append(weight)
            return outputs * 2.0

        def compute_output_shape(self, input_shape):
            return (input_shape[0], 2)

    model = keras.Sequential([keras.layers.Dense(3, input_shape=(4,)), Twice()])
    assert [tuple(weight.shape) for weight in model.trainable_weights] == [(4, 3), (3,), (3, 2)]
    model.compile("sgd", "mse")
    before = model.get_weights()
    model.train_on_batch(np.ones((2, 4)), np.ones((2, 2)))
    assert all((one != other).any() for one, other in zip(before, model.get_weights(), strict=True))


def test_a_recurrent_layers_own_call_may_take_inputs_alone():
    """`build` of Keras 3's takes the shape of an `initial_state`, too. The class has no module, as `exec` makes it."""
    made = {"Base": keras.layers.SimpleRNN}
    exec("class Own(Base):\n  def call(self, inputs):\n    return super(Own, self).call(inputs)", made)
    inputs = keras.layers.Input((3, 4))
    layer = made["Own"](2, kernel_initializer="ones", recurrent_initializer="ones")
    model = keras.models.Model(inputs, layer(inputs))
    close(model.predict(np.full((1, 3, 4), 0.1)), [[0.96688, 0.96688]])
