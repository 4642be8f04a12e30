"""Functions of NumPy on odd arrays: without axes, unsigned, of sizes that do not fit."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import ParseError
from hybridjit.errors import TypeMismatch
from tests.frontend.from_text import script_from_text
from tests.support.array_results import assert_agree, assert_close
from tests.support.oracle import run_once, run_plain

np: Any = numpy

CALLS = (
    "np.var(x), np.std(x), x.std(), np.var(x, ddof=1), np.var(x, axis=())",
    "np.var(x, keepdims=True), np.sum(x, keepdims=True), x.max(axis=0, keepdims=True)",
    "np.mean(x, where=x > 0), np.var(x, where=x < 0), np.sum(x, where=x > 0, initial=2)",
    "np.cumsum(x), np.cumsum(x, axis=0), np.cumprod(x, axis=-1)",
    "np.meshgrid(x, x), np.meshgrid(x, np.arange(3.0))[0]",
)


@pytest.mark.parametrize("call", CALLS)
def test_a_number_is_as_in_numpy(call: str) -> None:
    kernel = script_from_text(f"def f(x):\n    return {call}\n", {"np": np})
    for dtype in ("float64", "float32", "int16"):
        assert_agree(kernel, [np.array(3, dtype)])


NO_DTYPES = (
    "np.zeros(3, dtype=None), np.ones((2, 2), None), np.full(2, 3, dtype=None), np.full(2, 1.5)",
    "np.arange(3, dtype=None), np.linspace(0, 1, 3, dtype=None), np.eye(2, dtype=None)",
    "np.zeros_like(x, dtype=None), np.ones_like(x, None), np.full_like(x, 2, dtype=None)",
    "np.array([1, 2], dtype=None), np.array(x, None), np.asarray(x * 1, dtype=None)",
    "x.sum(dtype=None), np.mean(x, dtype=None), np.std(x, None, None), np.prod(x, dtype=None)",
    "np.cumsum(x, dtype=None), np.concatenate((x, x), dtype=None), np.add.accumulate(x, 0, None)",
    "np.array(x, copy=True), x.astype(np.float64, copy=False) + 1, x.astype('f4', copy=True)",
)


@pytest.mark.parametrize("call", NO_DTYPES)
def test_no_dtype_is_numpys_own(call: str) -> None:
    kernel = script_from_text(f"def f(x):\n    return {call}\n", {"np": np})
    for dtype in ("float64", "float32", "int16"):
        assert_agree(kernel, [np.arange(1, 5).astype(dtype)])


def test_a_dtype_that_may_be_none() -> None:
    text = "def f(x, dtype=None):\n    return np.ones(3, dtype), x.sum(dtype=dtype)\n"
    kernel = script_from_text(text, {"np": np})
    for dtype in (None, np.float32, "int64"):
        for run in (kernel, kernel.interpret):
            found, wanted = run(np.arange(4), dtype), kernel.py_func(np.arange(4), dtype)
            assert [x.dtype for x in found] == [x.dtype for x in wanted]


@pytest.mark.parametrize(
    ("call", "error"),
    [("np.concatenate((x, x))", ValueError), ("np.add.accumulate(x)", TypeError)],
)
def test_what_needs_an_axis_says_so(call: str, error: type[Exception]) -> None:
    kernel = script_from_text(f"def f(x):\n    return {call}\n", {"np": np})
    with pytest.raises(error, match="number"):
        kernel(np.array(1.5))


def test_meshgrid_lays_out_all_elements() -> None:
    kernel = script_from_text("def f(x, y):\n    return np.meshgrid(x, y)\n", {"np": np})
    for shape in ((2, 3), (4, 2), (1, 5)):
        assert_agree(kernel, [np.arange(np.prod(shape)).reshape(shape), np.arange(3.0)])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64", "int8", "int64", "bool"])
def test_bits_that_all_have_are_those_of_the_type(dtype: str) -> None:
    text = "def f(x):\n    return np.bitwise_and.reduce(x), np.bitwise_and.reduce(x, axis=-1)\n"
    kernel = script_from_text(text, {"np": np})
    for shape in ((5, 7), (20, 3), (0, 4), (3, 0), (1, 1)):
        assert_agree(kernel, [np.arange(np.prod(shape)).astype(dtype).reshape(shape) | 1])


def test_modf_of_integers_gives_floats() -> None:
    kernel = script_from_text("def f(x):\n    return np.modf(x)\n", {"np": np})
    for dtype in ("int8", "int16", "int64", "uint8", "float16", "float64"):
        assert_agree(kernel, [np.arange(5).astype(dtype)])


def test_running_truths_are_bools() -> None:
    text = (
        "def f(x):\n    return np.logical_and.accumulate(x), np.logical_or.accumulate(x, axis=1)\n"
    )
    kernel = script_from_text(text, {"np": np})
    for dtype in ("int32", "float64", "bool", "uint8"):
        assert_agree(kernel, [np.array([[3, 0, 2], [1, 5, 0]]).astype(dtype)])


def test_a_range_has_the_type_that_its_bounds_have_with_an_int() -> None:
    text = "def f(x):\n    return np.arange(x[1]), np.arange(x[0], 7), np.arange(0, x[1], 2)\n"
    kernel = script_from_text(text, {"np": np})
    for dtype in ("bool", "uint8", "uint64", "int16", "float32", "float64"):
        assert_agree(kernel, [np.array([1, 3]).astype(dtype)])


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("np.bincount(k, x)", ValueError),
        ("np.isneginf(x * 1j)", TypeError),
        ("np.minimum.accumulate(x * 1j)", TypeError),
    ],
)
def test_what_numpy_refuses_is_refused(call: str, error: type[Exception]) -> None:
    kernel = script_from_text(f"def f(k, x):\n    return {call}\n", {"np": np})
    for length in (2, 5, 7):
        with pytest.raises(error, match=r"same length|real numbers|no order"):
            kernel(np.arange(4), np.ones(length))


def test_complex_infinities_are_close_to_themselves() -> None:
    text = "def f(x, y):\n    return np.isclose(x, y), np.isclose(x, y, equal_nan=True)\n"
    kernel = script_from_text(text, {"np": np})
    x = np.array([complex(np.inf, 1), complex(1, -np.inf), complex(np.nan, 1), 1 + 1j])
    for y in (x, x.conj(), x.real, np.array(1 + 1j)):
        assert_agree(kernel, [x, y])


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "call",
    [
        "np.putmask(a, b > 0, b.astype(np.int32))",
        "np.putmask(a, b > 0, 3)",
        "np.copyto(a, b, where=b > 0)",
        "np.copyto(a, 7, where=b > 0)",
        "np.copyto(a, b[:1], where=b > 0)",
        "np.copyto(a, b, where=True)",
        "np.copyto(a, b)",
    ],
)
def test_elements_that_are_not_chosen_stay_as_they_are(call: str) -> None:
    """Int64 and uint64 meet in float64, which does not hold them."""
    kernel = script_from_text(f"def f(a, b):\n    {call}\n", {"np": np})
    for length in (3, 5, 40):
        a = np.full(length, 2**60 + 1)
        for b in (np.arange(length, dtype=np.uint64), np.arange(length, dtype=np.int32)):
            assert_agree(kernel, [a, b])
            plain, found = a.copy(), a.copy()
            kernel.py_func(plain, b)
            kernel(found, b)
            np.testing.assert_array_equal(found, plain)


@pytest.mark.parametrize("dtypes", [("int64", "float64"), ("uint8", "int16"), ("bool", "uint8")])
def test_copyto_keeps_the_kind(dtypes: tuple[str, str]) -> None:
    kernel = script_from_text("def f(a, b):\n    np.copyto(a, b)\n", {"np": np})
    with pytest.raises(TypeError, match="another kind"):
        kernel(np.zeros(3, dtypes[0]), np.ones(3, dtypes[1]))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", ["a + n", "n * a", "np.maximum(a, n)", "(a & n).sum()"])
def test_a_number_that_does_not_fit_is_an_error_without_elements(text: str) -> None:
    kernel = script_from_text(f"def f(a, n):\n    return {text}\n", {"np": np})
    for shape in ((0, 2), (3, 2), (4, 5), (0, 5), (7, 0)):
        assert_agree(kernel, [np.zeros(shape, np.int16), 10**6])
        assert_agree(kernel, [np.zeros(shape, np.int16), 100])


@pytest.mark.parametrize("call", ["np.copyto(y, 7)", "np.fill_diagonal(y, 7)"])
def test_what_is_stored_to_is_no_list(call: str) -> None:
    kernel = script_from_text(f"def f(n):\n    y = [n, 2]\n    {call}\n    return y\n", {"np": np})
    with pytest.raises(ParseError, match=r"is a list|not supported here"):
        kernel(1)


MEANINGS = (
    "np.roll(x, (1, 2)), np.roll(x, [3]), np.roll(x, (1, -4, 2))",
    "np.select([x == 1, x == 0], [x, 1.5], 2.5) if x.dtype.kind in 'fc' else 0",
    "np.select([x == 1, x == 0], [x, 1], True), np.select([x == 1, x == 0], [1, 2])",
    "np.vander(x.ravel()), np.vander(x.ravel(), 3, True), np.vander(x.ravel(), 1)",
    "np.median(x), np.median(x, axis=-1)",
    "np.linalg.multi_dot([x[..., :4], x.T[:4]]), np.linalg.multi_dot([x, x.T])",
)


@pytest.mark.parametrize("call", MEANINGS)
def test_odd_arguments_mean_what_they_mean_in_numpy(call: str) -> None:
    kernel = script_from_text(f"def f(x):\n    return {call}\n", {"np": np})
    for dtype in ("int8", "float16", "float64", "complex64"):
        x = (np.arange(20) % 3).astype(dtype).reshape(4, 5)
        assert_agree(kernel, [x])
        if np.issubdtype(dtype, np.inexact):
            x[1, 2] = complex(np.nan, 1) if x.dtype.kind == "c" else np.nan
            x[0, 0] = np.inf
            assert_agree(kernel, [x])


def test_two_stacks_are_multiplied_as_by_dot() -> None:
    kernel = script_from_text("def f(x, y):\n    return np.linalg.multi_dot([x, y])\n", {"np": np})
    rng = np.random.default_rng(1)
    for left, right in (((2, 3), (4, 3, 2)), ((2, 2, 3), (2, 3, 2)), ((3,), (3, 2)), ((3,), (3,))):
        assert_agree(kernel, [rng.random(left), rng.random(right)])


def test_powers_of_a_matrix_keep_infinities_apart() -> None:
    for n in (-1, 0, 1, 2, 3, 6):
        text = f"def f(x):\n    return np.linalg.matrix_power(x, {n})\n"
        kernel = script_from_text(text, {"np": np})
        corner = np.inf if n >= 0 else 3.0
        assert_agree(kernel, [np.array([[corner, 1.0], [0.0, 2.0]])])


@pytest.mark.parametrize("call", ["np.vander(x[None])", "np.geomspace(0, 3, 4)"])
def test_what_has_no_meaning_is_an_error(call: str) -> None:
    kernel = script_from_text(f"def f(x):\n    return {call}\n", {"np": np})
    with pytest.raises(ValueError, match=r"one-dimensional|cannot include zero"):
        kernel(np.ones(3))


NUMBERS = (
    "np.array([256], np.uint8)",
    "np.array([[1, 2], [3, 300]], np.int8)",
    "np.array([-1], np.uint64), np.array(1)",
    "np.array(300, np.int8)",
    "np.array([2**63, 1], np.uint64), np.array([1.7, -2], int), np.array([True, 2], bool)",
    "np.array([n, 2], np.float32), np.array([n, 2.9], int), np.array([[], []], int)",
)


@pytest.mark.parametrize("call", NUMBERS)
def test_numbers_of_a_list_fit_the_type_of_the_array(call: str) -> None:
    kernel = script_from_text(f"def f(n):\n    return {call}\n", {"np": np})
    plain = run_once(run_plain, kernel, [3])
    for run in (kernel, kernel.interpret):
        if plain.error is None:
            assert_close(run(3), plain.result, 0)
        else:
            with pytest.raises((OverflowError, TypeMismatch), match=r"out of bounds|not fit"):
                run(3)


@pytest.mark.parametrize("dtype", ["int", "np.int8", "np.float32", "np.float16", "complex"])
def test_a_range_goes_on_from_its_first_two_elements(dtype: str) -> None:
    calls = ("0, 3, 0.5", "2, 8, 2.5", "0.5, 3", "5.0, 0, -1.5", "0.1, 7.3, 0.3", "x, 9.5")
    text = ", ".join(f"np.arange({call}, dtype={dtype})" for call in calls)
    kernel = script_from_text(f"def f(x):\n    return {text}\n", {"np": np})
    for run in (kernel, kernel.interpret):
        assert_close(run(0.7), kernel.py_func(0.7), 0)


AXES = (
    "x.sum((0, 0))",
    "np.max(x, axis=(0, -2))",
    "np.mean(x, axis=(1, 1))",
    "np.flip(x, (1, 1))",
    "np.moveaxis(x, (0, 1), (1, 1))",
    "np.expand_dims(x, (0, 0))",
    "np.squeeze(x[:1], (0, 0))",
    "x.transpose(0, 0)",
    "np.transpose(x, (0,))",
    "np.rot90(x, 1, (0, -2))",
)


@pytest.mark.parametrize("call", AXES)
def test_no_axis_is_named_twice(call: str) -> None:
    kernel = script_from_text(f"def f(x):\n    return {call}\n", {"np": np})
    for run in (kernel.py_func, kernel, kernel.interpret):
        with pytest.raises(ValueError, match=r"axis|axes|Axes"):
            run(np.ones((3, 4)))


def test_pairs_with_numbers() -> None:
    text = (
        "def f(x):\n"
        "    return np.add.outer(x, 2), np.maximum.outer(0, x), np.add.outer(x, np.float64(2))\n"
    )
    kernel = script_from_text(text, {"np": np})
    for dtype in ("int8", "float32", "float64"):
        for shape in ((), (3,), (2, 3)):
            assert_agree(kernel, [np.ones(shape, dtype)])


def test_a_number_is_sorted_by_one_index() -> None:
    text = "def f(x):\n    return np.argsort(x), x.argsort(axis=-1), np.argpartition(x, 0)\n"
    assert_agree(script_from_text(text, {"np": np}), [np.array(3.0)])
