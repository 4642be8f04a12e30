"""What every operator does: tell arrays from tensors, compile once, refuse clearly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from typing_extensions import assert_type

from hybridjit import Schedule, ScheduleError, te
from hybridjit import stdlib as hs
from hybridjit.errors import ArgumentError
from hybridjit.stdlib.parts.types import Number, T
from hybridjit.stdlib.running.coalescing import coalesce
from hybridjit.stdlib.running.compiled import scheduled_by
from hybridjit.stdlib.running.operator import MAX_COMPILED, Operator, operator

ROOT = Path(__file__).parents[2]
X = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
TENSOR = te.placeholder((2, 3), "float64", "tensor")


def counted() -> tuple[Any, list[Any]]:
    """An operator, and the shapes of the tensors that it was defined for."""
    shapes: list[Any] = []

    @operator
    def scaled(x: T, factor: T | Number = 2.0, *, power: int = 1) -> T:
        """x times a factor, to a power."""
        shapes.append(x.shape)
        return hs.power(hs.multiply(x, factor), power)

    return scaled, shapes


def test_types_of_results() -> None:
    assert_type(hs.relu(X), NDArray[Any])
    assert_type(hs.relu(TENSOR), te.Tensor)
    assert_type(hs.add(X, 1), NDArray[Any])
    assert_type(hs.add(1, TENSOR), te.Tensor)
    assert_type(hs.where(X > 0, X, 0.0), NDArray[Any])
    assert_type(hs.sum(TENSOR, axis=1, keepdims=True), te.Tensor)


def test_definition_is_called_once_for_each_kind_of_call() -> None:
    scaled, shapes = counted()
    for factor in (2.0, 3.0, -1.5):
        np.testing.assert_array_equal(scaled(X, factor), X * factor)
    once = len(shapes)
    np.testing.assert_array_equal(scaled(X + 1, 4.0), (X + 1) * 4)
    np.testing.assert_array_equal(scaled(X, factor=X), X * X)
    assert len(shapes) > once
    several = len(shapes)
    np.testing.assert_array_equal(scaled(factor=X, x=X), X * X)
    np.testing.assert_array_equal(scaled(X, power=2), (X * 2) ** 2)
    np.testing.assert_array_equal(scaled(X, power=3), (X * 2) ** 3)
    assert len(shapes) > several
    assert shapes[0] == (2, 3)


def test_numbers_of_different_types_are_told_apart() -> None:
    scaled, _ = counted()
    x = np.array([1, 2])
    assert [scaled(x, f).dtype.name for f in (2, 2.0, True, np.float32(2))] == [
        *("int64", "float64", "int64", "float64")
    ]


def test_options_that_are_equal_but_of_other_types_are_told_apart() -> None:
    assert hs.sum(X, axis=1).shape == (2,)
    with pytest.raises(TypeError, match=r"an axis is an integer, got 1\.0"):
        hs.sum(X, axis=1.0)  # pyright: ignore[reportCallIssue, reportArgumentType]


@pytest.mark.parametrize("kind", [float, np.float32, np.float64])
def test_zeros_of_both_signs_are_told_apart(kind: Any) -> None:
    for start in (0.0, -0.0, 0.0, -0.0):
        found = hs.arange(kind(start), kind(-1.0), kind(-0.5))
        assert np.signbit(found[0]) == np.signbit(start)


def test_lists_are_options() -> None:
    assert hs.sum(X, axis=[0, 1]).shape == ()
    assert hs.max_pool2d(np.ones((1, 1, 4, 4)), [2, 2]).shape == (1, 1, 2, 2)


def test_arguments_are_left_alone() -> None:
    x = np.array(X)
    x.setflags(write=False)
    hs.add(x, x)
    hs.cumsum(x)
    np.testing.assert_array_equal(x, X)


def test_results_are_new_each_time() -> None:
    first, second = hs.add(X, 1), hs.add(X, 1)
    first[:] = 0
    np.testing.assert_array_equal(second, X + 1)
    assert second.flags.owndata


def test_compiled_code_is_bounded_and_can_be_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hybridjit.stdlib.running.operator.MAX_COMPILED", 2)
    scaled, shapes = counted()
    for _ in range(2):
        for size in (1, 2, 3):
            scaled(np.ones(size))
    assert len(shapes) >= 6
    many = len(shapes)
    scaled(np.ones(3))
    assert len(shapes) == many
    scaled.clear()
    scaled(np.ones(3))
    assert len(shapes) > many
    assert MAX_COMPILED > 2


def test_schedule_that_does_not_fit_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(s: Schedule) -> None:
        s.vectorize(s.loops("relu")[0])
        s.split("nothing", factor=2)

    @operator(recipe=scheduled_by(refused))
    def positive(x: T) -> T:
        """x, but 0 where it is negative."""
        return hs.relu(x)

    with pytest.raises(ScheduleError, match="nothing"):
        positive(X)
    monkeypatch.setattr("hybridjit.stdlib.running.compiled.REFUSALS", (ScheduleError,))
    np.testing.assert_array_equal(positive(X), X)


def test_operator_looks_like_its_definition() -> None:
    found: Any = hs.leaky_relu
    assert found.__name__ == "leaky_relu"
    assert found.__doc__.startswith("x, but x * slope")
    assert issubclass(type(found), Operator)
    assert repr(found) == "operator leaky_relu(x: 'T', slope: 'T | Number' = 0.01) -> 'T'"


MISTAKES: dict[str, Any] = {
    "a list": lambda: hs.relu([1.0, 2.0]),  # pyright: ignore
    "a list among numbers": lambda: hs.add(X, [1.0]),  # pyright: ignore
    "a number": lambda: hs.relu(2.0),  # pyright: ignore
    "only numbers": lambda: hs.add(1, 2),  # pyright: ignore
    "an array beside a tensor": lambda: hs.add(TENSOR, X),  # pyright: ignore
    "an expression beside an array": lambda: hs.add(X, te.var("n")),
    "objects": lambda: hs.relu(np.array([None])),
    "another byte order": lambda: hs.relu(X.astype(">f8")),
    "a masked array": lambda: hs.relu(np.ma.masked_array(X, X > 1)),
    "too few arguments": lambda: hs.add(X),  # pyright: ignore
    "an unknown option": lambda: hs.sum(X, axes=1),  # pyright: ignore
    "shapes": lambda: hs.multiply(X, np.ones((4, 1, 2))),
    "shapes of tensors": lambda: hs.add(TENSOR, te.placeholder((5,), "float64", "other")),
    "axis": lambda: hs.softmax(X, 5),
    "matmul": lambda: hs.matmul(X, X),
    "conv2d": lambda: hs.conv2d(np.ones((1, 3, 5, 5)), np.ones((4, 2, 3, 3))),
    "window": lambda: hs.avg_pool2d(np.ones((1, 1, 2, 2)), 3),
    "padding": lambda: hs.max_pool2d(np.ones((1, 1, 4, 4)), 2, padding="full"),  # pyright: ignore
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes(what: str, golden: Any) -> None:
    with pytest.raises(ArgumentError, match=r"\w") as caught:
        MISTAKES[what]()
    golden.check(str(caught.value), "txt")


def test_import_of_the_package_loads_no_operators() -> None:
    program = "import sys, hybridjit; print('hybridjit.stdlib' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_options_of_other_types_are_not_those_of_earlier_calls() -> None:
    assert hs.tile(X, (1, 2)).shape == (2, 6)
    with pytest.raises(TypeError, match="reps must be integers"):
        hs.tile(X, (1.0, 2.0))  # pyright: ignore


@pytest.mark.parametrize(
    ("operands", "result", "views", "view"),
    [
        ([(2, 3), (2, 3)], (2, 3), [(6,), (6,)], (6,)),
        ([(2, 3), ()], (2, 3), [(6,), (1,)], (6,)),
        ([(2, 3), (3,)], (2, 3), [(2, 3), (1, 3)], (2, 3)),
        ([(8, 4, 5, 6), (4, 1, 1)], (8, 4, 5, 6), [(8, 4, 30), (1, 4, 1)], (8, 4, 30)),
        ([(1, 4, 1), (1, 4, 1)], (1, 4, 1), [(4,), (4,)], (4,)),
        ([(2, 1), (1, 3)], (2, 3), [(2, 1), (1, 3)], (2, 3)),
        ([(1, 1, 3), (2, 1, 1)], (2, 1, 3), [(1, 3), (2, 1)], (2, 3)),
        ([(0, 3), (1, 1)], (0, 3), [(0,), (1,)], (0,)),
        ([()], (), [()], ()),
    ],
)
def test_axes_are_merged(operands: Any, result: Any, views: Any, view: Any) -> None:
    assert coalesce(operands, result) == (views, view)
