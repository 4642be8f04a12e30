"""Branches that some bits of data decide: no processor foresees them, and LLVM is told so."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from hybridjit import hybrid
from tests.corpus.case import Array
from tests.support.oracle import assert_same_outcome, fresh, run_interpreted, run_native, run_once

np: Any = numpy


@hybrid.script
def checksum(data: Array, poly: int) -> int:
    crc = 0xFFFF
    for i in range(data.shape[0]):
        byte = 0xFF & data[i]
        for _ in range(8):
            if (crc & 1) ^ (byte & 1):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            byte >>= 1
    return crc


@hybrid.script
def rounds(data: Array, poly: int) -> int:
    total = 0
    for i in range(data.shape[0]):
        n = int(data[i])
        if n % 2 == 0:
            total += n // 2
        else:
            total -= poly * n
    return total


@hybrid.script
def every_second(data: Array, poly: int) -> int:
    total = 0
    for i in range(data.shape[0]):
        if i % 2 == 0 and data[i] > 3:
            total = total * 3 + poly
    return total


@pytest.mark.parametrize("kernel", [checksum, rounds, every_second])
def test_as_the_interpreter(kernel: Any) -> None:
    for size in (0, 1, 2, 37):
        args = (np.arange(size) * 37 % 251).astype(np.uint8), 0x8408
        again = fresh(kernel)
        assert_same_outcome(
            run_once(run_native, again, args), run_once(run_interpreted, again, args)
        )


def test_llvm_is_told() -> None:
    args = np.zeros(9, np.uint8), 0x8408
    assert "!unpredictable" in checksum.inspect("llvm", *args)
    assert "!unpredictable" not in every_second.inspect("llvm", *args)
