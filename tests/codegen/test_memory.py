"""Large scratch arrays ask for huge pages; small ones do not."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from hybridjit import f64, hybrid

LARGE = 1 << 19  # float64: 4 MB


@hybrid.script
def mirrored(a: Any) -> Any:
    t = np.empty(a.shape[0])
    for i in range(a.shape[0]):
        t[i] = a[i] * 2.0
    c = np.empty(a.shape[0])
    for i in range(a.shape[0]):
        c[i] = t[a.shape[0] - 1 - i]
    return c


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux is asked")
@pytest.mark.parametrize(("size", "asks"), [(LARGE - 1, False), (LARGE, True), ("n", True)])
def test_what_asks_for_huge_pages(size: Any, asks: bool) -> None:
    assert ("@madvise" in mirrored.inspect("llvm", f64[size])) is asks


@pytest.mark.parametrize("size", [LARGE - 1, LARGE, LARGE + 1, 5])
def test_large_scratch_arrays(size: int) -> None:
    a = np.arange(float(size))
    for _ in range(3):
        assert np.array_equal(mirrored(a), (a * 2.0)[::-1])
