"""Arrays of every type and layout, in every role: the right result, or a clear refusal."""

from __future__ import annotations

import itertools
import mmap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hybridjit import Kernel, config, hybrid
from hybridjit.ir.dtype import DTYPES
from tests.runtime.native_calls import read_only
from tests.support.oracle import assert_same, fresh

numpy: Any = np  # what is done to arrays here has no static types worth the name
as_strided: Any = np.lib.stride_tricks.as_strided


@hybrid.script
def _copy(a: Any, out: Any) -> Any:
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j]


@hybrid.script
def _turn(a: Any, out: Any) -> Any:
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[a.shape[0] - 1 - i, j - a.shape[1]]


@hybrid.script
def _shift(a: Any, out: Any) -> Any:
    for i in range(a.shape[0]):
        for j in range(1, a.shape[1]):
            out[i, j] = out[i, j - 1]
            out[i, j - 1] = a[i, j]


TWO_AXES: tuple[Kernel[..., Any], ...] = (_copy, _turn, _shift)


def numpy_dtype(name: str) -> Any:
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def values(dtype: Any, rows: int = 3, columns: int = 4) -> Any:
    numbers: Any = numpy.arange(1, rows * columns + 1).reshape(rows, columns) * 3 - 7
    with np.errstate(all="ignore"):
        return (numbers % 2 if dtype.kind == "b" else numbers).astype(dtype)


# Layouts: each makes a copy of an array, elsewhere in memory


def strided(a: Any) -> Any:
    wide = numpy.zeros((2 * a.shape[0] + 1, 3 * a.shape[1] + 2), a.dtype)
    part = wide[1::2, 2::3]
    part[...] = a
    return part


def reversed_rows(a: Any) -> Any:
    return a[::-1].copy()[::-1]


def reversed_columns(a: Any) -> Any:
    return a[:, ::-1].copy()[:, ::-1]


def reversed_both(a: Any) -> Any:
    return numpy.asfortranarray(a[::-1, ::-1])[::-1, ::-1]


def misaligned(a: Any) -> Any:
    memory = numpy.zeros(a.nbytes + 1, np.uint8)
    view = memory[1:].view(a.dtype).reshape(a.shape)
    view[...] = a
    return view


def misaligned_columns(a: Any) -> Any:
    return misaligned(a.T.copy()).T


def field(a: Any) -> Any:
    """A column of records: its stride is no whole number of elements."""
    records = numpy.zeros(a.shape, [("before", np.uint8), ("x", a.dtype), ("after", np.uint8, 3)])
    records["x"] = a
    return records["x"]


def aligned_field(a: Any) -> Any:
    kind = np.dtype([("x", a.dtype), ("y", np.uint8)], align=True)
    records = numpy.zeros(a.shape, kind)
    records["x"] = a
    return records["x"]


def part_of_complex(a: Any) -> Any:
    if a.dtype not in (np.float32, np.float64):
        return a.copy()
    pair = numpy.zeros(a.shape, np.result_type(a.dtype, np.complex64))
    pair.imag = a
    return pair.imag


def offset(a: Any) -> Any:
    memory = numpy.zeros(a.size + 3, a.dtype)
    view = memory[3:].reshape(a.shape)
    view[...] = a
    return view


class Subclass(np.ndarray[Any, Any]):
    """An array that only has another class."""


def subclass(a: Any) -> Any:
    return a.copy().view(Subclass)


def record_array(a: Any) -> Any:
    return a.copy().view(np.recarray)


LAYOUTS: tuple[Callable[[Any], Any], ...] = (
    *(np.copy, np.asfortranarray, strided, reversed_rows, reversed_columns, reversed_both),
    *(misaligned, misaligned_columns, field, aligned_field, part_of_complex, offset),
    *(subclass, record_array),
)


def memory_like(array: Any) -> Any:
    """Another array of the same class, type, strides and alignment."""
    low, high = numpy.lib.array_utils.byte_bounds(array) if array.size else (0, 0)
    base = numpy.zeros(high - low + 64, np.uint8)
    start = (array.ctypes.data - base.ctypes.data) % 64
    first = start + (array.ctypes.data - low if array.size else 0)
    copy: Any = np.ndarray(array.shape, array.dtype, base, first, array.strides)
    copy[...] = array
    return copy.view(type(array)) if type(array) is not np.ndarray else copy


def check(kernel: Kernel[..., Any], a: Any, out: Any) -> None:
    """Compare native calls with the interpreter; the first ones go through Python, the last not."""
    expected = memory_like(out)
    fresh(kernel).interpret(a, expected)  # or these sizes would stay exact ones
    before = a.tobytes()
    for _ in range(3):
        found = memory_like(out)
        with config.scope(interpret=False):
            kernel(a, found)
        assert_same(numpy.asarray(found), numpy.asarray(expected))
        assert a.tobytes() == before


@pytest.mark.sampled(8)
@pytest.mark.parametrize("kernel", TWO_AXES, ids=lambda kernel: kernel.__name__.strip("_"))
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_layouts(kernel: Kernel[..., Any], layout: Callable[[Any], Any]) -> None:
    """In one kernel: the sizes are run-time sizes from the second round on."""
    made = fresh(kernel)
    for rows, columns in ((3, 4), (5, 2), (3, 4), (1, 6), (6, 1), (0, 3), (3, 0), (1, 1)):
        a = values(np.dtype(np.float64), rows, columns)
        check(made, layout(a), numpy.zeros_like(a))
        check(made, a, layout(numpy.zeros_like(a)))
        check(made, layout(a), layout(numpy.zeros_like(a)))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", DTYPES)
def test_types_and_layouts(name: str) -> None:
    a = values(numpy_dtype(name))
    for layout in (np.copy, strided, reversed_both, misaligned, field):
        made = fresh(_turn)
        check(made, layout(a), layout(numpy.zeros_like(a)))
        b = values(numpy_dtype(name), 4, 5)  # now with run-time sizes
        check(made, layout(b), layout(numpy.zeros_like(b)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("stride", [0, 1, 3, -5, 8, 2**40, -(2**62)])
def test_stride_of_an_axis_with_one_element_means_nothing(axis: int, stride: int) -> None:
    for made, sizes in itertools.product((fresh(_copy), fresh(_turn)), ((4, 4), (7, 4, 5))):
        for size in sizes:
            shape = (1, size) if axis == 0 else (size, 1)
            strides = (stride, 8) if axis == 0 else (8, stride)
            memory = numpy.arange(float(size))
            odd: Any = np.ndarray(shape, np.float64, memory, 0, strides)
            check(made, odd, numpy.zeros(shape))
            target = numpy.zeros(size)
            out: Any = np.ndarray(shape, np.float64, target, 0, strides)
            with config.scope(interpret=False):
                made(numpy.reshape(memory, shape), out)
            assert sorted(target) == sorted(memory)


def test_broadcast_input() -> None:
    made = fresh(_turn)
    for columns in (4, 6, 5):
        row, column = numpy.arange(float(columns)), numpy.arange(3.0)[:, None]
        for source in (row, column, numpy.array(7.0)):
            check(made, numpy.broadcast_to(source, (3, columns)), numpy.zeros((3, columns)))


def test_array_without_axes() -> None:
    @hybrid.script
    def add(a: Any, out: Any) -> Any:
        out[()] = a[()] + 1

    for name in ("float64", "int8", "complex64", "float16"):
        source = numpy.array([3], name)
        for array in (source, misaligned(source)):
            check(add, array.reshape(()), numpy.zeros((), name))


@pytest.mark.parametrize("shape", [(0,), (0, 4), (4, 0), (0, 0), (2**40, 0), (0, 2**40)], ids=str)
def test_arrays_without_elements(shape: tuple[int, ...]) -> None:
    @hybrid.script
    def count(a: Any) -> Any:
        n = 0
        for _ in range(a.shape[a.ndim - 1] if a.shape[0] == 0 else a.shape[0]):
            n += 1
            if n > 3:
                break
        return n, a.size

    empty = numpy.zeros(shape)
    for _ in range(3):
        assert count(empty) == count.interpret(empty)


def test_too_long_axis_is_refused() -> None:
    @hybrid.script
    def first(a: Any) -> Any:
        return a[0]

    for size in (3, 4, 5):
        first(numpy.broadcast_to(np.int8(1), (size,)))
    for _ in range(3):
        with pytest.raises(ValueError, match=r"at most 2\*\*48 elements|too long"):
            first(numpy.broadcast_to(np.int8(1), (2**50,)))


# Refusals

DATES = numpy.array(["2000-01-01"], "M8[D]")
REFUSED: dict[str, tuple[Any, str]] = {
    "byte-swapped": (numpy.zeros(3, ">f8"), "byte-swapped float64"),
    "byte-swapped int": (numpy.zeros(3, ">i4"), "byte-swapped int32"),
    "object": (numpy.zeros(3, object), "dtype object"),
    "records": (numpy.zeros(3, [("x", "U3")]), "not supported"),
    "datetime": (DATES, "dtype datetime64"),
    "timedelta": (DATES - DATES, "dtype timedelta64"),
    "longdouble": (numpy.zeros(3, np.longdouble), "dtype .*float128|dtype .*longdouble"),
    "clongdouble": (numpy.zeros(3, np.clongdouble), "not supported"),
    "text": (numpy.array(["a"]), "dtype <U1"),
    "bytes": (numpy.array([b"a"]), r"dtype \|S1"),
    "void": (numpy.zeros(3, "V8"), "not supported"),
    "float8": (numpy.zeros(3, ml_dtypes.float8_e4m3fn), "not supported"),
    "masked": (numpy.ma.masked_array(numpy.zeros(3), [1, 0, 0]), "masked array"),
    "matrix": (numpy.zeros((1, 3)).view(np.matrix), "np.matrix"),
}


@pytest.mark.parametrize(("array", "message"), REFUSED.values(), ids=REFUSED)
def test_refused_arrays(array: Any, message: str) -> None:
    @hybrid.script
    def first(a: Any, out: Any) -> Any:
        out[0] = a[0]

    for warm in range(4):
        with pytest.raises(TypeError, match=f"argument 'a' is .*({message})"):
            first(array, numpy.zeros(1))
        with pytest.raises(TypeError, match=f"argument 'out' is .*({message})"):
            first(numpy.zeros(1), array)
        with pytest.raises(TypeError, match=f"argument 'a' is .*({message})"):
            first.interpret(array, numpy.zeros(1))
        first(numpy.full(3, float(warm)), numpy.zeros(3))


OVERLAPPING: dict[str, Any] = {
    "one element": as_strided(numpy.zeros(8), (3, 4), (0, 0)),
    "one row": as_strided(numpy.zeros(8), (3, 4), (0, 8)),
    "windows": as_strided(numpy.zeros(8), (3, 4), (8, 8)),
    "half elements": as_strided(numpy.zeros(12), (3, 4), (32, 4)),
    "backwards": as_strided(numpy.zeros(8)[7:], (3, 4), (-8, -8)),
}


@pytest.mark.parametrize("name", OVERLAPPING)
def test_overlapping_output_is_refused(name: str) -> None:
    array = OVERLAPPING[name]
    made = fresh(_copy)
    for _ in range(3):
        for _ in range(2):
            made(numpy.ones((3, 4)), numpy.zeros((3, 4)))
            made(numpy.ones((3, 4)), strided(numpy.zeros((3, 4))))
        with pytest.raises(ValueError, match="some of its elements share memory"):
            made(numpy.ones((3, 4)), array)
    assert not array.any()


@pytest.mark.parametrize("name", ["array", "broadcast", "bytes", "memmap"])
def test_nothing_is_written_to_what_is_read_only(name: str, tmp_path: Path) -> None:
    file = tmp_path / "data"
    numpy.zeros((3, 4)).tofile(file)
    with np.errstate(all="ignore"):
        arrays: dict[str, Any] = {
            "array": read_only(numpy.zeros((3, 4))),
            "broadcast": numpy.broadcast_to(numpy.zeros(4), (3, 4)),
            "bytes": numpy.frombuffer(bytes(96)).reshape(3, 4),
            "memmap": numpy.memmap(file, mode="r", shape=(3, 4), dtype=np.float64),
        }
    array = arrays[name]
    made = fresh(_copy)
    for _ in range(4):
        with pytest.raises(ValueError, match="'out' is written, but it is read-only"):
            made(numpy.ones((3, 4)), array)
        made(array, numpy.ones((3, 4)))  # it may be read
        made(numpy.ones((3, 4)), numpy.zeros((3, 4)))
    assert not array.any()


def test_memory_mapped_file(tmp_path: Path) -> None:
    file = tmp_path / "data"
    numpy.zeros((3, 4)).tofile(file)
    made = fresh(_copy)
    for number in range(4):
        out = numpy.memmap(file, mode="r+", shape=(3, 4), dtype=np.float64)
        made(numpy.full((3, 4), float(number)), out)
        out.flush()
        assert (numpy.fromfile(file) == number).all()
        private = numpy.memmap(file, mode="c", shape=(3, 4), dtype=np.float64)
        made(numpy.full((3, 4), -1.0), private)
        assert (private == -1).all()
        assert (numpy.fromfile(file) == number).all()


# More than 2**31 elements


def sparse(size: int) -> Any:
    """Memory of which only the pages that are touched exist."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000)
    return numpy.frombuffer(mmap.mmap(-1, size, flags), np.int8)


@hybrid.script
def _mark(a: Any, first: Any) -> Any:
    for i in range(first, a.shape[0]):
        a[i] = a[i - a.shape[0]] + 1
    a[0] = a[a.shape[0] - 1] + 1
    return a.shape[0]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("size", [2**31 + 8, 2**32 + 8, 2**33 + 3])
def test_more_elements_than_32_bits_count(size: int) -> None:
    made = fresh(_mark)
    made(numpy.zeros(50, np.int8), 40)  # so that the size is a run-time one
    a = sparse(size)
    for _ in range(3):
        a = sparse(size)
        assert made(a, size - 3) == size
        assert a[-4:].tolist() == [0, 1, 1, 1]
        assert a[:2].tolist() == [2, 0]
    exact = fresh(_mark)
    assert exact(a, size - 1) == size
    assert a[-4:].tolist() == [0, 1, 1, 2]
    with pytest.raises(IndexError, match=f"index {-size - 1} is out of bounds"):
        exact(a, -1)


@pytest.mark.usefixtures("unchecked")
def test_products_of_sizes_beyond_32_bits() -> None:
    @hybrid.script
    def corner(a: Any, i: Any, j: Any) -> Any:
        a[i, j] = a[i, j] + 1
        for k in range(a.shape[1] - 2, a.shape[1]):
            a[i - 1, k] = 5

    rows, columns = 2**16 + 1, 2**16 + 3
    for made in (corner, fresh(corner)):
        for _ in range(3):
            a = sparse(rows * columns).reshape(rows, columns)
            made(a, rows - 1, columns - 1)
            assert a[-1, -1] == 1
            assert a[-2, -2:].tolist() == [5, 5]
        made(numpy.zeros((3, 4), np.int8), 2, 3)


@pytest.mark.usefixtures("unchecked")
def test_huge_strides() -> None:
    @hybrid.script
    def ends(a: Any) -> Any:
        for i in range(a.shape[0]):
            a[i] = i + 1
        return a[a.shape[0] - 1]

    memory = sparse(2**40)
    for count in (2, 3, 4, 2):
        stride = (2**40 - 1) // (count - 1)
        far = as_strided(memory, (count,), (stride,))
        assert ends(far) == count
        assert [memory[i * stride] for i in range(count)] == list(range(1, count + 1))
        back = as_strided(memory[stride * (count - 1) :], (count,), (-stride,))
        assert ends(back) == count
