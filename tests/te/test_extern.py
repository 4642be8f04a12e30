"""te.extern: foreign code, scripts and hand-built IR in a graph, interpreted and native."""

import ctypes
import glob
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid, te
from hybridjit.errors import HybridError
from hybridjit.ir.expr import Const, Load, Var
from hybridjit.ir.stmt import For, Let, Store, seq
from tests.conftest import Golden
from tests.support.tensor_programs import assert_computes

Array = Any
RNG = np.random.default_rng(17)
TE: Any = te  # as a caller without a type checker has it
A, B = te.placeholder((3, 4), name="A"), te.placeholder((4, 2), name="B")


def integers(*shape: int, dtype: str = "float32") -> Array:
    return RNG.integers(1, 9, shape).astype(dtype)


def multiply_into(a: Array, b: Array, c: Array) -> None:
    c[...] = a @ b


def split_into(a: Array, low: Array, high: Array) -> None:
    low[...] = np.minimum(a, 4)
    high[...] = a > 4


def scale_into(a: Array, factor: Any, out: Array) -> None:
    out[...] = a * factor


MULTIPLY, SPLIT, SCALE = map(hybrid.packed, (multiply_into, split_into, scale_into))


def times(factor: int) -> Any:
    """The body of an extern that multiplies."""

    def body(ins: Any, outs: Any) -> Any:
        return SCALE(ins[0], factor, outs[0])

    return body


def no_statement(ins: Any, outs: Any) -> Any:
    return 3


def reads_another(ins: Any, outs: Any) -> Any:
    return SCALE(A.buffer, 1, outs[0])


def test_a_python_function() -> None:
    c = te.extern((3, 2), [A, B], MULTIPLY, name="C")
    d = te.compute((3, 2), lambda i, j: c[i, j] + 1, name="D")
    a, b = integers(3, 4), integers(4, 2)
    assert_computes([A, B, c], [a, b], a @ b)
    assert_computes([A, B, d], [a, b], a @ b + 1)


def test_a_python_function_called_on_buffers() -> None:
    n = te.var("n")
    x = te.placeholder((n, 4), name="X")
    y = te.compute((n, 4), lambda i, j: x[i, j] * 2, name="Y")
    z = te.extern((n, 4), [y], times(3), name="Z")
    value = integers(5, 4)
    assert_computes([x, z], [value, integers(5, 4)], value * 6)


def test_several_outputs() -> None:
    low, high = te.extern([(3, 4), (3, 4)], [A], SPLIT, name="S", dtype=["float32", "bool"])
    a = integers(3, 4)
    assert_computes([A, low, high], [a], [np.minimum(a, 4), a > 4])
    assert [tensor.name for tensor in (low, high)] == ["S_v0", "S_v1"]


def test_a_size_without_a_tuple() -> None:
    row = te.placeholder((4,), name="R")
    c = te.extern(4, [row], times(2), name="C")
    value = integers(4)
    assert_computes([row, c], [value], value * 2)


@hybrid.script
def reverse_into(a: Any, out: Any) -> None:
    for i in range(a.shape[0]):
        out[i] = a[a.shape[0] - 1 - i]


def test_a_script() -> None:
    n = te.var("n")
    x = te.placeholder((n,), name="X")
    y = te.extern((n,), [x], reverse_into, name="Y")
    z = te.compute((n,), lambda i: y[i] + 1, name="Z")
    value = integers(5)
    assert_computes([x, z], [value, integers(5)], value[::-1] + 1)
    assert [axis.name for axis in y.op.axis] == ["i"]


def test_ir_built_by_hand() -> None:
    def fill(ins: Any, outs: Any) -> Any:
        i, j = Var("i"), Var("j")
        copy = Store(outs[0], (i, j), Load(ins[0], (i, j)))
        inner = For(j, Const(0), Const(4), Const(1), copy)
        last = Store(outs[0], (Const(2), Const(3)), Const(7.0, ins[0].dtype))
        return seq(For(i, Const(0), Const(3), Const(1), inner), last)

    c = te.extern((3, 4), [A], fill, name="C")
    twice = te.extern((3, 4), [c], fill, name="D")
    a = integers(3, 4)
    expected = a.copy()
    expected[2, 3] = 7
    assert_computes([A, twice], [a], expected)


def test_a_function_of_the_ir() -> None:
    x, y = te.placeholder((te.var("n"),), name="x"), te.placeholder((5,), name="y")
    func = te.create_prim_func([x, te.compute(x.shape, lambda i: x[i] * 3, name="z")])
    z = te.extern_primfunc([y], func)
    w = te.extern_primfunc([z], func)
    value = integers(5)
    assert_computes([y, w], [value], value * 9)


def test_a_c_function() -> None:
    absolute = hybrid.extern("abs", "int32", ["int32"])
    x = te.placeholder((4,), "int32", "X")

    def fill(ins: Any, outs: Any) -> Any:
        i, found = Var("i"), Var("found", ins[0].dtype)
        value = te.call_extern(absolute, Load(ins[0], (i,)))
        store = Store(outs[0], (i,), found)
        return For(i, Const(0), Const(4), Const(1), seq(Let(found, value), store))

    y = te.extern((4,), [x], fill, name="Y")
    value = np.array([-3, 2, -1, 0], np.int32)
    assert_computes([x, y], [value], abs(value))


def test_numbers_are_converted_to_the_types_of_c() -> None:
    power = hybrid.extern("pow", "float64", ["float64", "float64"])
    x = te.placeholder((1,), "float64", "X")

    def fill(ins: Any, outs: Any) -> Any:
        found = Var("found", ins[0].dtype)
        value = te.call_extern(power, te.const(3, "int32"), 2)
        return seq(Let(found, value), Store(outs[0], (Const(0),), found))

    y = te.extern((1,), [x], fill, name="Y")
    assert_computes([x, y], [np.ones(1)], np.full(1, 9.0))


def _find_blas() -> Any:
    """cblas_dgemm of the OpenBLAS that NumPy or SciPy brings along, and whether it counts in 64."""
    root = Path(np.__file__).parent.parent
    for path in sorted(glob.glob(str(root / "*.libs" / "*openblas*"))):
        library = ctypes.CDLL(path)
        for symbol in (
            "scipy_cblas_dgemm64_",
            "cblas_dgemm64_",
            "scipy_cblas_dgemm",
            "cblas_dgemm",
        ):
            if hasattr(library, symbol):
                return getattr(library, symbol), "64_" in symbol
    return None


def test_matrix_product_of_blas() -> None:
    found = _find_blas()
    if found is None:
        pytest.skip("no OpenBLAS beside NumPy")
    symbol, is_wide = found
    size = "int64" if is_wide else "int32"
    types = ["int32"] * 3 + [size] * 3 + ["float64", "float64*", size, "float64*", size]
    dgemm = hybrid.extern(symbol, None, [*types, "float64", "float64*", size])
    m, n, k = 5, 3, 4
    x, y = te.placeholder((m, k), "float64", "X"), te.placeholder((k, n), "float64", "Y")

    def call(ins: Any, outs: Any) -> Any:
        row_major, plain = te.const(101, "int32"), te.const(111, "int32")
        sizes = [te.const(extent, size) for extent in (m, n, k)]
        steps = [te.const(extent, size) for extent in (k, n, n)]
        one, zero = te.const(1.0, "float64"), te.const(0.0, "float64")
        return dgemm(
            *(row_major, plain, plain, *sizes, one, ins[0], steps[0], ins[1], steps[1]),
            *(zero, outs[0], steps[2]),
        )

    z = te.extern((m, n), [x, y], call, name="Z")
    w = te.compute((m, n), lambda i, j: z[i, j] + 1, name="W")
    a, b = RNG.random((m, k)), RNG.random((k, n))
    assert_computes([x, y, w], [a, b], a @ b + 1, rtol=1e-13)


def test_the_function_of_an_extern(golden: Golden) -> None:
    c = te.extern((3, 2), [A, B], MULTIPLY, name="C")
    d = te.compute((3, 2), lambda i, j: c[i, j] + 1, name="D")
    golden.check(str(te.create_prim_func([A, B, d])), "ir")


@hybrid.script
def returns(a: Any, out: Any) -> Any:
    out[0] = a[0]
    return 1


@hybrid.script
def writes_input(a: Any, out: Any) -> None:
    a[0] = 0
    out[0] = 1


ROW = te.placeholder((4,), name="R")
POINTERS = hybrid.extern("free", None, ["float64*", "float64*"])
FUNC = hj.PrimFunc("empty", (ROW.buffer,), seq())
X5 = te.placeholder((5,), name="X")
FIVE = te.create_prim_func([X5, te.compute((5,), lambda i: X5[i] + 1, name="Y")], "five")

CALLS: dict[str, Callable[[], object]] = {
    "inputs_are_no_list": lambda: TE.extern((3,), A, MULTIPLY),
    "input_is_no_tensor": lambda: TE.extern((3,), [3], MULTIPLY),
    "unknown_type": lambda: te.extern((3,), [A, te.placeholder((3,), "int32")], MULTIPLY),
    "type_without_inputs": lambda: te.extern((3,), [], MULTIPLY),
    "types_for_other_outputs": lambda: te.extern((3,), [A], MULTIPLY, dtype=["int8", "int8"]),
    "no_statement": lambda: te.extern((3,), [A], no_statement),
    "script_with_a_result": lambda: te.extern((4,), [ROW], returns),
    "script_that_writes_its_input": lambda: te.extern((4,), [ROW], writes_input),
    "arguments_of_a_c_function": lambda: te.extern((4,), [ROW, ROW], POINTERS),
    "types_of_a_c_function": lambda: te.extern((4,), [ROW], POINTERS),
    "function_without_outputs": lambda: te.extern_primfunc([ROW], FUNC),
    "function_without_inputs": lambda: te.extern_primfunc([], FUNC),
    "function_of_another_size": lambda: te.extern_primfunc([ROW], FIVE),
    "reads_another_tensor": lambda: te.extern((4,), [ROW], reads_another),
}


@pytest.mark.parametrize("case", CALLS)
def test_refusal(case: str, golden: Golden) -> None:
    with pytest.raises(HybridError, match=r"\w") as caught:
        CALLS[case]()
    golden.check(caught.value.render("short"), "txt")
