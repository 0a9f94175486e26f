"""What Keras 3 under a `tf.distribute.MirroredStrategy` computes differently from `multi_gpu_model` did, with figures.

Measured with TensorFlow 2.21 and Keras 3.15 on simulated devices, against one device, by
`benchmarks/native_differences.py`; a test compares the figures.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_OR_KEEP = "or keep `parallelize` for this model (`--keep parallel`)"

# No source matches it: that a loss is a function of the project's is read off the calls of `compile`.
OWN_LOSS = re.compile(r"(?!)")


class NativeDifference(NamedTuple):
    """One difference.

    Attributes:
        pattern: the source of a model that it concerns.
        method: the methods of which it is said.
        text: what differs, by how much, and the choice.
    """

    pattern: re.Pattern[str]
    method: tuple[str, ...]
    text: str


DIFFERENCES: tuple[NativeDifference, ...] = (
    NativeDifference(
        re.compile(r"\.fit\(|fit_generator|\.evaluate\("),
        ("fit_generator", "fit"),
        "If the replicas do not divide a batch, each replica's mean has the same weight, so samples of a smaller part "
        "count more (103 samples in batches of 32 on 2 replicas: weights differ by 1e-2 after 3 epochs), and a "
        "first batch with fewer samples than replicas stops with an error. Choose a batch size that divides the "
        f"samples, drop the remainder (`dataset.batch(n, drop_remainder=True)`), {_OR_KEEP}.",
    ),
    NativeDifference(
        OWN_LOSS,
        ("compile",),
        "A custom loss function gets the samples of one replica. One that returns one number is not divided by "
        "the replicas (2 replicas: loss and steps are twice as large), and one of the whole batch (dice) is another "
        "loss (1.07 of the batch, 2.20 on 2 replicas). Return one value per sample, gather the batch in it, "
        f"{_OR_KEEP}.",
    ),
    NativeDifference(
        re.compile(r"\bclip(?:norm|value)\b"),
        ("compile",),
        "`clipnorm` and `clipvalue` limit each replica's share of the gradient before these are added up (weights "
        f"differ by 2e-2 and 5e-3). Divide the limit by the replicas, {_OR_KEEP}.",
    ),
    NativeDifference(
        re.compile(r"\bmask_zero\b|\bMasking\("),
        ("compile",),
        "A masked loss is divided by the unmasked steps of each replica (weights differ by 2e-3). Use batches of texts "
        f"of one length, {_OR_KEEP}.",
    ),
    NativeDifference(
        re.compile(r"\bBatchNormalization\("),
        ("compile",),
        "`BatchNormalization` has its own moving statistics on each replica, and saves those of the first: the saved "
        "model predicts differently from the trained one (by 6e-2). Write `BatchNormalization(synchronized=True)`, "
        f"whose statistics are those of the whole batch, {_OR_KEEP}.",
    ),
    NativeDifference(
        re.compile(r"\b\w*Dropout\w*\(|\bGaussianNoise\("),
        ("compile",),
        "Each replica draws the same mask of `Dropout` and the same noise: half the masks of 2 replicas are copies. "
        f"Leave it, {_OR_KEEP}.",
    ),
    NativeDifference(
        re.compile(r"\b(?:train|test|predict)_on_batch\("),
        ("train_on_batch", "test_on_batch", "predict_on_batch"),
        "`train_on_batch` and `test_on_batch` give all samples to each replica, and `predict_on_batch` returns them "
        "once per replica (8 samples in, 16 out on 2). Call `fit`, `evaluate` or `predict` on one batch, "
        f"{_OR_KEEP}.",
    ),
)
