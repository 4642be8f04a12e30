"""What LLVM is told about loops: which ones to unroll, at the jump back to their begin.

br i1 %goes_on, label %body, label %done, !llvm.loop !7
!7 = distinct !{ !7, !8 }
!8 = !{ !"llvm.loop.unroll.full" }
"""

from __future__ import annotations

import math
import re

from hybridjit.analysis.limits import loop_extent
from hybridjit.codegen.llvm_types import Module, Value
from hybridjit.ir.stmt import AT_MOST, UNROLL, For, LoopKind, Stmt, While
from hybridjit.ir.visit import walk_stmts

_LOOP = "llvm.loop"
# Small nests, such as those over the window of a stencil, become straight code. Of larger ones LLVM
# may unroll the innermost loop only: it looks at each sum of integers that copies of loops in
# copies of loops hand on to each other, and takes exponential time for that (4 lines with loops of
# 3, 17 and 34 iterations did not compile within minutes).
_MAX_UNROLLED_NEST = 64


def hint_loop(module: Module, jump_back: Value, loop: For) -> None:
    """Say what is to be made of `loop`: the rounds of vector loops and their rests stay as cut."""
    if loop.kind is LoopKind.UNROLLED:
        _add_hint(module, jump_back, "unroll.full")
    elif _stays_as_cut(loop) or _is_large_nest(loop):
        _add_hint(module, jump_back, "unroll.disable")


def _stays_as_cut(loop: For) -> bool:
    return AT_MOST in dict(loop.annotations) or (UNROLL, False) in loop.annotations


def _is_large_nest(loop: For) -> bool:
    """True for a loop around others, with many iterations in all, or nobody knows how many."""
    inner = [stmt for stmt in walk_stmts(loop.body) if _is_loop(stmt)]
    return bool(inner) and math.prod(map(_trips, (loop, *inner))) > _MAX_UNROLLED_NEST


def _is_loop(stmt: Stmt) -> bool:
    """Whether LLVM sees a loop: lanes are none, and what is marked so is unrolled at once."""
    straight = (LoopKind.VECTORIZED, LoopKind.UNROLLED)
    return isinstance(stmt, While) or (isinstance(stmt, For) and stmt.kind not in straight)


def _trips(loop: Stmt) -> float:
    extent = loop_extent(loop) if isinstance(loop, For) else None
    return math.inf if extent is None else max(1, extent)


def _add_hint(module: Module, jump_back: Value, hint: str) -> None:
    inner = module.add_metadata([f"{_LOOP}.{hint}"])
    jump_back.set_metadata(_LOOP, module.add_metadata([inner]))


def finish_hints(text: str) -> str:
    """Let the metadata of each loop refer to itself, as LLVM wants it and llvmlite cannot say."""
    if _LOOP not in text:
        return text
    return re.sub(r"^(!\d+) = !\{ (!\d+) \}$", r"\1 = distinct !{ \1, \2 }", text, flags=re.M)
