"""Stages that are no computes, and steps about memory and hardware."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid, te
from hybridjit.errors import ScheduleError
from hybridjit.hybrid import output_tensor
from tests.support.classic_runs import make_inputs, run_both


@hybrid.script
def smoothed(a: Any) -> Any:
    b = output_tensor(a.shape, a.dtype)
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            b[y, x] = a[y, x] * 2 + 1
    return b


def make_scan(n: Any, m: Any) -> Any:
    X = te.placeholder((m, n), "int64", "X")
    state = te.placeholder((m, n), "int64", "state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    doubled = te.compute((m, n), lambda t, i: state[t - 1, i] * 2, name="doubled")
    update = te.compute((m, n), lambda t, i: doubled[t, i] + X[t, i], name="update")
    return X, init, doubled, update, te.scan(init, update, state, inputs=[X])


def test_steps_of_a_scan_are_stages() -> None:
    X, init, doubled, update, Y = make_scan(7, 5)
    s = te.create_schedule(Y.op)
    outer, inner = s[update].split(update.op.axis[1], factor=4)
    s[update].vectorize(inner)
    s[doubled].compute_at(s[update], outer)
    s[init].vectorize(init.op.axis[1])
    assert [stage.op.name for stage in s.stages][-3:] == ["doubled", "update", "scan"]
    x, y = run_both(s, [X, Y], make_inputs([X, Y]))
    expected = x.copy()
    for t in range(1, 5):
        expected[t] += 2 * expected[t - 1]
    np.testing.assert_array_equal(y, expected)


def test_steps_of_a_scan_may_be_inlined() -> None:
    X, _, doubled, _, Y = make_scan(3, 4)
    s = te.create_schedule(Y.op)
    s[doubled].compute_inline()
    run_both(s, [X, Y], make_inputs([X, Y]))
    assert "doubled" not in str(hj.lower(s, [X, Y]))


def test_a_scan_stays_in_order() -> None:
    X, _, _, update, Y = make_scan(3, 4)
    s = te.create_schedule(Y.op)
    s[Y].parallel(Y.op.scan_axis)
    with pytest.raises(hj.ScheduleError, match="cannot be parallel"):
        hj.lower(s, [X, Y])
    with pytest.raises(hj.ScheduleError, match="'update' is an update of the scan 'scan'"):
        s[update].compute_inline()
    with pytest.raises(hj.ScheduleError, match="'update' is a step of the scan 'scan'"):
        s.cache_write(update, "local")


def test_loops_of_a_script_are_axes() -> None:
    A = te.placeholder((9, 13), name="A")
    P = te.compute((9, 13), lambda i, j: A[i, j] + 1, name="P")
    B: Any = smoothed(P)
    C = te.compute((9, 13), lambda i, j: B[i, j] * 3, name="C")
    s = te.create_schedule(C.op)
    y, x = B.op.axis
    xo, xi = s[B].split(x, factor=4)
    s[B].reorder(xo, y, xi)
    s[B].vectorize(xi)
    s[P].compute_at(s[B], y)
    a, c = run_both(s, [A, C], make_inputs([A, C]))
    np.testing.assert_allclose(c, ((a + 1) * 2 + 1) * 3, rtol=1e-6)


def test_a_script_reads_inlined_and_cached_tensors() -> None:
    A = te.placeholder((5, 6), name="A")
    P = te.compute((5, 6), lambda i, j: A[i, j] + 1, name="P")
    B: Any = smoothed(P)
    s = te.create_schedule(B.op)
    s[P].compute_inline()
    run_both(s, [A, B], make_inputs([A, B]))
    s = te.create_schedule(B.op)
    PL = s.cache_read(P, "local", [B])
    s[PL].compute_at(s[B], B.op.axis[0])
    run_both(s, [A, B], make_inputs([A, B]))
    assert "P_local" in str(hj.lower(s, [A, B]))


# -- memory and hardware ---------------------------------------------------------------------------


def make_chain() -> Any:
    A = te.placeholder((12, 10), name="A")
    B = te.compute((12, 10), lambda i, j: A[i, j] * 2, name="B")
    C = te.compute((12, 10), lambda i, j: B[i, j] + 1, name="C")
    return A, B, C, te.create_schedule(C.op)


def test_memory_of_a_stage() -> None:
    A, B, C, s = make_chain()
    s[B].set_scope("local")
    s[B].storage_align(B.op.axis[0], 8, 1)
    run_both(s, [A, C], make_inputs([A, C]))
    assert 'allocate((12, 17), "float32", "local"' in str(hj.lower(s, [A, C]))


def test_the_layout_of_a_stage() -> None:
    A, B, C, s = make_chain()
    s[B].transform_layout("i, j -> j, i")
    run_both(s, [A, C], make_inputs([A, C]))
    assert "allocate((10, 12)" in str(hj.lower(s, [A, C]))


def test_two_places_for_a_stage() -> None:
    A, B, C, s = make_chain()
    s[B].compute_at(s[C], C.op.axis[0])
    s[B].double_buffer()
    run_both(s, [A, C], make_inputs([A, C]))
    assert "allocate((2," in str(hj.lower(s, [A, C]))


def test_hints() -> None:
    A, B, C, s = make_chain()
    outer, inner = s[C].split(C.op.axis[0], nparts=3)
    s[C].pragma(outer, "auto_unroll_max_step", 16)
    s[C].pragma(inner, "unroll")
    s[C].prefetch(B, C.op.axis[1], 4)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    run_both(s, [A, C], make_inputs([A, C]))
    text = str(hj.lower(s, [A, C]))
    for part in ('"auto_unroll_max_step": 16', "unroll(4)", '"prefetch_B": 4', '"threadIdx.x"'):
        assert part in text


def test_a_stage_in_another_layout_is_fetched() -> None:
    A, B, C, s = make_chain()
    s[C].prefetch(B, C.op.axis[1], 4)
    s[B].transform_layout("i, j -> j, i")
    s[B].set_scope("local")
    run_both(s, [A, C], make_inputs([A, C]))
    assert '"prefetch_B": 4' in str(hj.lower(s, [A, C]))


@hybrid.script
def two_nests(a: Any) -> Any:
    b = output_tensor(a.shape, a.dtype)
    c = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        if i > 0:
            b[i] = a[i] - a[i - 1]
        else:
            b[i] = a[i]
    for i in range(a.shape[0]):
        c[i] = a[i] * 2
    return b, c


@pytest.mark.parametrize("size", [1, 7])  # with one element, `i > 0` is never true
def test_all_that_a_script_makes_gets_the_scope(size: int) -> None:
    A = te.placeholder((size,), name="A")
    B, C = two_nests(A)
    D = te.compute((size,), lambda i: B[i] + C[i], name="D")
    s = te.create_schedule(D.op)
    s[B].split(B.op.axis[0], factor=1)
    s[B].set_scope("local")
    run_both(s, [A, D], make_inputs([A, D]))
    assert str(hj.lower(s, [A, D])).count('"local"') == 2


ADD_ONE = """
def add_one(x: float32[10], y: float32[10]):
    for i in {loop}(10):
        y[i] = x[i] + 1.0
"""


def test_an_intrinsic_takes_a_loop() -> None:
    sides = [hj.parse(ADD_ONE.format(loop=loop)) for loop in ("range", "vectorize")]
    hj.intrinsic("add_one", *sides)
    A, _, C, s = make_chain()
    s[C].tensorize(C.op.axis[1], "add_one")
    run_both(s, [A, C], make_inputs([A, C]))
    assert "vectorize(10)" in str(hj.lower(s, [A, C]))


def test_an_axis_of_one_iteration() -> None:
    A = te.placeholder((), name="A")
    B = te.compute((), lambda: A[()] + 1, name="B")
    s = te.create_schedule(B.op)
    s[B].parallel(s[B].fuse())
    run_both(s, [A, B], make_inputs([A, B]))


@pytest.mark.parametrize(
    ("kind", "left"),
    [
        ("elementwise", ["T", "R", "S", "C"]),
        ("broadcast", ["T", "S", "C"]),
        ("injective", ["S", "C"]),
    ],
)
def test_stages_are_inlined_by_kind(kind: Any, left: list[str]) -> None:
    A = te.placeholder((4, 6), name="A")
    E = te.compute((4, 6), lambda i, j: A[i, j] * 2, name="E")
    R = te.compute((4, 6), lambda i, j: E[i, j] + A[i, 0], name="R")
    T = te.compute((6, 4), lambda i, j: R[j, i], name="T")
    k = te.reduce_axis((0, 4), "k")
    S = te.compute((6,), lambda i: te.sum(T[i, k], axis=k), name="S")
    C = te.compute((6,), lambda i: S[i] + 1, name="C")
    s = te.create_schedule(C.op)
    s.auto_inline(kind)
    assert {stage.op.name for stage in s.stages if stage.attached is None} == {"A", *left}
    run_both(s, [A, C], make_inputs([A, C]))


def shaped_gather() -> tuple[list[Any], Any]:
    """What is read at rows that nobody knows, and depends on their numbers."""
    A, I = te.placeholder((5, 4), name="A"), te.placeholder((3,), "int32", "I")  # noqa: E741
    Q = te.compute((5, 4), lambda i, j: A[i, j] + 1, name="Q")
    P = te.compute((5, 4), lambda i, j: Q[i, j] * i, name="P")
    C = te.compute((3, 4), lambda i, j: P[I[i], j], name="C")
    return [A, I, C], P


@pytest.mark.parametrize(
    "name", ["AutoInlineElemWise", "AutoInlineBroadcast", "AutoInlineInjective"]
)
def test_what_cannot_be_inlined_is_computed(name: str) -> None:
    args, P = shaped_gather()
    s = te.create_schedule(args[-1].op)
    getattr(te.schedule, name)(s)
    s[P].vectorize(P.op.axis[1])
    inputs = make_inputs(args)
    inputs[1] = np.array([4, 0, 2], "int32")
    found = run_both(s, args, inputs)[-1]
    rows = inputs[1].astype("float32")[:, None]
    np.testing.assert_array_equal(found, (inputs[0] + np.float32(1))[inputs[1]] * rows)
    assert [block.name for block in hj.Schedule(hj.lower(s, args)).blocks()] == ["P", "C"]
    s[P].compute_root()
    s[P].compute_inline()
    with pytest.raises(ScheduleError, match="not proved to be in bounds"):
        hj.lower(s, args)


def test_steps_of_scans_and_stages_with_loops_are_not_inlined() -> None:
    A, state = te.placeholder((4, 6), name="A"), te.placeholder((4, 6), name="state")
    B = te.compute((4, 6), lambda i, j: A[i, j] * 2, name="B")
    init = te.compute((1, 6), lambda _, j: B[0, j], name="init")
    update = te.compute((4, 6), lambda t, j: state[t - 1, j] + B[t, j], name="update")
    C = te.scan(init, update, state, name="C")
    s = te.create_schedule(C.op)
    outer, _ = s[B].split(B.op.axis[1], factor=4)
    s[B].reorder(outer, B.op.axis[0])
    s.auto_inline()
    assert s[B].attached is s[update].attached is None
    *_, found = run_both(s, [A, C], make_inputs([A, C]))
    inputs = make_inputs([A, C])
    np.testing.assert_allclose(found, (inputs[0] * 2).cumsum(0), rtol=1e-6)


@pytest.mark.parametrize("scope", ["global", ""])
def test_arguments_are_in_global_memory(scope: str) -> None:
    A = te.placeholder((16,), name="A")
    B = te.compute((16,), lambda i: A[i] * 2, name="B")
    C = te.compute((16,), lambda i: B[i] + 1, name="C")
    s = te.create_schedule(C.op)
    for tensor in (A, B, C):
        s[tensor].set_scope(scope)
    for args in ([A, C], [A, B, C]):
        a, *_, found = run_both(s, args, make_inputs(args))
        np.testing.assert_array_equal(found, a * 2 + 1)


def test_a_group_is_placed_together() -> None:
    A = te.placeholder((16,), name="A")
    B = te.compute((16,), lambda i: A[i] * 2, name="B")
    C = te.compute((16,), lambda i: B[i] + 1, name="C")
    D = te.compute((16,), lambda i: C[i] * 3, name="D")
    s = te.create_schedule(D.op)
    outer, _ = s[D].split(D.op.axis[0], factor=5)
    group = s.create_group(C, A)
    assert [stage.op.name for stage in group.stages] == ["B", "C"]
    group.compute_at(s[D], outer)
    run_both(s, [A, D], make_inputs([A, D]))


def test_golden_matmul(golden: Any) -> None:
    A, B = te.placeholder((37, 23), name="A"), te.placeholder((23, 50), name="B")
    k = te.reduce_axis((0, 23), "k")
    C = te.compute((37, 50), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    CL = s.cache_write(C, "local")
    xo, yo, _, yi = s[C].tile(*C.op.axis, 8, 16)
    s[CL].compute_at(s[C], yo)
    ko, ki = s[CL].split(CL.op.reduce_axis[0], factor=4)
    s[CL].reorder(ko, *CL.op.axis, ki)
    s[CL].unroll(ki)
    s[C].parallel(xo)
    s[C].vectorize(yi)
    func = hj.lower(s, [A, B, C], name="matmul")
    assert hj.structural_equal(hj.parse(str(func)), func)
    golden.check(str(func), "ir")
