"""Intrinsics of the user's own: in te, in scripts, in the IR; interpreted and natively."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid, te, tir
from hybridjit.errors import HybridError, ScheduleError
from hybridjit.hybrid import output_tensor
from hybridjit.ir.intrinsics import clear_intrinsics
from tests.conftest import Golden
from tests.support.oracle import assert_same


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    yield
    clear_intrinsics()


def register_twice() -> Any:
    return tir.register_intrin("twice", lambda x: x + x, domain="number")


def register_mulsub() -> Any:
    """By an intrinsic of LLVM: x * y + z with one rounding."""
    return tir.register_intrin(
        "muladd",
        tir.llvm_intrinsic("llvm.fma"),
        arity=3,
        python=lambda x, y, z: (np.float64(x) * np.float64(y) + np.float64(z)).astype(x.dtype),
    )


def register_cube_root() -> Any:
    """By a C function."""
    return tir.register_intrin("root3", hybrid.extern("cbrt", "float64", ["float64"]))


def values(dtype: Any, size: int = 37) -> Any:
    return np.random.default_rng(3).integers(-8, 9, size).astype(dtype)


def run_tensors(body: Callable[[Any], Any], dtype: str, steps: Any = None) -> Any:
    """One tensor made of another, in the interpreter and natively."""
    A = te.placeholder((37,), dtype, "A")
    B = te.compute((37,), lambda i: body(A[i]), name="B")
    s = te.create_schedule(B.op)
    if steps is not None:
        steps(s[B], B.op.axis[0])
    module = hj.build(s, [A, B])
    a, results = values(dtype), list[Any]()
    for call in (module.interpret, module):
        b = np.zeros(37, B.dtype.numpy)
        call(a, b)
        results.append(b)
    assert_same(results[1], results[0])
    return results[0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint8", "complex64"])
def test_an_expression(dtype: str) -> None:
    twice = register_twice()
    assert_same(run_tensors(twice, dtype), values(dtype) + values(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_an_intrinsic_of_llvm(dtype: str) -> None:
    muladd = register_mulsub()
    found = run_tensors(lambda x: muladd(x, x, x), dtype)
    assert_same(found, values(dtype) * values(dtype) + values(dtype))


def test_a_c_function() -> None:
    root3 = register_cube_root()
    np.testing.assert_allclose(
        run_tensors(root3, "float64"), np.cbrt(values("float64")), rtol=1e-15
    )


def vectorized(stage: Any, axis: Any) -> None:
    _, inner = stage.split(axis, factor=8)
    stage.vectorize(inner)


def in_parallel(stage: Any, axis: Any) -> None:
    outer, _ = stage.split(axis, factor=8)
    stage.parallel(outer)


@pytest.mark.parametrize("steps", [vectorized, in_parallel])
@pytest.mark.parametrize("register", [register_twice, register_mulsub, register_cube_root])
def test_schedules_may_do_with_them_what_they_like(register: Any, steps: Any) -> None:
    made = register()

    def body(x: Any) -> Any:
        return made(*[x] * made.arity)

    assert_same(run_tensors(body, "float64", steps), run_tensors(body, "float64"))


def test_a_rule_may_use_another_intrinsic() -> None:
    twice = register_twice()
    four_times = tir.register_intrin("four_times", lambda x: twice(twice(x)))
    assert_same(run_tensors(four_times, "float32"), values("float32") * 4)


def test_a_result_of_another_type() -> None:
    is_even = tir.register_intrin("is_even", lambda x: x % 2 == 0, domain="integer", result="bool")
    assert_same(run_tensors(is_even, "int32"), values("int32") % 2 == 0)
    as_index = tir.register_intrin(
        "as_index", lambda x: x.astype("int64") + 1, domain="real", result="int64"
    )
    assert_same(run_tensors(as_index, "uint8"), values("uint8").astype(np.int64) + 1)


def test_in_a_script() -> None:
    twice = register_twice()

    @hybrid.script
    def kernel(a: Any) -> Any:
        b = output_tensor(a.shape, a.dtype)
        for i in range(a.shape[0]):
            b[i] = twice(a[i]) + 1
        return b

    a = values("float32")
    expected = a * 2 + 1
    assert_same(kernel(a), expected)
    assert_same(kernel.interpret(a), expected)
    assert_same(kernel.py_func(a), expected)
    assert "twice(a[i])" in kernel.inspect("tir", a)
    assert "twice" not in kernel.inspect("lowered", a)


def test_printed_and_parsed() -> None:
    twice = register_twice()
    A = te.placeholder((4,), name="A")
    func = te.create_prim_func([A, te.compute((4,), lambda i: twice(A[i]), name="B")])
    assert tir.structural_equal(hj.parse(str(func), {"twice": twice}), func)


def test_in_the_ir() -> None:
    twice = register_twice()
    call = twice(tir.Var("x", tir.const(0.0).dtype))
    assert isinstance(call, tir.Call)
    assert call.name == "twice"


def times(factor: int) -> Callable[[Any], Any]:
    return lambda x: x * factor


def test_registered_again_code_is_made_again() -> None:
    """The same text must not find the code of an earlier rule, in memory or on disk."""
    scaled: Any = None

    @hybrid.script
    def kernel(a: Any) -> Any:
        b = output_tensor(a.shape, a.dtype)
        for i in range(a.shape[0]):
            b[i] = scaled(a[i])
        return b

    a = values("float32")
    for factor in (2, 3, 2):
        scaled = tir.register_intrin("scaled", times(factor))
        assert_same(run_tensors(scaled, "float32"), a * factor)
        assert_same(kernel(a), a * factor)
        assert_same(kernel.interpret(a), a * factor)


def test_a_rule_that_may_fail() -> None:
    """An error is raised in both ways to run, and no schedule loses it."""
    inverse = tir.register_intrin("inverse", lambda x: 100 // x, domain="integer")
    A = te.placeholder((4,), "int64", "A")
    B = te.compute((4,), lambda i: inverse(A[i]), name="B")
    C = te.compute((2,), lambda i: B[i] + 1, name="C")
    module = hj.build([A, C])
    for call in (module, module.interpret):
        with pytest.raises(ZeroDivisionError, match="division"):
            call(np.array([1, 2, 3, 0]), np.zeros(2, np.int64))

    s = te.create_schedule(C.op)
    s[B].compute_inline()
    with pytest.raises(ScheduleError, match="may raise an error, which would be lost"):
        hj.lower(s, [A, C])


def test_pickled_by_name() -> None:
    twice = register_twice()
    data = pickle.dumps(twice)
    assert pickle.loads(data) is twice

    clear_intrinsics()
    with pytest.raises(pickle.UnpicklingError, match="register it before it is loaded"):
        pickle.loads(data)


def test_inlined_and_moved() -> None:
    """A call is pure: it may be computed wherever it is read."""
    twice = register_twice()
    A = te.placeholder((9,), "float32", "A")
    B = te.compute((9,), lambda i: twice(A[i]), name="B")
    C = te.compute((8,), lambda i: B[i] + B[i + 1], name="C")
    s = te.create_schedule(C.op)
    s[B].compute_inline()
    a, c = np.arange(9, dtype=np.float32), np.zeros(8, np.float32)
    hj.build(s, [A, C])(a, c)
    assert c.tolist() == (2 * (a[:-1] + a[1:])).tolist()


# -- calls by name ---------------------------------------------------------------------------------


def test_call_intrin() -> None:
    register_twice()
    found = run_tensors(lambda x: tir.call_intrin("float32", "twice", x), "float32")
    assert_same(found, values("float32") * 2)
    found = run_tensors(lambda x: tir.call_intrin(None, "tir.twice", x), "float64")
    assert_same(found, values("float64") * 2)
    assert tir.call_intrin("float64", "exp", 0.0) == 1.0


def test_call_extern() -> None:
    found = run_tensors(lambda x: tir.call_extern("float64", "fabs", x) + 1, "float64")
    assert_same(found, np.abs(values("float64")) + 1)
    assert tir.call_extern("float64", "fabs", -2.0) == 2.0


def test_call_extern_on_buffers() -> None:
    def double_into(a: Any, b: Any) -> None:
        b[...] = a * 2

    A = te.placeholder((5,), "float64", "A")

    def body(ins: Any, outs: Any) -> Any:
        return tir.call_packed(double_into, ins[0], outs[0])

    B = te.extern((5,), [A], body)
    a, b = np.arange(5.0), np.zeros(5)
    for call in (hj.build([A, B]), hj.build([A, B]).interpret):
        b[:] = 0
        call(a, b)
        assert b.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]


def test_call_packed_on_numbers() -> None:
    def plus_one(x: Any) -> Any:
        return x + 1

    found = run_tensors(lambda x: tir.call_packed(plus_one, x, dtype="float64"), "float64")
    assert_same(found, values("float64") + 1)
    assert tir.call_packed(plus_one, 2.0, dtype="float64") == 3.0


# -- refusals --------------------------------------------------------------------------------------

REFUSED: dict[str, Any] = {
    "name_of_the_language": lambda: tir.register_intrin("exp", lambda x: x),
    "name_with_a_rule": lambda: tir.register_intrin("square", lambda x: x * x * x),
    "name_with_a_dot": lambda: tir.register_intrin("my.exp", lambda x: x),
    "unknown_domain": lambda: tir.register_intrin("f", lambda x: x, domain="text"),  # pyright: ignore
    "unknown_arity": lambda: tir.register_intrin("f", tir.llvm_intrinsic("llvm.fma")),
    "no_meaning": lambda: tir.register_intrin("f", tir.llvm_intrinsic("llvm.fma"), arity=3),
    "no_rule": lambda: tir.register_intrin("f", 3, arity=1),  # pyright: ignore
    "not_of_llvm": lambda: tir.llvm_intrinsic("fma"),
    "function_of_an_array": lambda: tir.register_intrin(
        "f", hybrid.extern("free", "float64", ["float64*"])
    ),
    "intrinsic_that_llvm_lacks": lambda: run_tensors(
        tir.register_intrin("f", tir.llvm_intrinsic("llvm.nosuch"), arity=1, python=abs), "float32"
    ),
    "intrinsic_with_too_few_arguments": lambda: run_tensors(
        tir.register_intrin("f", tir.llvm_intrinsic("llvm.fma"), arity=1, python=abs), "float32"
    ),
    "function_of_another_result": lambda: tir.register_intrin(
        "f", hybrid.extern("ilogb", "int32", ["float64"])
    ),
    "unknown_intrinsic": lambda: tir.call_intrin("float32", "epx", 1.0),
    "too_few_arguments": lambda: tir.call_intrin("float32", "hypot", 1.0),
    "another_type": lambda: tir.call_intrin("float32", "exp", 1.0),
    "no_function": lambda: tir.call_packed("my.function", 1.0),  # pyright: ignore
    "no_symbol": lambda: tir.call_extern("float32", "no_such_function", 1.0),
    "argument_of_another_type": lambda: run_tensors(register_cube_root(), "float32"),
    "rule_of_another_type": lambda: run_tensors(
        tir.register_intrin("f", lambda x: x.astype("float64")), "float32"
    ),
    "type_that_llvm_lacks": lambda: run_tensors(lambda x: register_mulsub()(x, x, x), "bfloat16"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, golden: Golden) -> None:
    with pytest.raises(HybridError, match=r"\w") as caught:
        REFUSED[case]()
    golden.check(str(caught.value), "txt")


# -- in scripts ------------------------------------------------------------------------------------

fabs = hybrid.extern("fabs", "float64", ["float64"])
raised = hybrid.packed(np.exp2, "float64", name="raised")


@hybrid.script
def calls(a: Any) -> Any:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        x = tir.call_extern("float64", fabs, a[i])
        y = tir.call_packed(raised, x)
        b[i] = tir.call_intrin("float64", "tir.sqrt", y)
    return b


def test_calls_in_a_script() -> None:
    a = values("float64")
    expected = np.sqrt(np.exp2(np.abs(a)))
    for call in (calls, calls.interpret, calls.py_func):
        assert_same(call(a), expected)


@hybrid.script
def by_symbol(a: Any) -> Any:
    a[0] = tir.call_extern("float64", "fabs", a[0])


@hybrid.script
def by_custom_name(a: Any) -> Any:
    a[0] = tir.call_intrin("float64", "twice", a[0])


@hybrid.script
def by_unknown_name(a: Any) -> Any:
    a[0] = tir.call_intrin("float64", "sqrtt", a[0])


@hybrid.script
def of_another_type(a: Any) -> Any:
    a[0] = tir.call_intrin("float32", "sqrt", a[0])


@hybrid.script
def without_a_name(a: Any) -> Any:
    a[0] = tir.call_intrin("float32")  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize(
    "kernel",
    [by_symbol, by_custom_name, by_unknown_name, of_another_type, without_a_name],
    ids=lambda kernel: kernel.__name__,
)
def test_refused_in_a_script(kernel: Any, golden: Golden) -> None:
    register_twice()
    with pytest.raises(HybridError, match=r"\w") as caught:
        kernel(values("float64"))
    golden.check(caught.value.render("short"), "txt")
