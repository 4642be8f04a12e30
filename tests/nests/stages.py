"""Random programs of two stages: nests that compute a buffer, and nests that use it.

Index maps are affine with offsets, strides, transposes and reversals; there are guards, sums,
running sums, scalar variables, writes in between and in place. Many are hard for the steps that
move stages, some are out of bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from hybridjit.errors import UninitializedRead
from hybridjit.frontend.parse import parse_text
from hybridjit.interp.run import interpret
from tests.nests.generate import Nest
from tests.support.choices import Choose, pick, samples

SIZE = 5


@dataclass(slots=True)
class _Writer:
    choose: Choose
    rank: int
    size: str
    plain: bool
    lines: list[str] = field(default_factory=list[str])
    count: int = 0

    def one_in(self, number: int) -> bool:
        return self.choose(number) == 0

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def loops(self, depth: int) -> tuple[list[str], int]:
        """Loops, one for each axis, and the depth inside of them."""
        names: list[str] = []
        for _ in range(self.rank):
            name = f"i{self.count}"
            self.count += 1
            self.line(depth, f"for {name} in range({self.bounds(names)}):")
            names.append(name)
            depth += 1
        return names, depth

    def bounds(self, outer: list[str]) -> str:
        n = self.size
        if self.plain and not self.one_in(8):
            return n
        kinds = [n] * 6 + [f"1, {n}", f"{n} - 1", f"{n} - 2", f"{n} - 1, -1, -1", f"0, {n}, 2"]
        kinds += [f"{outer[-1]} + 1", f"{outer[-1]}, {n}"] if outer else []
        return pick(self.choose, kinds)

    def index(self, loops: list[str]) -> str:
        """One index for each axis: the loops in some order, moved and mirrored."""
        names = list(loops)
        if len(names) == 2 and self.one_in(4):
            names.reverse()
        return ", ".join(map(self.axis, names))

    def axis(self, name: str) -> str:
        n = self.size
        if self.plain and not self.one_in(8):
            return name
        kinds = [name] * 8 + [f"{name} + 1", f"{name} - 1", f"{n} - 1 - {name}"]
        kinds += [f"{name} // 2", f"2 * {name}", "0", f"min({name} + 1, {n} - 1)", f"{name} % 3"]
        return pick(self.choose, kinds)

    def guard(self, depth: int, loops: list[str]) -> int:
        if not self.one_in(12 if self.plain else 3):
            return depth
        name, n = pick(self.choose, loops), self.size
        kinds = [f"{name} > 0", f"{name} < {n} - 1", f"0 < {name} and {name} < {n} - 1"]
        kinds += [f"{name} % 2 == 0", f"p[{name}] > 0.0", f"{name} + 1 < k"]
        self.line(depth, f"if {pick(self.choose, kinds)}:")
        return depth + 1

    def term(self, buffer: str, loops: list[str]) -> str:
        """A read of `buffer`, perhaps under a condition that keeps it in bounds."""
        if not self.one_in(3):
            return f"{buffer}[{self.index(loops)}]"
        name, n = loops[0], self.size
        rest = "".join(f", {other}" for other in loops[1:])
        inside = [
            f"({buffer}[{name} - 1{rest}] if {name} > 0 else 0.0)",
            f"({buffer}[{name} + 1{rest}] if {name} + 1 < {n} else 1.0)",
            f"{buffer}[max({name} - 1, 0){rest}]",
        ]
        return pick(self.choose, inside)

    # -- stages ------------------------------------------------------------------------------------

    def produce(self, depth: int) -> None:
        if self.one_in(6):
            self.fill(depth)
        loops, inside = self.loops(depth)
        inside = self.guard(inside, loops)
        index = self.index(loops)
        value = self.term("a", loops)
        kind = 9 if self.plain else self.choose(10)
        if kind < 2:
            self.line(inside, "for r in range(3):")
            self.line(inside + 1, f"t[{index}] += {value} * p[r]")
        elif kind == 2:
            self.line(inside, "acc = 0.5")
            self.line(inside, "for r in range(3):")
            self.line(inside + 1, f"acc += {value} * p[r]")
            self.line(inside, f"t[{index}] = acc")
        elif kind == 3:
            self.line(inside, f"t[{index}] = {self.term('t', loops)} + {value}")
        elif kind == 4:
            self.line(inside, f"t[{index}] += {value}")
        else:
            self.line(inside, f"t[{index}] = {value} * 0.7")

    def fill(self, depth: int) -> None:
        loops, inside = self.loops(depth)
        self.line(inside, f"t[{', '.join(loops)}] = 0.25")

    def change(self, depth: int) -> None:
        """Something between the stages."""
        loops, inside = self.loops(depth)
        target = pick(self.choose, ["a", "b", "b"])
        self.line(inside, f"{target}[{self.index(loops)}] += 0.3")

    def consume(self, depth: int) -> None:
        loops, inside = self.loops(depth)
        inside = self.guard(inside, loops)
        terms = [self.term("t", loops) for _ in range(1 + self.choose(3))]
        target = pick(self.choose, ["c", "c", "c", "a", "b"])
        index = ", ".join(loops) if self.choose(4) else self.index(loops)
        operator = pick(self.choose, ["=", "=", "+="])
        self.line(inside, f"{target}[{index}] {operator} {' + '.join(terms)}")


def make_stages(choose: Choose) -> Nest:
    """A program in which one stage computes `t` and another one reads it, and its arguments."""
    symbolic = choose(3) == 0
    rank = 1 + choose(2)
    writer = _Writer(choose, rank, "a.shape[0]" if symbolic else str(SIZE), choose(2) == 0)
    depth = 1
    shape = ", ".join([writer.size] * rank)
    zero = "" if choose(4) else ', "global", zero=False'
    allocation = f't = allocate(({shape},), "float32"{zero})'
    if choose(6):
        writer.line(depth, allocation)
    if choose(8) == 0:
        writer.line(depth, "for z in range(2):")
        depth += 1
    if "t = allocate" not in "".join(writer.lines):
        writer.line(depth, allocation)
    writer.produce(depth)
    if choose(4) == 0:
        writer.change(depth)
    writer.consume(depth)
    if choose(6) == 0:
        writer.consume(depth)
    size = '"n"' if symbolic else str(SIZE)
    array = f"float32[{', '.join([size] * rank)}]"
    header = f"def stages(a: {array}, b: {array}, c: {array}, p: float32[{size}], k: int):"
    text = "\n".join([header, *writer.lines])
    generator = np.random.default_rng(choose(1 << 16))
    sides = (pick(choose, (1, 2, 5, 7)) if symbolic else SIZE,) * rank
    arrays = [generator.standard_normal(sides).astype("float32") for _ in range(3)]
    line = generator.standard_normal(sides[:1]).astype("float32")
    return Nest(text, parse_text(text), (*arrays, line, choose(6)))


def valid_stages(count: int, seed: int) -> Iterator[Nest]:
    """Random programs that do not read an element before it is set."""
    return islice(filter(_is_valid, samples(make_stages, 4 * count, seed)), count)


def _is_valid(nest: Nest) -> bool:
    try:
        interpret(nest.func, nest.fresh_args())
    except UninitializedRead:
        return False
    except IndexError:
        pass
    return True


def check_valid_stages(check: Callable[[Nest], None], count: int, seed: int) -> None:
    """Fail with the text of the first of `count` random programs that `check` fails on."""
    for number, nest in enumerate(valid_stages(count, seed)):
        try:
            check(nest)
        except Exception as error:
            raise AssertionError(
                f"program {number} of seed {seed}: {error}\n{nest.text}"
            ) from error
