"""What draws: values that Keras 2.2.4 and TensorFlow 1.15.5 and 2.2.3 gave after the same seeds, on one device."""

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

# Two steps' losses, what that model predicts and what the one within it does; and what two functions give that compute
# the same operation.
CALLED_AGAIN = {
    "keras-2.2.4": {
        "siamese": [7.86448, 10.69909, -0.43213, -0.31179, -1.37125, 1.41614],
        "deep": [75.63581, 85.94425, 1.76021, 1.76021, -1.37296, 1.41438],
        "functions": [-1.97108, 0.91625, 0.83838, 0.73604, 0.54862, 0.81545, 0.54941, -0.21124],
    },
    "tf.keras-1.15": {
        "siamese": [10.48378, 7.37121, 1.37517, -3.15768, -1.37125, 1.41606],
        "deep": [78.09726, 64.05061, 3.06498, 3.06498, -1.37284, 1.41449],
        "functions": [-1.97108, 0.91625, 0.83838, 0.73604, 0.28153, 0.25693, 0.54941, -0.21124],
    },
}

# TensorFlow 2.2.3: the losses of two epochs, then of their validations, of a step, a number predicted in batches and in
# one; and what `np.random` gives next.
FITTED = {
    "flat": [0.39440855, 0.23511973, 0.11128422, 0.18072113, 0.30912295, -0.29238549, 0.12713543, 972],
    "nested": [0.11395708, 0.18449488, 0.22504592, 0.15567103, 0.16344604, 0.12071912, -0.06026439, 749],
    "own": [0.35122382, 0.18241549, 0.42874092, 0.24716799, 0.16660611, -0.21915141, -0.29674327, 144],
    "own_step": [0.40508595, 0.08737542, 0.12757568, 0.21097004, -0.22104795, -0.29863596, 144],
    "noisy": [0.26649261, 0.49492255, 0.00193218, 0.00146427, 0.14733729, 0.01909516, 0.01909516, 178],
    "seeded": [0.20634255, 0.39433703, 0.08979794, 0.07338618, 0.21314874, 0.02076661, 0.02076661, 37],
}
# The same of an evaluation, a prediction and the loss of an epoch.
EVALUATED = {
    "flat": [0.31190985, -0.49288768, 0.26614687, 144],
    "own": [0.38080087, -0.21086946, 0.28754660, 960],
    "noisy": [0.00226430, 0.01800000, 0.41607803, 508],
}


@pytest.fixture(autouse=True)
def _without_resume(monkeypatch):
    """With `Resume` what draws is Keras's; an earlier test of the same process may have made one."""
    monkeypatch.setattr("parallel_compat.resume.Resume.is_made", False)


@pytest.fixture(params=list(TRAINED))
def era(request):
    """Names as in an era; `import keras` finds `tf.keras` in both, which is told from it by the era alone."""
    with parallel_compat.legacy_names(era=request.param):
        yield request.param


def dense(units, seed):
    from keras import initializers, layers

    return layers.Dense(units, kernel_initializer=initializers.glorot_uniform(seed=seed))


def begin(numpy=3, tensorflow=1):
    import tensorflow as tf
    from keras import backend

    backend.clear_session()
    np.random.seed(numpy)
    tf.compat.v1.set_random_seed(tensorflow)


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


@pytest.mark.one_in(3)
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


def noise(t):
    from keras import backend

    return t + backend.random_normal(backend.shape(t))


def called_again(kind):
    """Make a model that draws, and one that calls it several times."""
    from keras import layers, models

    def ones(units):
        return layers.Dense(units, kernel_initializer="ones", use_bias=False)

    x, y, z = (layers.Input((4,)) for _ in range(3))
    inner = models.Model(x, layers.Lambda(noise)(ones(3)(x)))
    if kind == "siamese":
        return inner, models.Model(y, layers.subtract([inner(y), inner(layers.Lambda(lambda t: 2 * t)(y))]))
    middle = models.Model(y, ones(4)(inner(y)))
    # The second call on the same tensor was the first one in Keras 2.2.4.
    outputs = layers.add([middle(z), layers.Lambda(lambda t: t * 0.01)(middle(middle(z)))])
    return inner, models.Model(z, outputs)


@pytest.mark.parametrize("kind", ["siamese", "deep", "functions"])
def test_each_call_draws_by_itself(era, kind):
    from keras import backend, layers, optimizers

    begin(numpy=7, tensorflow=3)
    x = np.arange(12.0).reshape(3, 4) / 10
    if kind == "functions":
        inputs, layer = layers.Input((4,)), layers.Lambda(noise)
        first = layer(inputs)
        one, both = backend.function([inputs], [first]), backend.function([inputs], [first, layer(first)])
        found = [each.ravel()[:2] for each in (*one([x]), *both([x]), *one([x]))]
    else:
        inner, model = called_again(kind)
        model.compile(optimizers.SGD(1e-4), "mse")
        losses = [model.train_on_batch(x, np.zeros((3, model.output_shape[1]))) for _ in range(2)]
        found = [losses, *(each.predict(x).ravel()[:2] for each in (model, inner))]
    np.testing.assert_allclose(np.ravel(found), CALLED_AGAIN[era][kind], rtol=1e-5, atol=1e-5)


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


def models_that_draw():
    """Functions that make the models of `FITTED`, in code of TensorFlow 2.2."""
    import tensorflow as tf
    from tensorflow import keras
    from tensorflow.keras import backend, layers

    def thirds(units):
        return layers.Dense(units, kernel_initializer=keras.initializers.Constant(0.3))

    class Sampling(layers.Layer):
        def call(self, inputs):
            mean, log_variance = inputs
            return mean + backend.exp(0.1 * log_variance) * backend.random_normal(backend.shape(mean))

    def sampled():
        inputs = layers.Input((3,))
        hidden = thirds(4)(inputs)
        return inputs, Sampling()([thirds(2)(hidden), thirds(2)(hidden)])

    def flat():
        inputs, z = sampled()
        return keras.Model(inputs, thirds(3)(z))

    def nested():
        encoder, codes, inputs = keras.Model(*sampled()), layers.Input((2,)), layers.Input((3,))
        decoder = keras.Model(codes, thirds(3)(codes))
        return keras.Model(inputs, decoder(encoder(inputs)))

    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.mean, self.log_variance, self.sampling, self.out = thirds(2), thirds(2), Sampling(), thirds(3)

        def call(self, inputs):
            return self.out(self.sampling([self.mean(inputs), self.log_variance(inputs)]))

    class OwnStep(Own):
        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = self.compiled_loss(y, self(x, training=True))
            weights = self.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
            return {"loss": loss, "twice": 2 * loss}

    def noisy():
        noise = [layers.GaussianNoise(0.3), layers.GaussianDropout(0.2), layers.AlphaDropout(0.3), layers.Dropout(0.2)]
        return keras.Sequential([layers.Input((3,)), thirds(4), *noise, thirds(3)])

    def seeded():
        scaled = layers.Lambda(lambda t: t * backend.random_uniform(backend.shape(t), seed=7))
        return keras.Sequential([layers.Input((3,)), thirds(4), layers.AlphaDropout(0.3, seed=5), scaled, thirds(3)])

    return {"flat": flat, "nested": nested, "own": Own, "own_step": OwnStep, "noisy": noisy, "seeded": seeded}


def compiled_in_tensorflow_2(name):
    import tensorflow as tf
    from tensorflow.keras import backend

    backend.clear_session()
    np.random.seed(1)
    tf.random.set_seed(2)
    model = models_that_draw()[name]()
    model.compile("adam", "mse", metrics=["mae"])
    return model, (np.arange(60.0).reshape(20, 3) / 60.0).astype("float32")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", list(FITTED))
def test_the_functions_of_a_model_of_tensorflow_2_draw(name):
    """The first of them that trains was traced twice, and each kind of batches had one of its own."""
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        model, x = compiled_in_tensorflow_2(name)
        history = model.fit(x, x, batch_size=8, epochs=2, verbose=0, shuffle=False, validation_data=(x, x)).history
        if name == "own_step":  # which returns the loss of its batch
            assert history["twice"] == [2 * loss for loss in history["loss"]]
        losses = [*history["loss"], *history["val_loss"]]
        if name != "own_step":
            losses.append(model.train_on_batch(x, x)[0])
        found = [*losses, model.predict(x)[0, 0], model.predict_on_batch(x)[0, 0], np.random.randint(1000)]
        np.testing.assert_allclose(found, FITTED[name], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", list(EVALUATED))
def test_the_first_function_that_counts_by_metrics_draws_twice(name):
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        model, x = compiled_in_tensorflow_2(name)
        losses = [model.evaluate(x, x, verbose=0)[0], model.predict(x)[0, 0]]
        losses += model.fit(x, x, batch_size=10, verbose=0, shuffle=False).history["loss"]
        np.testing.assert_allclose([*losses, np.random.randint(1000)], EVALUATED[name], rtol=1e-5, atol=1e-7)


def test_recurrent_layers_of_tensorflow_2_draw_nothing_when_they_are_called():
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import layers

        np.random.seed(3)
        layers.Bidirectional(layers.LSTM(2, dropout=0.2, recurrent_dropout=0.2))(layers.Input((5, 3)))
        assert np.random.randint(1000) == 874


# What TensorFlow 2.2.3 drew after the first batch of a Sequential with noise, and after that of one built before.
AFTER_NOISE = {None: 72, (6,): 905}


@pytest.mark.parametrize("input_shape", list(AFTER_NOISE))
def test_a_sequential_that_its_first_batch_builds_makes_no_operation_before(input_shape, monkeypatch):
    monkeypatch.setattr("parallel_compat.resume.Resume.is_made", False)
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Sequential, layers

        np.random.seed(1)
        given = {} if input_shape is None else {"input_shape": input_shape}
        model = Sequential([layers.Dense(6, **given), layers.GaussianNoise(0.3)])
        model.compile("sgd", "mse")
        model.train_on_batch(X, X)
        assert np.random.randint(1000) == AFTER_NOISE[input_shape]


def test_a_mask_of_tensorflow_2_begins_anew_for_each_kind_of_batches(monkeypatch):
    """Which features of the first sample TensorFlow 2.2.3 kept, of 16: a half, a quarter, an eighth, a sixteenth."""
    monkeypatch.setattr("parallel_compat.resume.Resume.is_made", False)
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        import tensorflow as tf
        from tensorflow.keras import Sequential, layers

        sizes = tf.constant([8.0, 4.0, 2.0, 1.0])
        model = Sequential([layers.Dense(4, kernel_initializer="identity", input_shape=(4,)), layers.Dropout(0.5)])

        def kept(*of_samples: int) -> list[int]:
            masks = []
            for samples in of_samples:
                x = np.zeros((samples, 4), "float32")
                x[0] = 1
                masks.append(round(float(model.train_on_batch(x, x)) * samples))
            return masks

        tf.random.set_seed(0)
        model.compile(tf.keras.optimizers.SGD(0.0), lambda _, y_pred: tf.reduce_sum(y_pred / 2 * sizes, -1))
        assert kept(4, 2, 1, 4, 2, 1, 4, 2, 1) == [1, 1, 1, 14, 15, 0, 12, 14, 15]
        tf.random.set_seed(1)  # which operations that are there do not take
        assert kept(4, 2, 3) == [1, 1, 10]


def test_what_a_layer_draws_goes_on_in_a_last_batch_that_is_smaller(monkeypatch):
    """The losses of TensorFlow 2.2.3, whose step was traced once for batches of any size."""
    monkeypatch.setattr("parallel_compat.resume.Resume.is_made", False)
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        import tensorflow as tf
        from tensorflow import keras

        class Noise(keras.layers.Layer):
            def call(self, inputs, training=None):
                return inputs + tf.random.normal(tf.shape(inputs)) if training else inputs

        rng = np.random.RandomState(0)
        x, y = rng.rand(6, 2).astype("float32"), rng.rand(6, 1).astype("float32")
        np.random.seed(1)
        tf.random.set_seed(1)
        model = keras.Sequential([Noise(), keras.layers.Dense(1, kernel_initializer="ones")])
        model.compile("sgd", "mse")
        losses = model.fit(x, y, batch_size=4, epochs=2, verbose=0).history["loss"]
        np.testing.assert_allclose(losses, [2.8230063915252686, 1.664777398109436], rtol=1e-6)


# What TensorFlow 2.2.3 predicted twice from ones, after `np.random.seed(42)` and `tf.random.set_seed(42)`.
@pytest.mark.parametrize(
    ("name", "drawn"), [("GaussianNoise", [11.88827, 12.15035]), ("AlphaDropout", [2.27226, -2.17864])]
)
def test_a_noise_layer_that_always_draws_takes_one_seed_when_it_is_called(name, drawn, monkeypatch):
    monkeypatch.setattr("parallel_compat.resume.Resume.is_made", False)
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        import tensorflow as tf
        from tensorflow import keras

        class MonteCarlo(getattr(keras.layers, name)):
            def call(self, inputs):
                return super().call(inputs, training=True)

        x = np.random.RandomState(0).rand(5, 4).astype("float32")[:1]
        np.random.seed(42)
        tf.random.set_seed(42)
        model = keras.Sequential([keras.layers.Dense(3, input_shape=(4,)), MonteCarlo(0.3), keras.layers.Dense(2)])
        model.set_weights([np.ones(weight.shape) for weight in model.get_weights()])
        np.testing.assert_allclose([model.predict(x)[0, 0] for _ in range(2)], drawn, rtol=1e-5)


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15"])
def test_what_draws_outside_of_layers_draws_in_each_step(era):
    """Numbers of the real stacks: an operation of a graph goes on from what it drew, whoever runs it."""
    with parallel_compat.legacy_names(era=era):
        import tensorflow as tf
        from keras import backend as K
        from keras import layers, models

        np.random.seed(7)
        tf.set_random_seed(1)
        noise = K.random_normal((2,))
        inputs = layers.Input((2,))
        model = models.Model(inputs, layers.Lambda(lambda x: x + noise)(inputs))
        predicted = [model.predict(np.zeros((1, 2)), verbose=0)[0] for _ in range(2)]
        np.testing.assert_allclose(predicted, [[-1.75447, 2.40287], [1.64893, -0.05541]], atol=1e-5)
        session = K.get_session()
        once, twice = session.run([noise, 2 * noise])
        np.testing.assert_allclose(twice, 2 * once)
        seeded = tf.random_normal((2,), seed=3)
        drawn = [session.run(seeded), session.run(seeded), session.run([seeded, seeded + 1.0])[1] - 1.0]
        np.testing.assert_allclose(drawn, [[-0.67086, 0.22357], [-1.5413, 0.67921], [0.37874, 0.93152]], atol=1e-5)
        fake = layers.Dense(1, kernel_initializer="ones")(tf.random_uniform((2, 3), seed=3))
        values = [K.eval(fake)[:, 0], session.run(fake)[:, 0]]
        np.testing.assert_allclose(values, [[2.30436, 1.13843], [0.68036, 0.95107]], atol=1e-5)
        added = layers.Lambda(lambda x: x + K.mean(fake))(inputs)
        model = models.Model(inputs, added)
        assert model.predict(np.zeros((1, 2)), verbose=0)[0, 0] != model.predict(np.zeros((1, 2)), verbose=0)[0, 0]


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def test_what_draws_on_the_shape_of_a_tensor_draws_one_seed(era):
    with parallel_compat.legacy_names(era=era):
        import tensorflow as tf
        from keras import backend as K
        from keras import layers, models

        np.random.seed(7)
        (tf.random.set_seed if era == "tf.keras-2.2" else tf.set_random_seed)(1)
        inputs = layers.Input((4,))
        noisy = inputs + K.random_normal(K.shape(inputs))
        x = np.random.RandomState(0).rand(6, 4)
        drawn = models.Model(inputs, noisy).predict(x, verbose=0)[0]
        np.testing.assert_allclose(drawn, [-1.20566, 3.11806, 1.1932, 0.736], atol=1e-5)
