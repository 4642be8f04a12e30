"""Random whole-array scripts against NumPy itself."""

from __future__ import annotations

from typing import Any

import pytest

from hybridjit import hybrid
from tests.array_results import assert_agree
from tests.random_arrays import Generator, define


@pytest.mark.parametrize("seed", range(60))
def test_random_array_script(seed: int):
    program = Generator(seed).program()
    kernel: Any = hybrid.script(define(program.text, seed))
    try:
        assert_agree(kernel, program.args)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{program.text}") from error
