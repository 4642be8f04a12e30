"""`tvm.build` and `tvm.lower`, and modules with TVM's methods."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from hybridjit.compat.tvm.ir import IRModule
from hybridjit.compat.tvm.schedule import Schedule
from hybridjit.errors import ArgumentError
from hybridjit.lowering.entry import lower as _lower
from hybridjit.runtime.dispatch.objects import native_calls
from hybridjit.runtime.modules.loaded_module import load_module as _load_module
from hybridjit.runtime.modules.module import Module as _Module
from hybridjit.tuning.builds import build as _build


@native_calls
class Module(_Module):
    """Built functions, with the names that TVM gives to what they can do."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)

    def save(self, path: str | os.PathLike[str], fmt: str = "") -> None:
        """Write the code to a file, which `tvm.contrib.cc.create_shared` makes a library of."""
        del fmt
        self.export_library(path)

    def get_function(self, name: str, query_imports: bool = False) -> Any:
        """One of the functions."""
        del query_imports
        return self[name]

    def get_source(self, fmt: str = "llvm") -> str:
        """The code as text: "ll" or "asm"."""
        return self.inspect("asm" if fmt in ("asm", "s") else "llvm")

    @property
    def type_key(self) -> str:
        """What it was made with."""
        return "llvm"


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
    named = name if isinstance(inputs, IRModule) else name or "default_function"
    made = _build(_source(inputs), args, name=named)
    return Module({function: made[function] for function in made.names})


def load_module(path: str | os.PathLike[str]) -> Module:
    """The module that `export_library` wrote."""
    made = _load_module(path)
    return Module({function: made[function] for function in made.names})


def lower(
    inputs: Any,
    args: Sequence[Any] | None = None,
    name: str = "main",
    binds: Any = None,
    simple_mode: bool = False,
) -> IRModule:
    """The loops of a schedule; `print` shows them."""
    del simple_mode
    _refuse_binds(binds)
    return IRModule({name: _lower(_source(inputs), args, name=name)})


def _source(inputs: Any) -> Any:
    """What `hj.build` takes for it."""
    match inputs:
        case Schedule():
            return inputs.schedule
        case IRModule() if len(inputs.functions) == 1:
            return next(iter(inputs.functions.values()))
        case IRModule():
            return dict(inputs.functions)
        case _:
            return inputs


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
