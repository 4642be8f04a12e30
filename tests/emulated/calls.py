"""Calls of code in another process: what it is given goes to the shared memory and comes back."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hybridjit.codegen.sites import RECORD_WORDS
from hybridjit.ir.signature import ArrayResult
from tests.emulated.process import SIZE, STRETCH, Process

# Bytes between two arrays, which nobody may change.
GAP = 128
_CANARY = 0x5C


@dataclass
class _Span:
    """Bytes that a call is given, and where they are meanwhile."""

    low: int
    high: int
    place: int = 0


class Entry:
    """Code in the other process, called as the code of a kernel is."""

    def __init__(self, process: Process, number: int, results: Sequence[int]) -> None:
        self._process, self._number, self._results = process, number, results
        self.arrays: list[Any] = []  # of the call to come, in the order of its words

    def __call__(self, words: Any) -> int:
        given = list(words)
        count, first = len(self.arrays), len(given) - 1 - len(self._results)
        spans = [_Span(*np.lib.array_utils.byte_bounds(array)) for array in self.arrays]
        ends = [*self._results, 8 * RECORD_WORDS]
        spans += [_Span(low, low + size) for low, size in zip(given[first:], ends, strict=True)]
        merged = _merge(spans)
        end = _place(merged, STRETCH + 64)
        for number in (*range(count), *range(first, len(given))):
            given[number] = _moved(given[number], merged)
        block = (ctypes.c_uint64 * len(given))(*given)
        ctypes.memmove(end, block, ctypes.sizeof(block))
        begin = end + ctypes.sizeof(block) + GAP
        (ctypes.c_uint64 * 2).from_address(STRETCH)[:] = [begin, STRETCH + SIZE]
        status = self._process.call(self._number, end)
        _take_back(merged)
        return status


def _merge(spans: Sequence[_Span]) -> list[_Span]:
    """The spans, one where they overlap."""
    merged: list[_Span] = []
    for span in sorted(spans, key=lambda span: span.low):
        if merged and span.low < merged[-1].high:
            merged[-1].high = max(merged[-1].high, span.high)
        else:
            merged.append(replace(span))
    return merged


def _place(spans: Sequence[_Span], place: int) -> int:
    """Copy the spans to the shared memory, each aligned as it was; what comes after them."""
    for span in spans:
        place += GAP
        span.place = place + (span.low - place) % 64
        size = span.high - span.low
        ctypes.memset(span.place - GAP // 2, _CANARY, size + GAP)
        ctypes.memmove(span.place, span.low, size)
        place = span.place + size
    return place + GAP + -place % 64


def _take_back(spans: Sequence[_Span]) -> None:
    """Copy the spans back; nothing beside them has changed."""
    half = GAP // 2
    untouched = bytes([_CANARY]) * half
    for span in spans:
        size = span.high - span.low
        for place in (span.place - half, span.place + size):
            if ctypes.string_at(place, half) != untouched:
                raise AssertionError("emulated code wrote beside an array")
        ctypes.memmove(span.low, span.place, size)


def _moved(address: int, spans: Sequence[_Span]) -> int:
    span = next(s for s in spans if s.low <= address < s.high or s.low == address == s.high)
    return address - span.low + span.place


def receive(results: Sequence[Any], words: Iterator[Any]) -> list[Any]:
    """As native.receive, of memory that ends with the call: the arrays are copies."""
    return [
        _receive_array(result, words) if isinstance(result, ArrayResult) else next(words)
        for result in results
    ]


def _receive_array(result: ArrayResult, words: Iterator[Any]) -> Any:
    address = int(next(words))
    shape = [int(next(words)) for _ in range(result.ndim)]
    size = int(np.prod(shape)) * result.dtype.numpy.itemsize
    data: Any = np.frombuffer(bytearray(ctypes.string_at(address, size)), np.uint8)
    return data.view(result.dtype.numpy).reshape(shape)
