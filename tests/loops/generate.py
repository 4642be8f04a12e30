"""Random loop programs at real sizes, as people write them: guards, windows, triangles, strides.

Extents go from 0 to several vectors and a rest. All of what makes vector code hard is frequent:
loops with conditions in their bodies, short inner loops that a compiler unrolls, several stores,
elements that earlier iterations wrote, types of several widths. Programs are plain Python over
NumPy arrays, and that is what they are held against: values have the types that NumPy gives them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from tests.loops.places import TABLES, Axis, Indexing, Reach

FLOATS = ("float32", "float64")
INTEGERS = ("int32", "int16", "int64", "uint8", "int8", "uint16", "uint32", "uint64")
# Programs have arrays of one or two types; these are drawn as often as they stand here.
PALETTES: tuple[tuple[str, ...], ...] = (
    *(("float32",), ("float32",), ("float64",), ("int32",), ("int16",)),
    *(("float32", "float64"), ("float32", "int32"), ("float64", "int16"), ("int16", "int32")),
    *(("float32", "int16"), ("uint8", "float32"), ("int64", "int32"), ("uint8", "int16")),
    *(("uint64",), ("int8",), ("int8", "float32"), ("uint16", "int32"), ("uint64", "float64")),
    *(("uint64", "float32"), ("uint32", "float64")),
)
# NumPy refuses to put an integer into an array of integers that has no room for it.
_HOLDING = {
    "uint8": ("uint8", "int16", "int32", "int64"),
    "int16": ("int16", "int32", "int64"),
    "int32": ("int32", "int64"),
    "int64": ("int64",),
    "int8": ("int8", "int16", "int32", "int64"),
    "uint16": ("uint16", "int32", "int64"),
    "uint32": ("uint32", "int64", "uint64"),
    "uint64": ("uint64",),
}
ARRAYS = ("a", "b", "c", "d")
LAYOUTS = ("C", "C", "C", "C", "C", "C", "F", "strided", "reversed")
# The axes of arrays: each of n or m, more or less.
TAME_PADS = (0, 0, -1, -1, -1, -2, 1)
WILD_PADS = (0, 0, 0, 0, -1, 1, 2, 3)
WILD = ("m", "m", "n", "nm", "nm", "nm", "mm", "mn", "nnm")
MAX_DEPTH = 4
# How sizes come to the program: as constants of it, from the shapes of arrays, as arguments.
WAYS = ("captured", "captured", "shapes", "arguments", "arguments")


@dataclass(frozen=True, slots=True)
class ArrayParam:
    """An array parameter: its type and its axes."""

    name: str
    dtype: str
    axes: tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class LoopProgram:
    """The text of a function `kernel`, its arrays, and how it learns of `n` and `m`.

    `order` is the largest number of loops over m that stand inside each other.
    """

    text: str
    arrays: tuple[ArrayParam, ...]
    layouts: tuple[str, ...]
    way: str
    order: int


def make_program(rng: random.Random) -> LoopProgram:
    """A random program."""
    return _Writer(rng).program()


class _Writer(Indexing):
    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.palette = rng.choice(PALETTES)
        self.shapes = (
            rng.choice((("m",), ("nm",), ("nm",), ("nm", "nm", "m"))) if self.is_tame else WILD
        )
        self.arrays = [self._array(name) for name in ARRAYS[: rng.randint(3, 4)]]
        # Where nothing is read that is written, iterations are independent: wild programs are not.
        parted = self.is_tame and rng.random() < 0.7
        self.written = self.arrays[: rng.randint(1, 2)] if parted else self.arrays
        self.read = self.arrays[len(self.written) :] if parted else self.arrays
        self.lines: list[str] = []
        self.indent = 1
        self.unique = 0
        self.order = 0
        self.temporaries: dict[str, str] = {}

    def _array(self, name: str) -> ArrayParam:
        axes = tuple(self._axis(size) for size in self.rng.choice(self.shapes))
        return ArrayParam(name, self.rng.choice(self.palette), axes)

    def _axis(self, size: str) -> Axis:
        if self.is_tame:
            return Axis(size, 2 if self.rng.random() < 0.08 else 1, self.rng.choice(TAME_PADS))
        return Axis(size, self.rng.choice((1, 1, 1, 1, 2)), self.rng.choice(WILD_PADS))

    def program(self) -> LoopProgram:
        way = self.rng.choice(WAYS)
        for _ in range(self.rng.choice((1, 1, 1, 2))):
            lines = [array for array in self.written if len(array.axes) == 1]
            if lines and self.rng.random() < 0.3:
                self._packing_loop(self.rng.choice(lines))
            elif self.is_tame:
                self._tame_nest()
            else:
                self._loop(self.rng.choice((1, 2, 2, 3)))
        params = [*(array.name for array in self.arrays), *TABLES.values()]
        head = [f"def kernel({', '.join(params)}{', n, m' if way == 'arguments' else ''}):"]
        if way == "shapes":
            head.append("    n, m = p.shape[0], q.shape[0]")
        text = "\n".join([*head, *self.lines]) + "\n"
        layouts = tuple(
            "C" if self.is_tame and self.rng.random() < 0.7 else self.rng.choice(LAYOUTS)
            for _ in self.arrays
        )
        return LoopProgram(text, tuple(self.arrays), layouts, way, self.order)

    def _line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def _fresh(self, prefix: str) -> str:
        self.unique += 1
        return f"{prefix}{self.unique}"

    # -- loops ---------------------------------------------------------------------------------

    def _loop(self, budget: int) -> None:
        """A loop around some statements, or around another loop alone."""
        name = self._fresh("i")
        bounds, reach = self._bounds()
        self._line(f"for {name} in {bounds}:")
        self.loops[name] = reach
        self.order = max(self.order, sum(found.size == "m" for found in self.loops.values()))
        known = dict(self.temporaries)
        self.indent += 1
        if len(self.loops) < MAX_DEPTH - 1 and self.rng.random() < 0.45:
            self._loop(budget - 1)
        else:
            self._statements(budget)
        self.indent -= 1
        self.temporaries = known
        del self.loops[name]

    def _tame_nest(self) -> None:
        """A loop for each axis, and in the innermost what there is to do for an element."""
        before = self.indent
        for size in max(self.shapes, key=len):
            name = self._fresh("i")
            bounds, reach = self._whole_range(size) if self.rng.random() < 0.85 else self._bounds()
            self._line(f"for {name} in {bounds}:")
            self.loops[name] = reach
            self.indent += 1
        for _ in range(self.rng.choice((1, 1, 2))):
            kinds = (self._make_stencil, self._make_stencil, self._make_sum, self._make_store)
            self.rng.choice((*kinds, self._make_branch))(0)
        self.indent = before
        self.loops.clear()
        self.temporaries.clear()

    def _packing_loop(self, array: ArrayParam) -> None:
        """A loop that puts what passes a test to the next free places of an array."""
        place, name = self._fresh("k"), self._fresh("i")
        bounds, self.loops[name] = self._bounds()
        self._line(f"{place} = 0")
        self._line(f"for {name} in {bounds}:")
        self.indent += 1
        value, guards = self._value_for(array.dtype)
        room = [f"{place} < {array.name}.shape[0]"] * (self.rng.random() < 0.8)
        test = " and ".join([*guards, *room, self._condition(1)])
        self._line(f"if {test}:")
        self._line(
            f"    {array.name}[{place}{'' if room else f' % {array.name}.shape[0]'}] = {value}"
        )
        self._line(f"    {place} += 1")
        self.indent -= 1
        self.loops.clear()

    @staticmethod
    def _whole_range(size: str) -> tuple[str, Reach]:
        return f"range({size})", Reach(0, size, -1)

    def _bounds(self) -> tuple[str, Reach]:
        """What a loop runs over, and the values of its variable."""
        if self.loops and self.rng.random() < 0.3:
            return self._window()
        outer = [name for name, reach in self.loops.items() if reach.size]
        if outer and self.rng.random() < 0.2:
            return self._triangle(self.rng.choice(outer))
        size = "m" if self.loops or self.rng.random() < 0.4 else "n"
        if self.loops and self.rng.random() < 0.2:
            size = "n"
        return self.rng.choice(
            (
                *[self._whole_range(size)] * 5,
                (f"range(1, {size})", Reach(1, size, -1)),
                (f"range({size} - 1)", Reach(0, size, -2)),
                (f"range(1, {size} - 1)", Reach(1, size, -2)),
                (f"range(2, {size} + 1)", Reach(2, size, 0)),
                (f"range({size} - 1, -1, -1)", Reach(0, size, -1)),
                (f"range(0, {size}, 2)", Reach(0, size, -1)),
                (f"range({size} - 1, 0, -3)", Reach(1, size, -1)),
            )
        )

    def _window(self) -> tuple[str, Reach]:
        count = self.rng.choice((2, 3, 3, 4, 5))
        if self.rng.random() < 0.2:
            return f"range(-1, {count - 1})", Reach(-1, "", count - 2)
        return f"range({count})", Reach(0, "", count - 1)

    def _triangle(self, outer: str) -> tuple[str, Reach]:
        reach = self.loops[outer]
        below = Reach(0, reach.size, reach.high)
        above = Reach(reach.low, reach.size, -1)
        return self.rng.choice(
            (
                (f"range({outer} + 1)", below),
                (f"range({outer})", below.plus(0)),
                (f"range({outer}, {reach.size})", above),
                (f"range({outer} + 1, {reach.size})", above.plus(0)),
            )
        )

    # -- statements ----------------------------------------------------------------------------

    def _statements(self, budget: int) -> None:
        for _ in range(self.rng.choice((1, 1, 1, 2))):
            self._statement(budget)

    def _statement(self, budget: int) -> None:
        nested = budget > 0 and len(self.loops) < MAX_DEPTH
        kinds = ["store"] * 6 + ["temporary", "swap"]
        kinds += ["branch", "branch"] * (budget > 0) + ["leave"] * (self.rng.random() < 0.2)
        kinds += ["loop", "loop", "sum", "sum", "while", *["stencil"] * 6] * nested
        getattr(self, f"_make_{self.rng.choice(kinds)}")(budget - 1)

    def _make_loop(self, budget: int) -> None:
        self._loop(budget)

    def _make_store(self, budget: int) -> None:
        array = self.rng.choice(self.written)
        target, guards = self._element(array, is_target=True)
        value, more = self._value_for(array.dtype)
        form = self.rng.randrange(6)
        if form == 0:
            line = f"{target} += {value}"
        elif form == 1:
            line = f"{target} = {target} + {value}"
        elif form == 2:
            line = f"{target} = {self.rng.choice(('max', 'min'))}({target}, {array.dtype}({value}))"
        else:
            line = f"{target} = {value}"
        self._guarded([*guards, *more], line)

    def _make_swap(self, budget: int) -> None:
        """Two stores that depend on each other."""
        array = self.rng.choice(self.written)
        (x, first), (y, second) = (self._element(array, is_target=which == "x") for which in "xy")
        name = self._fresh("t")
        self._guarded([*first, *second], f"{name} = {x}", f"{x} = {y}", f"{y} = {name}")

    def _make_temporary(self, budget: int) -> None:
        name, dtype = self._fresh("t"), self.rng.choice(self.palette)
        value, _ = self._value(dtype, 2, may_guard=False)
        self._line(f"{name} = {value}")
        self.temporaries[name] = dtype
        self._make_store(budget)

    def _make_branch(self, budget: int) -> None:
        self._line(f"if {self._condition(2)}:")
        self._block(budget)
        if self.rng.random() < 0.4:
            self._line("else:")
            self._block(budget)

    def _block(self, budget: int) -> None:
        known = dict(self.temporaries)
        self.indent += 1
        self._statements(budget)
        self.indent -= 1
        self.temporaries = known

    def _make_leave(self, budget: int) -> None:
        self._line(f"if {self._condition(1)}:")
        self.indent += 1
        self._make_store(budget)
        self._line(self.rng.choice(("break", "continue")))
        self.indent -= 1

    def _make_sum(self, budget: int) -> None:
        """A variable that an inner loop adds to, or keeps the largest in."""
        name, dtype = self._fresh("s"), self.rng.choice(self.palette)
        self._line(f"{name} = {dtype}({self.rng.choice(('0', '0', '1'))})")
        inner = self._fresh("i")
        bounds, reach = self._bounds()
        self._line(f"for {inner} in {bounds}:")
        self.loops[inner] = reach
        self.order = max(self.order, sum(found.size == "m" for found in self.loops.values()))
        self.indent += 1
        value, guards = self._value(dtype, 2, may_guard=True)
        ways = (
            f"{name} += {value}",
            f"{name} = {name} + {value}",
            f"{name} = max({name}, {value})",
        )
        self._guarded(guards, self.rng.choice(ways))
        self.indent -= 1
        del self.loops[inner]
        self.temporaries[name] = dtype
        fitting = [found for found in self.written if _stores(dtype, found.dtype)]
        if fitting:
            target, more = self._element(self.rng.choice(fitting), is_target=True)
            self._guarded(more, f"{target} = {name}")

    def _make_stencil(self, budget: int) -> None:
        """Short loops around an update of one element by its neighbours, where there are some."""
        array = self.rng.choice(self.written)
        target, guards = self._element(array, is_target=True)
        if self.rng.random() < 0.5:
            self._guarded(guards, f"{target} = {self._literal(array.dtype)}")
        before, names = self.indent, [self._fresh("w") for _ in range(self.rng.choice((1, 2, 2)))]
        for name in names:
            bounds, self.loops[name] = self._window()
            self._line(f"for {name} in {bounds}:")
            self.indent += 1
        values = [
            self._value(array.dtype, 1, may_guard=True) for _ in range(self.rng.choice((1, 2)))
        ]
        guards += [guard for _, more in values for guard in more]
        op = self.rng.choice(("+", "+", "*", "-"))
        self._guarded(guards, f"{target} = {target} {op} {' + '.join(text for text, _ in values)}")
        self.indent = before
        for name in names:
            del self.loops[name]

    def _make_while(self, budget: int) -> None:
        name, size = self._fresh("w"), self.rng.choice("nm")
        self._line(f"{name} = 0")
        also = f" and {self._condition(0)}" if self.rng.random() < 0.3 else ""
        self._line(f"while {name} < {size}{also}:")
        self.loops[name] = Reach(0, size, -1)
        self.order = max(self.order, sum(found.size == "m" for found in self.loops.values()))
        self.indent += 1
        self._make_store(budget)
        self._line(f"{name} += {self.rng.choice((1, 1, 2))}")
        self.indent -= 1
        del self.loops[name]

    def _guarded(self, guards: Sequence[str], *lines: str) -> None:
        """Lines that run if all guards hold: one condition, or one inside the other."""
        distinct = list(dict.fromkeys(guards))
        if self.rng.random() < (0.1 if self.is_tame else 0.2):
            distinct.append(self._condition(1))
        before = self.indent
        if len(distinct) > 1 and self.rng.random() < 0.25:
            for guard in distinct:
                self._line(f"if {guard}:")
                self.indent += 1
        elif distinct:
            self._line(f"if {' and '.join(distinct)}:")
            self.indent += 1
        for line in lines:
            self._line(line)
        self.indent = before

    # -- expressions ---------------------------------------------------------------------------

    def _element(
        self, array: ArrayParam, *, may_guard: bool = True, is_target: bool = False
    ) -> tuple[str, list[str]]:
        found = [self.index(axis, may_guard=may_guard, is_target=is_target) for axis in array.axes]
        guards = [guard for index in found for guard in index.guards]
        return f"{array.name}[{', '.join(index.text for index in found)}]", guards

    def _value_for(self, dtype: str) -> tuple[str, list[str]]:
        """A value to store: of the element type, or of another that fits there."""
        fitting = [found for found in self.palette if _stores(found, dtype)]
        given = dtype if self.rng.random() < 0.8 else self.rng.choice(fitting)
        return self._value(
            given, 1 if self.is_tame else self.rng.choice((1, 1, 2, 2)), may_guard=True
        )

    def _value(self, dtype: str, depth: int, *, may_guard: bool) -> tuple[str, list[str]]:
        """An expression of exactly this type, and the guards of what it reads."""
        if depth == 0 or self.rng.random() < 0.2:
            return self._leaf(dtype, may_guard=may_guard)
        (x, first), (y, second) = (
            self._value(dtype, depth - 1, may_guard=may_guard) for _ in range(2)
        )
        guards = [*first, *second]
        if self.rng.random() < (0.8 if self.is_tame else 0.6):
            return f"({x} {self.rng.choice('+-*')} {y})", guards
        if self.rng.random() < 0.3:
            return f"{self.rng.choice(('min', 'max'))}({x}, {y})", guards
        if self.rng.random() < 0.3:
            return f"({x} if {self._condition(1)} else {y})", guards
        if self.rng.random() < 0.3:
            return f"({x} {self.rng.choice('+*')} {self._literal(dtype)})", guards
        op = self._float_op(x, y) if dtype in FLOATS else self._integer_op(dtype, x, y)
        return op, guards

    def _float_op(self, x: str, y: str) -> str:
        return self.rng.choice((f"({x} / {y})", f"np.sqrt(abs({x}))", f"abs({x})", f"(-{x})"))

    def _integer_op(self, dtype: str, x: str, y: str) -> str:
        is_unsigned = dtype.startswith("u")
        number = self.rng.choice((2, 3, 7) if is_unsigned else (2, 3, 7, -1, -2, -3))
        return self.rng.choice(
            (
                *(f"({x} & {y})", f"({x} | {y})", f"({x} ^ {y})", f"({x} >> {number % 5})"),
                *(f"({x} // {number})", f"({x} % {number})", f"({x} // ({y} | 1))", f"abs({x})"),
            )
        )

    def _leaf(self, dtype: str, *, may_guard: bool) -> tuple[str, list[str]]:
        known = [name for name, found in self.temporaries.items() if found == dtype]
        roll = self.rng.random()
        if known and roll < 0.3:
            return self.rng.choice(known), []
        if roll < 0.1:
            return f"{dtype}({self._literal(dtype)})", []
        if roll < 0.15 and self.loops:
            return f"{dtype}({self.rng.choice(list(self.loops))} & 63)", []
        same = [array for array in self.read if array.dtype == dtype]
        fitting = [array for array in self.read if _stores(array.dtype, dtype)]
        if not fitting:
            return f"{dtype}({self._literal(dtype)})", []
        array = self.rng.choice(same) if same and self.rng.random() < 0.8 else None
        if array is not None:
            return self._chosen(dtype, *self._element(array, may_guard=may_guard))
        text, guards = self._element(self.rng.choice(fitting), may_guard=may_guard)
        return self._chosen(dtype, f"{dtype}({text})", guards)

    def _chosen(self, dtype: str, text: str, guards: list[str]) -> tuple[str, list[str]]:
        """Often an element or, where there is none, a number: guards stay inside the expression."""
        if not guards or self.rng.random() < 0.7:
            return text, guards
        return f"({text} if {' and '.join(guards)} else {dtype}({self._literal(dtype)}))", []

    def _literal(self, dtype: str) -> str:
        return self.rng.choice(("0.5", "1.25", "3", "2") if dtype in FLOATS else ("2", "3", "5"))

    def _condition(self, depth: int) -> str:
        if depth > 0 and self.rng.random() < 0.4:
            x, y = self._condition(depth - 1), self._condition(depth - 1)
            word = self.rng.choice(("and", "or"))
            return self.rng.choice((f"({x} {word} {y})", f"not ({x} {word} {y})"))
        if self.rng.random() < 0.5:
            return self._index_condition()
        dtype = self.rng.choice(self.palette)
        x, _ = self._value(dtype, 1, may_guard=False)
        y, _ = self._value(dtype, 0, may_guard=False)
        return f"{x} {self.rng.choice(('<', '<=', '>', '!=', '=='))} {y}"

    def _index_condition(self) -> str:
        names = list(self.loops)
        x, y = self.rng.choice(names), self.rng.choice([*names, "n - 2", "m // 2", "3"])
        return self.rng.choice(
            (f"{x} < {y}", f"{x} != {y}", f"{x} % 3 != 1", f"({x} + {y}) % 2 == 0", f"{x} >= {y}")
        )


def _stores(source: str, to: str) -> bool:
    """Whether every value of one type has a value in an array of the other, for NumPy."""
    return to in FLOATS or (source not in FLOATS and to in _HOLDING[source])
