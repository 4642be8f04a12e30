"""hs.OPERATORS: what it says of each operator is so."""

from __future__ import annotations

import contextlib
import doctest
from typing import Any

import numpy as np
import pytest

from hybridjit import stdlib as hs
from hybridjit import te
from hybridjit.errors import HybridError

# Calls whose results are floats, where the documentation shows integers.
CALLS: dict[str, str] = {"cast": 'hs.cast(np.ones(2), "float32")'}


_ARRAY: type[Any] = np.ndarray
_SEQUENCE: tuple[type[Any], ...] = (tuple, list)


class Differentiated:
    """The operators, of which one is called on tensors, and differentiated by the first float."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.has_gradient = False

    def __getattr__(self, name: str) -> Any:
        return self._call if name == self._name else getattr(hs, name)

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        given: list[Any] = []
        has_floats = any(value.dtype.kind == "f" for value in arrays_in((*args, *kwargs.values())))

        def as_tensor(value: Any) -> Any:
            if isinstance(value, _SEQUENCE):
                return tuple(as_tensor(item) for item in value)
            if not isinstance(value, _ARRAY):
                return value
            dtype = value.dtype if has_floats or given else "float64"
            given.append(te.placeholder(value.shape, dtype))
            return given[-1]

        values = [as_tensor(value) for value in args]
        named = {name: as_tensor(value) for name, value in kwargs.items()}
        made = getattr(hs, self._name)(*values, **named)
        first: Any = made[0] if isinstance(made, _SEQUENCE) else made
        te.gradient(first, next(tensor for tensor in given if tensor.dtype.is_float))
        self.has_gradient = True
        return np.zeros(())


def arrays_in(values: Any) -> list[Any]:
    """All arrays among values, and among tuples of them."""
    if isinstance(values, _ARRAY):
        return [values]
    return (
        [x for value in values for x in arrays_in(value)] if isinstance(values, _SEQUENCE) else []
    )


def call_of(name: str) -> str:
    """The call that the documentation shows."""
    operator: Any = getattr(hs, name)
    return doctest.DocTestParser().get_examples(operator.__doc__)[-1].source


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", hs.OPERATORS)
def test_gradient_is_there_if_the_table_says_so(name: str) -> None:
    spy = Differentiated(name)
    with contextlib.suppress(HybridError, IndexError, TypeError, StopIteration):
        exec(CALLS.get(name, call_of(name)), {"hs": spy, "np": np})
    assert spy.has_gradient == hs.OPERATORS[name].has_gradient


def test_table_has_every_operator() -> None:
    assert list(hs.OPERATORS) == [name for name in hs.__all__ if name != "OPERATORS"]
    row = hs.OPERATORS["conv2d"]
    assert (row.name, row.family, row.has_schedule) == ("conv2d", "convolution", True)
    assert hs.OPERATORS["cumsum"].has_gradient
    assert not hs.OPERATORS["csr_matmul"].has_gradient
