"""Our own math functions: straight-line code, on numbers and on vectors of them."""

from hybridjit.codegen.math.bounds import BOUNDS, COMPLEX_BOUNDS, Bound
from hybridjit.codegen.math.complexes import emit_complex_abs, emit_complex_math
from hybridjit.codegen.math.integers import emit_clz, emit_integer_power, emit_popcount
from hybridjit.codegen.math.library import (
    emit_floor_div,
    emit_floor_mod,
    emit_math,
    math_function,
)

__all__ = [
    "BOUNDS",
    "COMPLEX_BOUNDS",
    "Bound",
    "emit_clz",
    "emit_complex_abs",
    "emit_complex_math",
    "emit_floor_div",
    "emit_floor_mod",
    "emit_integer_power",
    "emit_math",
    "emit_popcount",
    "math_function",
]
