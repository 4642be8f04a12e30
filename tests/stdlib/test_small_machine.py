"""Operators on a machine to which small arrays are large: all that they do from some size on.

A sum of more terms than are added in one go, results that are stored past the caches, temporary
arrays that are not on the stack: what networks of real sizes meet, at sizes that take no time.
"""

from __future__ import annotations

import importlib
from collections.abc import Generator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hybridjit.stdlib as hs
from tests.support import operator_references as reference
from tests.support.operator_rows import Row, compare
from tests.support.small_machine import small_machine

Array = Any
FEW = settings(max_examples=max(settings().max_examples // 8, 1))
RNG = np.random.default_rng(4)
TABLES = (
    "activations",
    "bits_and_sizes",
    "contractions",
    "creation",
    "detection",
    "images",
    "indexing",
    "layouts",
    "networks",
    "packed_convolution",
    "recurrent",
    "searching",
    "shapes",
    "sparse_and_vision",
    "training",
    "windows",
)
ROWS: list[Row] = [
    row for table in TABLES for row in importlib.import_module(f"tests.stdlib.test_{table}").ROWS
]


@pytest.fixture(autouse=True)
def on_a_small_machine() -> Generator[None]:
    """What an operator compiled for another machine is forgotten, before and after."""
    forget()
    with small_machine():
        yield
    forget()


def forget() -> None:
    for name in hs.OPERATORS:
        kernel = getattr(hs, name)
        if hasattr(kernel, "clear"):
            kernel.clear()


@pytest.mark.sampled(100)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_rows_of_tables(row: Row) -> None:
    row.check_on_arrays()


@FEW
@given(st.data())
def test_products(data: st.DataObject) -> None:
    sizes = {"i": 9, "j": 10, "k": 20, "l": 3, "m": 2}
    left = "".join(data.draw(st.permutations("ilk")))
    right = "".join(data.draw(st.permutations(data.draw(st.sampled_from(["jk", "jkl", "jkm"])))))
    letters = sorted({*left, *right} - {"k"})
    text = f"{left},{right}->{''.join(data.draw(st.permutations(letters)))}"
    x, y = (RNG.integers(-4, 5, [sizes[at] for at in side]) * 1.0 for side in (left, right))
    compare(hs.einsum(text, (x, y)), np.einsum(text, x, y), 0)


@FEW
@given(st.integers(1, 2), st.integers(9, 40), st.integers(1, 12), st.sampled_from([1, 3]))
def test_convolutions(images: int, channels: int, filters: int, size: int) -> None:
    x = RNG.integers(-4, 5, (images, channels, 5, 9)) * 1.0
    w = RNG.integers(-4, 5, (filters, channels, size, size)) * 1.0
    wanted = reference.conv2d(x, w, padding=size // 2)
    compare(hs.conv2d(x, w, padding=size // 2), wanted, 0)
