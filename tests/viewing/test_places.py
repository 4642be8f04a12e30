"""Lines of pages: each is of a line of the script, also what the script does not say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel, hybrid
from hybridjit.viewing.debug_lines import read_assembly
from tests.viewing.page_data import data_of


@hybrid.script
def product(a: Any, b: Any) -> Any:
    c = a @ b
    return np.sqrt(c * c)


@hybrid.script
def ranked(a: Any) -> Any:
    b = np.sort(a, axis=1)
    return np.cumsum(b, axis=0)


@hybrid.script
def twice(a: Any) -> Any:
    b = np.sort(a, axis=1)
    return np.median(b, axis=0)  # which sorts, too


def scaled(x: Any) -> Any:
    half = x * 0.5
    return half**2


@hybrid.script
def helped(a: Any) -> Any:
    total = 0.0
    for i in range(a.shape[0]):
        b = scaled(a[i])
        total = total * b + scaled(total)
    return total


@hybrid.script
def looked_up(a: Any, k: Any) -> Any:
    total = 0.0
    for i in range(k.shape[0]):
        total += a[k[i]]
    return total


MATRIX = np.random.default_rng(0).random((70, 70))
CALLS: dict[str, tuple[Kernel[..., Any], tuple[Any, ...]]] = {
    "product": (product, (MATRIX, MATRIX)),
    "ranked": (ranked, (MATRIX,)),
    "looked_up": (looked_up, (MATRIX[0], np.arange(20))),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_stage_is_of_lines_of_the_script(name: str, tmp_path: Path) -> None:
    kernel, args = CALLS[name]
    data = data_of(kernel.view(*args, path=tmp_path / "page.html"))
    lines = {number for number, _ in data["source"]}
    for stage in data["stages"]:
        origins = {origin for _, origin in stage["lines"]} - {None}
        assert origins, stage["title"]
        assert origins <= lines, stage["title"]


@pytest.mark.parametrize("name", CALLS)
def test_every_statement_has_a_line(name: str, tmp_path: Path) -> None:
    kernel, args = CALLS[name]
    data = data_of(kernel.view(*args, path=tmp_path / "page.html"))
    for stage in data["stages"][:4]:
        for text, origin in stage["lines"]:
            is_head = text.startswith("def ") or "output_tensor(" in text
            assert (origin is None) <= (is_head or text.strip() == "else:"), text


def test_library_functions_are_of_the_lines_that_call_them(tmp_path: Path) -> None:
    data = data_of(ranked.view(MATRIX, path=tmp_path / "page.html"))
    calls = {number for number, text in data["source"] if "np." in text}
    for stage in data["stages"]:
        assert calls <= {origin for _, origin in stage["lines"]}, stage["title"]


def test_what_two_lines_call_is_of_each_of_them(tmp_path: Path) -> None:
    data = data_of(twice.view(MATRIX, path=tmp_path / "page.html"))
    calls = {number for number, text in data["source"] if "np." in text}
    for stage in data["stages"][:4]:
        origins = {origin for text, origin in stage["lines"] if "numpy_sort" in text}
        assert origins == calls, stage["title"]


def test_functions_beside_the_script_are_of_the_lines_that_call_them(tmp_path: Path) -> None:
    data = data_of(helped.view(MATRIX[0], path=tmp_path / "page.html"))
    first, second = (number for number, text in data["source"] if "scaled(" in text)
    for stage in data["stages"][:4]:
        origins = [origin for text, origin in stage["lines"] if "** 2" in text or "half" in text]
        assert {first, second} <= set(origins), stage["title"]


@pytest.mark.parametrize("name", CALLS)
def test_the_code_is_what_is_compiled(name: str, tmp_path: Path) -> None:
    kernel, args = CALLS[name]
    data = data_of(kernel.view(*args, path=tmp_path / "page.html"))
    (shown,) = (stage["lines"] for stage in data["stages"] if stage["title"] == "assembly")
    compiled = read_assembly(kernel.inspect("asm", *args))
    assert instructions(shown) == instructions(compiled)


def instructions(lines: Any) -> list[str]:
    found = (text.split()[0] for text, _ in lines if text.startswith("\t"))
    return [name for name in found if not name.startswith(".")]
