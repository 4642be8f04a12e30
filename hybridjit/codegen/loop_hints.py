"""What LLVM is told about loops: which ones to unroll, at the jump back to their begin.

br i1 %goes_on, label %body, label %done, !llvm.loop !7
!7 = distinct !{ !7, !8 }
!8 = !{ !"llvm.loop.unroll.full" }
"""

from __future__ import annotations

import re

from hybridjit.analysis.limits import AT_MOST
from hybridjit.codegen.llvm_types import Module, Value
from hybridjit.ir.stmt import For, LoopKind
from hybridjit.lower.cut_loops import UNROLL

_LOOP = "llvm.loop"


def hint_loop(module: Module, jump_back: Value, loop: For) -> None:
    """Say what is to be made of `loop`: the rounds of vector loops and their rests stay as cut."""
    if loop.kind is LoopKind.UNROLLED:
        _add_hint(module, jump_back, "unroll.full")
    elif AT_MOST in dict(loop.annotations) or (UNROLL, False) in loop.annotations:
        _add_hint(module, jump_back, "unroll.disable")


def _add_hint(module: Module, jump_back: Value, hint: str) -> None:
    inner = module.add_metadata([f"{_LOOP}.{hint}"])
    jump_back.set_metadata(_LOOP, module.add_metadata([inner]))


def finish_hints(text: str) -> str:
    """Let the metadata of each loop refer to itself, as LLVM wants it and llvmlite cannot say."""
    if _LOOP not in text:
        return text
    return re.sub(r"^(!\d+) = !\{ (!\d+) \}$", r"\1 = distinct !{ \1, \2 }", text, flags=re.M)
