"""The examples in the docstrings of ufuncs run, and give what they say."""

from __future__ import annotations

import doctest
from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel, hybrid


@hybrid.script
def product(a: Any, b: Any) -> Any:
    return a @ b


_KERNEL: Any = Kernel


@pytest.mark.parametrize("documented", [hybrid.vectorize, hybrid.evaluate, _KERNEL.as_gufunc])
def test_examples_of(documented: Any) -> None:
    names = {"np": np, "hybrid": hybrid, "product": product}
    test = doctest.DocTestFinder(recurse=False).find(documented, "documented", globs=names)[0]
    results = doctest.DocTestRunner(verbose=False).run(test)
    assert results.attempted >= 1
    assert results.failed == 0
