"""Classic schedules of stages with several outputs, copies made after axes were shaped, layouts of
arguments, factors that are known at run time, and groups.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import te
from hybridjit.errors import ScheduleError
from tests.support.classic_runs import make_inputs, run_both

Pair = tuple[Any, Any, Any, Any, Any]
N, M, K = 13, 10, 7


def pair(shape: tuple[Any, ...] = (N, M)) -> Pair:
    """A stage with two outputs, and one that reads both: A, B, C, D and a schedule of D."""
    a = te.placeholder(shape, name="A")
    b, c = te.compute(shape, lambda i, j: (a[i, j] + 1, a[i, j] * 2), name="BC")
    d = te.compute(shape, lambda i, j: b[i, j] - c[i, j], name="D")
    return a, b, c, d, te.create_schedule(d.op)


def product() -> tuple[Any, Any, Any, Any]:
    """A product of matrices and its schedule: A, B, C."""
    a, b = te.placeholder((N, K), "int32", "A"), te.placeholder((K, M), "int32", "B")
    k = te.reduce_axis((0, K), "k")
    c = te.compute((N, M), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return a, b, c, te.create_schedule(c.op)


def shifted() -> tuple[Any, Any, Any]:
    a = te.placeholder((N, M), name="A")
    c = te.compute((N, M), lambda i, j: a[i, j] * 3 + 1, name="C")
    return a, c, te.create_schedule(c.op)


def run(s: Any, args: list[Any], sizes: dict[str, int] | None = None) -> list[Any]:
    return run_both(s, args, make_inputs(args, sizes))


# -- stages with several outputs -------------------------------------------------------------------


@pytest.mark.parametrize("factor", [None, 1, 4, 20])
@pytest.mark.parametrize("which", [0, 1])
def test_both_outputs_are_computed_where_they_are_read(factor: int | None, which: int) -> None:
    a, b, c, d, s = pair()
    axis = d.op.axis[0] if factor is None else s[d].split(d.op.axis[0], factor)[0]
    s[(b, c)[which]].compute_at(s[d], axis)
    run(s, [a, d])
    assert str(hj.lower(s, [a, d])).index("for") < str(hj.lower(s, [a, d])).index("allocate")


def test_what_an_iteration_needs_of_either() -> None:
    a = te.placeholder((N,), name="A")
    b, c = te.compute((N,), lambda i: (a[i] + 1, a[i] * 2), name="BC")
    d = te.compute((N - 3,), lambda i: b[i] * c[i + 3], name="D")
    s = te.create_schedule(d.op)
    s[b].compute_at(s[d], s[d].split(d.op.axis[0], 4)[0])
    s[b].vectorize(s[b].split(b.op.axis[0], 4)[1])
    run(s, [a, d])


def test_one_output_that_nobody_reads() -> None:
    a, b, _, _, _ = pair()
    d = te.compute((N, M), lambda i, j: b[i, j] * 5, name="D")
    s = te.create_schedule(d.op)
    s[b].compute_at(s[d], d.op.axis[1])
    run(s, [a, d])


def _least(index: Any, value: Any) -> Any:
    return te.const(-1, index), te.min_value(value)


def test_an_arg_reduction_where_it_is_read() -> None:
    a = te.placeholder((N, M), name="A")
    k = te.reduce_axis((0, M), "k")
    argmax = te.comm_reducer(
        lambda x, y: (
            te.if_then_else(x[1] >= y[1], x[0], y[0]),
            te.if_then_else(x[1] >= y[1], x[1], y[1]),
        ),
        _least,
    )
    place = te.compute((N, M), lambda i, j: j, name="place")
    index, value = te.compute((N,), lambda i: argmax((place[i, k], a[i, k]), axis=k), name="T")
    d = te.compute((N,), lambda i: value[i] + index[i].astype("float32"), name="D")
    s = te.create_schedule(d.op)
    s[value].compute_at(s[d], s[d].split(d.op.axis[0], 4)[0])
    s[index].split(index.op.reduce_axis[0], 3)
    x, found = run(s, [a, d])
    np.testing.assert_allclose(found, x.max(1) + x.argmax(1), rtol=1e-6)


def test_an_output_that_is_needed_elsewhere_stays() -> None:
    a, b, c, d, _ = pair()
    e = te.compute((N, M), lambda i, j: c[i, j] + d[N - 1 - i, j], name="E")
    s = te.create_schedule(e.op)
    s[b].compute_at(s[d], d.op.axis[0])
    run(s, [a, e])  # each row is computed once, so c may be read later
    s[b].compute_at(s[d], d.op.axis[1])
    run(s, [a, e])


# -- copies of what is written ---------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1, 4, 20])
def test_a_copy_has_the_axes_as_they_are(factor: int) -> None:
    a, b, c, s = product()
    io, ii = s[c].split(c.op.axis[0], factor)
    s[c].reorder(io, c.op.axis[1], ii)
    copy = s.cache_write(c, "local")
    assert copy.shape == (-(-N // factor), M, factor)
    assert s[c].leaf_iter_vars == c.op.axis
    run(s, [a, b, c])


def test_a_copy_of_turned_axes() -> None:
    a, c, s = shifted()
    s[c].reorder(*c.op.axis[::-1])
    assert s.cache_write(c, "global").shape == (M, N)
    run(s, [a, c])


def test_a_copy_of_fused_axes() -> None:
    a, c, s = shifted()
    s[c].split(s[c].fuse(*c.op.axis), nparts=3)
    assert s.cache_write(c, "global").shape == (3, -(-N * M // 3))
    run(s, [a, c])


def test_axes_of_reductions_go_to_the_copy() -> None:
    a, b, c, s = product()
    ko, ki = s[c].split(c.op.reduce_axis[0], 4)
    io, ii = s[c].split(c.op.axis[0], 5)
    s[c].reorder(io, ko, ii, ki)
    copy = s.cache_write(c, "local")
    assert copy.shape == (3, M, 5)
    s[copy].split(copy.op.reduce_axis[0], 2)
    run(s, [a, b, c])


def test_naming_an_axis_from_before_brings_it_back() -> None:
    a, b, c, s = product()
    xo, yo, xi, yi = s[c].tile(*c.op.axis, 4, 5)
    copy = s.cache_write(c, "local")
    s[copy].compute_at(s[c], yo)
    assert s[c].leaf_iter_vars == (xo, yo, xi, yi)
    s[c].vectorize(yi)
    run(s, [a, b, c])


def test_axes_may_be_made_anew() -> None:
    a, c, s = shifted()
    before = s[c].split(c.op.axis[0], 4)[0]
    copy = s.cache_write(c, "local")
    outer, inner = s[c].split(c.op.axis[0], 5)
    s[copy].compute_at(s[c], outer)
    s[c].unroll(inner)
    run(s, [a, c])
    with pytest.raises(ScheduleError, match="was made before, and other axes have been made"):
        s[c].unroll(before)


def test_how_an_axis_runs_stays() -> None:
    a, c, s = shifted()
    s[c].vectorize(c.op.axis[1])
    s.cache_write(c, "local")
    assert "vectorize" in str(hj.lower(s, [a, c]))
    run(s, [a, c])


def test_how_an_axis_runs_is_not_forgotten() -> None:
    _, c, s = shifted()
    s[c].vectorize(s[c].split(c.op.axis[1], 4)[1])
    with pytest.raises(ScheduleError, match="it has been said how axis 'j_1' of 'C' runs"):
        s.cache_write(c, "local")


def test_axes_fused_with_reduced_ones_are_refused() -> None:
    _, _, c, s = product()
    s[c].fuse(c.op.axis[1], c.op.reduce_axis[0])
    with pytest.raises(ScheduleError, match="cannot be a dimension"):
        s.cache_write(c, "local")


def test_a_copy_of_a_copy() -> None:
    a, c, s = shifted()
    first = s.cache_write(c, "local")
    second = s.cache_write(first, "local")
    s[first].compute_at(s[c], c.op.axis[0])
    s[second].compute_at(s[first], first.op.axis[0])
    run(s, [a, c])


def test_reductions_over_what_depends_on_an_axis() -> None:
    a = te.placeholder((N, N), "int32", "A")

    def summed(i: Any) -> Any:
        k = te.reduce_axis((0, i + 1), "k")
        return te.sum(a[i, k], axis=k)

    c = te.compute((N,), summed, name="C")
    s = te.create_schedule(c.op)
    s[c].split(c.op.axis[0], 4)
    s.cache_write(c, "local")
    x, found = run(s, [a, c])
    np.testing.assert_array_equal(found, np.tril(x).sum(1))


@pytest.mark.parametrize("is_split", [False, True])
def test_copies_of_several_outputs(is_split: bool) -> None:
    a, b, c, _, _ = pair()
    s = te.create_schedule(b.op)
    axis = s[b].split(b.op.axis[0], 5)[0] if is_split else b.op.axis[0]
    first, second = s.cache_write([b, c], "local")
    s[first].compute_at(s[b], axis)
    assert second.op is first.op
    run(s, [a, b, c])


def test_a_copy_of_sizes_of_the_run() -> None:
    n, m = te.size_var("n"), te.size_var("m")
    a = te.placeholder((n, m), name="A")
    c = te.compute((n, m), lambda i, j: a[i, j] + 1, name="C")
    for n_now, m_now in ((0, 3), (8, 5), (9, 1)):
        s = te.create_schedule(c.op)
        xo, xi = s[c].split(c.op.axis[0], factor=4)
        s[c].reorder(xo, c.op.axis[1], xi)
        s.cache_write(c, "global")
        run(s, [a, c], {"n": n_now, "m": m_now})


# -- layouts of arguments --------------------------------------------------------------------------


def _turned(x: Any) -> Any:
    return x.T


def _flat(x: Any) -> Any:
    return x.reshape(-1)


def _tiles(x: Any) -> Any:
    return x.reshape(4, 4, 8).transpose(0, 2, 1)


def _tiles_of_two(x: Any) -> Any:
    return x.reshape(2, 2, 4, 8).transpose(3, 0, 1, 2)


LAYOUTS: dict[str, Any] = {
    "i, j -> j, i": _turned,
    "i, j -> i // 4, j, i % 4": _tiles,
    "i, j -> j, i // 4 // 2, i // 4 % 2, i % 4": _tiles_of_two,
    "i, j -> i * 8 + j": _flat,
}


def layered() -> tuple[Any, Any, Any]:
    a = te.placeholder((16, 8), name="A")
    b = te.compute((16, 8), lambda i, j: a[i, j] + 1, name="B")
    return a, b, te.compute((16, 8), lambda i, j: b[i, j] * a[15 - i, j], name="C")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("which", [0, 1, 2])
def test_an_argument_is_passed_in_its_layout(layout: str, which: int) -> None:
    tensors = layered()
    s = te.create_schedule(tensors[2].op)
    s[tensors[which]].transform_layout(layout)
    x: Any = np.random.default_rng(0).random((16, 8)).astype("float32")
    wanted: list[Any] = [x, x + 1, (x + 1) * x[::-1]]
    wanted[which] = np.ascontiguousarray(LAYOUTS[layout](wanted[which]))
    given: list[Any] = [wanted[0], *(np.full(item.shape, 9, "float32") for item in wanted[1:])]
    func = hj.build(s, list(tensors))
    for call in (func, func.interpret):
        arrays = [item.copy() for item in given]
        call(*arrays)
        for found, expected in zip(arrays, wanted, strict=True):
            np.testing.assert_array_equal(found, expected)


def _packed(i: Any, j: Any) -> Any:
    return [i // 4, j, i % 4]


def test_a_layout_gives_its_axes() -> None:
    a, _, c = layered()
    s = te.create_schedule(c.op)
    io, j, ii = s[c].transform_layout(_packed)
    assert s[c].leaf_iter_vars == c.op.axis
    s[c].vectorize(ii)
    assert s[c].leaf_iter_vars == (io, j, ii)
    assert "vectorize(4)" in str(hj.lower(s, [a, c]))
    assert s[c].transform_layout("i, j, k -> k, j, i") == ()


def test_a_layout_of_a_sum() -> None:
    a, b, c, s = product()
    jo, i, _ = s[c].transform_layout("i, j -> j // 5, i, j % 5")
    s[c].reorder(i, jo)
    x, y, _ = make_inputs([a, b, c])
    found: Any = np.zeros((2, N, 5), "int32")
    hj.build(s, [a, b, c])(x, y, found)
    np.testing.assert_array_equal(found, (x @ y).reshape(N, 2, 5).transpose(1, 0, 2))


def test_a_size_that_is_lost_is_refused() -> None:
    n = te.size_var("n")
    c = te.compute((n,), lambda i: i, name="C")
    s = te.create_schedule(c.op)
    s[c].transform_layout("i -> i // 4, i % 4")
    with pytest.raises(ScheduleError, match="no argument has the size 'n'"):
        hj.lower(s, [c])


# -- factors that are known at run time ------------------------------------------------------------


def sized() -> tuple[Any, ...]:
    n, f = te.size_var("n"), te.var("f")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] * 2, name="B")
    c = te.compute((n,), lambda i: b[i] + 1, name="C")
    return f, a, b, c, te.create_schedule(c.op)


def check_sizes(s: Any, args: list[Any]) -> None:
    func = hj.build(s, args)
    for n in (0, 1, 7, 16):
        for f in (-3, 0, 1, 4, 100):
            x: Any = np.arange(n, dtype="float32")
            for call in (func, func.interpret):
                found = np.zeros(n, "float32")
                call(f, x, found)
                np.testing.assert_array_equal(found, x * 2 + 1)


@pytest.mark.parametrize("option", ["factor", "nparts"])
def test_a_factor_of_the_run(option: str) -> None:
    f, a, _, c, s = sized()
    s[c].split(c.op.axis[0], **{option: f + 1})
    check_sizes(s, [f, a, c])


def test_a_stage_in_such_an_axis() -> None:
    f, a, b, c, s = sized()
    s[b].compute_at(s[c], s[c].split(c.op.axis[0], f)[0])
    check_sizes(s, [f, a, c])


def test_tiles_of_the_run() -> None:
    n, m = te.size_var("n"), te.size_var("m")
    a = te.placeholder((n, m), name="A")
    c = te.compute((n, m), lambda i, j: a[i, j] + 1, name="C")
    s = te.create_schedule(c.op)
    s[c].tile(*c.op.axis, c.shape[1], np.int64(4))
    func = hj.build(s, [a, c])
    for shape in ((9, 3), (4, 0), (0, 4)):
        x: Any = np.random.default_rng(0).random(shape).astype("float32")
        found = np.zeros_like(x)
        func(x, found)
        np.testing.assert_array_equal(found, x + 1)


def test_a_factor_of_another_type() -> None:
    _, a, _, c, s = sized()
    f = te.var("f", "int32")
    s[c].split(c.op.axis[0], f * 2)
    func = hj.build(s, [f, a, c])
    found = np.zeros(7, "float32")
    func(np.int32(2), np.arange(7, dtype="float32"), found)
    np.testing.assert_array_equal(found, np.arange(7) * 2 + 1)


def test_a_factor_that_nobody_passes_is_refused() -> None:
    f, a, _, c, s = sized()
    s[c].split(c.op.axis[0], f)
    with pytest.raises(ScheduleError, match="cannot read 'f' in the size 'f'"):
        hj.lower(s, [a, c])


# -- groups ----------------------------------------------------------------------------------------


def chain(length: int) -> tuple[Any, list[Any], Any]:
    made: list[Any] = [te.placeholder((N, M), name="T0")]
    for k in range(1, length):
        made.append(te.compute((N, M), partial(_next, made[-1]), name=f"T{k}"))
    return made[0], made[1:], te.create_schedule(made[-1].op)


def _next(before: Any, i: Any, j: Any) -> Any:
    return before[i, j] + 1


def test_stages_know_their_group() -> None:
    a, (b, c, d, e), s = chain(5)
    inner = s.create_group(outputs=b, inputs=a)
    group = s.create_group(outputs=c, inputs=a)
    assert (s[b].group, s[c].group, s[d].group) == (inner, group, None)
    assert (inner.group, group.group) == (group, None)
    assert (inner.num_child_stages, group.num_child_stages) == (1, 2)
    s[b].compute_at(s[c], c.op.axis[1])
    group.compute_at(s[d], d.op.axis[0])
    assert group.attach_stage is s[d]
    assert group.attach_ivar is d.op.axis[0]
    assert s[b].attach_stage is s[c]  # inside of the group it stays where it is
    run(s, [a, e])
    group.compute_root()
    assert group.attach_stage is None
    assert s[c].attached is None
    run(s, [a, e])


def test_a_group_inside_of_one() -> None:
    a, (b, c, _, _), s = chain(5)
    group = s.create_group(outputs=c, inputs=a)
    inner = s.create_group(outputs=b, inputs=a)
    assert (s[b].group, inner.group, s[c].group) == (inner, group, group)


def test_groups_that_overlap_are_refused() -> None:
    a, (b, c, d, _), s = chain(5)
    s.create_group(outputs=c, inputs=a)
    with pytest.raises(ScheduleError, match="'T2' is in another group"):
        s.create_group(outputs=d, inputs=b)
