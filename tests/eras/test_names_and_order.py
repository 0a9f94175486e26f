"""Names, order and logs are those of the era: recorded answers of the real stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from eras.ask import compare

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15", pytest.param("tf.keras-2.2", marks=pytest.mark.slow)])
def test_one_device(era: str, tmp_path: Path) -> None:
    compare("names_and_order", era, tmp_path)
