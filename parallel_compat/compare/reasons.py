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
        "On replicas each replica normalises its own samples; Keras 3's `epsilon` and `momentum` are as Keras 2's.",
        "Compare with the number of replicas of the recording.",
    ),
    Reason(
        "layer",
        ("LSTM", "GRU", "ConvLSTM2D", "Bidirectional", "SimpleRNN"),
        "The defaults of recurrent layers changed: `recurrent_activation` was 'hard_sigmoid' with another slope, "
        "`reset_after` False, and masked steps repeated the last output.",
        "Run it under `parallel-compat run`, or write the values out as `parallel-compat migrate` does.",
    ),
    Reason(
        "layer",
        ("UpSampling2D",),
        "Bilinear interpolation counts half pixels today.",
        "Run it under `parallel-compat run`, or use `parallel_compat.legacy.layers.UpSampling2D`.",
    ),
    Reason(
        "loss",
        ("categorical_crossentropy", "sparse_categorical_crossentropy", "binary_crossentropy"),
        "Keras 3 computes a cross-entropy from the logits of whatever activation made the output; Keras 2.2.4 always "
        "from the probabilities. Sample weights were divided by the share of weights that are not 0.",
        "Run it under `parallel-compat run`, or use the losses of `parallel_compat.legacy.losses`.",
    ),
    Reason(
        "loss",
        (),
        "Regularizers of activities were sums over the batch, and sample weights were divided by the share of weights "
        "that are not 0.",
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
        "accumulator, Nadam's schedule, `decay`; rows of an Embedding that a batch does not touch moved as well.",
        "Run it under `parallel-compat run`, or take the optimizer from `parallel_compat.legacy.optimizers`.",
    ),
    Reason(
        "step",
        ("BatchNormalization",),
        "Keras 2.2.4 updated moving statistics with `zero_debias`: the first batches count for more.",
        "Run it under `parallel-compat run`.",
    ),
    Reason(
        "metric",
        ("acc", "accuracy"),
        "With one output Keras 2 compared with `round(y_pred)`, whatever the loss; other losses chose by shapes.",
        "Name the metric: `binary_accuracy`, `categorical_accuracy` or `sparse_categorical_accuracy`.",
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
