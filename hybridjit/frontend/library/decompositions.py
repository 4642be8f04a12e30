"""Decompositions of NumPy: LAPACK does them, as NumPy calls it.

What they give has NumPy's bits, errors and warnings, because it is NumPy that is called back; the
shapes and types of it are known here, so that a script can go on with them.
"""

from __future__ import annotations

from typing import Any

import numpy

from hybridjit.frontend.library.linalg import computing_type, square_type
from hybridjit.ir.extern import Extern

np: Any = numpy
Array = Any
_ONE = np.eye(1)
# What NumPy names the parts of its results.
QRResult = np.linalg.qr(_ONE).__class__
SVDResult = np.linalg.svd(_ONE).__class__
EighResult = np.linalg.eigh(_ONE).__class__
EigResult = np.linalg.eig(_ONE).__class__


# -- what is called back -----------------------------------------------------------------------


def _qr(a: Array, q: Array, r: Array, is_complete: Any) -> None:
    q[...], r[...] = np.linalg.qr(a, "complete" if is_complete else "reduced")


def _r(a: Array, r: Array) -> None:
    r[...] = np.linalg.qr(a, "r")


def _svd(a: Array, u: Array, s: Array, vh: Array, is_full: Any) -> None:
    u[...], s[...], vh[...] = np.linalg.svd(a, full_matrices=bool(is_full))


def _singular_values(a: Array, s: Array) -> None:
    s[...] = np.linalg.svd(a, compute_uv=False)


def _eigh(a: Array, values: Array, vectors: Array, is_lower: Any) -> None:
    values[...], vectors[...] = np.linalg.eigh(a, "L" if is_lower else "U")


def _eigvalsh(a: Array, values: Array, is_lower: Any) -> None:
    values[...] = np.linalg.eigvalsh(a, "L" if is_lower else "U")


def _eig(a: Array, values: Array, vectors: Array) -> None:
    found = np.linalg.eig(a)
    _check_real(found[0], values)
    values[...], vectors[...] = found


def _eigvals(a: Array, values: Array) -> None:
    found = np.linalg.eigvals(a)
    _check_real(found, values)
    values[...] = found


def _check_real(found: Array, values: Array) -> None:
    """NumPy's result is complex where an eigenvalue is; a script has to know that before."""
    if np.iscomplexobj(found) and not np.iscomplexobj(values):
        raise ValueError(
            "an eigenvalue of this real matrix is complex; take those of a.astype(np.complex128)"
        )


def _lstsq(a: Array, b: Array, rcond: Any, x: Array, rest: Array, counts: Array, s: Array) -> None:
    x[...], left, rank, s[...] = np.linalg.lstsq(a, b, None if np.isnan(rcond) else rcond)
    rest[: left.size] = left
    counts[:] = rank, left.size


def _pinv(a: Array, x: Array, rcond: Any, is_hermitian: Any) -> None:
    cut = None if np.isnan(rcond) else rcond
    x[...] = np.linalg.pinv(a, cut, hermitian=bool(is_hermitian))


call_qr: Any = Extern("lapack_qr", _qr, None)
call_r: Any = Extern("lapack_r", _r, None)
call_svd: Any = Extern("lapack_svd", _svd, None)
call_singular_values: Any = Extern("lapack_singular_values", _singular_values, None)
call_eigh: Any = Extern("lapack_eigh", _eigh, None)
call_eigvalsh: Any = Extern("lapack_eigvalsh", _eigvalsh, None)
call_eig: Any = Extern("lapack_eig", _eig, None)
call_eigvals: Any = Extern("lapack_eigvals", _eigvals, None)
call_lstsq: Any = Extern("lapack_lstsq", _lstsq, None)
call_pinv: Any = Extern("lapack_pinv", _pinv, None)


# -- the functions -----------------------------------------------------------------------------


def _matrix(a: Array) -> Array:
    """An array of the script's own, of the type to compute in."""
    if a.ndim < 2:
        raise TypeError("it takes matrices, arrays of at least two dimensions")
    return a.astype(computing_type(a))


def qr(a: Array, mode: str = "reduced") -> Any:
    """An orthonormal and an upper triangular matrix whose product is `a`."""
    if mode != "reduced" and mode != "complete" and mode != "r":
        raise NotImplementedError(
            "its modes are 'reduced', 'complete' and 'r'", "take one of these"
        )
    given = _matrix(a)
    m, n = a.shape[-2], a.shape[-1]
    k = m if mode == "complete" else min(m, n)
    r = np.empty((*a.shape[:-2], k, n), given.dtype)
    if mode == "r":
        call_r(given, r)
        return r
    q = np.empty((*a.shape[:-2], m, k), given.dtype)
    call_qr(given, q, r, mode == "complete")
    return QRResult(q, r)


def svd(a: Array, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Two unitary matrices, and the singular values between them, whose product is `a`."""
    given = _matrix(a)
    m, n = a.shape[-2], a.shape[-1]
    k = min(m, n)
    s = np.empty((*a.shape[:-2], k), given.real.dtype)
    if not compute_uv:
        call_singular_values(given, s)
        return s
    u = np.empty((*a.shape[:-2], m, m if full_matrices else k), given.dtype)
    vh = np.empty((*a.shape[:-2], n if full_matrices else k, n), given.dtype)
    call_svd(given, u, s, vh, full_matrices)
    return SVDResult(u, s, vh)


def svdvals(x: Array) -> Array:
    """The singular values."""
    given = _matrix(x)
    s = np.empty((*x.shape[:-2], min(x.shape[-2], x.shape[-1])), given.real.dtype)
    call_singular_values(given, s)
    return s


def eigh(a: Array, UPLO: str = "L") -> Any:
    """The eigenvalues and eigenvectors of a symmetric or Hermitian matrix."""
    given = a.astype(square_type(a))
    values = np.empty(a.shape[:-1], given.real.dtype)
    vectors = np.empty(a.shape, given.dtype)
    call_eigh(given, values, vectors, UPLO == "L" or UPLO == "l")
    return EighResult(values, vectors)


def eigvalsh(a: Array, UPLO: str = "L") -> Array:
    """The eigenvalues of a symmetric or Hermitian matrix."""
    given = a.astype(square_type(a))
    values = np.empty(a.shape[:-1], given.real.dtype)
    call_eigvalsh(given, values, UPLO == "L" or UPLO == "l")
    return values


def eig(a: Array) -> Any:
    """The eigenvalues and eigenvectors of a square matrix; of a real one they must be real."""
    given = a.astype(square_type(a))
    values = np.empty(a.shape[:-1], given.dtype)
    vectors = np.empty(a.shape, given.dtype)
    call_eig(given, values, vectors)
    return EigResult(values, vectors)


def eigvals(a: Array) -> Array:
    """The eigenvalues of a square matrix; of a real one they must be real."""
    given = a.astype(square_type(a))
    values = np.empty(a.shape[:-1], given.dtype)
    call_eigvals(given, values)
    return values


def lstsq(a: Array, b: Array, rcond: Any = None) -> Any:
    """The x that makes the norm of `a @ x - b` least, what is left, the rank, singular values."""
    if a.ndim != 2:
        raise TypeError("it takes a matrix, an array of two dimensions")
    if a.shape[0] != b.shape[0]:
        raise np.linalg.LinAlgError("Incompatible dimensions")
    dtype = np.result_type(computing_type(a), computing_type(b))
    given = a.astype(dtype)
    side = (b[:, None] if b.ndim == 1 else b).astype(dtype)
    x = np.empty((a.shape[1], side.shape[1]), dtype)
    rest = np.empty(side.shape[1], given.real.dtype)
    counts = np.empty(2, np.int32)
    s = np.empty(min(a.shape[0], a.shape[1]), given.real.dtype)
    call_lstsq(given, side, np.nan if rcond is None else rcond, x, rest, counts, s)
    return (x[:, 0] if b.ndim == 1 else x), rest[: counts[1]], counts[0], s


def pinv(a: Array, rcond: Any = None, hermitian: bool = False) -> Array:
    """The pseudo-inverse of a matrix, or of each of a stack."""
    given = _matrix(a)
    x = np.empty((*a.shape[:-2], a.shape[-1], a.shape[-2]), given.dtype)
    call_pinv(given, x, np.nan if rcond is None else rcond, hermitian)
    return x
