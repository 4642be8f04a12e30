"""What a random program knows at one point: names, arrays and helpers, and what they may hold."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tests.programs.types import is_complex, is_float

# Python ints have no bounds and int64 wraps: values of type int stay far from the end of int64.
MAX_INT = 1 << 40


@dataclass(frozen=True, slots=True)
class Value:
    """The text of an expression, its type, and for Python ints the interval of its values."""

    text: str
    type: str
    low: int = 0
    high: int = 0

    def fits(self, low: int, high: int) -> bool:
        """True if every value is in the interval; an empty interval is in every other."""
        return self.low > self.high or (low <= self.low and self.high <= high)


@dataclass(frozen=True, slots=True)
class Name:
    """A scalar variable: what may be assigned to it while others rely on it."""

    type: str
    low: int = 0
    high: int = 0
    locked: bool = False

    def value(self, name: str) -> Value:
        return Value(name, self.type, self.low, self.high)


@dataclass(frozen=True, slots=True)
class Array:
    """An array variable, its shape known here and named `a.shape[k]` in the program."""

    name: str
    type: str
    shape: tuple[int, ...]
    writable: bool = True


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
    """Inside a parallel loop: its variable, and the arrays whose row of that index is ours."""

    var: str
    arrays: tuple[str, ...]


@dataclass(slots=True)
class Scope:
    """The names that may be read here, and those that outer blocks rely on."""

    names: dict[str, Name] = field(default_factory=dict[str, Name])
    arrays: dict[str, Array] = field(default_factory=dict[str, Array])
    protected: frozenset[str] = frozenset()
    parallel: Parallel | None = None
    loop: str = ""  # the word of the innermost loop, "" outside
    trips: int = 1  # how often this block may run

    def copy(self) -> Scope:
        return replace(self, names=dict(self.names), arrays=dict(self.arrays))


def can_store(source: str, to: str) -> bool:
    """True if assigning `source` to an element of `to` has a defined value in NumPy.

    Floats become integers by a C cast, undefined out of range: scripts saturate. Programs cast.
    """
    if is_complex(source):
        return is_complex(to) or to == "np.bool_"
    return not is_float(source) or is_float(to) or is_complex(to) or to == "np.bool_"
