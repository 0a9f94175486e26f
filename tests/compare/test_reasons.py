"""Each row of the table of differences is named by what shows it first."""

from __future__ import annotations

import json

import pytest

from parallel_compat.compare.differences import Finding
from parallel_compat.compare.reasons import (
    MORE_TRAINED,
    OTHER_RATE,
    OTHER_TRAINED,
    OWN_CLASS,
    ZERO_WEIGHTS,
    description,
    reason_of,
)
from parallel_compat.names.eras import Era
from parallel_compat.names.results import RESULTS

MASK = '"Masking"'
# How the row begins: the kind and class of a finding, what is known of the model, the script.
SHOWN = {
    "the logged loss of one": ("history", "one_loss", "", "loss_weights"),
    "the bias of a convolution": ("layer", "Conv2D", '"data_format": "channels_first"', ""),
    "`Dropout`, `BatchNormalization` in a custom model class": ("output", "", OWN_CLASS, ""),
    "`tf.metrics.auc": ("metric", "auc", "", "tf.metrics.auc(y, p)"),
    "a loss under a mask": ("loss", "mse", MASK, ""),
    "a metric under a mask": ("history", "mae", MASK, ""),
    "`Add`, `Multiply`": ("loss", "mse", f'"Add" {MASK}', ""),
    "outputs of `Bidirectional`": ("layer", "Bidirectional", f'"SimpleRNN" {MASK}', ""),
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
    "`weighted_metrics`": ("metric", "weighted_mean_absolute_error", "", "weighted_metrics=['mae']"),
    "`val_loss` with": ("history", "val_loss", "", "class_weight=w, validation_split=0.5"),
    "`trainable` set after": ("step", "SGD", OTHER_TRAINED, ""),
    "layers inside a frozen model": ("step", "SGD", MORE_TRAINED, "m.trainable = False\nm.layers[0].trainable = True"),
    "a frozen layer's": ("loss", "mse", '"kernel_regularizer": {"l2": 1}, "trainable": false', ""),
    "`BatchNormalization` with": ("layer", "BatchNormalization", '"trainable": false', ""),
    "`BatchNormalization`, moving": ("step", "BatchNormalization", "", ""),
    "`BatchNormalization` of pictures": ("step", "BatchNormalization", "", ""),
    "`Adadelta()`": ("step", "Adadelta", OTHER_RATE, ""),
    "`Adagrad()`": ("step", "Adagrad", OTHER_RATE, ""),
    "`Adamax()`": ("step", "Adamax", OTHER_RATE, ""),
    "`RMSprop`, `Adagrad`": ("step", "RMSprop", "", ""),
    "`Nadam`": ("step", "Nadam", "", ""),
    "a row of an `Embedding`": ("step", "Adam", '"Embedding"', ""),
    "cross-entropies": ("loss", "categorical_crossentropy", "categorical_crossentropy", ""),
    "`LSTM`, `GRU`": ("layer", "LSTM", '"LSTM"', ""),
    "`ConvLSTM2D`": ("layer", "ConvLSTM2D", "", ""),
    "`GRU`": ("weights", "", '"GRU"', ""),
    "`hard_sigmoid`": ("layer", "Dense", '"activation": "hard_sigmoid"', ""),
    "a cross-entropy of a `sigmoid`": ("gradient", "", "", "model.add_loss(loss)"),
    "bilinear `UpSampling2D`": ("layer", "UpSampling2D", "", ""),
}
# No number of a training: what a callback is given, the order of keys, a stop; weights and masks are handed over.
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
        (("step", "Adam"), '"Dense"'),
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


def test_a_row_of_other_eras_is_no_reason():
    lstm = Finding("layer", "lstm", 0.1, "", "LSTM")
    assert reason_of(lstm, '"LSTM"', "", Era.KERAS_2_2_4) is not None
    assert reason_of(lstm, '"LSTM"', "", Era.TF_KERAS_2_2) is None


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
    def of(old, new, trained=(1, 1), zero=False):
        facts = [
            {"config": None, "loss": "mse", "optimizer_config": config, "trainable": [0] * count}
            for config, count in zip((old, new), trained, strict=True)
        ]
        return description(*facts, zero)

    assert OTHER_RATE in of({"lr": 1.0}, {"learning_rate": 0.001})
    assert OTHER_RATE not in of({"lr": 0.001}, {"learning_rate": 0.0010000000474974513})
    assert OTHER_TRAINED in of({}, {}, (2, 1))
    assert ZERO_WEIGHTS in of({}, {}, zero=True)
    assert json.dumps({"clipnorm": 0.5}) in of({"clipnorm": 0.5}, {})


def test_a_model_without_a_configuration_is_described_by_its_layers():
    described = description({"config": None, "layers": [{"class": "Embedding"}, {"class": "Mine"}]}, {}, False)
    reason = reason_of(Finding("step", "embedding", 1.0, "", "Adam"), described, "Embedding(9, 3)", Era.TF_KERAS_2_2)
    assert reason is not None
    assert reason.what.startswith("a row of an `Embedding`")
