"""Decompositions of matrices: NumPy's bits, shapes, types, names and errors."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from hybridjit.errors import ParseError, TypeMismatch

np: Any = numpy


def _random(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape)


def orthonormal(a: Any) -> Any:
    return np.linalg.qr(a), np.linalg.qr(a, "r"), np.linalg.qr(a, mode="complete")


def singular(a: Any) -> Any:
    return np.linalg.svd(a), np.linalg.svd(a, full_matrices=False), np.linalg.pinv(a)


def symmetric(a: Any) -> Any:
    found = np.linalg.eigh(a[..., :2, :2])
    return found, found.eigenvalues * 2, np.linalg.eigvalsh(a[..., :2, :2], UPLO="U")


def least(a: Any) -> Any:
    return np.linalg.lstsq(a, a[:, 0]), np.linalg.lstsq(a, a[:, :2] + 1, rcond=0.1)


MATRICES = {
    "tall": _random(5, 3),
    "wide": _random(2, 4).astype(np.float32),
    "stack": _random(2, 4, 3),
    "integers": np.arange(12).reshape(4, 3),
    "complex": _random(4, 3) + 1j * _random(4, 3),
    "backwards": _random(3, 5).T[::-1],
}


def _flat(value: Any) -> list[Any]:
    is_tuple = hasattr(value, "__len__") and not hasattr(value, "dtype")
    return [part for item in value for part in _flat(item)] if is_tuple else [value]


def assert_as_numpy(kernel: Any, args: list[Any]) -> None:
    expected = kernel.py_func(*args)
    for run in (kernel, kernel.interpret):
        found = run(*args)
        for got, want in zip(_flat(found), _flat(expected), strict=True):
            assert np.asarray(got).dtype == np.asarray(want).dtype
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
        assert [type(part) for part in found] == [type(part) for part in expected]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("function", [orthonormal, singular, symmetric, least])
def test_as_numpy(function: Any) -> None:
    kernel: Any = hybrid.script(function)
    for matrix in MATRICES.values():
        if function is not least or matrix.ndim == 2:
            assert_as_numpy(kernel, [matrix])


def test_read_only_matrices() -> None:
    matrix = _random(3, 3)
    matrix.flags.writeable = False
    kernel: Any = hybrid.script(singular)
    assert_as_numpy(kernel, [matrix])


@hybrid.script
def spectrum(a: Any) -> Any:
    values, vectors = np.linalg.eig(a)
    return vectors * values, np.linalg.eigvals(a)


def test_eigenvalues_that_are_complex() -> None:
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    assert_as_numpy(spectrum, [turn.astype(np.complex128)])
    assert_as_numpy(spectrum, [turn + np.array([[1.0, 1.0], [0.0, 1.0]])])
    with pytest.raises(ValueError, match="an eigenvalue of this real matrix is complex"):
        spectrum(turn)


def test_errors_of_lapack() -> None:
    kernel: Any = hybrid.script(singular)
    for run in (kernel, kernel.interpret):
        with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
            run(np.full((3, 3), np.nan))


def test_what_is_no_matrix() -> None:
    kernel: Any = hybrid.script(orthonormal)
    with pytest.raises(TypeMismatch, match="at least two dimensions"):
        kernel(np.ones(3))


def test_other_modes() -> None:
    @hybrid.script
    def raw(a: Any) -> Any:
        return np.linalg.qr(a, mode="raw")

    with pytest.raises(ParseError, match="its modes are"):
        raw(np.eye(2))


def test_errors_of_linear_algebra_are_caught() -> None:
    @hybrid.script
    def inverse(a: Any) -> Any:
        try:
            return np.linalg.inv(a)
        except np.linalg.LinAlgError:
            return np.zeros(a.shape)

    for run in (inverse, inverse.interpret):
        assert (run(np.ones((2, 2))) == 0).all()
        assert (run(np.eye(2) * 2) == np.eye(2) / 2).all()
