"""Models of a subclass with several outputs, which the first batch tells: numbers of TensorFlow 2.2.3 and 1.15.5."""

from __future__ import annotations

import numpy as np
import pytest

import parallel_compat

X = np.arange(32.0).reshape(8, 4) / 16 - 1
Y, Z = X[:, :1] ** 2, X[:, :2] * 3

# What the stacks printed, of one epoch.
LOSS, MAES = 2.7791, [0.5099, 1.2783]
OUTPUTS = {"tf.keras-1.15": [0.4646, 2.1386], "tf.keras-2.2": [0.575, 2.2041]}
EVALUATED = [1.54675, 0.26212, 1.28463, 0.3432, 0.97302]
WEIGHTED, BY_NAME, ONLY_FIRST = 2.2908, [2.4665, 0.5827, 1.3011, 2.2817], [0.575, 0.575]


def made(kind):
    from tensorflow import keras

    constant = keras.initializers.Constant

    class Two(keras.Model):
        def __init__(self):
            super().__init__()
            self.a = keras.layers.Dense(1, kernel_initializer=constant(0.2))
            self.b = keras.layers.Dense(2, kernel_initializer=constant(0.1))

        def call(self, x):
            a, b = self.a(x), self.b(x)
            return {"dict": {"p": a, "q": b}, "list": [a, b], "tuple": (a, b)}[kind]

    return Two()


def trained(kind, **arguments):
    from tensorflow import keras

    y = {"p": Y, "q": Z} if kind == "dict" else [Y, Z] if kind == "list" else (Y, Z)
    model = made(kind)
    model.compile(keras.optimizers.SGD(0.1), **arguments)
    logs = model.fit(X, y, batch_size=5, epochs=1, shuffle=False, verbose=0).history
    return model, {name: round(float(values[0]), 4) for name, values in logs.items()}


@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])
@pytest.mark.parametrize("kind", ["list", "tuple"])
def test_one_loss_and_one_list_of_metrics_are_those_of_each_output(kind, era):
    mae = "mae" if era == "tf.keras-2.2" else "mean_absolute_error"
    with parallel_compat.legacy_names(era=era):
        model, logs = trained(kind, loss="mse", metrics=["mae"])
        assert list(logs) == ["loss", "output_1_loss", "output_2_loss", f"output_1_{mae}", f"output_2_{mae}"]
        # The mean of an output's loss was that over batches in TensorFlow 2.2, over samples in 1.15.
        of_outputs = OUTPUTS[era]
        assert list(logs.values()) == pytest.approx([LOSS, *of_outputs, *MAES], abs=2e-4)
        assert model.metrics_names == list(logs)
        found = model.evaluate(X, [Y, Z] if kind == "list" else (Y, Z), verbose=0)
        assert found == pytest.approx(EVALUATED, abs=2e-4)


@pytest.mark.parametrize("kind", ["list", "tuple", "dict"])
def test_weights_of_losses(kind):
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        names = ["p", "q"] if kind == "dict" else ["output_1", "output_2"]
        weights = dict(zip(names, [2.0, 0.5], strict=True))
        _, logs = trained(kind, loss="mse", loss_weights=list(weights.values()) if kind != "dict" else weights)
        assert list(logs) == ["loss", *(f"{name}_loss" for name in names)]
        assert logs["loss"] == pytest.approx(WEIGHTED, abs=2e-4)
        losses = dict(zip(names, ["mse", "mae"], strict=True))
        _, logs = trained(kind, loss=losses, loss_weights={names[0]: 2.0}, metrics={names[1]: ["mse"]})
        assert list(logs) == ["loss", *(f"{name}_loss" for name in names), f"{names[1]}_mse"]
        assert list(logs.values()) == pytest.approx(BY_NAME, abs=2e-4)


def test_an_output_without_a_loss():
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        _, logs = trained("list", loss=["mse", None])
        assert list(logs) == ["loss", "output_1_loss"]
        assert list(logs.values()) == pytest.approx(ONLY_FIRST, abs=2e-4)


def test_names_that_no_output_has_are_refused():
    with parallel_compat.legacy_names(era="tf.keras-2.2"), pytest.raises(ValueError, match="output_3"):
        trained("list", loss={"output_1": "mse", "output_3": "mse"})


@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])
def test_a_metric_object_counts_each_output_for_itself(era):
    with parallel_compat.legacy_names(era=era):
        from tensorflow import keras

        inputs = keras.Input((4,))
        outputs = [keras.layers.Dense(n, kernel_initializer="ones", name=f"o{n}")(inputs) for n in (1, 2)]
        model = keras.Model(inputs, outputs)
        model.compile("sgd", "mse", metrics=[keras.metrics.MeanAbsoluteError()])
        results = model.evaluate(X, [Y, Z], verbose=0)
        found = dict(zip(model.metrics_names, results, strict=True))
        of_each = [np.abs(X.sum(1, keepdims=True) - each).mean() for each in (Y, Z)]
        named = [found[f"o{n}_mean_absolute_error"] for n in (1, 2)]
        assert named == pytest.approx(of_each, rel=1e-5)
