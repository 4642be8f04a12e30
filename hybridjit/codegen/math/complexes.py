"""Complex functions, from the real ones: a value is a pair of its parts.

Multiplication and division are NumPy's (plain, and Smith's algorithm), bit for bit. The others
follow C99's Annex G for infinities, and keep each part accurate on its own where C libraries do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from hybridjit.codegen.math.library import math_function
from hybridjit.codegen.math.logarithm import log1p_of_pair
from hybridjit.codegen.math.values import (
    FORMATS,
    UNDEFINED,
    Format,
    Real,
    Scope,
    two_product,
    two_sum,
    where,
)
from hybridjit.codegen.module_features import has_fma
from hybridjit.errors import InternalError
from hybridjit.ir.dtype import DType


class Complex:
    """A complex value under construction."""

    __slots__ = ("imag", "real")

    def __init__(self, real: Real, imag: Real) -> None:
        self.real, self.imag = real, imag

    def __mul__(self, other: Complex) -> Complex:
        a, b, c, d = self.real, self.imag, other.real, other.imag
        return Complex(a * c - b * d, a * d + b * c)

    def __truediv__(self, other: Complex) -> Complex:
        """Smith's algorithm, as NumPy has it: divide by the larger part first."""
        is_steep = ~(abs(other.real) >= abs(other.imag))
        small, large = _ordered(is_steep, other)
        ratio = small / large
        scale = 1.0 / (large + small * ratio)
        a, b = where(is_steep, self.imag, self.real), where(is_steep, self.real, self.imag)
        # flat: (a + b r) s, (b - a r) s; steep: (a r + b) s, (b r - a) s, with a and b exchanged
        real = (a + b * ratio) * scale
        flat_imag, steep_imag = b - a * ratio, a * ratio - b
        imag = where(is_steep, steep_imag, flat_imag) * scale
        is_zero = abs(other.real).equals(0.0) & abs(other.imag).equals(0.0)
        return Complex(
            where(is_zero, self.real / abs(other.real), real),
            where(is_zero, self.imag / abs(other.real), imag),
        )


def _ordered(is_steep: Any, z: Complex) -> tuple[Real, Real]:
    return where(is_steep, z.real, z.imag), where(is_steep, z.imag, z.real)


def call(name: str, *args: Real) -> Real:
    """A real function of the library."""
    scope, format = args[0].scope, args[0].format
    function = math_function(scope.builder.module, name, format, scope.fma, scope.lanes)
    value = scope.builder.call(function, [arg.value for arg in args])
    return Real(scope, format, value)


# Where exp is still finite; beyond, exp(x) = exp(x - EXP_STEP) exp(EXP_STEP).
EXP_STEP = {32: 80.0, 64: 700.0}


def _large_exp(x: Real) -> tuple[Real, Real]:
    """exp(x) as a product of two finite numbers, as far as exp(x) sin(y) may be finite."""
    step = EXP_STEP[x.format.bits]
    is_large = x > step
    factor = where(is_large, x.of(math.exp(step)), 1.0)
    return call("exp", where(is_large, x - step, x)), factor


def exp(z: Complex) -> Complex:
    x, y = z.real, z.imag
    e, factor = _large_exp(x)
    cos, sin = call("cos", y), call("sin", y)
    is_zero = x.equals(-math.inf) & ~(abs(y) < math.inf)  # exp(-inf + i anything) is zero
    real = where(is_zero, x.of(0.0), (e * cos) * factor)
    imag = where(is_zero, x.of(0.0), (e * sin) * factor)
    # exp(inf + i inf) has a real part of inf
    real = where(x.equals(math.inf) & ~(abs(y) < math.inf), x, real)
    return Complex(where(y.equals(0.0), e * factor, real), where(y.equals(0.0), y, imag))


def log(z: Complex) -> Complex:
    return Complex(_log_abs(z), call("atan2", z.imag, z.real))


# Of |z|**2: where it is near one, log1p of the exact difference is used.
NEAR_ONE = (0.5, 2.0)


def _log_abs(z: Complex) -> Real:
    a, b = abs(z.real), abs(z.imag)
    large, small = where(a > b, a, b), where(a > b, b, a)
    # scaled so that hypot neither overflows nor loses bits
    lift = 2.0 ** (64 if a.format.bits == 32 else 512)
    ln_lift = math.log(lift)
    is_big, is_tiny = large > lift, large < 1.0 / lift
    scale = where(is_big, a.of(1.0 / lift), where(is_tiny, a.of(lift), 1.0))
    offset = where(is_big, a.of(ln_lift), where(is_tiny, a.of(-ln_lift), 0.0))
    far = call("log", call("hypot", a * scale, b * scale)) + offset

    is_near = (large > NEAR_ONE[0]) & (large < NEAR_ONE[1])
    safe_large = where(is_near, large, 1.0)
    safe_small = where(is_near, small, 0.0)
    square, other = two_product(safe_large, safe_large), two_product(safe_small, safe_small)
    first = two_sum(square.hi, a.of(-1.0))
    total = two_sum(first.hi, other.hi)
    rest = total.lo + (first.lo + (square.lo + other.lo))
    excess = two_sum(total.hi, rest)
    near = 0.5 * log1p_of_pair(excess.hi, excess.lo)
    near = where(excess.hi.equals(0.0), excess.hi, near)
    return where(is_near, near, far)


def sqrt(z: Complex) -> Complex:
    """t = sqrt((|x| + |z|) / 2), and y / (2 t), for the right half plane; scaled by 4**n."""
    x, y = z.real, z.imag
    a, b = abs(x), abs(y)
    large = where(a > b, a, b)
    power = 2.0 ** (x.format.bias // 2 // 2 * 2)
    is_big, is_tiny = large > x.of(power), large < x.format.tiny * 4.0 * power
    down = where(is_big, x.of(1.0 / 16.0), where(is_tiny, x.of(power * power), 1.0))
    up = where(is_big, x.of(4.0), where(is_tiny, x.of(1.0 / power), 1.0))
    u, v = a * down, b * down
    t = ((u + call("hypot", u, v)) * 0.5).sqrt()
    other = where(t.equals(0.0), t, v / (t + t)) * up
    t = t * up
    is_right = x.bits > -1
    real = where(is_right, t, other)
    imag = where(is_right, other, t).with_sign_of(y)
    # infinite imaginary part: inf + i inf, even with NaN; x = -inf: 0 + i inf; x = inf: inf + i 0
    is_infinite = b.equals(math.inf)
    real = where(is_infinite, b, real)
    imag = where(is_infinite, y, imag)
    at_left, at_right = x.equals(-math.inf) & ~is_infinite, x.equals(math.inf) & ~is_infinite
    zero = where(y.is_nan(), y, 0.0)
    real = where(at_left, zero, where(at_right, x, real))
    imag = where(at_left, x.of(math.inf), where(at_right, zero, imag)).with_sign_of(y)
    return Complex(real, where(x.is_nan() & ~is_infinite, x, imag))


def _hyperbolic(x: Real) -> tuple[Real, Real, Real]:
    """sinh(x) and cosh(x), both without a factor that is one except near overflow."""
    step = EXP_STEP[x.format.bits]
    magnitude = abs(x)
    is_large = magnitude > step
    factor = where(is_large, x.of(math.exp(step)), 1.0)
    half = 0.5 * call("exp", where(is_large, magnitude - step, x.of(0.0)))
    moderate = where(is_large, x.of(0.0), magnitude)
    sinh = where(is_large, half, call("sinh", moderate)).with_sign_of(x)
    return sinh, where(is_large, half, call("cosh", moderate)), factor


def sinh(z: Complex) -> Complex:
    x, y = z.real, z.imag
    s, c, factor = _hyperbolic(x)
    real, imag = (s * call("cos", y)) * factor, (c * call("sin", y)) * factor
    # zero or infinity times NaN
    is_odd = ~(abs(y) < math.inf)
    real = where(x.equals(0.0) & is_odd, x, real)
    real = where(abs(x).equals(math.inf) & is_odd, abs(x), real)
    real = where(y.equals(0.0), call("sinh", x), real)
    return Complex(real, where(y.equals(0.0), y, imag))


def cosh(z: Complex) -> Complex:
    x, y = z.real, z.imag
    s, c, factor = _hyperbolic(x)
    real, imag = (c * call("cos", y)) * factor, (s * call("sin", y)) * factor
    is_odd = ~(abs(y) < math.inf)
    real = where(abs(x).equals(math.inf) & is_odd, abs(x), real)
    real = where(y.equals(0.0), call("cosh", x), real)
    imag = where(x.equals(0.0) & is_odd, x.of(0.0), imag)
    zero = x.of(0.0).with_sign_of((x.bits ^ y.bits).real)
    return Complex(real, where(y.equals(0.0), zero, imag))


TANH_MAX = {32: 10.0, 64: 21.0}  # the real part is 1 to the last bit


def tanh(z: Complex) -> Complex:
    """Kahan's: with t = tan(y), b = 1 + t**2, s = sinh(x), r = sqrt(1 + s**2)."""
    x, y = z.real, z.imag
    is_large = abs(x) > TANH_MAX[x.format.bits]
    moderate = where(is_large, x.of(0.0), x)
    t, s = call("tan", y), call("sinh", moderate)
    b = 1.0 + t * t
    r = (1.0 + s * s).sqrt()
    divisor = 1.0 + b * s * s
    real = (b * r * s) / divisor
    imag = t / divisor
    one = x.of(1.0).with_sign_of(x)
    decay = call("exp", -abs(x))
    far = 4.0 * call("sin", y) * call("cos", y) * decay * decay
    is_infinite, is_odd = abs(x).equals(math.inf), ~(abs(y) < math.inf)
    far = where(is_infinite & is_odd, x.of(0.0).with_sign_of(y), far)
    one = where(is_odd & ~is_infinite, x.of(math.nan), one)
    real, imag = where(is_large, one, real), where(is_large, far, imag)
    return Complex(where(x.equals(0.0), x, real), where(y.equals(0.0), y, imag))


def _rotated(function: Callable[[Complex], Complex]) -> Callable[[Complex], Complex]:
    """-i f(i z)."""

    def apply(z: Complex) -> Complex:
        w = function(Complex(-z.imag, z.real))
        return Complex(w.imag, -w.real)

    return apply


def cos(z: Complex) -> Complex:
    return cosh(Complex(-z.imag, z.real))


MAX_SQUARINGS = 7  # NumPy multiplies out integer powers below 100


def power(z: Complex, w: Complex) -> Complex:
    """exp(w log(z)); small integer powers by squaring, as NumPy."""
    logarithm = log(z)
    general = exp(w * logarithm)
    n = w.real
    is_integer = w.imag.equals(0.0) & n.intrinsic("trunc").equals(n) & (abs(n) < 100.0)
    multiplied = _integer_power(z, where(is_integer, n, 0.0))
    zero = n.of(0.0)
    is_origin = z.real.equals(0.0) & z.imag.equals(0.0)
    at_origin = where(w.real > 0.0, zero, math.nan)
    real = where(is_origin, at_origin, where(is_integer, multiplied.real, general.real))
    imag = where(is_origin, at_origin, where(is_integer, multiplied.imag, general.imag))
    is_one = w.real.equals(0.0) & w.imag.equals(0.0)
    return Complex(where(is_one, n.of(1.0), real), where(is_one, zero, imag))


def _integer_power(z: Complex, n: Real) -> Complex:
    one, zero = n.of(1.0), n.of(0.0)
    shifted = abs(n) + n.format.shifter
    bits = shifted.bits
    result, square = Complex(one, zero), z
    for number in range(MAX_SQUARINGS):
        product = result * square
        is_set = ~(bits & (1 << number)).equals(0)
        result = _chosen(is_set, product, result)
        square = square * square
    inverse = Complex(one, zero) / result
    result = _chosen(n < 0.0, inverse, result)
    # NumPy begins with 1, which makes NaN of infinities; but not for the smallest.
    second = z * z
    for exponent, product in ((1.0, z), (2.0, second), (3.0, z * second)):
        result = _chosen(n.equals(exponent), product, result)
    return result


def _chosen(cond: Any, z: Complex, w: Complex) -> Complex:
    return Complex(where(cond, z.real, w.real), where(cond, z.imag, w.imag))


def multiply(z: Complex, w: Complex) -> Complex:
    return z * w


def divide(z: Complex, w: Complex) -> Complex:
    return z / w


Body = Callable[..., Complex]

COMPLEX_BODIES: dict[str, tuple[int, Body]] = {
    "exp": (1, exp),
    "log": (1, log),
    "sqrt": (1, sqrt),
    "sin": (1, _rotated(sinh)),
    "cos": (1, cos),
    "tan": (1, _rotated(tanh)),
    "sinh": (1, sinh),
    "cosh": (1, cosh),
    "tanh": (1, tanh),
    "pow": (2, power),
    "mul": (2, multiply),
    "div": (2, divide),
}


def emit_complex_math(
    builder: Any,
    name: str,
    dtype: DType,
    args: Sequence[tuple[Any, Any]],
) -> tuple[Any, Any]:
    """The parts of the function `name` of complex values, each given as its two parts."""
    lanes: int = getattr(args[0][0].type, "count", 1)  # of a vector
    scope = Scope(builder, has_fma(builder.module), lanes)
    function = _complex_function(name, FORMATS[dtype.component.bits], scope)
    result = builder.call(function, [part for arg in args for part in arg])
    return builder.extract_value(result, 0), builder.extract_value(result, 1)


def emit_complex_abs(builder: Any, dtype: DType, real: Any, imag: Any) -> Any:
    """|z|."""
    lanes: int = getattr(real.type, "count", 1)
    fused = has_fma(builder.module)
    function = math_function(builder.module, "hypot", dtype.component, fused, lanes)
    return builder.call(function, [real, imag])


def _complex_function(name: str, format: Format, scope: Scope) -> Any:
    module, part = scope.builder.module, scope.type_of(format.type)
    shape = "" if scope.lanes == 1 else f"v{scope.lanes}"
    symbol = f"hj.{name}.{shape}c{2 * format.bits}"
    found = module.globals.get(symbol)
    if found is not None:
        return found
    if name not in COMPLEX_BODIES:
        raise InternalError(f"there is no complex function named {name}", "codegen")
    arity, body = COMPLEX_BODIES[name]
    result = ir.LiteralStructType([part] * 2)
    kind = ir.FunctionType(result, [part] * (2 * arity))
    function: Any = ir.Function(module, kind, symbol)
    function.linkage = "internal"
    function.attributes.add("alwaysinline")
    builder: Any = ir.IRBuilder(function.append_basic_block("entry"))
    inside = scope.at(builder)
    parts = [Real(inside, format, arg) for arg in function.args]
    value = body(*(Complex(*parts[start : start + 2]) for start in range(0, len(parts), 2)))
    pair = builder.insert_value(ir.Constant(result, UNDEFINED), value.real.value, 0)
    builder.ret(builder.insert_value(pair, value.imag.value, 1))
    return function
