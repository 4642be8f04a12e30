"""Random programs of two stages: nests that compute a buffer, and nests that use it.

Index maps are affine with offsets, strides, transposes and reversals; there are guards, sums,
running sums, scalar variables, writes in between and in place. Many are hard for the steps that
move stages, some are out of bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from hybridjit.errors import UninitializedRead
from hybridjit.interp.run import interpret
from tests.nests.generate import Nest, arguments, parsed
from tests.programs.kinds import PLAIN_STAGES, STAGES
from tests.programs.loops import nested_loops
from tests.programs.maker import Lines, Maker, indent
from tests.programs.scope import Array, Extent, Name, Scope
from tests.programs.statements import new_maker
from tests.support.choices import Choices, Choose, samples

SIZE = 5
LARGEST = 5  # of the argument k, which guards may ask for


@dataclass(frozen=True, slots=True)
class _Stages:
    """Makes the stages: `t` is what the first computes and the second reads."""

    make: Maker
    t: Array

    def nest(self, body: Callable[[], Lines]) -> Lines:
        """A loop for each axis, and perhaps a condition in the innermost."""
        sizes = "n" * len(self.t.shape)
        return nested_loops(self.make, sizes, lambda: self.make.guarded(body))

    def target(self, array: Array) -> str:
        return self.make.element(array, is_target=True).text

    def read(self, name: str) -> str:
        return self.make.element(self.make.scope.arrays[name]).text

    def produce(self) -> Lines:
        return self.nest(self._produced)

    def _produced(self) -> Lines:
        choices, target, value = self.make.choices, self.target(self.t), self.read("a")
        kind = choices.below(10) if self.make.style is STAGES else 9
        sum_over = ["for r in range(3):"]
        if kind < 2:
            return [*sum_over, f"    {target} += {value} * p[r]"]
        if kind == 2:
            return ["acc = 0.5", *sum_over, f"    acc += {value} * p[r]", f"{target} = acc"]
        if kind == 3:
            return [f"{target} = {self.make.element(self.t).text} + {value}"]
        return [f"{target} += {value}" if kind == 4 else f"{target} = {value} * 0.7"]

    def fill(self) -> Lines:
        return self.nest(lambda: [f"{self.target(self.t)} = 0.25"])

    def change(self) -> Lines:
        """Something between the stages."""
        name = self.make.choices.pick(("a", "b", "b"))
        return self.nest(lambda: [f"{self.read(name)} += 0.3"])

    def consume(self) -> Lines:
        return self.nest(self._consumed)

    def _consumed(self) -> Lines:
        choices, make = self.make.choices, self.make
        terms = [make.element(self.t).text for _ in range(choices.between(1, 3))]
        array = make.scope.arrays[choices.pick(("c", "c", "c", "a", "b"))]
        operator = choices.pick(("=", "=", "+="))
        return [f"{self.target(array)} {operator} {' + '.join(terms)}"]


def make_stages(choose: Choose) -> Nest:
    """A program in which one stage computes `t` and another one reads it, and its arguments."""
    choices = Choices(choose)
    is_symbolic, rank = choices.below(3) == 0, choices.between(1, 2)
    style = choices.pick((PLAIN_STAGES, STAGES))
    shape = (Extent(0, "n"),) * rank
    arrays = [*(Array(name, "float32", shape) for name in "abc"), Array("p", "float32", shape[:1])]
    scope = Scope({"k": Name("int", 0, LARGEST, locked=True)}, {a.name: a for a in arrays})
    size = "a.shape[0]" if is_symbolic else str(SIZE)
    make = new_maker(choices, style, ("float32",), scope=scope, size_names={"n": size})
    lines = _in_order(make, Array("t", "float32", shape))
    known = arrays if is_symbolic else [_fixed(array) for array in arrays]
    generator = np.random.default_rng(choices.below(1 << 16))
    side = choices.pick((1, 2, 5, 7)) if is_symbolic else SIZE
    args = (*arguments(generator, arrays, {"n": side}), choices.below(LARGEST + 1))
    return Nest(*parsed("stages", known, ["k: int"], lines), args)


def _fixed(array: Array) -> Array:
    return Array(array.name, array.type, (Extent(SIZE),) * len(array.shape))


def _in_order(make: Maker, t: Array) -> Lines:
    """The stages, after the buffer is made, or around that the loop that repeats them."""
    choices, stages = make.choices, _Stages(make, t)
    sides = ", ".join([make.extent(t, 0)] * len(t.shape))
    zero = "" if choices.below(4) else ', "global", zero=False'
    allocation = [f't = allocate(({sides},), "float32"{zero})']
    lines = stages.fill() if choices.below(6) == 0 else []
    lines += stages.produce()
    lines += stages.change() if choices.below(4) == 0 else []
    for _ in range(1 + (choices.below(6) == 0)):
        lines += stages.consume()
    if choices.below(8):
        return [*allocation, *lines]
    if choices.below(6):
        return [*allocation, "for z in range(2):", *indent(lines)]
    return ["for z in range(2):", *indent([*allocation, *lines])]


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
