"""An LLVM that was not tried is noticed, once, when the package is imported."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from hybridjit.codegen.llvm_version import (
    TRIED_LLVMLITE,
    is_tried,
    llvm_versions,
    warn_if_untried,
)

ROOT = Path(__file__).parents[2]


def test_this_one_is_tried() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_untried(*llvm_versions())


@pytest.mark.parametrize(
    "versions",
    [("0.44.0", "15.0.7"), ("0.51.0", "22.1.0"), ("0.50.0", "21.1.8"), ("unknown", "22.1.0")],
)
def test_others_are_named_with_what_was_tried(versions: tuple[str, str]) -> None:
    llvmlite, llvm = map(re.escape, versions)
    message = rf"llvmlite 0\.45 to 0\.50 \(LLVM 20 and 22\), .* llvmlite {llvmlite} \(LLVM {llvm}\)"
    with pytest.warns(RuntimeWarning, match=message):
        warn_if_untried(*versions)


def test_development_versions_count() -> None:
    assert is_tried("0.47.0dev0+12.gabcdef", "20.1.8")


def test_the_package_asks_for_what_was_tried() -> None:
    (_, oldest), (_, newest) = TRIED_LLVMLITE
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'"llvmlite>=0.{oldest},<0.{newest + 1}"' in text


def test_import_warns() -> None:
    program = "import llvmlite; llvmlite.__version__ = '0.99.0'; import hybridjit; hybridjit.lower"
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert done.stderr.count("this is llvmlite 0.99.0") == 1
