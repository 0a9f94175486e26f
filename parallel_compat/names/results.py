"""What Keras 2.2.4 and Keras 3 compute differently, and which of the two `migrate` and `recover` give.

`docs/reference/differences.md` and the HTML reports are made of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from parallel_compat.names.eras import Era

THEN, TODAY = "as then", "**as Keras 3**"
_NATIVE = "**as Keras 3**; as then with `--to native`"
_OPTION = "as then with `--unsafe`"
_IN_FILE = "as then: the file has it"
_NONE = "-"
_ERAS = frozenset(Era) - {Era.TODAY}
_KERAS_2_2_4 = frozenset({Era.KERAS_2_2_4})
_STANDALONE = frozenset({Era.KERAS_2_2_4, Era.KERAS_2_3})
_TF_KERAS = frozenset({Era.TF_KERAS_1_15, Era.TF_KERAS_2_2})


class Result(NamedTuple):
    """One thing that is computed otherwise.

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
        "the bias of a convolution with channels first, on pictures as wide as it has filters",
        "is added to the channels",
        "is added along the width, in eager calls and in gradients (`keras.ops.add` of Keras 3.15)",
        f"{_OPTION}, else {TODAY}", TODAY,
        r"channels_first|dim_ordering",
    ),
    Result(
        "`Dropout`, `BatchNormalization` in a model of a class of one's own whose `call` takes no `training`",
        "train when the model trains",
        "are at inference, always",
        THEN, _NONE,
        r"class\s+\w+\(.*Model\)",
    ),
    Result(
        "`tf.metrics.auc(...)` and the like in a metric function",
        "counts over all batches since the model was compiled; the value without the operation that counts stays the "
        "first, the value that waits for it is that before or after it, by chance",
        "there is none",
        "refused", _NONE,
        r"tf\.(compat\.v1\.)?metrics\.",
    ),
    Result(
        "a loss under a mask, in code of tf.keras",
        "divided by what is not masked; in tf.keras by all steps, masked ones too",
        "divided by what is not masked",
        TODAY, TODAY,
        r"Masking|mask_zero",
        _TF_KERAS,
    ),
    Result(
        "a metric under a mask",
        "each batch's masked mean, averaged by samples",
        "averaged by what is not masked",
        TODAY, TODAY,
        r"mask_zero|Masking",
        _KERAS_2_2_4,
    ),
    Result(
        "`Add`, `Multiply`, `Concatenate` and the like of masked inputs",
        "a step is masked where the mask of one of the inputs masks it; an input without a mask masks nothing",
        "masked where all inputs' masks do; no mask where an input has none",
        TODAY, TODAY,
        r"mask_zero|Masking",
    ),
    Result(
        "what `Bidirectional` gives at masked steps (`return_sequences=True`)",
        "the last output again",
        "0: layers that know no mask (`Flatten`, `Conv1D`) see it, and losses do not",
        TODAY, TODAY,
        r"Bidirectional",
        _KERAS_2_2_4,
    ),
    Result(
        "`logs` of `on_batch_end`",
        "what the batch gave, with `size` and `batch`",
        "the mean since the epoch began, without `size` and `batch`",
        TODAY, _NONE,
        r"on_batch_end|on_train_batch_end",
        _ERAS - {Era.TF_KERAS_2_2},
    ),
    Result(
        "`clipnorm`",
        "limits the norm of all gradients together",
        "limits the norm of each weight's gradient: give `global_clipnorm`",
        "written as `global_clipnorm`: where `lr` is passed, else with `--unsafe`",
        "as then: written as `global_clipnorm`",
        r"clipnorm",
        _STANDALONE,
    ),
    Result(
        "the order in which `evaluate` and `train_on_batch` return the metrics of several outputs",
        "that in which outputs and metrics were given",
        "by name: `alpha_acc` before `zeta_mae`",
        f"as then where the file shows the outputs, else {TODAY}", TODAY,
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
        "`np.random.shuffle` of the samples: the seed repeats it",
        "another order, of which `keras.utils.set_random_seed` is the seed",
        TODAY, _NONE,
        r"random\.seed\([\s\S]*\.fit\(",
    ),
    Result(
        "`load_weights(by_name=True, skip_mismatch=True)`",
        "leaves out each array of another shape",
        "leaves out the whole layer, with a warning",
        TODAY, _NONE,
        r"skip_mismatch",
        _ERAS - {Era.TF_KERAS_1_15},
    ),
    Result(
        "pictures that `ImageDataGenerator` turns, shifts, shears, zooms or brightens",
        "about a point half a pixel after the middle",
        "by the same random numbers, but turned the other way, about a point half a pixel before the middle; "
        "brightened without spreading the values",
        TODAY, _NONE,
        r"(?:rotation|shear|zoom|brightness|width_shift|height_shift)_range|random_(?:rotation|shift|shear|zoom)\(",
    ),
    Result(
        "sample weights of 0",
        "the loss is divided by the samples whose weight is not 0",
        'divided by all samples; a loss with `reduction="mean_with_sample_weight"` divides by the sum of the weights',
        TODAY, TODAY,
        r"sample_weight|class_weight|yield[^\n]*,[^\n]*,",
        _KERAS_2_2_4,
    ),
    Result(
        "a metric function with targets of shape `(samples,)` and predictions of `(samples, 1)`",
        "both have two axes, and are floats",
        "the function gets `(samples,)`, and its dtype: `y_true * y_pred` is then `(samples, samples)`",
        "as then in `fit_generator`, else **as Keras 3**: give targets of shape `(samples, 1)`", TODAY,
        r"y_true\s*\*\s*y_pred",
    ),
    Result(
        "`activity_regularizer`, `ActivityRegularization`",
        "sum over the batch",
        "divided by the samples of the batch",
        TODAY, TODAY,
        r"activity_regularizer|ActivityRegularization",
        _STANDALONE,
    ),
    Result(
        '`"accuracy"` with `binary_crossentropy` and several labels',
        "each label counts: `binary_accuracy`",
        'the greatest label counts: `categorical_accuracy`; give `"binary_accuracy"`',
        TODAY, TODAY,
        r"""binary_crossentropy(?s:.)*['"]acc(?:uracy)?['"]|['"]acc(?:uracy)?['"](?s:.)*binary_crossentropy""",
    ),
    Result(
        "`hinge`, `squared_hinge` with labels of 0 and 1",
        "takes them as they are",
        "takes them for -1 and 1",
        TODAY, TODAY,
        r"hinge",
        _KERAS_2_2_4,
    ),
    Result(
        "`SpecificityAtSensitivity`, `SensitivityAtSpecificity`, `PrecisionAtRecall` (tf.keras before 2.3)",
        "the rate at the threshold where the other rate is closest to what was asked",
        "the greatest rate among thresholds that give at least what was asked",
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
        "validation samples have class weights, too; those of `validation_data` had not",
        "they have not",
        TODAY, _NONE,
        r"class_weight[\s\S]*validation_split|validation_split[\s\S]*class_weight",
    ),
    Result(
        "`trainable` set after `compile`, as in a GAN",
        "what trains is settled by `compile`",
        "before the first batch it takes effect without `compile`, after it has none: compile once more",
        "as then, by `settle_trainable` after `compile`", _NONE,
        r"trainable\s*=",
    ),
    Result(
        "layers inside a frozen model",
        "a frozen model that is called as a whole trains nothing, also where a layer of it was thawed (tf.keras, too); "
        "a model that is built on its outputs trains all of it",
        "what is thawed inside trains; a frozen model's layers are frozen in other models, too",
        f"{TODAY}, and reported", _NONE,
        r"\.trainable\s*=\s*False[\s\S]*\.(?:layers|get_layer|outputs?)\b",
    ),
    Result(
        "a frozen layer's regularizer",
        "counts in the logged loss",
        "does not",
        TODAY, TODAY,
        r"trainable\s*=\s*False[\s\S]*regularizer|regularizer[\s\S]*trainable\s*=\s*False",
    ),
    Result(
        "`BatchNormalization` with `trainable = False`",
        "normalises by the batch, statistics stay",
        "normalises by the moving statistics",
        TODAY, TODAY,
        r"BatchNorm[\s\S]*trainable|trainable[\s\S]*BatchNorm",
        _ERAS - {Era.TF_KERAS_2_2},
    ),
    Result(
        "`BatchNormalization`, moving statistics",
        "corrected for their start (right after the first batch), variance times n / (n - 1)",
        "start at 0 and 1 and forget that slowly (by `momentum=0.99`, 1% of it is left after 460 steps), variance as "
        "it is: `predict` and `evaluate` differ early in training",
        TODAY, TODAY,
        r"BatchNorm",
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
        "divide by `sqrt(v + epsilon)`: shorter steps where gradients are small",
        _NATIVE, "nearly as then: `epsilon` is written squared",
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
        "a row of an `Embedding` that a batch looks up more than once, under any optimizer but `SGD`",
        "the parts of its gradient are added up, then squared",
        "each part is squared by itself: larger steps for frequent words, and for the 0 of padding",
        _NATIVE, TODAY,
        r"Embedding",
    ),
    Result(
        "cross-entropies of the output of a `softmax` or `sigmoid`",
        "of the probabilities, clipped to 1e-7: an output that is surely wrong has no gradient",
        "of the logits: it has one; that of targets that do not sum to 1 is another as well",
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
        _OPTION, "as then: the weights before it are scaled",
        r"hard_sigmoid",
    ),
    Result(
        'bilinear `UpSampling2D` (`interpolation="bilinear"`)',
        "corners of pixels for their places",
        "their centres",
        TODAY, "refused",
        r"bilinear",
        _STANDALONE,
    ),
)  # fmt: skip


# What the parallel model does otherwise than the function of Keras 2: what, there, here.
PARALLEL_MODEL: tuple[tuple[str, str, str], ...] = (
    ("samples of a replica", "`samples // gpus`, the last one also the rest", "the same"),
    (
        "loss, metrics, gradient",
        "those of the global batch",
        "the same; computed on the replicas where that gives the same results",
    ),
    ("`gpus`", "GPUs", "GPUs, or on any machine the devices of `simulate_devices(n)`"),
    ("too few devices", "`ValueError`", "`ValueError`, which says what there is and what to do"),
    ("`cpu_merge=`", "where outputs are concatenated", "accepted, without effect"),
    (
        "`cpu_relocation=True`",
        "cloned the template with fresh weights, shared with nothing",
        "the same under `run`; of `parallel_compat` itself accepted, without effect: the template is never copied",
    ),
    (
        "`BatchNormalization`, in a batch",
        "statistics of each replica's samples",
        "the same; of all samples with `synchronized=True`",
    ),
    (
        "`BatchNormalization`, moving statistics",
        "each tower moved them once a step, in no fixed order",
        "moved once a step, by the mean over replicas, weighted by samples",
    ),
    (
        "dropout, noise",
        "other random values on each replica",
        "the same, and reproducible with `keras.utils.set_random_seed`",
    ),
    ("an output that is one number", "error", "the mean over the replicas, weighted by samples"),
    (
        "`save`, `save_weights` of the parallel model",
        "a file that only the same number of GPUs could load",
        "the template's, with the optimizer's state",
    ),
    ("stateful recurrent layers", "state of other samples", "refused"),
    ("a model with its own `train_step`", "there were none", "refused"),
    ("`jit_compile=True`", "there was none", "refused"),
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
