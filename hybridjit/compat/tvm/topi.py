"""`tvm.topi`: operators, by TVM's names for those of `hybridjit.stdlib`."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from hybridjit import stdlib

# What is called otherwise there.
_NAMES = {
    "abs": "absolute",
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atanh": "arctanh",
    "mod": "remainder",
    "round": "rint",
    "floor_mod": "remainder",
}
_NN = {
    "relu": "relu",
    "leaky_relu": "leaky_relu",
    "softmax": "softmax",
    "log_softmax": "log_softmax",
    "dense": "dense",
    "batch_matmul": "matmul",
    "conv2d": "conv2d",
    "conv2d_nchw": "conv2d",
    "depthwise_conv2d_nchw": "depthwise_conv2d",
    "layer_norm": "layer_norm",
}


class _Operators(ModuleType):
    def __init__(self, name: str, names: Mapping[str, str], *, whole: bool) -> None:
        super().__init__(name)
        self._names = names
        self._whole = whole

    def __getattr__(self, name: str) -> Any:
        wanted = self._names.get(name, name if self._whole else "")
        if wanted not in stdlib.__all__:
            raise AttributeError(
                f"topi has no {name!r} here: hybridjit.stdlib lists the operators there are"
            )
        return getattr(stdlib, wanted)

    def __dir__(self) -> list[str]:
        return sorted({*self._names, *(stdlib.__all__ if self._whole else ())})


nn: Any = _Operators(f"{__name__}.nn", _NN, whole=False)
_all = _Operators(__name__, _NAMES, whole=True)


def __getattr__(name: str) -> Any:
    return getattr(_all, name)


def __dir__() -> list[str]:
    return [*dir(_all), "nn"]
