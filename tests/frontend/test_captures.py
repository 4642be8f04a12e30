"""Values from around a script: constants of its translation, translated again when they change."""

import math
from dataclasses import dataclass
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.errors import ParseError, TypeMismatch
from hybridjit.frontend.builder import MAX_CONSTANT_ELEMENTS
from hybridjit.frontend.captures import MISSING, Environment, same_value, snapshot
from hybridjit.frontend.lift import lift
from hybridjit.frontend.values import (
    Builtin,
    Callee,
    ElementType,
    Foreign,
    Items,
    Module,
    Nothing,
    NumpyFunction,
    PythonType,
    Text,
)
from hybridjit.hybrid import float32, parallel
from hybridjit.ir.dtype import FLOAT32, INT8, WEAK_FLOAT, ScalarType
from hybridjit.scalars.scalar import Scalar
from tests.support.oracle import run_plain_and_interpreted

Array = Any
Number = Any

SCALE: Any = 2
WEIGHTS: Any = np.array([1.0, 2.0, 4.0])
OPTIONS: Any = SimpleNamespace(offset=10)
rint: Any = 5  # a name of the language, used for something else


# Same value


@pytest.mark.parametrize(
    ("now", "then"),
    [
        (1, 1),
        ("a", "a"),
        (None, None),
        (1.5, 1.5),
        (float("nan"), float("nan")),
        ((1, 2.0), (1, 2.0)),
        ([1, [2]], [1, [2]]),
        (np.float32(1), np.float32(1)),
        (np.arange(3), np.arange(3)),
        (np.dtype("int8"), np.dtype("int8")),
        (math, math),
    ],
)
def test_equal_values_are_the_same_constant(now: object, then: object) -> None:
    assert same_value(now, then)


@pytest.mark.parametrize(
    ("now", "then"),
    [
        (1, 2),
        (1, 1.0),
        (1, True),
        (1.0, np.float64(1.0)),
        (0.0, -0.0),
        (0j, -0j),
        ((1, 2), (1, 3)),
        ((1, 2), [1, 2]),
        ((1,), (1, 1)),
        (np.float32(0.0), np.float32(-0.0)),
        (np.arange(3), np.arange(4)),
        (np.arange(3), np.arange(3.0)),
        (np.zeros((2, 1)), np.zeros((1, 2))),
        (np.array([0.0]), np.array([-0.0])),
        (SimpleNamespace(), SimpleNamespace()),
    ],
)
def test_different_values_are_not_the_same_constant(now: object, then: object) -> None:
    assert not same_value(now, then)


@pytest.mark.parametrize("value", [[1, [2]], (1, [2]), np.arange(3)])
def test_a_snapshot_does_not_follow_the_value(value: Any) -> None:
    taken = snapshot(value)
    assert same_value(value, taken)

    inner: Any = value[1] if isinstance(value[1], list) else value
    inner[0] = 9

    assert not same_value(value, taken)


# What an object stands for


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, Nothing()),
        ("text", Text("text")),
        (np.float32, ElementType(FLOAT32)),
        (np.dtype("int8"), ElementType(INT8)),
        (float32, ElementType(FLOAT32)),
        (float, PythonType(WEAK_FLOAT)),
        (np.exp, NumpyFunction("exp", "numpy")),
        (math.exp, NumpyFunction("exp", "math")),
        (parallel, Builtin("parallel")),
        (range, Builtin("range")),
        (math, Module(math)),
    ],
)
def test_lift(value: object, expected: object) -> None:
    assert lift(value) == expected


def test_a_python_number_is_weak_and_a_numpy_scalar_is_typed() -> None:
    lifted = [lift(1.5), lift(np.float32(1.5))]
    assert [v.type for v in lifted if isinstance(v, Scalar)] == [WEAK_FLOAT, ScalarType(FLOAT32)]


def test_tuples_are_lifted_item_by_item() -> None:
    assert lift(("a", None)) == Items((Text("a"), Nothing()))


def test_a_python_function_is_a_callee() -> None:
    assert lift(test_lift) == Callee(test_lift)


def test_a_script_is_a_callee() -> None:
    @hybrid.script
    def f() -> Number:
        return 1

    assert lift(f) == Callee(f.__hybrid_function__)


def test_what_the_language_has_no_use_for_is_foreign() -> None:
    assert isinstance(lift(object()), Foreign)


@pytest.mark.parametrize("value", [np.generic, np.longdouble(1), np.str_("x"), object])
def test_numpy_types_outside_the_language_are_foreign(value: object) -> None:
    assert isinstance(lift(value), (Foreign, Text))


# Names


def test_a_closure_hides_a_global_and_a_global_hides_the_language() -> None:
    environment = Environment({"x": 1}, {"x": 2, "exp": 3})
    assert [environment.find(name) for name in ("x", "exp", "len")] == [1, 3, len]


def test_an_unknown_name_is_missing() -> None:
    assert Environment({}, {}).find("nonsense") is MISSING


def test_an_empty_cell_is_no_name_yet() -> None:
    def make() -> FunctionType:
        def inner() -> Any:
            return later

        found: Any = Environment.of(inner).find("later")
        assert found is MISSING
        later = 1
        return inner

    assert Environment.of(make()).find("later") == 1


def test_a_global_of_the_name_of_a_builtin_wins() -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        return n + rint

    run_plain_and_interpreted(f, [1])


def test_a_closure_of_the_name_of_a_global_wins() -> None:
    SCALE = 7

    @hybrid.script
    def f(n: Number) -> Number:
        return n * SCALE

    assert run_plain_and_interpreted(f, [1]).result == 7


def test_a_cell_filled_after_the_decoration_is_read_at_the_call() -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        return n * factor

    factor = 3
    assert f.interpret(2) == 6


def test_an_unknown_name_is_refused_with_a_suggestion() -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        return n * SCLAE  # pyright: ignore[reportUndefinedVariable, reportUnknownVariableType]  # noqa: F821

    with pytest.raises(ParseError, match=r"(?s)'SCLAE' is not defined.*did you mean 'SCALE'\?"):
        f.interpret(1)


# Changes


@hybrid.script
def scaled(n: Number) -> Number:
    return n * SCALE


def test_a_changed_global_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    before: object = scaled.interpret(3)
    monkeypatch.setitem(globals(), "SCALE", 5)
    assert (before, scaled.interpret(3)) == (6, 15)


def test_a_global_that_changes_its_type_changes_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    scaled.interpret(3)
    monkeypatch.setitem(globals(), "SCALE", np.float32(0.5))
    run_plain_and_interpreted(scaled, [3])


def test_a_global_that_is_deleted_is_no_longer_defined(monkeypatch: pytest.MonkeyPatch) -> None:
    scaled.interpret(3)
    monkeypatch.delitem(globals(), "SCALE")
    with pytest.raises(ParseError, match="'SCALE' is not defined"):
        scaled.interpret(3)


def test_an_unchanged_global_is_not_translated_again() -> None:
    assert scaled.prim_func(3) is scaled.prim_func(4)


def test_a_list_changed_in_place_is_seen() -> None:
    table = [1, 2, 3]

    @hybrid.script
    def f(n: Number) -> Number:
        return n + table[0]

    before: object = f.interpret(0)
    table[0] = 40
    assert (before, f.interpret(0)) == (1, 40)


def test_an_array_changed_in_place_is_seen() -> None:
    weights = np.array([1.0, 2.0])

    @hybrid.script
    def f(i: Number) -> Number:
        return weights[i]

    before: object = f.interpret(0)
    weights[0] = 40
    assert (before, f.interpret(0)) == (1, 40)


def test_an_attribute_that_changes_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    @hybrid.script
    def f(n: Number) -> Number:
        return n + OPTIONS.offset

    before: object = f.interpret(0)
    monkeypatch.setattr(OPTIONS, "offset", 40)
    assert (before, f.interpret(0)) == (10, 40)


def test_a_closure_value_that_changes_is_seen() -> None:
    factor = 2

    @hybrid.script
    def f(n: Number) -> Number:
        return n * factor

    before: object = f.interpret(3)
    factor = 5
    assert (before, f.interpret(3)) == (6, 15)


def test_a_value_captured_by_a_function_that_is_called_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def helper(x: Number) -> Number:
        return x * SCALE

    @hybrid.script
    def f(n: Number) -> Number:
        return helper(n)

    before: object = f.interpret(3)
    monkeypatch.setitem(globals(), "SCALE", 5)
    assert (before, f.interpret(3)) == (6, 15)


def test_a_function_that_is_replaced_is_seen() -> None:
    def helper(x: Number) -> Number:
        return x + 1

    def other(x: Number) -> Number:
        return x + 2

    @hybrid.script
    def f(n: Number) -> Number:
        return chosen(n)

    chosen = helper
    before: object = f.interpret(0)
    chosen = other
    assert (before, f.interpret(0)) == (1, 2)


# Captured arrays


def test_a_captured_array_is_a_constant() -> None:
    @hybrid.script
    def f(i: Number) -> Number:
        return WEIGHTS[i] + WEIGHTS.shape[0]

    run_plain_and_interpreted(f, [2])


def test_a_captured_array_cannot_be_written_to() -> None:
    @hybrid.script
    def f(i: Number) -> None:
        WEIGHTS[i] = 0.0

    with pytest.raises(TypeMismatch, match="'WEIGHTS' comes from outside the script"):
        f.interpret(0)


def test_a_captured_array_that_is_too_large_is_refused() -> None:
    large = np.zeros(MAX_CONSTANT_ELEMENTS + 1)

    @hybrid.script
    def f(i: Number) -> Number:
        return large[i]

    with pytest.raises(TypeMismatch, match="has 4097 elements; at most 4096"):
        f.interpret(0)


def test_a_captured_array_of_objects_is_refused() -> None:
    objects = np.array([None])

    @hybrid.script
    def f(i: Number) -> Number:
        return objects[i]

    with pytest.raises(TypeMismatch, match="the captured array 'objects' has dtype object"):
        f.interpret(0)


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_layout_of_a_captured_array_does_not_matter(order: Any) -> None:
    table = np.array([[1, 2], [3, 4]], order=order)

    @hybrid.script
    def f(i: Number, j: Number) -> Number:
        return table[i, j]

    run_plain_and_interpreted(f, [1, 0])


def test_arrays_in_a_tuple_are_captured() -> None:
    tables = (np.array([1, 2]), np.array([3, 4]))

    @hybrid.script
    def f(i: Number) -> Number:
        return tables[0][i] + tables[1][i]

    run_plain_and_interpreted(f, [1])


@dataclass
class Tables:
    """Attributes that are made anew at each look."""

    size: int

    @property
    def ones(self) -> Array:
        return np.ones(self.size)

    @property
    def zeros(self) -> Array:
        return np.zeros(self.size)


def test_arrays_that_live_only_for_a_moment_are_not_mistaken_for_each_other() -> None:
    tables = Tables(3)

    @hybrid.script
    def f(i: Number) -> Number:
        return tables.ones[i] + tables.zeros[i]

    run_plain_and_interpreted(f, [1])


# Annotations


def test_a_name_in_an_annotation_that_is_defined_later_is_noticed() -> None:
    """`x: LATER` means nothing at first; then it makes x a float32."""

    @hybrid.script
    def third_of_one() -> Any:
        x: LATER = 1 / 3  # noqa: F821  # pyright: ignore
        return x  # pyright: ignore

    names = third_of_one.__hybrid_function__.__globals__
    for _ in range(3):
        assert type(third_of_one()) is float
    names["LATER"] = float32
    try:
        assert type(third_of_one()) is np.float32
    finally:
        del names["LATER"]
    assert type(third_of_one()) is float


def test_an_attribute_in_an_annotation_that_is_defined_later_is_noticed() -> None:
    types = SimpleNamespace()

    @hybrid.script
    def third() -> Any:
        x: types.later = 1 / 3  # pyright: ignore
        return x  # pyright: ignore

    assert type(third()) is float
    types.later = float32
    assert type(third()) is np.float32
