"""What a search says of itself: as text, and in a notebook."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from hybridjit.tuning.result import Improvement, Tuned


def result(*scores: float) -> Tuned:
    curve = tuple(Improvement(float(k), k, score) for k, score in enumerate(scores))
    return Tuned(
        None, scores[-1], None, None, curve, Counter(measured=3), 4.0, "all trials are made"
    )


def shown(found: Tuned) -> str:
    return found._repr_html_()  # pyright: ignore[reportPrivateUsage]


def test_text_has_the_curve_in_letters() -> None:
    assert "####" in str(result(1.0, 0.5))


def test_a_search_that_found_nothing_has_no_curve() -> None:
    assert "#" not in str(result(1.0))


def test_a_notebook_has_it_as_a_picture_only() -> None:
    text = shown(result(1.0, 0.5))
    assert text.count("<svg") == 1
    assert "####" not in text
    assert "3 measured in 4 s; all trials are made" in text


@pytest.mark.parametrize(("last", "labels"), [(0.5, ["1.00", "0.50"]), (0.95, ["0.95"])])
def test_numbers_at_the_axis_stand_apart(last: float, labels: list[str]) -> None:
    assert re.findall(r'<text x="4" [^>]*>([^<]*)<', shown(result(1.0, last))) == labels
