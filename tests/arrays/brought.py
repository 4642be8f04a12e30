"""Statements as people bring them: each takes something of the language that others do not."""

from __future__ import annotations

from tests.arrays.script import Script
from tests.arrays.stmts import Statement

_FIRST = (
    *("a = np.arange(n) * 7 % 11 - 3", "b = np.arange(2 * n + 3) % 5", "total = 0"),
    *("g = np.random.default_rng(n)", "found = [0]", "found.append(n)"),
)
# Keeps them small.
_SMALL = (
    *("total %= 100003", "if len(found) > 12:", "    found.clear()"),
    *("if a.shape[0] > 20:", "    a = a[:9]"),
)
_LAST = ("total += a.sum() + b.sum()", "size = a.shape[0]", "tail = b[::-1]", "rest = b[1:]")
_NUMBERS = ("i", "n - i", "len(found)", "total % 7", "3", "-2", "0", "(i + 1) * 2")
# Of two numbers {x} and {y}; {x} is never far from zero.
_STEPS = {
    "computed_sizes": (
        "total += np.nonzero(a > {x})[0].sum() + np.argwhere(a != {x}).shape[0]",
        "values, often = np.unique(a, return_counts=True)\ntotal += (values * often).sum() % 17",
        "total += np.extract(a > {x}, a).sum() + np.compress(a < {y}, a).size",
        "a = np.repeat(a, np.abs(a) % 3)",
        "z = np.zeros(({x}) % 5 + 2, np.int64)\nz[1:] += a[:1].sum()\ntotal += z.sum()",
        "total += np.arange(0.0, ({x}) % 7, 0.5).size",
        "b = b[b != {x}]",
    ),
    "lists": (
        "found = found[::-1]",
        "found = found[::2] + [{x}, {y}]",
        "if len(found) > 1:\n    del found[({x}) % len(found)]",
        "total += sum(sorted(v * 2 for v in found)[:3])",
        "pairs = [(k, v) for k, v in enumerate(found) if v > {y}]\ntotal += len(pairs)",
    ),
    "functions": (
        "f = lambda v, k={x}: v * k + 1\ntotal += f({y}) % 13",
        "def scaled(v, *others, by=2):\n    return v * by + len(others)\ntotal += scaled({x}, {y})",
        "total += climb(({x}) % 9)",
    ),
    "loops": (
        "for p, q in np.ndindex(*(2, ({x}) % 4)):\n    total += p * 3 + q",
        "for (p,), v in np.ndenumerate(a):\n    total += p * v",
        "for v in a:\n    if v == {x}:\n        break\nelse:\n    total += 5",
        "k = 0\nwhile k < ({x}) % 6:\n    k += 2\n    if k == 4:\n        break\n"
        "else:\n    total -= 1",
        "if (w := total % 5 + 1) > 2:\n    total += w",
        "match ({x}) % 4, total % 2:\n    case 0, _:\n        total += 1\n"
        "    case (p, 1) if p > 1:\n        total += p\n    case p, q:\n        total += q - p",
        "total += a[({x}) % 3 or None :].sum()",
        "for k in (3, 1, 2):\n    if k == ({x}) % 4:\n        continue\n    total += k",
        "for u, v in zip(a, reversed(b)):\n    total += u * v",
    ),
    "draws": (
        "total += g.integers(0, 9) + g.choice(5)",
        "a = g.permutation(a)",
        "total += int(g.random() * 100) + int(g.normal() * 10)",
        "b = g.integers(-3, 9, ({x}) % 6 + 1)",
    ),
    "classes": (
        "pair = Pair({x}, {y})\ntotal += pair.x * 2 - pair.y",
        "pair = Pair(a[:2].sum(), y=2)\nfor k in range(3):\n    pair = Pair(pair.y, pair.x + k)\n"
        "total += pair.y",
    ),
    "small_things": (
        "q, r = divmod(total, abs({x}) + 2)\ntotal = q + 3 * r",
        "total += pow(abs({x}) + 2, abs({y}), 7)",
        "try:\n    total += a[{x}]\nexcept IndexError:\n    total -= 5\nelse:\n    total += 1",
        "import math\ntotal += math.gcd(total, {x}) + math.isqrt(abs({y}))",
        "assert total > -(10**9), f'{{total}} is too small'",
        "total += np.zeros(3, dtype=None).size",
    ),
    "transforms": (
        "total += int(np.rint(np.fft.rfft(np.arange(5.0) + {x})[0].real))",
        "total += int(np.rint(np.linalg.eigh(np.diag(np.arange(3.0) + {x}))[0].sum()))",
    ),
}


def begin(script: Script) -> None:
    """All of the script: a loop of such statements."""
    script.write(*_FIRST)
    script.loop("for i in range(n):", script.choose.randrange(2, 5), *_SMALL)
    script.write(*_LAST)
    script.results += ["found", "total", "size", "tail", "rest"]


def _step(kind: str) -> Statement:
    def statement(script: Script) -> bool:
        x, y = (script.choose.choice(_NUMBERS) for _ in "xy")
        text = script.choose.choice(_STEPS[kind]).format(x=x, y=y)
        return script.write(*text.split("\n"))

    statement.__name__ = kind
    return statement


STEPS: tuple[Statement, ...] = tuple(_step(kind) for kind in _STEPS)
