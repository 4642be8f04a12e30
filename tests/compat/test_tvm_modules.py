"""Modules and what is around them: how they are built, timed, named, and what tvm itself holds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

import hybridjit.compat.tvm as package
from hybridjit.errors import ArgumentError, ArgumentValueError

np: Any = numpy  # whose types say nothing of arrays that may be any
tvm: Any = package
te: Any = tvm.te
tir: Any = tvm.tir
autotvm: Any = tvm.autotvm
X: Any = np.arange(8, dtype="float32")
ROOT = Path(__file__).parents[2]


def scaled(factor: float = 2.0) -> list[Any]:
    A = te.placeholder((8,), name="A")

    def element(i: Any) -> Any:
        return A[i] * factor

    return [A, te.compute((8,), element, name="B")]


def run(function: Any, factor: float = 2.0) -> None:
    found = tvm.nd.empty((8,))
    function(X, found)
    np.testing.assert_array_equal(found, X * factor)


def test_modules_by_target_and_in_a_list() -> None:
    f, g = (tvm.IRModule({name: te.create_prim_func(scaled())}) for name in "fg")
    run(tvm.build({"llvm": f})["f"])
    run(tvm.build({tvm.target.Target("llvm -mcpu=core-avx2"): f})["f"])
    built = tvm.build([f, g], target="llvm")
    run(built["f"])
    run(built["g"])
    with pytest.raises(ArgumentError, match="target 'cuda' is not there"):
        tvm.build({"cuda": f})


def test_modules_take_functions() -> None:
    module = tvm.IRModule({"f": te.create_prim_func(scaled())})
    module.update(tvm.IRModule({"g": te.create_prim_func(scaled(3.0))}))
    module.update_func("f", te.create_prim_func(scaled(4.0)))
    assert "g" in module
    built = tvm.build(module)
    run(built["f"], 4.0)
    run(built["g"], 3.0)


def test_a_function_is_named_by_an_attribute() -> None:
    func = te.create_prim_func(scaled()).with_attr("global_symbol", "twice")
    run(tvm.build(func)["default_function"])
    module = tvm.IRModule({"main": func.with_attr("tir.noalias", True)})
    run(tvm.build(module)["twice"])
    run(tvm.build(tir.Schedule(module).mod)["twice"])
    args = scaled()
    lowered = tvm.lower(te.create_schedule(args[1].op), args)
    named = lowered["main"].with_attr({"global_symbol": "again", "tir.noalias": True})
    run(tvm.build(tvm.IRModule({"main": named}))["again"])
    tvm.ir.assert_structural_equal(func, te.create_prim_func(scaled()))


def test_binds_that_say_what_is() -> None:
    A, B = scaled()
    s = te.create_schedule(B.op)
    plain = tir.decl_buffer(A.shape, A.dtype, name="Ab", offset_factor=1, data_alignment=64)
    run(tvm.build(s, [A, B], binds={A: plain}))
    assert "for" in str(tvm.lower(s, [A, B], binds={A: plain}))
    apart = tir.decl_buffer(A.shape, A.dtype, name="Ab", strides=[2])
    with pytest.raises(ArgumentError, match="'A' lies in C order, and 'Ab' does not say so"):
        tvm.build(s, [A, B], binds={A: apart})


def test_repeats_that_take_long_enough() -> None:
    built = tvm.build(scaled())
    found = tvm.nd.empty((8,))
    timer = built.time_evaluator(built.entry_name, tvm.cpu(), number=1, min_repeat_ms=2, repeat=2)
    timing = timer(X, found)
    assert len(timing.results) == 2
    assert timing.mean < 1e-3  # of one call, of more than one
    assert len(built.time_evaluator(built.entry_name, tvm.cpu())(X, found).results) == 1
    np.testing.assert_array_equal(found, X * 2)


def test_ranges_of_axes() -> None:
    A = te.placeholder((8,), name="A")
    for range_of in (tvm.Range(2, 6), tvm.ir.Range.from_min_extent(2, 4)):
        assert (range_of.min, range_of.extent) == (2, 4)
        k = te.reduce_axis(range_of, "k")
        B = te.compute((1,), summed(A, k), name="B")
        found = tvm.nd.empty((1,))
        tvm.build(te.create_schedule(B.op), [A, B])(X, found)
        assert found[0] == X[2:6].sum()
    assert tvm.Range(5).extent == 5


def summed(A: Any, k: Any) -> Any:
    def element(_: Any) -> Any:
        return te.sum(A[k], axis=k)

    return element


def test_modules_of_tvm() -> None:
    assert tvm.error.TVMError is tvm.TVMError
    assert tvm.driver.build is tvm.build
    with pytest.raises(AttributeError, match=r"tvm\.arith is not here"):
        tvm.arith  # noqa: B018
    for target in ("llvm -mcpu=core-avx2", {"kind": "llvm", "mcpu": "core-avx2"}):
        assert tvm.target.Target(target).mcpu == "core-avx2"
    assert tvm.target.Target(tvm.target.Target("llvm -mcpu=x")).mcpu == "x"
    assert tvm.target.Target("llvm").mcpu == ""


@pytest.mark.parametrize("name", ["reinterpret", "ret", "call_llvm_pure_intrin", "stmt_functor"])
def test_what_tir_has_not_says_so(name: str) -> None:
    with pytest.raises(AttributeError, match=rf"tir\.{name} is not here: "):
        getattr(tir, name)


TESTS = """
import tvm.testing


def test_one() -> None:
    assert 1 + 1 == 2


if __name__ == "__main__":
    tvm.testing.main()
"""


def test_a_file_runs_its_tests(tmp_path: Path) -> None:
    path = tmp_path / "test_old.py"
    path.write_text(TESTS, encoding="utf-8")
    command = [sys.executable, "-m", "hybridjit.compat.tvm", str(path), "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("shift", [-2, 0, 1])
def test_products_of_fixed_points(shift: int) -> None:
    A = te.placeholder((8,), "int32", "A")

    def element(i: Any) -> Any:
        return tir.q_multiply_shift(A[i], tir.const(1 << 30, "int32"), 31, tir.const(shift))

    B = te.compute((8,), element, name="B")
    x, found = np.arange(-4, 4, dtype="int32") * 1001, tvm.nd.empty((8,), "int32")
    tvm.build(te.create_schedule(B.op), [A, B])(x, found)
    np.testing.assert_array_equal(found, np.floor(x * 2.0 ** (shift - 1) + 0.5))


def test_statements_that_belong_together() -> None:
    A = te.placeholder((8,), name="A")

    def body(ins: Any, outs: Any) -> Any:
        ib = tir.ir_builder.create()
        a, b = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        for begin in (0, 4):
            with ib.new_scope():
                factor = ib.let("factor", a[begin] + 2.0)
                with ib.for_range(begin, begin + 4) as i:
                    b[i] = a[i] * factor
        return ib.get()

    B = te.extern((8,), [A], body, name="B", dtype="float32")
    found = tvm.nd.empty((8,))
    tvm.build(te.create_schedule(B.op), [A, B])(X, found)
    np.testing.assert_array_equal(found, X * np.repeat([2, 6], 4))


# -- AutoTVM ---------------------------------------------------------------------------------------

fallbacks: list[bool] = []


@autotvm.template("tests/spaces")
def by_spaces() -> Any:
    A, B = scaled()
    s = te.create_schedule(B.op)
    cfg = autotvm.get_config()
    cfg.define_split("tile", B.op.axis[0], num_outputs=2)
    cfg.define_knob("vec", [0, 1])
    fallbacks.append(cfg.is_fallback)
    if cfg.is_fallback:
        cfg["tile"] = autotvm.task.space.SplitEntity([-1, 4])
        cfg["vec"] = autotvm.task.space.OtherOptionEntity(1)
    _, inner = cfg["tile"].apply(s, B, B.op.axis[0])
    if cfg["vec"].val:
        s[B].vectorize(inner)
    return s, [A, B]


def test_a_template_chooses_where_nothing_is_known() -> None:
    made = by_spaces()
    assert fallbacks.pop()
    assert "vectorize(4)" in str(tvm.lower(*made))
    run(tvm.build(*made))


def test_configurations_by_number() -> None:
    task = autotvm.task.create("tests/spaces", args=(), target="llvm")
    space = task.config_space
    assert len(space) == 8
    found = [space.get(number) for number in range(8)]
    assert len({str(one.places) for one in found}) == 8
    assert [one["vec"].val for one in found] == [0] * 4 + [1] * 4
    for one in found:
        run(tvm.build(*task.instantiate(one)))
    assert not fallbacks.pop()
    with pytest.raises(ArgumentValueError, match="there are 8 configurations, and none is 8"):
        space.get(8)
