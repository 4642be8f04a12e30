"""What notebooks show of kernels, schedules, programs, reports, profiles and searches."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.html_text import table
from hybridjit.tuning.result import Tuned

X = np.ones(50_000)


@hybrid.script
def compared(a: Any) -> Any:
    n = 0
    for i in range(a.shape[0]):
        if a[i] < 1 and a[i] > -1:  # & is to be seen as it is
            n += 1
    return n


class Balanced(HTMLParser):
    """Sees that elements are closed in their order, and keeps the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def shown(value: Any) -> str:
    parser = Balanced()
    parser.feed(value._repr_html_())
    assert not parser.open
    return "".join(parser.text)


MAKE = {
    "kernel": lambda: compared,
    "schedule": lambda: compared.schedule(X),
    "program": lambda: compared.prim_func(X),
    "report": lambda: compared.report(X),
    "profile": lambda: compared.profile(X),
}


@pytest.mark.parametrize("kind", MAKE)
def test_it_is_html(kind: str) -> None:
    assert "compared" in shown(MAKE[kind]())


def test_a_kernel_shows_its_text() -> None:
    compared.compile(X)
    text = shown(compared)
    assert "if a[i] < 1 and a[i] > -1:  # & is to be seen" in text
    assert "float64[50000]" in text


def test_a_search_shows_how_it_went() -> None:
    found = Tuned(None, 1.0, None, None, (), Counter(), 1.0, "")
    assert "nothing found that is faster" in shown(found)


def test_reports_show_themselves() -> None:
    report = compared.report(X)
    assert repr(report) == str(report)
    assert "lanes" in shown(report)


def test_cells_are_escaped() -> None:
    assert "&lt;b&gt;" in table([("head",), ("<b>",)], "<")
