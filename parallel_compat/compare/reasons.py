"""Why a thing differs between versions of Keras, and what to do: facts only, by what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from parallel_compat.compare.differences import Finding


class Reason(NamedTuple):
    """A known reason.

    Attributes:
        kind: of the finding.
        names: classes of layers or optimizers, names of losses or metrics; empty for all.
        text: why it differs.
        remedy: what to do.
    """

    kind: str
    names: tuple[str, ...]
    text: str
    remedy: str


REASONS: tuple[Reason, ...] = (
    Reason(
        "data",
        (),
        "Batches are drawn in another order: Keras 2.2.4 drew them from `np.random`, of which building a model also "
        "drew; Keras 3 draws from its own generator.",
        "Seed `np.random` right before `fit`, or pass `shuffle=False`, on both sides. The comparison went on with the "
        "recorded batches.",
    ),
    Reason(
        "layer",
        ("BatchNormalization",),
        "A layer with `trainable = False` normalises by its moving statistics today, in Keras 2.2.4 by the batch. On "
        "replicas each replica normalises its own samples.",
        "Run it under `parallel-compat run`; compare with the number of replicas of the recording.",
    ),
    Reason(
        "layer",
        ("LSTM", "GRU", "ConvLSTM2D", "Bidirectional", "SimpleRNN"),
        "The defaults of recurrent layers changed: `recurrent_activation` was 'hard_sigmoid' with another slope, "
        "`reset_after` False, and masked steps repeated the last output. In Keras 2.3, which `run` takes for 2.2.4, "
        "`recurrent_activation` was 'sigmoid' already.",
        "Run it under `parallel-compat run`, or write the values out as `parallel-compat migrate` does; for Keras 2.3 "
        "write `recurrent_activation='sigmoid'`.",
    ),
    Reason(
        "layer",
        ("UpSampling2D",),
        "Bilinear interpolation counts half pixels today.",
        "Run it under `parallel-compat run`.",
    ),
    Reason(
        "layer",
        (),
        "`hard_sigmoid` has another slope today (x / 6, not x / 5).",
        "Run it under `parallel-compat run`, or write the function out as `parallel-compat migrate --unsafe` does.",
    ),
    Reason(
        "weights",
        (),
        "A GRU has two rows of biases today (`reset_after=True`), and had one.",
        "Run it under `parallel-compat run`, or write `reset_after=False`.",
    ),
    Reason(
        "loss",
        ("hinge", "squared_hinge"),
        "Labels of 0 and 1 are taken for -1 and 1 today, and were taken as they are.",
        "Run it under `parallel-compat run`, or give labels of -1 and 1.",
    ),
    Reason(
        "loss",
        ("categorical_crossentropy", "sparse_categorical_crossentropy", "binary_crossentropy"),
        "Keras 3 computes a cross-entropy from the logits of whatever activation made the output; Keras 2.2.4 always "
        "from the probabilities. Sample weights were divided by the share of weights that are not 0.",
        "Run it under `parallel-compat run`.",
    ),
    Reason(
        "loss",
        (),
        "Regularizers of activities were sums over the batch, those of frozen layers counted, sample weights were "
        "divided by the share of weights that are not 0, and the masks of several inputs were joined otherwise.",
        "Run it under `parallel-compat run`; the guide's third page has the table.",
    ),
    Reason(
        "gradient",
        (),
        "Targets that do not sum to 1 have another gradient from logits than from probabilities; the loss is the same.",
        "Run it under `parallel-compat run`.",
    ),
    Reason(
        "step",
        ("Adagrad", "Nadam", "RMSprop", "Adadelta", "Adam", "Adamax", "SGD"),
        "Defaults and formulas of optimizers changed: the learning rate, `epsilon` in or out of the root, Adagrad's "
        "accumulator, Nadam's schedule, `decay`; `clipnorm` limited all gradients together; rows of an Embedding that "
        "a batch does not touch moved as well, and the parts of one that it looks up more than once were added up, "
        "then squared.",
        "Run it under `parallel-compat run`, or migrate it with `--to native`, which writes the old steps out.",
    ),
    Reason(
        "step",
        ("BatchNormalization",),
        "Keras 2.2.4 updated moving statistics with `zero_debias`: the first batches count for more.",
        "Run it under `parallel-compat run`.",
    ),
    Reason(
        "step",
        (),
        "What trains was settled by `compile`; today `trainable`, set before the first batch, takes effect without it.",
        "Run it under `parallel-compat run`, or compile once more where `trainable` changes.",
    ),
    Reason(
        "metric",
        ("acc", "accuracy"),
        "With `binary_crossentropy` each of several labels counted; today the greatest one does. With one output Keras "
        "2 compared with `round(y_pred)`, whatever the loss; other losses chose by shapes.",
        "Name the metric: `binary_accuracy`, `categorical_accuracy` or `sparse_categorical_accuracy`.",
    ),
    Reason(
        "metric",
        (),
        "A metric function had targets of shape `(samples, 1)` where it gets `(samples,)` today, and "
        "`weighted_metrics` were the mean of metric times weight, today divided by the sum of the weights.",
        "Run it under `parallel-compat run`; give targets the shape of the predictions.",
    ),
    Reason(
        "history",
        (),
        "The loss of one of several outputs, a metric of one number and a metric under a mask were averaged by "
        "samples; today by batches, or by what is not masked. Held-out samples of `validation_split` had class "
        "weights, too.",
        "Run it under `parallel-compat run`; a `val_loss` with class weights is as in Keras 3 there, too.",
    ),
)


def reason_of(finding: Finding) -> Reason | None:
    """Return the known reason of a finding, or None.

    Args:
        finding: what differs.
    """
    fitting = [
        row for row in REASONS if row.kind == finding.kind and (not row.names or finding.class_name in row.names)
    ]
    return max(fitting, key=lambda row: bool(row.names), default=None)
