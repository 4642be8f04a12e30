"""Random loop nests for schedules: a few arrays, loops of every shape, affine accesses mostly.

Programs are small (extents up to 5, unless long ones are asked for), so that running every
iteration of many orders is cheap, and in bounds by construction: each loop variable carries the
interval of its values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hybridjit.frontend.parse import parse_text
from hybridjit.ir.func import PrimFunc
from tests.support.choices import Choose, pick
from tests.support.oracle import fresh_copies

DTYPES = ("int64", "int32", "uint8", "float32", "float64", "int16")
# Loops over the scalar n run at most so often.
MAX_SIZE = 4
# The numbers of iterations of loops, and what axes have more than three: small ones, which are
# cheap in any order; and some for several vectors and a rest.
EXTENTS = (4, 4, 2, 3, 5)
LONG_EXTENTS = (4, 17, 33, 3, 20)
# Rare shapes of code are picked once in so many times.
RARELY = 6


@dataclass(frozen=True, slots=True)
class Nest:
    """A program, and arguments for it."""

    text: str
    func: PrimFunc
    args: tuple[Any, ...]

    def fresh_args(self) -> list[Any]:
        """Arguments that a run may write to."""
        return fresh_copies(self.args)

    def variations(self) -> Iterator[tuple[Any, ...]]:
        """Arguments with every size that the program takes, and other indices in its table."""
        *arrays, table, _ = self.args
        for size in range(MAX_SIZE + 1):
            for shift in range(3):
                yield *arrays, (table * (shift + 1) + shift) % 9, size


@dataclass(frozen=True, slots=True)
class _Array:
    name: str
    dtype: str
    shape: tuple[int, ...]
    is_written: bool = True


@dataclass(slots=True)
class _Writer:
    choose: Choose
    symbolic: bool
    extents: tuple[int, ...] = EXTENTS
    lines: list[str] = field(default_factory=list[str])
    depth: int = 1
    arrays: list[_Array] = field(default_factory=list[_Array])
    # The loop variables in scope, with the interval of their values.
    loops: dict[str, tuple[int, int]] = field(default_factory=dict[str, "tuple[int, int]"])
    scalars: list[str] = field(default_factory=list[str])
    first: tuple[str, tuple[int, int]] | None = None
    count: int = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def maybe(self, one_in: int = 2) -> bool:
        return self.choose(one_in) == 0

    # -- statements --------------------------------------------------------------------------------

    def body(self, budget: int) -> int:
        """Some statements; at least one. What is left of `budget` is returned."""
        for _ in range(1 + self.choose(3)):
            budget = self.statement(budget - 1)
            if budget <= 0:
                break
        return budget

    def statement(self, budget: int) -> int:
        if len(self.loops) < 3 and (not self.loops or budget > 0) and self.choose(3) < 2:
            return self.loop(budget)
        if self.loops and self.maybe(RARELY):
            self.line(f"if {self.condition()}:")
            self.depth += 1
            self.store()
            self.depth -= 1
            return budget
        if self.loops and self.maybe(RARELY):
            self.scalar()
            return budget
        if len(self.loops) > 1 and self.maybe(RARELY):
            self.reduction()
            return budget
        self.store()
        return budget

    def loop(self, budget: int) -> int:
        name = f"i{self.count}"
        self.count += 1
        bounds, interval = self.bounds()
        if not self.loops:
            # Neighbours that run the same iterations can be merged.
            if self.first is not None and self.choose(4):
                bounds, interval = self.first
            self.first = bounds, interval
        self.line(f"for {name} in range({bounds}):")
        self.loops[name] = interval
        outer = list(self.scalars)
        self.depth += 1
        # A nest without anything between its loops is what most schedules are about.
        if len(self.loops) < 3 and self.choose(3) < 2:
            budget = self.loop(budget - 1)
        else:
            budget = self.body(budget)
        self.depth -= 1
        self.scalars = outer
        del self.loops[name]
        return budget

    def bounds(self) -> tuple[str, tuple[int, int]]:
        """The arguments of range, and the values that the variable can have."""
        size = pick(self.choose, self.extents)
        kind = self.choose(10)
        most = max(self.extents)
        outer = [name for name, (low, high) in self.loops.items() if low >= 0 and high <= most]
        if kind == 0:
            return f"1, {size + 1}", (1, size)
        if kind == 1:
            return f"{size - 1}, -1, -1", (0, size - 1)
        if kind == 2:
            return f"0, {size}, 2", (0, size - 1)
        if kind == 3 and outer:
            name = pick(self.choose, outer)
            return f"{name} + 1", (0, self.loops[name][1])
        if kind == 4 and outer:
            name = pick(self.choose, outer)
            return f"{name}, {size + 1}", (self.loops[name][0], size)
        if kind == 5 and self.symbolic:
            return "n", (0, MAX_SIZE - 1)
        return str(size), (0, size - 1)

    def scalar(self) -> None:
        """A variable private to an iteration, with its uses."""
        name = f"x{self.count}"
        self.count += 1
        array = pick(self.choose, self.arrays)
        self.line(f"{name}: {array.dtype} = {self.value(array.dtype)}")
        if self.maybe():
            self.line(f"{name} = {name} + {self.load(array)}")
        self.store(array, extra=name)

    def reduction(self) -> None:
        """A block that reduces over the innermost loop, with an init."""
        *others, inner = self.loops
        fitting = [
            (array, name)
            for array in self.arrays
            for name in others
            if array.is_written and 0 <= self.loops[name][0] <= self.loops[name][1] < array.shape[0]
        ]
        if not fitting:
            self.store()
            return
        array, kept = pick(self.choose, fitting)
        iters = [name if name == kept else f"scan({name})" for name in others]
        rest = [str(self.choose(size)) for size in array.shape[1:]]
        element = f"{array.name}[{', '.join([kept, *rest])}]"
        self.line(f'with block("r{self.count}", {", ".join([*iters, f"reduce({inner})"])}):')
        self.line("    with init():")
        self.line(f"        {element} = 2")
        self.line(f"    {element} = {element} + {self.value(array.dtype)}")
        self.count += 1

    def store(self, array: _Array | None = None, extra: str | None = None) -> None:
        targets = [found for found in self.arrays if found.is_written]
        if array is not None and array.is_written:
            targets = [array]
        target = pick(self.choose, targets)
        element = f"{target.name}[{self.indices(target)}]"
        value = self.value(target.dtype)
        if extra is not None and array is not None and array.dtype == target.dtype:
            value = f"{extra} + {value}"
        form = self.choose(5)
        if form == 0:
            self.line(f"{element} = {element} + {value}")
        elif form == 1:
            self.line(f"{element} = min({element}, {value})")
        else:
            self.line(f"{element} = {value}")

    # -- expressions -------------------------------------------------------------------------------

    def value(self, dtype: str) -> str:
        same = [array for array in self.arrays if array.dtype == dtype]
        text = self.load(pick(self.choose, same)) if same and self.choose(4) else "2"
        if self.maybe(3):
            text = f"{text} * 3"
        if same and self.maybe():
            text = f"{text} + {self.load(pick(self.choose, same))}"
        if dtype == "int64" and self.loops and self.maybe(3):
            text = f"{text} + {pick(self.choose, list(self.loops))}"
        return text

    def load(self, array: _Array) -> str:
        return f"{array.name}[{self.indices(array)}]"

    def indices(self, array: _Array) -> str:
        return ", ".join(self.index(size) for size in array.shape)

    def index(self, size: int) -> str:
        """An index into an axis; one in many counts from the end, or is not affine."""
        candidates: list[str] = []
        for name, (low, high) in self.loops.items():
            for text, first, last in (
                (name, low, high),
                (f"{name} + 1", low + 1, high + 1),
                (f"{name} - 1", low - 1, high - 1),
                (f"{size - 1} - {name}", size - 1 - high, size - 1 - low),
                (f"{name} // 2", low // 2, high // 2),
                (f"2 * {name}", 2 * low, 2 * high),
            ):
                wraps = first < 0
                if last < size and first >= -size and (not wraps or self.maybe(RARELY)):
                    candidates += [text] * (4 if text == name else 1)
            if high >= size or self.maybe(RARELY):
                candidates.append(f"{name} % {size}")
        names = list(self.loops)
        if len(names) > 1 and self.maybe(3):
            candidates.append(f"({names[0]} + {names[-1]}) % {size}")
        candidates.append(str(self.choose(size)))
        if self.maybe(4 * RARELY):
            return f"t[{pick(self.choose, candidates[-1:])} % 4] % {size}"
        # Loop variables first: constant indices make dull programs.
        return pick(self.choose, candidates[:-1] * 4 + candidates[-1:])

    def condition(self) -> str:
        names = list(self.loops)
        left = pick(self.choose, names)
        right = pick(self.choose, [*names, "2", "n"] if self.symbolic else [*names, "2"])
        return pick(
            self.choose,
            [
                f"{left} < {right}",
                f"{left} != {right}",
                f"({left} + 1) % 2 == 0",
                f"{left} >= 1 and {left} <= {right}",
            ],
        )


def make_nest(choose: Choose, *, is_long: bool = False) -> Nest:
    """A program and its arguments; a long one has loops of several vectors and a rest."""
    symbolic = choose(3) == 0
    writer = _Writer(choose, symbolic, LONG_EXTENTS if is_long else EXTENTS)
    dtypes = [pick(choose, DTYPES) for _ in range(2)]
    for position in range(2 + choose(2)):
        rank = 1 + choose(2)
        shape = tuple(3 + choose(4) for _ in range(rank))
        if is_long:
            shape = (*shape[:-1], pick(choose, (17, 20, 34, 40)))
        is_written = position == 0 or choose(3) > 0
        dtype = dtypes[0] if position == 0 else pick(choose, dtypes)
        writer.arrays.append(_Array("abc"[position], dtype, shape, is_written))
    for _ in range(1 + choose(2)):
        writer.loop(4)
    params = [f"{a.name}: {a.dtype}[{', '.join(map(str, a.shape))}]" for a in writer.arrays]
    params += ["t: int64[4]", "n: int"]
    text = "\n".join([f"def nest({', '.join(params)}):", *writer.lines])
    return Nest(text, parse_text(text), _arguments(choose, writer.arrays))


def _arguments(choose: Choose, arrays: list[_Array]) -> tuple[Any, ...]:
    generator = np.random.default_rng(choose(1 << 16))
    data = [_values(generator, array) for array in arrays]
    return (*data, generator.integers(0, 9, 4), choose(MAX_SIZE + 1))


def _values(generator: np.random.Generator, array: _Array) -> Any:
    """Small integers, or floats whose sums are rounded in every order otherwise."""
    if array.dtype.startswith("float"):
        return generator.standard_normal(array.shape).astype(array.dtype)
    return generator.integers(0, 9, array.shape).astype(array.dtype)
