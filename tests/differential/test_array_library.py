"""The functions of NumPy that are written in the language, against NumPy itself."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from hybridjit.errors import HybridError
from hybridjit.frontend.library.linalg import BLOCK
from tests.support.array_results import assert_agree

np: Any = numpy
RNG = np.random.default_rng(19)
Array = Any
VECTOR, OTHER, MATRIX = RNG.random(6) - 0.5, RNG.random(6), RNG.random((4, 5)) - 0.5
SQUARE = RNG.random((5, 5)) + 3 * np.eye(5)
DEFINITE = SQUARE @ SQUARE.T
COMPLEX = SQUARE + 1j * RNG.random((5, 5))
HERMITIAN = COMPLEX @ COMPLEX.conj().T
LARGE = RNG.random((BLOCK + 2, BLOCK + 2)) + 9 * np.eye(BLOCK + 2)
INTEGERS = RNG.integers(-9, 9, (4, 5))
HOLES = np.where(MATRIX > 0.3, np.nan, MATRIX)
THREES = RNG.random((4, 3))


def triangles(m: Array):
    return np.triu(m), np.tril(m), np.triu(m, 1), np.tril(m, -2), np.triu(m * 2, k=-1).sum()


def diagonals(v: Array, m: Array):
    return np.diag(v), np.diag(v, 2), np.diag(v, -1), np.diag(m) * 1, np.diag(m, 1) * 2


def traces(m: Array):
    return np.trace(m), m.trace(1), np.trace(m, offset=-1)


def differences(m: Array):
    return np.diff(m), np.diff(m, axis=0), np.diff(m, n=2), np.diff(m[0])


def flipped(m: Array):
    return np.fliplr(m) * 1, np.flipud(m) * 1


def products(v: Array, w: Array, m: Array):
    return np.vdot(v, w), np.inner(v, w), np.inner(m, m), np.kron(m[:2], m[2:])


def crossed(a: Array, b: Array):
    return np.cross(a, b), np.cross(a[0], b[0])


def convolved(v: Array, w: Array):
    return np.convolve(v, w[:3]), np.convolve(v[:2], w, "same"), np.convolve(v, w[:4], "valid")


def polynomial(p: Array, x: Array):
    return np.polyval(p, x), np.polyval(p, x[0])


def integrals(y: Array, x: Array):
    return np.trapezoid(y), np.trapezoid(y, dx=0.1), np.trapezoid(y, np.cumsum(x))


def measures(m: Array):
    return np.ptp(m), np.ptp(m, axis=0), np.count_nonzero(m), np.count_nonzero(m > 0, axis=1)


def with_holes(m: Array):
    return np.nansum(m), np.nanmax(m, axis=0), np.nanmin(m), np.nanmean(m, axis=1)


def close(v: Array, w: Array):
    return np.isclose(v, w), np.allclose(v, v + 1e-9), np.allclose(v, w), np.array_equal(v, w)


def covariances(m: Array):
    return np.cov(m), np.cov(m, rowvar=False), np.cov(m, bias=True), np.cov(m[0], ddof=0)


def correlations(m: Array):
    return np.corrcoef(m), np.corrcoef(m, rowvar=False)


def averages(m: Array, w: Array):
    return np.average(m), np.average(m, axis=1, weights=w), np.average(m, weights=m + 1)


def counted(v: Array):
    counts, edges = np.histogram(v, bins=7)
    return counts, edges


def weighed(v: Array, w: Array):
    sums, edges = np.histogram(v, 5, range=(0.0, 0.4), weights=w)
    return sums, edges


def factored(a: Array):
    return np.linalg.cholesky(a)


def solved(a: Array, b: Array):
    return np.linalg.solve(a, b), np.linalg.solve(a, b[:, 0])


def inverted(a: Array):
    return np.linalg.inv(a), np.linalg.det(a)


def norms(v: Array, m: Array):
    return (
        np.linalg.norm(v),
        np.linalg.norm(m),
        np.linalg.norm(m, axis=1),
        np.linalg.norm(v, np.inf),
        np.linalg.norm(v, 1),
        np.linalg.norm(m, 1),
        np.linalg.norm(m, "fro"),
    )


CASES: list[tuple[Any, ...]] = [
    (triangles, MATRIX),
    (triangles, INTEGERS.astype(np.int8)),
    (triangles, MATRIX.T),
    (diagonals, VECTOR, MATRIX),
    (traces, MATRIX),
    (traces, INTEGERS.astype(np.int8)),
    (differences, MATRIX),
    (differences, INTEGERS.astype(np.uint8)),
    (differences, MATRIX > 0),
    (flipped, MATRIX),
    (products, VECTOR, OTHER, MATRIX),
    (products, VECTOR * 1j, OTHER, MATRIX + 1j),
    (crossed, THREES, THREES[::-1]),
    (convolved, VECTOR, OTHER),
    (convolved, np.arange(6), np.arange(6)[::-1]),
    (polynomial, VECTOR, OTHER),
    (integrals, VECTOR, OTHER),
    (measures, MATRIX),
    (measures, INTEGERS),
    (with_holes, HOLES),
    (with_holes, HOLES.astype(np.float32)),
    (close, VECTOR, np.append(VECTOR[:5], 0)),
    (covariances, MATRIX),
    (covariances, INTEGERS),
    (covariances, MATRIX.astype(np.float32)),
    (correlations, MATRIX),
    (averages, MATRIX, OTHER[:5]),
    (counted, RNG.random(100)),
    (counted, np.full(3, 2.0)),
    (counted, RNG.integers(0, 8, 50)),
    (weighed, RNG.random((10, 10)), RNG.random((10, 10))),
    (factored, DEFINITE),
    (factored, DEFINITE.astype(np.float32)),
    (factored, HERMITIAN),
    (factored, LARGE @ LARGE.T),
    (factored, np.array([[4, 2], [2, 3]])),
    (solved, SQUARE, MATRIX.T),
    (solved, COMPLEX, MATRIX.T),
    (solved, SQUARE[::-1], INTEGERS.T),
    (inverted, SQUARE),
    (inverted, SQUARE[::-1].astype(np.float32)),
    (inverted, COMPLEX),
    (norms, VECTOR, MATRIX),
    (norms, VECTOR * 1j, MATRIX + 1j),
    (norms, INTEGERS[0].astype(np.int8), INTEGERS),
]


@pytest.mark.sampled(16)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_agrees_with_numpy(case: tuple[Any, ...]):
    function, *args = case
    kernel: Any = hybrid.script(function)
    assert_agree(kernel, args)


@pytest.mark.parametrize(
    ("function", "matrix", "message"),
    [
        (factored, np.array([[1.0, 2.0], [2.0, 1.0]]), "not positive definite"),
        (inverted, np.ones((3, 3)), "Singular matrix"),
    ],
)
def test_raises_where_numpy_raises(function: Any, matrix: Array, message: str):
    kernel: Any = hybrid.script(function)
    with pytest.raises(np.linalg.LinAlgError, match=message):
        function(matrix)
    for run in (kernel, kernel.interpret):
        with pytest.raises(np.linalg.LinAlgError, match=message):
            run(matrix)


def of_a_cube(a: Array):
    return np.linalg.cholesky(a)


def test_an_error_inside_is_shown_where_the_function_is_called():
    kernel: Any = hybrid.script(of_a_cube)
    with pytest.raises(HybridError, match=r"np\.linalg\.cholesky\(a\)") as caught:
        kernel(np.ones((2, 2, 2)))
    assert "library_" not in str(caught.value)
