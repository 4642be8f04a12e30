"""Random whole-array scripts against NumPy itself; the campaign `arrays` runs more of them."""

from __future__ import annotations

import pytest

from tests.support.array_campaign import Refused, check_program
from tests.support.random_arrays import Generator

# How many scripts of a hundred may use something that the language does not have.
MAX_REFUSED = 15


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(100))
def test_random_array_script(seed: int):
    program = Generator(f"suite/{seed}").program()
    try:
        check_program(program, f"suite/{seed}", is_native=seed % 5 == 0, is_symbolic=seed % 2 == 1)
    except Refused:
        return
    except AssertionError as error:
        raise AssertionError(f"{error}\n{program.text}") from error


def test_few_scripts_are_refused():
    refused = 0
    for seed in range(100):
        program = Generator(f"suite/{seed}").program()
        try:
            check_program(program, f"refused/{seed}", is_native=False)
        except Refused:
            refused += 1
    assert refused <= MAX_REFUSED


def test_programs_are_the_same_each_time():
    first, second = (Generator("again").program() for _ in range(2))
    assert first.text == second.text
    assert first.results == second.results
