"""Element types, and how they combine: NumPy 2's promotion (NEP 50) with weak Python scalars."""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from hybridjit.lazy import lazy_module
from hybridjit.record import record

if TYPE_CHECKING:
    import ml_dtypes
else:
    ml_dtypes = lazy_module("ml_dtypes")  # 7 ms


class Kind(Enum):
    """The family of an element type, in promotion order."""

    BOOL = 0
    INT = 1
    UINT = 2
    FLOAT = 3
    COMPLEX = 4


@record(eq=False)
class DType:
    """One element type. Instances are interned: compare with `is`, or `==`, also with a name."""

    name: str
    kind: Kind
    bits: int

    @property
    def numpy(self) -> np.dtype[Any]:
        """What NumPy calls it."""
        return _NUMPY[self.name]

    def __eq__(self, other: object) -> bool:
        """The same type, or its name: `A.dtype == "float32"`."""
        if isinstance(other, str):
            return self.name == other
        return self is other or NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__

    def __reduce__(self) -> tuple[Any, ...]:
        return dtype_named, (self.name,)

    @property
    def dtype(self) -> np.dtype[Any]:
        """What NumPy looks for, so that `np.zeros(shape, A.dtype)` takes the type as it is."""
        return self.numpy

    @property
    def is_bool(self) -> bool:
        return self.kind is Kind.BOOL

    @property
    def is_integer(self) -> bool:
        """True for signed and unsigned integers, not for bool."""
        return self.kind in (Kind.INT, Kind.UINT)

    @property
    def is_float(self) -> bool:
        return self.kind is Kind.FLOAT

    @property
    def is_complex(self) -> bool:
        return self.kind is Kind.COMPLEX

    @property
    def is_inexact(self) -> bool:
        return self.kind in (Kind.FLOAT, Kind.COMPLEX)

    @property
    def bounds(self) -> tuple[int, int]:
        """The smallest and the largest value of an integer (or bool) type."""
        match self.kind:
            case Kind.INT:
                return -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1
            case Kind.UINT:
                return 0, (1 << self.bits) - 1
            case Kind.BOOL:
                return 0, 1
            case Kind.FLOAT | Kind.COMPLEX:
                raise ValueError(f"{self.name} has no integer bounds")

    @property
    def component(self) -> DType:
        """The type of `.real`: the half-sized float of a complex type, else the type itself."""
        if self.kind is Kind.COMPLEX:
            return dtype_named(f"float{self.bits // 2}")
        return self


BOOL = DType("bool", Kind.BOOL, 8)
INT8 = DType("int8", Kind.INT, 8)
INT16 = DType("int16", Kind.INT, 16)
INT32 = DType("int32", Kind.INT, 32)
INT64 = DType("int64", Kind.INT, 64)
UINT8 = DType("uint8", Kind.UINT, 8)
UINT16 = DType("uint16", Kind.UINT, 16)
UINT32 = DType("uint32", Kind.UINT, 32)
UINT64 = DType("uint64", Kind.UINT, 64)
FLOAT16 = DType("float16", Kind.FLOAT, 16)
BFLOAT16 = DType("bfloat16", Kind.FLOAT, 16)
FLOAT32 = DType("float32", Kind.FLOAT, 32)
FLOAT64 = DType("float64", Kind.FLOAT, 64)
COMPLEX64 = DType("complex64", Kind.COMPLEX, 64)
COMPLEX128 = DType("complex128", Kind.COMPLEX, 128)

DTYPES: dict[str, DType] = {
    dtype.name: dtype
    for dtype in (
        BOOL,
        INT8,
        INT16,
        INT32,
        INT64,
        UINT8,
        UINT16,
        UINT32,
        UINT64,
        FLOAT16,
        BFLOAT16,
        FLOAT32,
        FLOAT64,
        COMPLEX64,
        COMPLEX128,
    )
}


class _NumpyTypes(dict[str, np.dtype[Any]]):
    """NumPy's types by their names; bfloat16, which few use, is loaded when it is asked for."""

    def __missing__(self, name: str) -> np.dtype[Any]:
        if name != BFLOAT16.name:
            raise KeyError(name)
        found = np.dtype(ml_dtypes.bfloat16)
        self[name] = found
        _BY_NUMPY[found] = BFLOAT16
        return found


_NUMPY = _NumpyTypes({name: np.dtype(name) for name in DTYPES if name != BFLOAT16.name})
_BY_NUMPY: dict[np.dtype[Any], DType] = {dtype: DTYPES[name] for name, dtype in _NUMPY.items()}


def dtype_named(name: str) -> DType:
    """The type called `name`, such as "float32"; KeyError when there is none."""
    return DTYPES[name]


def find_dtype(numpy_dtype: np.dtype[Any]) -> DType | None:
    """The type that stores what `numpy_dtype` does, or None (objects, structs, byte-swapped)."""
    found = _BY_NUMPY.get(numpy_dtype)
    if found is None and str(numpy_dtype) == BFLOAT16.name and numpy_dtype == BFLOAT16.numpy:
        return BFLOAT16  # not asked for before
    return found


@cache
def promote(a: DType, b: DType) -> DType | None:
    """The NumPy type that holds both, or None where NumPy has none (bfloat16 with int32, say)."""
    if {a, b} == {FLOAT16, BFLOAT16}:
        return FLOAT32  # NumPy knows no common type, but its scalars compute in float32
    try:
        return find_dtype(np.promote_types(a.numpy, b.numpy))
    except TypeError:
        return None


@record
class ScalarType:
    """The type of a scalar value: an element type, and whether it is weak.

    A weak value is a Python scalar: a literal, a loop variable, a shape entry, a Python number
    passed as an argument, and arithmetic between those. It has the type a Python value of its
    kind is computed in (bool, int64, float64, complex128) and gives way to a typed operand.
    """

    dtype: DType
    weak: bool = False

    def __str__(self) -> str:
        return f"Python {PYTHON_NAMES[self.dtype]}" if self.weak else self.dtype.name


# What Python calls the types that weak values have.
PYTHON_NAMES: dict[DType, str] = {
    BOOL: "bool",
    INT64: "int",
    FLOAT64: "float",
    COMPLEX128: "complex",
}

WEAK_BOOL = ScalarType(BOOL, weak=True)
WEAK_INT = ScalarType(INT64, weak=True)
WEAK_FLOAT = ScalarType(FLOAT64, weak=True)
WEAK_COMPLEX = ScalarType(COMPLEX128, weak=True)
WEAK_TYPES: dict[str, ScalarType] = {
    "bool": WEAK_BOOL,
    "int": WEAK_INT,
    "float": WEAK_FLOAT,
    "complex": WEAK_COMPLEX,
}
_WEAK_EXAMPLE = {BOOL: False, INT64: 0, FLOAT64: 0.0, COMPLEX128: 0j}


@cache
def join(a: ScalarType, b: ScalarType) -> ScalarType | None:
    """The type that both values convert to when they meet, or None where NumPy has none.

    join(Python int, float32)  -> float32
    join(Python float, int32)  -> float64
    join(Python int, Python float) -> Python float
    """
    if a.weak and b.weak:
        return a if a.dtype.kind.value >= b.dtype.kind.value else b
    if a.weak or b.weak:
        weak, typed = (a, b) if a.weak else (b, a)
        return _join_weak(weak.dtype, typed.dtype)
    dtype = promote(a.dtype, b.dtype)
    return None if dtype is None else ScalarType(dtype)


def _join_weak(weak: DType, typed: DType) -> ScalarType | None:
    if weak is BOOL:
        return ScalarType(typed)
    if weak is FLOAT64 and typed is BFLOAT16:
        return ScalarType(typed)  # as every other float; NumPy does not know that bfloat16 is one
    try:
        dtype = find_dtype(np.result_type(typed.numpy, _WEAK_EXAMPLE[weak]))
    except TypeError:
        return None
    return None if dtype is None else ScalarType(dtype)
