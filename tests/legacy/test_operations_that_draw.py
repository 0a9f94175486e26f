"""What draws in a graph: values that Keras 2.2.4 and TensorFlow 1.15.5 gave after the same seeds, on one device."""

from __future__ import annotations

import numpy as np
import pytest

import parallel_compat

X = np.arange(60.0).reshape(10, 6) / 60.0
# The losses of two epochs, the second one of validation, and of a step after that.
TRAINED = {
    "keras-2.2.4": {
        ("lambda", False): [1.1088940620422363, 1.065593159198761, 0.9022884249687195, 1.283538818359375],
        ("lambda", True): [0.9472663640975952, 1.0533457756042481, 0.8938857555389405, 1.0649306774139404],
        ("shape", False): [1.1072814464569092, 1.0694759368896485, 0.904558801651001, 1.2861831188201904],
        ("shape", True): [1.2197653293609618, 1.1401427268981934, 1.0662733554840087, 0.9568878412246704],
        ("own", False): [1.1072814464569092, 1.0694759368896485, 0.904558801651001, 1.2861831188201904],
        ("own", True): [1.2197653293609618, 1.1401427268981934, 1.0662733554840087, 0.9568878412246704],
    },
    "tf.keras-1.15": {
        ("lambda", False): [1.1072814464569092, 1.1599554300308228, 0.8756148219108582, 1.28203547000885],
        ("lambda", True): [1.2197653293609618, 0.9285606324672699, 1.0474477767944337, 0.9662424921989441],
        ("shape", False): [1.1072814464569092, 1.1599554300308228, 0.8756148219108582, 1.28203547000885],
        ("shape", True): [1.2197653293609618, 0.9285606324672699, 1.0474477767944337, 0.9662424921989441],
        ("own", False): [1.1072814464569092, 1.1599554300308228, 0.8756148219108582, 1.28203547000885],
        ("own", True): [1.2197653293609618, 0.9285606324672699, 1.0474477767944337, 0.9662424921989441],
    },
}
# The losses of three steps, and what `np.random` gives next.
MASKED = {
    "Dropout": ({"rate": 0.5, "seed": 3}, [0.2455986738204956, 0.08960674703121185, 0.308672159910202], 874),
    "GaussianNoise": ({"stddev": 0.5}, [0.7469367384910583, 0.5578140616416931, 0.1746852695941925], 664),
    "GaussianDropout": ({"rate": 0.5}, [0.5867723226547241, 0.8864617347717285, 0.23320536315441132], 664),
    "AlphaDropout": ({"rate": 0.3}, [1.0038666725158691, 1.2313292026519775, 1.5910828113555908], 664),
}
# A kernel (2, 2) of `seed=4`.
WEIGHTS = {
    "RandomUniform": [0.0456581749022007, -0.023318922147154808, 0.049779776483774185, 0.03458930179476738],
    "RandomNormal": [0.014814801514148712, -0.001570661785081029, -0.0027355304919183254, 0.001881589530967176],
    "TruncatedNormal": [0.014814801514148712, -0.001570661785081029, -0.0027355304919183254, 0.001881589530967176],
    "VarianceScaling": [0.23818419873714447, -0.02525223232805729, -0.043980348855257034, 0.03025115840137005],
    "Orthogonal": [0.9833762645721436, 0.18157893419265747, -0.18157893419265747, 0.9833763837814331],
    "glorot_normal": [0.23818419873714447, -0.02525223232805729, -0.043980348855257034, 0.03025115840137005],
    "he_uniform": [1.5816453695297241, -0.8077911734580994, 1.7244218587875366, 1.1982084512710571],
    "lecun_normal": [0.23818419873714447, -0.02525223232805729, -0.043980348855257034, 0.03025115840137005],
}


@pytest.fixture(params=list(TRAINED))
def era(request):
    """Names as in an era; `import keras` finds `tf.keras` in both, which is told from it by the era alone."""
    with parallel_compat.legacy_names(era=request.param):
        yield request.param


def dense(units, seed):
    from keras import initializers, layers

    return layers.Dense(units, kernel_initializer=initializers.glorot_uniform(seed=seed))


def begin():
    import tensorflow as tf
    from keras import backend

    backend.clear_session()
    np.random.seed(3)
    tf.compat.v1.set_random_seed(1)


def sampling(args):
    from keras import backend

    mean, log_variance = args
    noise = backend.random_normal(shape=(backend.shape(mean)[0], 2))
    return mean + backend.exp(0.5 * log_variance) * noise


def own_layer():
    from keras import layers

    class Sampling(layers.Layer):
        def call(self, args):
            return sampling(args)

        def compute_output_shape(self, shapes):
            return shapes[0]

    return Sampling()


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("kind", ["lambda", "shape", "own"])
def test_the_sampling_of_an_autoencoder(era, kind, nested):
    from keras import layers, models

    begin()
    inputs = layers.Input((6,))
    shape = {"output_shape": (2,)} if kind == "shape" else {}
    layer = own_layer() if kind == "own" else layers.Lambda(sampling, **shape)
    z = layer([dense(2, 1)(inputs), dense(2, 2)(inputs)])
    if nested:
        z = models.Model(inputs, z)(inputs)
    model = models.Model(inputs, dense(6, 3)(z))
    model.compile("sgd", "mse")
    history = model.fit(X, X, batch_size=4, epochs=2, verbose=0, validation_data=(X, X)).history
    losses = [*history["loss"], history["val_loss"][1], model.train_on_batch(X, X)]
    np.testing.assert_allclose(losses, TRAINED[era][kind, nested], rtol=1e-5)


@pytest.mark.parametrize("kind", list(MASKED))
@pytest.mark.usefixtures("era")
def test_layers_draw_on_from_step_to_step(kind):
    from keras import layers, models

    given, expected, next_number = MASKED[kind]
    begin()
    inputs = layers.Input((6,))
    model = models.Model(inputs, dense(1, 3)(getattr(layers, kind)(**given)(inputs)))
    model.compile("sgd", "mse")
    np.testing.assert_allclose([model.train_on_batch(X, X[:, :1]) for _ in expected], expected, rtol=1e-5)
    assert np.random.randint(1000) == next_number


@pytest.mark.parametrize(("again", "drawn"), [(False, 6), (True, 9)])
def test_each_tower_draws(again, drawn):
    """A sampling drew twice, for itself and for its shape, and noise once: in each tower, and in a call after that."""
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        from keras import layers, models, utils

        inputs = layers.Input((6,))
        z = layers.GaussianNoise(0.1)(layers.Lambda(sampling)([dense(2, 1)(inputs), dense(2, 2)(inputs)]))
        model = models.Model(inputs, z)
        np.random.seed(1)
        expected = [np.random.randint(10_000_000) for _ in range(drawn + 1)][-1]
        np.random.seed(1)
        utils.multi_gpu_model(model, 2)
        if again:
            model(inputs)
            model(inputs)  # which is the same: nothing was made
        assert np.random.randint(10_000_000) == expected


def test_a_merge_of_ones_own_draws_when_it_is_called():
    """As the average of WGAN-GP, `RandomWeightedAverage`: its `call` is Keras's, which calls it."""
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        from keras import backend, layers
        from keras.layers.merge import _Merge

        class Average(_Merge):
            def _merge_function(self, inputs):
                weights = backend.random_uniform((4, 1))
                return weights * inputs[0] + (1 - weights) * inputs[1]

        np.random.seed(3)
        Average()([layers.Input((2,)), layers.Input((2,))])
        assert np.random.randint(1000) == 664


@pytest.mark.parametrize("kind", list(WEIGHTS))
def test_weights_of_a_seed_in_a_graph_of_tensorflow_1(kind):
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        from tensorflow import keras

        keras.backend.clear_session()
        for _ in range(2):  # each operation begins anew
            initializer = getattr(keras.initializers, kind)(seed=4)
            layer = keras.layers.Dense(2, input_shape=(2,), kernel_initializer=initializer)
            weights = keras.models.Sequential([layer]).get_weights()[0]
            np.testing.assert_allclose(weights.ravel(), WEIGHTS[kind], rtol=1e-5)


@pytest.mark.parametrize("name", ["args", "kwargs"])
def test_an_argument_of_a_call_has_the_name_of_many(name):
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        from keras import layers

        class Adding(layers.Layer):
            def build(self, input_shape):
                shapes.append(input_shape)

            def compute_output_shape(self, shape):
                return shape[0]

        class AddsArgs(Adding):
            def call(self, args):
                return args[0] + args[1]

        class AddsKwargs(Adding):
            def call(self, kwargs):
                return kwargs[0] + kwargs[1]

        shapes = []
        add = AddsArgs() if name == "args" else AddsKwargs()
        outputs = add([layers.Input((3,)), layers.Input((3,))])
        assert tuple(outputs.shape) == (None, 3)
        assert [tuple(map(tuple, each)) for each in shapes] == [((None, 3), (None, 3))]
