"""Headers on disk: sizes of results come back as they were, whatever they are made of."""

from __future__ import annotations

import json

import pytest

import hybridjit as hj
from hybridjit.ir.printer import format_expr
from hybridjit.runtime.cache.serialization import decode_header, encode_header

SIZES = (
    *("n", "k + 1", "-(-n // 8)", "~n + 20", "n - m", "n * m", "n % 5", "n ** 2", "int(n / 2)"),
    *("min(n, m)", "max(n, m)", "n & 7", "n | 1", "n ^ 1", "n << 1", "n >> 1", "abs(n - m)"),
    *("n if n > m else m", "n if n == m or n < 3 else 4", "n if not (n >= m and n <= k) else m"),
    *("n and m", "(n != m) + 1", "round(f)", "int(f * 0.1)", "bool(n) + 1"),
)


@pytest.mark.parametrize("size", SIZES)
def test_a_size_comes_back(size: str) -> None:
    text = f"""
def kernel(a: float64["m"], n: int64, k: int32, f: float64):
    m = a.shape[0]
    r = output_tensor(({size},), "float64")
    return r
"""
    header = hj.parse(text).header
    again = decode_header(json.loads(json.dumps(encode_header(header))), header.span)
    before, after = (format_expr(each.outputs[0].shape[0]) for each in (header, again))
    assert before == after
