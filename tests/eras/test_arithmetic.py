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


def test_keras_2_2_4(tmp_path: Path) -> None:
    groups = ("optimizer/", "loss/")
    only = [name for name in answered("keras-2.2.4") if name.startswith(groups) and "get_weights" not in name]
    compare("arithmetic", "keras-2.2.4", tmp_path, only=only)


def test_tf_keras_2_2(tmp_path: Path) -> None:
    compare("arithmetic", "tf.keras-2.2", tmp_path, only=list(answered("tf.keras-2.2")))


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-2.2"])
def test_two_replicas(era: str, tmp_path: Path) -> None:
    only = [name for name in ON_REPLICAS if name in answered(era)]
    compare("arithmetic", era, tmp_path, replicas=2, only=only)
