"""The names of the language, as Python objects: imported, a script runs as plain Python.

`from hybridjit.hybrid import parallel, output_tensor, exp` keeps editors and type checkers content;
without the import the names mean the same inside a script. What each means to the compiler is
said in calls.py and loops.py; here is what it does when the function is simply executed.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, SupportsIndex, TypeVar
from typing import cast as cast_type

import numpy as np
from numpy.typing import NDArray

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.interp.scalars import apply_intrinsic, cast
from hybridjit.ir.dtype import DTYPES, DType, find_dtype
from hybridjit.ir.intrinsics import INTRINSICS, Domain
from hybridjit.scalars.specs import ArraySpec

T = TypeVar("T")
DTypeLike = Any
# Hints of a schedule, in printed programs.
Hints = Mapping[str, bool | int | float | str] | None


# -- loops -----------------------------------------------------------------------------------------


def serial(*bounds: int, annotations: Hints = None) -> range:
    """`range`: iterations run in order."""
    return range(*bounds)


def parallel(*bounds: int, annotations: Hints = None, unsafe: bool = False) -> range:
    """A loop whose iterations may run on several threads.

    That no iteration depends on another is proved, or the script is refused. With `unsafe=True`
    nobody asks: where iterations do depend on each other, results are whatever they happen to be.
    """
    return range(*bounds)


def prange(*bounds: int, annotations: Hints = None, unsafe: bool = False) -> range:
    """`parallel`, by the name that Numba has for it."""
    return range(*bounds)


def vectorize(*bounds: int, annotations: Hints = None) -> range:
    """A loop whose iterations run as lanes of vector instructions."""
    return range(*bounds)


def unroll(*bounds: int, annotations: Hints = None) -> range:
    """A loop that is replaced by one copy of its body per iteration when it is compiled."""
    return range(*bounds)


def const_range(*bounds: int) -> range:
    """A loop that is expanded while the script is read: its variable can index a tuple."""
    return range(*bounds)


def scan(*bounds: int, annotations: Hints = None) -> range:
    """A loop that carries state from one step to the next. In a `block`: a scan iteration."""
    return range(*bounds)


def bind(*arguments: Any, annotations: Hints = None) -> range:
    """`bind(n, "threadIdx.x")`: a loop bound to a thread axis; on a CPU, an ordinary loop.

    TVM's order, `bind("threadIdx.x", n)`, is understood, too.
    """
    return range(*arguments[1:] if isinstance(arguments[0], str) else arguments[:-1])


def grid(*extents: int) -> Iterable[Any]:
    """Nested loops in one line: `for i, j in grid(n, m)`; with one extent, `for i in grid(n)`."""
    if len(extents) == 1:
        return range(extents[0])
    return itertools.product(*(range(extent) for extent in extents))


# -- memory ----------------------------------------------------------------------------------------


def allocate(
    shape: int | Sequence[int],
    dtype: DTypeLike = "float32",
    scope: str = "global",
    zero: bool = True,
) -> NDArray[Any]:
    """A scratch array, zero unless `zero` is false; each execution makes a new one."""
    return np.zeros(shape, numpy_dtype(dtype)) if zero else np.empty(shape, numpy_dtype(dtype))


def output_tensor(shape: int | Sequence[int], dtype: DTypeLike = "float32") -> NDArray[Any]:
    """An array of zeros to be returned."""
    return np.zeros(shape, numpy_dtype(dtype))


def constant_array(
    values: Any, dtype: DTypeLike, shape: Sequence[int] | None = None
) -> NDArray[Any]:
    """A read-only array whose elements are part of the function; an empty one needs its shape."""
    array = np.array(values, numpy_dtype(dtype))
    if shape is not None:
        array = np.reshape(array, tuple(shape))
    array.flags.writeable = False
    return array


def part(array: NDArray[Any], starts: Sequence[int], shape: Sequence[int | None]) -> NDArray[Any]:
    """A view of the elements from `starts` on; None in the shape leaves a dimension out."""
    places: list[int | slice] = []
    for start, extent, size in zip(starts, shape, array.shape, strict=True):
        if extent is not None and not 0 <= start <= size - extent <= size:
            raise IndexError(f"{extent} elements from {start} on do not fit in an axis of {size}")
        places.append(start if extent is None else slice(start, start + extent))
    return array[(*places, ...)]


# -- blocks ----------------------------------------------------------------------------------------


def block(name: str, *iters: Any, **options: Any) -> AbstractContextManager[tuple[Any, ...]]:
    """`with block("name"):` names a computation, so that a schedule can find it."""
    return nullcontext(iters)


def init() -> AbstractContextManager[None]:
    """`with init():` inside a block: what to do before the first reduction step."""
    raise RuntimeError("a block with init() has no plain-Python meaning; use .interpret()")


def spatial(value: T, *domain: int) -> T:
    """Mark a block's iteration as spatial: each value touches other elements."""
    return value


def reduce(value: T, *domain: int) -> T:
    """Mark a block's iteration as a reduction."""
    return value


# -- values ----------------------------------------------------------------------------------------


def likely(condition: T) -> T:
    """`condition`, which is true almost always."""
    return condition


def ceil_div(a: int, b: int) -> int:
    """a / b rounded up."""
    return -(-a // b)


def rng(seed: int, stream: int) -> np.random.Generator:
    """A generator of random numbers for one of many streams: `default_rng([seed, stream])`.

    In a parallel loop each iteration draws from a stream of its own, so that what comes out does
    not depend on the number of threads.
    """
    return np.random.default_rng([seed, stream])


def select(condition: Any, then: T, otherwise: T) -> T:
    """`then if condition else otherwise`."""
    return then if condition else otherwise


def power(base: Any, exponent: Any) -> Any:
    """`base ** exponent`."""
    return base**exponent


class ElementTypeObject:
    """An element type such as `float32`: call it to convert, index it to describe an array.

    `float32(x)` converts a scalar; `a: float32["n", 64]` fixes an argument's type and shape.
    """

    def __init__(self, dtype: DType) -> None:
        self.dtype = dtype

    def __call__(self, value: Any, imag: Any = None, *, checked: bool | None = None) -> Any:
        """`value` converted: a Python int must fit, other integers wrap, floats saturate.

        A complex type also takes two real numbers, the real and the imaginary part.
        """
        if imag is not None:
            part = self.dtype.component
            return apply_intrinsic("complex", cast(value, part), cast(imag, part))
        if checked is None:
            checked = type(value) is int
        return cast(value, self.dtype, checked=checked and self.dtype.is_integer)

    def __getitem__(
        self, shape: SupportsIndex | str | tuple[SupportsIndex | str, ...]
    ) -> ArraySpec:
        entries = shape if isinstance(shape, tuple) else (shape,)
        return ArraySpec(self.dtype, tuple(map(self._dimension, entries)))

    def _dimension(self, entry: Any) -> int | str:
        if isinstance(entry, str):
            return entry
        if isinstance(entry, bool) or not hasattr(entry, "__index__"):
            raise ArgumentError(
                f"a dimension of {self}[...] is a size or the name of one, found {entry!r}",
                help=f'write it as in {self}[64, "n"]; the size "n" is known at run time only',
            )
        size = operator.index(entry)
        if size < 0:
            raise ArgumentValueError(f"a dimension of {self}[...] must not be negative: {size}")
        return size

    def __repr__(self) -> str:
        return self.dtype.name


def find_element_type(value: object) -> DType | None:
    """The element type that an object names: one of ours, a NumPy scalar type or dtype."""
    if isinstance(value, ElementTypeObject):
        return value.dtype
    is_scalar_type = isinstance(value, type) and issubclass(value, np.generic)
    if not is_scalar_type and not isinstance(value, np.dtype):
        return None
    try:
        return find_dtype(np.dtype(cast_type("type[np.generic[Any]] | np.dtype[Any]", value)))
    except TypeError:  # an abstract type such as np.generic
        return None


def numpy_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """The NumPy dtype that a dtype argument means: a name, a NumPy type, or one of ours."""
    if isinstance(dtype, ElementTypeObject):
        return dtype.dtype.numpy
    if isinstance(dtype, str) and dtype in DTYPES:
        return DTYPES[dtype].numpy
    found = find_dtype(np.dtype(dtype))
    if found is None:
        raise TypeError(f"{dtype!r} is not an element type of the language: {', '.join(DTYPES)}")
    return found.numpy


def _math_function(name: str) -> Callable[..., Any]:
    of_floats = INTRINSICS[name].domain in (Domain.FLOAT, Domain.INEXACT)

    def function(*args: Any) -> Any:
        if not any(isinstance(arg, np.generic) for arg in args):
            return _on_python_numbers(name, args)
        dtype = _float_type(args) if of_floats else np.result_type(*args)
        return apply_intrinsic(name, *(dtype.type(arg) for arg in args))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The function {name} of the language, on one scalar or more."
    return function


def _float_type(args: Sequence[Any]) -> np.dtype[Any]:
    """The type in which NumPy's ufuncs meet: int8 fits float16, and so does uint8."""
    if all(isinstance(arg, np.generic) for arg in args):
        args = [
            np.result_type(arg, np.float16) if arg.dtype.kind in "biu" else arg.dtype
            for arg in args
        ]
    dtype = np.result_type(*args)
    return np.result_type(dtype, np.float16) if dtype.kind in "biu" else dtype


def _on_python_numbers(name: str, args: Sequence[Any]) -> Any:
    if INTRINSICS[name].domain in (Domain.FLOAT, Domain.INEXACT):
        args = [arg if isinstance(arg, complex) else float(arg) for arg in args]
    elif any(isinstance(arg, float) for arg in args):
        args = [float(arg) for arg in args]
    else:
        args = [+arg for arg in args]  # a bool is an int
    return apply_intrinsic(name, *args).item()


# Functions that Python has under the same name, and which Python's own serve.
PYTHON_NAMES = (
    *("range", "len", "min", "max", "abs", "round", "print", "pow"),
    *("bool", "int", "float", "complex"),
)


MAX_NUM_THREADS = 1024  # as many as a block of threads has on GPUs


class Infinity(float):
    """`inf`, the number; `inf(dtype)` is the largest value of a type, as TVM has it."""

    def __call__(self, dtype: DTypeLike) -> Any:
        return extreme(find_element_dtype(dtype), least=False)


def ninf(dtype: DTypeLike) -> Any:
    """The least value of a type: `-inf`, or the smallest integer."""
    return extreme(find_element_dtype(dtype), least=True)


def find_element_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """The type of elements that is named."""
    return np.dtype(numpy_dtype(dtype))


def extreme(dtype: np.dtype[Any], *, least: bool) -> Any:
    """The least or the largest value of a type."""
    if dtype.kind == "f":
        return dtype.type(-math.inf if least else math.inf)
    if dtype.kind == "b":
        return dtype.type(not least)
    info = np.iinfo(dtype)
    return dtype.type(info.min if least else info.max)


def max_num_threads(allow_none: bool = True) -> int:
    """How many iterations a loop that is bound to threads may have."""
    del allow_none
    return MAX_NUM_THREADS


TYPES: dict[str, ElementTypeObject] = {
    name if name != "bool" else "bool_": ElementTypeObject(dtype)  # `bool` is Python's
    for name, dtype in DTYPES.items()
}
# Intrinsics that Python spells as a function, a type or an attribute of its own.
_PYTHON_SPELLING = ("abs", "complex", "real", "imag", "conj")
MATH: dict[str, Callable[..., Any]] = {
    name: _math_function(name) for name in INTRINSICS if name not in _PYTHON_SPELLING
}
_FUNCTIONS: tuple[Callable[..., Any], ...] = (
    *(serial, parallel, prange, vectorize, unroll, const_range, scan, bind, grid),
    *(allocate, output_tensor, constant_array, part, block, init, spatial, reduce),
    *(likely, ceil_div, select, power, ninf, max_num_threads),
)
BUILTINS: dict[str, Any] = {
    **{function.__name__: function for function in _FUNCTIONS},
    **MATH,
    **TYPES,
    "inf": math.inf,
    "nan": math.nan,
}
# What plain functions are given that call these numbers, as scripts may.
CALLED: dict[str, Any] = {"inf": Infinity("inf")}
