"""Matrices of which only some elements are stored: row after row (CSR), or in blocks (BSR).

A matrix is three arrays: the elements, or blocks of them; the column of each; and where each row
begins among them, with the end of the last one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridjit import hybrid
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.stdlib.parts.shapes import (
    are_equal,
    check_integers,
    check_rank,
    fill,
    read_integers,
    shown,
)
from hybridjit.stdlib.parts.types import T
from hybridjit.stdlib.running.definition import on_arrays
from hybridjit.stdlib.running.operator import operator
from hybridjit.te import const


def _check_matrix(name: str, columns: Any, starts: Any, count: Any) -> None:
    """Refuse what is no sparse matrix with so many columns, or columns of blocks."""
    rows = starts.shape[0] - 1
    if starts[0] != 0 or starts[rows] != columns.shape[0]:
        raise ValueError(f"{name}: rows begin at 0, and the last ends with the elements")
    for i in range(rows):
        if starts[i] > starts[i + 1]:
            raise ValueError(f"{name}: a row begins before the end of the one before it")
    for k in range(columns.shape[0]):
        column = np.int64(columns[k])
        if column < 0 or column >= count:
            raise IndexError(f"{name}: there is no column {column} among {count}")


@hybrid.script
def _multiply_csr(name: str, values: Any, columns: Any, starts: Any, y: Any) -> Any:
    _check_matrix(name, columns, starts, y.shape[0])
    out = np.zeros((starts.shape[0] - 1, y.shape[1]), y.dtype)
    for i in range(starts.shape[0] - 1):
        for k in range(starts[i], starts[i + 1]):
            at = columns[k]
            for j in range(y.shape[1]):
                out[i, j] += values[k] * y[at, j]
    return out


@hybrid.script
def _multiply_bsr(name: str, values: Any, columns: Any, starts: Any, y: Any) -> Any:
    height, width = values.shape[1], values.shape[2]
    _check_matrix(name, columns, starts, y.shape[0] // max(width, 1))
    out = np.zeros(((starts.shape[0] - 1) * height, y.shape[1]), y.dtype)
    for i in range(starts.shape[0] - 1):
        for k in range(starts[i], starts[i + 1]):
            for r in range(height):
                for c in range(width):
                    at = np.int64(columns[k]) * width + c
                    for j in range(y.shape[1]):
                        out[i * height + r, j] += values[k, r, c] * y[at, j]
    return out


@hybrid.script
def _add_csr(name: str, x: Any, values: Any, columns: Any, starts: Any) -> Any:
    _check_matrix(name, columns, starts, x.shape[1])
    out = x.copy()
    for i in range(x.shape[0]):
        for k in range(starts[i], starts[i + 1]):
            out[i, columns[k]] += values[k]
    return out


@hybrid.script
def _transpose_csr(values: Any, columns: Any, starts: Any, count: int) -> Any:
    rows = starts.shape[0] - 1
    _check_matrix("csr_transpose", columns, starts, count)
    begins = np.zeros(count + 1, np.int64)
    for k in range(columns.shape[0]):
        begins[np.int64(columns[k]) + 1] += 1
    for j in range(count):
        begins[j + 1] += begins[j]
    places = np.empty(count + 1, np.int64)
    for j in range(count + 1):
        places[j] = begins[j]
    turned = np.empty(values.shape[0], values.dtype)
    owners = np.empty(values.shape[0], np.int64)
    for i in range(rows):
        for k in range(starts[i], starts[i + 1]):
            at = places[columns[k]]
            turned[at] = values[k]
            owners[at] = i
            places[columns[k]] = at + 1
    return turned, owners, begins


@operator(differentiable=False)
def csr_matmul(values: T, columns: T, starts: T, y: T) -> T:
    """The product of a sparse matrix with a dense one.

    >>> hs.csr_matmul(np.array([2.0, 3.0]), np.array([1, 0]), np.array([0, 1, 2]), np.eye(2))
    array([[0., 2.],
           [3., 0.]])
    """
    _check_csr("csr_matmul", values, columns, starts, y)
    return _multiply_csr("csr_matmul", values, columns, starts, y)


@operator(differentiable=False)
def bsr_matmul(values: T, columns: T, starts: T, y: T) -> T:
    """The product of a matrix in blocks, of shape (count, rows, columns), with a dense one.

    >>> hs.bsr_matmul(np.ones((1, 2, 2)), np.array([0]), np.array([0, 1]), np.eye(2))
    array([[1., 1.],
           [1., 1.]])
    """
    check_rank("bsr_matmul", values, 3, "blocks, rows, columns")
    _check_parts("bsr_matmul", values, columns, starts, y)
    return _multiply_bsr("bsr_matmul", values, columns, starts, y)


@operator(differentiable=False)
def sparse_dense(x: T, values: T, columns: T, starts: T) -> T:
    """x times the transpose of a sparse matrix: a dense layer whose weights are sparse.

    >>> hs.sparse_dense(np.ones((1, 2)), np.array([2.0]), np.array([1]), np.array([0, 0, 1]))
    array([[0., 2.]])
    """
    check_rank("sparse_dense", x, 2, "rows, inputs")
    turned = fill("sparse_dense_turned", (x.shape[1], x.shape[0]), lambda at: x[at[1], at[0]])
    if values.ndim == 3:
        _check_parts("sparse_dense", values, columns, starts, turned)
        made: Any = _multiply_bsr("sparse_dense", values, columns, starts, turned)
    else:
        _check_csr("sparse_dense", values, columns, starts, turned)
        made = _multiply_csr("sparse_dense", values, columns, starts, turned)
    return fill("sparse_dense", (x.shape[0], made.shape[0]), lambda at: made[at[1], at[0]])


@operator(differentiable=False)
def sparse_add(x: T, values: T, columns: T, starts: T) -> T:
    """A dense matrix plus a sparse one.

    >>> hs.sparse_add(np.ones((1, 2)), np.array([2.0]), np.array([1]), np.array([0, 1]))
    array([[1., 3.]])
    """
    _check_csr("sparse_add", values, columns, starts, x)
    _check_rows(x, starts)
    return _add_csr("sparse_add", x, values, columns, starts)


def _check_rows(x: Any, starts: Any) -> None:
    if not are_equal(x.shape[0] + 1, starts.shape[0]):
        raise ArgumentValueError(
            f"sparse_add: {shown(starts)} has not the beginnings of the rows of {shown(x)}"
        )


@operator(differentiable=False)
def csr_to_dense(values: T, columns: T, starts: T, width: int) -> T:
    """A sparse matrix with so many columns as a dense one; what is stored twice is added up.

    >>> hs.csr_to_dense(np.array([2.0, 3.0]), np.array([1, 0]), np.array([0, 1, 2]), 2)
    array([[0., 2.],
           [3., 0.]])
    """
    (count,) = read_integers("csr_to_dense", "width", width, 1, least=0)
    check_rank("csr_to_dense", values, 1, "elements")
    _check_sparse("csr_to_dense", values, columns, starts)
    shape = (starts.shape[0] - 1, count)
    dense = fill("csr_to_dense_zeros", shape, lambda at: _zero_of(values))
    _check_csr("csr_to_dense", values, columns, starts, dense)
    return _add_csr("csr_to_dense", dense, values, columns, starts)


def _zero_of(values: Any) -> Any:
    return const(0, values.dtype)


@on_arrays
def csr_transpose(values: T, columns: T, starts: T, width: int) -> tuple[T, T, T]:
    """A sparse matrix with so many columns, transposed, in three arrays again.

    >>> hs.csr_transpose(np.array([2.0, 3.0]), np.array([1, 0]), np.array([0, 1, 2]), 2)
    (array([3., 2.]), array([1, 0]), array([0, 1, 2]))
    """
    (count,) = read_integers("csr_transpose", "width", width, 1, least=0)
    _check_arrays(np.asarray(values), np.asarray(columns), np.asarray(starts))
    return _transpose_csr(values, columns, starts, count)


def _check_arrays(values: NDArray[Any], columns: NDArray[Any], starts: NDArray[Any]) -> None:
    if not (values.ndim == starts.ndim == 1 and values.shape == columns.shape and starts.size):
        raise ArgumentValueError(
            f"csr_transpose: arrays of shapes {values.shape}, {columns.shape} and {starts.shape} "
            "are no sparse matrix",
            help="it is elements, a column for each, and where each row begins and the last ends",
        )
    if columns.dtype.kind not in "iu" or starts.dtype.kind not in "iu":
        raise ArgumentError("csr_transpose: columns and beginnings of rows are integers")


def _check_csr(name: str, values: Any, columns: Any, starts: Any, dense: Any) -> None:
    check_rank(name, values, 1, "elements")
    _check_parts(name, values, columns, starts, dense)


def _check_sparse(name: str, values: Any, columns: Any, starts: Any) -> None:
    check_integers(name, columns, starts)
    check_rank(name, columns, 1, "a column for each")
    check_rank(name, starts, 1, "where rows begin")
    if are_equal(starts.shape[0], 0):
        raise ArgumentValueError(f"{name}: {shown(starts)} has no end of the last row")
    if not are_equal(values.shape[0], columns.shape[0]):
        raise ArgumentValueError(f"{name}: {shown(values)} and {shown(columns)} do not match")


def _check_parts(name: str, values: Any, columns: Any, starts: Any, dense: Any) -> None:
    _check_sparse(name, values, columns, starts)
    check_rank(name, dense, 2, "rows, columns")
    if values.dtype is not dense.dtype:
        raise ArgumentError(
            f"{name}: both matrices must be of one type, got {values.dtype} and {dense.dtype}"
        )
