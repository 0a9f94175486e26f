"""Losses, metrics and optimizers that a program calls itself, in loops of its own: by TensorFlow 2.2's formulas."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import parallel_compat


def _masked():
    """A model with a mask, and steps that it predicts 1 of, but for one of padding, of which it predicts 5."""
    from tensorflow import keras

    model = keras.Sequential([keras.layers.Embedding(3, 1, mask_zero=True), keras.layers.Dense(1)])
    steps = np.array([[1, 0], [2, 2]])
    model(steps)
    model.set_weights([np.array([[5.0], [1.0], [1.0]]), np.ones((1, 1)), np.zeros(1)])
    return model, tf.constant(steps)


@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])
@pytest.mark.parametrize("traced", [False, True])
def test_weights_of_a_loss_go_along_the_first_axes(era, traced):
    with parallel_compat.legacy_names(era=era):
        from tensorflow import keras

        none = keras.losses.MeanSquaredError(reduction="none")
        mean = keras.losses.MeanSquaredError()
        targets, outputs = tf.constant([[[1.0], [2.0]]] * 2), tf.zeros((2, 2, 1))

        def losses():
            return none(targets, outputs, sample_weight=[1.0, 3.0]), mean(targets, outputs, sample_weight=[1.0, 3.0])

        each, one = (tf.function(losses) if traced else losses)()
        np.testing.assert_allclose(each, [[1.0, 4.0], [3.0, 12.0]])
        np.testing.assert_allclose(one, 5.0)
        one_weight_a_row = none(targets[:, 0], outputs[:, 0], sample_weight=np.array([[1.0], [3.0]]))
        np.testing.assert_allclose(one_weight_a_row, [1.0, 3.0])


def test_targets_of_another_rank_are_spread_unless_all_are_tensors():
    """TensorFlow 2.2 squeezed (3, 1) to (3,) where both are tensors, else it computed losses of (3, 3): its numbers."""
    targets, outputs = np.array([0.0, 1, 1], "float32"), np.array([[0.2], [0.7], [0.4]], "float32")
    recorded = {
        "MeanSquaredError": (0.31889, 0.16333),
        "MeanAbsoluteError": (0.52222, 0.36667),
        "BinaryCrossentropy": (0.85586, 0.4987),
        "Huber": (0.15944, 0.08167),
        "Hinge": (0.85556, 0.7),
        "Poisson": (1.07387, 0.85766),
        "KLDivergence": (1.9216, 1.27296),
        "LogCosh": (0.14839, 0.07811),
    }
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow import keras

        for name, (spread, squeezed) in recorded.items():
            loss, none = getattr(keras.losses, name)(), getattr(keras.losses, name)(reduction="none")
            for given in ((targets, outputs), (targets, tf.constant(outputs)), (targets.tolist(), outputs.tolist())):
                assert float(loss(*given)) == pytest.approx(spread, abs=1e-5), name
            for one in (loss, none):  # the axis that is left is reduced, too
                assert float(one(tf.constant(targets), tf.constant(outputs))) == pytest.approx(squeezed, abs=1e-5), name


@pytest.mark.parametrize("traced", [False, True])
def test_no_mask_counts(traced):
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow import keras

        model, steps = _masked()
        loss, count, targets = keras.losses.MeanSquaredError(), keras.metrics.MeanSquaredError(), tf.zeros((2, 2, 1))

        def step():
            predictions = model(steps)
            count.update_state(targets, predictions)
            return loss(targets, predictions), count(targets, predictions)

        np.testing.assert_allclose((tf.function(step) if traced else step)(), [7.0, 7.0])  # (1 + 25 + 1 + 1) / 4


def test_a_loss_of_the_users_gets_what_it_was_given():
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow import keras

        class OneHot(keras.losses.Loss):
            def call(self, y_true, y_pred):
                return keras.losses.mse(tf.one_hot(y_true, 2), y_pred)

        np.testing.assert_allclose(OneHot()(tf.constant([0, 1]), tf.zeros((2, 2))), 0.5)
        mse = keras.losses.MeanSquaredError()
        assert mse(np.zeros((2, 1)), np.ones((2, 1))).dtype == tf.float64
        assert mse(tf.zeros((2, 1)), tf.fill((2, 1), tf.constant(200, tf.float16))) == 40000.0


@pytest.mark.parametrize("traced", [False, True])
def test_apply_gradients_does_not_clip(traced):
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow import keras

        optimizer, variable = keras.optimizers.SGD(1.0, clipnorm=0.5), tf.Variable([3.0])

        def step():
            optimizer.apply_gradients([(tf.constant([2.0]), variable)])

        (tf.function(step) if traced else step)()
        np.testing.assert_allclose(variable, [1.0])


@pytest.mark.parametrize("kind", ["TruePositives", "FalsePositives", "TrueNegatives", "FalseNegatives"])
def test_counts_that_were_taken_stay(kind):
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow import keras

        metric = getattr(keras.metrics, kind)(thresholds=[0.2, 0.8])
        metric.update_state([1.0, 1.0, 0.0, 0.0], [0.5, 0.5, 0.5, 0.5])
        taken = metric.result()
        before = taken.numpy().tolist()
        metric.reset_states()
        assert before in ([2.0, 0.0], [0.0, 2.0])
        assert taken.numpy().tolist() == before


@pytest.mark.parametrize(
    ("kind", "loss"),
    [("BinaryCrossentropy", 0.41493144631385803), ("Hinge", 0.6333333849906921), ("Poisson", 0.8405502438545227)],
)
def test_metrics_of_columns_and_rows(kind, loss):
    """Targets `(samples,)` and predictions `(samples, 1)` are of as many samples, not each of each (TensorFlow 2.2)."""
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow import keras

        targets, outputs = np.array([1.0, 0.0, 1.0], "float32"), np.array([0.9, 0.2, 0.4], "float32")
        for x, y in ((targets, outputs[:, None]), (targets[:, None], outputs), (targets, outputs)):
            metric = getattr(keras.metrics, kind)()
            metric.update_state(x, y)
            np.testing.assert_allclose(metric.result(), loss, rtol=1e-6)


@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def test_functions_spread_targets_of_another_rank(era, replicas):
    """Also in a loss of the user's: all three stacks computed losses of (3, 3) of (3,) and (3, 1). Their numbers."""
    targets, outputs = np.array([1.0, 0, 2], "float32"), np.array([[0.5], [0.25], [0.75]], "float32")
    recorded = {
        "mean_squared_error": ([0.91667, 1.22917, 0.72917], 0.95833),
        "mean_absolute_error": ([0.83333, 0.91667, 0.75], 0.83333),
        "mean_squared_logarithmic_error": ([0.24254, 0.34571, 0.20717], 0.26514),
        "logcosh": ([0.36522, 0.4586, 0.30831], 0.37738),
    }
    with parallel_compat.legacy_names(era=era):
        from keras import layers, losses, metrics, models, utils

        for name, (by_hand, of_model) in recorded.items():
            function = getattr(losses, name)
            np.testing.assert_allclose(function(tf.constant(targets), tf.constant(outputs)), by_hand, atol=1e-5)
            model = models.Sequential([layers.Dense(1, kernel_initializer="ones", use_bias=False, input_shape=(1,))])
            model = utils.multi_gpu_model(model, replicas) if replicas > 1 else model
            model.compile("sgd", lambda y_true, y_pred, loss=function: loss(y_true[:, 0], y_pred))
            assert model.test_on_batch(outputs, targets[:, None]) == pytest.approx(of_model, rel=1e-5)
            model.compile("sgd", function, metrics=[function])
            assert model.test_on_batch(outputs, targets) == pytest.approx(
                [function(tf.constant(targets[:, None]), tf.constant(outputs)).numpy().mean()] * 2, rel=1e-5
            )
        accuracy = metrics.binary_accuracy(tf.constant(targets), tf.constant(outputs))
        assert np.mean(accuracy) == pytest.approx(1 / 3)


# By TensorFlow 2.2.3, of the targets ((1, 0), (0, 1)) and the predictions ((1, 1), (0, 1)).
OF_WHOLE_NUMBERS = {
    "CosineSimilarity": 0.85355, "KLDivergence": 0.0, "Poisson": 0.75, "LogCoshError": 0.10845, "Hinge": 0.75,
    "SquaredHinge": 1.25, "CategoricalHinge": 0.5, "BinaryCrossentropy": 3.83331, "CategoricalCrossentropy": 0.34657,
}  # fmt: skip


def test_metrics_take_arrays_of_whole_numbers_and_of_double_precision():
    targets, outputs = np.array([[1, 0], [0, 1]]), np.array([[1, 1], [0, 1]])
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow import keras

        for name, expected in OF_WHOLE_NUMBERS.items():
            metric = getattr(keras.metrics, name)()
            metric.update_state(targets, outputs)
            assert float(metric.result()) == pytest.approx(expected, abs=1e-5), name
            metric.reset_states()
            metric.update_state(targets.astype(bool), outputs)
            assert float(metric.result()) == pytest.approx(expected, abs=1e-5), name
        chances = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
        assert chances.dtype == "float64"
        among = keras.metrics.top_k_categorical_accuracy(np.eye(3)[[1, 2]], chances, k=2)
        assert among.numpy().tolist() == [1.0, 0.0]
        among = keras.metrics.sparse_top_k_categorical_accuracy(np.array([1, 2]), chances, k=2)
        assert among.numpy().tolist() == [1.0, 0.0]
