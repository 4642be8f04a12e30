"""Our own math functions: straight-line code that LLVM's loop vectoriser can widen."""

from hybridjit.codegen.math.library import emit_math, math_function

__all__ = ["emit_math", "math_function"]
