"""A choice between a value and zero keeps the sign of zero: on ARM, LLVM would lose it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from hybridjit.codegen.signed_zeros import keep_zeros
from tests.corpus.case import Array
from tests.frontend.from_text import script_from_text

ZEROS = ("0.0", "-0.0")
CONDITIONS = [f"x {how} {zero}" for how in ("<", ">", "<=", ">=") for zero in ZEROS]
RESULTS = [f"{x} if C else {y}" for x, y in itertools.permutations(("x", *ZEROS), 2)]
EXTREMA = [
    f"{how}({pair})"
    for how in ("min", "max", "np.minimum", "np.maximum")
    for pair in ("x, 0.0", "x, -0.0", "0.0, x", "-0.0, x", "x, y", "y, x")
]
FORMS = [
    *(result.replace("C", cond) for result in RESULTS for cond in CONDITIONS if "x" in result),
    *EXTREMA,
]
SCALAR = "def f(a, b):\n    for i in range(a.shape[0]):\n        x = a[i]\n        y = -x\n"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 19])
def test_every_choice_is_that_of_python(size: int, dtype: Any) -> None:
    lines = "".join(f"        b[{k}, i] = {form}\n" for k, form in enumerate(FORMS))
    kernel: Any = script_from_text(SCALAR + lines, {"np": np})
    a = np.resize(np.array([-0.0, 0.0, 1.0, -1.0, np.nan, -5e-324, np.inf], dtype), size)
    found, expected = np.full((2, len(FORMS), size), 7.0, dtype)
    kernel(a, found)
    kernel.py_func(a, expected)
    wrong = [form for form, x, y in zip(FORMS, found, expected, strict=True) if bits(x) != bits(y)]
    assert wrong == []


def bits(values: Array) -> bytes:
    return np.where(np.isnan(values), np.nan, values).tobytes()


def choice(condition: str, then: str, other: str) -> str:
    return (
        "define double @f(double %x) {\n"
        f"  %c = fcmp {condition}\n"
        f"  %r = select i1 %c, double {then}, double {other}, !dbg !3\n"
        "  ret double %r\n}\n"
    )


ZERO, MINUS = "0.000000e+00", "-0.000000e+00"


def test_what_is_asked_the_other_way_around() -> None:
    text = keep_zeros(choice(f"olt double %x, {ZERO}", "%x", ZERO))
    assert f"fcmp uge double %x, {ZERO}" in text
    assert f"double {ZERO}, double %x, !dbg !3" in text


@pytest.mark.parametrize(
    ("condition", "then", "other"),
    [
        (f"ogt double %x, {ZERO}", "%x", ZERO),  # the instruction gives the same
        (f"olt double %x, {MINUS}", "%x", MINUS),
        ("olt double %x, 1.000000e+00", "%x", "1.000000e+00"),
        (f"olt double %x, {ZERO}", "%y", ZERO),
        (f"ole double %x, {ZERO}", "%x", ZERO),
    ],
)
def test_what_stays(condition: str, then: str, other: str) -> None:
    text = choice(condition, then, other)
    assert keep_zeros(text) == text


def test_who_does_not_care_for_signs_gets_the_instruction() -> None:
    text = choice(f"olt double %x, {ZERO}", "%x", ZERO).replace("select", "select nsz")
    assert keep_zeros(text) == text


def test_names_are_those_of_their_function() -> None:
    first = choice(f"olt double %x, {ZERO}", "1.000000e+00", "2.000000e+00")
    second = first.replace("fcmp olt", "fcmp oeq").replace("1.000000e+00", "%x")
    both = first + second.replace("2.000000e+00", ZERO)
    assert keep_zeros(both) == both
