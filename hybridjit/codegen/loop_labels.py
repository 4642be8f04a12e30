"""Which loops LLVM may make vectors of. Every jump back of a module carries the answer.

LLVM's loop vectoriser is not trusted with control flow: where it has to guard what an iteration
does, LLVM 22 reads and writes the wrong elements, and every version so far computes a guarded
division in one lane and uses it in all. So a loop is kept from it unless it is of a class in
`CLASSES`, which is decided by the blocks and instructions that were emitted for it.

    br i1 %goes_on, label %body, label %done, !llvm.loop !7
    !7 = distinct !{ !7, !8 }
    !8 = !{ !"llvm.loop.vectorize.enable", i1 0 }        or !{ !"hybridjit.loop.may_vectorize" }

LLVM does not know the second word. It cannot be "enable": what is forced may add floats in any
order. Passes that copy loops (unswitching, peeling, unrolling) copy the labels, up to the loop
vectoriser at least; and a module without the second word does without that pass (engine.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from llvmlite import ir

from hybridjit.codegen.llvm_types import I1, Block, Function, Module, Value

MAY_VECTORIZE = "hybridjit.loop.may_vectorize"
VARIANTS = '"vector-function-abi-variant"'

# The loops that keep LLVM's vectoriser, each with the reason why it is safe and why we want it.
CLASSES = {
    "straight line": (
        "One basic block, so that no iteration does anything under a condition: nothing is "
        "masked, nothing is computed ahead of its guard. `select` is no control flow: both sides "
        "are computed anyway. No address depends on an integer division of the same iteration. "
        "Loops without a schedule have no vector code of our own yet: left scalar, they take two "
        "to sixteen times as long."
    ),
    "straight line with calls": (
        "The same, calling functions that are straight lines too, LLVM's intrinsics, or math "
        "functions with a branch inside that name their own vector functions (math/library.py): "
        "those are called as they are, and inlined after the vectoriser has run."
    ),
}

_instructions: Any = ir.instructions  # llvmlite has no types that a checker could follow
_VECTOR: Any = ir.VectorType
_FUNCTION: Any = ir.Function
_DIVISIONS = ("sdiv", "udiv", "srem", "urem")
_MATH = "hj."
_LOOP = "llvm.loop"
_LEAVE_SCALAR = ("llvm.loop.vectorize.enable", ir.Constant(I1, 0))


def label_loops(module: Module) -> None:
    """Say at every jump back of `module` whether LLVM may make vectors of the loop."""
    for function in module.functions:
        is_math = function.name.startswith(_MATH)  # whose loops take a few steps towards one number
        for latch, header in find_jumps_back(function):
            may_vectorize = not is_math and _may_vectorize(latch, header)
            label = (MAY_VECTORIZE,) if may_vectorize else _LEAVE_SCALAR
            _add_label(module, latch.terminator, label)


def add_hint(module: Module, jump_back: Value, hint: tuple[str | Value, ...]) -> None:
    """Note what else is to be made of a loop; `label_loops` adds its label."""
    jump_back.set_metadata(_LOOP, module.add_metadata(list(hint)))


def leave_scalar(module: Module, jump_back: Value) -> None:
    """Keep LLVM from making vectors of a loop where they do not pay."""
    add_hint(module, jump_back, _LEAVE_SCALAR)


def _add_label(module: Module, jump_back: Value, label: tuple[str | Value, ...]) -> None:
    hint, scalar = jump_back.metadata.get(_LOOP), module.add_metadata(list(_LEAVE_SCALAR))
    hints = [scalar if hint is scalar else module.add_metadata(list(label))]
    if hint is not None and hint is not scalar:
        hints.append(hint)
    jump_back.set_metadata(_LOOP, module.add_metadata(hints))


def find_jumps_back(function: Function) -> Iterator[tuple[Block, Block]]:
    """The jumps from the end of a loop to its begin: from a block to one on the way to it."""
    if not function.blocks:
        return
    entry = function.blocks[0]
    open_blocks, seen = {entry}, {entry}
    path = [(entry, iter(_successors(entry)))]
    while path:
        block, others = path[-1]
        following = next(others, None)
        if following is None:
            open_blocks.discard(block)
            path.pop()
        elif following in open_blocks:
            yield block, following
        elif following not in seen:
            seen.add(following)
            open_blocks.add(following)
            path.append((following, iter(_successors(following))))


def _successors(block: Block) -> list[Block]:
    end = block.terminator
    return [] if end is None else [part for part in end.operands if isinstance(part, ir.Block)]


def _may_vectorize(latch: Block, header: Block) -> bool:
    """True if the loop is of a class in `CLASSES`."""
    blocks = _find_line(latch, header)
    if blocks is None:
        return False
    body = [instruction for block in blocks for instruction in block.instructions]
    return all(map(_is_plain, body)) and not _divides_for_address(body)


def _find_line(latch: Block, header: Block) -> list[Block] | None:
    """The blocks of a loop, if each of them has one way on: to the next one."""
    blocks = [header]
    while blocks[-1] is not latch:
        following = _successors(blocks[-1])
        if len(following) != 1 or following[0] in blocks:
            return None
        blocks += following
    return blocks


def _is_plain(instruction: Value) -> bool:
    """True if an instruction has one lane and stays free of control flow once it is inlined."""
    if isinstance(instruction.type, _VECTOR):
        return False
    return not isinstance(instruction, _instructions.CallInstr) or _is_line(instruction.callee)


def _is_line(function: Function) -> bool:
    """True if a function is one block, or LLVM calls its vector functions instead."""
    if not isinstance(function, _FUNCTION):
        return False
    if function.name.startswith("llvm."):
        return True
    if any(attribute.startswith(VARIANTS) for attribute in function.attributes):
        return True
    return len(function.blocks) == 1 and all(map(_is_plain, function.blocks[0].instructions))


def _divides_for_address(body: list[Value]) -> bool:
    """True if an address depends on an integer division of the same iteration.

    Through variables too, which are memory so far: what is loaded from one depends on all that is
    stored there.
    """
    dependent: set[Value] = {i for i in body if getattr(i, "opname", "") in _DIVISIONS}
    before = 0
    while len(dependent) > before:
        before = len(dependent)
        dependent.update(part for i in body for part in _made_of(i, dependent))
    return any(isinstance(i, _instructions.GEPInstr) and i in dependent for i in body)


def _made_of(instruction: Value, values: set[Value]) -> list[Value]:
    """What depends on `values` because of an instruction: itself, and the variable that it sets."""
    if values.isdisjoint(instruction.operands):
        return []
    is_store = isinstance(instruction, _instructions.StoreInstr)
    variables = [x for x in instruction.operands[1:] if isinstance(x, _instructions.AllocaInstr)]
    return [instruction, *(variables if is_store else [])]


def finish_labels(text: str) -> str:
    """Let the metadata of each loop refer to itself, as LLVM wants it and llvmlite cannot say."""
    if _LOOP not in text:
        return text
    return re.sub(
        r"^(!\d+) = !\{ (!\d+(?:, !\d+)*) \}$", r"\1 = distinct !{ \1, \2 }", text, flags=re.M
    )
