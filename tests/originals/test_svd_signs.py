"""Singular vectors have the signs of LAPACK before 3.10: those of numpy 1.16 to 1.18, recorded."""

from __future__ import annotations

import functools
import tracemalloc

import numpy as np
import pytest

from parallel_compat.originals.mends import svd_signs

# Rows, columns, and the signs of the first column of `vt`: numpy 1.16.6 and 1.18.5 with OpenBLAS 0.3.7, of
# `np.random.RandomState(i).normal(size=(rows, columns))` for the i-th.
RECORDED = [
    (3, 3, "-++"),
    (4, 16, "--++"),
    (3, 9, "++-"),
    (5, 5, "-+-+-"),
    (8, 32, "-++++-++"),
    (10, 30, "+---+-++--"),
    (16, 16, "+-+-+-+-+-+-+-++"),
    (20, 80, "-+-+--+--+++-+-++---"),
    (25, 100, "-+++-++++++++-++----+--+-"),
    (6, 8, "--++-+"),
    (8, 6, "-+-++-"),
    (30, 7, "-+-----"),
    (4, 1000, "--++"),
    (12, 12, "+-+-+-+-++++"),
    (24, 24, "-+-+-+-++-+++-+-+-+-++++"),
    (26, 104, "--++-++--+++-+-+-+-++++-++"),
]


class Register:
    """Sets a name for the length of a test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monkeypatch = monkeypatch

    def around(self, owner, name, function):
        self.monkeypatch.setattr(owner, name, functools.partial(function, getattr(owner, name)))


@pytest.mark.parametrize("seed", range(len(RECORDED)))
def test_the_signs_are_those_of_old_numpy(monkeypatch, seed):
    rows, columns, signs = RECORDED[seed]
    matrix = np.random.RandomState(seed).normal(size=(rows, columns))
    today = np.linalg.svd(matrix, full_matrices=False)
    svd_signs.apply(Register(monkeypatch))
    for full in (False, True):
        u, s, vt = np.linalg.svd(matrix, full_matrices=full)
        count = min(rows, columns)
        assert "".join("-+"[int(x > 0)] for x in vt[:count, 0]) == signs
        np.testing.assert_allclose(np.abs(vt[:count]), np.abs(today[2]), atol=1e-12)
        np.testing.assert_allclose((u[:, :count] * s) @ vt[:count], matrix, atol=1e-12)


def test_other_matrices_are_left_alone(monkeypatch):
    draws = np.random.RandomState(0).normal(size=(2, 5, 5))
    today = np.linalg.svd
    svd_signs.apply(Register(monkeypatch))
    for matrix in (draws, draws[0].astype("float32"), draws[0] * 1j, np.zeros((0, 3)), np.ones((1, 3))):
        for one, other in zip(np.linalg.svd(matrix), today(matrix), strict=True):
            np.testing.assert_array_equal(one, other)
    assert np.linalg.svd(draws[0], compute_uv=False).shape == (5,)
    assert np.linalg.svd(np.zeros((4, 4)))[1].tolist() == [0] * 4


@pytest.mark.parametrize("shape", [(3000, 5), (5, 3000)])
def test_a_long_matrix_needs_no_square_one(shape):
    matrix = np.random.RandomState(0).normal(size=shape)
    tracemalloc.start()
    svd_signs.right_vectors(matrix)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * matrix.nbytes
