"""Every public function of NumPy works in a script, or says what to write instead."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from hybridjit.errors import ParseError
from hybridjit.frontend.library.legacy_random import FUNCTIONS
from tests.conftest import Golden
from tests.errors.case import Case, mended, wrong
from tests.frontend.from_text import script_from_text

np: Any = numpy
_MODULES: tuple[tuple[str, ModuleType], ...] = (
    ("", numpy),
    ("linalg.", numpy.linalg),
    ("fft.", numpy.fft),
    ("random.", numpy.random),
)
# Functions of the language by another name: casts, and what looks things up for people.
_ELSEWHERE = (
    *("info", "show_config", "show_runtime", "test", "get_include", "iinfo", "finfo"),
    "default_rng",  # makes an object
)


def _unsupported() -> Iterator[str]:
    for prefix, module in _MODULES:
        for name in dir(module):
            value: Any = getattr(module, name, None)
            is_function = callable(value) and not isinstance(value, type)
            is_drawn = prefix == "random." and name in FUNCTIONS
            is_known = name.startswith("_") or name in _ELSEWHERE or is_drawn
            if is_function and not is_known:
                yield prefix + name


def _is_supported(name: str) -> bool:
    """By identity: np.pow is np.power."""
    found: Any = np
    for part in name.split("."):
        found = getattr(found, part)
    there = [getattr(np, other, None) for other in hybrid.NUMPY_FUNCTIONS if "." not in other]
    return name in hybrid.NUMPY_FUNCTIONS or any(found is other for other in there)


@pytest.mark.parametrize("name", [name for name in _unsupported() if not _is_supported(name)])
def test_a_function_that_is_not_there_says_what_to_write(name: str) -> None:
    kernel = script_from_text(f"def f(a):\n    return np.{name}(a)\n", {"np": np})
    with pytest.raises(ParseError, match=f"'np.{name}' is not supported inside a script") as caught:
        kernel.interpret(np.ones(4))
    help = caught.value.diagnostics[0].help
    assert help is not None
    assert "did you mean" not in help
    assert "{" not in help


@wrong("numpy_functions")
def test_refused(case: Case, golden: Golden) -> None:
    golden.check(case.report(), "txt")


@mended("numpy_functions")
def test_help_works(case: Case) -> None:
    case.check_help()
