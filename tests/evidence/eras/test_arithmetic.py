"""Optimizers, losses, weights, masks and layers compute what the real stacks of the eras did, recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from eras.ask import compare, recorded

if TYPE_CHECKING:
    from pathlib import Path

# What is computed on the replicas in its own way: merged gradients, sums of weighed losses, masks.
ON_REPLICAS = (
    "optimizer/RMSprop",
    "optimizer/Nadam",
    "optimizer/Adam, clipnorm and decay",
    "optimizer/Adamax, clipnorm and clipvalue",
    "loss/categorical_crossentropy of sigmoid",
    "loss/binary_crossentropy of softmax, soft labels",
    "loss/categorical_crossentropy of softmax, soft labels",
    "loss/batch_dice",
    "weights/of samples, output of rank 2, mse",
    "weights/of samples, output of rank 4, mse",
    "weights/of time steps",
    "weights/of validation data",
    "weights/of classes and of samples: train_on_batch",
    "weights/weighted and other metrics",
    "masks/with weights of samples",
    "layer/Bidirectional LSTM with masks",
    "layer/activity regularizers",
)


def answered(era: str) -> dict[str, object]:
    """Return the questions that an era answers; what it refuses need not be asked."""
    return {
        name: answer for name, answer in recorded("arithmetic", era).items() if not str(answer).startswith("raises")
    }


@pytest.mark.parametrize("era", ["keras-2.2.4", "keras-2.3", "tf.keras-2.2"])
def test_one_question_in_twenty(era: str, tmp_path: Path) -> None:
    """From another one on in each era: `test_all_questions` takes minutes."""
    first = {"keras-2.2.4": 0, "keras-2.3": 3, "tf.keras-2.2": 5}[era]
    compare("arithmetic", era, tmp_path, only=list(answered(era))[first::20])


@pytest.mark.slow
@pytest.mark.parametrize("era", ["keras-2.2.4", "keras-2.3", "tf.keras-1.15", "tf.keras-2.2"])
def test_all_questions(era: str, tmp_path: Path) -> None:
    compare("arithmetic", era, tmp_path, only=list(answered(era)))


@pytest.mark.slow
@pytest.mark.parametrize("era", ["keras-2.2.4", "keras-2.3", "tf.keras-2.2"])
def test_two_replicas(era: str, tmp_path: Path) -> None:
    only = [name for name in ON_REPLICAS if name in answered(era)]
    compare("arithmetic", era, tmp_path, replicas=2, only=only)
