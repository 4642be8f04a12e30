"""TOPI's reductions, which keep the types of their operands, in terms of `hybridjit.stdlib`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hybridjit import stdlib as hs
from hybridjit.tensors.expression import dtype_of

Function = Callable[..., Any]


def _kept(data: Any) -> Any:
    """The type of sums and products: that of the elements, where NumPy takes an int64."""
    kind = dtype_of(data.dtype)
    return kind.name if kind.is_integer else None


def added_up(name: str) -> Function:
    """`sum` or `prod`, in the type of the elements."""

    def reduce(data: Any, axis: Any = None, keepdims: bool = False) -> Any:
        whole: Function = getattr(hs, name)
        return whole(data, axis, dtype=_kept(data), keepdims=keepdims)

    return reduce


def reduced(name: str) -> Function:
    """A reduction that gives one of its elements, or a condition."""

    def reduce(data: Any, axis: Any = None, keepdims: bool = False) -> Any:
        whole: Function = getattr(hs, name)
        return whole(data, axis, keepdims=keepdims)

    return reduce


def accumulated(name: str) -> Function:
    """`cumsum` or `cumprod`, in the type of the elements unless another is given."""

    def accumulate(
        data: Any, axis: int | None = None, dtype: Any = None, exclusive: bool | None = None
    ) -> Any:
        along: Function = getattr(hs, name)
        return along(data, axis, dtype=dtype or _kept(data), exclusive=bool(exclusive))

    return accumulate


def sequence_mask(data: Any, valid_length: Any, mask_value: Any = 0, axis: int = 0) -> Any:
    """The axis by its place."""
    return hs.sequence_mask(data, valid_length, mask_value, axis=axis)


ADAPTED: dict[str, Function] = {
    **{name: added_up(name) for name in ("sum", "prod")},
    **{name: reduced(name) for name in ("max", "min", "all", "any")},
    **{name: accumulated(name) for name in ("cumsum", "cumprod")},
    "sequence_mask": sequence_mask,
}
