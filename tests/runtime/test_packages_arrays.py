"""Tensors of torch, columns of pandas and arrays of xarray: their own memory, read and written."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from hybridjit.errors import ArgumentError, ArgumentValueError
from tests.runtime.test_brought_arrays import doubled, plus_one

np: Any = numpy
pytestmark = pytest.mark.usefixtures("unchecked")


@hybrid.script
def rest(a: Any) -> Any:
    return a[1:]


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


@pytest.fixture
def pandas() -> Any:
    return pytest.importorskip("pandas")


@pytest.fixture
def xarray() -> Any:
    return pytest.importorskip("xarray")


@pytest.mark.parametrize(
    "name", ["float32", "float64", "int32", "complex64", "float16", "bfloat16"]
)
def test_tensors(torch: Any, name: str) -> None:
    memory = torch.arange(8).to(getattr(torch, name))
    for tensor in (memory, memory[::2], memory.reshape(2, 4).T):
        before = tensor.clone()
        for run in (doubled, doubled.interpret):
            run(tensor)
        assert bool((tensor == before * 4).all())
        made = torch.zeros_like(before)
        assert plus_one(tensor, out=made) is made
        assert bool((made == tensor + 1).all())
        rest(tensor)[...] = 0
        assert bool((tensor[1:] == 0).all())


def test_tensors_that_are_no_arrays(torch: Any) -> None:
    tensors = {
        "requires grad": torch.ones(3, requires_grad=True),
        "conjugate bit": torch.ones(3, dtype=torch.complex64).conj(),
        "[Ss]parse": torch.eye(3).to_sparse(),
        "meta": torch.empty(3, device="meta"),
    }
    for reason, tensor in tensors.items():
        for call in (lambda t=tensor: plus_one(t), lambda t=tensor: plus_one(np.ones(3), out=t)):
            with pytest.raises(ArgumentError, match=reason):
                call()


def test_columns(pandas: Any) -> None:
    frame = pandas.DataFrame({"x": np.arange(4.0), "k": np.arange(4, dtype=np.int32)})
    for name in frame:
        column = frame[name]
        found = plus_one(column)
        assert found.dtype == column.dtype
        assert found.tolist() == (column + 1).tolist()
        assert np.shares_memory(rest(column), np.asarray(column))
    assert plus_one(frame).tolist() == (frame.to_numpy() + 1).tolist()


def test_columns_are_written_as_pandas_lets_it(pandas: Any) -> None:
    """From its version 3 on, others may have the same memory, and pandas shows it read-only."""
    column = pandas.Series(np.arange(4.0))
    if np.asarray(column).flags.writeable:
        doubled(column)
        assert column.tolist() == [0, 2, 4, 6]
        return
    with pytest.raises(ArgumentValueError, match=r"(?s)read-only.*pass a copy: np.array\(a\)"):
        doubled(column)
    with pytest.raises(ArgumentValueError, match="out= is read-only"):
        plus_one(np.zeros(4), out=column)
    copied = np.array(column)
    doubled(copied)
    assert copied.tolist() == [0, 2, 4, 6]


def test_an_index_is_not_written(pandas: Any) -> None:
    labels = pandas.Index(np.arange(4.0))
    assert plus_one(labels).tolist() == [1, 2, 3, 4]
    with pytest.raises(ArgumentValueError, match="read-only"):
        doubled(labels)
    assert labels.tolist() == [0, 1, 2, 3]


def test_columns_of_no_numbers(pandas: Any) -> None:
    columns = [
        pandas.Series(["a", "b"]),
        pandas.Series(["a", "b"], dtype="category"),
        pandas.Series(pandas.date_range("2020", periods=2)),
    ]
    for column in columns:
        with pytest.raises(ArgumentError, match="argument 'a' is"):
            plus_one(column)


def test_arrays_with_names_for_axes(xarray: Any) -> None:
    for made in (xarray.DataArray(np.arange(4.0)), xarray.Variable("t", np.arange(4.0))):
        for run in (doubled, doubled.interpret):
            run(made)
        assert made.values.tolist() == [0, 4, 8, 12]
        assert plus_one(np.zeros(4), out=made) is made
        assert made.values.tolist() == [1, 1, 1, 1]
        assert np.shares_memory(rest(made), made.values)


def test_a_set_of_arrays(xarray: Any) -> None:
    with pytest.raises(ArgumentError, match="Dataset"):
        plus_one(xarray.Dataset({"x": ("t", [1.0, 2.0])}))
