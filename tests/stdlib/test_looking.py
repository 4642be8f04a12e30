"""Operators show what they do as kernels do: reports, profiles, pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
import hybridjit.stdlib as hs
from hybridjit import te
from hybridjit.errors import ArgumentError
from hybridjit.stdlib.running.operator import Operator
from tests.viewing.page_data import data_of

X: Any = np.random.default_rng(0).random((300, 400), np.float32)
softmax: Any = hs.softmax
matmul: Any = hs.matmul
relu: Any = hs.relu
tile: Any = hs.tile


def test_a_report_names_the_tensor_of_each_loop() -> None:
    report = softmax.report(X)
    names = [loop.stores for loop in report.loops if loop.depth == 0]
    assert names == ["softmax_max", "softmax_exp", "softmax_sum", "softmax"]
    assert str(report).split()[:3] == ["tensor", "loop", "extent"]
    assert "'softmax_exp', float32[300, 400], 480000 bytes on the heap: a stage" in str(report)


def test_a_report_is_of_the_code_that_runs() -> None:
    softmax(X)
    assert "in memory" in str(softmax.report(X).compiled)


def test_types_stand_for_arrays() -> None:
    assert softmax.report(hj.f32[300, 400]).loops == softmax.report(X).loops


def test_text_of_a_stage() -> None:
    assert "def relu(" in relu.inspect("tir", X)
    assert "hj_kernel:" in relu.inspect("asm", X)


def test_a_profile_is_of_the_call() -> None:
    profile = softmax.profile(X)
    assert profile.name == "softmax"
    assert [each.loop.stores for each in profile.loops if each.seconds is not None]
    parts = sum(each.seconds or 0 for each in profile.loops) + profile.outside + profile.entering
    assert abs(parts - profile.total) < 0.05 * profile.total
    assert str(profile).split()[0] == "tensor"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("operator", "args"), [(softmax, (X,)), (matmul, (X, X.T)), (relu, (X,))])
def test_a_page_links_the_program_with_its_code(
    operator: Any, args: tuple[Any, ...], tmp_path: Path
) -> None:
    data = data_of(operator.view(*args, path=tmp_path / "page.html"))
    lines = dict(data["source"])
    titles = [stage["title"] for stage in data["stages"]]
    assert titles == ["program", "schedule", "optimized", "lowered", "LLVM", "assembly"]
    assert [text for text, _ in data["stages"][0]["lines"]] == list(lines.values())
    stored = {number for number, text in lines.items() if "] = " in text}
    for stage in data["stages"]:
        assert stored & {line for _, line in stage["lines"]}, stage["title"]


def test_a_page_shows_the_steps_of_the_operator(tmp_path: Path) -> None:
    data = data_of(matmul.view(X, X.T, path=tmp_path / "page.html"))
    assert any("gemm" in step["call"] for step in data["steps"])


def test_it_is_shown_with_its_definition() -> None:
    assert "def softmax(x: T" in softmax._repr_html_()


@pytest.mark.parametrize("name", ["inspect", "report", "profile", "view"])
def test_all_operators_have_it(name: str) -> None:
    made = [getattr(hs, each) for each in hs.OPERATORS]
    assert all(hasattr(each, name) for each in made if isinstance(each, Operator))


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a tensor": (
        lambda: softmax.report(te.placeholder((3, 3), "float32", "A")),
        r"(?s)code is made for arrays.*hj\.build\(te\.create_schedule",
    ),
    "a profile of types": (lambda: softmax.profile(hj.f32[3, 4]), "a profile is of a run"),
    "an unknown size": (lambda: softmax.report(hj.f32["n", 4]), "arrays of known sizes"),
    "an unknown option": (lambda: softmax.report(X, axs=1), "unexpected keyword argument 'axs'"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_it_cannot_show(kind: str) -> None:
    call, text = REFUSED[kind]
    with pytest.raises(ArgumentError, match=text):
        call()


def test_a_tuned_operator_shows_what_was_found(tmp_path: Path) -> None:
    fresh: Any = Operator(relu._define, relu._recipe)
    found = fresh.tune(X, trials=2, budget="20s")
    (compiled,) = fresh._compiled.values()
    if found.trace is not None:
        ours, theirs = (
            re.findall(r"s\.(\w+)\(", str(t)) for t in (compiled.opened.trace, found.trace)
        )
        assert ours == theirs
    assert data_of(fresh.view(X, path=tmp_path / "page.html"))["stages"]


def test_tuning_with_options_in_a_list() -> None:
    fresh: Any = Operator(tile._define, tile._recipe)
    fresh.tune(X, [2, 1], trials=1, budget="20s")
    assert fresh(X, [2, 1]).shape == (2 * X.shape[0], *X.shape[1:])
    assert len(fresh._compiled) == 1
