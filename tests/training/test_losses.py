"""Losses of every kind are those of the global batch, wherever they are computed."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from keras import ops as K

from parallel_compat import parallelize
from tests.one_device import classes, mlp, train_both

SAMPLES = 101


def compiled(loss, **arguments):
    return lambda: {"optimizer": keras.optimizers.SGD(0.1), "loss": loss() if callable(loss) else loss, **arguments}


def regression(units=3):
    inputs = keras.Input((8,))
    return keras.Model(inputs, keras.layers.Dense(units, activation="sigmoid", name="out")(inputs))


def where(parallel, output):
    return parallel.merge_choices[output]["loss"]


BUILT_IN = [
    "mean_squared_error",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_logarithmic_error",
    "huber",
    "log_cosh",
    "categorical_hinge",
    "kl_divergence",
    "poisson",
    "cosine_similarity",
    "binary_crossentropy",
    "binary_focal_crossentropy",
    "categorical_crossentropy",
    "categorical_focal_crossentropy",
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("loss", BUILT_IN)
def test_built_in_loss_is_computed_where_the_rows_are(loss):
    x, y = classes(SAMPLES)
    if loss == "mean_absolute_percentage_error":
        y = y + 1
    _, parallel = train_both(regression, compiled(loss), x, y, replicas=3, predict=False)
    assert where(parallel, "out") == "samples"


def test_sparse_categorical_crossentropy():
    x, y = classes(SAMPLES)
    _, parallel = train_both(
        mlp, compiled("sparse_categorical_crossentropy"), x, y.argmax(1), replicas=3, predict=False
    )
    assert where(parallel, "probs") == "samples"


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_hinge_tells_the_kind_of_labels_by_the_whole_batch(loss):
    """Keras takes 0 for -1 where a batch has 0 and 1 alone; the last replica's rows have, the batch has not."""
    x, y = classes(SAMPLES)
    y[:3] = -1
    _, parallel = train_both(regression, compiled(loss), x, y, replicas=3, predict=False)
    assert where(parallel, "out") == "merged"


@pytest.mark.parametrize("loss", ["Dice", "Tversky", "Circle"])
def test_built_in_loss_of_the_whole_batch_is_merged(loss):
    x, y = classes(SAMPLES)
    y = y.argmax(1) if loss == "Circle" else y
    _, parallel = train_both(
        regression, compiled(getattr(keras.losses, loss)), x, y, replicas=3, tolerance=2e-4, predict=False
    )
    assert where(parallel, "out") == "merged"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("reduction", ["sum_over_batch_size", "mean", "sum", "mean_with_sample_weight"])
@pytest.mark.parametrize("weighted", [False, True])
def test_reduction(reduction, weighted):
    weights = [np.random.default_rng(1).uniform(0.1, 2, SAMPLES).astype("float32")] if weighted else []
    fit = {"sample_weight": weights[0]} if weighted else {}
    rate = 0.01 if reduction == "sum" else 0.3

    def arguments():
        loss = keras.losses.MeanSquaredError(reduction=reduction)
        return {"optimizer": keras.optimizers.SGD(rate), "loss": loss}

    _, parallel = train_both(regression, arguments, *classes(SAMPLES), replicas=3, fit=fit, predict=False)
    assert where(parallel, "out") == "samples"


def dice(y_true, y_pred):
    return 1 - (2 * K.sum(y_true * y_pred) + 1) / (K.sum(y_true) + K.sum(y_pred) + 1)


def focal_over_positives(y_true, y_pred):
    """As in RetinaNet: a sum over all rows, divided by the number of positives in the batch."""
    p = K.clip(y_pred, 1e-6, 1 - 1e-6)
    losses = -y_true * (1 - p) ** 2 * K.log(p) - (1 - y_true) * p**2 * K.log(1 - p)
    return K.sum(losses) / K.maximum(K.sum(y_true), 1.0)


def per_row_over_positives(y_true, y_pred):
    """A value per row that depends on the whole batch: its shape does not tell."""
    return K.mean(K.square(y_true - y_pred), axis=-1) / K.maximum(K.sum(y_true), 1.0)


def root(y_true, y_pred):
    return K.sqrt(K.mean(K.square(y_true - y_pred)))


class OwnCall(keras.losses.Loss):
    """A loss that does not keep to `call` and a reduction."""

    def __call__(self, y_true, y_pred, sample_weight=None):
        return K.max(K.sum(K.square(y_true - y_pred), axis=-1))

    def call(self, y_true, y_pred):
        raise NotImplementedError


@pytest.mark.parametrize("loss", [dice, focal_over_positives, per_row_over_positives, root, OwnCall()])
def test_loss_of_the_whole_batch_is_merged(loss):
    _, parallel = train_both(regression, compiled(lambda: loss), *classes(SAMPLES), replicas=4, predict=False)
    assert where(parallel, "out") == "merged"


def over_known_targets(y_true, y_pred):
    """-1 stands for "not known", as in multi-task losses of that time."""
    known = K.cast(K.not_equal(y_true, -1.0), "float32")
    return K.mean(K.square(y_true - y_pred) * known, axis=-1) / K.mean(known)


def over_the_largest_target(y_true, y_pred):
    return K.mean(K.square(y_true - y_pred), axis=-1) / K.max(K.abs(y_true))


def over_finite_targets(y_true, y_pred):
    known = K.isfinite(y_true)
    errors = K.where(known, K.where(known, y_true, 0.0) - y_pred, 0.0)
    return K.sum(K.square(errors), axis=-1) / K.mean(K.cast(known, "float32"))


@pytest.mark.parametrize(
    ("loss", "value"), [(over_known_targets, -1.0), (over_the_largest_target, 7.0), (over_finite_targets, np.nan)]
)
def test_loss_that_depends_on_the_batch_for_some_values_only_is_merged(loss, value):
    """On rows of zeros and ones these cannot be distinguished from a loss of each row."""
    x, y = classes(SAMPLES)
    y[5:25] = value
    _, parallel = train_both(regression, compiled(lambda: loss, metrics=[loss]), x, y, replicas=3, predict=False)
    assert parallel.merge_choices["out"] == {"loss": "merged", "metrics": {loss.__name__: "merged"}}


def saturated(activation, units):
    def build():
        inputs = keras.Input((8,))
        wide = keras.initializers.RandomNormal(stddev=20, seed=1)
        outputs = keras.layers.Dense(units, activation=activation, kernel_initializer=wide, name="out")(inputs)
        return keras.Model(inputs, outputs)

    return build


def crossentropy_and_dice(y_true, y_pred):
    return K.mean(keras.losses.binary_crossentropy(y_true, y_pred)) + dice(y_true, y_pred)


@pytest.mark.parametrize("merge", ["auto", "always"])
@pytest.mark.parametrize(
    ("activation", "loss"),
    [
        ("softmax", "categorical_crossentropy"),
        ("sigmoid", "binary_crossentropy"),
        ("sigmoid", crossentropy_and_dice),
    ],
)
def test_crossentropy_of_saturated_outputs(activation, loss, merge):
    """Keras computes it from the logits, which the merged outputs have to bring along."""
    arguments = {"optimizer": keras.optimizers.SGD(0.01), "loss": loss}
    train_both(saturated(activation, 3), lambda: dict(arguments, optimizer=keras.optimizers.SGD(0.01)),
               *classes(SAMPLES), replicas=3, merge=merge, tolerance=5e-4)  # fmt: skip


def per_row(y_true, y_pred):
    return K.sum(K.abs(y_true - y_pred), axis=-1)


def in_the_graph(y_true, y_pred):
    """The prediction is the loss, as CTC models of that time had it."""
    return y_pred


@pytest.mark.parametrize("loss", [per_row, in_the_graph])
def test_own_loss_per_row_is_computed_where_the_rows_are(loss):
    _, parallel = train_both(regression, compiled(lambda: loss), *classes(SAMPLES), replicas=4, predict=False)
    assert where(parallel, "out") == "samples"


@pytest.mark.parametrize("merge", ["always", {"out": "always"}])
def test_always_merges(merge):
    _, parallel = train_both(
        regression, compiled("mse", metrics=["mae"]), *classes(SAMPLES), replicas=3, merge=merge, predict=False
    )
    assert parallel.merge_choices == {"out": {"loss": "merged", "metrics": {"mae": "merged"}}}


def test_never_takes_the_mean_over_rows_of_what_the_replicas_see():
    x, y = classes(10)
    template = regression()
    parallel = parallelize(template, 2, merge="never")
    parallel.compile("sgd", dice, metrics=[dice])
    returned = parallel.test_on_batch(x, y, return_dict=True)
    assert parallel.merge_choices == {"out": {"loss": "samples", "metrics": {"dice": "samples"}}}
    predictions = template.predict(x, verbose=0)
    halves = [float(dice(y[rows], predictions[rows])) for rows in (slice(0, 5), slice(5, 10))]
    assert returned["loss"] == pytest.approx(np.mean(halves), abs=1e-6)
    assert returned["dice"] == pytest.approx(np.mean(halves), abs=1e-6)
    assert returned["loss"] != pytest.approx(float(dice(y, predictions)), abs=1e-4)


def test_never_refuses_what_cannot_be_taken_apart():
    parallel = parallelize(regression(), 2, merge="never")
    parallel.compile("sgd", OwnCall())
    with pytest.raises(ValueError, match="merge='never'"):
        parallel.train_on_batch(*classes(10))


@pytest.mark.parametrize("merge", ["sometimes", {"out": "sometimes"}, {"nothing": "always"}, {"add_loss": "always"}])
def test_unknown_merge_is_refused(merge):
    with pytest.raises(ValueError, match="Expected `merge`"):
        parallelize(regression(), 2, merge=merge)


def test_choices_are_known_after_the_first_batch():
    parallel = parallelize(regression(), 2)
    parallel.compile("sgd", "mse")
    with pytest.raises(ValueError, match="after the first batch"):
        _ = parallel.merge_choices


def two_outputs():
    inputs = keras.Input((8,))
    hidden = keras.layers.Dense(6, activation="tanh")(inputs)
    outputs = [
        keras.layers.Dense(3, activation="softmax", name="probs")(hidden),
        keras.layers.Dense(1, name="value")(hidden),
    ]
    return keras.Model(inputs, outputs)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "arguments",
    [
        {"loss": {"probs": "categorical_crossentropy", "value": "mse"}, "loss_weights": {"probs": 1.0, "value": 0.2}},
        {"loss": ["categorical_crossentropy", "mse"], "loss_weights": [0.3, 2.0]},
        {"loss": {"probs": dice, "value": "mse"}, "metrics": {"probs": ["accuracy"], "value": ["mae"]}},
        {"loss": ["categorical_crossentropy", root], "metrics": [["accuracy", "AUC"], ["mae"]]},
        {"loss": "mse"},
    ],
)
def test_several_outputs(arguments):
    x, y = classes(SAMPLES)
    targets = [y, y[:, :1] * 3 - 1]
    optimizer = {"optimizer": "sgd"}
    train_both(two_outputs, lambda: {**optimizer, **arguments}, x, targets, replicas=3)


@pytest.mark.parametrize("second", ["mae", root])
def test_logged_losses_of_outputs_are_means_over_the_batches_of_a_generator(second):
    """Also where the last batch is smaller, as Keras 3 computes them in a graph."""
    x, y = np.random.default_rng(0).normal(size=(2, 17, 3)).astype("float32")
    inputs = keras.Input((3,))
    template = keras.Model(inputs, [keras.layers.Dense(3, name=name)(inputs) for name in "ab"])
    model = parallelize(template, 2)
    model.compile(keras.optimizers.SGD(0.0), ["mse", second])
    parts = [slice(i, i + 5) for i in range(0, 17, 5)]
    history = model.fit(((x[part], (y[part], y[part])) for part in parts), steps_per_epoch=4, verbose=0).history
    losses = [keras.losses.get("mse"), keras.losses.get(second)]
    for name, loss, predicted in zip("ab", losses, template.predict(x), strict=True):
        expected = np.mean([np.mean(loss(y[part], predicted[part])) for part in parts])
        assert history[f"{name}_loss"] == [pytest.approx(expected, rel=1e-5)]


def test_targets_by_output_name():
    x, y = classes(SAMPLES)
    arguments = {"optimizer": "sgd", "loss": {"value": "mse", "probs": "categorical_crossentropy"}}
    train_both(two_outputs, lambda: arguments, x, {"value": y[:, :1], "probs": y}, replicas=3)


def test_regularizers():
    build = lambda: mlp(kernel_regularizer=keras.regularizers.L1L2(0.01, 0.02), bias_regularizer="l2")  # noqa: E731
    train_both(build, compiled("categorical_crossentropy"), *classes(SAMPLES), replicas=4)


def test_no_loss_is_an_error():
    parallel = parallelize(mlp(), 2)
    parallel.compile("sgd")
    with pytest.raises(ValueError, match="No loss to compute"):
        parallel.train_on_batch(classes(10)[0])


def test_a_loss_that_returns_nothing_is_named():
    def forgotten(y_true, y_pred):
        keras.ops.mean(keras.ops.square(y_true - y_pred))

    parallel = parallelize(mlp(), 2)
    parallel.compile("sgd", forgotten)
    with pytest.raises(ValueError, match=r"the loss `forgotten` to return .* Received: None"):
        parallel.train_on_batch(np.ones((4, 8)), np.ones((4, 3)))


def test_a_flat_list_of_metrics_is_for_every_output():
    """As the models of the old function took it; Keras 3 alone refuses it."""
    inputs = keras.Input((8,))
    outputs = [keras.layers.Dense(1, name=name)(inputs) for name in ("first", "second")]
    parallel = parallelize(keras.Model(inputs, outputs), 2)
    parallel.compile("sgd", ["mse", "mse"], metrics=["mae"])
    logs = parallel.train_on_batch(np.ones((4, 8)), [np.ones((4, 1))] * 2, return_dict=True)
    assert {"first_mae", "second_mae"} <= set(logs)
