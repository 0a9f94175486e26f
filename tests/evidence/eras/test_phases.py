"""A fixed learning phase, with batch normalisation and without: recorded answers of the real stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from eras.ask import asked, compare, recorded

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def test_one_device(era: str, tmp_path: Path) -> None:
    compare("phases", era, tmp_path)


def test_the_towers_are_made_in_the_phase_of_their_time(tmp_path: Path) -> None:
    expected = recorded("phases", "keras-2.2.4.towers")
    received = asked("phases", "keras-2.2.4", tmp_path, replicas=2)
    assert expected.keys() == received.keys()
    for name, answer in expected.items():
        np.testing.assert_allclose(received[name], answer, rtol=2e-5, atol=2e-6, err_msg=name)
