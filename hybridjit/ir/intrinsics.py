"""The pure functions a `Call` may name: their arity and the type of their result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from enum import Enum
from typing import Any

from hybridjit.ir.dtype import BOOL, INT32, DType, dtype_named
from hybridjit.ir.extern import Extern
from hybridjit.record import record


class Domain(Enum):
    """Which argument types an intrinsic takes. All arguments of one call have the same type."""

    FLOAT = "float"
    INEXACT = "float or complex"
    INTEGER = "integer"
    REAL = "integer or float"
    NUMBER = "integer, float or complex"
    COMPLEX = "complex"

    def accepts(self, dtype: DType) -> bool:
        match self:
            case Domain.FLOAT:
                return dtype.is_float
            case Domain.INEXACT:
                return dtype.is_inexact
            case Domain.INTEGER:
                return dtype.is_integer
            case Domain.REAL:
                return dtype.is_integer or dtype.is_float
            case Domain.NUMBER:
                return not dtype.is_bool
            case Domain.COMPLEX:
                return dtype.is_complex


@record
class OneType:
    """The domain of an intrinsic that takes arguments of this type only."""

    dtype: DType

    @property
    def value(self) -> str:
        """In words."""
        return str(self.dtype)

    def accepts(self, dtype: DType) -> bool:
        """Whether it takes arguments of type `dtype`."""
        return dtype is self.dtype


class Result(Enum):
    """How the type of the result follows from the type of the arguments."""

    SAME = "same"
    BOOL = "bool"
    COMPONENT = "component"
    COMPLEX = "complex"


@record
class Intrinsic:
    """One pure scalar function of the language. `result` may be a type, whatever the arguments."""

    name: str
    domain: Domain | OneType
    arity: int = 1
    result: Result | DType = Result.SAME

    def result_dtype(self, argument: DType) -> DType:
        match self.result:
            case DType():
                return self.result
            case Result.SAME:
                return argument
            case Result.BOOL:
                return BOOL
            case Result.COMPONENT:
                return argument.component
            case Result.COMPLEX:
                return dtype_named(f"complex{argument.bits * 2}")


_F, _X, _C = Domain.FLOAT, Domain.INEXACT, Domain.COMPLEX

INTRINSICS: dict[str, Intrinsic] = {
    intrinsic.name: intrinsic
    for intrinsic in (
        # exponentials and logarithms
        *(Intrinsic(name, _X) for name in ("exp", "log", "sqrt")),
        *(Intrinsic(name, _F) for name in ("exp2", "expm1", "log2", "log10", "log1p")),
        *(Intrinsic(name, _F) for name in ("rsqrt", "cbrt", "sigmoid")),
        # trigonometry
        *(Intrinsic(name, _X) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")),
        *(Intrinsic(name, _F) for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")),
        Intrinsic("atan2", _F, 2),
        Intrinsic("hypot", _F, 2),
        # special functions
        *(Intrinsic(name, _F) for name in ("erf", "erfc", "gamma", "lgamma")),
        # rounding, float to float; `rint` is half to even
        *(Intrinsic(name, _F) for name in ("floor", "ceil", "trunc", "rint")),
        # sign and remainder; `fmod` truncates, as C's
        Intrinsic("abs", Domain.NUMBER, result=Result.COMPONENT),
        Intrinsic("sign", Domain.REAL),
        Intrinsic("copysign", _F, 2),
        Intrinsic("fmod", Domain.REAL, 2),
        # x * y + z, rounded once; half precision is computed in float32, then rounded
        Intrinsic("fma", Domain.REAL, 3),
        # NumPy's minimum and maximum: NaN wins. `Min` and `Max` are Python's
        Intrinsic("minimum", Domain.REAL, 2),
        Intrinsic("maximum", Domain.REAL, 2),
        # bits
        Intrinsic("popcount", Domain.INTEGER),
        Intrinsic("clz", Domain.INTEGER),
        # the sum of four products of signed bytes, of each argument the first in its low bits
        Intrinsic("dot_bytes", OneType(INT32), 2),
        # tests
        *(Intrinsic(name, _X, result=Result.BOOL) for name in ("isnan", "isinf", "isfinite")),
        # complex parts
        *(Intrinsic(name, _C, result=Result.COMPONENT) for name in ("real", "imag")),
        Intrinsic("conj", _C),
        # a complex number from its parts; float32 or float64
        Intrinsic("complex", _F, 2, Result.COMPLEX),
    )
}


# -- intrinsics of the user's own ------------------------------------------------------------------


@record
class Expansion:
    """The rule of an intrinsic that is an expression: `make` gives it for arguments of the IR."""

    make: Callable[..., Any]


@record
class LLVMIntrinsic:
    """The rule of an intrinsic that LLVM has: "llvm.fma", without the types that LLVM appends."""

    name: str


Rule = Expansion | LLVMIntrinsic | Extern


@record(eq=False)
class CustomIntrinsic(Intrinsic):
    """An intrinsic of the user's: what it means in the interpreter, and how code is made of it.

    `meaning` takes and gives NumPy scalars. The function has to be pure: it may be computed more
    often than it is called, or not at all.
    """

    meaning: Callable[..., Any] = field(kw_only=True)
    rule: Rule = field(kw_only=True)

    def __eq__(self, other: object) -> bool:
        return self is other  # one that is declared again under its name is another one

    def __hash__(self) -> int:
        return id(self)


# By name; they are among INTRINSICS, too.
CUSTOM_INTRINSICS: dict[str, CustomIntrinsic] = {}


def declare_intrinsic(intrinsic: CustomIntrinsic) -> None:
    """Make an intrinsic known; one of the user's own takes the place of an earlier one."""
    INTRINSICS[intrinsic.name] = CUSTOM_INTRINSICS[intrinsic.name] = intrinsic


def clear_intrinsics() -> None:
    """Forget the intrinsics of the user's own."""
    for name in CUSTOM_INTRINSICS:
        del INTRINSICS[name]
    CUSTOM_INTRINSICS.clear()
