"""Metrics are those of the global batch."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from keras import ops as K

from parallel_compat import parallelize
from tests.one_device import classes, difference, mlp, train_both

M = keras.metrics
ROWS = 101

ONE_HOT = {
    "accuracy": "accuracy",
    "AUC": lambda: M.AUC(name="auc"),
    "AUC pr multi_label": lambda: M.AUC(curve="PR", multi_label=True, num_labels=3),
    "Precision": M.Precision,
    "Recall": lambda: M.Recall(thresholds=[0.2, 0.4]),
    "TruePositives": M.TruePositives,
    "TrueNegatives": M.TrueNegatives,
    "FalsePositives": M.FalsePositives,
    "FalseNegatives": M.FalseNegatives,
    "SensitivityAtSpecificity": lambda: M.SensitivityAtSpecificity(0.5),
    "SpecificityAtSensitivity": lambda: M.SpecificityAtSensitivity(0.5),
    "PrecisionAtRecall": lambda: M.PrecisionAtRecall(0.5),
    "RecallAtPrecision": lambda: M.RecallAtPrecision(0.3),
    "F1Score": lambda: M.F1Score(average="macro", name="f1"),
    "FBetaScore": lambda: M.FBetaScore(beta=0.5, average="weighted"),
    "OneHotIoU": lambda: M.OneHotIoU(3, [0, 2]),
    "OneHotMeanIoU": lambda: M.OneHotMeanIoU(3),
    "BinaryIoU": lambda: M.BinaryIoU([0, 1], threshold=0.3),
    "R2Score": M.R2Score,
    "RootMeanSquaredError": M.RootMeanSquaredError,
    "MeanSquaredError": M.MeanSquaredError,
    "CosineSimilarity": M.CosineSimilarity,
    "CosineSimilarity over the batch": lambda: M.CosineSimilarity(axis=0),
    "PearsonCorrelation": M.PearsonCorrelation,
    "PearsonCorrelation over the batch": lambda: M.PearsonCorrelation(axis=0),
    "ConcordanceCorrelation": M.ConcordanceCorrelation,
    "CategoricalCrossentropy": M.CategoricalCrossentropy,
    "TopKCategoricalAccuracy": lambda: M.TopKCategoricalAccuracy(k=2),
    "KLDivergence": M.KLDivergence,
}


def f1_of_the_batch(y_true, y_pred):
    p = K.round(y_pred)
    return 2 * K.sum(y_true * p) / (K.sum(y_true) + K.sum(p) + 1e-7)


class LargestError(keras.metrics.Metric):
    """A state that is no sum: the largest error seen so far."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.largest = self.add_variable((), "zeros", name="largest")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.largest.assign(K.maximum(self.largest, K.max(K.abs(y_true - y_pred))))

    def result(self):
        return self.largest.value


def compiled(metrics, **arguments):
    def make():
        made = [m() if isinstance(m, type) or getattr(m, "__name__", "") == "<lambda>" else m for m in metrics]
        return {
            "optimizer": keras.optimizers.SGD(0.3),
            "loss": "categorical_crossentropy",
            "metrics": made,
            **arguments,
        }

    return make


def test_metrics_of_keras(plain_graphs):
    """All at once: a step that is wrong in one of them is named by its key in the history."""
    one, parallel = train_both(mlp, compiled(list(ONE_HOT.values())), *classes(ROWS), predict=False)
    assert len(one.metrics) == len(parallel.metrics)
    choices = parallel.merge_choices["probs"]["metrics"]
    assert choices["accuracy"] == choices["auc"] == choices["f1"] == "samples"


@pytest.mark.parametrize("metric", [lambda: M.CosineSimilarity(axis=0), lambda: M.PearsonCorrelation(axis=0)])
def test_metric_of_keras_over_the_batch_is_merged(metric):
    _, parallel = train_both(mlp, compiled([metric]), *classes(ROWS), replicas=4, predict=False)
    assert set(parallel.merge_choices["probs"]["metrics"].values()) == {"merged"}


@pytest.mark.parametrize("metric", [f1_of_the_batch, LargestError])
def test_metric_of_the_whole_batch_is_merged(metric):
    _, parallel = train_both(mlp, compiled([metric]), *classes(ROWS), replicas=4, predict=False)
    assert set(parallel.merge_choices["probs"]["metrics"].values()) == {"merged"}


def test_own_metric_per_row_is_computed_where_the_rows_are():
    def largest_in_row(y_true, y_pred):
        return K.max(K.abs(y_true - y_pred), axis=-1)

    _, parallel = train_both(mlp, compiled([largest_in_row]), *classes(ROWS), replicas=4, predict=False)
    assert parallel.merge_choices["probs"]["metrics"] == {"largest_in_row": "samples"}


@pytest.mark.parametrize("which", ["sample_weight", "class_weight"])
def test_weighted_metrics(which):
    weights = np.random.default_rng(1).uniform(0.1, 2, ROWS).astype("float32")
    fit = {"sample_weight": weights} if which == "sample_weight" else {"class_weight": {0: 0.5, 1: 1.0, 2: 3.0}}

    def arguments():
        return compiled(["accuracy"], weighted_metrics=["accuracy", M.AUC(), "mse"])()

    train_both(mlp, arguments, *classes(ROWS), replicas=3, fit=fit, predict=False)


def test_sparse_and_binary_accuracy_are_chosen_by_shape():
    x, y = classes(ROWS)
    arguments = {"optimizer": "sgd", "loss": "sparse_categorical_crossentropy", "metrics": ["acc"]}
    train_both(mlp, lambda: arguments, x, y.argmax(1), replicas=3, predict=False)


def test_metrics_names_and_return_values():
    x, y = classes(10)
    parallel = parallelize(mlp(), 3)
    parallel.compile("sgd", "categorical_crossentropy", metrics=["accuracy", "mse"])
    as_list = parallel.test_on_batch(x, y)
    as_dict = parallel.test_on_batch(x, y, return_dict=True)
    assert set(as_dict) == {"loss", "accuracy", "mse"}
    assert difference(as_list, [as_dict[name] for name in ("loss", "accuracy", "mse")]) == 0


def test_metrics_start_anew_each_epoch():
    x, y = classes(64)
    parallel = parallelize(mlp(), 2)
    parallel.compile(keras.optimizers.SGD(0.0), "categorical_crossentropy", metrics=["accuracy", M.AUC(name="auc")])
    history = parallel.fit(x, y, epochs=2, batch_size=16, verbose=0).history
    assert history["accuracy"][0] == history["accuracy"][1]
    assert history["auc"][0] == history["auc"][1]


def test_metric_of_a_layer():
    class Counts(keras.layers.Layer):
        """Keeps the mean of what it saw, in a metric of its own."""

        def __init__(self):
            super().__init__()
            self.seen = keras.metrics.Mean(name="seen")

        def call(self, inputs):
            self.seen.update_state(inputs)
            return inputs

    def build():
        inputs = keras.Input((8,))
        return keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(Counts()(inputs)))

    one, parallel = train_both(build, compiled(["accuracy"]), *classes(ROWS), replicas=4)
    assert "seen" in [metric.name for metric in one.metrics]
    assert "seen" in [metric.name for metric in parallel.metrics]
