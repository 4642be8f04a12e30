"""Externs that see their inputs and outputs with strides of their own."""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid, te
from hybridjit.errors import HybridError
from hybridjit.interp.run import interpret
from hybridjit.ir.dtype import FLOAT64
from hybridjit.ir.expr import Cast, Const, Load, Var
from hybridjit.ir.stmt import For, Store, seq
from tests.conftest import Golden
from tests.support.tensor_programs import assert_computes, run_natively

Array = Any
TE: Any = te  # as a caller without a type checker has it
A = te.placeholder((3, 4), "float64", "A")


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * 6)
def c_negate(source: int, target: int, *sizes: int) -> None:
    rows, columns, *strides = sizes
    for i in range(rows):
        for j in range(columns):
            found = source + 8 * (i * strides[0] + j * strides[1])
            there = target + 8 * (i * strides[2] + j * strides[3])
            ctypes.c_double.from_address(there).value = -ctypes.c_double.from_address(found).value


NEGATE = hybrid.extern(c_negate, None, ["float64*", "float64*", *["int64"] * 6], name="negate")


def negate(ins: Any, outs: Any) -> Any:
    strides = (*ins[0].strides, *outs[0].strides)
    return NEGATE(ins[0], outs[0], *ins[0].shape, *strides)


def padded(*strides: Any, offset: int = 0, name: str = "buffer") -> Any:
    return te.decl_buffer((3, 4), "float64", name, strides=strides, elem_offset=offset)


VALUE: Array = np.random.default_rng(3).random((3, 4))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("target", [(4, 1), (1, 3), (10, 2), (1, 7)])
@pytest.mark.parametrize("source", [(4, 1), (1, 3), (6, 1), (2, 9)])
@pytest.mark.parametrize("offset", [0, 5])
def test_any_strides(source: Any, target: Any, offset: int) -> None:
    b = te.extern(
        (3, 4),
        [A],
        negate,
        name="B",
        in_buffers=[padded(*source, offset=offset)],
        out_buffers=[padded(*target, offset=offset)],
    )
    c = te.compute((3, 4), lambda i, j: b[i, j] * 2, name="C")
    assert_computes([A, b], [VALUE], -VALUE)
    assert_computes([A, c], [VALUE], VALUE * -2)


def test_strides_that_are_what_they_are(golden: Golden) -> None:
    """Variables in the place of strides: nothing is copied."""
    n = te.var("n")
    x = te.placeholder((3, n), "float64", "X")
    seen = te.decl_buffer((3, n), "float64", strides=[te.var("s0"), te.var("s1")])
    b = te.extern((3, n), [x], negate, name="B", in_buffers=[seen], out_buffers=None)
    golden.check(str(te.create_prim_func([x, b])), "ir")
    assert_computes([x, b], [VALUE, np.ones((3, 4))], -VALUE)


def test_a_copy_is_made_for_other_strides(golden: Golden) -> None:
    b = te.extern((3, 4), [A], negate, name="B", in_buffers=[padded(1, 3)])
    golden.check(str(te.create_prim_func([A, b])), "ir")


def test_a_stride_that_is_a_size_is_asked_for() -> None:
    """The size of another input is known: it is not what the stride happens to be."""
    n = te.var("n")
    x = te.placeholder((n,), "float64", "X")
    ins = [te.decl_buffer((3, 4), "float64", strides=[n, 1]), te.decl_buffer((n,), "float64")]

    def stride_of_the_copy(ins: Any, outs: Any) -> Any:
        return Store(outs[0], (Const(0),), Cast(FLOAT64, ins[0].strides[0]))

    b = te.extern((1,), [A, x], stride_of_the_copy, name="B", in_buffers=ins)
    assert_computes([A, x, b], [VALUE, np.ones(9)], np.array([9.0]))


def test_empty_arrays() -> None:
    x = te.placeholder((0, 4), "float64", "X")
    seen = te.decl_buffer((0, 4), "float64", strides=[9, 2])
    b = te.extern((0, 4), [x], negate, name="B", in_buffers=[seen])
    assert_computes([x, b], [np.ones((0, 4))], np.ones((0, 4)))


def test_ir_built_by_hand_sees_the_elements() -> None:
    def transpose(ins: Any, outs: Any) -> Any:
        i, j = Var("i"), Var("j")
        store = Store(outs[0], (j, i), Load(ins[0], (i, j)))
        inner = For(j, Const(0), Const(4), Const(1), store)
        return For(i, Const(0), Const(3), Const(1), inner)

    seen = te.decl_buffer((4, 3), "float64", strides=[5, 1], elem_offset=2)
    b = te.extern((4, 3), [A], transpose, in_buffers=[padded(1, 3)], out_buffers=[seen])
    assert_computes([A, b], [VALUE], VALUE.T)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
def c_copy(target: int, source: int, count: int) -> None:
    ctypes.memmove(target, source, 8 * count)


COPY = hybrid.extern(c_copy, None, ["float64*", "float64*", "int64"], name="copy_elements")


def turned(ins: Any, outs: Any) -> Any:
    """The rows, each by a call of its own, in the other order."""
    i = Var("i")
    source = ins[0].access_ptr("r", offset=i * ins[0].strides[0])
    target = outs[0].access_ptr("w", offset=outs[0].strides[0] * (2 - i), content_lanes=1)
    return For(i, Const(0), Const(3), Const(1), COPY(target, source, 4))


@pytest.mark.parametrize(
    "buffers",
    [{}, {"in_buffers": [padded(4, 1)]}, {"in_buffers": [padded(6, 1)]},
     {"in_buffers": [padded(5, 1)],
      "out_buffers": [te.decl_buffer((3, 4), "float64", strides=[8, 1], elem_offset=2)]},
     {"in_buffers": [padded(te.var("stride"), 1)]}],
)  # fmt: skip
def test_pointers_to_rows(buffers: Any) -> None:
    func = te.create_prim_func([A, te.extern((3, 4), [A], turned, **buffers)])
    for run in (interpret, run_natively):
        out = np.full_like(VALUE, 7)
        run(func, [VALUE, out])
        np.testing.assert_array_equal(out, VALUE[::-1])


def test_pointers_to_elements_and_to_all() -> None:
    def body(ins: Any, outs: Any) -> Any:
        first = COPY(outs[0].access_ptr("w", offset=4), ins[0].data, 2)
        return [first, COPY(outs[0].data, ins[0].access_ptr("r", offset=2), 4)]

    line = te.placeholder((6,), "float64", "line")
    value = np.arange(6.0)
    assert_computes([line, te.extern((6,), [line], body)], [value], np.roll(value, -2))
    row = te.placeholder((1, 6), "float64", "row")
    made = te.extern((1, 6), [row], body)
    assert_computes([row, made], [value[None]], np.roll(value, -2)[None])


def test_tags_and_attributes() -> None:
    b = te.extern((3, 4), [A], negate, tag="mine", attrs={"key": 3})
    assert (b.op.tag, b.op.attrs) == ("mine", {"key": 3})


def with_buffers(**options: Any) -> Any:
    return te.extern((3, 4), [A], negate, **options)


CALLS: dict[str, Callable[[], object]] = {
    "other_count": lambda: with_buffers(in_buffers=[]),
    "no_buffer": lambda: with_buffers(out_buffers=[3]),
    "other_shape": lambda: with_buffers(in_buffers=[te.decl_buffer((4, 3), "float64")]),
    "other_type": lambda: with_buffers(in_buffers=[te.decl_buffer((3, 4), "int32")]),
    "other_rank": lambda: padded(1),
    "overlapping_strides": lambda: padded(2, 1),
    "negative_strides": lambda: padded(4, -1),
    "unknown_hint": lambda: TE.decl_buffer((3, 4), color="red"),
    "unknown_access": lambda: padded(4, 1).access_ptr("x"),
    "unknown_pointer_hint": lambda: TE.decl_buffer((3, 4)).access_ptr("r", color="red"),
    "offset_inside_a_row": lambda: padded(4, 1).access_ptr("r", offset=6),
    "offset_without_dimensions": lambda: te.decl_buffer(()).access_ptr("r", offset=1),
}


@pytest.mark.parametrize("case", CALLS)
def test_refusal(case: str, golden: Golden) -> None:
    with pytest.raises(HybridError, match=r"\w") as caught:
        CALLS[case]()
    golden.check(caught.value.render("short"), "txt")


def copied_in(pieces: int) -> Any:
    """Copy eight elements by calls on neighbouring pieces of them."""
    a = te.placeholder((8,), "float64", "a")
    c = te.compute((8,), lambda i: a[i], "c")

    def in_pieces(ins: Any, outs: Any) -> Any:
        size = 8 // pieces
        calls = [
            COPY(outs[0].access_ptr("w", offset=k), ins[0].access_ptr("r", offset=k), size)
            for k in range(0, 8, size)
        ]
        return seq(*calls)

    return te.decl_tensor_intrin(c.op, in_pieces, name=f"copy_in_{pieces}")


@pytest.mark.parametrize("pieces", [1, 2, 4])
def test_intrinsics_that_are_given_pieces(pieces: int) -> None:
    a = te.placeholder((5, 8), "float64", "a")
    b = te.compute((5, 8), lambda i, j: a[i, j], "b")
    s = te.create_schedule(b.op)
    s[b].tensorize(b.op.axis[1], copied_in(pieces))
    line: Any = np.arange(40.0)
    value = line.reshape(5, 8)
    out = np.zeros((5, 8))
    hj.build(s, [a, b])(value, out)
    np.testing.assert_array_equal(out, value)
