"""Random loops around sums: updates of elements, and sums in variables, in all orders of loops.

python -m tests.lowering.sum_programs FIRST LAST      checks programs by their numbers, natively too
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hybridjit import parse
from hybridjit.interp.run import interpret
from hybridjit.ir.func import PrimFunc
from hybridjit.lowering.pipeline import lower
from hybridjit.optimize.optimize import optimize
from hybridjit.schedule.schedule import Schedule
from hybridjit.target import Target
from tests.nests.check import backwards, run_native

HEADER = 'def f(c: float64["n", "n"], d: float64["n", "n"], a: float64["n", "n"], x: float64["n"]):'
SIZES = (0, 1, 2, 3, 6, 9)
# Two lanes: small programs have many vectors, and rests.
NARROW = Target("", "", "")


@dataclass(slots=True)
class _Writer:
    """One program. `inner` are the variables whose neighbours are inside of the arrays, too."""

    random: random.Random
    inner: set[str] = field(default_factory=set[str])
    names: int = 0

    def program(self) -> str:
        """A function on square arrays."""
        lines = self.block([], self.random.randint(2, 4))
        return "\n".join([HEADER, *_indented(lines)]) + "\n"

    def block(self, outer: list[str], depth: int) -> list[str]:
        """Statements in `outer` loops, and loops in them."""
        if depth == 0:
            return [self.update(outer)]
        match self.random.choice(["loop"] * 6 + ["sum", "two", "stored"]):
            case "sum" if outer:
                return self.sum_in_a_variable(outer)
            case "two":
                return [*self.loop(outer, depth), *self.loop(outer, depth)]
            case "stored" if outer:
                return [*self.loop(outer, depth), self.assignment(outer)]
            case _:
                return self.loop(outer, depth)

    def loop(self, outer: list[str], depth: int) -> list[str]:
        head, var = self.head(outer)
        return [head, *_indented(self.block([*outer, var], depth - 1))]

    def sum_in_a_variable(self, outer: list[str]) -> list[str]:
        total = self.name("total")
        head, var = self.head(outer)
        inside = [*outer, var]
        return [
            f"{total}: float64",
            f"{total} = {self.load(outer)}",
            head,
            f"    {total} = {total} {self.operator()} {self.term(inside)}",
            f"{self.element('c', outer)} = {total}",
        ]

    def head(self, outer: list[str]) -> tuple[str, str]:
        """The first line of a loop, and its variable."""
        var = self.name("i")
        bounds = ["0, a.shape[0]"] * 3 + ["1, a.shape[0] - 1"]
        for other in outer[-2:]:
            bounds += [f"0, {other}", f"{other}, a.shape[0]", f"{other} + 1, a.shape[0]"]
        chosen = self.random.choice(bounds)
        if chosen == "1, a.shape[0] - 1":
            self.inner.add(var)
        return f"for {var} in range({chosen}):", var

    def update(self, outer: list[str]) -> str:
        element = self.element(self.random.choice("ccd"), outer)
        return f"{element} = {element} {self.operator()} {self.term(outer)}"

    def assignment(self, outer: list[str]) -> str:
        return f"{self.element(self.random.choice('cd'), outer)} = {self.load(outer)} * 0.75"

    def operator(self) -> str:
        return self.random.choice("+-*")

    def term(self, variables: list[str]) -> str:
        factors = [self.load(variables) for _ in range(self.random.randint(1, 2))]
        return f"({' * '.join(factors)})"

    def load(self, variables: list[str]) -> str:
        if self.random.random() < 0.2:
            return f"x[{self.index(variables)}]"
        return self.element(self.random.choice("aaaaaacd"), variables)

    def element(self, array: str, variables: list[str]) -> str:
        return f"{array}[{self.index(variables)}, {self.index(variables)}]"

    def index(self, variables: list[str]) -> str:
        var = self.random.choice(variables[-3:])
        shifts = ["", "", " + 1", " - 1"] if var in self.inner else [""]
        return var + self.random.choice(shifts)

    def name(self, kind: str) -> str:
        self.names += 1
        return f"{kind}{self.names}"


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def make_program(number: int) -> str:
    """The text of a program."""
    return _Writer(random.Random(number)).program()


def check_number(number: int, *, native: bool = False) -> bool:
    """Fail unless a program means the same with its sums side by side; True if it has any."""
    text = make_program(number)
    func = parse(text)
    made = optimize(func, NARROW).func
    if "sums_in_lanes" not in str(made):
        return False
    _check(text, func, made, native=native)
    return True


def check_marked(number: int) -> bool:
    """Fail unless a program means the same with marks anywhere; True if some are carried out."""
    text = make_program(number)
    s, chance = Schedule(func := parse(text)), random.Random(number)
    loops = list(s.loops())
    for loop in loops:
        s.in_register(loop, if_possible=True)
    for lane in chance.sample(loops, min(2, len(loops))):
        row = chance.choice([other for other in loops if other != lane] or [None])
        numbers = {"lanes": chance.choice((2, 4, 8)), "rows": chance.choice((1, 2, 3))}
        s.sums_in_lanes(lane, row, **numbers if row else {"lanes": 4}, if_possible=True)
    return "vectorize(" in str(_check(text, func, s.func))


def _check(text: str, func: PrimFunc, made: PrimFunc, *, native: bool = False) -> PrimFunc:
    lowered = lower(made, NARROW, may_vectorize=True)
    ways = {"in lanes": lowered, "last lanes first": backwards(lowered)}
    for size in SIZES:
        expected = _run(func, size)
        for way, version in ways.items():
            assert _run(version, size) == expected, f"{way}, n = {size}:\n{text}\n{lowered}"
        if native:
            args = run_native(made, _arguments(size))
            assert _bytes(args) == expected, f"natively, n = {size}:\n{text}\n{lowered}"
    return lowered


def _run(func: PrimFunc, size: int) -> list[bytes]:
    args = _arguments(size)
    interpret(func, args)
    return _bytes(args)


def _arguments(size: int) -> list[Any]:
    generator = np.random.default_rng(size)
    shapes = ((size, size), (size, size), (size, size), (size,))
    return [generator.random(shape) + 0.25 for shape in shapes]


def _bytes(args: list[Any]) -> list[bytes]:
    return [array.tobytes() for array in args]


def main(first: int, last: int) -> None:
    """Check all programs with numbers in range(first, last)."""
    found = 0
    for number in range(first, last):
        found += check_number(number, native=number % 10 == 0)
    print(f"{found} of {last - first} programs have sums side by side; all mean the same")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
