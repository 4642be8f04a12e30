"""Random nests over arrays of run-time sizes, and steps that make products of these sizes.

A fused loop over n * m iterations, or a split into so many parts, has indices that are not affine.
What may run at the same time then is a question of its own (hybridjit/arith/products.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hybridjit.frontend.parse import parse_text
from tests.nests.generate import Nest
from tests.support.choices import Choose, pick

# The run-time sizes, as programs write them, and how large they are at most.
SIZES = {"n": "a.shape[0]", "m": "a.shape[1]"}
MAX_SIZE = 5
VARIATIONS = ((0, 3), (2, 0), (1, 1), (2, 5), (6, 3))
DTYPES = ("int64", "float32", "float64", "int16")
# `a` and `b` have rows and columns; `c` and `d` have one for each row, for each column.
SHAPES = {"a": "nm", "b": "nm", "c": "n", "d": "m"}
# Steps that are about products; the others are taken now and then.
SIZED_MOVES = (
    *("fuse", "split in parts", "split in three", "split", "tile"),
    *("reorder", "parallel", "vectorize", "parallel", "vectorize"),
)


@dataclass(slots=True)
class _Writer:
    choose: Choose
    lines: list[str] = field(default_factory=list[str])
    # The loop variables in scope, each with the size that it runs up to.
    loops: dict[str, str] = field(default_factory=dict[str, str])

    def one_in(self, number: int) -> bool:
        return self.choose(number) == 0

    def line(self, text: str) -> None:
        self.lines.append("    " * (1 + len(self.loops)) + text)

    def nest(self, number: int) -> None:
        """Two or three loops, one in the other, around a store or two."""
        for depth in range(2 + self.choose(2)):
            size = "nm"[depth] if depth < 2 else pick(self.choose, "nm")
            if depth < 2 and self.one_in(5):
                size = "nm"[1 - depth]
            name = f"i{number}{depth}"
            self.line(f"for {name} in range({self.bounds(SIZES[size])}):")
            self.loops[name] = size
        if self.one_in(6):
            self.line(f"if {self.condition()}:")
            self.loops["then"] = ""  # one level deeper
        for _ in range(1 + self.one_in(3)):
            self.store()
        self.loops.clear()

    def bounds(self, size: str) -> str:
        return pick(self.choose, [*[size] * 6, f"1, {size}", f"{size} - 1", f"{size} - 1, -1, -1"])

    def condition(self) -> str:
        name, size = pick(self.choose, [item for item in self.loops.items() if item[1]])
        return pick(self.choose, [f"{name} > 0", f"{name} < {SIZES[size]} - 1", f"{name} % 2 == 0"])

    def store(self) -> None:
        target = pick(self.choose, "abbcd")
        element = f"{target}[{self.indices(target)}]"
        source = pick(self.choose, "aabcd")
        value = f"{source}[{self.indices(source)}] + 3"
        form = self.choose(4)
        if form == 0:
            self.line(f"{element} = {element} + {value}")
        elif form == 1:
            self.line(f"{element} = max({element}, {value})")
        else:
            self.line(f"{element} = {value}")

    def indices(self, array: str) -> str:
        return ", ".join(self.index(size) for size in SHAPES[array])

    def index(self, size: str) -> str:
        """A loop over that size, mostly; an index that is too large wraps, as `%` has it."""
        fitting = [name for name, found in self.loops.items() if found == size]
        if not fitting or self.one_in(10):
            return "0"
        name, extent = pick(self.choose, fitting), SIZES[size]
        others = [
            f"({name} + 1) % {extent}",
            f"{extent} - 1 - {name}",
            f"{name} - 1",
            f"{name} // 2",
        ]
        return name if self.choose(3) else pick(self.choose, others)


class SizedNest(Nest):
    """A program over arrays of any size."""

    def variations(self) -> Iterator[tuple[Any, ...]]:
        """Arguments of several sizes: nothing, one, more rows than columns and the other way."""
        for sizes in VARIATIONS:
            generator = np.random.default_rng(sum(sizes))
            yield _arguments(
                generator, str(self.args[0].dtype), dict(zip(SIZES, sizes, strict=True))
            )


def make_sized(choose: Choose) -> SizedNest:
    """A program and its arguments."""
    writer = _Writer(choose)
    dtype = pick(choose, DTYPES)
    for number in range(1 + (choose(3) == 0)):
        writer.nest(number)
    params = [f"{name}: {dtype}{list(shape)}" for name, shape in SHAPES.items()]
    text = "\n".join([f"def sized({', '.join(params)}):", *writer.lines])
    sizes = {size: 1 + choose(MAX_SIZE) if choose(12) else 0 for size in SIZES}
    generator = np.random.default_rng(choose(1 << 16))
    return SizedNest(text, parse_text(text), _arguments(generator, dtype, sizes))


def _arguments(
    generator: np.random.Generator, dtype: str, sizes: Mapping[str, int]
) -> tuple[Any, ...]:
    shapes = ([sizes[size] for size in shape] for shape in SHAPES.values())
    return tuple((generator.standard_normal(shape) * 8).astype(dtype) for shape in shapes)
