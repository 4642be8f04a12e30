"""Run the code of kernels for another processor, by an emulator, whatever the host is.

Everything but the code itself runs here as always: kernels are compiled for the other processor,
and each call goes to a process under QEMU that shares memory with this one. What that code is
given is copied there and back, between words that nobody may change.

    with emulated("haswell"):
        kernel(a, b)

It needs qemu-user-static and the C compiler for the other processor (Debian: qemu-user-static,
gcc-x86-64-linux-gnu or gcc-aarch64-linux-gnu). Loops on threads run their chunks one by one.
Functions of this process that a kernel calls are not there: such kernels raise NotEmulated.
"""

from __future__ import annotations

import weakref
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import Mock, patch

import llvmlite.binding
import numpy as np

from hybridjit import config, processor
from hybridjit.codegen.engine import Library
from hybridjit.codegen.hidden_reference import hide
from hybridjit.codegen.math import elementary
from hybridjit.codegen.pool.names import POLL, RUN, STATE
from hybridjit.codegen.sites import ADAPTER
from hybridjit.runtime import native
from hybridjit.runtime.dispatch.native_calls import NativeCalls
from tests.emulated.calls import Entry, receive
from tests.emulated.process import NotEmulated, Process
from tests.emulated.processors import MACHINES

llvm: Any = llvmlite.binding


class _Code:
    """Code in the other process: lives as long as the library whose it is."""


@contextmanager
def emulated(name: str) -> Generator[None]:
    """Kernels are compiled for a processor of MACHINES and run by its emulator."""
    machine = MACHINES[name]
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    process = Process(machine)
    attach: Any = native.attach_native

    def link(image: bytes, exports: Sequence[str], imports: Mapping[str, int]) -> Library:
        others = sorted(set(imports) - {RUN, POLL, STATE})
        if others:
            raise NotEmulated(f"the code calls {', '.join(others)}")
        number, code = process.link(image), _Code()
        weakref.finalize(code, process.drop, number).atexit = False
        return Library({ADAPTER: number}, hide(code))

    def attach_native(func: Any, layout: Any, code: Any, library: Library) -> Any:
        made = attach(func, layout, code, library)
        sizes = [result.dtype.numpy.itemsize for result in made.convention.results]
        entry = Entry(process, library.addresses[ADAPTER], sizes)

        def pass_arguments(frame: Any) -> list[int]:
            entry.arrays = [frame[slot] for slot in made.arrays]
            return made.pass_arguments(frame)

        return replace(made, entry=entry, pass_arguments=pass_arguments)

    with ExitStack() as scope:
        scope.callback(process.end)
        replaced: Sequence[tuple[Any, str, Any]] = (
            (processor, "host_target", Mock(return_value=machine.target)),
            (elementary, "orders_zeros", Mock(return_value=_orders_zeros())),
            (native, "link", link),
            (native, "attach_native", attach_native),
            (native, "receive", receive),
            (NativeCalls, "learn", Mock()),
        )
        for owner, attribute, value in replaced:
            scope.enter_context(patch.object(owner, attribute, value))
        scope.enter_context(config.scope(cache_enabled=False))
        yield


def _orders_zeros() -> bool:
    """Whether NumPy, on this processor, has -0.0 as the minimum of 0.0 and -0.0."""
    return bool(np.signbit(np.minimum(-0.0, 0.0)))
