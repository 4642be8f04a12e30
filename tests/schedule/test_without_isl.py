"""Steps that the quick proof sees to be legal do not load isl, which takes longer than they do."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tests.support.own_process import run_program

HEAD = """
import sys
import numpy as np
from hybridjit import hybrid

@hybrid.script
def matmul(a, b):
    c = output_tensor((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c

@hybrid.script
def jacobi(a, b):
    for t in range(4):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
        for p in range(1, a.shape[0] - 1):
            for q in range(1, a.shape[1] - 1):
                a[p, q] = b[p, q]

@hybrid.script
def chain(a):
    t = allocate((48, 40), "float64")
    c = output_tensor((48, 40), "float64")
    for i in range(48):
        for j in range(40):
            t[i, j] = a[i, j] * 2
    for i in range(48):
        for j in range(40):
            c[i, j] = t[i, j] + 1
    return c

@hybrid.script
def beside(a, b, c):
    for i in range(a.shape[0]):
        b[i] = a[i] + 1
    for j in range(a.shape[0]):
        c[j] = b[j] * 2

x, y = np.ones((48, 32)), np.ones((32, 40))
v = np.ones(50)
"""

STEPS = {
    "matmul": """
        s = matmul.schedule(x, y)
        i, j, k = s.loops("c")
        io, ii = s.split(i, factor=16)
        jo, ji = s.split(j, factor=8)
        s.reorder(io, jo, k, ii, ji)
        s.vectorize(ji)
        s.parallel(io)
        s.unroll(ii)
        matmul.with_schedule(s.trace)(x, y)
        """,
    "rests": """
        s = matmul.schedule(x, y)
        i, j, k = s.loops("c")
        i_0, j_0, i_1, j_1 = s.tile(i, j, 7, 9)
        s.parallel(i_0)
        s.vectorize(j_1)
        """,
    "stencil": """
        s = jacobi.schedule(x, x.copy())
        io, ii = s.split("i", factor=8)
        jo, ji = s.split("j", factor=8)
        s.reorder(io, jo, ii, ji)
        s.vectorize(ji)
        s.parallel(io)
        s.parallel("p")
        s.vectorize("q")
        """,
    "inlined": """
        s = chain.schedule(np.ones((48, 40)))
        s.compute_inline("t")
        """,
    "inlined in reverse": """
        s = chain.schedule(np.ones((48, 40)))
        s.reverse_compute_inline("c")
        """,
    "merged": """
        s = beside.schedule(v, v.copy(), v.copy())
        s.merge("i", "j")
        s.parallel("i")
        """,
    "fissioned": """
        s = beside.schedule(v, v.copy(), v.copy())
        s.merge("i", "j")
        s.fission("i", after="b")
        """,
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", STEPS)
def test_no_isl(name: str, tmp_path: Path) -> None:
    program = f"{HEAD}{dedent(STEPS[name])}\nprint('islpy' in sys.modules)"
    assert run_program(tmp_path, program) == "False\n"
