"""What a random program knows at one point: names, arrays and helpers, and what they may hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tests.programs.types import is_complex, is_float

# Python ints have no bounds and int64 wraps: values of type int stay far from the end of int64.
MAX_INT = 1 << 40


@dataclass(frozen=True, slots=True)
class Value:
    """The text of an expression, its type, and for Python ints the interval of its values.

    That is `low` up to `high`, or up to `factor * size + high` with one of the sizes that a program
    is run at, which is 0 or more.
    """

    text: str
    type: str
    low: int = 0
    high: int = 0
    size: str = ""
    factor: int = 1

    @property
    def is_empty(self) -> bool:
        """True if there is no such value: no iteration gets here."""
        return not self.size and self.low > self.high

    def fits(self, low: int, high: int) -> bool:
        """True if every value is in the interval; an empty interval is in every other."""
        return self.is_empty or (not self.size and low <= self.low and self.high <= high)

    def moved(self, text: str, low: int, high: int | None = None) -> Value:
        """Another text, whose values are this much larger."""
        high = low if high is None else high
        return replace(self, text=text, low=self.low + low, high=self.high + high)


@dataclass(frozen=True, slots=True)
class Extent:
    """The length of an axis: `factor * size + pad`, at least 0; without a size it is `pad`."""

    pad: int
    size: str = ""
    factor: int = 1

    def at(self, sizes: Mapping[str, int]) -> int:
        """The number that it is when the program runs at these sizes."""
        return max(0, self.pad + (self.factor * sizes[self.size] if self.size else 0))

    def ends_after(self, value: Value) -> bool:
        """True if no value is too large for an index, whatever the sizes are."""
        in_size = not value.size or (value.size == self.size and value.factor <= self.factor)
        return value.is_empty or (in_size and value.high < self.pad)

    def holds(self, value: Value) -> bool:
        """True if every value is an index, perhaps one that counts from the end."""
        lowest = 0 if self.size else -self.pad
        return value.is_empty or (value.low >= lowest and self.ends_after(value))

    def text(self, names: Mapping[str, str]) -> str:
        """It as a program says it that calls its sizes by these names."""
        if not self.size:
            return str(self.pad)
        name = names[self.size]
        scaled = name if self.factor == 1 else f"{self.factor} * {name}"
        return scaled if not self.pad else f"{scaled} {'+-'[self.pad < 0]} {abs(self.pad)}"


@dataclass(frozen=True, slots=True)
class Name:
    """A scalar variable: what may be assigned to it while others rely on it."""

    type: str
    low: int = 0
    high: int = 0
    locked: bool = False
    size: str = ""

    def value(self, name: str) -> Value:
        return Value(name, self.type, self.low, self.high, self.size)


@dataclass(frozen=True, slots=True)
class Array:
    """An array variable, and the lengths of its axes."""

    name: str
    type: str
    shape: tuple[Extent, ...]
    writable: bool = True
    readable: bool = True

    @property
    def is_empty(self) -> bool:
        """True if it has no elements at any size."""
        return any(not extent.size and extent.pad <= 0 for extent in self.shape)


@dataclass(frozen=True, slots=True)
class Helper:
    """A function to be inlined, and the names and arrays that it must be given."""

    name: str
    params: tuple[Name | Array, ...]
    result: str
    low: int = 0
    high: int = 0
    has_effects: bool = False
    always_stores: bool = False  # so that it may be called for its effect alone


@dataclass(frozen=True, slots=True)
class Parallel:
    """Inside a loop whose rounds share nothing: the first index of each array that is ours."""

    places: Mapping[str, str]


@dataclass(slots=True)
class Scope:
    """The names that may be read here, and those that outer blocks rely on."""

    names: dict[str, Name] = field(default_factory=dict[str, Name])
    arrays: dict[str, Array] = field(default_factory=dict[str, Array])
    protected: frozenset[str] = frozenset()
    parallel: Parallel | None = None
    loop: str = ""  # the word of the innermost loop, "" outside
    loops: tuple[str, ...] = ()  # the variables of the loops around, outermost first
    trips: int = 1  # how often this block may run

    def copy(self) -> Scope:
        return replace(self, names=dict(self.names), arrays=dict(self.arrays))


def constant_shape(*numbers: int) -> tuple[Extent, ...]:
    """A shape that is the same whenever the program runs."""
    return tuple(Extent(number) for number in numbers)


def can_store(source: str, to: str) -> bool:
    """True if assigning `source` to an element of `to` has a defined value in NumPy.

    Floats become integers by a C cast, undefined out of range: scripts saturate. Programs cast.
    """
    if is_complex(source):
        return is_complex(to) or to == "np.bool_"
    return not is_float(source) or is_float(to) or is_complex(to) or to == "np.bool_"
