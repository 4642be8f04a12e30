"""Rows of tables of operators: a call, and what it should give, on arrays and on tensors.

On tensors the sizes are variables, equal ones the same one; sizes of 1, along which elements are
repeated, stay. The graph is interpreted, which is sooner done than compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hybridjit import stdlib as hs
from hybridjit import te
from hybridjit.interp.run import interpret
from hybridjit.record import record

Array = Any
_ARRAY: type[Any] = np.ndarray
_SEQUENCE: tuple[type[Any], ...] = (tuple, list)


@record(eq=False)
class Row:
    """A call of an operator. `rtol` of 0 asks for the same numbers."""

    name: str
    args: tuple[Any, ...]
    options: dict[str, Any]
    wanted: Any
    rtol: float
    is_dynamic: bool
    fixed: tuple[int, ...] = ()

    def __str__(self) -> str:
        shapes = [_text(value) for value in self.args]
        options = [f"{name}={_text(value)}" for name, value in self.options.items()]
        return f"{self.name}({', '.join([*shapes, *options])})"

    def check_on_arrays(self) -> None:
        """Hold the call on arrays against what is wanted: values, shapes and types."""
        self._compare(getattr(hs, self.name)(*self.args, **self.options))

    def check_on_tensors(self) -> None:
        """Hold the graph of the call against what is wanted, for sizes that are variables."""
        if not self.is_dynamic:
            return
        tensors = _Tensors(self.fixed)
        made = getattr(hs, self.name)(
            *map(tensors.of, self.args),
            **{name: tensors.of(value) for name, value in self.options.items()},
        )
        outputs = list(made) if isinstance(made, _SEQUENCE) else [made]
        wanted = self.wanted if isinstance(self.wanted, _SEQUENCE) else [self.wanted]
        results = [np.zeros(array.shape, array.dtype) for array in wanted]
        func = te.create_prim_func([*tensors.given, *outputs], self.name)
        interpret(func, [*tensors.arrays, *results])
        self._compare(tuple(results) if isinstance(made, _SEQUENCE) else results[0])

    def _compare(self, found: Any) -> None:
        if not isinstance(self.wanted, _SEQUENCE):
            compare(found, self.wanted, self.rtol)
            return
        assert isinstance(found, _SEQUENCE)
        for one, other in zip(found, self.wanted, strict=True):
            compare(one, other, self.rtol)


def row(
    name: str,
    *args: Any,
    wanted: Any,
    rtol: float = 0,
    dynamic: bool = True,
    fixed: tuple[int, ...] = (),
    **options: Any,
) -> Row:
    """A row; `dynamic` says that it also holds for sizes of the run, all but those `fixed`."""
    results = wanted if isinstance(wanted, _SEQUENCE) else np.asarray(wanted)
    return Row(name, args, options, results, rtol, dynamic, fixed)


def compare(found: Any, wanted: Array, rtol: float = 0) -> None:
    """The same shape, type and values, as near as `rtol` says."""
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    if rtol:
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol)
    else:
        np.testing.assert_array_equal(found, wanted)


class _Tensors:
    """Placeholders for arrays, their sizes shared."""

    def __init__(self, fixed: tuple[int, ...]) -> None:
        self.given: list[Any] = []
        self.arrays: list[Any] = []
        self._sizes: dict[int, Any] = {size: size for size in (1, *fixed)}

    def of(self, value: Any) -> Any:
        if isinstance(value, _SEQUENCE):
            return tuple(self.of(item) for item in value)
        if not isinstance(value, _ARRAY):
            return value
        shape = tuple(self._sizes.setdefault(size, te.var(f"n{size}")) for size in value.shape)
        self.given.append(te.placeholder(shape, value.dtype, f"x{len(self.given)}"))
        self.arrays.append(value)
        return self.given[-1]


def _text(value: Any) -> str:
    if isinstance(value, _SEQUENCE):
        return f"({', '.join(_text(item) for item in value)})"
    if callable(value):  # its address is another one in each process
        return str(getattr(value, "__name__", type(value).__name__))
    return f"{value.dtype}{list(value.shape)}" if isinstance(value, _ARRAY) else repr(value)
