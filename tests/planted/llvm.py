"""Bugs of LLVM's kind: our IR is right, and a pass breaks it after we have let go of it.

Each changes the text of the optimised module. What must notice them are the native campaigns, which
hold machine code against plain Python; nothing that looks at our own IR can.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import llvmlite.binding as binding

from hybridjit.codegen import engine
from hybridjit.runtime import compiler
from hybridjit.target import Target
from tests.loops.generate import make_program
from tests.loops.run import Refused, check
from tests.planted.bugs import Bug, Plant, RandomCheck, replaced
from tests.support.choices import Choices

Change = Callable[[str], str]
# Programs until a bug counts as missed.
MAX_PROGRAMS = 300
_llvm: Any = binding
_optimize = engine.optimize


def miscompiled(change: Change) -> Plant:
    """A compiler whose last pass does this to the text of a module."""

    def optimize(text: str, target: Target) -> Any:
        changed = change(str(_optimize(text, target)))
        module = _llvm.parse_assembly(changed, context=_llvm.create_context())
        module.verify()
        return module

    return replaced(compiler, "optimize", optimize)


def in_loops(first: int = 0) -> RandomCheck:
    """Random loop programs give natively what they give in plain Python."""
    return RandomCheck("loops", _check_number, first, MAX_PROGRAMS)


def _check_number(number: int) -> None:
    label = f"planted/{number}"
    rng = random.Random(label)
    try:
        list(check(make_program(Choices(rng.randrange)), rng, label))
    except Refused:
        return


# -- the bugs --------------------------------------------------------------------------------------

_VALUE = r"(?:%[\w.]+|zeroinitializer|splat \([^)]*\)|<[^<>]*>|poison)"
_VECTOR = r"<\d+ x [^<>]+>"


def swapped_selects(text: str) -> str:
    """Lanes take the other one of two values."""
    pattern = rf"(select <\d+ x i1> {_VALUE}), ({_VECTOR} {_VALUE}), ({_VECTOR} {_VALUE})"
    return re.sub(pattern, r"\1, \3, \2", text)


def whole_masked_stores(text: str) -> str:
    """A masked store writes what its mask keeps out, as long as one lane is in."""
    return re.sub(
        rf"(@llvm\.masked\.store[^(]*\(.*?ptr .*?), (<\d+ x i1>) {_VALUE}\)",
        r"\1, \2 splat (i1 true))",
        text,
    )


def empty_masked_loads(text: str) -> str:
    """A masked load gives what stands in for the lanes that are off, in all of them."""
    return re.sub(
        rf"(@llvm\.masked\.load[^(]*\(.*?ptr .*?), (<\d+ x i1>) {_VALUE},",
        r"\1, \2 zeroinitializer,",
        text,
    )


def strict_comparisons(text: str) -> str:
    """Lanes that are equal count as greater."""
    return re.sub(r"fcmp ole (<\d+ x)", r"fcmp olt \1", re.sub(r"icmp sle", "icmp slt", text))


def added_for_subtracted(text: str) -> str:
    """A sign is lost in vectors of floats."""
    return re.sub(r"fsub (<\d+ x)", r"fadd \1", text)


def fused_products(text: str) -> str:
    """Products of floats in straight-line code are not rounded before they are added."""
    return re.sub(r"= (fmul|fadd|fsub) (float|double|<)", r"= \1 contract \2", text)


BUGS: tuple[Bug, ...] = (
    Bug("LLVM swaps selected lanes", [miscompiled(swapped_selects)], in_loops(2)),
    Bug("LLVM forgets the mask of a store", [miscompiled(whole_masked_stores)], in_loops(48)),
    Bug("LLVM loads nothing under a mask", [miscompiled(empty_masked_loads)], in_loops(48)),
    Bug("LLVM compares lanes too strictly", [miscompiled(strict_comparisons)], in_loops(40)),
    Bug("LLVM adds lanes for subtracting them", [miscompiled(added_for_subtracted)], in_loops(98)),
    Bug("LLVM contracts products and sums", [miscompiled(fused_products)], in_loops(16)),
)
