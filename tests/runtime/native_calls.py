"""Call kernels natively and through Python, and compare."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from hybridjit import Kernel, hybrid
from hybridjit.hybrid import output_tensor
from hybridjit.scalars.kinds import is_array, is_numpy_scalar, is_sequence
from tests.support.oracle import fresh

AnyKernel = Kernel[..., Any]


def hits(kernel: AnyKernel) -> int:
    """How many calls of `kernel` ran natively."""
    return sum(table.hits for table in kernel.native_calls.tables)


def warm(kernel: AnyKernel, *args: Any, **kwargs: Any) -> None:
    """Call until calls like this one run natively."""
    before = hits(kernel)
    for _ in range(3):
        kernel(*args, **kwargs)
    assert hits(kernel) > before


def through_python(kernel: AnyKernel) -> Callable[..., Any]:
    """The way that a call takes when no table fits."""
    return functools.partial(vars(Kernel)["__call__"], kernel)


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or the error that it raises, as something to compare."""
    try:
        return shown(call())
    except Exception as error:
        return type(error), str(error)


def shown(value: Any) -> Any:
    kind = type(value).__name__
    if is_sequence(value):
        return kind, *map(shown, value)
    if is_array(value) or is_numpy_scalar(value):
        array: Any = value
        return kind, array.dtype, array.shape, array.tobytes()
    return kind, repr(value)


def agrees(kernel: AnyKernel, *args: Any, **kwargs: Any) -> bool:
    """Compare a call with the same call through Python; True if it ran natively."""
    given = [value for value in flat((*args, *kwargs.values())) if is_array(value)]
    contents = [np.array(array) for array in given]
    slow = through_python(kernel)
    expected = outcome(lambda: slow(*args, **kwargs)), list(map(shown, given))
    for array, content in zip(given, contents, strict=True):
        if array.flags.writeable:
            array[...] = content
    before = hits(kernel)
    found = outcome(lambda: kernel(*args, **kwargs)), list(map(shown, given))
    assert found == expected
    return hits(kernel) > before


def flat(values: Any) -> list[Any]:
    found: list[Any] = []
    for value in values:
        found += flat(value) if is_sequence(value) else [value]
    return found


@hybrid.script
def add(a: Any, b: Any, c: Any) -> Any:
    for i in range(a.shape[0]):
        c[i] = a[i] + b[i]


def make_add() -> AnyKernel:
    return fresh(add)


def arrays(count: int = 3, size: int = 8, dtype: Any = np.float64) -> list[Any]:
    return [np.arange(size).astype(dtype) + i for i in range(count)]


@hybrid.script
def scaled_sum(a: Any, k: Any) -> Any:
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * k
    return s


@hybrid.script
def doubled(a: Any) -> Any:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = 2 * a[i]
    return b


def misaligned(array: Any) -> Any:
    memory: Any = np.zeros(array.nbytes + 1, np.uint8)
    view = memory[1:].view(array.dtype)
    view[...] = array
    return view


def read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array
