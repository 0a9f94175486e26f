"""`model.total_loss`, `.targets`, `.sample_weights`: numbers of Keras 2.2.4 and tf.keras 1.15, recorded from both."""

from __future__ import annotations

import numpy as np
import pytest

import parallel_compat

X = np.sin(np.arange(24).reshape(8, 3)).astype("float32")
Y = np.cos(np.arange(16).reshape(8, 2)).astype("float32")
CLASSES = np.eye(2)[np.arange(8) % 2].astype("float32")
WEIGHTS = np.array([1, 2, 0, 1, 0.5, 3, 0, 1], "float32")

# By era, model and learning phase: the loss, and for each weight the sum of its gradient times sin(1), sin(2), ...
WANTED = {
    ("keras-2.2.4", "one", 0): [0.9897934, 0.4804418, 0.0039572, -0.1951921, -0.1198774, -0.2403278, -0.0226892],
    ("keras-2.2.4", "one", 1): [0.8993119, 0.1935458, -0.0008575, -0.2342045, -0.0991194, -0.1294661, -0.0187603],
    ("keras-2.2.4", "two", 0): [
        1.2554276, 0.0157607, 0.0199741, -0.0532157, -0.1702125, -0.2073524, -0.0270551, -0.0800106, 0.0631103,
    ],
    ("keras-2.2.4", "two", 1): [
        1.2911667, -0.1100327, 0.0152781, -0.1302753, -0.1749006, -0.2500536, -0.0279424, -0.0830662, 0.0631103,
    ],
    ("keras-2.2.4", "added", 0): [
        2.0325136, 0.0460108, 0.0134027, -0.1165627, -0.3212844, -0.2073524, -0.0270551, -0.5213404, 0.4127591,
    ],
    ("keras-2.2.4", "ids", 0): [1.7437143, 0.1322512, 0.1245812],
    ("tf.keras-1.15", "one", 0): [0.8538963, 0.4866442, 0.0092927, -0.0789513, 0.0307835, -0.003089, 0.0058264],
    ("tf.keras-1.15", "one", 1): [0.7931688, 0.2937625, -0.0007877, -0.194585, 0.0366079, -0.0060549, 0.0069288],
    ("tf.keras-1.15", "two", 0): [
        0.9292872, -0.0111168, 0.0131076, -0.0212642, -0.0115456, 0.0293124, 0.0029758, -0.079178, 0.0631103,
    ],
    ("tf.keras-1.15", "two", 1): [
        0.9881228, -0.1500521, 0.0364256, -0.1065597, -0.0070221, -0.0137198, 0.0038319, -0.0856449, 0.0631103,
    ],
}  # fmt: skip
CLOSURE = (1.4719144, 0.3369923)  # Keras 2.2.4


def fill(model):
    for k, layer in enumerate(model.layers):
        made = []
        for i, w in enumerate(layer.get_weights()):
            more = 1 if "batch" in layer.name and i == 3 else 0
            made.append((np.cos(np.arange(w.size) + i + k) * 0.5 + more).reshape(w.shape))
        layer.set_weights(made)
    return model


def one(loss="categorical_crossentropy", **of_compile):
    from keras import regularizers
    from keras.layers import BatchNormalization, Dense, Dropout
    from keras.models import Sequential

    first = Dense(4, activation="tanh", input_shape=(3,), kernel_regularizer=regularizers.l2(0.1))
    model = Sequential([first, BatchNormalization(), Dropout(0.0), Dense(2, activation="softmax")])
    model.compile("adam", loss, **of_compile)
    return fill(model)


def two(added=False, **of_compile):
    from keras import backend as K
    from keras import regularizers
    from keras.layers import BatchNormalization, Dense, Input
    from keras.models import Model

    x = Input((3,))
    h = BatchNormalization()(Dense(4, activation="relu", activity_regularizer=regularizers.l1(0.01))(x))
    model = Model(x, [Dense(2, activation="softmax", name="a")(h), Dense(1, name="b")(h)])
    if added:
        model.add_loss(K.mean(K.square(model.outputs[1])) * 0.2)
    model.compile("sgd", ["categorical_crossentropy", "mae"], **of_compile)
    return fill(model)


def ids():
    from keras.layers import Dense
    from keras.models import Sequential

    model = Sequential([Dense(3, input_shape=(3,), activation="softmax")])
    model.compile("sgd", "sparse_categorical_crossentropy")
    return fill(model)


def steps():
    from keras.layers import LSTM, Dense, Embedding, TimeDistributed
    from keras.models import Sequential

    rows = Embedding(5, 3, mask_zero=True, input_length=4)
    model = Sequential([rows, LSTM(2, return_sequences=True), TimeDistributed(Dense(2, activation="softmax"))])
    model.compile("sgd", "categorical_crossentropy", sample_weight_mode="temporal")
    return fill(model)


def made(kind):
    if kind == "one":
        return one(), [CLASSES]
    if kind == "ids":
        return ids(), [np.arange(8)[:, None] % 3]
    model = two(added=True) if kind == "added" else two(loss_weights=[1.0, 0.3])
    return model, [CLASSES, Y[:, :1]]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("era", "kind", "phase"), WANTED)
def test_loss_and_gradients(era, kind, phase):
    with parallel_compat.legacy_names(era=era):
        from keras import backend as K

        model, targets = made(kind)
        fed = [X, *targets, *[WEIGHTS, WEIGHTS[::-1]][: len(targets)]]
        inputs = model._feed_inputs + model._feed_targets + model._feed_sample_weights
        if era == "keras-2.2.4":
            assert inputs == model.inputs + model.targets + model.sample_weights
        else:
            assert model.sample_weights == [None] * len(targets)
            fed = fed[: 1 + len(targets)]
        for gradients in (K.gradients, model.optimizer.get_gradients):
            found = gradients(model.total_loss, model.trainable_weights)
            f = K.function([*inputs, K.learning_phase()], [model.total_loss, *found])
            loss, *values = f([*fed, phase])
            told = [float((g * np.sin(np.arange(g.size).reshape(g.shape) + 1)).sum()) for g in values]
            np.testing.assert_allclose([loss, *told], WANTED[era, kind, phase], rtol=1e-5, atol=1e-6)


def test_the_step_that_trains_goes_along_these_gradients():
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        from keras import backend as K
        from keras.optimizers import SGD

        model = one("mse")
        model.compile(SGD(1.0), "mse")
        f = K.function(
            model.inputs + model.targets + model.sample_weights + [K.learning_phase()],
            [model.total_loss, *K.gradients(model.total_loss, model.trainable_weights)],
        )
        loss, *gradients = f([X, Y, WEIGHTS, 1])
        before = [K.get_value(w) for w in model.trainable_weights]
        assert model.train_on_batch(X, Y, sample_weight=WEIGHTS) == pytest.approx(loss, rel=1e-5)
        for weight, was, gradient in zip(model.trainable_weights, before, gradients, strict=True):
            np.testing.assert_allclose(K.get_value(weight), was - gradient, rtol=1e-5, atol=1e-6)
        targets = model.targets
        model.compile("sgd", "mae")
        assert model.targets[0] is not targets[0]


def test_a_function_leaves_nothing_on_the_layers():
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        from keras import backend as K

        model, fed = two(), [X, CLASSES, Y[:, :1], WEIGHTS, WEIGHTS]
        f = K.function(model.inputs + model.targets + model.sample_weights + [K.learning_phase()], [model.total_loss])
        before = model.get_weights()
        wanted = [f([*fed, 1])[0], f([*fed, 1])[0]]
        for was, weight in zip(before, model.get_weights(), strict=True):
            np.testing.assert_array_equal(was, weight)
        found = model.train_on_batch(X, fed[1:3], sample_weight=fed[3:])[0]
        assert [found, found] == pytest.approx(wanted, rel=1e-5)


def test_a_loss_that_uses_tensors_of_the_model():
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        from keras import backend as K
        from keras.layers import Dense
        from keras.models import Sequential

        model = Sequential([Dense(4, activation="tanh", input_shape=(3,)), Dense(2)])
        hidden = model.layers[0].output
        model.compile("sgd", lambda y, p: K.mean(K.square(y - p), axis=-1) + K.mean(K.abs(hidden), axis=-1))
        fill(model)
        inputs = model.inputs + model.targets + model.sample_weights
        loss, gradient = K.function(inputs, [model.total_loss, *K.gradients(model.total_loss, model.weights[:1])])(
            [X, Y, WEIGHTS]
        )
        assert loss == pytest.approx(CLOSURE[0], rel=1e-5)
        told = float((gradient * np.sin(np.arange(12).reshape(3, 4) + 1)).sum())
        assert told == pytest.approx(CLOSURE[1], rel=1e-4)


def test_masks_and_weights_of_steps():
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        from keras import backend as K

        model, x = steps(), np.array([[1, 2, 0, 3], [4, 0, 0, 1], [2, 2, 3, 0]])
        f = K.function(
            model.inputs + model.targets + model.sample_weights,
            [model.total_loss, *K.gradients(model.total_loss, model.trainable_weights)],
        )
        loss, *values = f([x, np.eye(2)[x % 2], np.abs(np.cos(np.arange(12).reshape(3, 4)))])
        told = [float((g * np.sin(np.arange(g.size).reshape(g.shape) + 1)).sum()) for g in values]
        wanted = [0.5009961, 0.0026326, 0.0042957, 0.0001843, 0.0046119, -0.0147789, -0.0040267]
        np.testing.assert_allclose([loss, *told], wanted, rtol=1e-5, atol=1e-6)


def sine_of(arrays):
    return [float((g * np.sin(np.arange(g.size).reshape(g.shape) + 1)).sum()) for g in arrays]


def test_weights_that_came_and_went():
    """TensorFlow 1.15.5: a loss has places for weights while what was trained or evaluated on last had some."""
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        import tensorflow as tf
        from tensorflow.keras import backend as K
        from tensorflow.keras.layers import Dense
        from tensorflow.keras.models import Sequential

        model = Sequential([Dense(2, activation="softmax", input_shape=(3,))])
        model.compile("sgd", "mse")

        def batches(*batch):
            while True:
                yield batch

        def dataset(*data):
            return tf.data.Dataset.from_tensor_slices(data).batch(4).repeat()

        one, weighted = {"epochs": 1, "verbose": 0}, (X, CLASSES, WEIGHTS)
        plain, classes = weighted[:2], {0: 1.0, 1: 2.0}
        first = model.total_loss
        for call, has_places in (
            (lambda: None, False),
            (lambda: model.train_on_batch(*weighted), True),
            (lambda: model.predict(X), True),
            (lambda: model.test_on_batch(*plain), False),
            (lambda: model.fit(*plain, class_weight=classes, **one), True),
            (lambda: model.evaluate(*plain, verbose=0), False),
            (lambda: model.fit(*plain, sample_weight=WEIGHTS, validation_split=0.5, **one), True),
            (lambda: model.fit(*plain, sample_weight=WEIGHTS, validation_data=plain, **one), False),
            (lambda: model.fit(*plain, validation_data=weighted, **one), True),
            (lambda: model.fit_generator(batches(*plain), 2, **one), False),
            (lambda: model.fit_generator(batches(*plain), 2, class_weight=classes, **one), True),
            (lambda: model.evaluate_generator(batches(*plain), 2), False),
            (lambda: model.fit_generator(batches(*weighted), 2, **one), True),
            (lambda: model.fit(dataset(*plain), steps_per_epoch=2, **one), False),
            (lambda: model.fit(dataset(*weighted), steps_per_epoch=2, **one), True),
            (lambda: model.compile("sgd", "mse"), False),
        ):
            call()
            model.set_weights([np.cos(np.arange(w.size)).reshape(w.shape) for w in model.get_weights()])
            assert [each is not None for each in model.sample_weights] == [has_places]
            f = K.function(
                model._feed_inputs + model._feed_targets + model._feed_sample_weights,
                [model.total_loss, *K.gradients(model.total_loss, model.weights[:1])],
            )
            loss, gradient = f([X, CLASSES, *[WEIGHTS] * has_places])
            told = float((gradient * np.sin(np.arange(6).reshape(3, 2))).sum())
            wanted = (0.599033, -0.252591) if has_places else (0.482186, -0.245989)
            np.testing.assert_allclose((loss, told), wanted, rtol=1e-5)
        assert first is not model.total_loss


@pytest.mark.parametrize("replicas", [1, 2])
def test_the_recipe_of_2018(replicas):
    """Keras 2.2.4's numbers."""
    from parallel_compat import multi_gpu_model

    with parallel_compat.legacy_names(era="keras-2.2.4"):
        from keras import backend as K
        from keras.layers import Dense, Dropout
        from keras.models import Sequential

        model = Sequential([Dense(4, activation="tanh", input_shape=(3,)), Dropout(0.0), Dense(2)])
        if replicas == 2:
            parallel = multi_gpu_model(model, 2)
            parallel.compile("adam", "mse")
            parallel.train_on_batch(X, Y)
        model.compile("adam", "mse")
        model.set_weights([np.cos(np.arange(w.size)).reshape(w.shape) * 0.5 for w in model.get_weights()])
        gradients = model.optimizer.get_gradients(model.total_loss, model.trainable_weights)
        f = K.function(model._feed_inputs + model._feed_targets + model._feed_sample_weights, gradients)
        x, y, sample_weight = model._standardize_user_data(X, Y)
        np.testing.assert_allclose(
            sine_of(f(x + y + sample_weight)), [-0.000129, -0.10259, 0.111401, 0.439616], rtol=1e-5, atol=1e-6
        )
        with pytest.raises(TypeError, match=r"needs \['dense_2_sample_weights', 'dense_2_target'\]"):
            model.metrics_tensors.append(K.sum(K.square(gradients[0])))


def test_lists_of_user_data():
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        model = two(loss_weights=[1.0, 0.3])
        x, y, weights = model._standardize_user_data({"input_1": X}, [CLASSES, Y[:, 0]], sample_weight={"b": WEIGHTS})
        assert [each.shape for each in (*x, *y, *weights)] == [(8, 3), (8, 2), (8, 1), (8,), (8,)]
        np.testing.assert_array_equal(weights, [np.ones(8), WEIGHTS])
        _, _, (weights,) = one()._standardize_user_data(X, CLASSES, class_weight={0: 1.0, 1: 3.0})
        np.testing.assert_array_equal(weights, [1, 3] * 4)
        assert steps()._standardize_user_data(np.ones((2, 4)), np.ones((2, 4, 2)))[2][0].shape == (2, 4)
        assert model._standardize_user_data([X])[1:] == ([], [])
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        assert one()._standardize_user_data(X, CLASSES)[2] is None
        assert one()._standardize_user_data(X, CLASSES, WEIGHTS)[2][0] is WEIGHTS


@pytest.mark.parametrize(
    ("era", "wanted"),
    [
        ("keras-2.2.4", [-2.2e-05, -0.017357, 0.018847, 0.074376]),
        ("tf.keras-1.15", [-0.000129, -0.036529, 0.038376, 0.104228]),
    ],
)
def test_gradients_are_clipped_as_the_optimizer_does(era, wanted):
    """The real stacks' numbers: Keras 2.2.4 clipped all together, TensorFlow 1.15 each."""
    with parallel_compat.legacy_names(era=era):
        from keras import backend as K
        from keras.layers import Dense
        from keras.models import Sequential
        from keras.optimizers import SGD

        model = Sequential([Dense(4, activation="tanh", input_shape=(3,)), Dense(2)])
        model.compile(SGD(0.1, clipnorm=0.1), "mse")
        model.set_weights([np.cos(np.arange(w.size)).reshape(w.shape) * 0.5 for w in model.get_weights()])
        gradients = model.optimizer.get_gradients(model.total_loss, model.trainable_weights)
        f = K.function(model._feed_inputs + model._feed_targets + model._feed_sample_weights, gradients)
        ones = [np.ones(8)] * len(model._feed_sample_weights)
        np.testing.assert_allclose(sine_of(f([X, Y, *ones])), wanted, rtol=1e-4, atol=1e-6)


def test_where_there_is_no_such_loss():
    from parallel_compat import multi_gpu_model

    with parallel_compat.legacy_names(era="keras-2.2.4"):
        from keras.layers import BatchNormalization, Dense
        from keras.models import Sequential

        model = Sequential([Dense(2, input_shape=(3,)), BatchNormalization(name="normal")])
        with pytest.raises(AttributeError, match="Expected a model that has been compiled"):
            _ = model.total_loss
        parallel = multi_gpu_model(model, 2)
        parallel.compile("sgd", "mse")
        with pytest.raises(AttributeError, match=r"Received: a parallel model with normal, .*Compile the model that"):
            _ = parallel.total_loss
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        model = one()
        with pytest.raises(AttributeError, match="use `_feed_targets`"):
            _ = model.targets
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        model = one()
        with pytest.raises(AttributeError, match=r"compiled in code of tf\.keras-2\.2, which had none"):
            _ = model.total_loss


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def test_values_beyond_the_inputs_and_inputs_without_one(era):
    """The same on Keras 2.2.4, TensorFlow 1.15.5 and 2.2.3, but for lists of arrays."""
    with parallel_compat.legacy_names(era=era):
        from tensorflow.keras import Input
        from tensorflow.keras import backend as K

        a, b = Input((3,)), Input((3,))
        f = K.function([a, b], [a + 1])
        for given in ([X], [X, X, X], [X, None], *([[[X], [X]], ([X], [], None)] if era != "keras-2.2.4" else [])):
            np.testing.assert_array_equal(f(given)[0], X + 1)
        with pytest.raises(ValueError, match="Expected each output to be computed from `inputs`"):
            f([None, X])


def test_the_loss_of_tensorflow_2_2_without_eager_execution():
    """The numbers are those of TensorFlow 2.2.3 and 1.15.5."""
    from parallel_compat.run import object_eras

    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow import keras
        from tensorflow.keras import backend as K

        object_eras.train_in_graphs(True)
        try:
            x = keras.Input((3,))
            layer = keras.layers.Dense(2, kernel_initializer="ones", kernel_regularizer=keras.regularizers.l2(0.1))
            model = keras.Model(x, layer(x))
            model.compile("sgd", "mse")
            found = K.gradients(model.total_loss, model.trainable_weights)
            f = K.function(
                model._feed_inputs + model._feed_targets + model._feed_sample_weights, [model.total_loss, *found]
            )
            inputs = np.arange(6, dtype="float32").reshape(2, 3) / 5
            loss, kernel, bias = f(model._standardize_user_data(inputs, np.ones((2, 2), "float32")))
            np.testing.assert_allclose(loss, 1.6600002, rtol=1e-6)
            np.testing.assert_allclose(kernel, [[0.6200001] * 2, [0.72] * 2, [0.8200001] * 2], rtol=1e-6)
            np.testing.assert_allclose(bias, [0.5, 0.5], rtol=1e-6)
            assert [w.op.type for w in model.trainable_weights] == ["VarHandleOp"] * 2
            assert (model.input.op.type, layer.kernel.op.name) == ("Placeholder", f"{layer.name}/kernel")
        finally:
            object_eras.train_in_graphs(False)
