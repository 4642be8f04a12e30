"""What stages and axes say of themselves."""

from __future__ import annotations

from typing import Any

import pytest

from hybridjit import te
from hybridjit.errors import ArgumentError
from hybridjit.schedule.classic.inspection import AttachType


def stages() -> tuple[Any, Any, Any]:
    A = te.placeholder((8, 6), name="A")
    B = te.compute((8, 6), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((8, 6), lambda i, j: B[i, j] * 2, name="C")
    return te.create_schedule(C.op), B, C


def test_axes_and_relations() -> None:
    s, _, C = stages()
    i, j = C.op.axis
    outer, inner = s[C].split(i, factor=4, disable_predication=True)
    fused = s[C].fuse(inner, j)
    assert [axis.name for axis in s[C].leaf_iter_vars] == [outer.name, fused.name]
    assert {axis.var for axis in s[C].all_iter_vars} == {
        axis.var for axis in (i, j, outer, inner, fused)
    }
    split, fuse = s[C].relations
    assert (split.axis, split.outer, split.inner) == (i, outer, inner)
    assert split.parent is i
    assert fuse.parts == (inner, j) == (fuse.outer, fuse.inner)
    assert fuse.fused is fused


def test_where_a_stage_is_computed() -> None:
    s, B, C = stages()
    assert s[B].attach_type == AttachType.GROUP_ROOT == 1
    s[B].compute_inline()
    assert s[B].attach_type == AttachType.INLINE == 2
    s[B].compute_at(s[C], C.op.axis[0])
    assert s[B].attach_type == AttachType.SCOPE == 4
    assert s[B].attach_ivar is C.op.axis[0]
    assert s[B].attach_stage is s[C]
    s[B].compute_root()
    assert s[B].attach_ivar is s[B].attach_stage is None


def test_scope_and_operation() -> None:
    s, B, C = stages()
    assert s[B].scope == ""
    assert s[s.cache_read(B, "local", [C])].scope == "local"
    assert s[C].origin_op is C.op
    assert s.normalize() is s


def test_axes_are_equal_to_themselves() -> None:
    s, B, C = stages()
    i, j = C.op.axis
    assert i == C.op.axis[0]
    assert not i == j  # noqa: SIM201 # each of the two operators
    assert i != j
    assert i in s[C].leaf_iter_vars
    assert B.op.axis[0] not in s[C].leaf_iter_vars
    assert list(s[C].leaf_iter_vars).index(j) == 1


def test_shapes_are_compared() -> None:
    n, m = te.var("n"), te.var("m")
    A, B = te.placeholder((n, m + 1)), te.placeholder((n, m + 1))
    assert A.shape == B.shape
    assert A.shape != te.placeholder((m, n)).shape
    assert te.placeholder((4, 3)).shape == (4, 3)


def test_elements_have_no_truth() -> None:
    A = te.placeholder((4,))
    i = te.compute((4,), lambda i: A[i]).op.axis[0]
    for wrong in (A[i] == 0, i < 3, A[i] == A[i]):
        with pytest.raises(ArgumentError, match="has no truth value"):
            bool(wrong)


def test_comparison_of_axes_is_still_computed() -> None:
    made = te.compute((3, 3), lambda i, j: te.if_then_else(i == j, 1.0, 0.0))
    assert "==" in str(te.create_prim_func([made]))
