"""What LLVM's loop vectoriser is told about loops.

A math function is a long chain of instructions that wait for each other. Two vectors at a time
keep the processor busy; LLVM's own guess, which looks at the size of the body, is one.
"""

from __future__ import annotations

import re

from llvmlite import ir

from hybridjit.analysis.work import is_innermost
from hybridjit.codegen.llvm_types import I32, Module, Value
from hybridjit.codegen.math.bounds import BOUNDS
from hybridjit.ir.expr import Call, Pow
from hybridjit.ir.stmt import For
from hybridjit.ir.visit import walk

INTERLEAVE = 2
_CHEAP = ("sqrt", "rsqrt", "hypot")
_HINT = "llvm.loop.interleave.count"


def hint_loop(module: Module, jump_back: Value, loop: For) -> None:
    """Say how `loop` is to be vectorised, at the jump back to its begin."""
    if is_innermost(loop) and _calls_math(loop):
        count = ir.Constant(I32, INTERLEAVE)
        hints = module.add_metadata([module.add_metadata([_HINT, count])])
        jump_back.set_metadata("llvm.loop", hints)


def _calls_math(loop: For) -> bool:
    for node in walk(loop.body):
        if isinstance(node, Pow) and node.dtype.is_float:
            return True
        if isinstance(node, Call) and node.name in BOUNDS and node.name not in _CHEAP:
            return True
    return False


def finish_hints(text: str) -> str:
    """Let the metadata of each loop refer to itself, as LLVM wants it and llvmlite cannot say."""
    if _HINT not in text:
        return text
    return re.sub(r"^(!\d+) = !\{ (!\d+) \}$", r"\1 = distinct !{ \1, \2 }", text, flags=re.M)
