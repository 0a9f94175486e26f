"""`model.add_loss(tensor)`: how the variational autoencoders of 2018 were trained."""

from __future__ import annotations

import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

import parallel_compat
from parallel_compat.backend.keras3 import symbolic_losses

pytestmark = pytest.mark.usefixtures("legacy_names")
X = np.random.default_rng(0).random((16, 6)).astype("float32")


class AddsItself(keras.layers.Layer):
    def call(self, tensors):
        x, mean, log_var, decoded = tensors
        for loss in losses_of(x, mean, log_var, decoded):
            self.add_loss(loss)
        return decoded


def losses_of(x, mean, log_var, decoded):
    from keras import backend as K
    from keras.losses import binary_crossentropy

    divergence = -0.5 * K.sum(1 + log_var - K.square(mean) - K.exp(log_var), axis=-1)
    return [K.mean(6 * binary_crossentropy(x, decoded)), K.mean(divergence)]


def autoencoder(symbolic, normal=True):
    from keras.layers import Add, BatchNormalization, Dense, Input
    from keras.models import Model

    keras.utils.set_random_seed(1)
    x = Input(shape=(6,), name="x")
    # Without a bias in front of the normalisation: its gradient is 0, of which RMSprop steps along the rounding error.
    hidden = Dense(5, activation="relu", use_bias=not normal)(x)
    hidden = BatchNormalization()(hidden) if normal else hidden
    mean, log_var = Dense(2)(hidden), Dense(2)(hidden)
    code = Input(shape=(2,))
    decoder = Model(code, Dense(6, activation="sigmoid")(code))
    decoded = decoder(Add()([mean, log_var]))
    if not symbolic:
        return Model(x, AddsItself()([x, mean, log_var, decoded]))
    model = Model(x, decoded)
    first, second = losses_of(x, mean, log_var, decoded)
    model.add_loss(first)
    model.add_loss([second])
    return model


def train(model):
    model.compile(optimizer="rmsprop")
    return model.fit(X, epochs=2, batch_size=8, shuffle=False, verbose=0, validation_data=(X, None)).history


def test_trains_as_a_layer_that_adds_the_losses():
    expected, model = autoencoder(symbolic=False), autoencoder(symbolic=True)
    wanted, got = train(expected), train(model)
    np.testing.assert_allclose(got["loss"], wanted["loss"], rtol=1e-6)
    np.testing.assert_allclose(got["val_loss"], wanted["val_loss"], rtol=1e-6)
    for one, other in zip(model.get_weights(), expected.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(model.predict(X), expected.predict(X), rtol=1e-5)


@pytest.mark.parametrize("eagerly", [False, True])
def test_validation_split_without_targets(eagerly, capsys):
    """As Keras 2.2.4: the last samples are validated on, not trained on, and callbacks learn of both."""
    params, held = [], []

    class Looks(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            params.append(dict(self.params))
            held.append(self.validation_data)

    model = autoencoder(symbolic=True, normal=False)
    model.compile(optimizer="sgd", run_eagerly=eagerly)
    history = model.fit(X, validation_split=0.25, batch_size=5, verbose=2, callbacks=[Looks()])
    assert set(history.history) == {"loss", "val_loss"}
    expected = {"batch_size": 5, "samples": 12, "steps": None, "do_validation": True, "metrics": ["loss", "val_loss"]}
    assert {name: params[0][name] for name in expected} == expected
    assert {name: history.params[name] for name in expected} == expected
    (inputs,) = held[0]
    np.testing.assert_array_equal(inputs, X[12:])
    assert "Train on 12 samples, validate on 4 samples" in capsys.readouterr().out
    np.testing.assert_allclose(model.evaluate(X[12:], verbose=0), history.history["val_loss"][-1], rtol=1e-5)


def test_trains_on_replicas():
    from keras.utils import multi_gpu_model

    model, template = autoencoder(symbolic=True, normal=False), autoencoder(symbolic=True, normal=False)
    wanted, got = train(model), train(multi_gpu_model(template, gpus=2))
    np.testing.assert_allclose(got["loss"], wanted["loss"], rtol=1e-5)
    for one, other in zip(template.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["model.h5", "model.keras"])
def test_a_file_holds_the_model_without_them(tmp_path, name):
    model = autoencoder(symbolic=True)
    train(model)
    path = str(tmp_path / name)
    model.save(path)
    again = keras.saving.load_model(path, compile=False)
    assert [layer.name for layer in again.layers] == [layer.name for layer in model.layers]
    np.testing.assert_allclose(again.predict(X, verbose=0), model.predict(X), rtol=1e-6)


def test_a_sequential_model_takes_them():
    from keras import backend as K
    from keras.layers import Dense
    from keras.models import Sequential

    model = Sequential([Dense(1, input_shape=(6,), use_bias=False)])
    model.add_loss(K.sum(model.output))
    model.compile("sgd", "mse")
    outputs = model.predict(X)
    np.testing.assert_allclose(
        model.train_on_batch(X, np.zeros((16, 1))), (outputs**2).mean() + outputs.sum(), rtol=1e-5
    )


def test_a_loss_of_something_else_is_refused():
    from keras.layers import Dense, Input, Layer
    from keras.models import Model

    x, other = Input((2,)), Input((2,))
    model = Model(x, Dense(1)(x))
    with pytest.raises(TypeError, match=r"test_symbolic_losses\.py:\d+: .* Make what it needs an input of the model"):
        model.add_loss(keras.ops.sum(other))
    with pytest.raises(TypeError, match=r"needs a functional model.* Write a layer"):
        Layer().add_loss(keras.ops.sum(x))


def test_symbolic_tensors_that_are_appended_to_the_metrics_are_logged():
    """Mask R-CNN and others log parts of their loss so; `compile` forgets them."""
    inputs = keras.Input((1,))
    outputs = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")(inputs)
    model = keras.Model(inputs, outputs)
    for lr in (0.0, 0.0):
        model.compile(keras.optimizers.SGD(lr), "mse")
        for name, factor in ("doubled", 2.0), ("tripled", 3.0):
            assert name not in model.metrics_names
            if name == "tripled":  # the one or the other first
                model.metrics_tensors.append(keras.ops.mean(outputs * factor))
            model.metrics_names.append(name)
            if name == "doubled":
                model.metrics_tensors.append(keras.ops.mean(outputs * factor))
    assert model.metrics_names == ["loss", "doubled", "tripled"]
    x = np.array([[1.0], [2.0], [6.0]])
    history = model.fit(x, x, batch_size=2, epochs=2, shuffle=False, validation_data=(x[:1], x[:1]), verbose=0).history
    np.testing.assert_allclose(history["doubled"], [6.0, 6.0])
    np.testing.assert_allclose(history["val_tripled"], [3.0, 3.0])
    assert model.metrics_names == ["loss", "doubled", "tripled"]
    np.testing.assert_allclose(model.train_on_batch(x[:1], x[:1]), [0.0, 2.0, 3.0])


def test_symbolic_tensors_are_added_to_the_metrics_by_plus_too(tmp_path):
    """The numbers are those of Keras 2.2.4, which gave callbacks an array of a tensor with more numbers."""
    inputs = keras.Input((3,))
    outputs = keras.layers.Dense(2, kernel_initializer="ones")(inputs)
    model = keras.Model(inputs, outputs)
    model.compile(keras.optimizers.SGD(0.01), "mse")
    model.metrics_names += ["mean", "sum"]
    model.metrics_tensors += [keras.ops.mean(outputs), keras.ops.sum(outputs, axis=-1)]
    x = np.random.RandomState(0).normal(size=(6, 3))
    history = model.fit(x, x[:, :2], batch_size=3, shuffle=False, verbose=0).history
    np.testing.assert_allclose([history[name] for name in ("mean", "sum")], [[1.9733291], [3.946658]], rtol=1e-5)
    with pytest.raises(TypeError, match=r"one number for each sample.*Received: one of shape \(None, 2\)"):
        model.metrics_tensors.extend([outputs])
    with pytest.raises(ValueError, match=r"begin with \['loss', 'mean', 'sum'\]\. Received: \['own'\]"):
        model.metrics_names = ["own"]
    model.metrics = model.metrics_names = model.metrics_tensors = None  # so that the file needs none of them
    model.save(tmp_path / "model.h5")
    model.compile("sgd", "mse")
    assert (model.metrics_names, model.metrics_tensors) == (["loss"], [])


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
@pytest.mark.parametrize("replicas", [1, 2])
def test_losses_that_a_layer_adds_in_its_call_are_listed_before_anything_is_computed(era, replicas):
    """The lengths are those of Keras 2.2.4 and of tf.keras in TensorFlow 1.15.5 and 2.2.3."""
    with parallel_compat.legacy_names(era=era):
        from keras import backend as K
        from keras import layers, models

        class Own(layers.Layer):
            def call(self, x):
                self.add_loss(0.01 * K.sum(K.square(x)), inputs=x)
                return x * 2.0

            def compute_output_shape(self, shape):
                return shape

        inputs = layers.Input((5,))
        model = models.Model(inputs, layers.Dense(3, kernel_regularizer="l2")(Own()(inputs)))
        x, y = np.ones((6, 5), "float32"), np.ones((6, 3))
        seen = [[len(model.losses)] + [len(layer.losses) for layer in model.layers]]
        added = model.layers[1].losses
        np.testing.assert_allclose(K.function([inputs], added)([x]), [0.3], rtol=1e-6)
        trained = parallel_compat.parallelize(model, gpus=2) if replicas == 2 else model
        trained.compile("sgd", "mse")
        trained.train_on_batch(x, y)
        seen.append([len(model.losses)])
        around = layers.Input((5,))
        seen.append([len(models.Model(around, model(around)).get_losses_for(around))])
    assert seen == [[2, 0, 1, 1], [2], [0 if era == "keras-2.2.4" else 1]]


def with_added(K, layers, models, metric):
    constant = keras.initializers.Constant
    x = layers.Input((4,), name="x")
    hidden = layers.Dense(3, activation="tanh", kernel_initializer=constant(0.3), name="h")(x)
    model = models.Model(x, layers.Dense(2, kernel_initializer=constant(0.2), name="o")(hidden))
    model.add_loss(K.mean(K.square(hidden)))
    if metric:
        model.add_metric(K.mean(hidden), name="mean_h", aggregation="mean")
    return model


def evaluated(model):
    x = (np.arange(24).reshape(6, 4) / 10 - 1).astype("float32")
    return np.ravel(model.evaluate(x, np.arange(12).reshape(6, 2) / 5, batch_size=2, verbose=0))[-2:]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])
@pytest.mark.parametrize("way", ["m.h5", "m.keras", "folder", "clone", "config", "json"])
def test_models_of_files_configs_and_clones_have_them(tmp_path, era, way):
    """The numbers are those of TensorFlow 1.15.5 and 2.2.3, before and after, also after another `compile`."""
    with parallel_compat.legacy_names(era=era), warnings.catch_warnings():
        warnings.simplefilter("error", parallel_compat.ParallelCompatWarning)
        from keras import backend as K
        from keras import layers, models

        model = with_added(K, layers, models, metric=True)
        model.compile("sgd", "mse")
        np.testing.assert_allclose(evaluated(model), [1.5635751, 0.1118995], rtol=1e-6)
        if way == "clone":
            again = models.clone_model(model)
        elif way == "config":
            again = models.Model.from_config(model.get_config())
        elif way == "json":
            again = models.model_from_json(model.to_json())
        else:
            model.save(str(tmp_path / way))
            again = models.load_model(str(tmp_path / way))
            np.testing.assert_allclose(evaluated(again), [1.5635751, 0.1118995], rtol=1e-6)
        assert [layer.name for layer in again.layers] == [layer.name for layer in model.layers]
        again.set_weights(model.get_weights())
        again.compile("sgd", "mse")
        np.testing.assert_allclose(evaluated(again), [1.5635751, 0.1118995], rtol=1e-6)


def test_keras_2_2_4_did_not_write_them(tmp_path):
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        from keras import backend as K
        from keras import layers, models

        model = with_added(K, layers, models, metric=False)
        model.compile("sgd", "mse")
        model.save(str(tmp_path / "m.h5"))
        for again in (models.load_model(str(tmp_path / "m.h5")), models.clone_model(model)):
            again.set_weights(model.get_weights())
            again.compile("sgd", "mse")
            np.testing.assert_allclose(evaluated(again), [1.1825692], rtol=1e-6)


@pytest.mark.parametrize("name", ["m.h5", "m.keras"])
def test_plain_keras_reads_the_model_without_them(tmp_path, name):
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from keras import backend as K
        from keras import layers, models

        model = with_added(K, layers, models, metric=True)
        model.save(str(tmp_path / name))
        expected = model.predict(np.ones((2, 4)), verbose=0)
    again = keras.saving.load_model(str(tmp_path / name))
    np.testing.assert_allclose(again.predict(np.ones((2, 4)), verbose=0), expected, rtol=1e-6)


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def test_saving_says_what_is_not_in_the_file(tmp_path, era):
    """A loss of a layer that does not say how it is made again. Keras 2.2.4 wrote no loss."""
    with parallel_compat.legacy_names(era=era):
        from keras import backend as K
        from keras import layers, models

        class WithoutConfig(layers.Layer):
            def __init__(self, function):
                super().__init__()
                self.function = function

            def call(self, x):
                return self.function(x)

        x = layers.Input((2,))
        model = models.Model(x, layers.Dense(1)(x))
        other = WithoutConfig(lambda x: 2 * x)(x)
        model.add_loss(K.mean(other))
        if era != "keras-2.2.4":
            model.add_metric(K.mean(other), name="mean_h", aggregation="mean")
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            model.save(str(tmp_path / "m.h5"))
    said = [str(each.message) for each in seen if each.category is parallel_compat.ParallelCompatWarning]
    assert len(said) == (era != "keras-2.2.4")
    assert all("`add_loss` and `add_metric(name='mean_h')`" in each for each in said)


def aside(K, layers, models, normal=True):
    """A model whose loss calls layers that are not between its inputs and its outputs."""
    x = layers.Input((4,))
    y = layers.Dense(2, name="b")(layers.Dense(3, name="a")(x))
    z = layers.Input((2,))
    judged = layers.Dense(3, name="c")(z)
    critic = models.Model(z, layers.BatchNormalization(name="n")(judged) if normal else judged, name="critic")
    model = models.Model(x, y)
    for number, weight in enumerate(w for each in (model, critic) for w in each.weights):
        shape = [int(size) for size in weight.shape]
        numbers = np.sin(np.arange(np.prod(shape)) + number).reshape(shape)
        K.set_value(weight, numbers if "variance" not in weight.name else np.abs(numbers))
    model.add_loss(K.mean(K.square(critic(y) - 0.3)))
    return model, critic


WAVES = np.sin(np.arange(40)).reshape(10, 4), np.cos(np.arange(20)).reshape(10, 2)
# What each era's own stack gives (Keras 2.2.4 with `tf.enable_resource_variables()`): losses of two epochs in batches
# of 4, the sums of the critic's weights after them, what `evaluate` returns, and how many weights `get_weights` gives.
OF_TF_KERAS = (
    [1.6989186, 0.8314147],
    [0.1094528, -0.5813532, 0.9154243, 1.6657782, 0.6710695, 1.8759634],
    0.7926828,
    10,
)
ASIDE = {
    "keras-2.2.4": (
        [2.3747482, 1.4573631],  # its batch normalization predicts: no output of the model uses the learning phase
        [0.063321, -0.5813532, 1.3669293, 2.0584633, 0.8574556, 1.9561297],
        1.3858232,
        4,
    ),
    "tf.keras-1.15": OF_TF_KERAS,
    "tf.keras-2.2": OF_TF_KERAS,
}


@pytest.mark.parametrize("era", ASIDE)
def test_layers_that_a_loss_calls_are_the_models_in_tf_keras(tmp_path, era):
    losses, sums, evaluated_then, count = ASIDE[era]
    with parallel_compat.legacy_names(era=era):
        from keras import backend as K
        from keras import layers, models, optimizers

        model, critic = aside(K, layers, models)
        model.compile(optimizers.SGD(0.1), "mse")
        history = model.fit(*WAVES, epochs=2, batch_size=4, shuffle=False, verbose=0).history
        np.testing.assert_allclose(history["loss"], losses, rtol=1e-6)
        np.testing.assert_allclose([K.get_value(w).sum() for w in critic.weights], sums, rtol=5e-6)
        np.testing.assert_allclose(model.evaluate(*WAVES, verbose=0), evaluated_then, rtol=1e-6)
        assert len(model.get_weights()) == count
        if era != "keras-2.2.4":
            model.save(str(tmp_path / "m.h5"))
            loaded = models.load_model(str(tmp_path / "m.h5"))
            np.testing.assert_allclose(loaded.evaluate(*WAVES, verbose=0), evaluated_then, rtol=1e-6)
            for again in (loaded, models.clone_model(model), models.model_from_json(model.to_json())):
                assert again.get_layer("critic").count_params() == critic.count_params()
                assert len(again.get_weights()) == count


@pytest.mark.parametrize("era", ASIDE)
def test_layers_that_a_loss_calls_train_on_replicas(era):
    with parallel_compat.legacy_names(era=era):
        from keras import backend as K
        from keras import layers, models, optimizers
        from keras.utils import multi_gpu_model

        seen = []
        for replicas in (1, 2):
            model, critic = aside(K, layers, models, normal=False)
            trained = model if replicas == 1 else multi_gpu_model(model, replicas)
            trained.compile(optimizers.SGD(0.1), "mse")
            loss = trained.fit(*WAVES, epochs=2, batch_size=4, shuffle=False, verbose=0).history["loss"]
            seen.append([*loss, *(K.get_value(w).sum() for w in (*model.weights, *critic.weights))])
    np.testing.assert_allclose(seen[1], seen[0], rtol=1e-5)


def test_a_sequential_model_does_not_take_layers_of_a_loss():
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from keras import backend as K
        from keras import layers, models

        model = models.Sequential([layers.Dense(2, input_shape=(4,))])
        with pytest.raises(TypeError, match=r"Make one of this: `Model\(model.inputs, model.outputs\)`"):
            model.add_loss(K.mean(layers.Dense(1)(model.output)))


@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])
def test_what_a_cross_entropy_gets_its_logits_by_is_none_of_the_models(era):
    with parallel_compat.legacy_names(era=era):
        from keras import backend as K
        from keras import layers, losses, models

        x, code = layers.Input((6,)), layers.Input((2,))
        decoder = models.Model(code, layers.Dense(6, activation="sigmoid")(code))
        decoded = decoder(layers.Dense(2)(x))
        model = models.Model(x, decoded)
        model.add_loss(K.mean(losses.binary_crossentropy(x, decoded)))
        assert len(model.get_weights()) == 4
        assert [type(layer).__name__ for layer in model.layers] == ["InputLayer", "Dense", "Functional"]
        model.add_loss(K.mean(K.binary_crossentropy(x, decoded)))  # whose logits are computed by a copy of their own
        model.compile("sgd")
        data = np.random.RandomState(0).rand(4, 6).astype("float32")
        predicted = model.predict(data)
        once = -np.mean(data * np.log(predicted) + (1 - data) * np.log(1 - predicted))
        np.testing.assert_allclose(model.evaluate(data, None, verbose=0), 2 * once, rtol=1e-5)


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-2.2"])
def test_a_loss_may_call_the_model_itself(era):
    """`tf.keras` ended in a RecursionError, as it made the model a layer of its own."""
    with parallel_compat.legacy_names(era=era):
        from keras import backend as K
        from keras import layers, models

        x = layers.Input((4,))
        model = models.Model(x, layers.Dense(2, kernel_initializer="ones")(x))
        model.add_loss(K.mean(K.square(model(x * 2.0))))
        model.compile("sgd", "mse")
        same = np.tile(WAVES[0].sum(axis=1, keepdims=True), 2)
        np.testing.assert_allclose(model.evaluate(WAVES[0], same, verbose=0), np.mean((2 * same) ** 2), rtol=1e-5)
        assert len(model.get_weights()) == 2


# What a batch and an evaluation give before and after another `compile`.
LATE = {
    "keras-2.2.4": [1.5407511, 1.3088053, 2.9225845, 2.1379101],
    "tf.keras-1.15": [1.5407511, 1.3088053, 2.9225845, 2.1379101],
    "tf.keras-2.2": [3.3865898, 2.446528, 2.446528, 1.8097012],
}


@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("era", LATE)
def test_a_loss_that_is_added_after_compile_waits_for_the_next_in_graphs(era, replicas):
    """The numbers are those of the era's own stack on one device."""
    with parallel_compat.legacy_names(era=era):
        from keras import backend as K
        from keras import layers, models, optimizers
        from keras.utils import multi_gpu_model

        x = layers.Input((4,))
        y = layers.Dense(2, kernel_initializer="ones")(x)
        model = models.Model(x, y)
        trained = model if replicas == 1 else multi_gpu_model(model, replicas)
        trained.compile(optimizers.SGD(0.1), "mse")
        model.add_loss(K.mean(K.square(y)))
        seen = [trained.train_on_batch(*WAVES), trained.evaluate(*WAVES, verbose=0)]
        trained.compile(optimizers.SGD(0.1), "mse")
        seen += [trained.train_on_batch(*WAVES), trained.evaluate(*WAVES, verbose=0)]
    np.testing.assert_allclose(seen, LATE[era], rtol=1e-6)


# TensorFlow 2.2.3 on two GPUs, on one, and of a model within a model on two: `evaluate` in batches of 4 of 11 samples,
# an epoch, its validation, `test_on_batch`, `train_on_batch`.
ADDED_METRICS = {
    ("one", 2): [0.3764195, 0.3754683, 0.3300004, 0.3479889, 0.383966],
    ("values", 2): [0.391627, 0.3908207, 0.3576584, 0.3768019, 0.3889841],
    ("nested", 2): [0.3764195, 0.3754678, 0.3283159, 0.3464355, 0.382675],
    ("nested", 1): [0.3896973, 0.3887774, 0.3526031, 0.3643527, 0.387852],
    ("with a loss", 1): [0.3896973, 0.3883457, 0.3528301, 0.364356, 0.3874078],
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("kind", "replicas"), [*ADDED_METRICS, ("with a loss", 2)])
def test_metrics_that_were_added_to_a_model_inside(kind, replicas):
    """The metrics of a template, and of a model within a model; each replica's batch counts once, as each tower's."""
    x = np.sin(np.arange(33).reshape(11, 3)).astype("float32")
    y = np.cos(np.arange(22).reshape(11, 2)).astype("float32")
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from keras import backend as K
        from keras import layers, models

        inputs = layers.Input((3,))
        hidden = layers.Dense(4, activation="tanh")(inputs)
        model = models.Model(inputs, layers.Dense(2)(hidden))
        squares = K.square(hidden)
        model.add_metric(squares if kind == "values" else K.mean(squares), name="mean_h", aggregation="mean")
        if kind == "with a loss":
            model.add_loss(K.mean(squares))
        if kind == "nested":
            outer = layers.Input((3,))
            model = models.Model(outer, layers.Dense(2)(model(outer)))
        model.set_weights([np.cos(np.arange(w.size)).reshape(w.shape) for w in model.get_weights()])
        model = parallel_compat.multi_gpu_model(model, 2) if replicas == 2 else model
        model.compile("sgd", "mse", metrics=["mae"])
        found = [model.evaluate(x, y, batch_size=4, verbose=0)[-1]]
        logs = model.fit(x, y, batch_size=4, shuffle=False, validation_data=(x[:7], y[:7]), verbose=0).history
        found += [logs["mean_h"][0], logs["val_mean_h"][0]]
        found += [model.test_on_batch(x, y)[-1], model.train_on_batch(x, y)[-1]]
        assert model.metrics_names == ["loss", "mae", "mean_h"]
    if (kind, replicas) == ("with a loss", 2):  # there each tower added its loss, so that the weights are others
        np.testing.assert_allclose(found[0], ADDED_METRICS["one", 2][0], rtol=1e-6)
    else:
        np.testing.assert_allclose(found, ADDED_METRICS[kind, replicas], rtol=1e-5)


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15"])
@pytest.mark.parametrize("has_shape", [False, True])
def test_a_loss_that_calls_kept_on_their_layer_is_that_of_the_last_call(era, has_shape):
    """As adaptive computation time is written. Recorded from Keras 2.2.4 and TensorFlow 1.15, which agree."""
    with parallel_compat.legacy_names(era=era):
        from keras import backend as K

        class Pondering(keras.layers.Layer):
            def __init__(self):
                super().__init__()
                self.total = None

            def call(self, x):
                if self.total is None:
                    self.total = K.zeros_like(x)
                self.total = self.total + x
                self.cost = 0.1 * K.mean(self.total)
                return self.total * 2.0

            def finalize(self):
                self.add_loss(self.cost)

        class Shaped(Pondering):
            def compute_output_shape(self, shape):
                return shape

        hidden = x = keras.layers.Input((3,))
        pondering = (Shaped if has_shape else Pondering)()
        dense = keras.layers.Dense(3, kernel_initializer="ones")
        for _ in range(2):
            hidden = pondering(dense(hidden))
        pondering.finalize()
        model = keras.models.Model(x, hidden)
        model.compile(keras.optimizers.SGD(1e-4), "mse")
        x, y = np.arange(12.0).reshape(4, 3) / 12, np.ones((4, 3))
        assert model.train_on_batch(x, y) == pytest.approx(471.8375, rel=1e-6)
        history = model.fit(x, y, batch_size=3, shuffle=False, epochs=2, verbose=0).history["loss"]
        assert history == pytest.approx([412.25626, 311.79413], rel=1e-6)
        assert model.evaluate(x, y, verbose=0) == pytest.approx(249.26471, rel=1e-6)
        with pytest.raises(TypeError, match="which is computed anew in each step"):
            keras.layers.Dense(1).add_loss(pondering.cost)


class Two(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.dense = [keras.layers.Dense(2, activity_regularizer="l2") for _ in range(2)]

    def call(self, x):
        return sum(dense(x) for dense in self.dense)


def test_the_losses_of_a_call_are_all_there_each_time_it_is_computed():
    # Keras knows losses by the `id` of tensors: of those of earlier passes, which are free to be used again.
    two, x = Two(), tf.ones((2, 3))
    two(x)
    computed = symbolic_losses.LossesOfCall(two)
    assert {len(computed.call(x)) for _ in range(300)} == {2}


LISTED = {  # Of TensorFlow 1.15.5 and 2.2.3; the values differ, for the LSTM's recurrent activation does.
    "tf.keras-1.15": {"bi": [0.016047, 0.000669], "bi of all": [0.016716], "folded bi": [0.012971, 0.000503]},
    "tf.keras-2.2": {"bi": [0.018423, 0.000672], "bi of all": [0.019095], "folded bi": [0.015046, 0.000533]},
    "keras-2.2.4": {"in time": [0.627937], "bi": [0.033431], "folded bi": [0.053895]},
}
for _era in ("tf.keras-1.15", "tf.keras-2.2"):
    LISTED[_era] |= {"in time": [0.078492], "in time of all": [0.313968]}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("era", "kind"), [(era, kind) for era, of_era in LISTED.items() for kind in of_era])
def test_activity_regularizers_in_wrappers_are_listed_before_the_first_batch(era, kind):
    with parallel_compat.legacy_names(era=era):
        from keras import backend as K
        from keras import layers, models, regularizers

        regularized = {"activity_regularizer": regularizers.l2(0.1)}
        x = layers.Input((4, 3))
        if kind == "in time":
            y = layers.TimeDistributed(layers.Dense(2, **regularized))(x)
        elif kind == "in time of all":
            y = layers.TimeDistributed(layers.Dense(2), **regularized)(x)
        elif kind == "bi of all":
            y = layers.Bidirectional(layers.LSTM(2), **regularized)(x)
        elif kind == "bi":
            y = layers.Bidirectional(layers.LSTM(2, **regularized))(x)
        else:
            y = layers.TimeDistributed(layers.Bidirectional(layers.LSTM(2, **regularized)))(
                layers.Reshape((2, 2, 3))(x)
            )
        model = models.Model(x, y)
        model.set_weights([np.cos(np.arange(w.size)).reshape(w.shape) * 0.5 for w in model.get_weights()])
        data = np.sin(np.arange(24).reshape(2, 4, 3)).astype("float32")
        assert [len(model.losses), len(model.layers[-1].losses)] == [len(LISTED[era][kind])] * 2
        np.testing.assert_allclose(
            K.function(model.inputs, model.losses)([data]), LISTED[era][kind], rtol=1e-5, atol=1e-6
        )
        if era == "tf.keras-1.15":
            model.compile("sgd", "mse")
            target = np.zeros((2, *(int(n) for n in model.output_shape[1:])), "float32")
            loss = K.function(model._feed_inputs + model._feed_targets, [model.total_loss])([data, target])[0]
            assert loss == pytest.approx(model.test_on_batch(data, target), rel=1e-5)


@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])
def test_losses_of_models_in_models_are_listed_wherever_they_were_called(era):
    """TensorFlow 1.15.5's and 2.2.3's counts: of a nested model also those of its calls elsewhere."""
    with parallel_compat.legacy_names(era=era):
        from keras import backend as K
        from keras import layers, models, regularizers

        regularized = {"activity_regularizer": regularizers.l2(0.1)}
        i = layers.Input((3,))
        h = layers.Dense(3, **regularized)(i)
        inner = models.Model(i, layers.Dense(2, kernel_regularizer=regularizers.l2(0.1), **regularized)(h))
        x = layers.Input((3,))
        counts = [len(inner.losses)]
        outer = models.Model(x, layers.Dense(1)(inner(x)))
        counts += [len(outer.losses), len(inner.losses)]
        twice = models.Model(x, [inner(x), inner(layers.Lambda(lambda t: t * 2)(x))])
        counts += [len(twice.losses), len(inner.losses)]
        last = models.Sequential([layers.Dense(3, input_shape=(3,), **regularized), inner])
        counts += [len(last.losses)]
        assert counts == [3, 5, 5, 9, 9, 12]
        i = layers.Input((3,))
        h = layers.Dense(2)(i)
        added = models.Model(i, layers.Dense(1)(h))
        added.add_loss(K.mean(K.square(h)))
        outer = models.Model(x, added(x))
        assert [len(outer.losses), len(added.losses)] == [2, 2]
        if era == "tf.keras-1.15":  # what is minimised has those of the model's own inputs alone
            outer.compile("sgd", "mse")
            f = K.function(outer._feed_inputs + outer._feed_targets, [outer.total_loss])
            data, target = np.ones((4, 3), "float32"), np.zeros((4, 1), "float32")
            assert f([data, target])[0] == pytest.approx(outer.test_on_batch(data, target), rel=1e-5)


@pytest.mark.parametrize("replicas", [1, 2])
def test_activity_regularizers_of_a_model_in_time_distributed_are_left_out_as_in_keras_2_2_4(replicas):
    """Keras 2.2.4's numbers: before and after a step, and of the model inside alone, which has its own."""
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        from keras import layers, models, regularizers

        regularized = {name: regularizers.l2(0.1) for name in ("kernel_regularizer", "activity_regularizer")}
        i, x = layers.Input((3,)), layers.Input((4, 3))
        inner = models.Model(i, layers.Dense(2, **regularized)(i))
        model = models.Model(x, layers.TimeDistributed(inner)(x))
        model.set_weights([np.cos(np.arange(w.size)).reshape(w.shape) * 0.5 for w in model.get_weights()])
        trained = parallel_compat.multi_gpu_model(model, 2) if replicas == 2 else model
        trained.compile("sgd", "mse")
        batch = np.sin(np.arange(24).reshape(2, 4, 3)).astype("float32"), np.zeros((2, 4, 2))
        found = [trained.train_on_batch(*batch) for _ in range(2)]
        inner.compile("sgd", "mse")
        found.append(inner.test_on_batch(batch[0][0], batch[1][0]))
        np.testing.assert_allclose(found, [0.4662829, 0.4550856, 0.7049098], rtol=1e-5)


# What TensorFlow 2.2.3 answers: two batches, two epochs of batches of 3, 3 and 1, an evaluation, and the kernel's sum.
OF_SEVERAL_NUMBERS = {
    "of each sample": (
        lambda K, a, b: K.sum(K.square(a - b), axis=-1),
        [1.5114763975143433, 1.4154239892959595, 1.326909, 1.25006, 1.1799174547195435, 4.351304531097412],
    ),
    "of each number": (
        lambda K, a, b: K.square(a - b),
        [0.3778691291809082, 0.35385599732398987, 0.331727, 0.312515, 0.29497936367988586, 4.351304531097412],
    ),
}


@pytest.mark.parametrize(("loss", "then"), OF_SEVERAL_NUMBERS.values(), ids=OF_SEVERAL_NUMBERS)
def test_an_added_loss_of_several_numbers_is_shown_as_their_mean(loss, then):
    numbers = np.arange(28.0).reshape(7, 4)
    x = [np.abs(np.sin(numbers)), np.abs(np.cos(numbers))]
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        inputs = [keras.Input((4,)), keras.Input((4,))]
        outputs = keras.layers.Dense(4, kernel_initializer="identity")(inputs[0])
        model = keras.Model(inputs, outputs)
        model.add_loss(loss(keras.backend, inputs[1], outputs))
        model.compile("sgd", None)
        found = [model.train_on_batch(x) for _ in range(2)]
        found += model.fit(x, batch_size=3, epochs=2, shuffle=False, verbose=0).history["loss"]
        found += [model.evaluate(x, batch_size=3, verbose=0), np.abs(model.get_weights()[0]).sum()]
    np.testing.assert_allclose(found, then, rtol=1e-5)


def test_losses_and_metrics_of_weights_alone():
    """Numbers are TensorFlow 1.15's, which trained without the losses; 2.2 refuses both."""
    x, y = np.ones((2, 2), "float32"), np.zeros((2, 2), "float32")

    def model_of(added):
        inputs = keras.Input((2,))
        dense = keras.layers.Dense(2, kernel_initializer="ones")
        model = keras.models.Model(inputs, dense(inputs))
        added(model, dense)
        model.compile(keras.optimizers.SGD(0.1), "mse")
        return model.fit(x, y, epochs=2, verbose=0).history

    def losses(model, dense):
        model.add_loss(3.0)
        model.add_loss([K.mean(model.output), keras.regularizers.l1(0.1)(dense.kernel)])
        model.add_loss(K.sum(dense.kernel))

    def metric(model, dense):
        model.add_metric(K.sum(dense.kernel), name="k", aggregation="mean")

    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        from keras import backend as K

        with pytest.warns(UserWarning, match="`add_loss` of a tensor .* is left out, as TensorFlow 1.15 did"):
            np.testing.assert_allclose(model_of(losses)["loss"], [6.0, 2.8125], rtol=1e-6)
        np.testing.assert_allclose(model_of(metric)["k"], [4.0, 3.2], rtol=1e-6)
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from keras import backend as K

        with pytest.raises(ValueError, match=r"expected a symbolic tensor for the value of `add_metric\(name='k'\)`"):
            model_of(metric)
        with pytest.raises(TypeError, match="expected `add_loss` of a symbolic tensor"):
            model_of(lambda _, dense: dense.add_loss(K.sum(dense.kernel)))
