"""What a classic schedule refuses, and what it says: the text of each error is golden."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid, te
from hybridjit.errors import ScheduleError
from hybridjit.lowering.entry import lower
from hybridjit.runtime.modules.module import build


class Example:
    """Two stages over a placeholder, and a reduction, with their schedule."""

    def __init__(self) -> None:
        self.A = te.placeholder((8, 6), name="A")
        self.B = te.compute((8, 6), lambda i, j: self.A[i, j] * 2, name="B")
        self.k = te.reduce_axis((0, 6), "k")
        self.C = te.compute((8,), lambda i: te.sum(self.B[i, self.k], axis=self.k), name="C")
        self.s = te.create_schedule(self.C.op)
        self.axis = self.C.op.axis[0]

    def lower(self) -> None:
        lower(self.s, [self.A, self.C])


def stage_of_a_number(x: Example) -> None:
    x.s[3]


def stage_of_another_graph(x: Example) -> None:
    x.s[Example().C]


def schedule_of_a_number(x: Example) -> None:
    te.create_schedule(3)


def split_by_both(x: Example) -> None:
    x.s[x.C].split(x.axis, factor=2, nparts=3)


def split_by_neither(x: Example) -> None:
    x.s[x.C].split(x.axis)


def split_by_zero(x: Example) -> None:
    x.s[x.C].split(x.axis, factor=0)


def split_twice(x: Example) -> None:
    x.s[x.C].split(x.axis, factor=2)
    x.s[x.C].split(x.axis, factor=2)


def split_a_fused_axis(x: Example) -> None:
    x.s[x.B].fuse(*x.B.op.axis)
    x.s[x.B].split(x.B.op.axis[0], factor=2)


def split_an_axis_of_another_stage(x: Example) -> None:
    x.s[x.C].split(x.B.op.axis[0], factor=2)


def split_a_number(x: Example) -> None:
    wrong: Any = 3
    x.s[x.C].split(wrong, factor=2)


def split_a_parallel_axis(x: Example) -> None:
    x.s[x.C].parallel(x.axis)
    x.s[x.C].split(x.axis, factor=2)


def split_an_axis_with_a_hint(x: Example) -> None:
    x.s[x.C].pragma(x.axis, "auto_unroll_max_step", 16)
    x.s[x.C].split(x.axis, factor=2)


def fuse_axes_that_fetch(x: Example) -> None:
    x.s[x.B].prefetch(x.A, x.B.op.axis[1], 2)
    x.s[x.B].fuse(*x.B.op.axis)


def fuse_axes_apart(x: Example) -> None:
    outer, _ = x.s[x.B].split(x.B.op.axis[0], factor=2)
    x.s[x.B].fuse(outer, x.B.op.axis[1])


def reorder_one_axis_twice(x: Example) -> None:
    x.s[x.C].reorder(x.axis, x.axis)


def reorder_a_float_reduction(x: Example) -> None:
    ko, ki = x.s[x.C].split(x.k, factor=2)
    x.s[x.C].reorder(ki, ko)
    x.lower()


def vectorize_a_reduced_axis(x: Example) -> None:
    x.s[x.C].vectorize(x.k)
    x.lower()


def parallel_over_a_reduced_axis(x: Example) -> None:
    x.s[x.C].parallel(x.k)
    x.lower()


def bind_to_a_number(x: Example) -> None:
    x.s[x.C].bind(x.axis, 3)


def attach_to_itself(x: Example) -> None:
    x.s[x.B].compute_at(x.s[x.B], x.B.op.axis[0])


def attach_to_an_axis_of_another_stage(x: Example) -> None:
    x.s[x.B].compute_at(x.s[x.C], x.B.op.axis[0])


def attach_an_output(x: Example) -> None:
    x.s[x.C].compute_at(x.s[x.B], x.B.op.axis[0])


def attach_a_placeholder(x: Example) -> None:
    x.s[x.A].compute_at(x.s[x.B], x.B.op.axis[0])


def attach_where_nothing_is_read(x: Example) -> None:
    D = te.compute((8,), lambda i: x.A[i, 0], name="D")
    E = te.compute((8,), lambda i: x.C[i] + D[i], name="E")
    s = te.create_schedule(E.op)
    s[x.B].compute_at(s[D], D.op.axis[0])
    lower(s, [x.A, E])


def attach_what_other_stages_read_too(x: Example) -> None:
    D = te.compute((7,), lambda i: x.B[i, 0] + x.B[i + 1, 0], name="D")
    E = te.compute((7,), lambda i: D[i] + x.B[i, 1], name="E")
    s = te.create_schedule(E.op)
    s[x.B].compute_at(s[D], D.op.axis[0])
    lower(s, [x.A, E])


def attach_in_a_circle(x: Example) -> None:
    D = te.compute((8,), lambda i: x.C[i] + 1, name="D")
    s = te.create_schedule(D.op)
    s[x.B].compute_at(s[x.C], x.C.op.axis[0])
    s[x.C].compute_at(s[x.B], x.B.op.axis[0])
    lower(s, [x.A, D])


def attach_to_a_stage_that_is_read(x: Example) -> None:
    D = te.compute((8,), lambda i: x.C[i] + 1, name="D")
    E = te.compute((8,), lambda i: D[i] + 1, name="E")
    s = te.create_schedule(E.op)
    outer, _ = s[x.C].split(x.C.op.axis[0], factor=2)
    s[D].compute_at(s[x.C], outer)
    lower(s, [x.A, E])


def attach_to_an_inlined_stage(x: Example) -> None:
    D = te.compute((8, 6), lambda i, j: x.B[i, j] + 1, name="D")
    E = te.compute((8, 6), lambda i, j: D[i, j] + 1, name="E")
    s = te.create_schedule(E.op)
    s[x.B].compute_at(s[D], D.op.axis[0])
    s[D].compute_inline()
    lower(s, [x.A, E])


def attach_to_an_axis_that_went_into_a_cache(x: Example) -> None:
    x.s[x.B].compute_at(x.s[x.C], x.k)
    x.s.cache_write(x.C, "local")
    x.lower()


def attach_to_an_axis_that_was_factored(x: Example) -> None:
    s = te.create_schedule(x.C.op, fastmath={"reassoc"})
    s[x.B].compute_at(s[x.C], x.k)
    s.rfactor(x.C, x.k)
    lower(s, [x.A, x.C])


def inline_an_output(x: Example) -> None:
    x.s[x.C].compute_inline()


def inline_a_reduction(x: Example) -> None:
    D = te.compute((8,), lambda i: x.C[i] + 1, name="D")
    te.create_schedule(D.op)[x.C].compute_inline()


def inline_two_outputs(x: Example) -> None:
    D, E = te.compute((8,), lambda i: (x.A[i, 0], x.A[i, 1]), name="D")
    F = te.compute((8,), lambda i: D[i] + E[i], name="F")
    te.create_schedule(F.op)[D].compute_inline()


def inline_what_an_extern_takes(x: Example) -> None:
    D = te.extern((8, 6), [x.B], hybrid.packed(np.copyto), name="D")
    s = te.create_schedule(D.op)
    s[x.B].compute_inline()
    lower(s, [x.A, D])


def read_cache_of_what_is_not_read(x: Example) -> None:
    x.s.cache_read(x.A, "local", [x.C])


def write_cache_of_a_placeholder(x: Example) -> None:
    x.s.cache_write(x.A, "local")


def write_cache_of_two_operations(x: Example) -> None:
    x.s.cache_write([x.C, x.B], "local")


def write_cache_of_one_output_of_two(x: Example) -> None:
    D, _ = te.compute((8,), lambda i: (x.A[i, 0], x.A[i, 1]), name="D")
    te.create_schedule(D.op).cache_write(D, "local")


def write_cache_after_steps(x: Example) -> None:
    x.s[x.C].unroll(x.s[x.C].split(x.axis, factor=2)[1])
    x.s.cache_write(x.C, "local")


def cache_in_an_unknown_scope(x: Example) -> None:
    x.s.cache_write(x.C, "moon")
    x.lower()


def rfactor_of_a_data_axis(x: Example) -> None:
    x.s.rfactor(x.C, x.axis)


def rfactor_of_no_reduction(x: Example) -> None:
    x.s.rfactor(x.B, x.B.op.axis[0])


def rfactor_of_a_split_axis(x: Example) -> None:
    x.s[x.C].split(x.k, factor=2)
    x.s.rfactor(x.C, x.k)


def rfactor_of_floats(x: Example) -> None:
    x.s.rfactor(x.C, x.k)


def rfactor_at_no_place(x: Example) -> None:
    x.s.rfactor(x.C, x.k, 2)


def rfactor_of_a_mixed_axis(x: Example) -> None:
    fused = x.s[x.C].fuse(x.axis, x.k)
    x.s.rfactor(x.C, fused)


def double_buffer_of_an_output(x: Example) -> None:
    x.s[x.C].double_buffer()


def storage_align_of_a_reduced_axis(x: Example) -> None:
    x.s[x.C].storage_align(x.k, 32)


def prefetch_in_one_iteration(x: Example) -> None:
    _, inner = x.s[x.B].split(x.B.op.axis[0], factor=1)
    x.s[x.B].prefetch(x.A, inner, 1)


def prefetch_of_an_inlined_stage(x: Example) -> None:
    x.s[x.C].prefetch(x.B, x.axis, 2)
    x.s[x.B].compute_inline()
    x.lower()


def tensorize_by_an_unknown_intrinsic(x: Example) -> None:
    x.s[x.C].tensorize(x.k, "no_such_intrinsic")
    x.lower()


def tensorize_twice(x: Example) -> None:
    x.s[x.B].tensorize(x.B.op.axis[1], "one")
    x.s[x.B].tensorize(x.B.op.axis[0], "two")


def fuse_an_axis_with_itself(x: Example) -> None:
    x.s[x.B].fuse(x.B.op.axis[0], x.B.op.axis[0])


def tile_one_axis(x: Example) -> None:
    x.s[x.B].tile(x.B.op.axis[0], x.B.op.axis[0], 2, 2)


def bind_a_reduced_axis(x: Example) -> None:
    x.s[x.C].bind(x.k, te.thread_axis("threadIdx.x"))
    x.lower()


def prefetch_a_number(x: Example) -> None:
    wrong: Any = 3
    x.s[x.B].prefetch(wrong, x.B.op.axis[0], 1)


def prefetch_the_same_iteration(x: Example) -> None:
    x.s[x.B].prefetch(x.A, x.B.op.axis[0], 0)


def attach_to_a_tensor(x: Example) -> None:
    wrong: Any = x.C
    x.s[x.B].compute_at(wrong, x.axis)


def attach_to_another_schedule(x: Example) -> None:
    other = te.create_schedule(x.C.op)
    x.s[x.B].compute_at(other[x.C], x.axis)
    x.lower()


class Scanned:
    """A running sum of a stage."""

    def __init__(self) -> None:
        self.A = te.placeholder((8, 6), name="A")
        self.B = te.compute((8, 6), lambda t, i: self.A[t, i] * 2, name="B")
        state = te.placeholder((8, 6), name="state")
        self.init = te.compute((1, 6), lambda t, i: self.B[0, i], name="init")
        self.update = te.compute((8, 6), lambda t, i: state[t - 1, i] + self.B[t, i], name="update")
        self.D = te.scan(self.init, self.update, state, name="D")
        self.s = te.create_schedule(self.D.op)


def attach_an_update_of_a_scan(x: Example) -> None:
    y = Scanned()
    y.s[y.update].compute_at(y.s[y.D], y.D.op.scan_axis)


def split_the_steps_of_a_scan(x: Example) -> None:
    y = Scanned()
    y.s[y.update].split(y.update.op.axis[0], factor=2)


def parallel_steps_of_a_scan(x: Example) -> None:
    y = Scanned()
    y.s[y.D].parallel(y.D.op.scan_axis)
    lower(y.s, [y.A, y.D])


def read_cache_for_a_scan(x: Example) -> None:
    y = Scanned()
    y.s.cache_read(y.B, "local", [y.D])


def write_cache_of_a_scan(x: Example) -> None:
    y = Scanned()
    y.s.cache_write(y.D, "local")


def write_cache_of_a_step(x: Example) -> None:
    y = Scanned()
    y.s.cache_write(y.update, "local")


def write_cache_of_an_extern(x: Example) -> None:
    D = te.extern((8, 6), [x.B], hybrid.packed(np.copyto), name="D")
    te.create_schedule(D.op).cache_write(D, "local")


def split_an_extern(x: Example) -> None:
    D = te.extern((8, 6), [x.B], hybrid.packed(np.copyto), name="D")
    te.create_schedule(D.op)[D].split(x.axis, factor=2)


def group_of_nothing(x: Example) -> None:
    x.s.create_group(x.B, x.C)


def group_from_another_graph(x: Example) -> None:
    x.s.create_group(x.C, Example().A)


def scope_of_an_output(x: Example) -> None:
    x.s[x.C].set_scope("local")
    x.lower()


def scope_of_a_placeholder(x: Example) -> None:
    x.s[x.A].set_scope("local")
    x.lower()


def storage_align_by_zero(x: Example) -> None:
    x.s[x.B].storage_align(x.B.op.axis[0], 0)
    x.lower()


def storage_align_of_the_last_axis(x: Example) -> None:
    x.s[x.B].storage_align(x.B.op.axis[1], 4)
    x.lower()


def double_buffer_of_a_stage_by_itself(x: Example) -> None:
    x.s[x.B].double_buffer()
    x.lower()


def rolling_buffer_of_an_output(x: Example) -> None:
    x.s[x.C].rolling_buffer()


def rolling_buffer_of_a_stage_by_itself(x: Example) -> None:
    x.s[x.B].rolling_buffer()
    x.lower()


def transform_layout_that_mixes_elements_up(x: Example) -> None:
    x.s[x.B].transform_layout("i, j -> i + j")
    x.lower()


def transform_layout_of_other_dimensions(x: Example) -> None:
    x.s[x.B].transform_layout("i -> i")
    x.lower()


def inline_an_unknown_kind(x: Example) -> None:
    wrong: Any = "everything"
    x.s.auto_inline(wrong)


def schedule_of_nothing(x: Example) -> None:
    te.create_schedule([])


def threads_of_a_scan(x: Example) -> None:
    y = Scanned()
    y.s[y.D].env_threads([te.thread_axis("threadIdx.x")])


def store_some_elements(x: Example) -> None:
    x.s[x.B].set_store_predicate(x.B.op.axis[0] > 2)


def output_is_no_argument(x: Example) -> None:
    build(x.s, [x.A])


MISTAKES: list[Any] = [
    made
    for name, made in list(globals().items())
    if callable(made) and getattr(made, "__module__", "") == __name__ and name.islower()
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_mistakes_are_explained(mistake: Callable[[Example], None], golden: Any) -> None:
    with pytest.raises(ScheduleError, match=r"\w") as caught:
        mistake(Example())
    golden.check(str(caught.value), "txt")
