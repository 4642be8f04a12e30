"""Random vector loops: bodies whose iterations are independent, but for sums of integers."""

from __future__ import annotations

import random
from typing import Any

import ml_dtypes
import numpy as np

from tests.programs.program import Program

DTYPES: tuple[Any, ...] = (
    *(np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64),
    *(np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.bool_),
)
LENGTHS = (0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 67, 131, 200)
_PLACES = ("j", "n - 1 - j", "j + 1", "2 * j", "2 * j + 1", "3 * j", "k % n", "5 % n", "p[j]")
_LOOPS = ("vectorize(n)", "vectorize(n - 1, -1, -1)", "vectorize(0, n, 2)", "vectorize(1, n)")


class LoopMaker:
    """The source of one loop. Arrays `a0`... are read, `o0`... written, each at its own place."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.temporaries: list[str] = []
        self.inputs = rng.randint(1, 3)
        self.outputs = rng.randint(1, 2)
        self.places = [rng.choice(("j", "n - 1 - j", "2 * j")) for _ in range(self.outputs)]
        self.has_k = False

    def source(self) -> str:
        body = self.block(3, 2)
        names = [f"a{i}" for i in range(self.inputs)] + [f"o{i}" for i in range(self.outputs)]
        lines = [
            f"def program({', '.join(names)}, p, c, d):",
            "    n = p.shape[0]",
            "    total = 0",
            f"    for j in {self.rng.choice(_LOOPS)}:",
            *(f"        {line}" for line in body),
            *([f"        total += int64({self.integer(1)})"] if self.rng.random() < 0.4 else []),
            "    return total",
        ]
        return "\n".join(lines) + "\n"

    # -- statements ----------------------------------------------------------------------------

    def block(self, count: int, depth: int) -> list[str]:
        known = len(self.temporaries)
        lines = [line for _ in range(self.rng.randint(1, count)) for line in self.statement(depth)]
        del self.temporaries[known:]
        return lines

    def statement(self, depth: int) -> list[str]:
        roll = self.rng.random()
        if depth > 0 and roll < 0.3:
            return self.branch(depth)
        if depth > 0 and roll < 0.4 and not self.has_k:
            return self.loop(depth)
        if depth > 1 and roll < 0.6:
            return self.temporary()
        which = self.rng.randrange(self.outputs)
        target = f"o{which}[{self.places[which]}]"
        return [f"{target} {self.rng.choice(('=', '=', '+=', '*='))} {self.number(3)}"]

    def branch(self, depth: int) -> list[str]:
        lines = [f"if {self.condition(2)}:", *_indent(self.block(2, depth - 1))]
        if self.rng.random() < 0.5:
            lines += ["else:", *_indent(self.block(2, depth - 1))]
        return lines

    def loop(self, depth: int) -> list[str]:
        self.has_k = True
        body = self.block(2, 0)
        self.has_k = False
        return [f"for k in range({self.rng.choice(('3', 'd', 'min(n, 4)'))}):", *_indent(body)]

    def temporary(self) -> list[str]:
        name = f"t{len(self.temporaries)}_{self.rng.randrange(1000)}"
        line = f"{name} = {self.number(3)}"
        self.temporaries.append(name)
        return [line]

    # -- expressions ---------------------------------------------------------------------------

    def number(self, depth: int) -> str:
        if depth == 0 or self.rng.random() < 0.2:
            return self.leaf()
        x, y = self.number(depth - 1), self.number(depth - 1)
        match self.rng.randrange(9):
            case 0 | 1:
                return f"({x} {self.rng.choice('+-*')} {y})"
            case 2:
                return f"{self.rng.choice(('min', 'max'))}({x}, {y})"
            case 3:
                return f"({x} if {self.condition(1)} else {y})"
            case 4:
                return f"{self.rng.choice(('float32', 'float64'))}({x})"
            case 5:
                return f"abs({x})"
            case 6:
                return f"float64({self.integer(1)})"
            case 7:
                return f"sqrt(float32(abs({x})))"
            case _:
                return f"-float32({x})"

    def integer(self, depth: int) -> str:
        if depth == 0:
            return self.rng.choice(("j", "p[j]", "d", "3", "-2", *(["k"] if self.has_k else [])))
        x, y = self.integer(depth - 1), self.integer(depth - 1)
        match self.rng.randrange(5):
            case 0:
                return f"({x} // ({y} if {y} != 0 else 7))"
            case 1:
                return f"({x} % ({y} * {y} + 1))"
            case 2:
                return f"(({x} << 2) ^ {y})"
            case 3:
                return f"({x} // {y} if {y} != 0 and {x} > 1 else {y})"
            case _:
                return f"({x} * {y})"

    def condition(self, depth: int) -> str:
        if depth == 0 or self.rng.random() < 0.4:
            return f"{self.number(1)} {self.rng.choice(('<', '<=', '>', '!='))} {self.number(1)}"
        word = self.rng.choice(("and", "or"))
        test = f"({self.condition(depth - 1)} {word} {self.condition(depth - 1)})"
        return f"not {test}" if self.rng.random() < 0.2 else test

    def leaf(self) -> str:
        roll = self.rng.random()
        if roll < 0.15:
            return self.rng.choice(("c", "d", "1", "0.5", "j"))
        if roll < 0.3 and self.temporaries:
            return self.rng.choice(self.temporaries)
        if roll < 0.35:
            which = self.rng.randrange(self.outputs)
            return f"o{which}[{self.places[which]}]"
        places = [place for place in _PLACES if self.has_k or "k" not in place]
        return f"a{self.rng.randrange(self.inputs)}[{self.rng.choice(places)}]"


def make_arguments(seed: int, maker: LoopMaker, n: int) -> list[Any]:
    """Arrays that are long enough for every place, of types and strides that follow from `seed`."""
    rng = random.Random(seed)
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    args = [_array(rng, numbers, 3 * n + 6) for _ in range(maker.inputs + maker.outputs)]
    return [*args, numbers.permutation(n), np.float32(1.5), rng.randint(0, 3)]


def _array(rng: random.Random, numbers: np.random.Generator, size: int) -> Any:
    dtype = rng.choice(DTYPES)
    step = rng.choice((1, 1, 1, 2, 3, -1, -2))
    values: Any = numbers.integers(0, 12, size * abs(step))
    if np.dtype(dtype).kind not in "ub":
        values = values - 4
    return values.astype(dtype)[::step]


def vector_program(seed: int) -> tuple[Program, list[Any]]:
    """The random vector loop number `seed`, with arguments; and others of another length."""
    rng = random.Random(seed)
    maker = LoopMaker(rng)
    source = maker.source()
    first, second = (make_arguments(seed, maker, rng.choice(LENGTHS)) for _ in range(2))
    return Program(source, first), second


def _indent(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
