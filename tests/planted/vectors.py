"""Bugs planted in vector code: in cutting loops, masks, memory and lanes.

Each must be noticed by a comparison of native code with the interpreter on guarded arrays.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir as llvm_ir

from hybridjit import Kernel
from hybridjit.analysis.private_reduction import PrivateReduction
from hybridjit.arith.simplify import simplify
from hybridjit.codegen.emit import emitter, expression_facts, expressions, statements, vector_memory
from hybridjit.codegen.emit.vector_memory import Access
from hybridjit.codegen.emit.vector_values import Ramp, splat
from hybridjit.codegen.llvm_types import I64
from hybridjit.ir.expr import Const
from hybridjit.lowering import cut_loops, private_lanes
from tests.codegen import test_vectors as vectors
from tests.codegen.test_vectors import array
from tests.planted.bugs import Bug, Check, everywhere, replaced
from tests.support.guarded import check_guarded
from tests.support.oracle import fresh


def guarded(kernel: Kernel[..., Any], *args: Any) -> Check:
    """Native calls on guarded arrays agree with the interpreter."""

    def check() -> None:
        check_guarded(fresh(kernel), args)

    check.__name__ = kernel.__name__

    return check


def _floats(size: int = 39) -> tuple[Any, Any]:
    return array(size, np.float32), array(size, np.float32, seed=1)


# -- the bugs --------------------------------------------------------------------------------------

_rest = vars(cut_loops)["_rest"]
_at = vars(cut_loops)["_at"]
_whole = Ramp.whole


def longer_rest(loop: Any, first: Any, lanes: int, count: Any) -> Any:
    return _rest(loop, first, lanes, simplify(count + 1))


def shorter_rest(loop: Any, first: Any, lanes: int, count: Any) -> Any:
    return _rest(loop, first, lanes, simplify(count - 1))


def unguarded_rest(loop: Any, first: Any, lanes: int, count: Any) -> Any:
    return _rest(loop, first, lanes, Const(lanes))


def later_start(loop: Any, number: int) -> Any:
    return _at(loop, number + (number > 0))


def same_number(loop: Any) -> Any:
    return Const(0)


def wrong_steps(self: Any, b: Any, lanes: int) -> Any:
    return _whole(dataclasses.replace(self, stride=abs(self.stride)), b, lanes)


def first_only(self: Any, b: Any, lane: Any) -> Any:
    return self.base


def all_lanes(self: Any) -> Any:
    return llvm_ir.Constant(llvm_ir.VectorType(llvm_ir.IntType(1), self.lanes), 1)


def unmasked_row(self: Any, value: Any, address: Any, mask: Any) -> None:
    _store_row(self, value, address, None)


_store_row = vars(Access)["_store_row"]
_dot = vars(vector_memory)["dot"]


def doubled_scale(b: Any, vectors: Any, strides: Any, *, exact: bool = True) -> Any:
    two = llvm_ir.Constant(strides[0].type, 2)
    return _dot(b, vectors, [b.mul(stride, two) for stride in strides], exact=exact)


def from_one_place(self: Any, places: Any, part: int) -> Any:
    first = self.b.extract_element(places.offsets, llvm_ir.Constant(I64, 0))
    offsets = splat(self.b, first, self.lanes)
    return _load_at(self, dataclasses.replace(places, offsets=offsets), part)


_load_at = vars(Access)["_load_at"]


def assigns_all(self: Any, register: Any, value: Any) -> None:
    register.store(self.b, value)


def keeps_divisor(self: Any, y: Any, expr: Any) -> Any:
    return y


def uniform(self: Any, expr: Any) -> bool:
    return False


def runs_always(self: Any, stmt: Any) -> None:
    self.run(stmt)


def identity_one(self: Any, fastmath: Any = ()) -> Const:
    return Const(1, self.buffer.dtype)


def lane_zero(b: Any, flags: Any) -> Any:
    return llvm_ir.Constant(I64, 0)


def never(b: Any, flags: Any) -> Any:
    return llvm_ir.Constant(llvm_ir.IntType(1), 0)


def forward(b: Any, vector: Any) -> Any:
    return vector


def too_close(self: Any) -> list[int]:
    return [step * self.array.dtype.bits // 8 for step in range(2, 9)]


def wrong_late_afresh() -> tuple[Any, tuple[Any, ...]]:
    """The case, without code that an earlier test has left in memory.

    Nothing is stored before an index is checked: there, iterations run again, in order.
    """
    kernel, args = vectors.wrong_late()
    kernel.clear()
    return kernel, args


BUGS = (
    Bug(
        "the rest has one iteration too many",
        [replaced(cut_loops, "_rest", longer_rest)],
        guarded(vectors.copy, *_floats()),
        needs="avx2",
    ),
    Bug(
        "the rest has one iteration too few",
        [replaced(cut_loops, "_rest", shorter_rest)],
        guarded(vectors.copy, *_floats()),
        needs="avx2",
    ),
    Bug(
        "the rest has no guard",
        [replaced(cut_loops, "_rest", unguarded_rest)],
        guarded(vectors.copy, *_floats()),
        needs="avx2",
    ),
    Bug(
        "vectors after the first start one late",
        [replaced(cut_loops, "_at", later_start)],
        guarded(vectors.copy, *_floats()),
    ),
    Bug(
        "lanes step forwards only",
        [replaced(Ramp, "whole", wrong_steps)],
        guarded(vectors.downwards, *_floats()),
    ),
    Bug(
        "reversed rows are not reversed",
        [replaced(vector_memory, "reverse", forward)],
        guarded(vectors.copy, array(37, np.float32, -1), array(37, np.float32)),
    ),
    Bug(
        "reversed rows start at the first lane",
        [replaced(Ramp, "lane", first_only)],
        guarded(vectors.copy, array(37, np.float32, -1), array(37, np.float32)),
    ),
    Bug(
        "gathers ignore the mask",
        [replaced(Access, "_flags", property(all_lanes))],
        guarded(vectors.shifted, array(37, np.float32, 9), array(37, np.float32), 30),
    ),
    Bug(
        "stores ignore the mask",
        [replaced(Access, "_store_row", unmasked_row)],
        guarded(vectors.branches, *_floats()),
    ),
    Bug(
        "gathers have the wrong scale",
        [replaced(vector_memory, "dot", doubled_scale)],
        guarded(vectors.gathered, array(41, np.float32), np.arange(20), np.zeros(20, np.float32)),
    ),
    Bug(
        "elements that lie anywhere are all the first one",
        [replaced(Access, "_load_at", from_one_place)],
        guarded(vectors.gathered, array(41, np.float32), np.arange(20), np.zeros(20, np.float32)),
    ),
    Bug(
        "rows of strided elements go too far",
        [replaced(Access, "_close_strides", property(too_close))],
        guarded(vectors.copy, array(2, np.int8, 4)[:2], np.zeros(2, np.int8)),
    ),
    Bug(
        "assignments ignore the mask",
        [replaced(statements, "_assign", assigns_all)],
        guarded(vectors.inner_loop, array(185, np.int16).reshape(37, 5), np.zeros(37, np.int16)),
    ),
    Bug(
        "what varies is taken for uniform",
        [everywhere(expression_facts, "varies", uniform)],
        guarded(vectors.chosen, array(20, np.float32), np.arange(37) - 9, np.zeros(37)),
    ),
    Bug(
        "divisors of lanes that are not active are kept",
        [everywhere(expressions, "checked_divisor", keeps_divisor)],
        guarded(vectors.divisions, array(37, np.int32), array(37, np.int32, seed=1)),
        needs="sse2",
    ),
    Bug(
        "masked code runs without active lanes",
        [replaced(statements, "_run_if_any", runs_always)],
        guarded(vectors.checked_late, np.arange(30), np.zeros(30, np.int64)),
    ),
    Bug(
        "masked code never runs",
        [replaced(expressions, "any_lane", never)],
        guarded(vectors.inner_loop, array(185, np.int16).reshape(37, 5), np.zeros(37, np.int16)),
        needs="avx2",
    ),
    Bug(
        "partial sums start at one",
        [replaced(PrivateReduction, "identity", identity_one)],
        guarded(vectors.reductions, array(37, np.int32), np.arange(37)),
    ),
    Bug(
        "all lanes have one partial result",
        [replaced(private_lanes, "lane_number", same_number)],
        guarded(vectors.reductions, array(37, np.int32), np.arange(37)),
    ),
    Bug(
        "errors are those of lane 0",
        [replaced(emitter, "first_lane", lane_zero)],
        partial(vectors.test_errors_are_those_of_the_first_lane, wrong_late_afresh),
    ),
)
