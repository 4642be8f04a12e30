"""The language: `@hybrid.script`, and the names that a script may use.

The names work inside a script without an import; imported, a script also runs as plain Python,
and editors and type checkers know them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from hybridjit.frontend.captures import SUPPORTED
from hybridjit.ir.fastmath import Fastmath
from hybridjit.kernel import Kernel
from hybridjit.lazy import lazy_module, lazy_names
from hybridjit.runtime.externs import extern, llvm, packed
from hybridjit.scalars.builtins import (
    MATH,
    TYPES,
    allocate,
    bind,
    block,
    ceil_div,
    const_range,
    constant_array,
    grid,
    init,
    likely,
    output_tensor,
    parallel,
    part,
    power,
    prange,
    reduce,
    rng,
    scan,
    select,
    serial,
    spatial,
    unroll,
)
from hybridjit.scalars.builtins import vectorize as vector_loop
from hybridjit.script import script

if TYPE_CHECKING:
    from hybridjit.ufuncs import vectorize as ufuncs
    from hybridjit.ufuncs.evaluate import evaluate
    from hybridjit.ufuncs.gufunc import Gufunc
    from hybridjit.ufuncs.ufunc import Ufunc
else:
    ufuncs = lazy_module("hybridjit.ufuncs.vectorize")
    __getattr__ = lazy_names(
        __name__,
        {
            "Gufunc": "hybridjit.ufuncs.gufunc:Gufunc",
            "Ufunc": "hybridjit.ufuncs.ufunc:Ufunc",
            "evaluate": "hybridjit.ufuncs.evaluate:evaluate",
        },
    )


@overload
def vectorize(*bounds: int) -> range: ...
@overload
def vectorize(
    function: Callable[..., Any],
    *,
    identity: Any = None,
    associative: bool = False,
    fastmath: Fastmath = False,
    parallel: bool = False,
) -> Ufunc: ...
@overload
def vectorize(
    *,
    identity: Any = None,
    associative: bool = False,
    fastmath: Fastmath = False,
    parallel: bool = False,
) -> Callable[[Callable[..., Any]], Ufunc]: ...
def vectorize(*arguments: Any, **options: Any) -> Any:
    """Make a ufunc of a function of numbers; with bounds, a loop over the lanes of vectors.

    `@hybrid.vectorize` gives a function that takes arrays and works on them element by element,
    as NumPy's ufuncs do: operands are broadcast, `out=`, `where=`, `dtype=` and `casting=` mean
    what they mean there, and types are those of the language. A function of two operands has
    `.reduce`, `.accumulate`, `.outer` and `.at`; for `.reduce` it must be associative: `+ * & | ^
    and or`, `min` and `max` are known to be, others are declared to be, by their `identity` or by
    `associative=True`. `parallel=True` runs the outermost loop on several threads.

    `for i in vectorize(n)` in a script runs its iterations as lanes of vector instructions.

    >>> @hybrid.vectorize
    ... def clamped(x, low, high):
    ...     if x < low:
    ...         return low
    ...     return high if x > high else x
    >>> clamped(np.array([-2.0, 0.5, 7.0]), 0, [1, 1, 5])
    array([0. , 0.5, 5. ])
    """
    if arguments and not callable(arguments[0]):
        return vector_loop(*arguments, **options)
    return ufuncs.vectorize(*arguments, **options)


# To a script, it is the loop.
vectorize.__hybrid_builtin__ = "vectorize"  # pyright: ignore[reportFunctionMemberAccess]

bool_ = TYPES["bool_"]
int8 = TYPES["int8"]
int16 = TYPES["int16"]
int32 = TYPES["int32"]
int64 = TYPES["int64"]
uint8 = TYPES["uint8"]
uint16 = TYPES["uint16"]
uint32 = TYPES["uint32"]
uint64 = TYPES["uint64"]
float16 = TYPES["float16"]
bfloat16 = TYPES["bfloat16"]
float32 = TYPES["float32"]
float64 = TYPES["float64"]
complex64 = TYPES["complex64"]
complex128 = TYPES["complex128"]

exp = MATH["exp"]
exp2 = MATH["exp2"]
expm1 = MATH["expm1"]
log = MATH["log"]
log2 = MATH["log2"]
log10 = MATH["log10"]
log1p = MATH["log1p"]
sqrt = MATH["sqrt"]
rsqrt = MATH["rsqrt"]
cbrt = MATH["cbrt"]
sin = MATH["sin"]
cos = MATH["cos"]
tan = MATH["tan"]
asin = MATH["asin"]
acos = MATH["acos"]
atan = MATH["atan"]
atan2 = MATH["atan2"]
sinh = MATH["sinh"]
cosh = MATH["cosh"]
tanh = MATH["tanh"]
asinh = MATH["asinh"]
acosh = MATH["acosh"]
atanh = MATH["atanh"]
sigmoid = MATH["sigmoid"]
erf = MATH["erf"]
erfc = MATH["erfc"]
gamma = MATH["gamma"]
lgamma = MATH["lgamma"]
hypot = MATH["hypot"]
floor = MATH["floor"]
ceil = MATH["ceil"]
trunc = MATH["trunc"]
rint = MATH["rint"]
sign = MATH["sign"]
copysign = MATH["copysign"]
fmod = MATH["fmod"]
fma = MATH["fma"]
minimum = MATH["minimum"]
maximum = MATH["maximum"]
popcount = MATH["popcount"]
clz = MATH["clz"]
dot_bytes = MATH["dot_bytes"]
isnan = MATH["isnan"]
isinf = MATH["isinf"]
isfinite = MATH["isfinite"]

inf = math.inf
nan = math.nan

# The functions of NumPy that a script can call on arrays and numbers.
NUMPY_FUNCTIONS = tuple(sorted(SUPPORTED["numpy"]))

__all__ = [
    "NUMPY_FUNCTIONS",
    "Gufunc",
    "Kernel",
    "Ufunc",
    "acos",
    "acosh",
    "allocate",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bfloat16",
    "bind",
    "block",
    "bool_",
    "cbrt",
    "ceil",
    "ceil_div",
    "clz",
    "complex64",
    "complex128",
    "const_range",
    "constant_array",
    "copysign",
    "cos",
    "cosh",
    "dot_bytes",
    "erf",
    "erfc",
    "evaluate",
    "exp",
    "exp2",
    "expm1",
    "extern",
    "float16",
    "float32",
    "float64",
    "floor",
    "fma",
    "fmod",
    "gamma",
    "grid",
    "hypot",
    "inf",
    "init",
    "int8",
    "int16",
    "int32",
    "int64",
    "isfinite",
    "isinf",
    "isnan",
    "lgamma",
    "likely",
    "llvm",
    "log",
    "log1p",
    "log2",
    "log10",
    "maximum",
    "minimum",
    "nan",
    "output_tensor",
    "packed",
    "parallel",
    "part",
    "popcount",
    "power",
    "prange",
    "reduce",
    "rint",
    "rng",
    "rsqrt",
    "scan",
    "script",
    "select",
    "serial",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "spatial",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unroll",
    "vectorize",
]


def __dir__() -> list[str]:
    """What is for users: `__all__`."""
    return __all__
