"""Messages of errors that a script raises: text with values in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid, parse, structural_equal
from tests.support.array_results import assert_agree
from tests.support.oracle import run_interpreted, run_native


@hybrid.script
def raises(a: Any, k: int) -> Any:
    if k >= a.shape[0]:
        raise ValueError(f'{k} of {{{a.shape[0]}}}: "{a[0]}"')
    return a[k]


@hybrid.script
def asserts(a: Any, k: int) -> Any:
    assert k < a.shape[0], f"k = {k}"
    return a[k]


@hybrid.script
def indexes(a: Any, k: int) -> Any:
    part = a[:, 2:6]
    return part[0, k] + 1


@hybrid.script
def adds(a: Any, b: Any) -> Any:
    return a + b


WAYS = [run_native, run_interpreted]


@pytest.mark.parametrize("way", WAYS)
def test_values_are_put_into_the_text(way: Any) -> None:
    with pytest.raises(ValueError, match=r'(?m)^5 of \{3\}: "1.0"$'):
        way(raises, np.ones(3), 5)
    with pytest.raises(AssertionError, match=r"(?m)^k = 7$"):
        way(asserts, np.ones(3), 7)


def test_text_with_values_prints_as_source() -> None:
    for kernel in (raises, asserts):
        func = kernel.prim_func(hj.f64["n"], 2)
        assert structural_equal(parse(str(func)), func)


@pytest.mark.parametrize("way", WAYS)
def test_an_index_outside_a_part_is_one_sentence(way: Any) -> None:
    with pytest.raises(IndexError, match=r"(?m)^index 7 is out of bounds for axis 1 with size 4$"):
        way(indexes, np.ones((3, 9)), 7)


def test_shapes_that_do_not_fit_at_run_time_are_one_sentence() -> None:
    for size in (3, 5):
        adds(np.ones(size), np.ones(size))
    adds(np.ones(4), np.ones(1))
    with pytest.raises(
        ValueError, match=r"(?m)^the shapes in `a \+ b` do not fit: sizes \d and \d$"
    ):
        adds(np.ones(4), np.ones(5))


def test_a_field_of_a_named_tuple_is_named_in_the_help() -> None:
    @hybrid.script
    def f(p: Any) -> Any:
        return p.x + p.y

    with pytest.raises(SyntaxError, match=r"index it, as in p\[0\], or name its items"):
        f((1, 2))


def test_a_long_list_is_refused_with_what_to_pass() -> None:
    @hybrid.script
    def f(x: Any) -> Any:
        return np.sum(np.array(x))

    assert f(list(range(20))) == 190
    with pytest.raises(ValueError, match=r"is a list of 10000 items, more than 1000") as caught:
        f(list(range(10_000)))
    assert "np.array(x)" in str(caught.value)


def test_a_function_that_always_raises_ends_its_statement() -> None:
    def fails(a: Any) -> Any:
        raise ValueError("no")

    @hybrid.script
    def f(a: Any) -> Any:
        return fails(a) + 1

    with pytest.raises(ValueError, match=r"(?m)^no$"):
        f(np.ones(3))


@hybrid.script
def counts(a: Any, k: int) -> Any:
    """Every value in a text is as it was when its turn came."""

    def step(by: Any) -> Any:
        a[0] += by
        return a[0]

    print(f"{a[0]} {step(1)} {a[0]:.2f} {step(2)}", a[0])
    print("%g %g %g" % (a[0], step(1), a[0]))  # noqa: UP031
    print("{1} {0} {1} {x}".format(a[0], step(3), x=a[0]))
    print(str(a[0]) + str(step(1)) + str(a[0]), a[0], step(1), sep="-")
    print((int(a[0]), int(step(1))), a[0])
    assert k != 1, f"{a[0]} {step(1)} {a[0]}"
    if k == 2:
        raise ValueError("%s" % a[0] + f"{step(4)} {a[0]}")  # noqa: UP031
    return a[0]


def test_values_in_texts_are_evaluated_from_left_to_right() -> None:
    for k in range(3):
        assert_agree(counts, (np.arange(3), k))
