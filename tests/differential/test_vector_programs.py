"""Random programs whose independent loops run in vectors agree with the interpreter."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybridjit import config
from hybridjit.analysis.concurrency import find_obstacle
from hybridjit.codegen.emit.vector_loops import count_lanes
from hybridjit.ir.expr import Node
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import For, LoopKind
from hybridjit.ir.visit import rewrite, walk
from hybridjit.lowering.pipeline import lower
from hybridjit.runtime import compiler
from hybridjit.target import Target
from tests.differential.test_native import is_exact
from tests.differential.test_random_programs import SLOW
from tests.programs.program import Program, forget_sources, program_from_seed
from tests.programs.vector_loops import vector_program
from tests.support.guarded import check_guarded
from tests.support.oracle import assert_same_outcome, run_interpreted, run_once
from tests.support.poisoned import run_poisoned
from tests.support.strategies import programs

# Among what they compute are floats that no integer can hold.
pytestmark = pytest.mark.usefixtures("unchecked")

SEEDS = range(50)
LOOPS = range(50)
CHUNK = 5
# Of the first seeds, those that compile quickly: the others take most of the time.
MAX_NODES = 150
FREE_KINDS = (LoopKind.SERIAL, LoopKind.UNROLLED, LoopKind.PARALLEL)
# Vectors of 128 bits: the short loops of random programs are cut into several, and a rest.
SMALL = Target("", "", "")
# A loop takes longer to compile than most programs, and seeds are no better than the first ones.
FEW = settings(max_examples=max(settings().max_examples // 20, 1), suppress_health_check=SLOW)


def vectorized(func: PrimFunc) -> PrimFunc:
    """`func` with every loop a vector loop that may be one."""
    chosen = {
        node.var
        for node in walk(func.body)
        if isinstance(node, For) and node.kind in FREE_KINDS and find_obstacle(func, node) is None
    }

    def rule(node: Node) -> Node | None:
        if isinstance(node, For) and node.var in chosen:
            return replace(node, kind=LoopKind.VECTORIZED)
        return None

    return replace(func, body=rewrite(func.body, rule))


class _Lowering:
    """Lowers programs with vector loops wherever they may be, and counts those that are left."""

    def __init__(self) -> None:
        self.vectors = 0

    def __call__(self, func: PrimFunc, target: Target, **options: bool) -> PrimFunc:
        lowered = lower(vectorized(func), SMALL, **options)
        self.vectors += sum(
            count_lanes(n) is not None for n in walk(lowered.body) if isinstance(n, For)
        )
        return lowered


def check_program(program: Program) -> int:
    """Fail unless the program with vector loops does the same; return how many it has."""
    if not is_exact(program.kernel.prim_func(*program.args)):
        return 0
    lowering = _Lowering()
    expected = run_once(run_interpreted, program.kernel, program.args)
    with config.scope(cache_enabled=False), patch.object(compiler, "lower", lowering):
        found = run_once(run_poisoned, program.kernel, program.args)
    if expected.error is None or lowering.vectors == 0:
        assert_same_outcome(found, expected)
    else:  # lanes after the one that fails may have stored already
        assert type(found.error) is type(expected.error)
    return lowering.vectors


@pytest.mark.sampled(3)
@pytest.mark.parametrize("first", SEEDS[::CHUNK])
def test_programs_of_the_first_seeds(first: int) -> None:
    for seed in range(first, first + CHUNK):
        program = program_from_seed(seed)
        try:
            check_program(program)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}\n{program!r}") from error
    forget_sources()


def check_vector_loop(seed: int) -> None:
    """From the second size on, sizes are not part of the code."""
    program, others = vector_program(seed)
    for args in (program.args, others):
        check_guarded(program.kernel, args)


def is_small(program: Program) -> bool:
    """True for programs of at most MAX_NODES nodes."""
    func = program.kernel.prim_func(*program.args)
    return sum(1 for _ in walk(func.body)) <= MAX_NODES


@pytest.mark.sampled(10)
@pytest.mark.parametrize("first", LOOPS[::CHUNK])
def test_vector_loops_of_the_first_seeds(first: int) -> None:
    """Loops that are written with `vectorize`, on arrays between pages that nobody may touch."""
    for seed in range(first, first + CHUNK):
        program, _ = vector_program(seed)
        try:
            if is_small(program):
                check_vector_loop(seed)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}\n{program!r}") from error
    forget_sources()


@given(seed=st.integers(0, 1 << 30))
@FEW
def test_vector_loops(seed: int) -> None:
    check_vector_loop(seed)


@given(program=programs())
@settings(suppress_health_check=SLOW)
def test_programs(program: Program) -> None:
    check_program(program)
