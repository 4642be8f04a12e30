"""Random scripts of whole arrays against NumPy itself; the campaign `arrays` runs more of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from hybridjit import hybrid
from hybridjit.errors import HybridError
from hybridjit.ir.stmt import Stmt
from hybridjit.optimize import array_nests
from hybridjit.optimize.fuse import fuse_arrays
from hybridjit.optimize.fuse import merge as fuse_merge
from tests.arrays.check import Refused, check_program
from tests.arrays.generate import KINDS, make_program
from tests.arrays.program import defined
from tests.support.optimized import run_optimized
from tests.support.oracle import assert_same_outcome, run_once
from tests.support.processors import needs_wide_vectors

# Scripts of each kind, and how many of them are compiled: one in so many.
SLICES = {
    **{"any": (60, 5), "long": (10, 2), "selecting": (30, 5), "long, selecting": (6, 2)},
    **{"multiplying": (10, 2), "chain": (24, 2), "rows": (40, 1), "names": (24, 8)},
    **{"names among others": (24, 4), "idioms": (6, 1), "idioms among others": (10, 2)},
    **{"windows": (16, 1), "packing": (60, 1), "lists": (24, 1), "brought": (24, 2)},
    **{"library": (40, 4), "long, library": (6, 2)},
}
ROWS = [(kind, number) for kind, (count, _) in SLICES.items() for number in range(count)]
# How many scripts of fifty may use something that the language does not have.
MAX_REFUSED = 7


@pytest.mark.sampled(20)
@pytest.mark.parametrize(("kind", "number"), ROWS)
def test_script(kind: str, number: int) -> None:
    program = make_program(f"suite/{number}", kind)
    is_native = number % SLICES[kind][1] == 0
    try:
        check_program(program, is_native=is_native, is_symbolic=number % 2 == 1)
    except Refused:
        return
    except AssertionError as error:
        raise AssertionError(f"{error}\n{program.text}") from error


def test_few_scripts_are_refused() -> None:
    refused = 0
    for number in range(50):
        try:
            check_program(make_program(f"suite/{number}", "any"), is_native=False)
        except Refused:
            refused += 1
    assert refused <= MAX_REFUSED


def test_every_kind_has_a_slice() -> None:
    assert set(SLICES) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_scripts_are_the_same_each_time(kind: str) -> None:
    first, second = (make_program("again", kind) for _ in range(2))
    assert first.text == second.text
    assert first.results == second.results


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", KINDS)
def test_all_kinds_of_statements_are_drawn(kind: str) -> None:
    wanted = {statement.__name__ for statement in KINDS[kind][0].statements}
    drawn: Counter[str] = Counter()
    for number in range(400):
        drawn += make_program(number, kind).statements
        if wanted <= set(drawn):
            return
    assert wanted - set(drawn) == set()


# -- properties of single kinds --------------------------------------------------------------------


def _keep(body: Stmt, *_: object) -> Stmt:
    return body


def _never(*_: object) -> bool:
    return False


@pytest.mark.sampled(16)
@pytest.mark.parametrize("seed", range(150))
def test_fusion_changes_no_bit(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if seed % 2:  # fuse also where it does not pay
        monkeypatch.setattr(fuse_arrays, "fits_cache", _never)
        monkeypatch.setattr(fuse_merge, "_loses_vectors", _never)
    program = make_program(seed, "chain")
    with defined(program) as function:
        fused: Any = hybrid.script(function)
        found = run_once(run_optimized, fused, program.args)
        monkeypatch.setattr(array_nests, "fuse_arrays", _keep)
        plain: Any = hybrid.script(function)
        expected = run_once(run_optimized, plain, program.args)
    if isinstance(expected.error, HybridError):
        assert type(found.error) is type(expected.error), program.text
    else:
        assert_same_outcome(found, expected)


@needs_wide_vectors
def test_many_packing_loops_have_lanes() -> None:
    """The point of them: about half are packed in lanes, where vectors can."""
    lowered = ""
    for number in range(30):
        program = make_program(number, "packing")
        with defined(program) as function:
            kernel: Any = hybrid.script(function)
            lowered += kernel.inspect("lowered", *program.args) + "\n===\n"
    assert sum("vectorize(" in text for text in lowered.split("\n===\n")) > 5
