"""HYBRIDJIT_DEBUG=1: programs as they are written, every index checked, new arrays full of NaN."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hybridjit as hj
from hybridjit import hybrid
from hybridjit.ir.expr import Bounded, Load
from hybridjit.ir.stmt import Store
from hybridjit.ir.visit import walk
from hybridjit.lowering.pipeline import lower_to_debug
from tests.corpus import CORPUS
from tests.corpus.case import Case
from tests.support.rows import check_each

SCRIPT = """
import numpy as np
from hybridjit import hybrid

@hybrid.script
def partly(a, n):
    b = np.empty_like(a)
    for i in range(n):
        b[i] = a[i]
    c = np.empty(a.shape[0], np.int32)
    return b.sum(), c[0]

@hybrid.script
def product(a, b):
    return np.exp(a @ b).sum(axis=1)

a = np.ones((30, 20))
print(partly(np.ones(4), 4)[0], partly(np.ones(4), 3))
print(np.allclose(product(a, a.T), np.exp(a @ a.T).sum(axis=1)))
"""


def run(tmp_path: Path, **environment: str) -> list[str]:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.getcwd()} | environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_unset_elements_are_nan(tmp_path: Path) -> None:
    first, second = run(tmp_path, HYBRIDJIT_DEBUG="1")
    assert first.startswith("4.0 (")
    assert "nan" in first
    assert "2147483647" in first
    assert second == "True"


def test_every_index_is_checked() -> None:
    @hybrid.script
    def doubled(a: Any, b: Any) -> None:
        for i in range(8):
            b[i] = a[i] * 2

    func = lower_to_debug(doubled.prim_func(hj.f64[8], hj.f64[8]))
    accesses = [node for node in walk(func.body) if isinstance(node, Load | Store)]
    assert len(accesses) == 2
    assert all(isinstance(index, Bounded) for each in accesses for index in each.indices)


def check(case: Case) -> None:
    first = case.arguments[0]
    lower_to_debug(case.kernel.prim_func(*first.args, **first.kwargs))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("part", range(4))
def test_the_corpus_can_be_debugged(part: int) -> None:
    check_each(CORPUS[part::4], check, lambda case: case.name)
