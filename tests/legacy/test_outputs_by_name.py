"""Losses, metrics, targets and weights by the name of the only output, of functional and of Sequential models.

The numbers are those that Keras 2.2.4, TensorFlow 1.15.5 and TensorFlow 2.2.3 gave, for
both kinds of models.
"""

from __future__ import annotations

import numpy as np
import pytest

import parallel_compat

X, Y = np.random.RandomState(0).rand(2, 8, 1)
WEIGHTS = np.arange(8.0)
ERAS = ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"]


def make(kind, replicas, **compiled):
    import keras
    from keras.layers import Dense, Input
    from keras.models import Model, Sequential

    keras.backend.clear_session()
    if kind == "functional":
        given = Input((1,), name="inp")
        model = Model(given, Dense(1, name="out", kernel_initializer="ones")(given))
    else:
        shape = {"input_shape": (1,)} if kind == "sequential" else {}
        model = Sequential([Dense(1, name="out", kernel_initializer="ones", **shape)])
    if replicas > 1:
        model = parallel_compat.multi_gpu_model(model, gpus=replicas)
    model.compile("sgd", **compiled)
    return model


def fitted(model):
    history = model.fit(
        X, Y, epochs=2, batch_size=4, shuffle=False, verbose=0, validation_data=(X, {"out": Y}, {"out": WEIGHTS})
    )
    return [*history.history["loss"], *history.history["val_loss"]]


def generated(model):
    batches = ((X, {"out": Y}) for _ in range(9))
    return model.fit_generator(batches, steps_per_epoch=2, verbose=0).history["loss"]


CALLS = {
    "evaluate": lambda model: [model.evaluate(X, {"out": Y}, verbose=0)],
    "sample_weight": lambda model: [model.test_on_batch(X, Y, sample_weight={"out": WEIGHTS})],
    "train_on_batch": lambda model: [model.train_on_batch(X, {"out": Y}), model.test_on_batch(X, Y)],
    "fit": fitted,
    "fit_generator": generated,
}
# With `loss={"out": "mse"}`, and with `loss="mse", loss_weights={"out": 2.0}`.
NUMBERS = {
    "evaluate": ([0.14988], [0.29975]),
    "sample_weight": ([0.74939], [1.49878]),
    "train_on_batch": ([0.14988, 0.14955], [0.29975, 0.29845]),
    "fit": ([0.15019, 0.14955, 0.74249, 0.73607], [0.30102, 0.29858, 1.47118, 1.44725]),
    "fit_generator": ([0.14971], [0.29910]),
}
# Its losses with weights are over the samples that have one.
OF_KERAS_2_2_4 = {
    "sample_weight": ([0.85645], [1.71289]),
    "fit": ([0.15019, 0.14955, 0.75008, 0.74366], [0.30102, 0.29858, 1.48637, 1.46249]),
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("kind", "replicas"), [("sequential", 1), ("sequential", 2), ("without input_shape", 1), ("functional", 1)]
)
def test_numbers_of_their_time(kind, replicas, call, era):
    expected, weighed = OF_KERAS_2_2_4.get(call, NUMBERS[call]) if era == "keras-2.2.4" else NUMBERS[call]
    with parallel_compat.legacy_names(era=era):
        found = CALLS[call](make(kind, replicas, loss={"out": "mse"}))
        twice = CALLS[call](make(kind, replicas, loss="mse", loss_weights={"out": 2.0}))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    np.testing.assert_allclose(twice, weighed, atol=1e-5)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", ["sequential", "functional"])
def test_metrics_by_name(kind, era):
    with parallel_compat.legacy_names(era=era):
        model = make(kind, 1, loss={"out": "mse"}, metrics={"out": ["mae"]}, loss_weights={"out": 2.0})
        np.testing.assert_allclose(model.evaluate(X, Y, verbose=0), [0.29975, 0.31835], atol=1e-5)
        assert model.metrics_names == ["loss", "mae" if era == "tf.keras-2.2" else "mean_absolute_error"]
        assert model.loss == {"out": "mse"}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", ["sequential", "functional"])
@pytest.mark.parametrize(
    "compiled",
    [
        {"loss": {"other": "mse"}},
        {"loss": {"out": "mse", "other": "mse"}},
        {"loss": "mse", "loss_weights": {"other": 1.0}},
        {"loss": "mse", "metrics": {"other": "mse"}},
    ],
)
def test_other_names_are_refused(kind, compiled, era):
    with parallel_compat.legacy_names(era=era):
        if "metrics" in compiled and era == "keras-2.2.4":  # which passed over them
            model = make(kind, 1, **compiled)
            assert model.metrics_names == ["loss"]
            return
        with pytest.raises(ValueError, match="other"):
            make(kind, 1, **compiled).evaluate(X, Y, verbose=0)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", ["sequential", "functional"])
def test_targets_of_other_names_are_refused(kind, era):
    with parallel_compat.legacy_names(era=era):
        model = make(kind, 1, loss="mse")
        for refused in (model.train_on_batch, model.test_on_batch, model.evaluate, model.fit):
            with pytest.raises(ValueError, match=r"out'\].*other"):
                refused(X, {"other": Y})


def test_outputs_of_one_name_are_told_apart_by_multi_gpu_model():
    """As Keras 2.2.4 printed them; its single model had two outputs `twin`."""
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        from keras.layers import Add, Dense, Input
        from keras.models import Model, Sequential
        from keras.utils import multi_gpu_model

        twin = Sequential([Dense(1, input_shape=(1,))], name="twin")
        a, b = Input((1,)), Input((1,))
        single = Model([a, b], [Add(name="add")([twin(a), twin(b)]), twin(a), twin(b)])
        model = multi_gpu_model(single, 2)
        assert model.output_names == ["add", "twin_1", "twin_2"]
        assert [layer.name for layer in model.layers[-3:]] == model.output_names
        model.compile("sgd", {"add": "mse", "twin_1": "mae", "twin_2": "mse"}, metrics={"twin_2": ["mae"]})
        assert model.metrics_names == ["loss", "add_loss", "twin_1_loss", "twin_2_loss", "twin_2_mean_absolute_error"]
        history = model.fit([X, Y], {"add": X, "twin_1": X, "twin_2": Y}, verbose=0).history
        assert sorted(history) == sorted(model.metrics_names)
        single.compile("sgd", "mse")
        assert len(single.train_on_batch([X, Y], [X, X, Y])) == 4


def test_what_is_logged_of_several_outputs_of_one_name():
    """The last one's loss, metrics with numbers; recorded from Keras 2.2.4."""
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        import keras

        j = keras.Input((1,))
        twin = keras.Model(j, keras.layers.Dense(1, kernel_initializer="ones")(j), name="twin")
        a, b = keras.Input((1,)), keras.Input((1,))
        model = keras.Model([a, b], [twin(a), twin(b)])
        model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
        metrics = ["twin_mean_absolute_error", "twin_mean_absolute_error_1"]
        assert model.metrics_names == ["loss", "twin_loss", "twin_loss", *metrics]
        x, y = [np.ones((4, 1)), 2 * np.ones((4, 1))], [np.zeros((4, 1))] * 2
        of_batches = []
        seen = keras.callbacks.LambdaCallback(on_batch_end=lambda _, logs: of_batches.append(dict(logs)))
        history = model.fit(x, y, verbose=0, callbacks=[seen], validation_data=(x, y)).history
        names = ["loss", "twin_loss", *metrics]
        assert list(history) == [*(f"val_{name}" for name in names), *names]
        assert [history[name] for name in names] == [[5.0], [4.0], [1.0], [2.0]]
        assert of_batches == [{"batch": 0, "size": 4, "loss": 5.0, "twin_loss": 4.0, metrics[0]: 1.0, metrics[1]: 2.0}]
        assert len(model.evaluate(x, y, verbose=0)) == len(model.metrics_names)
