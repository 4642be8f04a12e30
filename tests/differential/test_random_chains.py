"""Random chains of whole-array statements: fused as not fused, bit for bit, and as NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.errors import HybridError, ParseError, TypeMismatch
from hybridjit.ir.stmt import Stmt
from hybridjit.optimize import array_nests
from hybridjit.optimize.fuse import fuse_arrays
from hybridjit.optimize.fuse import merge as fuse_merge
from tests.support.array_results import assert_agree
from tests.support.optimized import run_optimized
from tests.support.oracle import Outcome, run_once
from tests.support.random_chains import ChainGenerator, LongChainGenerator, Program

_SEEDS = range(150)
_NATIVE_SEEDS = range(12)
_LONG_SEEDS = range(40)


def _bits(outcome: Outcome) -> list[Any]:
    """Everything that a run gives, as bytes."""
    result: Any = outcome.result
    results: list[Any] = [*result] if isinstance(result, tuple) else [result]
    arrays: list[Any] = [np.asarray(value) for value in (*results, *outcome.arguments)]
    return [(array.dtype, array.shape, array.tobytes()) for array in arrays]


def _keep(body: Stmt, *_: object) -> Stmt:
    return body


def _never(*_: object) -> bool:
    return False


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", _SEEDS)
def test_fusion_changes_no_bit(seed: int, monkeypatch: pytest.MonkeyPatch):
    if seed % 2:  # fuse also where it does not pay
        monkeypatch.setattr(fuse_arrays, "fits_cache", _never)
        monkeypatch.setattr(fuse_merge, "is_unrolled", _never)
    program = ChainGenerator(seed).program()
    function = program.define()
    fused: Any = hybrid.script(function)
    found = run_once(run_optimized, fused, program.args)
    monkeypatch.setattr(array_nests, "fuse_arrays", _keep)
    plain: Any = hybrid.script(function)
    expected = run_once(run_optimized, plain, program.args)
    assert type(found.error) is type(expected.error), program.text
    assert isinstance(found.error, HybridError) or _bits(found) == _bits(expected), program.text


@pytest.mark.parametrize("seed", _NATIVE_SEEDS)
def test_fused_as_in_numpy(seed: int):
    _assert_as_in_numpy(ChainGenerator(seed).program())


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", _LONG_SEEDS)
def test_rows_in_lanes_as_in_numpy(seed: int):
    _assert_as_in_numpy(LongChainGenerator(seed).program())


def _assert_as_in_numpy(program: Program) -> None:
    """Fail unless all ways to run a script agree; some scripts are refused when they are read."""
    kernel: Any = hybrid.script(program.define())
    try:
        assert_agree(kernel, program.args)
    except AssertionError as error:
        if not isinstance(error.__cause__, (ParseError, TypeMismatch)):
            raise AssertionError(f"{error}\n{program.text}") from error
