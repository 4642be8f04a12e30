"""Modules of LLVM in cycles: they are freed before their contexts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.own_process import run_program

TEXT = "define i64 @f(i64 %x) { %y = add i64 %x, 1 ret i64 %y }"
PROGRAM = """
import gc
from hybridjit.codegen.engine import emit_object, link, optimize
from hybridjit.codegen.llvm_text import make_context, parse_llvm
from hybridjit.processor import current_target

TEXT = {text!r}
target = current_target()
image = emit_object(optimize(TEXT, target), target)

class Interrupt(Exception): pass

def fail_with(*kept):
    raise Interrupt

def parsed():
    fail_with(parse_llvm(TEXT))

def two_of_a_context():
    context = make_context()
    fail_with(parse_llvm(TEXT, context), parse_llvm(TEXT, context))

def optimized():
    fail_with(optimize(TEXT, target))

def linked():
    fail_with([link(image, ("f",), {{}}) for _ in range(40)])

def leave_a_cycle():
    try:
        {what}()
    except Interrupt as error:
        kept = error  # which has this frame

gc.disable()
for _ in range(20):
    leave_a_cycle()
    gc.collect()
print("fine")
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("what", ["parsed", "two_of_a_context", "optimized", "linked"])
def test_modules_in_the_traceback_of_an_interrupt(tmp_path: Path, what: str) -> None:
    assert run_program(tmp_path, PROGRAM.format(text=TEXT, what=what)) == "fine\n"
