"""te.decl_tensor_intrin: intrinsics for computes, used by a schedule."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import te
from hybridjit.errors import HybridError
from hybridjit.interp.run import interpret
from hybridjit.intrinsics.registry import INTRINSICS
from hybridjit.ir.dtype import INT32
from hybridjit.ir.expr import Add, Const, Load, Mul
from hybridjit.ir.stmt import Store, seq
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.support.tensor_programs import run_natively

TE: Any = te  # as a caller without a type checker has it


@pytest.fixture(autouse=True)
def no_intrinsics() -> Iterator[None]:
    yield
    INTRINSICS.clear()


def dot(size: int, dtype: str = "int32") -> te.Tensor:
    a = te.placeholder((size,), dtype, "a")
    b = te.placeholder((size,), dtype, "b")
    k = te.reduce_axis((0, size), "k")
    return te.compute((), lambda: te.sum(a[k] * b[k], axis=k), name="c")


def unrolled_update(ins: Any, outs: Any, size: int) -> Any:
    """c += a[0] * b[0], and so on, without a loop."""
    return seq(
        *(
            Store(
                outs[0],
                (),
                Add(
                    Load(outs[0], ()),
                    Mul(Load(ins[0], (Const(k),)), Load(ins[1], (Const(k),))),
                ),
            )
            for k in range(size)
        )
    )


def declare(size: int) -> Any:
    op = dot(size).op

    def body(ins: Any, outs: Any) -> Any:
        update = unrolled_update(ins, outs, size)
        start = Store(outs[0], (), Const(0, outs[0].dtype))
        return seq(start, update), unrolled_update(ins, outs, size)

    return te.decl_tensor_intrin(op, body, f"dot{size}")


def test_declared_by_name() -> None:
    intrin = declare(4)
    assert intrin.name == "dot4"
    assert INTRINSICS.find("dot4") is not None
    assert INTRINSICS.find("dot4_update") is not None


def test_used_by_a_schedule() -> None:
    declare(4)
    a, b = te.placeholder((3, 8), "int32", "A"), te.placeholder((8,), "int32", "B")
    k = te.reduce_axis((0, 8), "k")
    c = te.compute((3,), lambda i: te.sum(a[i, k] * b[k], axis=k), name="C")
    before = te.create_prim_func([a, b, c])
    s = Schedule(before)
    i, loop = s.loops("C")
    s.decompose_reduction("C", i)
    _, inner = s.split(loop, factor=4)
    s.tensorize(inner, "dot4_update")
    assert "dot4" not in str(before)
    generator = np.random.default_rng(1)
    x, y = (generator.integers(0, 9, shape).astype(np.int32) for shape in ((3, 8), (8,)))
    for run in (interpret, run_natively):
        found = np.full(3, 77, np.int32)
        run(s.func, [x, y, found])
        np.testing.assert_array_equal(found, x @ y)


def wrong(ins: Any, outs: Any) -> Any:
    return Store(outs[0], (), Const(3, outs[0].dtype))


def four(ins: Any, outs: Any) -> Any:
    return [wrong(ins, outs)] * 4


def chained() -> Any:
    c = dot(4)
    return te.compute((), lambda: c + 1, name="d").op


def copied(*shape: Any) -> Any:
    a = te.placeholder(shape, "int32", "a")
    return te.compute(shape, lambda i, j: a[i, j], name="c").op


CALLS: dict[str, Callable[[], object]] = {
    "tensor_instead_of_an_operation": lambda: TE.decl_tensor_intrin(dot(4), wrong),
    "computes_something_else": lambda: te.decl_tensor_intrin(dot(4).op, wrong, "wrong"),
    "several_operations": lambda: te.decl_tensor_intrin(chained(), wrong),
    "sizes_of_the_run": lambda: te.decl_tensor_intrin(copied(te.var("n"), 4), wrong),
    "strides_of_the_run": lambda: te.decl_tensor_intrin(copied(4, te.var("n")), wrong),
    "four_statements": lambda: te.decl_tensor_intrin(dot(4).op, four, "four"),
}


@pytest.mark.parametrize("case", CALLS)
def test_refusal(case: str, golden: Golden) -> None:
    with pytest.raises(HybridError, match=r"\w") as caught:
        CALLS[case]()
    golden.check(caught.value.render("short"), "txt")


def test_intrinsics_without_a_name_have_one_each() -> None:
    def negated(sign: int) -> Any:
        a = te.placeholder((4,), "int32", "a")
        b = te.compute((4,), lambda i: a[i] * sign, name="b")

        def scaled(ins: Any, outs: Any) -> Any:
            values = [Mul(Load(ins[0], (Const(i),)), Const(sign, INT32)) for i in range(4)]
            return seq(*(Store(outs[0], (Const(i),), value) for i, value in enumerate(values)))

        return te.decl_tensor_intrin(b.op, scaled)

    A = te.placeholder((3, 4), "int32", "A")
    B = te.compute((3, 4), lambda i, j: A[i, j] * 2, name="B")
    C = te.compute((3, 4), lambda i, j: B[i, j] * 3, name="C")
    s = te.create_schedule(C.op)
    intrinsics = negated(2), negated(3)
    assert intrinsics[0].name != intrinsics[1].name
    s[B].tensorize(B.op.axis[1], intrinsics[0])
    s[C].tensorize(C.op.axis[1], intrinsics[1])
    x = np.full((3, 4), 5, np.int32)
    out = np.zeros_like(x)
    hj.build(s, [A, C])(x, out)
    np.testing.assert_array_equal(out, x * 6)


def test_what_adds_is_the_update_of_a_reduction() -> None:
    """TVM's tutorial gives it for the whole, too."""

    def update(ins: Any, outs: Any) -> Any:
        return unrolled_update(ins, outs, 4)

    te.decl_tensor_intrin(dot(4).op, update, "adds")
    assert INTRINSICS.find("adds") is None
    assert INTRINSICS.find("adds_update") is not None
