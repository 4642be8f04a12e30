"""Every operator says what it does, with an example that runs."""

from __future__ import annotations

import doctest
from typing import Any

import numpy as np
import pytest

from hybridjit import stdlib as hs


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", hs.OPERATORS)
def test_example_gives_what_it_says(name: str) -> None:
    operator: Any = getattr(hs, name)
    example = doctest.DocTestParser().get_doctest(
        operator.__doc__, {"hs": hs, "np": np}, name, None, 0
    )
    assert example.examples
    report: list[str] = []
    doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    assert not report, "".join(report)


def test_operators_know_their_names() -> None:
    assert len(set(hs.__all__)) == len(hs.__all__) == len(hs.OPERATORS) + 1
    assert all(getattr(hs, name).__name__ == name for name in hs.OPERATORS)
