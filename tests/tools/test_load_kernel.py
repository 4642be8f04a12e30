"""Arguments as they are written on the command line."""

from __future__ import annotations

import numpy as np
import pytest

from hybridjit.tools.load_kernel import MAX_INDEX, read_arguments


def test_literals_are_as_in_python() -> None:
    assert read_arguments("3, -2.5, 'text', [1, 2], None") == (3, -2.5, "text", [1, 2], None)
    assert read_arguments("") == ()


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64", "c64", "c128"])
def test_arrays_of_floats_are_the_same_each_time(name: str) -> None:
    (one,), (other,) = read_arguments(f"{name}[3, 4]"), read_arguments(f"{name}[3, 4]")
    assert one.shape == (3, 4)
    assert np.array_equal(one, other)
    assert len(np.unique(one.astype(np.complex128))) > 1


@pytest.mark.parametrize("name", ["i8", "u16", "i64", "u64"])
def test_integers_may_be_indices(name: str) -> None:
    (array,) = read_arguments(f"{name}[1000]")
    assert array.min() == 0
    assert array.max() == MAX_INDEX - 1


def test_sizes_of_zero_and_numbers_of_a_type() -> None:
    empty, number = read_arguments("f32[0, 7], f32")
    assert empty.shape == (0, 7)
    assert type(number) is np.float32
