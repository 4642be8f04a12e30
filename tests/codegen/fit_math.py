"""Derive the polynomial coefficients of hybridjit/codegen/math/coefficients.py.

    python -m tests.codegen.fit_math > hybridjit/codegen/math/coefficients.py

Each fit is a weighted minimax polynomial (Remez exchange on a grid, in 70 digits), its
coefficients then rounded to the working format. The weight turns the polynomial's error into an
error relative to the function's value.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath

mp: Any = mpmath.mp  # mpmath has no types
mpf: Any = mpmath.mpf
mp.dps = 70
Function = Callable[[Any], Any]


@dataclass(frozen=True)
class Fit:
    """`function(x)` near `low <= x <= high` by a polynomial with `terms` coefficients."""

    name: str
    formula: str
    function: Function
    low: Any
    high: Any
    weight: Function
    terms: dict[int, int]  # by format


def series(coefficient: Callable[[int], Any], terms: int = 60) -> Function:
    """The power series with these coefficients, for functions that cancel near zero."""
    table = [mpf(coefficient(n)) for n in range(terms)]
    return lambda x: mp.polyval(table[::-1], x)


def near_zero(function: Function, expansion: Function, radius: float = 0.05) -> Function:
    return lambda x: expansion(x) if abs(x) < radius else function(x)


def asin_coefficient(n: int) -> Any:
    return mp.binomial(2 * n, n) / (mpf(4) ** n * (2 * n + 1))


def tan_coefficient(n: int) -> Any:
    """Of x**(2n+1) in tan(x)."""
    m = n + 1
    power = mpf(2) ** (2 * m)
    return (-1) ** n * power * (power - 1) * mp.bernoulli(2 * m) / mp.factorial(2 * m)


HALF_LN2 = mp.log(2) / 2 * mpf("1.0002")
QUARTER_PI_SQUARED = (mp.pi / 4 * mpf("1.0002")) ** 2
ERFCX_CENTRE = {32: 2, 64: 4}


def erfcx(x: Any) -> Any:
    return mp.erfc(x) * mp.exp(x * x)


def scaled_erfcx(centre: int) -> Function:
    """(1 + 2x) erfcx(x) as a function of t = (x - centre) / (x + centre)."""

    def function(t: Any) -> Any:
        x = centre * (1 + t) / (1 - t)
        return (1 + 2 * x) * erfcx(x)

    return function


def stirling(y: Any) -> Any:
    """z (lgamma(z) - Stirling's leading terms), y = 1 / z**2."""
    if y == 0:
        return mpf(1) / 12
    z = 1 / mp.sqrt(y)
    return z * (mp.loggamma(z) - ((z - mpf(1) / 2) * mp.log(z) - z + mp.log(2 * mp.pi) / 2))


FITS = (
    Fit(
        "EXP",
        "exp(r) = 1 + r + r**2 P(r), |r| <= ln2 / 2",
        near_zero(lambda r: (mp.exp(r) - 1 - r) / r**2, series(lambda n: 1 / mp.factorial(n + 2))),
        -HALF_LN2,
        HALF_LN2,
        lambda r: r**2 / mp.exp(r),
        {32: 5, 64: 10},
    ),
    Fit(
        "EXPM1",
        "expm1(r) = r + r**2 P(r), |r| <= ln2 / 2",
        near_zero(lambda r: (mp.exp(r) - 1 - r) / r**2, series(lambda n: 1 / mp.factorial(n + 2))),
        -HALF_LN2,
        HALF_LN2,
        lambda r: r,
        {32: 6, 64: 11},
    ),
    Fit(
        "EXP2",
        "2**r = 1 + r P(r), |r| <= 1/2",
        near_zero(
            lambda r: (mpf(2) ** r - 1) / r,
            series(lambda n: mp.log(2) ** (n + 1) / mp.factorial(n + 1)),
        ),
        mpf("-0.5001"),
        mpf("0.5001"),
        lambda r: r / mpf(2) ** r,
        {32: 6, 64: 11},
    ),
    Fit(
        "SINH",
        "sinh(r) = r + r z P(z), z = r**2, |r| <= ln2 / 2",
        near_zero(
            lambda z: (mp.sinh(mp.sqrt(z)) / mp.sqrt(z) - 1) / z,
            series(lambda n: 1 / mp.factorial(2 * n + 3)),
        ),
        mpf(0),
        HALF_LN2**2,
        lambda z: z,
        {32: 3, 64: 5},
    ),
    Fit(
        "COSH",
        "cosh(r) = 1 + z P(z), z = r**2, |r| <= ln2 / 2",
        near_zero(
            lambda z: (mp.cosh(mp.sqrt(z)) - 1) / z,
            series(lambda n: 1 / mp.factorial(2 * n + 2)),
        ),
        mpf(0),
        HALF_LN2**2,
        lambda z: z,
        {32: 3, 64: 5},
    ),
    Fit(
        "LOG",
        "log(1 + f) = f - f**2 / 2 + f**3 P(f), 1 + f in [sqrt(1/2), sqrt(2)]",
        near_zero(
            lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3,
            series(lambda n: mpf(-1) ** n / (n + 3)),
        ),
        mp.sqrt(mpf("0.5")) - 1,
        mp.sqrt(2) - 1,
        lambda f: f**2 * f / mp.log1p(f) if f else mpf(0),
        {32: 8, 64: 20},
    ),
    *(
        Fit(
            name,
            f"{name.lower()}(1 + f) = f (c + P(f)), c = {first.hex()}, 1 + f as for LOG",
            near_zero(
                lambda f, base=base, first=first: mp.log1p(f) / mp.log(base) / f - first,
                series(
                    lambda n, base=base, first=first: (
                        mpf(-1) ** n / (n + 1) / mp.log(base) - (first if n == 0 else 0)
                    )
                ),
            ),
            mp.sqrt(mpf("0.5")) - 1,
            mp.sqrt(2) - 1,
            lambda f, base=base: f / mp.log1p(f) * mp.log(base) if f else mp.log(base),
            {32: 10},
        )
        for name, base, first in (
            ("LOG2", 2, float.fromhex("0x1.715476p+0")),
            ("LOG10", 10, float.fromhex("0x1.bcb7b2p-2")),
        )
    ),
    Fit(
        "LOG2_WIDE",
        "log2(1 + f) = f P(f), 1 + f as for LOG: for float32, in float64",
        near_zero(
            lambda f: mp.log1p(f) / mp.ln2 / f,
            series(lambda n: mpf(-1) ** n / (n + 1) / mp.ln2),
        ),
        mp.sqrt(mpf("0.5")) - 1,
        mp.sqrt(2) - 1,
        lambda f: f / mp.log1p(f) * mp.ln2 if f else mp.ln2,
        {64: 13},
    ),
    Fit(
        "LOG_RATIO",
        "log(1 + f) = 2 s + s z P(z), s = f / (2 + f), z = s**2, |s| <= 3 - sqrt(8)",
        near_zero(
            lambda z: 2 * (mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 1) / z,
            series(lambda n: mpf(2) / (2 * n + 3)),
        ),
        mpf(0),
        mpf("0.02945"),
        lambda z: z,
        {64: 7},
    ),
    Fit(
        "LOG2_RATIO",
        "log2(m) = 2/ln2 (s + s z / 3) + s z**2 P(z), s = (m - 1) / (m + 1), z = s**2",
        near_zero(
            lambda z: (mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 1 - z / 3) / z**2 * 2 / mp.ln2,
            series(lambda n: mpf(2) / (2 * n + 5) / mp.ln2),
        ),
        mpf(0),
        mpf("0.02945"),
        lambda z: z**2,
        {32: 3, 64: 8},
    ),
    Fit(
        "SIN",
        "sin(r) = r + r z P(z), z = r**2, |r| <= pi / 4",
        near_zero(
            lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z,
            series(lambda n: mpf(-1) ** (n + 1) / mp.factorial(2 * n + 3)),
        ),
        mpf(0),
        QUARTER_PI_SQUARED,
        lambda z: z,
        {32: 3, 64: 6},
    ),
    Fit(
        "COS",
        "cos(r) = 1 - z / 2 + z**2 P(z), z = r**2, |r| <= pi / 4",
        near_zero(
            lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2,
            series(lambda n: mpf(-1) ** n / mp.factorial(2 * n + 4)),
        ),
        mpf(0),
        QUARTER_PI_SQUARED,
        lambda z: z**2,
        {32: 3, 64: 6},
    ),
    Fit(
        "TAN",
        "tan(r) = r + r z P(z), z = r**2, |r| <= pi / 4",
        near_zero(
            lambda z: (mp.tan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z,
            series(lambda n: tan_coefficient(n + 1)),
        ),
        mpf(0),
        QUARTER_PI_SQUARED,
        lambda z: z,
        {32: 7, 64: 15},
    ),
    Fit(
        "ATAN",
        "atan(t) = t + t z P(z), z = t**2, |t| <= 1",
        near_zero(
            lambda z: (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z,
            series(lambda n: mpf(-1) ** (n + 1) / (2 * n + 3)),
        ),
        mpf(0),
        mpf(1),
        lambda z: z,
        {32: 9, 64: 20},
    ),
    Fit(
        "ASIN",
        "asin(t) = t + t z P(z), z = t**2, |t| <= 1/2",
        near_zero(
            lambda z: (mp.asin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z,
            series(lambda n: asin_coefficient(n + 1)),
        ),
        mpf(0),
        mpf("0.2501"),
        lambda z: z,
        {32: 5, 64: 13},
    ),
    Fit(
        "ASINH",
        "asinh(t) = t + t z P(z), z = t**2, |t| <= 1/2",
        near_zero(
            lambda z: (mp.asinh(mp.sqrt(z)) / mp.sqrt(z) - 1) / z,
            series(lambda n: (-1) ** (n + 1) * asin_coefficient(n + 1)),
        ),
        mpf(0),
        mpf("0.2501"),
        lambda z: z,
        {32: 5, 64: 12},
    ),
    Fit(
        "ERF",
        "erf(x) = x + x P(z), z = x**2, |x| <= 1",
        near_zero(
            lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1,
            series(
                lambda n: (
                    2 / mp.sqrt(mp.pi) * mpf(-1) ** n / (mp.factorial(n) * (2 * n + 1))
                    - (1 if n == 0 else 0)
                )
            ),
        ),
        mpf(0),
        mpf("1.001"),
        lambda z: mpf(1),
        {32: 7, 64: 13},
    ),
    *(
        Fit(
            "ERFCX",
            f"(1 + 2x) exp(x**2) erfc(x) = P(t), t = (x - {centre}) / (x + {centre}), 0 <= x",
            scaled_erfcx(centre),
            mpf(-1),
            (mpf(limit) - centre) / (limit + centre),
            lambda t: mpf(1),
            {bits: terms},
        )
        for bits, centre, limit, terms in ((32, 2, 11, 11), (64, 4, 28, 24))
    ),
    Fit(
        "LGAMMA",
        "lgamma(2 + d) = (1 - euler) d + d**2 P(d), |d| <= 1/2",
        near_zero(
            lambda d: (mp.loggamma(2 + d) / d - (1 - mp.euler)) / d,
            series(lambda n: mpf(-1) ** n * (mp.zeta(n + 2) - 1) / (n + 2), 90),
        ),
        mpf("-0.5001"),
        mpf("0.5001"),
        lambda d: mpf(1),
        {64: 18},
    ),
    Fit(
        "STIRLING",
        "lgamma(z) = (z - 1/2) log(z) - z + log(2 pi) / 2 + P(1 / z**2) / z, z >= 8",
        stirling,
        mpf(0),
        mpf(1) / 64,
        lambda y: mpf(1),
        {64: 7},
    ),
    Fit(
        "CBRT",
        "m**(1/3), 1 <= m <= 2, a first guess",
        mp.cbrt,
        mpf(1),
        mpf(2),
        lambda m: 1 / mp.cbrt(m),
        {32: 4, 64: 6},
    ),
)


def remez(fit: Fit, terms: int) -> tuple[list[Any], Any]:
    """The minimax coefficients, constant first, and the weighted error."""
    points = 60 * (terms + 2)
    low, high = fit.low, fit.high
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / points) for i in range(points)]
    grid = [x for x in grid if fit.weight(x) != 0]
    values = [fit.function(x) for x in grid]
    weights = [abs(fit.weight(x)) for x in grid]
    count = len(grid)
    chosen = [round((count - 1) * i / terms) for i in range(terms + 1)]
    coefficients: list[Any] = []
    errors: list[Any] = []
    worst: Any = mp.inf
    for _ in range(30):
        rows = [
            [weights[i] * grid[i] ** n for n in range(terms)] + [mpf(-1) ** j]
            for j, i in enumerate(chosen)
        ]
        targets = [weights[i] * values[i] for i in chosen]
        solution = mp.lu_solve(mp.matrix(rows), mp.matrix(targets))
        coefficients = list(solution)[:terms]
        errors = [
            (mp.polyval(coefficients[::-1], x) - value) * weight
            for x, value, weight in zip(grid, values, weights, strict=True)
        ]
        level, worst = abs(solution[terms]), max(abs(error) for error in errors)
        chosen = alternation(errors, terms + 1)
        if worst < level * mpf("1.01") or len(chosen) <= terms:
            break
    return coefficients, worst


def alternation(errors: list[Any], count: int) -> list[int]:
    """Indices of `count` extrema of alternating sign, the largest ones."""
    extrema: list[int] = []
    for i, error in enumerate(errors):
        if extrema and (errors[extrema[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[extrema[-1]]):
                extrema[-1] = i
        else:
            extrema.append(i)
    while len(extrema) > count:
        if len(extrema) == count + 1:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        else:
            weakest = min(
                range(len(extrema) - 1),
                key=lambda j: max(abs(errors[extrema[j]]), abs(errors[extrema[j + 1]])),
            )
            del extrema[weakest : weakest + 2]
    return extrema


def round_to(value: Any, bits: int) -> float:
    rounded = float(value)
    return rounded if bits == 64 else struct.unpack("f", struct.pack("f", rounded))[0]


HEADER = '''"""Polynomial coefficients, constant term first; from tests/codegen/fit_math.py."""

from __future__ import annotations


def _read(text: str) -> tuple[float, ...]:
    return tuple(map(float.fromhex, text.split()))
'''


def main() -> None:
    print(HEADER)
    done: dict[str, dict[int, tuple[list[float], Any]]] = {}
    formulas: dict[str, list[str]] = {}
    for fit in FITS:
        for bits, terms in fit.terms.items():
            coefficients, error = remez(fit, terms)
            done.setdefault(fit.name, {})[bits] = ([round_to(c, bits) for c in coefficients], error)
        formulas.setdefault(fit.name, []).append(fit.formula)
    for name, tables in done.items():
        print()
        for formula in formulas[name]:
            print(f"# {formula}")
        print(f"{name}: dict[int, tuple[float, ...]] = {{")
        for bits, (coefficients, error) in tables.items():
            print(f"    {bits}: _read(  # error 2**{float(mp.log(error, 2)):.1f}")
            print('        """')
            for coefficient in coefficients:
                print(f"        {coefficient.hex()}")
            print('        """')
            print("    ),")
        print("}")


if __name__ == "__main__":
    main()
