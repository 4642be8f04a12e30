"""The names that old tensor-expression code imports from TVM 0.18, for the CPU.

    import hybridjit.compat.tvm as tvm
    from hybridjit.compat.tvm import te, topi

Or, for code that is not to be edited: `hybridjit.compat.tvm.install()` before it imports `tvm`, or
`python -m hybridjit.compat.tvm script.py`. What has no counterpart here is an AttributeError that
says so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from hybridjit.compat.tvm import contrib, nd, target, te, testing, tir, topi
from hybridjit.compat.tvm.devices import Device, cpu, device
from hybridjit.compat.tvm.functions import get_global_func, register_func
from hybridjit.errors import ArgumentError
from hybridjit.lowering.entry import lower as _lower
from hybridjit.runtime.modules.loaded_module import load_module
from hybridjit.runtime.modules.module import Module
from hybridjit.runtime.modules.module import build as _build

__version__ = "0.18.0"
__all__ = [
    "Device",
    "build",
    "contrib",
    "cpu",
    "device",
    "get_global_func",
    "install",
    "lower",
    "nd",
    "register_func",
    "runtime",
    "target",
    "te",
    "testing",
    "tir",
    "topi",
]

_ELSEWHERE = {
    "relay": "graphs are written as tensor expressions or scripts",
    "relax": "graphs are written as tensor expressions or scripts",
    "autotvm": "hj.tune(template, args) searches: templates get knobs and return a schedule",
    "auto_scheduler": "hj.tune((s, args), arrays) searches the compiler's own space",
    "meta_schedule": "hj.tune and kernel.tune search",
    "cuda": "there is one device, the CPU",
    "gpu": "there is one device, the CPU",
    "rpc": "hj.tune takes any executor of concurrent.futures, dask's included",
    "ndarray": "tvm.nd is there",
}


def build(
    inputs: Any,
    args: Sequence[Any] | None = None,
    target: Any = None,
    target_host: Any = None,
    runtime: Any = None,
    name: str | None = None,
    binds: Any = None,
) -> Module:
    """A module: called on arrays, it runs."""
    del target_host, runtime
    _refuse_binds(binds)
    _check_target(target)
    return _build(inputs, args, name=name or "default_function")


def lower(
    inputs: Any,
    args: Sequence[Any] | None = None,
    name: str = "main",
    binds: Any = None,
    simple_mode: bool = False,
) -> Any:
    """The loops of a schedule; `print` shows them."""
    del simple_mode
    _refuse_binds(binds)
    return _lower(inputs, args, name=name)


def _refuse_binds(binds: Any) -> None:
    if binds:
        raise ArgumentError(
            "binds is not supported", help="te.extern(..., in_buffers=[...]) sets strides"
        )


def _check_target(wanted: Any) -> None:
    kind = str(wanted or "llvm").split()[0]
    if kind not in ("llvm", "c", "cpu"):
        raise ArgumentError(
            f"target {kind!r} is not there", help='code is made for this processor: "llvm"'
        )


class _Runtime(ModuleType):
    """`tvm.runtime`: what of it old code uses."""

    Module = Module
    load_module = staticmethod(load_module)

    @staticmethod
    def enabled(kind: str) -> bool:
        """Whether there is such a target."""
        return kind.split()[0] in ("llvm", "cpu")


runtime = _Runtime(f"{__name__}.runtime")


def install() -> None:
    """Let `import tvm` mean this package, unless TVM itself was imported."""
    ours: ModuleType = sys.modules[__name__]
    if sys.modules.get("tvm", ours) is not ours:
        raise ArgumentError("TVM itself is imported already")
    sys.modules["tvm"] = ours
    for name in ("contrib", "nd", "runtime", "target", "te", "testing", "tir", "topi"):
        sys.modules[f"tvm.{name}"] = getattr(ours, name)
    sys.modules["tvm.contrib.cblas"] = contrib.cblas
    sys.modules["tvm.te.hybrid"] = te.hybrid
    sys.modules["tvm.topi.nn"] = topi.nn


def __getattr__(name: str) -> Any:
    if name in _ELSEWHERE:
        raise AttributeError(f"tvm.{name} is not here: {_ELSEWHERE[name]}")
    raise AttributeError(f"hybridjit.compat.tvm has no {name!r}")


Function = Callable[..., Any]
