"""Kernels in native code: compile a PrimFunc, and call it on NumPy arrays."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from hybridjit.codegen.engine import Library, emit_object, link, optimize
from hybridjit.codegen.kernel import KernelModule, emit_kernel
from hybridjit.codegen.layout import ArrayLayout, Layout, convention
from hybridjit.codegen.sites import MAX_WORDS
from hybridjit.codegen.stub_adapter import ADAPTER
from hybridjit.codegen.target import host_target
from hybridjit.interp.run import compile_prologue, compile_results
from hybridjit.interp.scope import RESULTS, Frame, Scope
from hybridjit.ir.dtype import DType
from hybridjit.ir.expr import Buffer, Const
from hybridjit.ir.func import PrimFunc
from hybridjit.lower.pipeline import lower
from hybridjit.runtime.cache import active_store
from hybridjit.runtime.callbacks import Callbacks
from hybridjit.runtime.failures import make_exception
from hybridjit.runtime.kernel_cache import decode_sites, encode_sites, find_key
from hybridjit.runtime.pool import pool_addresses


@dataclass(frozen=True, slots=True, eq=False)
class NativeKernel:
    """Code in memory for one PrimFunc and one layout of its arguments."""

    module: KernelModule
    library: Library
    callbacks: Callbacks
    entry: Callable[..., int]
    begin: Callable[[Sequence[Any]], Frame]
    pass_arguments: Callable[[Frame], list[int]]
    gather: Callable[[Frame], object]

    def __call__(self, args: Sequence[Any]) -> object:
        """Run on arguments that have the types and the layout of the kernel."""
        frame = self.begin(args)
        record = (ctypes.c_int64 * MAX_WORDS)()
        results = [np.zeros(1, result.dtype.numpy) for result in self.module.convention.results]
        words = [*self.pass_arguments(frame), *(result.ctypes.data for result in results)]
        words.append(ctypes.addressof(record))
        status = self.entry((ctypes.c_uint64 * len(words))(*words))
        if status != 0:
            self.fail(status, record)
        frame[RESULTS] = [result[0] for result in results]
        return self.gather(frame)

    def fail(self, status: int, words: Any) -> NoReturn:
        """Raise the error that a run ended with: its number, and the words that it left."""
        raise make_exception(self.module.sites[status - 1], words)


def compile_native(func: PrimFunc, layout: Layout) -> NativeKernel:
    """Native code for `func` on arguments that lie in memory as `layout` says."""
    compiled = _load(func, layout) or _compile(func, layout)
    module, image = compiled
    constants = frozenset(array.buffer for array in func.constants)
    callbacks = Callbacks(module.callbacks, constants)
    pool = pool_addresses() if module.is_parallel else {}
    library = link(image, (ADAPTER,), {**callbacks.addresses, **pool})
    prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
    scope = Scope(span=func.span)
    return NativeKernel(
        module,
        library,
        callbacks,
        prototype(library.addresses[ADAPTER]),
        compile_prologue(func.header, scope),
        _compile_passing(func, module, scope),
        compile_results(func.header, scope),
    )


def _compile(func: PrimFunc, layout: Layout) -> tuple[KernelModule, bytes]:
    """Make the code, and keep it for later processes."""
    target = host_target()
    module = emit_kernel(lower(func, target), layout, target)
    image = emit_object(optimize(module.text, target), target)
    key = find_key(func, layout, target)
    if key is not None:
        active_store().save(key, {"sites": encode_sites(module.sites, func)}, image)
    return module, image


def _load(func: PrimFunc, layout: Layout) -> tuple[KernelModule, bytes] | None:
    """The code from an earlier process."""
    key = find_key(func, layout, host_target())
    entry = None if key is None else active_store().load(key)
    if entry is None:
        return None
    sites = decode_sites(entry.meta["sites"], func)
    return KernelModule("", convention(func.header, layout), sites, {}), entry.object_code


def _compile_passing(
    func: PrimFunc, module: KernelModule, scope: Scope
) -> Callable[[Frame], list[int]]:
    """The words with the arguments of the kernel, from the frame that the prologue made."""
    call = module.convention
    buffers = [scope.slot(buffer) for buffer in call.buffers]
    sizes = [scope.slot(var) for var in call.dimensions]
    strides = [(scope.slot(buffer), axis) for buffer, axis in call.strides]
    scalars = [(scope.slot(var), var.dtype) for var in call.scalars]

    def passed(frame: Frame) -> list[int]:
        values: list[int] = [frame[slot].ctypes.data for slot in buffers]
        values += [int(frame[slot]) for slot in sizes]
        values += [frame[slot].strides[axis] for slot, axis in strides]
        for slot, dtype in scalars:
            values += _scalar_words(frame[slot], dtype)
        return values

    return passed


def layout_of(func: PrimFunc, args: Sequence[Any], *, is_disjoint: bool) -> Layout:
    """What the code may assume about these arguments."""
    arrays = tuple(
        _array_layout(param, value)
        for param, value in zip(func.params, args, strict=True)
        if isinstance(param, Buffer)
    )
    return Layout(arrays, is_disjoint)


def _array_layout(buffer: Buffer, array: NDArray[Any]) -> ArrayLayout:
    align = None if array.flags.aligned else 1
    if array.flags.c_contiguous:
        return ArrayLayout(None, align)
    if all(isinstance(extent, Const) for extent in buffer.shape):
        # The stride of an axis with one element means nothing: NumPy may have put anything there.
        strides = zip(array.strides, array.shape, strict=True)
        return ArrayLayout(tuple(s if extent > 1 else 0 for s, extent in strides), align)
    unit = array.itemsize
    return ArrayLayout(tuple(s if s == unit else None for s in array.strides), align)


def _scalar_words(value: Any, dtype: DType) -> list[int]:
    """The bytes of a scalar, at the start of a word; of a complex one, in two."""
    data = np.asarray(value, dtype.numpy).tobytes()
    size = dtype.component.numpy.itemsize
    parts = [data[i : i + size] for i in range(0, len(data), size)]
    return [int.from_bytes(part.ljust(8, b"\0"), sys.byteorder) for part in parts]
