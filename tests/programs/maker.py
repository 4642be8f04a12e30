"""What statements are made with: names to assign to, blocks inside blocks, guards around lines.

A name keeps its type wherever two of its assignments can reach one read: there, a script joins
their types and plain Python does not. Elsewhere names are used again with other types, on purpose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.programs.exprs import ExprMaker
from tests.programs.scope import Array, Name, Scope, Value

Lines = list[str]
# Makes a statement with at most so many levels in it; None if there is no place for it.
Statement = Callable[["Maker", int], Lines | None]

SCALAR_NAMES = ("x", "y", "s", "t", "u")
# The interval that an int variable keeps when it is assigned again.
# The last is a counter's: 150 rounds of a few additions of at most COUNT_STEP.
COUNT_STEP, COUNT_RANGE = 20, 100_000
INTERVALS = ((0, 3), (-20, 20), (-1000, 1000), (-COUNT_RANGE, COUNT_RANGE))
# So often another kind of statement is drawn where one has no place.
DRAWS = 5


@dataclass(frozen=True, slots=True)
class Nested:
    """A block that was made, the scope at its end and what it assigned."""

    lines: Lines
    scope: Scope
    assigned: set[str]


@dataclass
class Maker(ExprMaker):
    """Makes blocks of statements, and keeps track of what they leave behind."""

    simple: Mapping[str, Statement] = field(default_factory=dict[str, Statement])
    nesting: Mapping[str, Statement] = field(default_factory=dict[str, Statement])
    returns: Callable[[Maker], str] | None = None
    assigned: set[str] = field(default_factory=set[str])
    ever: set[str] = field(default_factory=set[str])  # names assigned anywhere so far
    # Names read after a loop that a script cannot know to have run: their type is for good.
    pinned: dict[str, str] = field(default_factory=dict[str, str])
    unique: int = 0
    has_effects: bool = False
    order: int = 0  # how many loops over one size stand inside each other
    drawn: Counter[str] = field(default_factory=Counter[str])  # kinds of statements

    def block(self, size: int, depth: int) -> Lines:
        """A few statements; `depth` is how many more levels may be nested."""
        lines: Lines = []
        for _ in range(self.choices.between(1, size)):
            lines += self.statement(depth)
        return lines

    def statement(self, depth: int) -> Lines:
        """A statement of a kind that the style has."""
        weights = self.style.statements
        if depth <= 0:
            weights = {kind: n for kind, n in weights.items() if kind in self.simple}
        for _ in range(DRAWS):
            lines = self.make(self.choices.weighted(weights), depth)
            if lines is not None:
                return lines
        lines = self.make(next(iter(weights)), depth)
        return ["pass"] if lines is None else lines

    def make(self, kind: str, depth: int) -> Lines | None:
        """A statement of this kind, if it has a place here."""
        found = self.simple.get(kind) or self.nesting[kind]
        lines = found(self, depth)
        self.drawn[kind] += lines is not None
        return lines

    def fresh(self, prefix: str) -> str:
        """A name that is not used elsewhere."""
        self.unique += 1
        return f"{prefix}{self.unique}"

    def bind(self, name: str, binding: Name) -> None:
        """Know the name as what was assigned to it."""
        self.scope.names[name] = binding
        self.assigned.add(name)
        self.ever.add(name)

    # -- names to assign to --------------------------------------------------------------------

    def target(self) -> tuple[str, Name]:
        """A name to assign to and what may be put there."""
        free = [name for name in SCALAR_NAMES if name not in self.scope.protected]
        kept = [n for n in self.scope.protected if self.is_assignable(n)]
        if kept and (not free or self.choices.chance(50)):
            name = self.choices.pick(sorted(kept))
            return name, self.scope.names[name]
        name = self.choices.pick(free) if free else self.fresh("z")
        return name, self.new_name(self.pinned.get(name))

    def is_assignable(self, name: str) -> bool:
        binding = self.scope.names.get(name)
        return binding is not None and not binding.locked and binding.low <= binding.high

    def is_updatable(self, name: str) -> bool:
        binding = self.scope.names[name]
        is_ours = name not in self.scope.protected or self.is_assignable(name)
        return is_ours and not binding.locked and binding.type not in ("bool", "complex")

    def new_name(self, type: str | None = None) -> Name:
        type = type or self.choices.pick(self.types_here())
        low, high = self.choices.pick(INTERVALS) if type == "int" else (0, 0)
        return Name(type, low, high)

    def fitting(self, name: Name, depth: int) -> Value:
        """A value for a variable; a counter starts small, for it grows."""
        is_counter = name.high >= COUNT_RANGE
        return super().fitting(replace(name, low=-99, high=99) if is_counter else name, depth)

    def written_arrays(self) -> list[Array]:
        """The arrays that may be stored to here."""
        parallel = self.scope.parallel
        return [
            array
            for array in self.scope.arrays.values()
            if array.writable
            and (not array.readable or self.readable(array))
            and (parallel is None or array.name in parallel.places or array.name.startswith("l"))
        ]

    # -- blocks --------------------------------------------------------------------------------

    def inside(self, make: Callable[[], Lines], **changes: Any) -> Nested:
        """Make a nested block."""
        outer, outer_assigned = self.scope, self.assigned
        names = {n: b for n, b in outer.names.items() if b.locked or not self.choices.chance(15)}
        protected = outer.protected | names.keys()
        self.scope = replace(outer.copy(), names=names, protected=protected, **changes)
        self.assigned = set()
        made = Nested(make(), self.scope, self.assigned)
        self.scope, self.assigned = outer, outer_assigned | made.assigned
        return made

    def forget(self, assigned: set[str], kept: dict[str, Name]) -> None:
        """After a block that may not have run: names it used for something else are gone."""
        for name in assigned:
            if name not in kept:
                self.scope.names.pop(name, None)

    def still_valid(self, assigned: set[str], inner: Scope) -> dict[str, Name]:
        """Names that the block assigned under the rules it found: they are as they were."""
        return {n: self.scope.names[n] for n in assigned & inner.protected if n in self.scope.names}

    def guarded(self, make: Callable[[], Lines]) -> Lines:
        """Lines, and around them what must hold for their indices to be in bounds."""
        lines, guards = self.collected(make)
        percent = self.style.conditional
        if percent and self.scope.loops and self.choices.chance(percent):
            guards.append(self.condition(1))
        if len(guards) > 1 and self.choices.chance(25):
            for guard in reversed(guards):
                lines = [f"if {guard}:", *indent(lines)]
            return lines
        return [f"if {' and '.join(guards)}:", *indent(lines)] if guards else lines


def indent(lines: Lines) -> Lines:
    return [f"    {line}" for line in lines]
