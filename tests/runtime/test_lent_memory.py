"""What a callback keeps of the arrays it was given stays valid for ever."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridjit import hybrid
from hybridjit.hybrid import allocate, output_tensor
from tests.support.own_process import run_program

CALLS = 4  # the first ones go through Python, later ones through the dispatcher
TABLE: Any = np.arange(4.0)


def test_kept_argument_in_a_process_of_its_own(tmp_path: Path) -> None:
    program = """
        import numpy as np
        from hybridjit import hybrid

        seen = []
        keep = hybrid.packed(seen.append, name="keep")

        @hybrid.script
        def kernel(a):
            keep(a)

        for _ in range(4):
            kernel(np.full(10**6, 7.0))
        print(sum(array.sum() for array in seen))
    """
    assert run_program(tmp_path, program) == "28000000.0\n"


@pytest.fixture
def seen() -> list[Any]:
    return []


def test_kept_argument_is_a_view_of_the_argument(seen: list[Any]) -> None:
    keep = hybrid.packed(seen.append, name="keep")

    @hybrid.script
    def kernel(a: Any) -> None:
        keep(a[1:3])

    for _ in range(CALLS):
        a = np.arange(4.0)
        kernel(a)
        assert np.shares_memory(seen[-1], a)
        a[1] = 9
        assert seen[-1].tolist() == [9, 2]
        with pytest.raises(ValueError, match="cannot resize"):
            a.resize((1,))


def test_kept_result_is_a_view_of_the_result(seen: list[Any]) -> None:
    keep = hybrid.packed(seen.append, name="keep")

    @hybrid.script
    def kernel() -> Any:
        b = output_tensor((1000,), "float64")
        keep(b)
        b[0] = 3
        return b

    for _ in range(CALLS):
        assert np.shares_memory(kernel(), seen[-1])
    gc.collect()
    assert [array[0] for array in seen] == [3] * CALLS


@pytest.mark.parametrize("size", [8, 100_000])
def test_kept_local_array_is_a_copy(size: int, seen: list[Any]) -> None:
    """Small ones are on the stack, large ones on the heap."""
    keep = hybrid.packed(seen.append, name="keep")

    @hybrid.script
    def kernel(start: Any) -> None:
        for k in range(2):
            t = allocate((size,), "float64")
            for i in range(size):
                t[i] = start + i + k
            keep(t)

    for number in range(CALLS):
        kernel(float(number))
    expected = [number + k + np.arange(size) for number in range(CALLS) for k in range(2)]
    np.testing.assert_array_equal(seen, expected)


def test_kept_constant_outlives_the_code(seen: list[Any]) -> None:
    keep = hybrid.packed(seen.append, name="keep")

    def make() -> Any:
        @hybrid.script
        def kernel() -> None:
            keep(TABLE)

        return kernel

    for _ in range(CALLS):
        make()()
    gc.collect()
    assert [array.tolist() for array in seen] == [TABLE.tolist()] * CALLS
    assert not any(array.flags.writeable for array in seen)


def test_parts_of_a_local_array_that_overlap_are_one_memory() -> None:
    def change(x: Any, y: Any) -> None:
        x[1] = 5
        y[0] += 1
        y[::2] *= 2

    packed_change = hybrid.packed(change)

    @hybrid.script
    def kernel(a: Any) -> None:
        t = allocate((8,), "float64")
        for i in range(8):
            t[i] = i
        packed_change(t[0:4], t[1:5])
        for i in range(8):
            a[i] = t[i]

    for _ in range(CALLS):
        a = np.zeros(8)
        kernel(a)
        assert a.tolist() == [0, 12, 2, 6, 4, 5, 6, 7]


def test_local_arrays_of_every_kind_come_back() -> None:
    def change(x: Any, empty: Any, column: Any) -> None:
        assert empty.shape == (0,)
        x[...] = x * 2 + 1j
        column[...] += 1

    packed_change = hybrid.packed(change)

    @hybrid.script
    def kernel(a: Any, b: Any, n: Any) -> None:
        t = allocate((3,), "complex64")
        m = allocate((3, 3), "int16")
        for i in range(3):
            t[i] = i
            for j in range(3):
                m[i, j] = 0
        packed_change(t, t[n:n], m[:, 1])
        for i in range(3):
            a[i] = t[i]
            for j in range(3):
                b[i, j] = m[i, j]

    for _ in range(CALLS):
        a, b = np.zeros(3, np.complex64), np.ones((3, 3), np.int16)
        kernel(a, b, 3)
        assert a.tolist() == [1j, 2 + 1j, 4 + 1j]
        assert b.tolist() == [[0, 1, 0]] * 3
