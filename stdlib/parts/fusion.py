"""What may follow a layer in the same loops: a bias, and an activation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from hybridjit.errors import ArgumentValueError
from hybridjit.stdlib.parts.elements import call
from hybridjit.stdlib.parts.shapes import are_equal, show
from hybridjit.te import compute

Activation = Literal["relu", "sigmoid", "tanh"] | None


def _relu(value: Any) -> Any:
    return call("maximum", value, 0)


_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "relu": _relu,
    "sigmoid": partial(call, "sigmoid"),
    "tanh": partial(call, "tanh"),
}


def finish(name: str, layer: Any, bias: Any, activation: str | None, *, axis: int) -> Any:
    """A layer with a bias for each place along `axis`, and an activation, if they are given."""
    if activation is not None and activation not in _FUNCTIONS:
        raise ArgumentValueError(
            f"{name}: there is no activation {activation!r}",
            help=f"choose from {', '.join(map(repr, _FUNCTIONS))}, or apply one to the result",
        )
    if bias is None and activation is None:
        return layer
    if bias is not None:
        _check_bias(name, layer, bias, axis)

    def element(*indices: Any) -> Any:
        value = layer[indices]
        value = value if bias is None else call("+", value, bias[indices[axis]])
        return value if activation is None else _FUNCTIONS[activation](value)

    return compute(layer.shape, element, name=f"{name}_{activation or 'bias'}")


def _check_bias(name: str, layer: Any, bias: Any, axis: int) -> None:
    if bias.ndim != 1 or not are_equal(bias.shape[0], layer.shape[axis]):
        raise ArgumentValueError(
            f"{name}: the bias '{bias.name}' has shape {show(bias.shape)}, and the result "
            f"{show(layer.shape)}",
            help=f"it must have shape {show((layer.shape[axis],))}: one for each along axis {axis}",
        )
