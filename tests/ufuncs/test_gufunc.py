"""kernel.as_gufunc against NumPy's own, and what is refused."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import pytest

from hybridjit import hybrid
from hybridjit.errors import ArgumentError, ArgumentValueError, ShapeMismatch
from hybridjit.hybrid import Gufunc
from hybridjit.ufuncs.signature import CoreSignature
from tests.support.ufunc_results import assert_equal, np, numbers


@hybrid.script
def product(a: Any, b: Any) -> Any:
    return a @ b


@hybrid.script
def dot(x: Any, y: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


@hybrid.script
def cross(a: Any, b: Any, c: Any) -> None:
    c[0] = a[1] * b[2] - a[2] * b[1]
    c[1] = a[2] * b[0] - a[0] * b[2]
    c[2] = a[0] * b[1] - a[1] * b[0]


@hybrid.script
def range_of(x: Any, low: Any, high: Any) -> None:
    low[0] = x[0]
    high[0] = x[0]
    for i in range(x.shape[0]):
        low[0] = min(low[0], x[i])
        high[0] = max(high[0], x[i])


@hybrid.script
def sum_and_mean(x: Any) -> Any:
    return x.sum(), x / x.sum()


@hybrid.script
def differences(x: Any) -> Any:
    return x[1:] - x[:-1]


@hybrid.script
def scaled(x: Any, k: Any) -> Any:
    return x * k


def test_it_looks_like_a_gufunc() -> None:
    made = product.as_gufunc("(n, k),(k,m) -> (n,m)")
    assert isinstance(made, Gufunc)
    assert made.signature == "(n,k),(k,m)->(n,m)"
    assert (made.nin, made.nout, made.nargs) == (2, 1, 3)
    assert made.__name__ == "product"
    assert repr(made) == "hybridjit gufunc 'product' (n,k),(k,m)->(n,m)"


LOOPS: list[tuple[int, ...]] = [(), (1,), (4,), (2, 1), (2, 4), (3, 1, 4), (0,)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("left", LOOPS)
@pytest.mark.parametrize("right", LOOPS)
def test_products(left: Any, right: Any) -> None:
    made = PRODUCT
    a, b = numbers((*left, 2, 3)), numbers((*right, 3, 2), "int32")
    try:
        expected = a @ b
    except ValueError:
        with pytest.raises(ShapeMismatch, match="could not be broadcast together"):
            made(a, b)
        return
    assert_equal(made(a, b), expected)


PRODUCT = product.as_gufunc("(n,k),(k,m)->(n,m)")
DOT = dot.as_gufunc("(n),(n)->()")


def test_calls_like_earlier_ones() -> None:
    for sizes in itertools.product((1, 2, 5), repeat=3):
        a, b = numbers((3, *sizes[:2])), numbers(sizes[1:])
        for _ in range(3):
            assert_equal(PRODUCT(a, b), a @ b)


def test_results_without_dimensions() -> None:
    x, y = numbers((4, 7)), numbers(7)
    assert_equal(DOT(x, y), x @ y)
    assert_equal(DOT(y, y), np.float64(y @ y))
    single = x.astype("float32")
    assert_equal(DOT(single, single[0]), single @ single[0])


@pytest.mark.parametrize("parallel", [False, True])
def test_frozen_sizes(parallel: bool) -> None:
    made = cross.as_gufunc("(3),(3)->(3)", parallel=parallel)
    a, b = numbers((10, 3)), numbers((2, 1, 3))
    assert_equal(made(a, b), np.cross(a, b))
    with pytest.raises(ShapeMismatch, match=r"dimension '3' is 3 in the signature.*but 4 in 'a'"):
        made(numbers((2, 4)), b)


def test_outputs_that_the_kernel_writes() -> None:
    made = range_of.as_gufunc("(n)->(),()")
    x = numbers((3, 4, 5), "int32")
    low, high = made(x)
    assert_equal(low, x.min(-1))
    assert_equal(high, x.max(-1))
    assert_equal(made(x[0, 0])[0], x[0, 0].min())
    typed = range_of.as_gufunc("(n)->(),()", dtypes=("float64", "int64"))
    assert [result.dtype.name for result in typed(x)] == ["float64", "int64"]


def test_several_results_that_are_returned() -> None:
    made = sum_and_mean.as_gufunc("(n)->(),(n)")
    x = numbers((3, 4)) + 9
    total, shares = made(x)
    assert_equal(total, x.sum(-1))
    assert_equal(shares, x / x.sum(-1, keepdims=True))


def test_sizes_that_only_the_result_has() -> None:
    made = differences.as_gufunc("(n)->(m)")
    for n in (1, 2, 5, 9):
        x = numbers((2, n))
        assert_equal(made(x), np.diff(x))


def test_numbers_are_operands_without_core() -> None:
    made = scaled.as_gufunc("(n),()->(n)")
    x = numbers((2, 3), "float32")
    assert_equal(made(x, 2.5), x * np.float32(2.5))
    assert_equal(made(x, np.array([1.0, 2.0])), x * np.array([[1.0], [2.0]]))
    assert_equal(made(x, np.float64(2)), x * np.float64(2))


def test_out() -> None:
    a, b, out = numbers((3, 2, 4)), numbers((4, 2)), np.zeros((3, 2, 2))
    for _ in range(3):
        assert PRODUCT(a, b, out=out) is out
        assert_equal(out, a @ b)
    single = np.zeros((3, 2, 2), "float32")
    assert PRODUCT(a, b, single) is single
    assert_equal(single, (a @ b).astype("float32"))
    wide = np.zeros((2, 3, 2, 2))
    assert_equal(PRODUCT(a, b, out=wide), np.broadcast_to(a @ b, wide.shape).copy())
    total = np.zeros(3)
    assert DOT(a[:, 0], a[:, 0], out=total) is total
    assert_equal(total, (a[:, 0] ** 2).sum(-1))


def test_operands_have_no_names_after_calls_without_them() -> None:
    pairs, x = np.ones((2, 3)), np.arange(3.0)
    sums = hybrid.script(dot.__hybrid_function__).as_gufunc("(n),(n)->()")
    for _ in range(3):
        with pytest.raises(ArgumentError, match="there is no keyword 'y'"):
            sums(pairs, y=x)
        assert sums(pairs, x).tolist() == [3.0, 3.0]


def test_out_may_overlap_an_operand() -> None:
    for _ in range(3):
        a, b = numbers((3, 2, 2)), numbers((2, 2))
        expected = a @ b
        assert PRODUCT(a, b, out=a) is a
        assert_equal(a, expected)


def test_axes() -> None:
    x, y = numbers((4, 3)), numbers((4, 3)) + 1
    assert_equal(DOT(x, y, axis=0), (x * y).sum(0))
    assert_equal(DOT(x, y[:, 0], axes=[0, 0]), (x * y[:, :1]).sum(0))
    a = numbers((2, 3, 5), seed=1)
    found = PRODUCT(a, a, axes=[(1, 2), (2, 1), (0, 2)])
    expected = np.matmul(a, a.transpose(0, 2, 1)).transpose(1, 0, 2)
    assert_equal(np.ascontiguousarray(found), np.ascontiguousarray(expected))
    with pytest.raises(ArgumentValueError, match="axes= has 1 entries for 3 operands"):
        PRODUCT(a, a, axes=[(0, 1)])
    with pytest.raises(ArgumentError, match="axes= must be a list"):
        PRODUCT(a, a, axes=(0, 1))
    with pytest.raises(ArgumentValueError, match="axes= has 1 axes for 2 in entry 1"):
        PRODUCT(a, a, axes=[(0, 1), 0, (0, 1)])


def test_shapes_that_do_not_fit_the_signature() -> None:
    with pytest.raises(ShapeMismatch, match="dimension 'k' is 3 in 'a', but 4 in 'b'"):
        PRODUCT(numbers((2, 3)), numbers((4, 5)))
    with pytest.raises(ShapeMismatch, match=r"'b' has 1 dimensions, but its core \(k,m\) needs 2"):
        PRODUCT(numbers((2, 3)), numbers(3))
    with pytest.raises(ShapeMismatch, match="dimension 'm' is 5, but out= has 4 there"):
        PRODUCT(numbers((2, 3)), numbers((3, 5)), out=np.zeros((2, 4)))
    with pytest.raises(ShapeMismatch, match="result 0 has 2 core dimensions"):
        product.as_gufunc("(n,k),(k,m)->(n)")(numbers((2, 3)), numbers((3, 4)))
    with pytest.raises(ShapeMismatch, match="dimension 'n' is 2, but result 0 has 4 there"):
        product.as_gufunc("(n,k),(k,m)->(n,n)")(numbers((2, 3)), numbers((3, 4)))


def test_wrong_arguments() -> None:
    with pytest.raises(ArgumentError, match="takes 2 operands"):
        PRODUCT(1)
    with pytest.raises(ArgumentError, match=r"no keyword 'axess'.*\n.*did you mean 'axes'"):
        PRODUCT(numbers((1, 1)), numbers((1, 1)), axess=1)
    with pytest.raises(ArgumentError, match="axis= and axes="):
        DOT(numbers(3), numbers(3), axis=0, axes=[0, 0])
    with pytest.raises(ArgumentValueError, match="axis= needs a single core dimension"):
        PRODUCT(numbers((1, 1)), numbers((1, 1)), axis=0)
    with pytest.raises(ArgumentValueError, match="size of dimension 'm' is not known"):
        cross.as_gufunc("(n),(n)->(m)")(numbers(3), numbers(3))
    with pytest.raises(ArgumentError, match="does not cast to int32"):
        PRODUCT(numbers((1, 1)), numbers((1, 1)), out=np.zeros((1, 1), "int32"))


def test_kernels_that_do_not_fit() -> None:
    with pytest.raises(ArgumentValueError, match="has 2 parameters, but the signature"):
        product.as_gufunc("(n)->(n),(n)")
    with pytest.raises(ArgumentValueError, match="returns 2 results"):
        sum_and_mean.as_gufunc("(n)->()")(numbers(3))
    with pytest.raises(ArgumentValueError, match="dtypes= has 1 types for 2 results"):
        range_of.as_gufunc("(n)->(),()", dtypes="float64")

    @hybrid.script
    def spoils(x: Any) -> Any:
        x[0] = 1
        return x.sum()

    with pytest.raises(ArgumentValueError, match="writes to its operand 'x'"):
        spoils.as_gufunc("(n)->()")(numbers(3))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("(n,k)", "one '->'"),
        ("(n)->(n)->(n)", "one '->'"),
        ("(n)->", "no results"),
        ("(n->(n)", r"expected a core like \(n,k\) at '\(n'"),
        ("n->(n)", "expected a core"),
        ("(n)(k)->(n)", "expected a comma and a core"),
        ("(n),->(n)", "expected a comma and a core"),
        ("(n?)->(n)", "'n\\?' is neither"),
        ("(n-1)->(n)", "'n-1' is neither"),
        ("(n,)->(n)", "'' is neither"),
    ],
)
def test_signatures_that_cannot_be_read(text: str, problem: str) -> None:
    with pytest.raises(ArgumentValueError, match=problem):
        CoreSignature.parse(text)


def test_signatures_without_operands() -> None:
    assert str(CoreSignature.parse(" ( ) , ( 3 ) -> (n_1) ")) == "(),(3)->(n_1)"


def test_pickles() -> None:
    copy = pickle.loads(pickle.dumps(PRODUCT))
    a, b = numbers((2, 3, 4)), numbers((4, 2))
    assert_equal(copy(a, b), a @ b)
