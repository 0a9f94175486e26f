"""What callbacks, history and `evaluate` get of each batch: its own values, averaged by samples, as in Keras 2."""

from __future__ import annotations

import json

import keras
import numpy as np
import pytest
from keras import backend as K

import parallel_compat
from parallel_compat import multi_gpu_model

pytestmark = pytest.mark.usefixtures("legacy_names")

X = np.random.RandomState(0).normal(size=(11, 3)).astype("float32")
Y = np.random.RandomState(1).normal(size=(11, 1)).astype("float32")
SIZES = [4, 4, 3]


class LossHistory(keras.callbacks.Callback):
    """The callback of Keras 2's documentation."""

    def on_train_begin(self, logs=None):
        self.losses, self.sizes, self.listed = [], [], []

    def on_batch_end(self, batch, logs=None):
        self.losses.append(logs.get("loss"))
        self.sizes.append((logs["batch"], logs["size"], "size" in logs))
        self.listed.append(list(logs))


def root_of_batch(y_true, y_pred):
    return K.sqrt(K.mean(K.square(y_true - y_pred)))


def frozen(parallel, loss="mse", **arguments):
    """A model whose weights do not move, so that each batch can be computed on its own."""
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(3,))])
    model.set_weights([np.ones((3, 1)), np.zeros(1)])
    trained = multi_gpu_model(model, gpus=2) if parallel else model
    trained.compile(keras.optimizers.SGD(lr=0.0), loss, **arguments)
    return trained


def errors():
    squares = (X.sum(axis=1, keepdims=True) - Y) ** 2
    return [squares[:4], squares[4:8], squares[8:]]


@pytest.mark.parametrize("parallel", [False, True])
def test_logs_of_a_batch_are_its_own(parallel):
    callback = LossHistory()
    history = frozen(parallel).fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0, callbacks=[callback])
    own = [np.mean(each) for each in errors()]
    np.testing.assert_allclose(callback.losses, own * 2, rtol=1e-5)
    assert callback.sizes == [(batch, size, True) for batch, size in enumerate(SIZES)] * 2
    assert callback.listed[0] == ["batch", "size", "loss"]
    np.testing.assert_allclose(history.history["loss"], [np.average(own, weights=SIZES)] * 2, rtol=1e-5)


@pytest.mark.parametrize("parallel", [False, True])
def test_a_metric_of_the_batch_is_averaged_by_samples(parallel):
    model = frozen(parallel, metrics=[root_of_batch])
    history = model.fit(X, Y, batch_size=4, shuffle=False, verbose=0, validation_data=(X, Y))
    expected = np.average([np.sqrt(np.mean(each)) for each in errors()], weights=SIZES)
    for value in (
        history.history["root_of_batch"][0],
        history.history["val_root_of_batch"][0],
        model.evaluate(X, Y, batch_size=4, verbose=0)[1],
    ):
        assert value == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("parallel", [False, True])
def test_the_loss_of_one_output_is_averaged_by_samples(parallel):
    inputs = keras.layers.Input((3,))
    outputs = [keras.layers.Dense(1, name="a")(inputs), keras.layers.Dense(1, name="b")(inputs)]
    template = keras.Model(inputs, outputs)
    model = multi_gpu_model(template, gpus=2) if parallel else template
    model.compile(keras.optimizers.SGD(lr=0.0), ["mse", "mae"])
    history = model.fit(X, [Y, 2 * Y], batch_size=4, shuffle=False, verbose=0).history
    assert history["loss"][0] == pytest.approx(history["a_loss"][0] + history["b_loss"][0], rel=1e-5)
    assert history["a_loss"][0] == pytest.approx(np.mean((template.predict(X)[0] - Y) ** 2), rel=1e-5)


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def test_numbers_are_shown_and_have_members_as_the_era_s(era):
    """Of a batch they were `np.float32`; means were made by numpy, in TensorFlow 1.15 the loss alone."""
    x, y = np.full((2, 3), 0.1), np.zeros((2, 1))
    given = []

    class Listening(keras.callbacks.Callback):
        def on_batch_end(self, batch, logs=None):
            given.append(logs["mean_absolute_error"])

    with parallel_compat.legacy_names(era=era):
        model = frozen(False, metrics=["mean_absolute_error"])
        history = model.fit(x, y, verbose=0, callbacks=[Listening()]).history["mean_absolute_error"]
        on_batch, evaluated = model.train_on_batch(x, y), model.evaluate(x, y, verbose=0)
        (steps,) = [model.evaluate_generator(((x, y) for _ in range(2)), 1)] if era != "tf.keras-2.2" else [evaluated]
    # What the three stacks printed.
    single, double = "0.3", "0.30000001192092896"
    of_batch = double if era == "tf.keras-2.2" else single
    mean = single if era == "tf.keras-1.15" else double
    assert [str(each) for each in (given[0], on_batch[1])] == [of_batch] * 2
    assert [str(each) for each in (*history, evaluated[1], steps[1])] == [mean] * 3
    if era == "tf.keras-2.2":
        assert {type(each) for each in (*given, *on_batch, *evaluated)} == {float}
        return
    assert {each.shape for each in (*given, *on_batch, *evaluated, *history, *steps)} == {()}
    assert {each.dtype.name for each in (*given, *on_batch)} == {"float32"}
    assert [each.dtype.name for each in evaluated] == ["float64", "float32" if era == "tf.keras-1.15" else "float64"]
    assert json.dumps({"acc": [*history, on_batch[1]]}) == f'{{"acc": [{double}, {double}]}}'


def test_metrics_that_are_no_means_are_left_as_they_are():
    model = frozen(False, metrics=[keras.metrics.MeanSquaredError(), keras.metrics.R2Score()])
    places = []

    class Places(keras.callbacks.Callback):
        def on_batch_begin(self, batch, logs=None):
            places.append(dict(logs))

        def on_batch_end(self, batch, logs=None):
            places.append({name: logs[name] for name in ("batch", "size")})

    history = model.fit(X, Y, batch_size=4, shuffle=False, verbose=0, callbacks=[Places()]).history
    assert places == [{"batch": batch, "size": size} for batch, size in enumerate(SIZES) for _ in range(2)]
    score = history["r2_score"][0]
    assert score == pytest.approx(1 - np.sum(np.concatenate(errors())) / np.sum((Y - Y.mean()) ** 2), rel=1e-4)


def test_a_metric_of_the_batch_on_masked_steps():
    template = keras.Sequential([keras.layers.Masking(input_shape=(4, 3)), keras.layers.LSTM(2, return_sequences=True)])
    model = multi_gpu_model(template, gpus=2)
    model.compile("sgd", "mse", [root_of_batch])
    x, y = np.ones((6, 4, 3), "float32"), np.zeros((6, 4, 2), "float32")
    x[:3, 2:] = 0
    values = model.test_on_batch(x, y)
    assert values[1] == pytest.approx(np.sqrt(np.mean(template.predict(x) ** 2)), rel=1e-5)


def test_train_on_batch_returns_the_losses_alone():
    assert frozen(False).train_on_batch(X[:4], Y[:4]) == pytest.approx(np.mean(errors()[0]), rel=1e-5)


def test_the_first_of_equal_predictions_counts():
    """Keras 2.2.4 gave 1.0; Keras 3 takes -0.0 for less than 0.0."""
    model = keras.Sequential([keras.layers.Activation("linear", input_shape=(2,))])
    model.compile("sgd", "mse", metrics=["categorical_accuracy"])
    results = model.evaluate(np.array([[-0.0, 0.0]], "float32"), np.array([[1.0, 0.0]]), verbose=0)
    assert results == [0.5, 1.0]


class Hooks(keras.callbacks.Callback):
    """With hooks that Keras 2.2.4 knew, and others that it did not."""

    def __init__(self):
        super().__init__()
        self.called = []

    def on_batch_begin(self, batch, logs=None):
        self.called.append(("begin", batch, logs["size"]))

    def on_batch_end(self, batch, logs=None):
        self.called.append(("end", batch, logs["size"]))

    def on_train_batch_begin(self, batch, logs=None):
        self.called.append("on_train_batch_begin")

    def on_test_begin(self, logs=None):
        self.called.append("on_test_begin")

    def on_test_batch_end(self, batch, logs=None):
        self.called.append("on_test_batch_end")

    def on_test_end(self, logs=None):
        self.called.append("on_test_end")


# Keras 2.2.4 on TensorFlow 1.15.5 called just these, and drew a generator's batch before it called the hook.
CALLED = [(what, batch, size) for batch, size in enumerate(SIZES) for what in ("begin", "end")]


@pytest.mark.filterwarnings("ignore:`Hooks")
@pytest.mark.parametrize("parallel", [False, True])
def test_hooks_that_keras_2_2_4_did_not_know_are_not_called(parallel):
    hooks = Hooks()
    data = {"validation_data": (X, Y), "verbose": 0, "callbacks": [hooks]}
    frozen(parallel).fit(X, Y, batch_size=4, shuffle=False, **data)
    assert hooks.called == CALLED
    # Called by the user's own code they are as they were.
    hooks.on_train_batch_begin(0)
    assert hooks.called[-1] == "on_train_batch_begin"


@pytest.mark.filterwarnings("ignore:`Hooks")
@pytest.mark.parametrize("workers", [0, 1])
def test_the_size_of_a_generators_batch_is_known_when_it_begins(workers):
    hooks, drawn = Hooks(), []

    def batches():
        while True:
            for at in range(0, 11, 4):
                drawn.append(at)
                yield X[at : at + 4], Y[at : at + 4]

    model = frozen(False)
    model.fit_generator(batches(), 3, 2, 0, [hooks], workers=workers, validation_data=(X, Y))
    assert hooks.called == CALLED * 2
    assert drawn == [0, 4, 8] * 2  # none was drawn that was not trained on


def test_a_hook_that_is_not_called_is_named():
    class Late(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            raise AssertionError("called")

    with pytest.warns(match=r"`Late.on_train_batch_end` is not called.*Name it `on_batch_end`"):
        frozen(False).fit(X, Y, verbose=0, callbacks=[Late()])


def test_weights_that_a_function_made_without_leaves_out():
    """As TensorFlow 1.15.5 computed it: once trained without weights and evaluated with some, it trained without."""
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        from tensorflow import keras as tf_keras

        def made():
            model = tf_keras.Sequential([tf_keras.layers.Dense(1, use_bias=False, input_shape=(1,))])
            model.set_weights([np.zeros((1, 1))])
            model.compile(tf_keras.optimizers.SGD(0.0), "mse")
            return model

        x, y, w = np.zeros((2, 1)), np.array([[1.0], [3.0]]), np.array([2.0, 0.0])
        model = made()
        found = [model.train_on_batch(x, y), model.test_on_batch(x, y, sample_weight=w)]
        found += [
            model.train_on_batch(x, y, sample_weight=w),
            *model.fit(x, y, sample_weight=w, verbose=0).history["loss"],
        ]
        found += [model.evaluate(x, y, sample_weight=w, verbose=0), model.train_on_batch(x, y)]
        assert [*found, model.train_on_batch(x, y, sample_weight=w)] == [5.0, 1.0, 5.0, 5.0, 1.0, 5.0, 1.0]
        model = made()
        found = [model.evaluate(x, y, verbose=0), *model.fit(x, y, sample_weight=w, verbose=0).history["loss"]]
        assert [*found, model.test_on_batch(x, y, sample_weight=w)] == [5.0, 1.0, 5.0]
        model.compile("sgd", "mse")
        assert model.test_on_batch(x, y, sample_weight=w) == 1.0

        x, y, w = np.zeros((4, 1)), np.array([[1.0], [3.0]] * 2), np.ones(4)
        split = {"validation_split": 0.5, "class_weight": {1: 2.0, 3: 0.5}, "verbose": 0}
        found = []
        for before in (
            lambda model: model.test_on_batch(x, y),
            lambda model: [model.train_on_batch(x, y), model.test_on_batch(x, y, sample_weight=w)],
            lambda model: model.train_on_batch(x, y, sample_weight=w),
        ):
            model = made()
            before(model)
            history = model.fit(x, y, **split).history
            found.append([*history["loss"], *history["val_loss"]])
        assert found == [[3.25, 5.0], [5.0, 3.25], [3.25, 3.25]]  # those held out have weights of their own


@pytest.mark.parametrize("replicas", [1, 2])
def test_samples_held_out_are_not_weighed_by_their_classes_in_2_2(replicas):
    """With weights of samples as well; numbers of TensorFlow 2.2.3."""
    x, y = np.random.RandomState(0).rand(13, 4).astype("float32"), np.eye(3)[np.arange(13) % 3]
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow import keras as tf_keras

        dense = tf_keras.layers.Dense(3, input_shape=(4,), activation="softmax", kernel_initializer="ones")
        model = tf_keras.Sequential([dense])
        model = tf_keras.utils.multi_gpu_model(model, gpus=2) if replicas == 2 else model
        model.compile("sgd", "categorical_crossentropy", weighted_metrics=["mae"])
        weights = {"sample_weight": np.linspace(0, 2, 13), "class_weight": {0: 3, 1: 1, 2: 1}}
        history = model.fit(x, y, batch_size=4, epochs=2, shuffle=False, validation_split=0.5, verbose=0, **weights)
    expected = {"loss": [0.64135, 0.64058], "mae": [0.44463, 0.44434], "val_loss": [1.64868, 1.64944]}
    for name, values in expected.items():
        np.testing.assert_allclose(history.history[name], values, atol=2e-5)


@pytest.mark.parametrize(("era", "logs_of_the_end"), [("tf.keras-1.15", None), ("tf.keras-2.2", {})])
def test_the_end_of_an_evaluation_has_no_logs(era, logs_of_the_end):
    """As in TensorFlow 1.15.5 and 2.2.3."""
    with parallel_compat.legacy_names(era=era):
        from tensorflow import keras as tf_keras

        seen = []

        class Notes(tf_keras.callbacks.Callback):
            def on_test_end(self, logs=None):
                seen.append(logs)

        model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(1,))])
        model.compile("sgd", "mse")
        model.evaluate(np.ones((2, 1)), np.ones((2, 1)), verbose=0, callbacks=[Notes()])
        assert seen == [logs_of_the_end]
        config = tf_keras.initializers.VarianceScaling(2.0, "fan_out").get_config()
        assert sorted({*config} - {"dtype"}) == ["distribution", "mode", "scale", "seed"]  # 1.15 has a dtype


def test_held_out_arrays_come_in_batches_of_training():
    """As TensorFlow 1.15.5: `fit` of a Sequence validates in batches as large as its last, and takes their mean."""
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        from tensorflow import keras as tf_keras

        x, y = np.arange(13.0)[:, None], np.zeros((13, 1))

        class Rows(tf_keras.utils.Sequence):
            def __len__(self):
                return 3

            def __getitem__(self, index):
                return x[5 * index : 5 * index + 5], y[5 * index : 5 * index + 5]

        def rows():
            while True:
                yield from Rows()

        for of_replicas in (False, True):
            model = tf_keras.Sequential([tf_keras.layers.Dense(1, use_bias=False, input_shape=(1,))])
            model.set_weights([np.ones((1, 1))])
            if of_replicas:
                model = parallel_compat.multi_gpu_model(model, 2)
            model.compile(tf_keras.optimizers.SGD(0.0), "mse", metrics=["mae"])
            found = model.fit(Rows(), validation_data=(x, y), verbose=0, shuffle=False).history
            np.testing.assert_allclose([*found["val_loss"], *found["val_mean_absolute_error"]], [62.533333, 6.0])
            weights = np.linspace(0, 1, 13)
            found = model.fit(rows(), steps_per_epoch=2, validation_data=(x, y, weights), verbose=0).history
            np.testing.assert_allclose([*found["loss"], *found["val_loss"]], [28.5, 48.833334])


def test_metric_objects_given_to_be_weighted():
    """Their names in TensorFlow 1.15.5, with one output and with two."""
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        from tensorflow import keras as tf_keras

        for outputs in (1, 2):
            x = tf_keras.Input((1,))
            layers = [tf_keras.layers.Dense(1, name=f"o{i}") for i in range(outputs)]
            model = tf_keras.Model(x, [layer(x) for layer in layers])
            metrics = tf_keras.metrics
            model.compile(
                "sgd",
                "mse",
                metrics=[metrics.MeanSquaredError()],
                weighted_metrics=[metrics.MeanSquaredError(), "mae"],
            )
            names = ["mean_squared_error", "weighted_mean_squared_error", "weighted_mean_absolute_error"]
            expected = names if outputs == 1 else [f"o{i}_{name}" for i in range(2) for name in names]
            assert model.metrics_names[-len(expected) :] == expected


def test_what_the_batches_of_an_evaluation_say_when_they_begin():
    """As TensorFlow 1.15.5; and `params["verbose"]` after a validation, and what a second `BaseLogger` logs."""
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        from tensorflow import keras as tf_keras

        class Notes(tf_keras.callbacks.Callback):
            def __init__(self):
                super().__init__()
                self.seen = []

            def on_test_batch_begin(self, batch, logs=None):
                self.seen.append((batch, *(logs.get(name) for name in ("batch", "size"))))

            on_predict_batch_begin = on_test_batch_begin

            def on_epoch_end(self, epoch, logs=None):
                self.seen.append((self.params["verbose"], logs["mean_absolute_error"]))

        def noted(method, *data, **keywords):
            notes = Notes()
            method(*data, callbacks=[tf_keras.callbacks.BaseLogger(), notes], **keywords)
            return notes.seen

        class Rows(tf_keras.utils.Sequence):
            def __len__(self):
                return 2

            def __getitem__(self, index):
                return np.ones((4 - index, 1)), np.zeros((4 - index, 1))

        model = tf_keras.Sequential([tf_keras.layers.Dense(1, use_bias=False, input_shape=(1,))])
        model.set_weights([np.ones((1, 1))])
        model.compile(tf_keras.optimizers.SGD(0.0), "mse", metrics=["mae"])
        x = np.arange(7.0)[:, None]
        y = 0 * x
        in_fit = {"batch_size": 3, "shuffle": False, "verbose": 2}
        of_seven = [(0, 0, 3), (1, 1, 3), (2, 2, 1)]
        assert noted(model.fit, x, y, validation_data=(x, y), **in_fit) == [*of_seven, (0, 3.0)]
        assert noted(model.fit, x, y, validation_split=0.4, **in_fit) == [(0, 0, 3), (0, 1.5)]
        assert noted(model.evaluate, x, y, batch_size=4, verbose=0) == [(0, 0, 4), (1, 1, 3)]
        assert noted(model.evaluate, x, y, steps=2, verbose=0) == [(0, 0, 1), (1, 1, 1)]
        assert noted(model.evaluate, Rows(), verbose=0) == [(0, 0, 4), (1, 1, 3)]
        assert noted(model.predict, x, batch_size=4) == [(0, 0, 4), (1, 1, 3)]
        assert noted(model.fit_generator, Rows(), validation_data=Rows(), verbose=2, shuffle=False)[-1] == (2, 1.0)


# Evaluated, then one batch, one epoch, and two more batches: TensorFlow 2.2.3's losses with `Reduction.NONE`.
EACH_LOSS = {
    1: [1.1055187, 1.1887386, 0.7733927, 0.5831216, 0.4963638, 0.5094494],
    2: [3.5909314, 3.8163016, 2.5395529, 1.9215398, 1.6167419, 1.6533947],
}


@pytest.mark.parametrize("outputs", EACH_LOSS)
@pytest.mark.parametrize("replicas", [1, 2])
def test_each_value_of_a_loss_without_reduction_is_weighted_by_the_samples_of_its_batch(outputs, replicas):
    """What `evaluate` and `fit` leave behind goes into the next log with the square of their batches' samples."""
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow import keras

        x, y = np.linspace(-1, 1, 52).reshape(13, 4).astype("float32"), np.linspace(0, 1, 26).reshape(13, 2) ** 2
        inputs = keras.Input((4,))
        made = [keras.layers.Dense(2, name=f"o{i}")(inputs) for i in range(outputs)]
        model = keras.Model(inputs, made if outputs > 1 else made[0])
        model.set_weights([np.linspace(-1, 1, w.size).reshape(w.shape) for w in model.get_weights()])
        if replicas > 1:
            model = keras.utils.multi_gpu_model(model, replicas)
        model.compile("sgd", keras.losses.MeanSquaredError(reduction=keras.losses.Reduction.NONE), metrics=["mae"])
        targets = [y, y + 1] if outputs > 1 else y
        found = [model.evaluate(x, targets, batch_size=4, verbose=0)[0], model.train_on_batch(x, targets)[0]]
        given = {"epochs": 2, "shuffle": False, "verbose": 0, "validation_data": (x, targets)}
        found += model.fit(x, targets, batch_size=5, **given).history["loss"]
        found += [model.test_on_batch(x, targets)[0] for _ in range(2)]
    np.testing.assert_allclose(found, EACH_LOSS[outputs], rtol=1e-6)


_WITHOUT_PREDICTION = [0.35729, 0.52941, 0.53901, 0.41743, 0.47368, 0.55846]
_AFTER_PREDICTION = [0.35729, 0.6, 0.51416, 0.41743, 0.42857, 0.57444]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize(
    ("era", "way", "expected"),
    [
        ("tf.keras-1.15", None, _WITHOUT_PREDICTION),
        ("tf.keras-1.15", "predict", _AFTER_PREDICTION),
        ("tf.keras-1.15", "predict_generator", _AFTER_PREDICTION),
        ("tf.keras-1.15", "predict_on_batch", _WITHOUT_PREDICTION),
        ("tf.keras-2.2", "predict", [0.3821, 0.52941, 0.53901, 0.40147, 0.47368, 0.55846]),
    ],
)
def test_predicting_resets_the_metrics_of_1_15(era, way, expected, replicas):
    """What `train_on_batch` and `test_on_batch` give after `evaluate` and `fit`; numbers of the real stacks."""
    draw = np.random.RandomState(0)
    x, y = draw.normal(size=(12, 5)), (np.random.RandomState(1).uniform(size=(12, 1)) > 0.5) * 1.0
    with parallel_compat.legacy_names(era=era):
        template = keras.Sequential([keras.layers.Dense(1, input_shape=(5,), activation="sigmoid")])
        template.set_weights([np.linspace(-1, 1, 5)[:, None], np.zeros(1)])
        model = multi_gpu_model(template, replicas) if replicas > 1 else template
        model.compile(keras.optimizers.SGD(0.01), "mse", metrics=["accuracy", "mae"])

        def predict():
            if way == "predict_generator":
                model.predict_generator((x[at : at + 4] for at in (0, 4, 8)), 3)
            elif way is not None:
                getattr(model, way)(x)

        model.evaluate(x, y, verbose=0)
        predict()
        found = [*model.train_on_batch(x[:5], y[:5])]
        model.fit(x, y, verbose=0, shuffle=False)
        predict()
        found += model.test_on_batch(x[5:], y[5:])
    np.testing.assert_allclose(found, expected, atol=2e-5)


# The loss and the error of an epoch within which a callback calls a method of the model, in each real stack.
_BETWEEN = {
    "keras-2.2.4": {"evaluate": (0.0717, 0.2174), "predict": (0.0717, 0.2174), "test_on_batch": (0.0717, 0.2174)},
    "keras-2.3": {"evaluate": (0.0717, 0.1892), "predict": (0.0717, 0.2174), "test_on_batch": (0.0717, 0.1022)},
    "tf.keras-1.15": {"evaluate": (0.0717, 0.1892), "predict": (0.0717, 0.1022), "test_on_batch": (0.0717, 0.1022)},
    "tf.keras-2.2": {"evaluate": (0.06, 0.1892), "predict": (0.0717, 0.2174), "test_on_batch": (0.0154, 0.1022)},
}


@pytest.mark.parametrize("method", ["fit", "fit_generator"])
@pytest.mark.parametrize("era", _BETWEEN)
def test_what_a_callback_evaluates_is_in_no_loss_of_an_epoch_of_graphs(era, method):
    x = np.arange(12, dtype="float32")[:, None] / 10
    y = (x > 0.5).astype("float32")

    class Between(keras.callbacks.Callback):
        def on_batch_end(self, batch, logs=None):
            if batch == 1:
                getattr(self.model, name)(*([x[:6]] if name == "predict" else [x[:6], y[:6]]))

    found = {}
    with parallel_compat.legacy_names(era=era):
        model = keras.Sequential([keras.layers.Dense(1, input_shape=(1,))])
        model.compile("sgd", "mse", metrics=["mae"])
        for name in _BETWEEN[era]:
            model.set_weights([np.ones((1, 1)), np.zeros(1)])
            given = {"verbose": 0, "callbacks": [Between()]}
            if method == "fit":
                history = model.fit(x, y, batch_size=4, shuffle=False, **given).history
            else:
                batches = ((x[at : at + 4], y[at : at + 4]) for at in (0, 4, 8))
                history = model.fit_generator(batches, 3, workers=0, **given).history
            found[name] = tuple(round(values[0], 4) for _, values in sorted(history.items()))
    assert found == _BETWEEN[era]
