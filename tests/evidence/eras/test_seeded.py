"""`np.random.seed` alone repeats what it did in Keras 2.2.4: initial weights, order of samples, whole trainings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .ask import asked, recorded

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


def test_the_numbers_of_a_seed(tmp_path: Path) -> None:
    expected = recorded("seeded", "keras-2.2.4")
    received = asked("seeded", "keras-2.2.4", tmp_path, simulated=3)
    for answers in (expected, received):
        # LAPACK chooses the signs of singular vectors, another release of it others.
        for name in ("Orthogonal", "orthogonal seeded"):
            answers["initializers"][name] = _without_signs(answers["initializers"][name])
    assert expected.keys() == received.keys()
    for name, answer in expected.items():
        _compare(answer, received[name], name)


def _without_signs(answers: list[Any]) -> list[Any]:
    *arrays, drawn = answers
    return [*[[shape, np.abs(values).tolist(), total] for shape, values, total in arrays], drawn]


def _compare(expected: Any, received: Any, where: str) -> None:
    if isinstance(expected, dict):
        assert expected.keys() == received.keys(), where
        for key, value in expected.items():
            _compare(value, received[key], f"{where}/{key}")
    elif isinstance(expected, list) and any(isinstance(each, list) for each in expected):
        assert len(expected) == len(received), where
        for i, value in enumerate(expected):
            _compare(value, received[i], f"{where}/{i}")
    else:
        np.testing.assert_allclose(received, expected, rtol=2e-5, atol=1e-6, err_msg=where)
