"""`Orthogonal` initializers: singular vectors have the signs of LAPACK before 3.10.

LAPACK 3.10 changed the signs of a plane rotation (`dlartg`). Up to 25 rows or columns, singular vectors are made by
such rotations, so that some of them point the other way, and a seed gives an LSTM of a few units other weights. Here
today's singular vectors get the signs that the old rotation gives them. Larger matrices are divided first, and are
equal.

The steps and the choices are those of `dgesdd`, `dgebrd` and `dbdsqr` (Demmel and Kahan 1990, "Accurate singular
values of bidiagonal matrices"), as far as signs depend on them. Of 1,500 random matrices numpy 1.18 and 2.4 gave 253
the same signs; with this mend all but six, most of them of 22 or more columns: a choice was a rounding away.

Seen in numpy 1.18 (OpenBLAS 0.3.7) and numpy 2.4 (OpenBLAS 0.3.31).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from parallel_compat.originals.mends.register import Register

_LARGEST = 25  # LAPACK's SMLSIZ: up to here the rotations do all
_ROUNDING = 2.0**-53
_TOLERANCE = max(10.0, min(100.0, _ROUNDING**-0.125)) * _ROUNDING
_SWEEPS = 6  # for each singular value, before LAPACK gives up


def apply(mends: Register) -> None:
    """Turn the vectors of `numpy.linalg.svd`, for the user's code as well."""
    mends.around(np.linalg, "svd", _with_old_signs)


def _with_old_signs(
    svd: Any, a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    result = svd(a, full_matrices, compute_uv, hermitian)
    matrix = np.asarray(a)
    is_small = matrix.ndim == 2 and 1 < min(matrix.shape) <= _LARGEST and matrix.dtype == np.float64
    if not is_small or not compute_uv or hermitian or not np.isfinite(matrix).all():
        return result
    u, values, vt = result
    count = len(values)
    turned = np.sum(vt[:count] * right_vectors(matrix), axis=1) < 0
    vt[:count][turned] *= -1
    u[:, :count][:, turned] *= -1
    return result


def right_vectors(matrix: Any) -> Any:
    """Return the right singular vectors with the signs of LAPACK before 3.10.

    Args:
        matrix: of shape (rows, columns), float64, with at most 25 rows or at most 25 columns.

    Returns:
        An array of shape (min(rows, columns), columns): one vector a row, that of the largest singular value first.
    """
    rows, columns = matrix.shape
    if min(rows, columns) * 11 // 6 <= max(rows, columns):  # much longer than wide: a triangle first
        if rows >= columns:
            return _Sweeps(*_bidiagonal(np.triu(_reflected_columns(matrix)[:columns]))).vectors()
        lower, reflections = _reflected_rows(matrix)
        return _Sweeps(*_bidiagonal(np.tril(lower[:, :rows]))).vectors() @ reflections
    return _Sweeps(*_bidiagonal(matrix)).vectors()


def _reflected(matrix: Any, vector: Any) -> Any:
    """Return H times a matrix, where the Householder matrix H makes all but a vector's first number zero."""
    norm = math.sqrt(float(vector[1:] @ vector[1:]))
    if norm == 0:
        return matrix
    beta = -math.copysign(math.hypot(vector[0], norm), vector[0])
    direction = vector / (vector[0] - beta)
    direction[0] = 1
    return matrix - (beta - vector[0]) / beta * np.outer(direction, direction @ matrix)  # H itself may be large


def _reflected_columns(matrix: Any) -> Any:
    matrix = matrix.copy()
    for i in range(min(matrix.shape)):
        matrix[i:, i:] = _reflected(matrix[i:, i:], matrix[i:, i].copy())
    return matrix


def _reflected_rows(matrix: Any) -> tuple[Any, Any]:
    """Return L and the rows of Q of a matrix L Q."""
    matrix, product = matrix.copy(), np.eye(*matrix.shape)
    vectors = []
    for i in range(len(matrix)):
        vectors.append(matrix[i, i:].copy())
        matrix[i:, i:] = _reflected(matrix[i:, i:].T, vectors[i]).T
    for i in reversed(range(len(matrix))):
        product[:, i:] = _reflected(product[:, i:].T, vectors[i]).T
    return matrix, product


def _bidiagonal(matrix: Any) -> tuple[list[float], list[float], Any]:
    """Return the diagonal and the upper side diagonal of U B P, and the rows of P."""
    matrix, right = matrix.copy(), np.eye(matrix.shape[1])
    rows, columns = matrix.shape
    count, is_lower = min(rows, columns), rows < columns
    for i in range(count):
        if not is_lower:
            matrix[i:, i:] = _reflected(matrix[i:, i:], matrix[i:, i].copy())
        begin = i if is_lower else i + 1
        if begin < columns:
            row = matrix[i, begin:].copy()
            matrix[i:, begin:] = _reflected(matrix[i:, begin:].T, row).T
            right[begin:] = _reflected(right[begin:], row)
        if is_lower and i + 1 < rows:
            matrix[i + 1 :, i:] = _reflected(matrix[i + 1 :, i:], matrix[i + 1 :, i].copy())
    d = [float(x) for x in np.diag(matrix)]
    e = [float(x) for x in np.diag(matrix, -1 if is_lower else 1)[: count - 1]]
    if is_lower:
        for i in range(count - 1):
            cosine, sine, d[i] = _rotation(d[i], e[i])
            e[i], d[i + 1] = sine * d[i + 1], cosine * d[i + 1]
    return d, e, right[:count]


def _rotation(f: float, g: float) -> tuple[float, float, float]:
    """Return cosine, sine and r of the plane rotation of (f, g) to (r, 0), with the signs of LAPACK before 3.10."""
    if g == 0:
        return 1.0, 0.0, f
    if f == 0:
        return 0.0, 1.0, g
    r = math.hypot(f, g)
    if abs(f) > abs(g) and f < 0:
        r = -r
    return f / r, g / r, r


class _Sweeps:
    """The QR sweeps of `dbdsqr` over a bidiagonal matrix (diagonal, upper side diagonal, what is right of it)."""

    def __init__(self, d: list[float], e: list[float], vt: Any) -> None:
        self.d, self.e, self.vt = d, e, vt
        smallest = bound = abs(d[0])
        for i in range(1, len(d)):
            bound = _bound(d[i], bound, e[i - 1])
            smallest = min(smallest, bound)
        self.negligible = max(_TOLERANCE * smallest / math.sqrt(len(d)), _SWEEPS * len(d) ** 2 * 2.0**-1022)

    def vectors(self) -> Any:
        """Return the right singular vectors; the diagonal becomes the singular values."""
        first = last = -2  # of the part that was swept before
        is_downward = True
        end, steps = len(self.d) - 1, 0
        while end > 0 and steps <= _SWEEPS * len(self.d) ** 2:
            begin = self._begin_of_part(end)
            if begin == end:
                end -= 1
                continue
            if begin == end - 1:
                self._solve_two(begin)
                end -= 2
                continue
            if begin > last or end < first:
                is_downward = abs(self.d[begin]) >= abs(self.d[end])
            smallest = self._smallest_or_split(begin, end, is_downward)
            if smallest is None:
                continue
            first, last = begin, end
            steps += end - begin
            self._sweep(begin, end, is_downward, self._shift(begin, end, is_downward, smallest))
        self.vt[np.array(self.d) < 0] *= -1
        return self.vt[np.argsort(-np.abs(self.d), kind="stable")]

    def _begin_of_part(self, end: int) -> int:
        """Return where the last part begins that no zero divides."""
        for i in range(end - 1, -1, -1):
            if abs(self.e[i]) <= self.negligible:
                self.e[i] = 0.0
                return i + 1
        return 0

    def _solve_two(self, i: int) -> None:
        self.d[i + 1], self.d[i], sine, cosine = _of_two(self.d[i], self.e[i], self.d[i + 1])
        self.e[i] = 0.0
        x, y = self.vt[i].copy(), self.vt[i + 1].copy()
        self.vt[i], self.vt[i + 1] = cosine * x + sine * y, cosine * y - sine * x

    def _smallest_or_split(self, begin: int, end: int, is_downward: bool) -> float | None:
        """Return a lower bound of the singular values; None if a side number was small enough to be made zero."""
        d, e = self.d, self.e
        final = (end - 1, end) if is_downward else (begin, begin)
        if abs(e[final[0]]) <= _TOLERANCE * abs(d[final[1]]):
            e[final[0]] = 0.0
            return None
        bound = smallest = abs(d[begin if is_downward else end])
        for i in range(begin, end) if is_downward else range(end - 1, begin - 1, -1):
            if abs(e[i]) <= _TOLERANCE * bound:
                e[i] = 0.0
                return None
            bound = _bound(d[i + 1 if is_downward else i], bound, e[i])
            smallest = min(smallest, bound)
        return smallest

    def _shift(self, begin: int, end: int, is_downward: bool, smallest: float) -> float:
        d, e = self.d, self.e
        largest = max(map(abs, (*d[begin : end + 1], *e[begin:end])))
        if len(d) * _TOLERANCE * (smallest / largest) <= max(_ROUNDING, 0.01 * _TOLERANCE):
            return 0.0
        i = end - 1 if is_downward else begin
        shift = _smallest_of_two(d[i], e[i], d[i + 1])
        start = abs(d[begin if is_downward else end])
        return 0.0 if start > 0 and (shift / start) ** 2 < _ROUNDING else shift

    def _sweep(self, begin: int, end: int, is_downward: bool, shift: float) -> None:
        """Chase the bulge from one end of a part to the other; upwards it is the same sweep of the reversed matrix."""
        d, e = self.d[begin : end + 1], self.e[begin:end]
        if not is_downward:
            d, e = d[::-1], e[::-1]
        right, left = (_sweep_with_shift if shift else _sweep_without)(d, e, shift)
        if not is_downward:
            d, e = d[::-1], e[::-1]
        self.d[begin : end + 1], self.e[begin:end] = d, e
        i = end - 1 if is_downward else begin
        if abs(self.e[i]) <= self.negligible:
            self.e[i] = 0.0
        for j, (cosine, sine) in enumerate(right if is_downward else left):
            if is_downward:
                upper, lower = begin + j, begin + j + 1
            else:
                upper, lower, sine = end - j - 1, end - j, -sine
            x, y = self.vt[upper].copy(), self.vt[lower].copy()
            self.vt[lower], self.vt[upper] = cosine * y - sine * x, sine * y + cosine * x


def _sweep_without(d: list[float], e: list[float], shift: float) -> tuple[list[Any], list[Any]]:
    """Sweep without a shift, which keeps small singular values exact; return the rotations of both sides."""
    right, left = [], []
    cosine = old_cosine = 1.0
    old_sine = 0.0
    for i in range(len(e)):
        cosine, sine, r = _rotation(d[i] * cosine, e[i])
        if i > 0:
            e[i - 1] = old_sine * r
        old_cosine, old_sine, d[i] = _rotation(old_cosine * r, d[i + 1] * sine)
        right.append((cosine, sine))
        left.append((old_cosine, old_sine))
    h = d[-1] * cosine
    d[-1], e[-1] = h * old_cosine, h * old_sine
    return right, left


def _sweep_with_shift(d: list[float], e: list[float], shift: float) -> tuple[list[Any], list[Any]]:
    right, left = [], []
    f = (abs(d[0]) - shift) * (math.copysign(1.0, d[0]) + shift / d[0])
    g = e[0]
    for i in range(len(e)):
        cosine, sine, r = _rotation(f, g)
        if i > 0:
            e[i - 1] = r
        f, e[i] = cosine * d[i] + sine * e[i], cosine * e[i] - sine * d[i]
        g, d[i + 1] = sine * d[i + 1], cosine * d[i + 1]
        right.append((cosine, sine))
        cosine, sine, d[i] = _rotation(f, g)
        f, d[i + 1] = cosine * e[i] + sine * d[i + 1], cosine * d[i + 1] - sine * e[i]
        if i + 1 < len(e):
            g, e[i + 1] = sine * e[i + 1], cosine * e[i + 1]
        left.append((cosine, sine))
    e[-1] = f
    return right, left


def _bound(diagonal: float, bound: float, side: float) -> float:
    return abs(diagonal) * (bound / (bound + abs(side))) if bound else 0.0


def _smallest_of_two(f: float, g: float, h: float) -> float:
    """Return the smaller singular value of [[f, g], [0, h]]."""
    return float(np.linalg.svd(np.array([[f, g], [0.0, h]]), compute_uv=False)[1])


def _of_two(f: float, g: float, h: float) -> tuple[float, float, float, float]:
    """Return the singular values of [[f, g], [0, h]], the smaller first, and sine and cosine of its right rotation.

    The formulas and signs are those of `dlasv2`.
    """
    is_swapped = abs(h) > abs(f)
    a, b = (h, f) if is_swapped else (f, h)
    if g == 0:
        largest, smallest, cos_left, cos_right, sin_left, sin_right = abs(a), abs(b), 1.0, 1.0, 0.0, 0.0
    elif abs(g) > abs(a) and abs(a) / abs(g) < _ROUNDING:
        largest = abs(g)
        smallest = abs(a) / (abs(g) / abs(b)) if abs(b) > 1 else abs(a) / abs(g) * abs(b)
        cos_left, sin_left, sin_right, cos_right = 1.0, b / g, 1.0, a / g
    else:
        part, m = (abs(a) - abs(b)) / abs(a), g / a
        t = 2 - part
        s, r = math.hypot(t, m), math.hypot(part, m)
        mean = 0.5 * (s + r)
        smallest, largest = abs(b) / mean, abs(a) * mean
        if m * m == 0:
            if part == 0:
                t = math.copysign(2.0, a) * math.copysign(1.0, g)
            else:
                t = g / math.copysign(abs(a) - abs(b), a) + m / t
        else:
            t = (m / (s + t) + m / (r + part)) * (1 + mean)
        length = math.hypot(t, 2.0)
        cos_right, sin_right = 2 / length, t / length
        cos_left, sin_left = (cos_right + sin_right * m) / mean, b / a * sin_right / mean
    if is_swapped:
        cos_left, sin_left, cos_right, sin_right = sin_right, cos_right, sin_left, cos_left
    if abs(g) > abs(a):
        sign = _sign(sin_right) * _sign(cos_left) * _sign(g)
    elif is_swapped:
        sign = _sign(sin_right) * _sign(sin_left) * _sign(h)
    else:
        sign = _sign(cos_right) * _sign(cos_left) * _sign(f)
    return smallest * sign * _sign(f) * _sign(h), largest * sign, sin_right, cos_right


def _sign(x: float) -> float:
    return math.copysign(1.0, x)
