"""Captured arrays are constants of a kernel: a call must not write to them while it reads them.

TABLE = np.arange(4.0)
kernel(TABLE)    # writes its argument and reads TABLE: plain Python would read what it wrote
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from numpy.typing import NDArray

from hybridjit.errors import ArgumentValueError
from hybridjit.frontend.captures import Capture
from hybridjit.ir.expr import Buffer
from hybridjit.ir.header import Header
from hybridjit.runtime.arguments import overlap
from hybridjit.scalars.kinds import is_array, is_sequence


def check_not_captured(
    func: Header,
    written: frozenset[Buffer],
    values: Sequence[Any],
    guarded: Sequence[Capture],
) -> None:
    """Refuse to write to an array that the script reads as a constant."""
    for capture in guarded:
        for array in captured_arrays(capture.read()):
            for param, value in zip(func.params, values, strict=True):
                if param in written and overlap(array, value):
                    raise ArgumentValueError(
                        f"argument '{param.name}' is written, but it shares memory "
                        f"with '{capture.name}', which the script reads as a constant",
                        help=f"pass '{capture.name}' as an argument too, or pass a copy: "
                        f"{param.name}.copy()",
                    )


def captured_arrays(value: object) -> Iterator[NDArray[Any]]:
    """The arrays in a captured value."""
    if is_array(value):
        yield value
    elif is_sequence(value):
        for item in value:
            yield from captured_arrays(item)
