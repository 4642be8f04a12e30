"""What an expression of the source stands for while it is being translated."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from types import ModuleType
from typing import Any

from hybridjit.ir.dtype import DType, ScalarType
from hybridjit.ir.expr import Buffer, Expr
from hybridjit.ir.extern import Extern, ExternFamily
from hybridjit.record import record
from hybridjit.scalars.kinds import type_name
from hybridjit.scalars.scalar import Scalar

INDEX_NAMES = "ijklmnpq"


@record
class Array:
    """An array, or, with indices for its first dimensions, a part of one: `a[i]` of `a[i][j]`."""

    buffer: Buffer
    indices: tuple[Expr, ...] = ()

    @property
    def shape(self) -> tuple[Expr, ...]:
        """The dimensions that no index is given for."""
        return self.buffer.shape[len(self.indices) :]


@record
class Place:
    """Where a view is in one dimension of what it shows: `start + step * i`.

    `i` is the index along the view's `axis`; without an axis, the view stays at `start`.
    """

    start: Expr
    step: int | Expr = 1
    axis: int | None = None


@record(eq=False)
class View:
    """Some elements of a buffer, as an array of their own: `a[1:, None]`, `a.T`."""

    buffer: Buffer
    places: tuple[Place, ...]
    shape: tuple[Expr, ...]

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self.buffer.dtype


@record(eq=False)
class ArrayExpr:
    """An array that is computed: each element on its own, when and where it is needed.

    `element` gives the element at some indices; statements that it needs are emitted. `buffer` is
    the memory that holds it already, and that nothing else refers to. With a `mask`, only the
    elements where it is true are there.

    `shown` is memory that the elements are read from, where NumPy would make a view of it; or, if
    `may_be_copy`, a view or a copy, whichever the strides of an argument allow; `arranged` says of
    what NumPy makes it. `part_of` is memory that NumPy would show a part of, as in `z.real`, where
    this is computed from it.
    """

    shape: tuple[Expr, ...]
    dtype: DType
    element: Callable[[Sequence[Expr]], Scalar]
    buffer: Buffer | None = None
    shown: Buffer | None = None
    may_be_copy: bool = False
    arranged: Arranged | None = None
    part_of: Buffer | None = None
    mask: Mask | None = None


@record(eq=False)
class Arranged:
    """The elements of an array in row-major order: what NumPy's method `way` gives of it."""

    source: Array | View
    way: str


@record(eq=False)
class Mask:
    """Which elements of an array of some `shape` are there: where `chosen` is true.

    That has the axes from `first` on; together they become one axis of what is selected.
    """

    chosen: ArrayExpr
    first: int
    shape: tuple[Expr, ...]

    @property
    def last(self) -> int:
        """The axis after those of `chosen`."""
        return self.first + len(self.chosen.shape)

    def element(self, indices: Sequence[Expr]) -> Scalar:
        """Whether the element at some indices of the array is there."""
        return self.chosen.element(indices[self.first : self.last])

    def without(self, parts: Sequence[Expr], *instead: Expr) -> tuple[Expr, ...]:
        """What belongs to the axes of the array, `instead` for those of the mask."""
        return (*parts[: self.first], *instead, *parts[self.last :])


@record
class Items:
    """A tuple or list whose length and elements are known now.

    `fields` are the names of the items: of a named tuple, a dataclass, or `self` of a method.
    `maker` is the class of such a tuple; one that `is_given` is an argument.
    `origin` is where the script makes a list: one that it changes later is a `GrowingList`.
    """

    items: tuple[Value, ...]
    is_list: bool = field(default=False, compare=False)
    fields: tuple[str, ...] | None = None
    maker: Any = None  # a type; type checkers would take a field of that type for a method
    origin: Origin | None = field(default=None, compare=False)
    is_given: bool = field(default=False, compare=False)


Origin = tuple[tuple[tuple[int, int], ...], ast.expr]
"""An expression, in one of the copies that expanded loops and inlined calls make of it."""

ItemPlace = tuple[int, ...]
"""Where a number stands in an item of a list: (1, 0) for x of (t, (x, y)), () for the item itself.
"""


@record(eq=False)
class Column:
    """The numbers at one place of the items of a list: a growing array."""

    buffer: Buffer
    type: ScalarType


@record(eq=False)
class GrowingList:
    """A list of numbers, or of tuples of numbers, whose length is known when the script runs.

    There are no `columns` as long as it is not known what is put into it. `origin` is the
    expression that makes it.
    """

    name: str
    origin: Origin
    count: Buffer
    columns: dict[ItemPlace, Column]


@record
class GivenList:
    """A list that a printed function returns, by the arrays that are given away in its stead."""

    columns: tuple[tuple[Array, ItemPlace, bool], ...]


@record
class RandomGenerator:
    """A generator of random numbers, by the array that its state lies in."""

    state: Array


@record
class Text:
    """A string: a message, a dtype or a scope name."""

    text: str


@record
class ElementType:
    """An element type, as `a.dtype` or `np.float32`."""

    dtype: DType


@record
class PythonType:
    """One of Python's bool, int, float and complex."""

    type: ScalarType


@record
class Builtin:
    """A function or constant of the language, by name."""

    name: str


@record
class NumpyFunction:
    """A function of numpy or math that stands for a function of the language."""

    name: str
    module: str


@record
class ArrayFunction:
    """A function of numpy on whole arrays: a reduction, a product, or one that makes an array."""

    name: str


@record
class Callee:
    """A function whose body is inlined where it is called. A script's options stay its own.

    One that `is_elementwise` is for numbers, and is applied to each element of an array.
    """

    pyfunc: Any  # a FunctionType; type checkers would take a field of that type for a method
    is_elementwise: bool = False


@record
class InnerFunction:
    """A function that is defined inside of the one being translated, or inside of one it calls.

    It reads the names of that, as they are when it is called, in its frame, the `definer`.
    """

    node: ast.FunctionDef
    definer: Any  # a Frame, which knows values
    defaults: tuple[tuple[str, Value], ...] = ()


@record
class ExternValue:
    """A C function or a Python callback."""

    extern: Extern | ExternFamily


@record
class Module:
    """A Python module, for what can be reached through it."""

    module: ModuleType


@record
class Nothing:
    """None."""


@record
class Method:
    """A method of a value, to be called."""

    owner: Value
    name: str


@record
class Records:
    """A structured array of `ndim` dimensions: an array for each field, which may have more."""

    fields: tuple[str, ...]
    columns: tuple[Value, ...]
    ndim: int

    @property
    def shape(self) -> tuple[Expr, ...]:
        first = self.columns[0]
        assert isinstance(first, (Array, View, ArrayExpr, Records))
        return first.shape[: self.ndim]


@record
class SliceValue:
    """`slice(start, stop, step)`: numbers, or nothing."""

    start: Value
    stop: Value
    step: Value


@record
class Foreign:
    """A Python object that the language has no use for; the error comes when it is used."""

    value: object = field(repr=False)


Value = (
    Scalar
    | Array
    | View
    | ArrayExpr
    | Items
    | Records
    | GrowingList
    | GivenList
    | RandomGenerator
    | Text
    | ElementType
    | PythonType
    | Builtin
    | NumpyFunction
    | ArrayFunction
    | Callee
    | InnerFunction
    | ExternValue
    | Module
    | Nothing
    | Method
    | SliceValue
    | Foreign
)


AnyArray = Array | View | ArrayExpr


def buffers_of(value: object) -> Iterator[Buffer]:
    """The memory that what a name stands for lies in."""
    match value:
        case Array(buffer) | View(buffer) | ArrayExpr(shown=Buffer() as buffer):
            yield buffer
        case RandomGenerator(state):
            yield state.buffer
        case GrowingList(count=count, columns=columns):
            yield count
            yield from (column.buffer for column in columns.values())
        case Items(items) | Records(_, items):
            for item in items:
                yield from buffers_of(item)
        case _:
            pass


_KINDS: dict[type, str] = {
    RandomGenerator: "a generator of random numbers",
    Records: "a structured array",
    SliceValue: "a slice",
}


def describe(value: Value) -> str:
    """`value` in the user's words, for messages."""
    match value:
        case Nothing():
            return "None"
        case Scalar(_, type):
            return f"a {type} value"
        case Array() | View() | ArrayExpr():
            return _describe_array(value)
        case Items() | GrowingList() | GivenList():
            return _describe_items(value)
        case RandomGenerator() | Records() | SliceValue():
            return _KINDS[value.__class__]
        case Text(text):
            return f"the string {text!r}"
        case ElementType(dtype):
            return f"the dtype {dtype}"
        case PythonType(type):
            return f"the type {str(type).removeprefix('Python ')}"
        case Foreign(found):
            return f"a Python {type_name(found)}"
        case _:
            return _describe_callable(value)


def _describe_items(value: Items | GrowingList | GivenList) -> str:
    if isinstance(value, GrowingList):
        return f"the list '{value.name}'"
    if isinstance(value, GivenList):
        return "a list"
    return f"a {'list' if value.is_list else 'tuple'} of {len(value.items)}"


def _describe_array(value: AnyArray) -> str:
    match value:
        case Array(buffer, ()):
            return f"the array '{buffer.name}'"
        case Array(buffer) | View(buffer):
            return f"a part of the array '{buffer.name}'"
        case ArrayExpr(shape):
            return f"an array of {len(shape)} dimension{'s' * (len(shape) != 1)}"


def _describe_callable(
    value: Builtin
    | NumpyFunction
    | ArrayFunction
    | Callee
    | InnerFunction
    | ExternValue
    | Module
    | Method,
) -> str:
    match value:
        case Builtin(name) | NumpyFunction(name) | ArrayFunction(name):
            return f"the function '{name}'"
        case Callee(pyfunc):
            return f"the function '{pyfunc.__name__}'"
        case InnerFunction(node):
            return f"the function '{node.name}'"
        case ExternValue(extern):
            return f"the extern function '{extern.name}'"
        case Module(module):
            return f"the module '{module.__name__}'"
        case Method(_, name):
            return f"the method '{name}'"
