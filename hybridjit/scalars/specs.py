"""What a script is specialised for: the types and shapes of its arguments."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from hybridjit.ir.dtype import INT64, DType, ScalarType
from hybridjit.record import record

# The state of a generator of random numbers: two numbers of 128 bits, and what is left of a draw.
STATE_SIZE = 6


@record
class ArraySpec:
    """An array argument: its element type, and for each dimension a size or the name of one.

    Dimensions of one name are equal, and known only when the kernel runs.
    """

    dtype: DType
    shape: tuple[int | str, ...]

    def __str__(self) -> str:
        entries = ", ".join(repr(entry) for entry in self.shape)
        return f"{self.dtype}[{entries or '()'}]"

    __repr__ = __str__


@record
class ScalarSpec:
    """A scalar argument, known only when the kernel runs."""

    type: ScalarType

    def __str__(self) -> str:
        return str(self.type)


@record
class TupleSpec:
    """A tuple or list of arguments; its length is a constant of the specialisation.

    `fields` are the names of the items: of a named tuple, a dataclass, or `self` of a method. Those
    of `records` are the fields of a structured array of so many dimensions, an array for each.
    `maker` is the class of a named tuple or a dataclass.
    """

    items: tuple[Spec, ...]
    fields: tuple[str, ...] | None = None
    records: int | None = None
    is_list: bool = False
    maker: Any = None  # a type; type checkers would take a field of that type for a method

    def __str__(self) -> str:
        if self.is_list:
            return f"[{', '.join(str(item) for item in self.items)}]"
        if self.fields is not None:
            named = zip(self.fields, self.items, strict=True)
            return f"({', '.join(f'{name}={item}' for name, item in named)})"
        return f"({', '.join(str(item) for item in self.items)})"


@record
class ConstantSpec:
    """An argument whose value is part of the specialisation: a string, a dtype, None, a function,
    a number that the script has to know before it runs.

    A function can be given other code: `state` is what it consists of, and `parts` its identities.
    An int that arrays are made with `is_size`: as the extents of arrays that are passed, it is a
    part of the code until it varies.
    """

    value: object
    parts: tuple[int, ...] = ()
    state: tuple[object, ...] = field(default=(), compare=False, repr=False)
    is_size: bool = field(default=False, compare=False, repr=False)

    def __eq__(self, other: object) -> bool:
        """Equal values of other types, as 1 and np.int8(1), mean something else to a script."""
        return (
            isinstance(other, ConstantSpec)
            and type(self.value) is type(other.value)
            and (self.value, self.parts) == (other.value, other.parts)
        )

    def __hash__(self) -> int:
        return hash((self.value, self.parts))

    def __str__(self) -> str:
        return repr(self.value)


@record
class GeneratorSpec:
    """A generator of random numbers, `np.random.Generator`: its state is read and written back."""

    def __str__(self) -> str:
        return "np.random.Generator"


Spec = ArraySpec | ScalarSpec | TupleSpec | ConstantSpec | GeneratorSpec


# What a size is once it varies: a Python int.
SIZE_SPEC = ScalarSpec(ScalarType(INT64, weak=True))


def with_free_sizes(specs: tuple[Spec, ...]) -> tuple[Spec, ...]:
    """The specs with ints that are sizes left to run time."""
    return tuple(SIZE_SPEC if is_known_size(spec) else spec for spec in specs)


def is_known_size(spec: Spec) -> bool:
    """Whether it is an int that arrays are made with, and a part of the code."""
    return isinstance(spec, ConstantSpec) and spec.is_size


def holds_integers(spec: Spec) -> bool:
    """Whether it is an integer or a flag that is known only when the kernel runs, or holds one."""
    match spec:
        case ScalarSpec(type):
            return type.dtype.is_integer or type.dtype.is_bool
        case TupleSpec(items):
            return any(map(holds_integers, items))
        case _:
            return False


def holds_more_than_numbers(spec: Spec) -> bool:
    """Whether it is a tuple or a list some of whose items are no numbers."""
    return isinstance(spec, TupleSpec) and not all(
        isinstance(item, ScalarSpec) for item in spec.items
    )
