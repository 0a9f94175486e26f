"""Each row of the table of differences is named by what shows it first."""

from __future__ import annotations

import json

import pytest

from parallel_compat.compare.differences import Finding
from parallel_compat.compare.reasons import (
    FROZEN_NORMALIZATION,
    MORE_TRAINED,
    OTHER_GATES,
    OTHER_RATE,
    OTHER_SIGMOID,
    OTHER_TRAINED,
    OWN_CLASS,
    SMALL_BATCH,
    ZERO_WEIGHTS,
    description,
    known_of,
    reason_of,
)
from parallel_compat.names.eras import Era
from parallel_compat.names.results import RESULTS

MASK = '"Masking"'
# How the row begins: the kind and class of a finding, what is known of the model, the script.
SHOWN = {
    "the logged `loss` of a model with": ("history", "loss", "", "model.add_loss(loss)"),
    "the logged loss of one": ("history", "one_loss", SMALL_BATCH, "loss_weights"),
    "the bias of a convolution": ("layer", "Conv2D", '"data_format": "channels_first"', ""),
    "`Dropout`, `BatchNormalization` in a custom model class": ("output", "", OWN_CLASS, ""),
    "`tf.metrics.auc": ("metric", "auc", "", "tf.metrics.auc(y, p)"),
    "a loss under a mask": ("loss", "mse", MASK, ""),
    "a metric under a mask": ("history", "mae", MASK, ""),
    "`Add`, `Multiply`": ("loss", "mse", f'"Add" {MASK}', ""),
    "outputs of `Bidirectional`": ("layer", "Bidirectional", f'"SimpleRNN" {MASK}', ""),
    "an `RNN` under a mask": ("layer", "RNN", f'"RNN" {MASK}', "self.state_size = 4"),
    "`clipnorm`": ("step", "SGD", '"clipnorm": 0.5', ""),
    "the order in which `evaluate`": ("evaluate", "b_acc", "", "Model(x, outputs=[a, b])"),
    "the order of samples": ("data", "", "", ""),
    "pictures that `ImageDataGenerator`": ("data", "", "", "ImageDataGenerator(rotation_range=9)"),
    "sample weights of 0": ("loss", "mse", ZERO_WEIGHTS, ""),
    "a metric function with targets": ("metric", "product", "", "y_true * y_pred"),
    "`activity_regularizer`": ("loss", "mse", '"activity_regularizer": {"class_name": "L1L2"}', ""),
    '`"accuracy"` with': ("metric", "acc", "binary_crossentropy", ""),
    "`hinge`": ("loss", "squared_hinge", "", ""),
    "`SpecificityAtSensitivity`": ("metric", "sas", "", "SpecificityAtSensitivity(0.5)"),
    "a metric class whose": ("history", "hits", "", "def reset_states(self): self.hits.assign(0.)"),
    "`weighted_metrics`": ("metric", "weighted_mean_absolute_error", "", "weighted_metrics=['mae']"),
    "`val_loss` with": ("history", "val_loss", "", "class_weight=w, validation_split=0.5"),
    "`trainable` set after": ("step", "SGD", OTHER_TRAINED, ""),
    "layers inside a frozen model": ("step", "SGD", MORE_TRAINED, "m.trainable = False\nm.layers[0].trainable = True"),
    "a frozen layer's": ("loss", "mse", '"kernel_regularizer": {"l2": 1}, "trainable": false', ""),
    "`BatchNormalization` with": ("layer", "BatchNormalization", '"trainable": false', ""),
    "`BatchNormalization`, moving": ("step", "BatchNormalization", "", ""),
    "`BatchNormalization` of pictures": ("step", "BatchNormalization", "", ""),
    "`Adadelta()`": ("step", "Adadelta of Dense", OTHER_RATE, ""),
    "`Adagrad()`": ("step", "Adagrad of Dense", OTHER_RATE, ""),
    "`Adamax()`": ("step", "Adamax of Dense", OTHER_RATE, ""),
    "`RMSprop`, `Adagrad`": ("step", "RMSprop of Dense", "", ""),
    "`Nadam`": ("step", "Nadam of Dense", "", ""),
    "a row of an `Embedding`": ("step", "Adam of Embedding", '"Embedding"', ""),
    "cross-entropies": ("loss", "categorical_crossentropy", "categorical_crossentropy", ""),
    "`LSTM`, `GRU`": ("layer", "LSTM", f'"LSTM" {OTHER_GATES}', ""),
    "`ConvLSTM2D`": ("layer", "ConvLSTM2D", OTHER_GATES, ""),
    "`GRU`": ("weights", "", '"GRU"', ""),
    "`hard_sigmoid`": ("layer", "Dense", OTHER_SIGMOID, ""),
    "a cross-entropy of a `sigmoid`": ("gradient", "", "", "model.add_loss(loss)"),
    "bilinear `UpSampling2D`": ("layer", "UpSampling2D", "", ""),
}
# No number of a training: what a callback is given, the order of keys, a stop; weights and masks are handed over. Of
# those shown, no script shows two: `compare` hands the order of samples over, and `tf.metrics` stops on Keras 3.
NOT_SHOWN = (
    *("`logs` of `on_batch_end`", "the order of the keys", "`compute_output_shape` of a custom layer"),
    *("initial weights", "the order of `get_weights()`"),
)


@pytest.mark.parametrize("row", SHOWN)
def test_a_row_is_named(row):
    kind, name, described, sources = SHOWN[row]
    (whole,) = (each for each in RESULTS if each.what.startswith(row))
    reason = reason_of(Finding(kind, "x", None, "", name), described, sources, next(iter(whole.eras)))
    assert reason is not None
    assert reason.what == whole.what
    assert whole.keras_2 in reason.text
    assert whole.keras_3 in reason.text


def test_no_row_is_forgotten():
    assert [row.what for row in RESULTS if not row.what.startswith((*SHOWN, *NOT_SHOWN))] == []


@pytest.mark.parametrize(
    ("finding", "described"),
    [
        (("layer", "Dense"), '"activation": "relu"'),
        (("step", "SGD"), '"clipnorm": null'),
        (("step", "Adam of Dense"), '"Embedding", "Dense"'),
        (("loss", "mse"), '"activity_regularizer": null, "kernel_regularizer": null'),
        (("metric", "mae"), ""),
        (("history", "loss"), '"BatchNormalization"'),
    ],
)
def test_what_no_row_explains_has_no_reason(finding, described):
    kind, name = finding
    assert reason_of(Finding(kind, "x", None, "", name), described, "model.fit(x, y)", Era.KERAS_2_2_4) is None


def test_a_small_last_batch_is_told_from_another_order():
    sources = "Model(x, outputs=[a, b]).compile(loss_weights=[1, 2])"
    what = [
        reason_of(Finding("evaluate", "x", None, "", name), "", sources, Era.KERAS_2_2_4).what
        for name in ("a_loss", "b_acc")
    ]
    assert [each.split(" of")[0].split(" in")[0] for each in what] == ["the logged loss", "the order"]


def test_without_a_small_last_batch_a_mean_over_batches_is_no_reason():
    sources, finding = (
        "Model(x, outputs=[a, b]).compile(loss_weights=[1, 2])",
        Finding("history", "x", None, "", "a_loss"),
    )
    assert reason_of(finding, "", sources, Era.KERAS_2_2_4) is None


def test_a_row_of_other_eras_is_no_reason():
    lstm = Finding("layer", "lstm", 0.1, "", "LSTM")
    described = f'"LSTM" {OTHER_GATES}'
    assert reason_of(lstm, described, "", Era.KERAS_2_2_4) is not None
    assert reason_of(lstm, described, "", Era.TF_KERAS_2_2) is None


def test_gates_of_the_old_default_are_no_reason():
    old, new = ({"config": f'"LSTM" {MASK} "recurrent_activation": {name}'} for name in ('"hard_sigmoid"', '"sigmoid"'))
    finding = Finding("layer", "b", 0.1, "", "Bidirectional")
    assert reason_of(finding, description(old, new), "", Era.KERAS_2_2_4).what == "`LSTM`, `GRU`"
    assert reason_of(finding, description(old, old), "", Era.KERAS_2_2_4).what.startswith("outputs of `Bidirectional`")


def test_what_to_do_offers_options_and_stand_ins():
    def remedy(row, era=Era.KERAS_2_2_4):
        kind, name, described, sources = SHOWN[row]
        return reason_of(Finding(kind, "x", None, "", name), described, sources, era).remedy

    assert remedy("`LSTM`, `GRU`") == "`migrate --unsafe --era keras-2.2.4` writes the old value."
    assert remedy("`RMSprop`, `Adagrad`").startswith("`migrate --to native --era keras-2.2.4` writes")
    assert "parallel_compat.legacy.losses import hinge" in remedy("`hinge`")
    assert 'reduction="mean_with_sample_weight"' in remedy("sample weights of 0")
    assert remedy("`BatchNormalization`, moving").startswith("No rewriting")


def test_a_description_has_what_configurations_do_not_say():
    def of(old, new, *more, trained=(1, 1)):
        facts = [
            {"config": None, "loss": "mse", "optimizer_config": config, "trainable": [0] * count}
            for config, count in zip((old, new), trained, strict=True)
        ]
        return description(*facts, *more)

    assert OTHER_RATE in of({"lr": 1.0}, {"learning_rate": 0.001})
    assert OTHER_RATE not in of({"lr": 0.001}, {"learning_rate": 0.0010000000474974513})
    by_name, ours = {"config": '"activation": "hard_sigmoid"'}, {"config": '"config": "hard_sigmoid"'}
    assert OTHER_SIGMOID in description(by_name, by_name)
    assert OTHER_SIGMOID not in description(by_name, ours)
    assert OTHER_TRAINED in of({}, {}, trained=(2, 1))
    assert ZERO_WEIGHTS in of({}, {}, ZERO_WEIGHTS)
    normalization = {"class": "BatchNormalization", "weights": ["gamma", "beta", "mean", "variance"]}
    frozen = {"layers": [normalization, {"class": "Dense", "weights": ["kernel"]}], "trainable": [4]}
    assert FROZEN_NORMALIZATION in description(frozen, frozen)
    assert FROZEN_NORMALIZATION not in description({**frozen, "trainable": [0, 1, 4]}, frozen)
    assert json.dumps({"clipnorm": 0.5}) in of({"clipnorm": 0.5}, {})


def test_what_compile_was_given_last_is_known_of_its_steps():
    later = {"at": 6, "optimizer": "RMSprop", "optimizer_config": {"rho": 0.9}, "loss": "mae"}
    facts = {"layers": [{"class": "Dense", "name": "d"}], "optimizer": "Adam", "loss": "mse", "compiled": [later]}
    first, second = known_of(facts, facts)
    assert (first.at, first.optimizer, second.at, second.optimizer) == (0, "Adam", 6, "RMSprop")
    assert "rho" in second.text
    assert "rho" not in first.text
    assert (first.layers, second.layers) == ({"d"}, {"d"})


def test_a_model_without_a_configuration_is_described_by_its_layers():
    described = description({"config": None, "layers": [{"class": "Embedding"}, {"class": "Mine"}]}, {})
    reason = reason_of(
        Finding("step", "embedding", 1.0, "", "Adam of Embedding"), described, "Embedding(9, 3)", Era.TF_KERAS_2_2
    )
    assert reason is not None
    assert reason.what.startswith("a row of an `Embedding`")
