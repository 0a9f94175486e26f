"""Why a thing differs between versions of Keras, and what to do: which row of `names/results.tsv` a finding shows."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from parallel_compat.compare.differences import Finding
from parallel_compat.names.eras import Era
from parallel_compat.names.results import RESULTS, THEN, Result

OTHER_RATE, ZERO_WEIGHTS, OWN_CLASS = "another learning rate", "weights of zero", "a class of its own"
OTHER_TRAINED, MORE_TRAINED = "other weights train", "more weights train"
_CLASSES = ("Model", "Sequential", "Functional", "ParallelModel")
_MASK = r'"Masking"|"mask_zero": true'
_OF_SEVERAL = r'"(?:Add|Multiply|Concatenate|Average|Maximum)"'
_REGULARIZER, _FROZEN = r'_regularizer": \{', r'"trainable": false'
_RECURRENT = r"LSTM|GRU"
_METRIC = "metric history evaluate"


def _both(one: str, other: str) -> str:
    return rf"(?s)^(?=.*(?:{one}))(?=.*(?:{other}))"


class Reason(NamedTuple):
    """A known reason."""

    what: str  # the row of `docs/differences.md`
    text: str  # why it differs
    remedy: str  # what to do


class _Sign(NamedTuple):
    """What shows a row."""

    row: str  # how the row begins
    kinds: str  # the kinds of findings
    # A regular expression for the whole class of a layer or optimizer, or the name of a loss or metric.
    name: str = ".*"
    described: str = ""  # one that the model's description has to hold
    by_words: bool = False  # whether the sources have to hold the row's words


# The first that fits is the reason: what a description shows goes before what is only a word in a source.
_SIGNS = (
    _Sign("`GRU`", "weights", described=r'"GRU"'),
    _Sign("`ConvLSTM2D`", "layer", "ConvLSTM2D"),
    _Sign("outputs of `Bidirectional`", "layer", "Bidirectional", rf'(?s)^(?!.*"(?:{_RECURRENT})").*(?:{_MASK})'),
    _Sign("`LSTM`, `GRU`", "layer output", r"LSTM|GRU|Bidirectional|TimeDistributed", _RECURRENT),
    _Sign("bilinear `UpSampling2D`", "layer", "UpSampling2D"),
    _Sign("`BatchNormalization` with `trainable", "layer output", "BatchNormalization", _FROZEN),
    _Sign("`Dropout`, `BatchNormalization` in a custom model class", "layer output loss", described=OWN_CLASS),
    _Sign("the bias of a convolution", "layer output gradient", r"\w*Conv\w*", r"channels_first"),
    _Sign("`hard_sigmoid`", "layer output", described=r'"hard_sigmoid"'),
    _Sign("`hinge`", "loss curve", r".*hinge.*"),
    _Sign("sample weights of 0", "loss curve history", described=ZERO_WEIGHTS),
    _Sign("`activity_regularizer`", "loss curve history evaluate", described=r'"activity_reg\w+": \{|"ActivityReg'),
    _Sign("a frozen layer's", "loss curve", described=_both(_REGULARIZER, _FROZEN)),
    _Sign("`Add`, `Multiply`", "loss layer output", described=_both(_OF_SEVERAL, _MASK)),
    _Sign("a loss under a mask", "loss", described=_MASK),
    _Sign("cross-entropies", "loss gradient curve", described=r"crossentropy"),
    _Sign("layers inside a frozen model", "step state gradient", described=MORE_TRAINED, by_words=True),
    _Sign("`trainable` set after", "step state gradient", described=OTHER_TRAINED),
    _Sign("`BatchNormalization`, moving", "step", "BatchNormalization"),
    _Sign("`BatchNormalization` of pictures", "step", "BatchNormalization"),
    _Sign("`BatchNormalization`, moving", "evaluate predict", "|loss|acc.*", '"BatchNormalization"'),
    _Sign("`BatchNormalization`, moving", "history", "val_.*", '"BatchNormalization"'),
    _Sign("`clipnorm`", "step gradient", described=r'"clipnorm": [0-9.]+'),
    _Sign("`Adadelta()`", "step", "Adadelta", OTHER_RATE),
    _Sign("`Adagrad()`", "step", "Adagrad", OTHER_RATE),
    _Sign("`Adamax()`", "step", "Adamax|Nadam", OTHER_RATE),
    _Sign("a row of an `Embedding`", "step", "Adam|Adamax|Nadam|RMSprop|Adagrad|Adadelta", r'"Embedding"'),
    _Sign("`RMSprop`, `Adagrad`", "step", "RMSprop|Adagrad"),
    _Sign("`Nadam`", "step", "Nadam"),
    _Sign('`"accuracy"` with', _METRIC, "(?:val_)?acc(?:uracy)?", r"binary_crossentropy"),
    _Sign("`SpecificityAtSensitivity`", _METRIC, by_words=True),
    _Sign("`tf.metrics.auc", _METRIC, by_words=True),
    _Sign("`weighted_metrics`", "metric", "weighted_.*", by_words=True),
    _Sign("a metric function with targets", "metric", by_words=True),
    _Sign("`val_loss` with", "history", "val_.*", by_words=True),
    _Sign("a metric under a mask", _METRIC, described=_MASK),
    _Sign("the logged loss of one", "evaluate", r"\w+_loss", by_words=True),
    _Sign("the logged loss of one", "history", by_words=True),
    _Sign("the order in which `evaluate`", "evaluate", by_words=True),
    _Sign("pictures that `ImageDataGenerator`", "batches data", by_words=True),
    _Sign("the order of samples", "data", ""),
    _Sign("a cross-entropy of a `sigmoid`", "step gradient", r"|Dense|Conv\w+|TimeDistributed", by_words=True),
)  # fmt: skip
# What computes as the original did, where `migrate` does not write it by itself.
_STAND_INS = {
    "the bias of a convolution": 'Write the model with `data_format="channels_last"`.',
    "sample weights of 0": 'With weights of 0 and 1, a loss with `reduction="mean_with_sample_weight"` computes as the '
    'original: `keras.losses.CategoricalCrossentropy(reduction="mean_with_sample_weight")`.',
    "`hinge`": "`from parallel_compat.legacy.losses import hinge, squared_hinge` computes as the original.",
    "`hard_sigmoid`": "`parallel_compat.legacy.activations.hard_sigmoid` computes as the original.",
    "`trainable` set after": "`parallel_compat.legacy.settled_trainable.settle_trainable(model)` after `compile` does.",
    "a metric function with": "`parallel_compat.legacy.metrics.metric_function(f)` gives both two axes.",
    '`"accuracy"` with': 'Name it `"binary_accuracy"`.',
    "`clipnorm`": "Give `global_clipnorm`.",
    "`activity_regularizer`": "Multiply its factor by the number of samples in a batch.",
    "the order of samples": "Seed `np.random` right before `fit`, or pass `shuffle=False`, on both sides.",
}


def description(old: dict[str, Any], new: dict[str, Any], zero_weights: bool) -> str:
    """Return what is known of a model, as one text."""
    first, second = (facts.get("optimizer_config") or {} for facts in (old, new))
    rates = [each.get("lr", each.get("learning_rate")) for each in (first, second)]
    # A model with a layer that has no `get_config` has no configuration.
    classes = json.dumps([layer["class"] for layer in old.get("layers", [])])
    known = [str(old.get("config") or ""), classes, json.dumps(first), str(old.get("loss"))]
    known += [OTHER_RATE] if _differ(*rates) else []
    known += [ZERO_WEIGHTS] if zero_weights else []
    known += [OWN_CLASS] if old.get("class", "Model") not in _CLASSES else []
    more = len(new.get("trainable", [])) - len(old.get("trainable", []))
    known += [OTHER_TRAINED] * bool(more) + [MORE_TRAINED] * (more > 0)
    return "\n".join(known)


def _differ(a: Any, b: Any) -> bool:
    numbers = all(isinstance(each, (int, float)) for each in (a, b))
    return numbers and abs(a - b) > 1e-6 * abs(a)


def reason_of(
    finding: Finding, described: str = "", sources: str | None = None, era: Era | None = None
) -> Reason | None:
    """Return the known reason of a finding, or None.

    Args:
        described: what is known of the model (`description`).
    """
    for sign in _SIGNS:
        row = next(each for each in RESULTS if each.what.startswith(sign.row))
        if (
            finding.kind in sign.kinds.split()
            and re.fullmatch(sign.name, finding.class_name)
            and re.search(sign.described, described)
            and (era is None or era in row.eras)
            and (not sign.by_words or re.search(row.words, sources or ""))
        ):
            text = f"{row.what}. Original: {row.keras_2}. Keras 3: {row.keras_3}."
            return Reason(row.what, text, _remedy(row, "" if era is None else f" --era {era.value}"))
    return None


def rounding_alone(weights: int) -> Reason:
    """Return the reason of what differs after steps that moved weights by chance."""
    text = (
        f"The gradients of {weights:,} weights are only rounding, and optimizers such as Adam take a full step with "
        "any gradient. No known difference between versions was found."
    )
    return Reason("gradients of rounding alone", text, 'Compare once with `"sgd"`: it does not move such weights.')


def _remedy(row: Result, era: str) -> str:
    """Say what to do. `--era` is for files without old names, which `migrate` leaves alone."""
    stand_in = next((text for start, text in _STAND_INS.items() if row.what.startswith(start)), "")
    if "--unsafe" in row.migrate:
        return f"`migrate --unsafe{era}` writes the old value. {stand_in}".strip()
    if "--to native" in row.migrate:
        return f"`migrate --to native{era}` writes the old computation. {stand_in}".strip()
    if row.migrate.startswith(THEN):
        return f"`migrate --unsafe{era}` rewrites it. {stand_in}".strip()
    return stand_in or "No rewriting gives the original's results: if they matter, use `parallel-compat run`."
