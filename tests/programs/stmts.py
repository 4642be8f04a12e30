"""Random statements: assignments, loops of every kind, branches, jumps and returns.

A name keeps its type wherever two of its assignments can reach one read: there, a script joins
their types and plain Python does not. Elsewhere names are used again with other types, on purpose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from tests.programs import types as ty
from tests.programs.exprs import SMALL, ExprMaker
from tests.programs.intervals import clamp
from tests.programs.scope import Array, Name, Parallel, Scope, Value, can_store

Lines = list[str]
Nested = tuple[Lines, Scope, set[str]]  # a block, the scope at its end and what it assigned

SCALAR_NAMES = ("x", "y", "s", "t", "u")
LOOP_NAMES = ("i", "j", "k", "m")
MAX_TRIPS = 150
# The interval that an int variable keeps when it is assigned again.
# The last is a counter's: MAX_TRIPS rounds of a few additions of at most COUNT_STEP.
COUNT_STEP, COUNT_RANGE = 20, 100_000
INTERVALS = ((0, 3), (-20, 20), (-1000, 1000), (-COUNT_RANGE, COUNT_RANGE))


@dataclass(frozen=True, slots=True)
class Bounds:
    """The arguments of a range, the interval of its variable and how often it runs."""

    text: str
    low: int
    high: int
    most: int
    runs: bool


@dataclass
class StmtMaker(ExprMaker):
    """Makes statements, and keeps track of what they leave behind."""

    returns: Callable[[StmtMaker], str] | None = None
    assigned: set[str] = field(default_factory=set[str])
    ever: set[str] = field(default_factory=set[str])  # names assigned anywhere so far
    # Names read after a loop that a script cannot know to have run: their type is for good.
    pinned: dict[str, str] = field(default_factory=dict[str, str])
    unique: int = 0
    has_effects: bool = False

    def block(self, size: int, depth: int) -> Lines:
        """A few statements; `depth` is how many more levels may be nested."""
        lines: Lines = []
        for _ in range(self.choices.between(1, size)):
            lines += self.statement(depth)
        return lines

    def statement(self, depth: int) -> Lines:
        simple = [self._store, self._assign, self._update, self._store_update, self._tuple]
        nested = [self._for, self._if, self._for, self._grid, self._while, self._expanded]
        if self.scope.parallel is None:
            nested.append(self._independent)
        rare = [self._allocate, self._call, self._chained, self._annotated, self._named_block]
        kind = self.choices.below(10)
        if kind <= 4 or (kind <= 8 and depth <= 0):
            return self.choices.pick(simple)(depth)
        return self.choices.pick(nested if kind <= 8 else rare)(depth)

    def _fresh(self, prefix: str) -> str:
        self.unique += 1
        return f"{prefix}{self.unique}"

    def _bind(self, name: str, binding: Name) -> None:
        self.scope.names[name] = binding
        self.assigned.add(name)
        self.ever.add(name)

    # -- assignment ----------------------------------------------------------------------------

    def _target(self) -> tuple[str, Name]:
        """A name to assign to and what may be put there."""
        free = [name for name in SCALAR_NAMES if name not in self.scope.protected]
        kept = [n for n in self.scope.protected if self._assignable(n)]
        if kept and (not free or self.choices.chance(50)):
            name = self.choices.pick(sorted(kept))
            return name, self.scope.names[name]
        name = self.choices.pick(free) if free else self._fresh("z")
        return name, self._new_name(self.pinned.get(name))

    def _assignable(self, name: str) -> bool:
        binding = self.scope.names.get(name)
        return binding is not None and not binding.locked and binding.low <= binding.high

    def _new_name(self, type: str | None = None) -> Name:
        type = type or self.choices.pick(self.types_here())
        low, high = self.choices.pick(INTERVALS) if type == "int" else (0, 0)
        return Name(type, low, high)

    def fitting(self, name: Name, depth: int) -> Value:
        """A value for a variable; a counter starts small, for it grows."""
        is_counter = name.high >= COUNT_RANGE
        return super().fitting(replace(name, low=-99, high=99) if is_counter else name, depth)

    def _assign(self, depth: int) -> Lines:
        name, binding = self._target()
        value = self.fitting(binding, 3)
        self._bind(name, binding)
        return [f"{name} = {value.text}"]

    def _update(self, depth: int) -> Lines:
        """`x += e`, where the result has the type of x."""
        names = [n for n in self.scope.names if self._updatable(n)]
        if not names:
            return self._assign(depth)
        name = self.choices.pick(names)
        binding = self.scope.names[name]
        if binding.type == "int":
            return self._count(name, binding)
        symbols = [s for s in ty.BINARY if self._update_types(s, binding.type)]
        symbol = self.choices.pick(symbols)
        type = self.choices.pick(self._update_types(symbol, binding.type))
        value = self._right_operand(symbol, binding.type, type, 2, binding.type)
        self._bind(name, binding)
        return [f"{name} {symbol}= {value.text}"]

    def _updatable(self, name: str) -> bool:
        binding = self.scope.names[name]
        is_ours = name not in self.scope.protected or self._assignable(name)
        return is_ours and not binding.locked and binding.type not in ("bool", "complex")

    def _update_types(self, symbol: str, type: str) -> list[str]:
        pairs = ty.operator_results(symbol).get(type, ())
        return [
            b
            for a, b in pairs
            if a == type and self._allowed((b,)) and not (_may_fail_update(symbol, type, b))
        ]

    def _count(self, name: str, binding: Name) -> Lines:
        if binding.high >= COUNT_RANGE:
            step = clamp(self.int_expr(1), -COUNT_STEP, COUNT_STEP)
            self._bind(name, binding)
            return [f"{name} {self.choices.pick(('+', '-'))}= {step.text}"]
        value = self.fitting(binding, 2)
        self._bind(name, binding)
        return [f"{name} = {value.text}"]

    def _tuple(self, depth: int) -> Lines:
        form = self.choices.below(3)
        if form == 0:
            (a, first), (b, second) = self._target(), self._target()
            if a == b:
                return self._assign(depth)
            values = [self.fitting(binding, 2).text for binding in (first, second)]
            self._bind(a, first)
            self._bind(b, second)
            return [f"{a}, {b} = {', '.join(values)}"]
        return self._swap_elements() if form == 1 else self._swap_names(depth)

    def _swap_elements(self) -> Lines:
        arrays = self._written_arrays()
        if not arrays:
            return self._assign(0)
        array = self.choices.pick(arrays)
        a, b = self.element(array).text, self.element(array).text
        self.has_effects = True
        return [f"{a}, {b} = {b}, {a}"]

    def _swap_names(self, depth: int) -> Lines:
        names = [n for n in self.scope.names if self._updatable(n)]
        pairs = [
            (a, b)
            for a in names
            for b in names
            if a < b and self.scope.names[a] == self.scope.names[b]
        ]
        if not pairs:
            return self._assign(depth)
        a, b = self.choices.pick(pairs)
        for name in (a, b):
            self._bind(name, self.scope.names[name])
        return [f"{a}, {b} = {b}, {a}"]

    def _chained(self, depth: int) -> Lines:
        (a, binding), (b, other) = self._target(), self._target()
        is_fixed = b in self.scope.protected or b in self.pinned
        if a == b or (is_fixed and other != binding):
            return self._assign(depth)
        value = self.fitting(binding, 2)
        self._bind(a, binding)
        self._bind(b, binding)
        return [f"{a} = {b} = {value.text}"]

    def _annotated(self, depth: int) -> Lines:
        """An annotation fixes the type of its name in the whole function: one name per type."""
        type = self.choices.pick([t for t in self.palette if t != ty.BOOL] or ["float"])
        name = f"n_{type}"
        if name in self.scope.protected:
            return self._assign(depth)
        value = self.expr(type, 2)
        self._bind(name, Name(type))
        return [f"{name}: {type} = {value.text}"]

    # -- arrays --------------------------------------------------------------------------------

    def _written_arrays(self) -> list[Array]:
        parallel = self.scope.parallel
        return [
            array
            for array in self.scope.arrays.values()
            if array.writable
            and self._readable(array)
            and (parallel is None or array.name in parallel.arrays or array.name.startswith("l"))
        ]

    def store_first(self) -> Lines:
        """A store that always happens, if there is an array for it."""
        return self._store(0) if self._written_arrays() else []

    def _store(self, depth: int) -> Lines:
        arrays = self._written_arrays()
        if not arrays:
            return self._assign(depth)
        array = self.choices.pick(arrays)
        value = self._stored_value(array)
        self.has_effects = True
        return [f"{self.element(array).text} = {value.text}"]

    def _stored_value(self, array: Array) -> Value:
        sources = [t for t in self.types_here() if can_store(t, array.type)]
        type = self.choices.pick([array.type, *sources])
        value = self._operand(type, 3, array.type)
        return value if ty.holds(array.type, type) else Value(f"{array.type}({value.text})", type)

    def _store_update(self, depth: int) -> Lines:
        arrays = self._written_arrays()
        if not arrays:
            return self._assign(depth)
        array = self.choices.pick(arrays)
        options = [
            (symbol, type)
            for symbol in ty.BINARY
            for type in self.types_here()
            if self._storable(symbol, array.type, type)
        ]
        symbol, type = self.choices.pick(options)
        result = ty.result_type(symbol, array.type, type)
        assert result is not None
        value = self._right_operand(symbol, result, type, 2, array.type)
        self.has_effects = True
        return [f"{self.element(array).text} {symbol}= {value.text}"]

    def _storable(self, symbol: str, array: str, type: str) -> bool:
        result = ty.result_type(symbol, array, type)
        if result is None or not can_store(result, array) or not ty.holds(array, result):
            return False
        return not _may_fail_update(symbol, result, type)

    def _allocate(self, depth: int) -> Lines:
        name, type = self._fresh("l"), self.choices.pick(self.palette)
        shape = tuple(self.choices.between(1, 4) for _ in range(self.choices.between(1, 2)))
        self.scope.arrays[name] = Array(name, type, shape)
        dtype = "bool" if type == ty.BOOL else type
        scope = self.choices.pick(("", ', "local"'))
        return [f'{name} = allocate({shape}, "{dtype}"{scope})']

    def _call(self, depth: int) -> Lines:
        helpers = [h for h in self.helpers if h.always_stores and self._callable(h)]
        if not helpers:
            return self._assign(depth)
        self.has_effects = True
        return [self.call(self.choices.pick(helpers), 2)]

    def _named_block(self, depth: int) -> Lines:
        lines = self._store(0)
        return [f'with block("{self._fresh("blk")}"):', *_indent(lines)]

    # -- nesting -------------------------------------------------------------------------------

    def _inside(self, make: Callable[[], Lines], **changes: Any) -> Nested:
        """Make a nested block: its lines, the scope at its end and what it assigned."""
        outer, outer_assigned = self.scope, self.assigned
        names = {n: b for n, b in outer.names.items() if b.locked or not self.choices.chance(15)}
        protected = outer.protected | names.keys()
        self.scope = replace(outer.copy(), names=names, protected=protected, **changes)
        self.assigned = set()
        lines = make()
        inner, assigned = self.scope, self.assigned
        self.scope, self.assigned = outer, outer_assigned | assigned
        return lines, inner, assigned

    def _forget(self, assigned: set[str], kept: dict[str, Name]) -> None:
        """After a block that may not have run: names it used for something else are gone."""
        for name in assigned:
            if name not in kept:
                self.scope.names.pop(name, None)

    def _still_valid(self, assigned: set[str], inner: Scope) -> dict[str, Name]:
        """Names that the block assigned under the rules it found: they are as they were."""
        return {n: self.scope.names[n] for n in assigned & inner.protected if n in self.scope.names}

    def _if(self, depth: int) -> Lines:
        lines = [f"if {self.condition(2)}:"]
        sides: list[Nested] = [self._side(depth)]
        lines += _indent(sides[0][0])
        if self.choices.chance(25):
            lines.append(f"elif {self.condition(2)}:")
            sides.append(self._side(depth))
            lines += _indent(sides[-1][0])
        has_else = self.choices.chance(50)
        if has_else:
            lines.append("else:")
            sides.append(self._side(depth))
            lines += _indent(sides[-1][0])
        self._after_branches(sides, has_else)
        return lines

    def _side(self, depth: int) -> Nested:
        return self._inside(lambda: self._branch(depth))

    def _branch(self, depth: int) -> Lines:
        lines = self.block(2, depth - 1)
        jump = self._jump() if self.choices.chance(35) else None
        if jump is None:
            return lines
        self.jumps += 1
        return [*lines, jump]

    def _jump(self) -> str | None:
        loop, parallel = self.scope.loop, self.scope.parallel
        words: list[str] = []
        if loop:
            words.append("continue")
        if loop and loop not in ("grid", "parallel", "vectorize", "unroll"):
            words.append("break")
        if self.returns is not None and parallel is None and self.choices.chance(30):
            self.exits += 1
            return self.returns(self)
        if loop == "const_range":
            return None
        return self.choices.pick(words) if words else None

    def _after_branches(self, sides: list[Nested], has_else: bool) -> None:
        everything = set[str]().union(*(assigned for _, _, assigned in sides))
        valid: dict[str, Name] = {}
        for _, inner, assigned in sides:
            valid |= self._still_valid(assigned, inner)
        # A name that every side gave the same type is known afterwards.
        agreed = {
            name: sides[0][1].names[name]
            for name in everything
            if has_else
            and all(name in inner.names and name in assigned for _, inner, assigned in sides)
            and len({inner.names[name] for _, inner, _ in sides}) == 1
        }
        unsafe = {
            n for n in everything for _, inner, a in sides if n in a and n not in inner.protected
        }
        for name in everything:
            if name in agreed:
                self.scope.names[name] = agreed[name]
            elif name in unsafe or name not in valid:
                self.scope.names.pop(name, None)

    # -- loops ---------------------------------------------------------------------------------

    def _for(self, depth: int) -> Lines:
        word = self.choices.pick(("range", "range", "scan", "serial"))
        var, bounds = self._loop_name(), self._bounds()
        return self._loop(var, word, bounds, depth)

    def _loop_name(self) -> str:
        free = [n for n in LOOP_NAMES if n not in self.scope.protected]
        unused = [n for n in free if n not in self.scope.names]
        if unused and not self.choices.chance(15):
            return self.choices.pick(unused)
        return self.choices.pick(free) if free else self._fresh("i")

    def _loop(self, var: str, word: str, bounds: Bounds, depth: int) -> Lines:
        jumps, exits = self.jumps, self.exits
        binding = Name("int", bounds.low, bounds.high)
        fresh = set(SCALAR_NAMES) - self.ever

        def body() -> Lines:
            self.scope.names[var] = binding
            return self.block(3, depth - 1)

        trips = self.scope.trips * max(bounds.most, 1)
        lines, inner, assigned = self._inside(body, loop=word, trips=trips)
        kept = self._still_valid(assigned - {var}, inner)
        self.ever.add(var)
        self.assigned.add(var)
        self._forget(assigned | {var}, kept)
        if bounds.runs and self.exits == exits:
            # The last value stays, and so does what the body always assigns.
            stays = {var} if self.jumps > jumps else (fresh & assigned) | {var}
            found = {n: inner.names[n] for n in sorted(stays) if n in inner.names}
            self.scope.names |= found
            self.pinned |= {n: binding.type for n, binding in found.items()}
        return [f"for {var} in {word}({bounds.text}):", *_indent(lines)]

    def _bounds(self) -> Bounds:
        """Arguments of a range, seldom more than MAX_TRIPS rounds in the whole nest."""
        start, stop = self._bound(), self._bound()
        form = self.choices.below(6)
        if form <= 1:
            made = self._rising(Value("0", "int", 0, 0), stop, 1, stop.text)
        elif form == 2:
            made = self._rising(start, stop, 1, f"{start.text}, {stop.text}")
        elif form == 3:
            step = self.choices.pick(SMALL[1:])
            made = self._rising(start, stop, step, f"{start.text}, {stop.text}, {step}")
        else:
            made = self._falling(stop, start)
        if made.most * self.scope.trips <= MAX_TRIPS:
            return made
        count = self.choices.between(0, 2)
        return Bounds(str(count), 0, count - 1, count, count > 0)

    def _bound(self) -> Value:
        """A bound of a range: a size, a literal, or what an outer loop or variable says."""
        if self.choices.chance(60):
            axes = [(a, k) for a in self.scope.arrays.values() for k in range(len(a.shape))]
            if axes:
                array, axis = self.choices.pick(axes)
                extent = array.shape[axis]
                return Value(self.extent(array, axis), "int", extent, extent)
        if self.choices.chance(60):
            return clamp(self.int_expr(1), -2, 5)
        number = self.choices.between(0, 4)
        return Value(str(number), "int", number, number)

    def _rising(self, start: Value, stop: Value, step: int, text: str) -> Bounds:
        most = max(0, -(-(stop.high - start.low) // step))
        return Bounds(text, start.low, stop.high - 1, most, start.high < stop.low)

    def _falling(self, start: Value, stop: Value) -> Bounds:
        step = self.choices.pick((1, 1, 2, 3))
        first = Value(f"{start.text} - 1", "int", start.low - 1, start.high - 1)
        last = self.choices.pick((Value("-1", "int", -1, -1), stop))
        most = max(0, -(-(first.high - last.low) // step))
        text = f"{first.text}, {last.text}, -{step}"
        return Bounds(text, last.low + 1, first.high, most, first.low > last.high)

    def _grid(self, depth: int) -> Lines:
        sizes = [self._bound() for _ in range(2)]
        most = max(sizes[0].high, 0) * max(sizes[1].high, 0)
        exits = self.exits
        names = [n for n in LOOP_NAMES if n not in self.scope.protected]
        if most * self.scope.trips > MAX_TRIPS or len(names) < 2:
            return self._store(depth)
        a, b = names[:2]

        def body() -> Lines:
            for name, size in zip((a, b), sizes, strict=True):
                self.scope.names[name] = Name("int", 0, size.high - 1)
            return self.block(3, depth - 1)

        trips = self.scope.trips * max(most, 1)
        lines, inner, assigned = self._inside(body, loop="grid", trips=trips)
        kept = self._still_valid(assigned - {a, b}, inner)
        self.ever |= {a, b}
        self.assigned |= {a, b}
        self._forget(assigned | {a, b}, kept)
        if self.exits == exits and all(size.low > 0 for size in sizes):
            self.scope.names |= {n: inner.names[n] for n in (a, b) if n in inner.names}
        return [f"for {a}, {b} in grid({sizes[0].text}, {sizes[1].text}):", *_indent(lines)]

    def _expanded(self, depth: int) -> Lines:
        """Loops expanded while the script is read."""
        var = self._fresh("c")
        low, count = self.choices.between(-1, 1), self.choices.between(0, 3)
        if count and self.choices.chance(40):
            header = f"({', '.join(str(low + n) for n in range(count))},)"
        else:
            header = f"const_range({low}, {low + count})"

        def body() -> Lines:
            self.scope.names[var] = Name("int", low, low + count - 1, locked=True)
            return self.block(2, min(depth - 1, 1))

        lines, inner, assigned = self._inside(body, loop="const_range", trips=self.scope.trips * 3)
        self._forget(assigned | {var}, self._still_valid(assigned, inner))
        return [f"for {var} in {header}:", *_indent(lines)]

    def _while(self, depth: int) -> Lines:
        counter, limit = self._fresh("w"), self.choices.between(0, 4)
        if self.scope.trips * limit > MAX_TRIPS:
            return self._assign(depth)
        self.scope.names[counter] = Name("int", 0, limit, locked=True)
        endless = self.choices.chance(25)

        def body() -> Lines:
            # The test is read again after a round: it sees what the body may change.
            test = "True" if endless else self._while_test(counter, limit)
            self.jumps += endless
            return [test, *self.block(3, depth - 1)]

        trips = self.scope.trips * max(limit, 1)
        (test, *lines), inner, assigned = self._inside(body, loop="while", trips=trips)
        self._forget(assigned, self._still_valid(assigned, inner))
        leave = [f"if {counter} >= {limit}:", "    break"] if endless else []
        step = [*leave, f"{counter} += 1"]
        return [f"{counter} = 0", f"while {test}:", *_indent([*step, *lines])]

    def _while_test(self, counter: str, limit: int) -> str:
        test = f"{counter} < {limit}"
        return f"{test} and {self.condition(2)}" if self.choices.chance(50) else test

    def _independent(self, depth: int) -> Lines:
        """A loop whose rounds touch different rows and share no scalar."""
        arrays = [a for a in self._written_arrays() if a.shape and a.shape[0] > 0]
        if not arrays or self.wild:
            return self._store(depth)
        chosen = self.choices.pick(arrays)
        same = tuple(a.name for a in arrays if a.shape[0] == chosen.shape[0])
        extent = chosen.shape[0]
        if self.scope.trips * extent > MAX_TRIPS:
            return self._store(depth)
        word = self.choices.pick(("parallel", "unroll", "vectorize"))
        var = self._fresh("p")

        def body() -> Lines:
            locked = {n: replace(b, locked=True) for n, b in self.scope.names.items()}
            self.scope.names = locked | {var: Name("int", 0, extent - 1, locked=True)}
            rows = [n for n, a in self.scope.arrays.items() if a.writable and n not in same]
            self.scope.arrays = {n: a for n, a in self.scope.arrays.items() if n not in rows}
            return self.block(3, min(depth - 1, 1))

        trips = self.scope.trips * extent
        parallel = Parallel(var, same)
        lines, _, assigned = self._inside(body, loop=word, trips=trips, parallel=parallel)
        self._forget(assigned, {})
        return [f"for {var} in {word}({self.extent(chosen, 0)}):", *_indent(lines)]


def _may_fail_update(symbol: str, result: str, type: str) -> bool:
    """Right operands for which plain Python and scripts part ways; see `_may_fail` of exprs."""
    if symbol == "**" and not ty.is_int(result):
        return ty.is_weak(result) or not (ty.is_weak(type) or type == result)
    if symbol == "**":
        return ty.is_bool(type)
    if symbol in ("/", "//", "%") and ty.is_weak(result):
        return ty.is_complex(result) or ty.is_bool(type)
    if symbol in ("//", "%"):
        return ty.is_bool(type) and not ty.is_float(result)
    return symbol in ("<<", ">>") and ty.is_weak(result)


def _indent(lines: Lines) -> Lines:
    return [f"    {line}" for line in lines]
