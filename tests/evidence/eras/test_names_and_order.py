"""Names, order and logs are those of the era: recorded answers of the real stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from eras.ask import compare

if TYPE_CHECKING:
    from pathlib import Path


TF_KERAS = [pytest.param(era, marks=pytest.mark.slow) for era in ("tf.keras-1.15", "tf.keras-2.2")]


@pytest.mark.parametrize("era", ["keras-2.2.4", "keras-2.3", *TF_KERAS])
def test_one_device(era: str, tmp_path: Path) -> None:
    compare("names_and_order", era, tmp_path)


@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])
def test_two_outputs_in_code_of_tf_keras(era: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few of the questions by default, in the eras of which all are slow."""
    monkeypatch.setenv("ONLY", "two outputs")
    compare("names_and_order", era, tmp_path, only=["two outputs"])
