"""Standalone Keras 2.3, where it was not Keras 2.2.4: numbers and names of the real Keras 2.3.1 on TensorFlow 1.15.5.

What both compute is asked in `tests/eras`.
"""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

import parallel_compat

X = np.random.RandomState(0).normal(size=(10, 3)).astype("float32")
Y = X[:, :1] - X[:, 1:2]


@pytest.fixture(autouse=True)
def of_2_3(monkeypatch):
    monkeypatch.setattr("parallel_compat.resume.Resume.is_made", False)
    with parallel_compat.legacy_names(era="keras-2.3"):
        from keras import backend

        backend.clear_session()
        yield


def dense(**compiled):
    import keras

    model = keras.models.Sequential([keras.layers.Dense(1, input_shape=(3,))])
    model.set_weights([np.array([[0.5], [-0.5], [0.25]]), np.zeros(1)])
    model.compile("sgd", "mse", **compiled)
    return model


def rows():
    import keras

    class Rows(keras.utils.Sequence):
        def __len__(self):
            return 3

        def __getitem__(self, index):
            return X[4 * index : 4 * index + 4], Y[4 * index : 4 * index + 4]

    return Rows()


def test_metrics_are_named_as_they_were_given_and_classes_are_counted_from_1():
    import keras

    model = dense(metrics=["mae", "accuracy", keras.metrics.AUC(), keras.metrics.RootMeanSquaredError()])
    names = ["loss", "mae", "accuracy", "auc_1", "root_mean_squared_error"]
    assert model.metrics_names == names
    assert [metric.name for metric in model.metrics] == names[1:]
    labels = (Y > 0).astype("float32")
    logs = model.fit(X, labels, validation_data=(X, labels), verbose=0).history
    assert sorted(logs) == sorted([*names, *(f"val_{name}" for name in names)])


def test_the_loss_of_a_generator_that_is_evaluated_is_that_of_its_last_batch():
    model = dense(metrics=["mae"])
    error = model.predict(X) - Y
    expected = [np.mean(error[8:] ** 2), np.mean(np.abs(error))]
    np.testing.assert_allclose(model.evaluate_generator(rows()), expected, rtol=1e-5)
    np.testing.assert_allclose(
        model.evaluate(X, Y, batch_size=4, verbose=0), [np.mean(error**2), expected[1]], rtol=1e-5
    )


def test_what_was_validated_stands_in_the_logs_of_the_next_epochs_of_a_generator():
    import keras

    seen = []
    told = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append("val_loss" in logs))
    model = dense()
    logs = model.fit_generator(
        rows(), epochs=3, validation_data=(X, Y), validation_freq=2, verbose=0, shuffle=False, callbacks=[told]
    ).history
    assert seen == [False, True, True]
    assert len(logs["val_loss"]) == 2
    assert logs["val_loss"][0] == logs["val_loss"][1]
    logs = dense().fit(X, Y, epochs=3, validation_data=(X, Y), validation_freq=2, verbose=0).history
    assert len(logs["val_loss"]) == 1


def test_methods_of_generators_take_one_argument_more_by_position():
    """`validation_freq` is the eighth, in front of `class_weight`, and `callbacks` the third."""
    import keras

    model, ends = dense(), []
    told = keras.callbacks.LambdaCallback(on_test_end=lambda logs=None: ends.append("test"))
    logs = model.fit_generator(rows(), 3, 4, 0, None, (X, Y), None, 2, None, 10, 1, False).history
    assert [len(logs["loss"]), len(logs["val_loss"])] == [4, 3]  # the third has the second's
    model.evaluate_generator(rows(), 3, [told])
    assert ends == ["test"]


# Keras 2.3.1, after `random.seed(3)`.
@pytest.mark.parametrize(
    ("grows", "given", "expected"),
    [
        (1, {"epochs": 3}, {"loss": [9.23878, 4.02395, 0.50776]}),
        (0, {"epochs": 3}, {"loss": [9.23878, 2.10743, 0.68512]}),
        (1, {"epochs": 3, "workers": 0}, {"loss": [8.9803, 2.93851, 0.35305]}),
        (0, {"shuffle": False, "validation_data": ()}, {"loss": [8.9803], "val_loss": [70.51416]}),
    ],
    ids=["grows", "has one length", "is read without a worker", "is validated in batches as large as its last one"],
)
def test_each_epoch_takes_a_sequence_as_it_is_and_shuffles_its_own_order(grows, given, expected):
    import keras

    class Rows(keras.utils.Sequence):
        length = 3

        def __len__(self):
            return self.length

        def __getitem__(self, index):
            return np.full((2 + index % 2, 2), index + 1.0), np.ones((2 + index % 2, 1))

        def on_epoch_end(self):
            self.length += grows

    layer = keras.layers.Dense(1, input_shape=(2,), kernel_initializer="ones", activity_regularizer="l2")
    model = keras.models.Sequential([layer])
    model.compile(keras.optimizers.SGD(0.01), "mse")
    if "validation_data" in given:
        given = {**given, "validation_data": (np.arange(14.0).reshape(7, 2), np.ones((7, 1)))}
    random.seed(3)
    logs = model.fit(Rows(), verbose=0, **given).history
    assert {name: pytest.approx(values, abs=1e-5) for name, values in logs.items()} == expected


def test_hooks_of_batches_that_are_trained_evaluated_and_predicted():
    import keras

    class Told(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            told.append(("train", batch, dict(logs)))

        def on_test_batch_begin(self, batch, logs=None):
            told.append(("test", batch, dict(logs)))

        def on_predict_batch_end(self, batch, logs=None):
            told.append(("predict", logs["size"], [each.shape for each in logs["outputs"]]))

    told = []
    model = dense()
    model.fit(X, Y, batch_size=8, verbose=0, callbacks=[Told()])
    model.evaluate(X, Y, batch_size=8, verbose=0, callbacks=[Told()])
    model.predict(X, batch_size=8, callbacks=[Told()])
    sizes = [(0, {"batch": 0, "size": 8}), (1, {"batch": 1, "size": 2})]
    assert told == [
        *(("train", *each) for each in sizes),
        *(("test", *each) for each in sizes),
        ("predict", 8, [(8, 1)]),
        ("predict", 2, [(2, 1)]),
    ]


def test_the_loss_of_a_batch_is_its_own_and_metrics_go_on():
    import keras

    seen = []
    told = keras.callbacks.LambdaCallback(on_batch_end=lambda batch, logs: seen.append((logs["loss"], logs["mse"])))
    model = dense(metrics=["mse"])
    model.optimizer.lr = 0.0
    errors = (model.predict(X) - Y) ** 2
    model.fit(X, Y, batch_size=5, verbose=0, shuffle=False, callbacks=[told])
    np.testing.assert_allclose(seen, [[errors[:5].mean()] * 2, [errors[5:].mean(), errors.mean()]], rtol=1e-5)


def test_flatten_draws_the_name_of_an_operation_from_np_random():
    import keras

    def nested():
        inputs = keras.layers.Input((3, 2))
        inner = keras.models.Model(inputs, keras.layers.Dense(2)(keras.layers.Flatten()(inputs)))
        inner(keras.layers.Input((3, 2)))
        inner(keras.layers.Input((3, 2)))

    class Own(keras.models.Model):
        def __init__(self):
            super().__init__()
            self.flat, self.last = keras.layers.Flatten(), keras.layers.Dense(2)

        def call(self, x):
            return self.last(self.flat(x))

    def own():
        model = Own()
        model.compile("sgd", "mse")
        model.train_on_batch(np.ones((2, 3, 2)), np.ones((2, 2)))
        model.predict(np.ones((2, 3, 2)))

    flat = keras.layers.Flatten(input_shape=(3, 2))
    drawn = {}
    for name, build in {
        "nothing": lambda: None,
        "flat": lambda: keras.models.Sequential([flat]),
        "each step": lambda: keras.models.Sequential(
            [keras.layers.TimeDistributed(keras.layers.Flatten(), input_shape=(3, 4, 2))]
        ),
        "nested": nested,
        "own": own,
    }.items():
        np.random.seed(7)
        build()
        drawn[name] = int(np.random.randint(1000))
    assert drawn == {"nothing": 175, "flat": 537, "each step": 537, "nested": 615, "own": 211}


def test_masked_steps_at_the_beginning_are_zeros_also_after_a_state_that_is_given():
    import keras

    inputs, state = keras.layers.Input((3, 1)), keras.layers.Input((2,))
    masked = keras.layers.Masking()(inputs)
    outputs = keras.layers.SimpleRNN(2, return_sequences=True)(masked, initial_state=state)
    model = keras.models.Model([inputs, state], outputs)
    x = np.array([[0, 0, 1], [0, 1, 0]], "float32")[..., None]
    predicted = model.predict([x, np.ones((2, 2))])
    assert np.all(predicted[0, :2] == 0)
    assert np.all(predicted[1, 0] == 0)
    np.testing.assert_array_equal(predicted[1, 1], predicted[1, 2])
    assert np.all(predicted[:, 2] != 0)


def test_weights_of_samples_and_of_classes_of_several_outputs_are_multiplied():
    import keras

    inputs = keras.layers.Input((3,))
    names = ("a", "b")
    model = keras.models.Model(inputs, [keras.layers.Dense(1, name=name)(inputs) for name in names])
    model.compile("sgd", "mse")
    labels, weights = (X[:, :1] > 0) * 1.0, [np.linspace(0, 2, 10), np.linspace(1, 3, 10)]
    errors = [((predicted - labels) ** 2)[:, 0] for predicted in model.predict(X)]
    of_classes = {"a": {0: 1.0, 1: 2.0}, "b": {0: 0.3, 1: 3.0}}
    expected = [
        np.mean(error * weight * np.where(labels[:, 0], of_classes[name][1], of_classes[name][0]))
        for name, error, weight in zip(names, errors, weights, strict=True)
    ]
    loss = model.train_on_batch(X, [labels, labels], sample_weight=weights, class_weight=of_classes)
    np.testing.assert_allclose(loss, [sum(expected), *expected], rtol=1e-5)


def test_a_loss_that_is_not_reduced_is_trained_on_as_its_mean():
    import keras

    trained = []
    for reduction in ("none", "sum_over_batch_size"):
        model = dense()
        model.compile("sgd", keras.losses.MeanSquaredError(reduction=reduction))
        model.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0)
        trained.append(model.get_weights()[0])
    np.testing.assert_allclose(*trained, rtol=1e-6)


def test_positions_of_optimizers_and_of_an_added_metric():
    import keras
    from keras import backend as K

    inputs = keras.layers.Input((3,))
    model = keras.models.Model(inputs, keras.layers.Dense(1)(inputs))
    model.add_metric(K.sum(inputs), "sums")
    model.compile("sgd", "mse")
    assert model.fit(X, Y, batch_size=10, verbose=0).history["sums"] == [pytest.approx(X.sum(), rel=1e-5)]

    assert keras.optimizers.Adam(0.001, 0.9, 0.999, True).amsgrad is True
    assert keras.optimizers.SGD(0.1, 0.9, True).nesterov is True
    assert keras.losses.BinaryCrossentropy(False, 0.1, "sum", "own").reduction == "sum"


def test_one_number_for_a_batch_is_weighed_by_all_samples():
    from keras import backend as K

    weights = np.arange(10.0)
    model = dense()
    model.compile("sgd", lambda y_true, y_pred: K.mean(K.square(y_true - y_pred)))
    error = np.mean((model.predict(X) - Y) ** 2)
    loss = model.evaluate(X, Y, batch_size=10, sample_weight=weights, verbose=0)
    np.testing.assert_allclose(loss, error * weights.mean(), rtol=1e-5)


def test_moving_statistics_are_moved_plainly_by_the_counted_variance():
    import keras

    model = keras.models.Sequential([keras.layers.BatchNormalization(input_shape=(3,), momentum=0.9)])
    model.compile("sgd", "mse")
    model.train_on_batch(X, X)
    mean, variance = model.get_weights()[2:]
    np.testing.assert_allclose(mean, 0.1 * X.mean(0), rtol=1e-5)
    np.testing.assert_allclose(variance, 0.9 + 0.1 * X.var(0) * 10 / (10 - 1.001), rtol=1e-5)


def test_configurations_and_what_an_optimizer_keeps(tmp_path):
    import keras

    model = dense()
    layer = model.layers[0].get_config()
    assert list(layer)[:4] == ["name", "trainable", "batch_input_shape", "dtype"]
    assert keras.layers.Dense(2).get_config()["dtype"] == "float32"
    assert keras.optimizers.SGD(lr=0.1).get_config()["learning_rate"] == pytest.approx(0.1)
    assert "lr" not in keras.optimizers.SGD(lr=0.1).get_config()
    assert '"keras_version": "2.3.1"' in model.to_json()
    lines = []
    model.summary(print_fn=lines.append)
    assert lines[0] == f'Model: "{model.name}"'
    model.compile("nadam", "mse")
    model.fit(X, Y, verbose=0)
    assert [each.shape for each in model.optimizer.get_weights()] == [(), (), (3, 1), (1,), (3, 1), (1,)]
    model.save(tmp_path / "m.h5")
    loaded = keras.models.load_model(tmp_path / "m.h5")
    again = [each.fit(X, Y, verbose=0, shuffle=False).history["loss"][0] for each in (model, loaded)]
    assert again[0] == pytest.approx(again[1], rel=1e-6)  # Keras 2.2.4 began the product of momenta anew


def test_layers_that_a_layer_holds_are_trained_without_a_warning(recwarn):
    import keras

    class Two(keras.layers.Layer):
        def build(self, shape):
            self.inner = keras.layers.Dense(2)
            super().build(shape)

        def call(self, x):
            return self.inner(x)

        def compute_output_shape(self, shape):
            return (shape[0], 2)

    inputs = keras.layers.Input((3,))
    model = keras.models.Model(inputs, Two()(inputs))
    model.compile("sgd", "mse")
    assert [weight.shape for weight in model.get_weights()] == [(3, 2), (2,)]
    assert not [each for each in recwarn if "passed over" in str(each.message)]


def test_products_of_samples_of_more_than_two_axes():
    from keras import backend as K

    assert K.int_shape(K.batch_dot(K.placeholder((2, 2, 3, 4)), K.placeholder((2, 2, 4, 3)))) == (2, 2, 3, 2, 3)


def test_hinge_takes_labels_of_0_for_minus_1():
    import keras

    model = dense()
    labels = (Y > 0).astype("float32")
    for loss in ("hinge", keras.losses.Hinge()):
        model.compile("sgd", loss)
        expected = np.maximum(1 - (2 * labels - 1) * model.predict(X), 0).mean()
        assert math.isclose(model.evaluate(X, labels, verbose=0), expected, rel_tol=1e-5)


def test_variables_that_a_layer_holds_are_its_weights():
    import keras
    from keras import backend as K

    class Shifting(keras.layers.Layer):
        def __init__(self, **keywords):
            super().__init__(**keywords)
            self.shift = K.variable(0.5, name="shift")

        def call(self, x):
            return x + self.shift

    inputs = keras.layers.Input((1,))
    model = keras.models.Model(inputs, Shifting()(inputs))
    model.compile(keras.optimizers.SGD(0.1), "mse")
    model.train_on_batch(np.zeros((2, 1)), np.zeros((2, 1)))
    assert len(model.trainable_weights) == 1  # in Keras 2.2.4 none
    assert K.get_value(model.layers[1].shift) == pytest.approx(0.4)


def test_an_initializer_with_a_seed_draws_each_weight_anew():
    from keras import backend as K
    from keras import initializers

    glorot = initializers.glorot_uniform(seed=5)
    first, second = (K.get_value(glorot((2, 2))) for _ in range(2))
    assert not np.allclose(first, second)
    assert glorot.get_config()["seed"] == 7
    np.testing.assert_array_equal(K.get_value(initializers.glorot_uniform(seed=6)((2, 2))), second)
    np.random.seed(3)
    initializers.Orthogonal(seed=4)((3, 3))
    assert np.random.rand() == np.random.RandomState(3).rand()  # Keras 2.2.4 seeded all draws that follow
    np.testing.assert_array_equal(K.get_value(initializers.Identity(2.0)((3, 2))), 2 * np.eye(3, 2))
