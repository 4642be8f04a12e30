"""Random loops that pack: what a condition lets through goes to the next free place, or nearly so.

Most are such loops; the others do something besides that must keep them in order: they read what
they pack, count twice, or store before places are checked. Outputs may be too small.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel
from tests.frontend.from_text import script_from_text
from tests.support.oracle import assert_same_outcome, run_native, run_once, run_plain

TYPES = ("float64", "float64", "float32", "int32", "int64", "int16", "uint8")
SIZES = (0, 1, 7, 8, 9, 16, 31, 33, 64, 70, 130)
CONDITIONS = (
    *("a[i] > 3", "a[i] > 3", "a[i] != b[i]", "a[i] > 2 and b[i] < 7", "a[i] > 8 or i % 3 == 0"),
    *("i % 2 == 0", "i > 5", "a[i] >= 0", "a[i] > 99", "not a[i] > 3", "t > 4"),
)
VALUES = ("a[i]", "a[i]", "b[i]", "i", "t", "a[i] + b[i]", "t * 2", "3")
STARTS = ("0", "0", "0", "1", "a.shape[0] // 3", "-2")


class Writer:
    """The text of one function."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines = [
            "def f(a, b, u, v, w):",
            f"    k, r = {self.rng.choice(STARTS)}, 0",
        ]

    def text(self) -> str:
        rng, indent = self.rng, " " * 8
        self.lines.append("    for i in range(a.shape[0]):")
        self.lines.append(f"{indent}t = a[i] + b[i]")
        if rng.random() < 0.1:
            self.lines.append(f"{indent}w[i] = t")
        self.lines.append(f"{indent}if {rng.choice(CONDITIONS)}:")
        self._pack(indent + "    ", "k", ("u", "v"))
        if rng.random() < 0.2:
            self.lines.append(f"{indent}else:")
            self._pack(indent + "    ", "r", ("w",))
        elif rng.random() < 0.3:
            self.lines.append(f"{indent}w[i] = {rng.choice(VALUES)}")
        return "\n".join([*self.lines, "    return k, r"]) + "\n"

    def _pack(self, indent: str, count: str, outputs: tuple[str, ...]) -> None:
        rng = self.rng
        if rng.random() < 0.2:
            self.lines.append(f"{indent}t = {rng.choice(VALUES)}")
        for output in outputs[: rng.randint(1, len(outputs))]:
            value = rng.choice(VALUES)
            if rng.random() < 0.06:
                value = rng.choice((f"{output}[i]", count, f"{output}[0] + 1"))
            self.lines.append(f"{indent}{output}[{count}] = {value}")
        self.lines.append(f"{indent}{count} += {1 if rng.random() < 0.92 else 2}")


def arguments(seed: int, size: int) -> list[Any]:
    """Arrays for a size; one in four outputs is strided, one in three has too little room."""
    rng, generator = random.Random(seed), np.random.default_rng(seed + size)
    source, other = rng.choice(TYPES), rng.choice(TYPES)
    args = [generator.integers(0, 10, size).astype(source) for _ in range(2)]
    for _ in range(3):
        room = 2 * size + 3 if rng.random() < 0.67 else max(0, size // 2 - 1)
        step = rng.choice((1, 1, 1, 2))
        args.append(np.zeros(room * step, rng.choice((source, source, other)))[::step])
    return args


@pytest.mark.sampled(12)
@pytest.mark.parametrize("first", range(0, 120, 10))
def test_as_plain_python(first: int) -> None:
    for seed in range(first, first + 10):
        kernel: Kernel[..., Any] = script_from_text(Writer(seed).text())
        for size in SIZES:
            args = arguments(seed, size)
            found = run_once(run_native, kernel, args)
            assert_same_outcome(found, run_once(run_plain, kernel, args))


def test_many_have_lanes() -> None:
    """The point of them: about half are packed in lanes, where vectors can."""
    kernels = [script_from_text(Writer(seed).text()) for seed in range(30)]
    texts = [k.inspect("lowered", *arguments(n, 70)) for n, k in enumerate(kernels)]
    assert sum("vectorize(" in text for text in texts) > 5
