"""A kernel compiles the code that Python has, at every shape the same."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from hybridjit import HybridError, hybrid
from hybridjit.hybrid import output_tensor
from tests.runtime.native_calls import warm

TEXT = """
from hybridjit import hybrid

def helper(x):
    return x + 1

@hybrid.script
def kernel(a):
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = helper(a[i]) * 2
    return b

class Holder:
    @staticmethod
    @hybrid.script
    def inner(a, __k=2):
        a[0] = __k

def make(scale):
    @hybrid.script
    def nested(a: "a comment", *, k=1.5):
        '''Doc.'''
        if not a[0] == 1.0:
            a[0] = scale * k
    return nested
"""
SIZES = (2, 3, 4, 5, 17)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path / "edited_module.py"
    sys.modules.pop("edited_module", None)


def load(file: Path, text: str = TEXT) -> Any:
    file.write_text(text)
    importlib.invalidate_caches()
    return importlib.import_module("edited_module")


def values(kernel: Any) -> set[float]:
    """What the kernel makes of zeros, at several shapes and types."""
    arrays = [np.zeros(size, dtype) for size in SIZES for dtype in ("float32", "float64")]
    return {float(kernel(array)[0]) for array in arrays for _ in range(3)}


def test_file_that_is_edited_after_the_first_call(file: Path) -> None:
    module = load(file)
    assert module.kernel(np.zeros(1)).tolist() == [2]
    file.write_text(TEXT.replace("* 2", "* 3").replace("x + 1", "x + 7"))
    assert values(module.kernel) == {2.0}


def test_file_that_is_edited_before_the_first_call(file: Path) -> None:
    module = load(file)
    file.write_text(TEXT.replace("* 2", "* 3"))
    with pytest.raises(HybridError, match="the file was changed after it was imported"):
        module.kernel(np.zeros(1))


def test_helper_that_is_edited_before_the_first_call(file: Path) -> None:
    module = load(file)
    file.write_text(TEXT.replace("x + 1", "x - 1"))
    with pytest.raises(HybridError, match=r"cannot inline 'helper'.* was changed after"):
        module.kernel(np.zeros(1))


def test_file_that_is_edited_elsewhere(file: Path) -> None:
    module = load(file)
    file.write_text(f"{TEXT}\n# a remark\n")
    assert values(module.kernel) == {2.0}
    a, b = np.zeros(1), np.zeros(1)
    module.Holder.inner(a)
    module.make(4.0)(b)
    assert (a[0], b[0]) == (2, 6)


def test_module_that_is_loaded_again(file: Path) -> None:
    module: ModuleType = load(file)
    assert values(module.kernel) == {2.0}
    file.write_text(TEXT.replace("* 2", "* 3"))
    importlib.reload(module)
    assert values(module.kernel) == {3.0}


# Functions that are given other code, as by IPython's autoreload


def make_kernel(function: Any) -> Any:
    @hybrid.script
    def kernel(a: Any) -> Any:
        b = output_tensor(a.shape, a.dtype)
        for i in range(a.shape[0]):
            b[i] = function(a[i])
        return b

    return kernel


def make_function() -> Any:
    def function(x: Any, k: Any = 1, *, m: Any = 0) -> Any:
        return x + k + m

    return function


def replacement(x: Any, k: Any = 1, *, m: Any = 0) -> Any:
    return x * 0 + 100


@pytest.mark.parametrize(
    ("attribute", "value", "expected"),
    [
        ("__code__", replacement.__code__, 100.0),
        ("__defaults__", (5,), 5.0),
        ("__kwdefaults__", {"m": 30}, 31.0),
    ],
)
def test_helper_whose_parts_are_replaced(attribute: str, value: Any, expected: float) -> None:
    function = make_function()
    kernel = make_kernel(function)
    assert values(kernel) == {1.0}
    setattr(function, attribute, value)
    assert values(kernel) == {expected}


def test_helper_in_a_tuple_whose_code_is_replaced() -> None:
    functions = (make_function(), 3)

    @hybrid.script
    def kernel(a: Any) -> Any:
        b = output_tensor(a.shape, a.dtype)
        for i in range(a.shape[0]):
            b[i] = functions[0](a[i]) * functions[1]
        return b

    assert values(kernel) == {3.0}
    first: Any = functions[0]
    first.__code__ = replacement.__code__
    assert values(kernel) == {300.0}


@pytest.mark.usefixtures("unchecked")
def test_kernel_with_a_helper_runs_natively() -> None:
    warm(make_kernel(make_function()), np.zeros(3))
