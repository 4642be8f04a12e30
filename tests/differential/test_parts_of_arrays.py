"""`z.real` and its kin, in NumPy views, and functions that give the array itself: as in NumPy, or
refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel
from hybridjit.errors import ParseError
from tests.support.oracle import run_plain_and_interpreted

Values = Any


def part_is_written(z: Values) -> Values:
    part = z.real
    part[0] = 9
    return z.sum()


def array_is_written(z: Values) -> Values:
    part = np.imag(z)
    z[0] = 9j
    return part.sum()


def array_is_written_after_a_slice(z: Values) -> Values:
    part = z.imag[1:]
    z[1] = 9j
    return part.sum()


def made_here(z: Values) -> Values:
    doubled = z * 2
    part = doubled.real
    part[:] = 1
    return doubled


def local_is_written(z: Values) -> Values:
    doubled = z * 2
    part = doubled.real
    doubled[0] = 9
    return part.sum()


def what_is_broadcast_is_written(z: Values) -> Values:
    part = np.broadcast_to(z, (2, z.shape[0]))
    z[0] = 9
    return part.sum()


def read_again_in_a_loop(z: Values) -> Values:
    part = z.real
    total = 0.0
    for i in range(z.shape[0]):
        total += part.sum()
        z[i] = i
    return total


def updated_before_the_name_changes(z: Values) -> Values:
    w, total = z + 1, 0.0
    for _ in range(3):
        part = w.real
        w *= 2
        total += part[0]
        w = w * 2
    return total


def an_element_set_before_the_name_changes(z: Values) -> Values:
    w, total = z + 1, 0.0
    for i in range(3):
        part = w.real
        w[0] = i
        w = w * 2
        total += part[0]
    return total


REFUSED = [
    updated_before_the_name_changes,
    an_element_set_before_the_name_changes,
    local_is_written,
    what_is_broadcast_is_written,
    read_again_in_a_loop,
    part_is_written,
    array_is_written,
    array_is_written_after_a_slice,
    made_here,
]


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_what_a_copy_would_not_show_is_refused(function: Callable[..., Any]) -> None:
    kernel: Kernel[..., Any] = Kernel(function)
    with pytest.raises(ParseError, match="'part' would be another view of the elements"):
        kernel(np.arange(5) + 2j)


def names_that_change(z: Values) -> Values:
    part, w = z.real, z * 2
    for _ in range(3):
        part = part * 2
        side = w.imag
        w = w * w + side
    return part, w


def copied(z: Values) -> Values:
    part = z.real.copy()
    part[0], z[0] = 5, 3
    return part


def of_a_call(z: Values) -> Values:
    part = np.conj(z).imag
    part[0] = 5
    return part


def inside_of_a_call(z: Values) -> Values:
    def total(w: Values) -> Values:
        part = w.real
        return part.sum()

    z[0] = total(z)
    return total(z)


def written_when_all_is_read(z: Values) -> Values:
    side = z.imag.copy()
    for _ in range(2):
        part = z.real
        size = part * part - part
        z *= size
    first = z.real
    z[:] = first + side
    return z


def the_array_itself(a: Values) -> Values:
    real, same, plain = a.real, np.asarray(a, a.dtype), a.conj()
    real[0], same[1], plain[2] = 7, 8, 9
    a[3] = 10
    return real + same + plain + np.real(a)


@pytest.mark.parametrize(
    "function",
    [names_that_change, copied, of_a_call, inside_of_a_call, written_when_all_is_read],
    ids=lambda f: f.__name__,
)
def test_what_makes_no_difference(function: Callable[..., Any]) -> None:
    assert run_plain_and_interpreted(Kernel(function), [np.arange(5) + 2j]).error is None


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16"])
def test_functions_that_give_the_array_itself(dtype: str) -> None:
    a = np.arange(10).astype(dtype)
    for given in (a, a[::2], a[::-1]):
        assert run_plain_and_interpreted(Kernel(the_array_itself), [given]).error is None


def read_in_order(a: Values) -> Values:
    flat, same = a.ravel(), np.ascontiguousarray(a)
    return flat * 2 + same


def in_order_of_its_own(a: Values) -> Values:
    made = a * 2
    made.ravel()[0] = 5
    same = np.ascontiguousarray(made)
    same[1] = 6
    return made


@pytest.mark.parametrize("function", [read_in_order, in_order_of_its_own])
def test_arrays_in_row_major_order(function: Callable[..., Any]) -> None:
    a = np.arange(10.0)
    for given in (a, a[::2], a[::-1]):
        assert run_plain_and_interpreted(Kernel(function), [given]).error is None


def written_in_order(a: Values) -> Values:
    same = np.ascontiguousarray(a)
    same[0] = 9
    return a


def written_flat(a: Values) -> Values:
    flat = np.ravel(a)
    flat[0] = 9
    return a


def written_behind(a: Values) -> Values:
    same = np.ascontiguousarray(a)
    a[0] = 9
    return same + 1


@pytest.mark.parametrize("function", [written_in_order, written_flat, written_behind])
def test_a_copy_or_not_is_a_matter_of_strides(function: Callable[..., Any]) -> None:
    """NumPy copies what lies apart; a script does not know how its arguments lie."""
    with pytest.raises(ParseError, match=r"'a' in another shape or order|another view of the elem"):
        Kernel(function)(np.arange(10.0))
