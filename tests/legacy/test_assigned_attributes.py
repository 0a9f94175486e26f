"""What a script of Keras 2 assigns to layers and models that computes it by a property today."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from keras import backend as K

import parallel_compat

pytestmark = pytest.mark.usefixtures("legacy_names")


class OwnKernel(keras.layers.Dense):
    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1], self.units), initializer="ones", name="kernel")
        self.bias = None
        self.built = True


def weights_of(kind):
    class OfVariables(keras.layers.Layer):
        def build(self, input_shape):
            self.w = K.variable(np.ones((input_shape[-1], 2)), name="w")
            self.b = K.variable(np.zeros(2))
            self.fixed = K.variable(np.full(2, 3.0))
            if kind == "set":
                self.trainable_weights = [self.w, self.b]
                self.non_trainable_weights = [self.fixed]
            elif kind == "append":
                self.trainable_weights.append(self.w)
                self._trainable_weights += [self.b]
                self._non_trainable_weights.append(self.fixed)
            else:
                self._trainable_weights = [self.w]
                self.trainable_weights += [self.b]
                self._non_trainable_weights.extend([self.fixed])
            super().build(input_shape)

        def call(self, x):
            return K.dot(x, self.w) + self.b + self.fixed

        def compute_output_shape(self, input_shape):
            return (input_shape[0], 2)

    return OfVariables(input_shape=(3,))


def test_a_kernel_of_ones_own():
    model = keras.Sequential([OwnKernel(2, input_shape=(3,))])
    np.testing.assert_array_equal(model.predict(np.ones((1, 3))), [[3.0, 3.0]])
    assert [tuple(w.shape) for w in model.trainable_weights] == [(3, 2)]


@pytest.mark.parametrize("kind", ["set", "append", "underscore"])
@pytest.mark.parametrize("replicas", [1, 2])
def test_variables_that_become_weights_are_trained_as_one_would_compute(kind, replicas):
    layer = weights_of(kind)
    model = keras.Sequential([layer])
    trained = parallel_compat.multi_gpu_model(model, gpus=2) if replicas == 2 else model
    trained.compile(keras.optimizers.SGD(0.5), "mse")
    x, y = np.ones((4, 3), "float32"), np.zeros((4, 2), "float32")
    trained.train_on_batch(x, y)
    # The prediction is 3 + 0 + 3 = 6 everywhere; the loss is the mean over two outputs.
    w, b, fixed = layer.get_weights()
    np.testing.assert_allclose(w, np.full((3, 2), 1 - 0.5 * 6), rtol=1e-6)
    np.testing.assert_allclose(b, np.full(2, -0.5 * 6), rtol=1e-6)
    np.testing.assert_array_equal(fixed, [3.0, 3.0])
    assert len(model.trainable_weights) == 2
    assert len(model.non_trainable_weights) == 1


# TensorFlow 1.15 and 2.2: what is set on an attribute became a weight of the kind that it was made as, too.
LISTED_AS_OTHER_KIND = {
    ("set", "tf.keras-1.15"): 0.7,
    ("set", "tf.keras-2.2"): 0.7,
    ("fixed", "tf.keras-1.15"): 0.7,
    ("fixed", "tf.keras-2.2"): 1.0,  # a tape looks at no weight that is not trainable
    ("fixed, appended", "tf.keras-2.2"): 1.0,
}


@pytest.mark.parametrize(("kind", "era"), LISTED_AS_OTHER_KIND)
def test_weights_in_the_list_of_the_other_kind(kind, era):
    with parallel_compat.legacy_names(era=era):

        class Listing(keras.layers.Layer):
            def build(self, input_shape):
                w = self.add_weight(name="w", shape=(2, 2), initializer="ones")
                b = self.add_weight(name="b", shape=(2,), initializer="ones", trainable=kind == "set")
                self.w, self.b = w, b
                if kind == "fixed, appended":
                    self._trainable_weights.append(b)
                else:
                    self._trainable_weights = [w] if kind == "set" else [w, b]
                    self._non_trainable_weights = [b] if kind == "set" else []
                super().build(input_shape)

            def call(self, inputs):
                return K.dot(inputs, self.w) + self.b

        model = keras.models.Sequential([Listing(input_shape=(2,))])
        model.compile(keras.optimizers.SGD(0.1), "mse")
        model.train_on_batch(np.ones((2, 2)), np.zeros((2, 2)))
        w, b = model.get_weights()
        np.testing.assert_allclose(w, np.full((2, 2), 0.7), rtol=1e-6)
        np.testing.assert_allclose(b, np.full(2, LISTED_AS_OTHER_KIND[kind, era]), rtol=1e-6)


@pytest.mark.parametrize("how", ["set", "added to"])
def test_variables_without_names_are_told_apart_as_in_a_graph(how, tmp_path):
    """As Keras 2.2.4 named them; a file has one entry of each name."""

    class Own(keras.layers.Layer):
        def build(self, input_shape):
            self.w, self.b = K.variable(np.ones((input_shape[-1], 2))), K.variable(np.zeros(2))
            if how == "set":
                self._trainable_weights = [self.w, self.b]
            else:
                self._trainable_weights += [self.w, self.b]
            super().build(input_shape)

        def call(self, inputs):
            return K.bias_add(K.dot(inputs, self.w), self.b)

        def compute_output_shape(self, input_shape):
            return input_shape[0], 2

    model = keras.models.Sequential([Own(input_shape=(3,), name="own")])
    assert [weight.name for weight in model.weights] == ["own/Variable:0", "own/Variable_1:0"]
    model.compile("sgd", "mse")
    model.train_on_batch(np.ones((2, 3)), np.ones((2, 2)))
    model.save(str(tmp_path / "model.h5"))
    loaded = keras.models.load_model(str(tmp_path / "model.h5"), custom_objects={"Own": Own})
    np.testing.assert_array_equal(loaded.predict(np.ones((1, 3))), model.predict(np.ones((1, 3))))


def test_a_weight_that_is_not_listed_is_none():
    class Listed(keras.layers.Layer):
        def build(self, input_shape):
            self.a = self.add_weight(shape=(1,), name="a", initializer="ones")
            self.b = self.add_weight(shape=(1,), name="b", initializer="ones")
            self.trainable_weights = [self.b]
            self.path = "a name of the script's own"
            super().build(input_shape)

        def call(self, x):
            return x * self.a * self.b

    layer = Listed()
    layer(np.ones((1, 1)))
    assert [w.name for w in layer.weights] == ["listed_1/b:0"]
    assert layer.path == "a name of the script's own"


class OfLayers(keras.layers.Layer):
    """Two layers of its own, of whose weights it lists some."""

    def __init__(self, listed, **keywords):
        self.listed = listed
        super().__init__(**keywords)

    def build(self, input_shape):
        self.first = keras.layers.Dense(2, kernel_initializer="ones")
        self.first.build(input_shape)
        self.second = keras.layers.Dense(2, kernel_initializer="ones")
        self.second.build((None, 2))
        if self.listed == "both":
            self.trainable_weights = self.second.trainable_weights + self.first.trainable_weights
        elif self.listed == "added":
            self.trainable_weights += self.second.trainable_weights
        elif self.listed == "extended":
            self._trainable_weights.extend(self.second._trainable_weights)
        self.built = True

    def call(self, x):
        return self.second.call(self.first.call(x))

    def compute_output_shape(self, input_shape):
        return (input_shape[0], 2)


_SECOND_ALONE = ([49.72569, 10.89013, 5.34164], [(2, 2), (2,)], [0.5859, 0.5859], [1.0, 1.0])


@pytest.mark.parametrize("gpus", [1, 2])
@pytest.mark.parametrize(
    ("listed", "losses", "shapes", "second", "first"),
    [  # as Keras 2.2.4 on TensorFlow 1.15.5 computed them
        (
            "both",
            [49.72569, 4.10004, 2.39584],
            [(2, 2), (2,), (3, 2), (2,)],
            [0.67, 0.67],
            [0.8088, 0.8088],
        ),
        ("added", *_SECOND_ALONE),
        ("extended", *_SECOND_ALONE),
    ],
)
def test_the_weights_that_a_layer_of_layers_lists_are_its_weights_in_their_order(
    listed, losses, shapes, second, first, gpus
):
    random = np.random.RandomState(0)
    x, y = random.rand(8, 3), random.rand(8, 2)
    inputs, layer = keras.layers.Input((3,)), OfLayers(listed)
    model = keras.models.Model(inputs, keras.layers.Dense(2, kernel_initializer="ones")(layer(inputs)))
    trained = parallel_compat.multi_gpu_model(model, gpus) if gpus > 1 else model
    trained.compile("sgd", "mse")
    history = trained.fit(x, y, epochs=3, verbose=0, shuffle=False).history
    np.testing.assert_allclose(history["loss"], losses, rtol=1e-5)
    assert [w.shape for w in layer.get_weights()] == shapes
    np.testing.assert_allclose(layer.second.get_weights()[0][0], second, atol=6e-5)
    np.testing.assert_allclose(layer.first.get_weights()[0][0], first, atol=6e-5)


def test_a_layer_that_is_left_out_keeps_its_moving_statistics_and_draws_on_replicas():
    class Normalises(keras.layers.Layer):
        def build(self, input_shape):
            self.inner = keras.layers.BatchNormalization()
            self.inner.build(input_shape)
            self.drop = keras.layers.Dropout(0.5)
            self.trainable_weights = self.inner.trainable_weights
            self.built = True

        def call(self, x):
            return self.drop(self.inner(x))

    layer = Normalises()
    model = keras.Sequential([keras.layers.Dense(2, input_shape=(3,)), layer])
    parallel = parallel_compat.multi_gpu_model(model, 2)
    parallel.compile("sgd", "mse")
    x = np.random.RandomState(0).rand(8, 3)
    parallel.fit(x, x[:, :2], epochs=2, verbose=0)
    _, beta, mean, variance = layer.inner.get_weights()
    assert np.all(beta != 0)
    np.testing.assert_array_equal([mean, variance], [[0, 0], [1, 1]])  # its updates were of no model
    assert [w.shape for w in layer.get_weights()] == [(2,), (2,)]


def test_layers_in_a_layer_that_lists_no_weights_are_told():
    layer = OfLayers("none")
    model = keras.Sequential([keras.layers.Dense(3, input_shape=(3,)), layer])
    with pytest.warns(UserWarning, match=r"`OfLayers` holds layers \(dense_2, dense_3\).*trained and saved.*2\.2\.4"):
        model.compile("sgd", "mse")
    assert len(layer.trainable_weights) == 4


class Heads(keras.layers.Wrapper):
    """Copies of a layer, whose weights it lists; the layer itself is a pattern alone."""

    def __init__(self, layer, **keywords):
        self.layer = layer[0] if isinstance(layer, list) else layer
        self.heads = layer if isinstance(layer, list) else []
        super().__init__(self.layer, **keywords)

    def build(self, input_shape):
        if not self.heads:
            self.layer.build(input_shape)
            self.heads = [keras.layers.Dense(2, kernel_initializer="ones") for _ in range(3)]
        for head in self.heads:
            head.build(input_shape)
        self.scale = self.add_weight(name="scale", shape=(2,), initializer="ones")
        super().build(input_shape)

    def call(self, x):
        return sum(head.call(x) for head in self.heads) * self.scale

    def compute_output_shape(self, input_shape):
        return (input_shape[0], 2)

    def get_config(self):
        config = super().get_config()
        config["layer"] = [{"class_name": "Dense", "config": head.get_config()} for head in self.heads]
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls([keras.layers.deserialize(each) for each in config.pop("layer")], **config)

    @property
    def trainable_weights(self):
        weights = self._trainable_weights[:]
        for head in self.heads:
            weights += head.trainable_weights
        return weights


def test_the_layers_whose_weights_a_class_lists_are_trained_and_saved_and_no_others(era, tmp_path):
    model = keras.Sequential([Heads(keras.layers.Dense(2), input_shape=(3,))])
    model.compile(keras.optimizers.SGD(0.5), "mse")
    x = np.ones((4, 3), "float32")
    model.train_on_batch(x, np.zeros((4, 2), "float32"))
    # Each prediction is 3 * 3 = 9, and the loss the mean over two of them.
    scale, *of_heads = [K.get_value(weight) for weight in model.weights]
    np.testing.assert_allclose(scale, np.full(2, 1 - 0.5 * 9 * 9), rtol=1e-6)
    for kernel, bias in zip(of_heads[::2], of_heads[1::2], strict=True):
        np.testing.assert_allclose(kernel, np.full((3, 2), 1 - 0.5 * 9), rtol=1e-6)
        np.testing.assert_allclose(bias, np.full(2, -0.5 * 9), rtol=1e-6)
    assert [tuple(weight.shape) for weight in model.trainable_weights] == [(2,), *[(3, 2), (2,)] * 3]
    model.save(tmp_path / "heads.h5")
    loaded = keras.models.load_model(tmp_path / "heads.h5", custom_objects={"Heads": Heads})
    np.testing.assert_array_equal(loaded.predict(x), model.predict(x))
    assert len(loaded.trainable_weights) == 7


def test_outputs_that_are_set():
    inputs = keras.Input((3,))
    hidden = keras.layers.Dense(4, name="hidden")(inputs)
    model = keras.Model(inputs, keras.layers.Dense(2)(hidden))
    x = np.ones((2, 3))
    expected = keras.Model(inputs, hidden).predict(x)
    assert model.predict(x).shape == (2, 2)
    model.outputs = [hidden]
    np.testing.assert_array_equal(model.predict(x), expected)
    assert model.output_names == ["hidden"]

    model = keras.Sequential([keras.layers.Dense(4, input_shape=(3,)), keras.layers.Dense(2)])
    model.outputs = [model.layers[0].output]
    assert model.predict(x).shape == (2, 4)


def test_a_layer_taken_off_the_list_is_the_last_no_more():
    keras.utils.to_categorical([0])  # standalone Keras, whose list was the model's own
    inputs = keras.Input((3,))
    hidden = keras.layers.Dense(4, name="features")(inputs)
    model = keras.Model(inputs, keras.layers.Dense(2, name="classes")(hidden))
    assert model.layers.pop().name == "classes"
    assert model.layers[-1].name == "features"
    assert len(model.weights) == 2
    assert keras.Model(model.input, model.layers[-1].output).predict(np.ones((1, 3))).shape == (1, 4)


def test_other_code_than_the_users_still_has_no_setter():
    from parallel_compat.run import callers

    layer = keras.layers.Dense(2)
    layer.build((None, 3))
    code = compile("layer.kernel = 1", "<somewhere>", "exec")
    with pytest.raises(AttributeError, match="no setter"):
        exec(code, {"layer": layer, "__file__": keras.__file__, "__name__": "keras.somewhere"})
    assert callers.asked() == frozenset()


def test_updates_run_in_training_alone():
    class Count(keras.layers.Layer):
        def build(self, input_shape):
            # One for each: Keras 2.2.4 ran updates of one variable in an order that changed from run to run.
            for name in "abc":
                setattr(self, name, self.add_weight(name=name, shape=(), initializer="zeros", trainable=False))
            super().build(input_shape)

        def call(self, x):
            self.add_update((self.a, self.a + 1.0), x)
            self.add_update([(self.b, self.b + 10.0)], inputs=x)
            self.add_update([K.update_add(self.c, 100.0)], x)
            return x

    layer = Count(input_shape=(3,))
    model = keras.Sequential([layer, keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    x, y = np.ones((4, 3)), np.ones((4, 2))
    model.predict(x)
    model.evaluate(x, y, verbose=0)
    assert layer.get_weights() == [0.0, 0.0, 0.0]
    model.fit(x, y, batch_size=2, verbose=0)
    assert layer.get_weights() == [2.0, 20.0, 200.0]


@pytest.mark.parametrize("trainable", [True, False])
@pytest.mark.parametrize("stateful", [True, False])
def test_updates_of_stateful_layers_run_in_each_pass_and_those_of_other_frozen_ones_in_none(era, stateful, trainable):
    class Count(keras.layers.Layer):
        def build(self, input_shape):
            for name in "ab":
                setattr(self, name, self.add_weight(name=name, shape=(), initializer="zeros", trainable=False))
            super().build(input_shape)

        def call(self, x):
            self.add_update(K.update(self.a, self.a + K.mean(x)), x)
            self.add_update([(self.b, self.b + 1.0)], x)
            return x * 2.0

        def compute_output_shape(self, input_shape):
            return input_shape

    layer = Count(input_shape=(3,))
    layer.stateful, layer.trainable = stateful, trainable
    model = keras.Sequential([layer, keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    x, y = np.ones((4, 3), "float32"), np.ones((4, 2), "float32")
    counted = []
    for run in (
        lambda: model.predict(x, batch_size=2),
        lambda: model.evaluate(x, y, batch_size=2, verbose=0),
        lambda: model.fit(x, y, batch_size=2, verbose=0),
        lambda: K.function(model.inputs, model.outputs)([x]),
        lambda: model.predict_on_batch(x),
    ):
        run()
        counted.append([float(K.get_value(layer.a)), float(K.get_value(layer.b))])
    # Numbers of the real stacks.
    in_training = [0, 0, 2, 2, 2] if trainable else [0, 0, 0, 0, 0]
    of_graph = [2, 4, 6, 6, 7] if stateful else in_training
    assert [a for a, _ in counted] == ([2, 4, 6, 7, 8] if era == "tf.keras-2.2" else of_graph)
    assert [b for _, b in counted] == (of_graph if era == "keras-2.2.4" else [0] * 5)


@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_a_call_reads_what_a_variable_was_before_its_update(replicas, optimizer):
    """As the centres of a centre loss do; the losses are those of Keras 2.2.4 without steps of the weights."""

    class Before(keras.layers.Layer):
        def build(self, input_shape):
            self.n = self.add_weight(name="n", shape=(), initializer="zeros", trainable=False)
            super().build(input_shape)

        def call(self, x):
            self.add_update((self.n, self.n + K.mean(x)), x)
            return x * self.n

    last = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones", trainable=False)
    single = keras.Sequential([Before(input_shape=(2,)), last])
    model = parallel_compat.multi_gpu_model(single, replicas) if replicas > 1 else single
    model.compile(optimizer, lambda y_true, y_pred: y_pred + 0 * y_true)
    x, y = np.full((4, 2), 2.0), np.ones((4, 1))
    assert [float(model.train_on_batch(x, y)) for _ in range(3)] == [0.0, 8.0, 16.0]
    assert model.test_on_batch(x / 2, y) == 12.0


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_moving_average_moves_in_training_alone_and_forgets_what_it_began_with(replicas):
    class Centre(keras.layers.Layer):
        def build(self, input_shape):
            self.mean = self.add_weight(name="mean", shape=(3,), initializer="ones", trainable=False)
            super().build(input_shape)

        def call(self, x):
            mean = K.mean(x, axis=0)
            self.add_update(K.moving_average_update(self.mean, mean, 0.9), x)
            return K.in_train_phase(x - mean, x - self.mean)

    layer = Centre(input_shape=(3,))
    single = keras.Sequential([layer, keras.layers.Dense(2)])
    model = parallel_compat.multi_gpu_model(single, replicas) if replicas > 1 else single
    model.compile("sgd", "mse")
    x, y = np.repeat([[2.0] * 3, [6.0] * 3], 4, axis=0), np.ones((8, 2))
    model.predict(x)
    model.evaluate(x, y, verbose=0)
    assert layer.get_weights()[0].tolist() == [1.0] * 3
    model.fit(x, y, batch_size=4, shuffle=False, verbose=0)
    # TensorFlow 1.15's `assign_moving_average(..., zero_debias=True)`.
    np.testing.assert_allclose(layer.get_weights()[0], (0.9 * 0.1 * 2 + 0.1 * 6) / (1 - 0.9**2), rtol=1e-6)
    variable = K.variable([1.0])
    np.testing.assert_allclose(K.eval(K.moving_average_update(variable, K.constant([2.0]), 0.9)), [2.0], rtol=1e-5)
    np.testing.assert_allclose([K.eval(K.update_add(variable, [3.0])), K.get_value(variable)], [[5.0]] * 2, rtol=1e-5)


def test_a_target_tensor_stands_for_the_targets():
    inputs = keras.Input((3,))
    outputs = keras.layers.Dense(2)(inputs)
    model = keras.Model(inputs, outputs)
    model.compile("sgd", "mse", target_tensors=[keras.Input((2,))])
    assert model.train_on_batch(np.ones((2, 3)), model.predict(np.ones((2, 3)))) == pytest.approx(0, abs=1e-10)
    with pytest.raises(TypeError, match=r"which a layer computes.*pass them to `fit`"):
        model.compile("sgd", "mse", target_tensors=[outputs])


def two_dense(keras):
    a, b = keras.layers.Dense(2, kernel_initializer="ones"), keras.layers.Dense(2, kernel_initializer="zeros")
    a.build((None, 2))
    b.build((None, 2))
    return a, b, {id(a.kernel): "ak", id(a.bias): "ab", id(b.kernel): "bk", id(b.bias): "bb"}


@pytest.mark.parametrize(
    ("era", "listed"),
    [("keras-2.2.4", ["bk", "bb"]), ("tf.keras-1.15", ["bb", "ak"]), ("tf.keras-2.2", ["bb", "ak"])],
)
def test_a_layer_that_is_built_takes_the_weight_of_another(era, listed):
    """In Keras 2.2.4 an attribute alone, in TensorFlow 1.15 and 2.2 in the place of the weight that was there."""
    with parallel_compat.legacy_names(era=era):
        a, b, names = two_dense(keras)
        b.kernel = a.kernel
        inputs = keras.layers.Input((2,))
        model = keras.models.Model(inputs, b(inputs))
        np.testing.assert_array_equal(model.predict(np.array([[1.0, 2.0]]), verbose=0), [[3, 3]])
        assert [names[id(weight)] for weight in b.weights] == listed
        norm, other = keras.layers.BatchNormalization(), keras.layers.BatchNormalization(gamma_initializer="zeros")
        norm.build((None, 2))
        other.build((None, 2))
        other.gamma = norm.gamma
        other.helper, other.helpers = a, [norm]  # whose weights count in tf.keras
        model = keras.models.Model(inputs, other(inputs))
        np.testing.assert_allclose(
            model.predict(np.array([[1.0, 2.0]]), verbose=0), [[0.9995004, 1.9990008]], rtol=1e-6
        )
        assert len(other.weights) == (4 if era == "keras-2.2.4" else 9)


@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def test_a_weight_put_in_the_place_of_another_in_the_list_is_trained(era, replicas):
    """One step of SGD(0.01) on `(1, 2)` and `(1, 1)`, the same in all eras."""
    with parallel_compat.legacy_names(era=era):
        a, b, names = two_dense(keras)
        b._trainable_weights[0] = a.kernel
        b.kernel = a.kernel
        assert [names[id(weight)] for weight in b.weights] == ["ak", "bb"]
        inputs = keras.layers.Input((2,))
        model = keras.models.Model(inputs, b(inputs))
        trained = parallel_compat.multi_gpu_model(model, gpus=2) if replicas == 2 else model
        trained.compile("sgd", "mse")
        trained.fit(np.array([[1.0, 2.0]] * 2), np.ones((2, 2)), verbose=0)
        np.testing.assert_allclose(keras.ops.convert_to_numpy(a.kernel), [[0.98, 0.98], [0.96, 0.96]], rtol=1e-6)
        np.testing.assert_allclose(model.predict(np.array([[1.0, 2.0]]), verbose=0), [[2.88, 2.88]], rtol=1e-6)


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-2.2"])
def test_what_is_taken_off_the_list_of_weights_is_none(era):
    with parallel_compat.legacy_names(era=era):
        a, b, names = two_dense(keras)
        seen = []
        for edit in (
            lambda: b._trainable_weights.pop(),
            lambda: b._trainable_weights.insert(0, a.bias),
            lambda: b._trainable_weights.remove(a.bias),
            lambda: b.trainable_weights.pop(),  # of a list that tf.keras made for the answer
        ):
            edit()
            seen.append([names[id(weight)] for weight in b.weights])
        assert seen == [["bk"], ["ab", "bk"], ["bk"], [] if era == "keras-2.2.4" else ["bk"]]


def test_what_is_computed_of_a_weight_stands_in_its_place():
    """Copies of layers with the positive part of each kernel; what they give is that of Keras 2.2.4."""
    layer = keras.layers.Dense(2, kernel_initializer=lambda shape, dtype=None: K.constant([[1, -1], [-2, 2]]))
    layer.build((None, 2))
    positive = K.maximum(layer.kernel, 0.0)
    bias = layer.bias + 1
    layer._trainable_weights[0] = positive
    layer._trainable_weights[1] = bias
    assert len(layer._trainable_weights) == 2
    layer.kernel, layer.bias = positive, bias
    inputs = keras.layers.Input((2,))
    model = keras.models.Model(inputs, layer(inputs))
    np.testing.assert_array_equal(model.predict(np.array([[1.0, 2.0]]), verbose=0), [[2, 5]])
