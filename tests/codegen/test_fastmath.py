"""`@hybrid.script(fastmath=...)`: the option, the IR that carries it, and the code it allows."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from hybridjit import HybridError, Kernel, hybrid, parse
from hybridjit.errors import InternalError, ParseError
from hybridjit.ir.equal import find_difference
from hybridjit.ir.fastmath import FASTMATH_FLAGS
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Seq
from hybridjit.ir.verify import verify
from hybridjit.processor import current_target
from hybridjit.runtime.cache.kernel_key import find_key
from tests.corpus.case import Array


def dot(a: Array, b: Array) -> Any:
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


def sum_of_logarithms(a: Array) -> Any:
    total = 0.0
    for i in range(a.shape[0]):
        total += np.log(a[i])
    return total


def logarithms(a: Array) -> Array:
    out = hybrid.output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        out[i] = np.log(a[i])
    return out


def pick(a: Array, table: Array, out: Array) -> None:
    """Every way from a float to an index or a branch."""
    for i in range(a.shape[0]):
        x = a[i] * 2.0
        if x < 100.0 and not np.isnan(x):
            out[i] = table[int(x)]


def fast_dot(*flags: str) -> Kernel[..., Any]:
    return hybrid.script(dot, fastmath=flags)


A = np.random.default_rng(1).random(1000)
B = np.random.default_rng(2).random(1000)


needs_wide_vectors = pytest.mark.skipif(
    current_target().vector_bits < 512, reason="LLVM's guess about narrow vectors is its own"
)


# The option


def test_a_kernel_has_no_flags_unless_asked() -> None:
    assert hybrid.script(dot).prim_func(A, B).fastmath == ()


def test_true_stands_for_all_flags() -> None:
    assert hybrid.script(dot, fastmath=True).prim_func(A, B).fastmath == FASTMATH_FLAGS


def test_flags_have_one_order() -> None:
    @hybrid.script(fastmath={"reassoc", "contract"})
    def f(a: Array, b: Array) -> Any:
        return a[0] + b[0]

    assert f.prim_func(A, B).fastmath == ("contract", "reassoc")


def test_a_kernel_decorated_with_flags_is_another() -> None:
    plain = hybrid.script(dot)
    fast = hybrid.script(plain, fastmath={"contract"})
    assert (plain.fastmath, fast.fastmath) == ((), ("contract",))
    assert hybrid.script(fast) is fast


# The IR


@pytest.mark.parametrize("flags", [("contract",), ("reassoc", "nsz"), FASTMATH_FLAGS])
def test_flags_are_printed_and_read_back(flags: tuple[str, ...]) -> None:
    func = fast_dot(*flags).prim_func(A, B)
    again = parse(str(func))
    assert find_difference(func, again) is None
    assert again.fastmath == flags


def test_flags_count_in_equality() -> None:
    plain, fast = (fast_dot(*flags).prim_func(A, B) for flags in ((), ("nnan",)))
    assert find_difference(plain, fast) == "fastmath: () != ('nnan',)"


def test_flags_are_part_of_the_cache_key() -> None:
    keys: set[bytes | None] = set()
    for flags in ((), ("contract",), ("reassoc",)):
        kernel = fast_dot(*flags)
        kernel(A, B)
        (specialization,) = kernel.specializations
        (layout,) = specialization.natives
        keys.add(find_key(specialization.func, layout, current_target()))
    assert len(keys) == 3


def test_flags_that_do_not_exist_are_not_valid_ir() -> None:
    with pytest.raises(InternalError, match="fastmath flags are unknown or out of order"):
        verify(PrimFunc("f", (), Seq(()), fastmath=("fast",)))


@pytest.mark.parametrize(
    ("decorator", "message"),
    [
        ('@hybrid.script(fastmath={"fast"})', "fastmath has no flag 'fast'"),
        ("@hybrid.script(fastmath=flags)", "must be written as a set of strings"),
        ("@cached", "this decorator is not one of printed functions"),
    ],
)
def test_other_decorators_of_printed_functions_are_refused(decorator: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        parse(f"{decorator}\ndef f(a: float64[4]):\n    a[0] = 1.0")


# The code


def llvm_of(kernel: Kernel[..., Any]) -> str:
    return kernel.inspect("llvm", A, B)


def test_the_flags_stand_on_float_instructions() -> None:
    text = llvm_of(fast_dot("contract", "nsz"))
    assert re.search(r"fmul nsz contract", text)
    assert re.search(r"(fadd nsz contract|call nsz contract double @llvm.vector.reduce)", text)


def test_a_plain_kernel_has_no_flags_on_instructions() -> None:
    assert not re.search(r"(fmul|fadd|call) [a-z]+ (double|<)", llvm_of(hybrid.script(dot)))


def test_a_sum_has_a_lane_each_if_it_may_be_reordered() -> None:
    """Vectors are added to each other, and their lanes at the end; else lane after lane."""
    vector_sum = r"fadd [a-z ]*<\d+ x double>"
    assert re.search(vector_sum, llvm_of(fast_dot("reassoc")))
    assert not re.search(vector_sum, llvm_of(fast_dot("contract")))


def test_sums_in_order_are_exact() -> None:
    kernel = hybrid.script(dot)
    assert kernel(A, B) == kernel.interpret(A, B)


@needs_wide_vectors
def test_sums_of_functions_are_vectorised_in_order() -> None:
    kernel = hybrid.script(sum_of_logarithms)
    assert re.search(r"fmul <\d+ x double>|x double> @llvm\.fma", kernel.inspect("llvm", A))
    ordered = np.add.accumulate(hybrid.script(logarithms)(A))[-1]
    assert kernel(A) == ordered


@pytest.mark.parametrize("flags", [(flag,) for flag in FASTMATH_FLAGS] + [FASTMATH_FLAGS])
def test_results_stay_close(flags: tuple[str, ...]) -> None:
    kernel = fast_dot(*flags)
    np.testing.assert_allclose(kernel(A, B), A @ B, rtol=1e-13)
    assert kernel.interpret(A, B) == hybrid.script(dot).interpret(A, B)


@pytest.mark.parametrize("value", [np.nan, np.inf, 60.0])
def test_broken_promises_do_not_reach_past_arrays(value: float) -> None:
    """Under "nnan" a NaN may give any result, but the checks on indices stay in force."""
    kernel = hybrid.script(pick, fastmath=True)
    out, table = np.zeros(64), np.arange(100.0)
    a = np.where(np.arange(64) % 7 == 0, value, 3.0)
    try:
        kernel(a, table, out)
    except IndexError:
        return
    assert set(out) <= set(table)


def test_what_a_float_decides_is_frozen() -> None:
    func = hybrid.script(pick, fastmath={"nnan"})
    assert "freeze" in func.inspect("llvm", A, B, np.zeros(1000))


def test_unknown_flags_are_refused_by_name() -> None:
    with pytest.raises(HybridError, match="fastmath has no flag 'fused'"):
        hybrid.script(dot, fastmath={"fused"})
