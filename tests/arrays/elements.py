"""Expressions of random array scripts, element by element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from tests.arrays.pool import Operand, Pool, Writer, largest
from tests.arrays.values import np

# NumPy, the interpreter and native code may each be off by an ulp or two.
MATH = ("exp", "sin", "cos", "tanh", "arctan", "expm1", "log1p", "cbrt", "sinh", "arcsinh")


@dataclass(frozen=True, slots=True)
class Form:
    """An operator or function: its text, and what operands it can have.

    It `needs` operands that are exact (where it jumps), real, integers or booleans (bits), integers
    (whole), small, that fit types, or that divide. It rounds operands of some kinds; errors of
    those that are not exact it multiplies by a factor, or by the others.
    """

    text: str
    needs: str = ""
    rounds: str = ""
    factor: float = 1.0
    multiplies: bool = False


def _suits(form: Form, operands: Sequence[Operand]) -> bool:
    kinds, last = {operand.kind for operand in operands}, operands[-1]
    met = {
        "exact": all(operand.is_exact for operand in operands),
        "real": "c" not in kinds,
        "bits": kinds <= set("biu"),
        "whole": kinds <= set("iu"),
        "small": largest(last.value) <= 10,
        "int8": fits(last, "int8"),
        "int64": fits(last, "int64"),
        "divisor": not kinds <= set("biu") or not (last.value == 0).any(),
    }
    return all(met[need] for need in form.needs.split())


def product_scale(left: Operand, right: Operand) -> float:
    """What the errors of a product grow with: the sizes and scales of both."""
    return left.scale * right.scale * largest(left.value) * largest(right.value)


def apply(pool: Pool, form: Form, *operands: Operand) -> Operand | None:
    """The form of these operands, if it can have them."""
    if not _suits(form, operands):
        return None
    scale = form.factor * operands[0].scale
    if form.multiplies:
        scale = product_scale(operands[0], operands[-1])
    is_exact = not any(operand.kind in form.rounds for operand in operands)
    text = form.text.format(*(operand.text for operand in operands))
    return pool.keep(text, *operands, is_exact=is_exact, scale=scale)


def of_one(*forms: Form) -> Writer:
    """One of some forms of one operand."""
    return lambda pool, depth: apply(pool, pool.choose.choice(forms), pool.make(depth))


def of_two(*forms: Form) -> Writer:
    """One of some forms of two operands that can be broadcast together."""

    def write(pool: Pool, depth: int) -> Operand | None:
        pair = pool.pair(depth)
        return None if pair is None else apply(pool, pool.choose.choice(forms), *pair)

    return write


def forms(texts: str, needs: str = "", rounds: str = "", **options: Any) -> tuple[Form, ...]:
    """Forms that have all but their texts in common; of functions, the names will do."""
    words = [text if "{" in text else f"np.{text}({{}})" for text in texts.split("; ")]
    return tuple(Form(text, needs, rounds, **options) for text in words)


# -- of two ----------------------------------------------------------------------------------------

arithmetic = of_two(
    *forms("({} + {}); ({} + {}); ({} - {}); ({} - {})"),
    *forms("({} * {}); ({} * {})", rounds="c", multiplies=True),
)
division = of_two(
    *forms("({} / {}); ({} / {})", "exact", "c"),
    *forms("({} // {}); ({} % {})", "exact real divisor"),
)
comparison = of_two(
    *forms("({} < {}); ({} <= {}); ({} > {}); ({} >= {})", "exact real"),
    *forms("({} == {}); ({} != {})", "exact"),
)
bits = of_two(
    *forms("({} & {}); ({} | {}); ({} ^ {})", "bits"),
    *forms("({} << ({} & 3)); ({} >> ({} & 3))", "whole"),
)
extremum = of_two(
    *forms("np.minimum({}, {}); np.maximum({}, {})", "real") * 2,
    *forms("np.logical_and({}, {})", "exact real"),
)


def where(pool: Pool, depth: int) -> Operand | None:
    condition = comparison(pool, depth)
    left = None if condition is None else pool.matching(condition, depth)
    right = None if left is None else pool.matching(left, pool.choose.randint(0, depth))
    if condition is None or left is None or right is None:
        return None
    return pool.keep(f"np.where({condition.text}, {left.text}, {right.text})", left, right)


# -- of one ----------------------------------------------------------------------------------------


def _with_numbers() -> list[Form]:
    """An array and a number of Python's."""
    numbers = ("2", "3", "-1", "0.5", "1.25", "True", "1j", "100", "0")
    needs = {"<": "exact real", ">=": "exact real", "==": "exact"}
    forms: list[Form] = []
    for op, number in product(("+", "-", "*", "*", *needs), numbers):
        if (number == "1j" and op in needs) or (number == "True" and op == "-"):
            continue
        rounds = "biufc" if (op, number) == ("*", "1j") else ""
        factor = 100 if number == "100" else 4
        for text in (f"({{}} {op} {number})", f"({number} {op} {{}})"):
            forms.append(Form(text, needs.get(op, ""), rounds, factor))
    return forms


_SMOOTH = (
    *forms("negative; positive; conj"),
    *forms("abs; absolute; fabs", rounds="c"),
    *forms("square", rounds="c", multiplies=True),
)
_JUMPS = "floor; ceil; trunc; rint; sign; isnan; isinf; isfinite; logical_not"
_ROOT = forms("np.sqrt(np.abs({}))", "exact real")
_LOG = "np.log1p(np.abs({}))"
_MATH = "; ".join(name if name != "log1p" else _LOG for name in MATH)
number = of_one(*_with_numbers())
function = of_one(
    *_SMOOTH * 8,
    *forms(_JUMPS, "exact real") * 5,
    *_ROOT * 14,
    *forms(_MATH, "exact real small", "biuf") * 2,
)
# Functions like exp, of what may be inexact itself.
math = of_one(
    *forms(f"sin; cos; tanh; arctan; arcsinh; {_LOG}", "real small", "biuf"),
    *forms("exp; expm1; sinh", "real small", "biuf", factor=1e4),
)
sign = of_one(*forms("(-{}); (~{}); (+{})"))
clip = of_one(*forms("np.clip({}, 0, 2); np.clip({}, 1, 100); np.clip({}, 0, 1)", "real"))
conversion = of_one(
    *forms('({}).astype("float16"); ({}).astype("float32"); ({}).astype("float64")', "real"),
    *forms('({}).astype("int8")', "real int8"),
    *forms('({}).astype("int64")', "real int64"),
    *forms('({}).astype("complex64")'),
)


def fits(operand: Operand, dtype: Any) -> bool:
    """True if the conversion to an integer type is the same for NumPy and for everyone."""
    if operand.kind not in "fc":
        return True
    info = np.iinfo(dtype)
    value = operand.value
    if not operand.is_exact or operand.kind == "c" or not np.isfinite(value).all():
        return False
    whole = value.astype("float64")
    return bool(((whole > float(info.min)) & (whole < float(info.max))).all())


ELEMENTS: tuple[Writer, ...] = (
    *(arithmetic,) * 5,
    *(number, function) * 3,
    *(where, comparison, extremum, division) * 2,
    *(bits, sign, clip, conversion),
)
