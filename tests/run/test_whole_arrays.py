"""A number of steps on arrays, with the numbers of the real Keras 2.2.4."""

from __future__ import annotations

import numpy as np
import pytest

DRAW = np.random.RandomState(0)
X = DRAW.randn(22, 5).astype("float32")
Y = (X[:, :1] * 0.5 + 0.2).astype("float32")
WEIGHTS = DRAW.rand(22).astype("float32")
HELD_OUT = (DRAW.randn(6, 5).astype("float32"), DRAW.randn(6, 1).astype("float32"))


@pytest.fixture
def model(legacy_names):
    from keras.layers import Dense
    from keras.models import Sequential
    from keras.optimizers import SGD

    model = Sequential([Dense(1, input_shape=(5,), kernel_initializer="ones")])
    model.compile(SGD(lr=0.1), "mse")
    return model


@pytest.fixture
def legacy_names():
    import parallel_compat

    with parallel_compat.legacy_names():
        yield


@pytest.mark.parametrize(
    ("arguments", "loss", "val_loss"),
    [
        ({"steps_per_epoch": 3}, [3.5077788], None),
        ({"steps_per_epoch": 2, "epochs": 2, "shuffle": False}, [4.4849662, 1.1897875], None),
        ({"steps_per_epoch": 2, "sample_weight": WEIGHTS}, [3.1081301], None),
        ({"steps_per_epoch": 2, "validation_data": HELD_OUT, "validation_steps": 2}, [4.4849662], [1.2992193]),
        ({"steps_per_epoch": 2, "validation_split": 0.25, "validation_steps": 1}, [4.7448665], [1.2467741]),
    ],
)
def test_each_step_takes_all_samples(model, arguments, loss, val_loss):
    history = model.fit(X, Y, verbose=0, **arguments).history
    np.testing.assert_allclose(history["loss"], loss, rtol=1e-5)
    assert ("val_loss" in history) == (val_loss is not None)
    if val_loss is not None:
        np.testing.assert_allclose(history["val_loss"], val_loss, rtol=1e-5)


def test_predictions_of_all_samples_come_again_in_each_step(model):
    np.testing.assert_allclose(model.predict(X, steps=2), np.concatenate([model.predict(X)] * 2), rtol=1e-6)


def test_what_keras_2_refused_is_refused(model):
    with pytest.raises(ValueError, match="no `batch_size` with `steps_per_epoch`"):
        model.fit(X, Y, steps_per_epoch=2, batch_size=4)
    with pytest.raises(ValueError, match="no `batch_size` with `steps`"):
        model.predict(X, steps=2, batch_size=4)
    with pytest.raises(ValueError, match="Expected `validation_steps` with `steps_per_epoch`"):
        model.fit(X, Y, steps_per_epoch=2, validation_data=HELD_OUT)
    with pytest.raises(ValueError, match="Expected `steps_per_epoch` with `validation_steps`"):
        model.fit(X, Y, validation_data=HELD_OUT, validation_steps=2)
    with pytest.raises(ValueError, match="no `batch_size` with `steps`"):
        model.evaluate(X, Y, steps=2, batch_size=4, verbose=0)


def test_tensorflow_1_takes_all_samples_too_whatever_the_size_of_batches():
    """The numbers of TensorFlow 1.15.5, in a graph."""
    import parallel_compat

    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        from tensorflow.keras import Sequential, callbacks, layers, optimizers

        def fresh():
            model = Sequential([layers.Dense(1, input_shape=(5,), kernel_initializer="ones")])
            model.compile(optimizers.SGD(0.1), "mse", metrics=["mae"])
            return model

        for arguments, recorded in (
            ({"steps_per_epoch": 3, "batch_size": 4, "epochs": 2}, [3.50778, 0.51251]),
            ({"steps_per_epoch": 2, "sample_weight": WEIGHTS}, [3.10813]),
            ({"steps_per_epoch": 2, "validation_data": HELD_OUT, "validation_steps": 2}, [4.48497, 1.29922]),
            ({"steps_per_epoch": 2, "validation_split": 0.25, "validation_steps": 1}, [4.74487, 1.24677]),
            (
                {"validation_data": HELD_OUT, "validation_steps": 3, "shuffle": False, "batch_size": 4},
                [2.89133, 2.14244],
            ),
        ):
            history = fresh().fit(X, Y, verbose=0, **arguments).history
            found = [*history["loss"], *history.get("val_loss", ())]
            assert found == pytest.approx(recorded, abs=2e-5), arguments
        with pytest.raises(ValueError, match="Expected `validation_steps` with `steps_per_epoch`"):
            fresh().fit(X, Y, steps_per_epoch=2, validation_data=HELD_OUT)
        model = fresh()
        seen = []
        told = callbacks.LambdaCallback(on_batch_end=lambda batch, logs: seen.append((batch, logs["size"])))
        model.fit(X, Y, steps_per_epoch=2, verbose=0, callbacks=[told])
        assert seen == [(0, 1), (1, 1)]
        model = fresh()
        assert model.evaluate(X, Y, steps=2, batch_size=4, verbose=0) == pytest.approx([5.96386, 2.11341], abs=2e-5)
        weighed = model.evaluate(X, Y, steps=3, sample_weight=WEIGHTS, verbose=0)
        assert weighed == pytest.approx([3.70468, 2.11341], abs=2e-5)
        assert model.predict(X, steps=2, batch_size=4).shape == (44, 1)
