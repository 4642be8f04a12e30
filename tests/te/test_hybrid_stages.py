"""Scripts called on tensors as stages: their loops, what they read, what reads them."""

from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid, te
from hybridjit.errors import ScheduleError
from hybridjit.hybrid import allocate, const_range, output_tensor, scan
from tests.conftest import Golden
from tests.support.classic_runs import make_inputs, run_both

Array = Any
Made = tuple[Any, Any]


@hybrid.script
def outer(a: Any, b: Any) -> Any:
    c = output_tensor((a.shape[0], b.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            c[i, j] = a[i] * b[j]
    return c


@hybrid.script
def matmul(a: Any, b: Any) -> Any:
    c = output_tensor((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


@hybrid.script
def blur(a: Any) -> Any:
    sums = allocate((a.shape[0],), a.dtype)
    b = output_tensor((a.shape[0],), a.dtype)
    for i in range(1, a.shape[0] - 1):
        sums[i] = a[i - 1] + a[i + 1]
    for x in range(1, a.shape[0] - 1):
        b[x] = sums[x] * 2
    return b


@hybrid.script
def running(a: Any) -> Any:
    c = output_tensor(a.shape, a.dtype)
    c[0] = a[0]
    for t in scan(1, a.shape[0]):
        c[t] = c[t - 1] + a[t]
    return c


@hybrid.script
def mixed(parts: Any, scale: Any, count: Any) -> Any:
    c = output_tensor((parts[0].shape[0],), "int32")
    d = output_tensor((count,), "int32")
    for i in range(parts[0].shape[0]):
        for k in const_range(len(parts)):
            c[i] += parts[k][i] * scale
    for x in range(count):
        d[x] = x * scale
    return c, d


@hybrid.script
def table(a: Any, b: Any) -> Any:
    return a[:, None] * b[None, :] + 1


A, B = te.placeholder((16,), "int32", "A"), te.placeholder((10,), "int32", "B")
X = te.placeholder((16, 8), "int32", "X")


def doubled() -> Any:
    return te.compute((16,), lambda i: A[i] * 2, name="D")


def check(s: Any, args: list[Any], sizes: dict[str, int] | None = None) -> str:
    """Run a schedule against the graph without it; gives the IR."""
    run_both(s, args, make_inputs(args, sizes))
    return str(hj.lower(s, args))


# -- their own loops -------------------------------------------------------------------------------


def test_loops_are_split_and_run_in_any_kind() -> None:
    c: Any = outer(A, B)
    s = te.create_schedule(c.op)
    i, j = c.op.axis
    io, ii = s[c].split(i, factor=4)
    s[c].reorder(io, j, ii)
    s[c].parallel(io)
    s[c].vectorize(ii)
    text = check(s, [A, B, c])
    assert "in parallel(4)" in text
    assert "in vectorize(4)" in text


def test_loops_of_sizes_of_the_run() -> None:
    n = te.var("n")
    x = te.placeholder((n,), "int32", "X")
    c: Any = outer(x, x)
    s = te.create_schedule(c.op)
    _, inner = s[c].split(c.op.axis[1], factor=8)
    s[c].vectorize(inner)
    check(s, [x, c], {"n": 13})


def test_several_nests() -> None:
    c: Any = blur(A)
    s = te.create_schedule(c.op)
    first, second = c.op.axis
    s[c].parallel(first)
    s[c].vectorize(second)
    check(s, [A, c])


def test_a_step_that_would_change_the_result() -> None:
    c: Any = running(A)
    s = te.create_schedule(c.op)
    s[c].parallel(c.op.axis[0])
    with pytest.raises(ScheduleError, match="cannot be parallel: a scan carries state"):
        hj.lower(s, [A, c])


def test_whole_arrays() -> None:
    c: Any = table(A, B)
    s = te.create_schedule(c.op)
    s[c].parallel(c.op.axis[0])
    check(s, [A, B, c])


# -- what they read --------------------------------------------------------------------------------


def test_a_producer_is_inlined() -> None:
    d = doubled()
    c: Any = outer(d, B)
    s = te.create_schedule(c.op)
    s[d].compute_inline()
    assert "D" not in check(s, [A, B, c])


def test_a_producer_is_inlined_in_a_scan() -> None:
    d = doubled()
    c: Any = running(d)
    s = te.create_schedule(c.op)
    s[d].compute_inline()
    assert "D" not in check(s, [A, c])


def test_a_producer_is_attached(golden: Golden) -> None:
    d = doubled()
    c: Any = outer(d, B)
    s = te.create_schedule(c.op)
    io, _ = s[c].split(c.op.axis[0], factor=4)
    s[d].compute_at(s[c], io)
    golden.check(check(s, [A, B, c]), "ir")


def test_a_reduction_is_attached() -> None:
    k = te.reduce_axis((0, 8), "k")
    d = te.compute((16,), lambda i: te.sum(X[i, k], axis=k), name="D")
    c: Any = outer(d, B)
    s = te.create_schedule(c.op)
    s[d].compute_at(s[c], c.op.axis[0])
    check(s, [X, B, c])


def test_a_producer_that_is_read_before_the_loop() -> None:
    d = doubled()
    c: Any = running(d)
    s = te.create_schedule(c.op)
    s[d].compute_at(s[c], c.op.axis[0])
    with pytest.raises(ScheduleError, match="'D' is used outside of loop 't'"):
        hj.lower(s, [A, c])


def test_a_copy_of_what_is_read() -> None:
    c: Any = outer(A, B)
    s = te.create_schedule(c.op)
    copy = s.cache_read(A, "local", [c])
    s[copy].compute_at(s[c], c.op.axis[0])
    assert "A_local" in check(s, [A, B, c])


# -- what reads them -------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda: outer(A, B), lambda: matmul(X, X8)])
def test_a_script_is_attached_in_what_reads_it(make: Any) -> None:
    c = make()
    e: Any = te.compute(c.shape, lambda i, j: c[i, j] + 1, name="E")
    s = te.create_schedule(e.op)
    s[c].compute_at(s[e], e.op.axis[0])
    s[e].parallel(e.op.axis[0])
    check(s, [*c.op.input_tensors, e])


X8 = te.placeholder((8, 5), "int32", "X8")


def test_a_script_is_inlined_in_what_reads_it() -> None:
    c: Any = outer(A, B)
    e = te.compute((16, 10), lambda i, j: c[i, j] + 1, name="E")
    s = te.create_schedule(e.op)
    s[c].compute_inline()
    assert 'block("c"' not in check(s, [A, B, e])


def test_a_script_with_sums_is_not_inlined() -> None:
    c: Any = matmul(X, X8)
    e = te.compute((16, 5), lambda i, j: c[i, j] + 1, name="E")
    s = te.create_schedule(e.op)
    s[c].compute_inline()
    with pytest.raises(ScheduleError, match="compute_inline"):
        hj.lower(s, [X, X8, e])


def test_a_script_in_a_script() -> None:
    c: Any = outer(A, B)
    weights = te.compute((10, 5), lambda i, j: B[i] + j, name="W")
    d: Any = matmul(c, weights)
    s = te.create_schedule(d.op)
    s[d].parallel(d.op.axis[0])
    s[c].compute_at(s[d], d.op.axis[0])
    check(s, [A, B, d])


# -- arguments -------------------------------------------------------------------------------------


def test_lists_variables_and_constants() -> None:
    parts = [te.placeholder((16,), "int32", f"P{k}") for k in range(3)]
    d = te.compute((16,), lambda i: parts[0][i] + 1, name="D")
    count = te.var("count")
    c, e = mixed([d, *parts[1:]], te.const(3, "int32"), count)
    f = te.compute((count,), lambda i: e[i] + 1, name="F")
    s = te.create_schedule([c.op, f.op])
    s[d].compute_inline()
    args: list[Any] = [count, *parts, c, f]
    run_both(s, [*args, e], make_inputs([*args, e], {"count": 7}))


def test_a_te_expression_as_an_argument() -> None:
    n = te.var("n")
    c, d = mixed([A], np.int32(2), n * 2 + 1)
    s = te.create_schedule(c.op)
    run_both(s, [n, A, c, d], [5, *make_inputs([A, c]), np.zeros(11, np.int32)])
