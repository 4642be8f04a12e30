"""What reports say of lanes and threads, held against the code of the corpus, loop by loop."""

from __future__ import annotations

import ast
import linecache
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import Kernel, hybrid
from hybridjit.codegen.kernel import Extras, emit_kernel
from hybridjit.codegen.pool.names import RUN
from hybridjit.hybrid import parallel
from hybridjit.lowering.pipeline import lower
from hybridjit.processor import current_target
from hybridjit.runtime.inspection import show_stage
from hybridjit.runtime.report import LoopReport
from hybridjit.viewing.debug_lines import read_assembly, read_llvm
from tests.corpus import CORPUS
from tests.corpus.case import Case
from tests.runtime.vector_code import instructions

ARRAY: Any = np.ndarray
NAMES = {"float64": hj.f64, "float32": hj.f32, "int64": hj.i64, "int32": hj.i32}
VECTOR = re.compile(r"<\d+ x ")
# Arithmetic on vectors, before LLVM has worked on it.
ARITHMETIC = re.compile(r"= (f?add|f?sub|f?mul|f?div)( \w+)* <\d+ x ")
# A float becomes an integer by an instruction that takes it in the first place of a vector.
CONVERSION = re.compile(r"cvttss|cvttsd|insertelement <\d x \w+> <(float|double) 0\.0")
# Of at most 4 iterations, as LLVM finds: the loop of all lanes is dropped, or that on threads; or
# what it stores is known, and LLVM computes with that.
DROPPED = ("matmul_tiled", "first_above", "decompositions", "levenshtein")


def of_any_size(value: Any) -> Any:
    """A type in the place of an array, so that its loops are as long as any."""
    is_array = isinstance(value, ARRAY) and value.ndim > 0 and value.flags.c_contiguous
    kind: Any = NAMES.get(value.dtype.name) if is_array else None
    if kind is None or 0 in value.shape:
        return value
    return kind[tuple(f"n{size}" if size > 3 else size for size in value.shape)]


def arguments_of(case: Case) -> tuple[Any, ...]:
    return tuple(map(of_any_size, case.arguments[0].args))


class Code:
    """The code of a kernel for some arguments, before and after LLVM has worked on it."""

    def __init__(self, kernel: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        specs, values = kernel._bind(args, dict(kwargs))
        made = kernel._specialize(specs)
        layout = made.layout(specs, values)
        func, reorder = made.compiled_func(layout), made.may_reorder(layout)
        target, disjoint = current_target(), layout.is_disjoint
        lowered = lower(func, target, may_reorder=reorder, may_vectorize=disjoint)
        emitted = emit_kernel(lowered, layout, target, extras=Extras(has_lines=True)).text
        self.emitted = read_llvm(emitted)
        self.has_lanes = any(VECTOR.search(x) and not CONVERSION.search(x) for x, _ in self.emitted)
        assembly = show_stage(func, layout, "asm", may_reorder=reorder, with_lines=True)
        path = kernel.__hybrid_function__.__code__.co_filename
        self.assembly = read_assembly(assembly, os.path.basename(path))
        self.is_disjoint = disjoint

    @property
    def packed_lines(self) -> set[int]:
        """The lines of the script that vector instructions came from."""
        packed = instructions().packed
        return {line for text, line in self.assembly if line is not None and packed.match(text)}

    @property
    def wide_lines(self) -> set[int]:
        """The lines that arithmetic on vectors came from, but for what LLVM pairs by itself."""
        wide = instructions().wide
        made = [line for text, line in self.emitted if ARITHMETIC.search(text)]
        if wide is not None:
            made += [line for text, line in self.assembly if wide.match(text)]
        return {line for line in made if line is not None}

    @property
    def pool_lines(self) -> set[int | None]:
        """The lines of the script, or None for other files, whose loops are handed to the pool."""
        return {line for text, line in self.assembly if RUN in text}


def lines_of(kernel: Any, loop: LoopReport) -> range:
    """The lines of the statement that a loop came from."""
    path = kernel.__hybrid_function__.__code__.co_filename  # functions that it calls are in it, too
    tree = ast.parse("".join(linecache.getlines(path)))
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    first = loop.line or 0
    ends = [node.end_lineno or 0 for node in statements if node.lineno == first]
    return range(first, max([first, *ends]) + 1)


def check_claims(case: Case) -> None:
    kernel: Any = case.kernel
    args, kwargs = arguments_of(case), case.arguments[0].kwargs
    loops = kernel.report(*args, **kwargs).loops
    code = Code(kernel, args, kwargs)
    in_lanes = [loop for loop in loops if loop.lanes > 1]
    if not in_lanes:
        assert not code.has_lanes, "no loop is said to have lanes"
    for loop in in_lanes if code.is_disjoint else []:
        check_lanes(kernel, loop, code)
    check_scalars(kernel, loops, code)


def check_scalars(kernel: Any, loops: Sequence[LoopReport], code: Code) -> None:
    """Of lines that only loops one by one are made of, no arithmetic is in wide vectors."""
    own = [loop for loop in loops if not loop.file]
    alone = lines_of_all(kernel, [loop for loop in own if loop.runs.startswith("one by one: ")])
    alone -= lines_of_all(kernel, [loop for loop in own if "one by one" not in loop.runs])
    alone -= lines_of_all(kernel, [loop for loop in own if loop.tile])
    assert not code.wide_lines & alone, f"lines {code.wide_lines & alone} run one by one, they say"


def lines_of_all(kernel: Any, loops: Sequence[LoopReport]) -> set[int]:
    return {line for loop in loops for line in lines_of(kernel, loop)}


def check_threads(case: Case) -> None:
    kernel: Any = case.kernel
    types, kwargs = arguments_of(case), case.arguments[0].kwargs
    options: dict[str, Any] = {**kernel.options, "parallel": True}
    make: Any = Kernel
    on_all_cores = make(kernel.__hybrid_function__, **options)
    check_pool(on_all_cores, types, kwargs)
    if "in parallel(" in kernel.inspect("tir", *types, **kwargs):
        check_pool(kernel, types, kwargs)
        check_pool(kernel, case.arguments[0].args, kwargs)  # for most, there is too little to do


def check_pool(kernel: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """A loop said to be on threads is handed to the pool, and no others are."""
    loops = kernel.report(*args, **kwargs).loops
    called = Code(kernel, args, kwargs).pool_lines
    said = {None if loop.file else loop.line for loop in loops if loop.on_threads}
    if kernel.__name__ in DROPPED:
        said &= called
    if called - {None}:
        called -= {None} - said  # one call for two lines, as LLVM makes it, is of neither
    assert called == said, f"lines {called} call the pool, lines {said} are said to be on threads"


def check_lanes(kernel: Any, loop: LoopReport, code: Code) -> None:
    text = "\n".join(line for line, _ in code.assembly)
    is_folded = not instructions().jump.search(text)  # no loop is left: all is known
    if is_folded or kernel.__name__ in DROPPED:
        return
    if loop.is_made or loop.file:
        assert instructions().packed.search(text), f"{loop.name}: no vector instructions"
        return
    found = code.packed_lines.intersection(lines_of(kernel, loop))
    assert found, f"line {loop.line}, {loop.name}: no vector instructions"


@pytest.mark.sampled(60)
@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case.name)
def test_lanes(case: Case) -> None:
    check_claims(case)


@pytest.mark.sampled(60)
@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case.name)
def test_threads(case: Case) -> None:
    check_threads(case)


@hybrid.script(parallel=True)
def rows_of_rows(a: Any) -> Any:
    out = np.zeros(a.shape[0])
    for i in parallel(a.shape[0]):
        for j in parallel(a.shape[1]):
            out[i] = max(out[i], a[i, j])
    return out


@hybrid.script
def corners(a: Any) -> Any:
    out = np.zeros(4)
    for i in parallel(2):
        for j in range(2):
            out[2 * i + j] = a[-i, -j]
    return out


@hybrid.script
def sums_in_lanes(a: Any) -> Any:
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i] += a[i, j]
    return out


def in_blocks(s: Any) -> None:
    s.sums_in_lanes("i", lanes=8)
    s.parallel("i")


HARD: dict[str, tuple[Any, bool]] = {
    "in another one on threads": (rows_of_rows, True),
    "too little to do": (corners, False),
    "blocks of lanes": (sums_in_lanes.with_schedule(in_blocks), True),
    "by itself": (hybrid.script(sums_in_lanes, parallel=True), True),
}


@pytest.mark.parametrize("kind", HARD)
def test_threads_of(kind: str) -> None:
    kernel, is_parallel = HARD[kind]
    args: tuple[Any, ...] = (np.zeros((512, 512)),)
    check_pool(kernel, args, {})
    assert bool(Code(kernel, args, {}).pool_lines) is is_parallel
    check_pool(kernel, (hj.f64["n", "m"],), {})
    check_pool(kernel, (np.zeros((3, 5)),), {})
