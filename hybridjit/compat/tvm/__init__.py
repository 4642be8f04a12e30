"""The names that old tensor-expression code imports from TVM 0.18, for the CPU.

    import hybridjit.compat.tvm as tvm
    from hybridjit.compat.tvm import te, topi

Or, for code that is not to be edited: `hybridjit.compat.tvm.install()` before it imports `tvm`, or
`python -m hybridjit.compat.tvm script.py`. What has no counterpart here is an AttributeError that
says so.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from hybridjit.compat.tvm import autotvm, contrib, ir, nd, target, te, testing, tir, topi
from hybridjit.compat.tvm.devices import Device, cpu, device
from hybridjit.compat.tvm.functions import get_global_func, register_func
from hybridjit.compat.tvm.ir import IRModule, PassContext, Range
from hybridjit.compat.tvm.modules import build, load_module, lower
from hybridjit.errors import ArgumentError, HybridError
from hybridjit.runtime.modules.module import Module

__version__ = "0.18.0"
TVMError = HybridError
__all__ = [
    "Device",
    "IRModule",
    "Range",
    "TVMError",
    "autotvm",
    "build",
    "contrib",
    "convert",
    "cpu",
    "device",
    "driver",
    "error",
    "get_global_func",
    "install",
    "ir",
    "lower",
    "nd",
    "register_func",
    "runtime",
    "target",
    "te",
    "testing",
    "tir",
    "topi",
    "transform",
]

_MODULES = (
    "autotvm",
    "contrib",
    "driver",
    "error",
    "ir",
    "nd",
    "runtime",
    "target",
    "te",
    "testing",
    "tir",
    "topi",
    "transform",
)
_ELSEWHERE = {
    "relay": "graphs are written as tensor expressions or scripts",
    "relax": "graphs are written as tensor expressions or scripts",
    "auto_scheduler": "hj.tune((s, args), arrays) searches the compiler's own space",
    "meta_schedule": "hj.tune and kernel.tune search",
    "cuda": "there is one device, the CPU",
    "gpu": "there is one device, the CPU",
    "rpc": "hj.tune takes any executor of concurrent.futures, dask's included",
    "ndarray": "tvm.nd is there",
    "arith": "expressions are simplified when they are made; hybridjit.tir.simplify does so, too",
}


class _Runtime(ModuleType):
    """`tvm.runtime`: what of it old code uses."""

    Module = Module
    NDArray = nd.NDArray
    ndarray = nd
    load_module = staticmethod(load_module)

    @staticmethod
    def convert(value: Any) -> Any:
        """A number as one that expressions take; anything else as it is."""
        return convert(value)

    @staticmethod
    def enabled(kind: str) -> bool:
        """Whether there is such a target."""
        return kind.split()[0] in ("llvm", "cpu")


class _Transform(ModuleType):
    """`tvm.transform`: what of it old code uses."""

    PassContext = PassContext


def convert(value: Any) -> Any:
    """What expressions take: a number, a tensor or a list of them is that already."""
    return value


class _Error(ModuleType):
    """`tvm.error`: what is raised."""

    TVMError = TVMError


class _Driver(ModuleType):
    """`tvm.driver`: where `build` and `lower` are, too."""

    build = staticmethod(build)
    lower = staticmethod(lower)


error = _Error(f"{__name__}.error")
driver = _Driver(f"{__name__}.driver")
transform = _Transform(f"{__name__}.transform")
runtime = _Runtime(f"{__name__}.runtime")


def install() -> None:
    """Let `import tvm` mean this package, unless TVM itself was imported."""
    ours: ModuleType = sys.modules[__name__]
    if sys.modules.get("tvm", ours) is not ours:
        raise ArgumentError("TVM itself is imported already")
    sys.modules["tvm"] = ours
    for name in _MODULES:
        sys.modules[f"tvm.{name}"] = getattr(ours, name)
    for name, module in contrib.MODULES.items():
        sys.modules[f"tvm.contrib.{name}"] = module
    for name, module in topi.MODULES.items():
        sys.modules[f"tvm.topi.{name}"] = module
    sys.modules["tvm.ir.module"] = sys.modules["tvm.ir"]
    sys.modules["tvm.te.hybrid"] = te.hybrid
    sys.modules["tvm.te.tensor"] = te.tensor
    sys.modules["tvm.te.schedule"] = te.schedule
    sys.modules["tvm.ir.transform"] = transform
    for name in ("callback", "record", "task", "tuner"):
        sys.modules[f"tvm.autotvm.{name}"] = getattr(autotvm, name)
    sys.modules["tvm.tir.ir_builder"] = tir.ir_builder


def __getattr__(name: str) -> Any:
    if name in _ELSEWHERE:
        raise AttributeError(f"tvm.{name} is not here: {_ELSEWHERE[name]}")
    raise AttributeError(f"hybridjit.compat.tvm has no {name!r}")
