"""Calls that are told of training, softmaxes, draws of images, histories: recorded answers of the real stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from eras.ask import compare

if TYPE_CHECKING:
    from pathlib import Path


TF_KERAS = [pytest.param(era, marks=pytest.mark.slow) for era in ("tf.keras-1.15", "tf.keras-2.2")]


@pytest.mark.slow
@pytest.mark.parametrize("era", ["keras-2.2.4", "keras-2.3", *TF_KERAS])
def test_one_device(era: str, tmp_path: Path) -> None:
    compare("calls", era, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def test_two_replicas(era: str, tmp_path: Path) -> None:
    compare("calls", era, tmp_path, replicas=2)
