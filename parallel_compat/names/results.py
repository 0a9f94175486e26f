"""What Keras 2.2.4 and Keras 3 compute differently, and which of the two `migrate` and `recover` give.

`docs/reference/differences.md` and the HTML reports are made of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from parallel_compat.names.eras import Era

THEN, TODAY = "as before", "**as Keras 3**"
_NATIVE = "**as Keras 3**; as before with `--to native`"
_OPTION = "as before with `--unsafe`"
_IN_FILE = "as before: the file says it"
_NONE = "-"
# What has a `BatchNormalization`, or is a network of `keras.applications` with them.
_BATCH_NORMALIZED = r"BatchNorm|ResNet|DenseNet|Inception|Xception|MobileNet|NASNet|EfficientNet"
_ERAS = frozenset(Era) - {Era.TODAY}
_KERAS_2_2_4 = frozenset({Era.KERAS_2_2_4})
_STANDALONE = frozenset({Era.KERAS_2_2_4, Era.KERAS_2_3})
_TF_KERAS = frozenset({Era.TF_KERAS_1_15, Era.TF_KERAS_2_2})


class Result(NamedTuple):
    """One thing that is computed differently.

    Attributes:
        what: what it is.
        keras_2: what Keras 2.2.4 computed.
        keras_3: what Keras 3 computes.
        migrate: what a rewritten source gives.
        recover: what a recovered model gives in Keras 3.
        words: a regular expression for the sources that it concerns.
        eras: those that computed it as Keras 2.2.4 did; the others had what Keras 3 has, or something else yet.
    """

    what: str
    keras_2: str
    keras_3: str
    migrate: str
    recover: str
    words: str
    eras: frozenset[Era] = _ERAS


RESULTS: tuple[Result, ...] = (
    Result(
        "the logged loss of one of several outputs; a metric function that returns one number (`f1`)",
        "mean over samples",
        "mean over batches: a small last batch counts as much as a full one; the total `loss` is weighted by samples "
        "in both",
        TODAY, TODAY,
        r"metrics\s*=|loss_weights|\.compile\(",
        _ERAS - {Era.KERAS_2_3},
    ),
    Result(
        "the bias of a convolution with channels first, if pictures are as wide as it has filters",
        "added to the channels",
        "added along the width, in eager calls and in gradients (`keras.ops.add` of Keras 3.15)",
        f"{_OPTION}, else {TODAY}", TODAY,
        r"channels_first|dim_ordering",
    ),
    Result(
        "`Dropout`, `BatchNormalization` in a custom model class whose `call` takes no `training`",
        "train when the model trains",
        "always run as at inference",
        THEN, _NONE,
        r"class\s+\w+\(.*Model\)",
    ),
    Result(
        "`tf.metrics.auc(...)` and the like in a metric function",
        "counts over all batches since `compile`; the value alone stays that of the first batch, the value that waits "
        "for the update is by chance that before or after it",
        "does not exist",
        "refused", _NONE,
        r"tf\.(compat\.v1\.)?metrics\.",
    ),
    Result(
        "a loss under a mask, in code of tf.keras",
        "Keras 2: mean over unmasked steps; tf.keras: divided by all steps, masked ones included",
        "mean over unmasked steps",
        TODAY, TODAY,
        r"Masking|mask_zero",
        _TF_KERAS,
    ),
    Result(
        "a metric under a mask",
        "each batch's masked mean, averaged by samples",
        "mean over all unmasked steps",
        TODAY, TODAY,
        r"mask_zero|Masking",
        _KERAS_2_2_4,
    ),
    Result(
        "`Add`, `Multiply`, `Concatenate` and the like of masked inputs",
        "a step is masked if one of the masks masks it; inputs without a mask are ignored",
        "a step is masked if all masks mask it; no mask if one input has none",
        TODAY, TODAY,
        r"mask_zero|Masking",
    ),
    Result(
        "what `Bidirectional` gives at masked steps (`return_sequences=True`)",
        "the last output again",
        "0: layers that ignore masks (`Flatten`, `Conv1D`) see it, losses do not",
        TODAY, TODAY,
        r"Bidirectional",
        _KERAS_2_2_4,
    ),
    Result(
        "`logs` of `on_batch_end`",
        "the values of the batch, with `size` and `batch`",
        "the means since the start of the epoch, without `size` and `batch`",
        TODAY, _NONE,
        r"on_batch_end|on_train_batch_end",
        _ERAS - {Era.TF_KERAS_2_2},
    ),
    Result(
        "`clipnorm`",
        "limits the norm of all gradients together",
        "limits the norm of each weight's gradient: use `global_clipnorm`",
        "as before, by `global_clipnorm`, if `lr` is passed or with `--unsafe`",
        "as before, by `global_clipnorm`",
        r"clipnorm",
        _STANDALONE,
    ),
    Result(
        "the order in which `evaluate` and `train_on_batch` return the metrics of several outputs",
        "the order in which outputs and metrics were passed",
        "by name: `alpha_acc` before `zeta_mae`",
        f"as before if the file shows the outputs, else {TODAY}", TODAY,
        r"loss_weights|outputs\s*=\s*\[|Model\([^\n]*,\s*\[[^\n\]]*,",
    ),
    Result(
        "the order of the keys of `history.history` and of logs",
        "`val_loss`, `val_acc`, `loss`, `acc` in Keras 2; `loss`, `acc`, `val_loss`, `val_acc` in tf.keras",
        "by name: `acc`, `loss`, `val_acc`, `val_loss`",
        f"{TODAY}: read by name", _NONE,
        r"DataFrame\([^\n]*\.history|\.history\.(?:keys|values|items)\(|in\s+\w+\.history\b|list\(\w+\.history\)",
    ),
    Result(
        "the order of samples in `fit(shuffle=True)` after `np.random.seed`",
        "by `np.random.shuffle`: the seed repeats it",
        "another order; its seed is `keras.utils.set_random_seed`",
        TODAY, _NONE,
        r"random\.seed\([\s\S]*\.fit\(",
    ),
    Result(
        "`load_weights(by_name=True, skip_mismatch=True)`",
        "skips each array of another shape",
        "skips the whole layer, with a warning",
        TODAY, _NONE,
        r"skip_mismatch",
        _ERAS - {Era.TF_KERAS_1_15},
    ),
    Result(
        "pictures that `ImageDataGenerator` turns, shifts, shears, zooms or brightens",
        "about a point half a pixel after the centre",
        "about a point half a pixel before the centre, and turned the other way, by the same random numbers; "
        "brightened without rescaling the values",
        TODAY, _NONE,
        r"(?:rotation|shear|zoom|brightness|width_shift|height_shift)_range|random_(?:rotation|shift|shear|zoom)\(",
    ),
    Result(
        "sample weights of 0",
        "the loss is divided by the number of samples whose weight is not 0",
        'divided by all samples; a loss with `reduction="mean_with_sample_weight"` divides by the sum of the weights',
        TODAY, TODAY,
        r"sample_weight|class_weight|yield[^\n]*,[^\n]*,",
        _KERAS_2_2_4,
    ),
    Result(
        "a metric function with targets of shape `(n,)` and predictions of `(n, 1)`",
        "Keras 2 passes floats of shape `(n, 1)`",
        "Keras 3 passes targets of shape `(n,)`, in their dtype: `y_true * y_pred` is then `(n, n)`",
        "as before in `fit_generator`, else **as Keras 3**: reshape the targets to `(n, 1)`", TODAY,
        r"y_true\s*\*\s*y_pred",
    ),
    Result(
        "`activity_regularizer`, `ActivityRegularization`",
        "sum over the batch",
        "mean over the batch",
        TODAY, TODAY,
        r"activity_regularizer|ActivityRegularization",
        _STANDALONE,
    ),
    Result(
        '`"accuracy"` with `binary_crossentropy` and several labels',
        "each label counts: `binary_accuracy`",
        'only the largest label counts: `categorical_accuracy`; use `"binary_accuracy"`',
        TODAY, TODAY,
        r"""binary_crossentropy(?s:.)*['"]acc(?:uracy)?['"]|['"]acc(?:uracy)?['"](?s:.)*binary_crossentropy""",
    ),
    Result(
        "`hinge`, `squared_hinge` with labels of 0 and 1",
        "uses them unchanged",
        "converts them to -1 and 1",
        TODAY, TODAY,
        r"hinge",
        _KERAS_2_2_4,
    ),
    Result(
        "`SpecificityAtSensitivity`, `SensitivityAtSpecificity`, `PrecisionAtRecall` (tf.keras before 2.3)",
        "the rate at the threshold where the other rate is closest to the given one",
        "the largest rate among thresholds that give at least the given one",
        TODAY, TODAY,
        r"SpecificityAtSensitivity|SensitivityAtSpecificity|PrecisionAtRecall",
        _TF_KERAS,
    ),
    Result(
        "`weighted_metrics`",
        "mean of metric times weight",
        "divided by the sum of the weights",
        TODAY, TODAY,
        r"weighted_metrics",
        _KERAS_2_2_4,
    ),
    Result(
        "`val_loss` with `class_weight` and `validation_split`",
        "class weights apply to the validation samples, but not to those of `validation_data`",
        "class weights do not apply",
        TODAY, _NONE,
        r"class_weight[\s\S]*validation_split|validation_split[\s\S]*class_weight",
    ),
    Result(
        "`trainable` set after `compile`, as in a GAN",
        "`compile` decides what trains",
        "before the first batch it takes effect without `compile`, after it not at all: compile again",
        "as before, by `settle_trainable` after `compile`", _NONE,
        r"trainable\s*=",
    ),
    Result(
        "layers inside a frozen model",
        "a frozen model that is called as a layer trains nothing, even if one of its layers is trainable (in tf.keras, "
        "too); a model built on its outputs trains all of it",
        "trainable layers inside it train; its frozen layers are frozen in other models, too",
        f"{TODAY}, and reported", _NONE,
        r"\.trainable\s*=\s*False[\s\S]*\.(?:layers|get_layer|outputs?)\b",
    ),
    Result(
        "a frozen layer's regularizer",
        "is part of the logged loss",
        "is not",
        TODAY, TODAY,
        r"trainable\s*=\s*False[\s\S]*regularizer|regularizer[\s\S]*trainable\s*=\s*False",
    ),
    Result(
        "`BatchNormalization` with `trainable = False`",
        "normalizes by the batch's statistics, and keeps the moving ones",
        "normalizes by the moving statistics",
        TODAY, TODAY,
        rf"(?:{_BATCH_NORMALIZED})[\s\S]*trainable|trainable[\s\S]*(?:{_BATCH_NORMALIZED})",
        _ERAS - {Era.TF_KERAS_2_2},
    ),
    Result(
        "`BatchNormalization`, moving statistics",
        "corrected for their initial values, so that they are right after the first batch; variance times n / (n - 1)",
        "not corrected (with `momentum=0.99`, 1% of the initial values remains after 460 steps); plain variance: "
        "`predict` and `evaluate` differ early in training",
        TODAY, TODAY,
        _BATCH_NORMALIZED,
        _STANDALONE,
    ),
    Result(
        '`Adadelta()`, `"adadelta"`', "`lr=1.0`", "`learning_rate=0.001`",
        _OPTION, _IN_FILE,
        r"adadelta|Adadelta",
        _STANDALONE,
    ),
    Result(
        '`Adagrad()`, `"adagrad"`',
        "`lr=0.01`, accumulators start at 0",
        "`learning_rate=0.001`, `initial_accumulator_value=0.1`",
        _OPTION, _IN_FILE,
        r"adagrad|Adagrad",
        _STANDALONE,
    ),
    Result(
        "`Adamax()`, `Nadam()`, or by name", "`lr=0.002`", "`learning_rate=0.001`",
        _OPTION, _IN_FILE,
        r"adamax|Adamax|nadam|Nadam",
        _STANDALONE,
    ),
    Result(
        "`RMSprop`, `Adagrad`",
        "divide by `sqrt(v) + epsilon`",
        "divide by `sqrt(v + epsilon)`: shorter steps for small gradients",
        _NATIVE, "nearly as before: `epsilon` is squared",
        r"rmsprop|RMSprop|adagrad|Adagrad",
    ),
    Result(
        "`Nadam`",
        "momentum of `beta_1 * (1 - 0.5 * 0.96 ** (0.004 * t))`",
        "`beta_1 * (1 - 0.5 * 0.96 ** t)`: other steps",
        _NATIVE, TODAY,
        r"nadam|Nadam",
    ),
    Result(
        "a row of an `Embedding` that a batch looks up more than once, with any optimizer but `SGD`",
        "the parts of its gradient are added up, then squared",
        "each part is squared separately: larger steps for frequent words, and for the padding index 0",
        _NATIVE, TODAY,
        r"Embedding",
    ),
    Result(
        "cross-entropies of the output of a `softmax` or `sigmoid`",
        "of the probabilities, clipped to 1e-7: a saturated wrong output has no gradient",
        "of the logits: it has one; targets that do not sum to 1 have another gradient, too",
        TODAY, TODAY,
        r"(?:categorical|binary)_crossentropy|(?:Categorical|Binary)Crossentropy",
        _KERAS_2_2_4,
    ),
    Result(
        "`LSTM`, `GRU`", '`recurrent_activation="hard_sigmoid"`', '`"sigmoid"`',
        _OPTION, _IN_FILE,
        r"(?<!Conv)LSTM|GRU",
        frozenset({Era.KERAS_2_2_4, Era.TF_KERAS_1_15}),
    ),
    Result(
        "`ConvLSTM2D`", '`recurrent_activation="hard_sigmoid"`', '`"sigmoid"`',
        _OPTION, _IN_FILE,
        r"ConvLSTM2D",
    ),
    Result(
        "`GRU`", "`reset_after=False`", "`True`",
        _OPTION, _IN_FILE,
        r"GRU",
        _ERAS - {Era.TF_KERAS_2_2},
    ),
    Result(
        "`hard_sigmoid`",
        "`clip(0.2 x + 0.5, 0, 1)`",
        "`clip(x / 6 + 0.5, 0, 1)`",
        _OPTION, "as before: the weights before it are scaled",
        r"hard_sigmoid",
    ),
    Result(
        'bilinear `UpSampling2D` (`interpolation="bilinear"`)',
        "aligns the corners of pixels",
        "aligns their centres",
        TODAY, "refused",
        r"bilinear",
        _STANDALONE,
    ),
)  # fmt: skip


# What the parallel model does differently from the function of Keras 2: what, there, here.
PARALLEL_MODEL: tuple[tuple[str, str, str], ...] = (
    ("samples of a replica", "`samples // gpus`; the last one gets the rest, too", "the same"),
    (
        "loss, metrics, gradient",
        "those of the global batch",
        "the same; computed on the replicas if the results are the same",
    ),
    ("`gpus`", "GPUs", "GPUs, or on any machine the devices of `simulate_devices(n)`"),
    ("too few devices", "`ValueError`", "`ValueError` with the devices that exist and what to do"),
    ("`cpu_merge=`", "the device that concatenates outputs", "ignored"),
    (
        "`cpu_relocation=True`",
        "cloned the template with fresh weights",
        "the same under `run`; ignored by this package's function, which never copies the template",
    ),
    (
        "`BatchNormalization`, in a batch",
        "statistics of each replica's samples",
        "the same; of all samples with `synchronized=True`",
    ),
    (
        "`BatchNormalization`, moving statistics",
        "each tower updated them once per step, in no fixed order",
        "updated once per step, with the mean over replicas, weighted by samples",
    ),
    (
        "dropout, noise",
        "different random values on each replica",
        "the same, and reproducible with `keras.utils.set_random_seed`",
    ),
    ("an output that is one number", "error", "the mean over the replicas, weighted by samples"),
    (
        "`save`, `save_weights` of the parallel model",
        "the file loads only on the same number of GPUs",
        "the template's file, with the optimizer's state",
    ),
    ("stateful recurrent layers", "state of other samples", "refused"),
    ("a model with its own `train_step`", "did not exist", "refused"),
    ("`jit_compile=True`", "did not exist", "refused"),
)


def differing(sources: Iterable[tuple[Era | None, str]], tool: str) -> list[tuple[str, str, str, str]]:
    """Return what a tool does not give as it was, and sources may be concerned by, told by the words in them.

    Args:
        sources: each with its era, None where that is not known.
        tool: "run", "migrate" or "recover".

    Returns:
        What it is, as Keras 2.2.4 and the source's era have it, as Keras 3 has it, and what the tool gives.
    """
    texts: dict[Era | None, str] = {}
    for era, text in sources:
        texts[era] = f"{texts[era]}\n{text}" if era in texts else text
    return [
        (row.what, row.keras_2, row.keras_3, getattr(row, tool))
        for row in RESULTS
        if getattr(row, tool) != THEN
        and any((era is None or era in row.eras) and re.search(row.words, text) for era, text in texts.items())
    ]
