"""Intrinsics called in the body of a te.compute."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid, te
from hybridjit.errors import HybridError
from hybridjit.intrinsics.registry import INTRINSICS
from tests.conftest import Golden
from tests.support.classic_runs import make_inputs, run_both
from tests.support.tensor_programs import assert_computes

Array = Any
TE: Any = te  # as a caller without a type checker has it


@pytest.fixture(autouse=True)
def no_intrinsics() -> Iterator[None]:
    yield
    INTRINSICS.clear()


def add_into(a: Array, b: Array, c: Array) -> None:
    c[...] = a + b


def dot_into(a: Array, b: Array, c: Array) -> None:
    c[...] += a @ b


def vector_add(size: int = 4) -> Any:
    a, b = (te.placeholder((size,), "int32", name) for name in "ab")
    c: Any = te.compute((size,), lambda i: a[i] + b[i], name="c")
    return te.decl_tensor_intrin(c.op, hybrid.packed(add_into), "vector_add")


def rows_times(rows: int = 2, size: int = 4) -> Any:
    a, b = te.placeholder((rows, size), "int32", "a"), te.placeholder((size,), "int32", "b")
    k = te.reduce_axis((0, size), "k")
    c: Any = te.compute((rows,), lambda i: te.sum(a[i, k] * b[k], axis=k), name="c")
    return te.decl_tensor_intrin(c.op, hybrid.packed(dot_into), "rows_times")


A, B = te.placeholder((6, 8), "int32", "A"), te.placeholder((6, 8), "int32", "B")
V = te.placeholder((8,), "int32", "V")


def added() -> tuple[Any, list[te.Tensor]]:
    add = vector_add()
    c: Any = te.compute(
        (6, 2, 4), lambda i, j: add(A[i, j * 4 : j * 4 + 4], B[i, 4 - j * 4 : 8 - j * 4]), name="C"
    )
    return c, [A, B, c]


def multiplied() -> tuple[Any, list[te.Tensor]]:
    times = rows_times()
    k = te.reduce_axis((0, 2), "k")
    c: Any = te.compute(
        (3, 2),
        lambda i: times(
            A[i * 2 : i * 2 + 2, k * 4 : k * 4 + 4], V[k * 4 : k * 4 + 4], reduce_axis=k
        ),
        name="C",
    )
    return c, [A, V, c]


@pytest.mark.parametrize("make", [added, multiplied])
def test_the_stage_calls_the_intrinsic(make: Callable[[], Any], golden: Golden) -> None:
    c, args = make()
    s = te.create_schedule(c.op)
    golden.check(str(hj.lower(s, args)), "ir")
    run_both(s, args, make_inputs(args))


@pytest.mark.parametrize("make", [added, multiplied])
def test_the_other_axes_are_scheduled(make: Callable[[], Any]) -> None:
    c, args = make()

    def one_more(*indices: Any) -> Any:
        return c(*indices) + 1

    d = TE.compute(c.shape, one_more, name="D")
    s = te.create_schedule(d.op)
    outer, _ = s[d].split(d.op.axis[0], factor=2)
    s[c].compute_at(s[d], outer)
    run_both(s, [*args[:-1], d], make_inputs([*args[:-1], d]))


def test_without_a_schedule_it_is_what_is_described() -> None:
    _, args = multiplied()
    x, v = (array for array in make_inputs(args)[:2])
    assert_computes(args, [x, v], (x @ v).reshape(3, 2))


def test_axes_have_names() -> None:
    c, _ = added()
    assert [axis.name for axis in c.op.axis] == ["i", "j", "ax0"]
    c, _ = multiplied()
    assert [axis.name for axis in c.op.reduce_axis] == ["k", "k"]


def test_whole_axes_are_parts() -> None:
    add = vector_add(8)
    c: Any = te.compute((6, 8), lambda i: add(A[i, :], V[:]), name="C")
    x, v = np.ones((6, 8), np.int32), np.arange(8, dtype=np.int32)
    assert_computes([A, V, c], [x, v], x + v)


def of(*parts: Any, **options: Any) -> Any:
    add = vector_add()

    def body(i: Any) -> Any:
        return add(*parts, **options)

    return TE.compute((6, 4), body)


def first_parts(i: Any) -> Any:
    return vector_add()(A[i, 0:4], B[i, 0:4])


def first_element(i: Any) -> Any:
    return A[i, 0]


CALLS: dict[str, Callable[[], object]] = {
    "too_few_parts": lambda: of(A[0, 0:4]),
    "an_element": lambda: of(A[0, 0], B[0, 0:4]),
    "a_whole_tensor": lambda: of(A, B),
    "another_size": lambda: of(A[0, 0:5], B[0, 0:4]),
    "another_rank": lambda: of(A[0:4, 0:4], B[0, 0:4]),
    "another_type": lambda: of(te.placeholder((4,), name="F")[0:4], B[0, 0:4]),
    "a_step": lambda: of(A[0, 0:8:2], B[0, 0:4]),
    "summed_up": lambda: of(A[0, 0:4], B[0, 0:4], reduce_axis=te.reduce_axis((0, 2))),
    "no_reduce_axis": lambda: of(A[0, 0:4], B[0, 0:4], reduce_axis=3),
    "another_result": lambda: TE.compute((6, 5), first_parts),
    "no_intrinsic": lambda: TE.compute((6, 5), first_element),
}


@pytest.mark.parametrize("case", CALLS)
def test_refusal(case: str, golden: Golden) -> None:
    with pytest.raises(HybridError, match=r"\w") as caught:
        CALLS[case]()
    golden.check(caught.value.render("short"), "txt")
