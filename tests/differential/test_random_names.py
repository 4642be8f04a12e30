"""Random scripts in which names stand for other arrays as time goes on."""

from __future__ import annotations

import pytest

from tests.support.random_names import check


@pytest.mark.sampled(4)
@pytest.mark.parametrize("number", range(24))
def test_script(number: int) -> None:
    check(number, natively=number % 8 == 0)
