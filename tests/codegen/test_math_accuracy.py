"""Every function is within its stated bound of the exact value, on all kinds of arguments."""

import numpy as np
import pytest

from hybridjit.codegen.math import BOUNDS
from hybridjit.codegen.math.library import SHORTER_WITH_AVX512
from hybridjit.ir.dtype import dtype_named
from tests.codegen.math_reference import ARITY, REFERENCES, arguments, error_in_ulp
from tests.codegen.native_math import compile_loop, loop_module, optimize

EDGES = np.array([0.0, -0.0, 1.0, -1.0, 2.0**0.5, 0.5**0.5, np.inf, -np.inf, np.nan, 1e-45, 1e-40])
SLOW = ("lgamma", "gamma", "erfc", "erf")  # in mpmath
LGAMMA_LEFT = 4 * 2.0**-53  # for x < 0, of max(1, |lgamma(x)|): it has zeros there


@pytest.fixture
def count(request: pytest.FixtureRequest) -> int:
    """How many arguments of each kind; --fuzz asks for more."""
    examples: int | None = request.config.getoption("--fuzz")
    return 60 if examples is None else examples


def worst(name: str, dtype: str, count: int, fma: bool = True) -> tuple[float, tuple[float, ...]]:
    args = arguments(name, dtype, count // 3 if name in SLOW else count)
    results = compile_loop(name, dtype_named(dtype), ARITY.get(name, 1), fma)(*args)
    found = (0.0, ())
    for result, *values in zip(results, *args, strict=True):
        point = tuple(map(float, values))
        error = error_in_ulp(name, dtype, float(result), *point)
        if name == "lgamma" and dtype == "float64" and point[0] < 0 and np.isfinite(error):
            unit = LGAMMA_LEFT * max(1.0, abs(float(result)))
            error = error * float(np.spacing(np.abs(result))) / unit
        found = max(found, (error, point))
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_error_is_within_its_bound(name: str, dtype: str, count: int) -> None:
    error, point = worst(name, dtype, count)
    assert error <= getattr(BOUNDS[name], dtype), point


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["exp", "log1p", "sin", "pow", "erfc", "gamma"])
def test_error_without_fused_multiply_add(name: str, dtype: str, count: int) -> None:
    """The bound holds with half an ulp to spare for the roundings that fusing saves."""
    error, point = worst(name, dtype, count, fma=False)
    assert error <= getattr(BOUNDS[name], dtype) + 0.5, point
    assert "llvm.fma" not in str(loop_module(name, dtype_named(dtype), ARITY.get(name, 1), False))


HARD_ANGLES = (
    5.319372648326541e255,  # the double nearest to a multiple of pi/2
    6381956970095103.0 * 2.0**797,
    16367173.0 * 2.0**72,  # the float32 nearest to a multiple of pi/2
    182.212373908208,
    1e22,
    1e300,
    2.0**1023,
    3.4028234663852886e38,
)


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_near_multiples_of_half_pi(name: str) -> None:
    x = np.array([*HARD_ANGLES, *(-a for a in HARD_ANGLES)])
    results = compile_loop(name, dtype_named("float64"))(x)
    errors = [error_in_ulp(name, "float64", *pair) for pair in zip(results, x, strict=True)]
    assert max(errors) <= BOUNDS[name].float64


@pytest.mark.parametrize("lanes", [4, 16])
@pytest.mark.parametrize("name", ["exp", "sin", "tan", "log1p"])
def test_explicit_vectors_give_the_same_bits(name: str, lanes: int) -> None:
    dtype = dtype_named("float32")
    (x,) = arguments(name, "float32", 200)
    large = np.minimum(HARD_ANGLES * 2, 3e38).astype("float32")
    x = np.concatenate([x[: len(x) // 16 * 16 - 16], large])
    scalar, vector = compile_loop(name, dtype), compile_loop(name, dtype, lanes=lanes)
    np.testing.assert_array_equal(scalar(x), vector(x))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SHORTER_WITH_AVX512)
def test_the_instructions_of_avx512_give_the_same_bits(name: str, dtype: str) -> None:
    """A result does not depend on where in a loop it is computed, or on the processor."""
    arity = ARITY.get(name, 1)
    args = [np.concatenate([part, EDGES.astype(dtype)]) for part in arguments(name, dtype, 300)]
    args[-1] = args[-1][::-1]  # edges meet common arguments
    short, plain = (
        compile_loop(name, dtype_named(dtype), arity, features=features)
        for features in (None, "+fma")
    )
    np.testing.assert_array_equal(short(*args), plain(*args))


def test_bounds_are_at_most_four_ulp() -> None:
    for name, bound in BOUNDS.items():
        assert bound.worst_float32 <= bound.float32 <= 4.0, name
        assert bound.worst_float64 <= bound.float64 <= 4.0, name


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", sorted(set(REFERENCES) | {"floor", "sign", "minimum"}))
def test_functions_of_vectors_call_nothing(name: str, dtype: str) -> None:
    """What is left of a call in a vector loop are LLVM's own functions, and rare cases of ours."""
    arity = 2 if name == "minimum" else ARITY.get(name, 1)
    text = str(optimize(loop_module(name, dtype_named(dtype), arity, lanes=8)))
    body = text[text.index("define void @loop") :]
    body = body[: body.index("\n}")]
    calls = [line for line in body.splitlines() if " call " in line]
    assert all("@llvm." in line or "@hj.reduce_large" in line for line in calls), calls
