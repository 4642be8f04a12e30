"""Kernels in native code: link object code, and call it on NumPy arrays."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from hybridjit import config
from hybridjit.codegen.engine import Library, link
from hybridjit.codegen.layout import ArrayLayout, Convention, Layout, convention
from hybridjit.codegen.sites import ADAPTER, HELD, RECORD_WORDS, Failure, Site
from hybridjit.errors import Span
from hybridjit.interp.base_array import base_array
from hybridjit.interp.run import compile_prologue, compile_results
from hybridjit.interp.scope import RESULTS, Frame, Scope
from hybridjit.ir.dtype import DType
from hybridjit.ir.expr import Buffer, Const
from hybridjit.ir.header import MAX_EXTENT, Header
from hybridjit.ir.signature import ArrayResult, ScalarResult
from hybridjit.lazy import lazy_module
from hybridjit.record import record
from hybridjit.runtime.cache import carried_code
from hybridjit.runtime.cache.disk_cache import active_store
from hybridjit.runtime.cache.entry import Entry
from hybridjit.runtime.cache.serialization import decode_sites, encode_sites
from hybridjit.runtime.cache.versions import is_unchanged
from hybridjit.runtime.failures import make_exception
from hybridjit.runtime.freed_memory import keep_freed_memory
from hybridjit.runtime.given_arrays import receive
from hybridjit.runtime.lent_memory import hold
from hybridjit.runtime.out_arrays import find_direct

if TYPE_CHECKING:
    from hybridjit.frontend.library import numpy_symbols
    from hybridjit.runtime import announce as announcing
    from hybridjit.runtime import pool
else:
    numpy_symbols = lazy_module("hybridjit.frontend.library.numpy_symbols")
    announcing = lazy_module("hybridjit.runtime.announce")
    pool = lazy_module("hybridjit.runtime.pool")


@record(eq=False)
class Code:
    """Object code, what its failures mean, and the addresses of what it calls in this process.

    `set_outputs` are the numbers of the outputs whose elements it sets before it reads any. Of
    these, `direct_outputs` may lie in arrays of the caller: no error leaves one half written, and
    nobody else looks at it meanwhile. `known` are the symbols of functions that every process
    finds.
    `callbacks` are behind the addresses, and must live as long as the code. `seconds` tells how
    long it took to make, by stage.
    """

    image: bytes = field(repr=False)
    sites: tuple[Site, ...]
    set_outputs: tuple[int, ...] = ()
    direct_outputs: tuple[int, ...] = ()
    known: tuple[str, ...] = ()
    imports: Mapping[str, int] = field(default_factory=dict[str, int])
    callbacks: object = None
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def is_kept(self) -> bool:
        """True if later processes can have the code: it calls nothing in this one."""
        return not self.imports

    @property
    def is_parallel(self) -> bool:
        """True if the code calls the thread pool."""
        return any(site.failure is Failure.FORKED for site in self.sites)


def find_code(key: bytes, root: Span | None) -> Code | None:
    """The code from another process, of the script at `root`."""
    entry = carried_code.find(key) or active_store().load(key)
    if entry is None:
        return None
    carried_code.note(key, entry)
    sites = decode_sites(entry.meta["sites"], root)
    names = ("set_outputs", "direct_outputs", "known")
    are_set, are_direct, known = (tuple(entry.meta[name]) for name in names)
    return Code(entry.object_code, sites, are_set, are_direct, known)


def keep_code(key: bytes, code: Code, root: Span | None) -> None:
    """Keep code for other processes, unless it calls something in this one."""
    if code.is_kept and is_unchanged():
        meta = {
            "sites": encode_sites(code.sites, root),
            "set_outputs": code.set_outputs,
            "direct_outputs": code.direct_outputs,
            "known": code.known,
        }
        active_store().save(key, meta, code.image)
        carried_code.note(key, Entry(meta, code.image))


@record(eq=False)
class NativeKernel:
    """Code in memory for one function and one layout of its arguments."""

    code: Code
    convention: Convention
    library: Library
    entry: Callable[..., int]
    begin: Callable[[Sequence[Any]], Frame]
    pass_arguments: Callable[[Frame], list[int]]
    gather: Callable[[Frame], object]
    arrays: tuple[int, ...]  # their slots in the frame
    given: tuple[ScalarResult | ArrayResult, ...]  # the results that the code hands over
    direct: tuple[int, ...]  # the slots of its results, if they may be arrays of the caller

    def __call__(self, args: Sequence[Any], out: object = None) -> object:
        """Run on arguments that have the types and the layout of the kernel.

        The results are in the arrays of `out` if the code can write to them, else in new ones.
        """
        frame = self.begin(args)
        if out is not None and self.direct:
            self._use(frame, out)
        record = (ctypes.c_int64 * RECORD_WORDS)()
        held = hold([frame[slot] for slot in self.arrays])
        record[HELD] = ctypes.addressof(held)
        results = [np.zeros(1, result.dtype.numpy) for result in self.convention.results]
        words = [*self.pass_arguments(frame), *(result.ctypes.data for result in results)]
        words.append(ctypes.addressof(record))
        status = self.entry((ctypes.c_uint64 * len(words))(*words))
        if status != 0:
            self.fail(status, record)
        frame[RESULTS] = receive(self.given, (result[0] for result in results))
        return self.gather(frame)

    def _use(self, frame: Frame, out: object) -> None:
        """Let the arrays of the caller take the place of the new ones, if that can be."""
        inputs = [frame[slot] for slot in self.arrays if slot not in self.direct]
        targets = find_direct(out, [frame[slot] for slot in self.direct], inputs)
        if targets is not None:
            for slot, target in zip(self.direct, targets, strict=True):
                frame[slot] = target

    def fail(self, status: int, words: Any) -> NoReturn:
        """Raise the error that a run ended with: its number, and the words that it left."""
        raise make_exception(self.code.sites[status - 1], words)


def load_native(func: Header, layout: Layout, code: Code) -> NativeKernel:
    """Bring the code for arguments that lie in memory as `layout` says into the process."""
    threads = pool.pool_addresses() if code.is_parallel else {}
    known = {symbol: numpy_symbols.find_address(symbol) for symbol in code.known}
    library = link(code.image, (ADAPTER,), {**code.imports, **known, **threads})
    if config.current().perf:
        announcing.announce(code.image, library, func.name, func.span)
    return attach_native(func, layout, code, library)


def attach_native(func: Header, layout: Layout, code: Code, library: Library) -> NativeKernel:
    """The kernel whose code is in the process already, in `library`."""
    keep_freed_memory()
    prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
    call = convention(func, layout)
    scope = Scope(span=func.span)
    return NativeKernel(
        code,
        call,
        library,
        prototype(library.addresses[ADAPTER]),
        compile_prologue(func, scope, code.set_outputs),
        _compile_passing(call, scope),
        compile_results(func, scope),
        tuple(scope.slot(buffer) for buffer in call.buffers),
        tuple(result for result in func.returns or () if not isinstance(result, Buffer)),
        _find_direct_slots(func, code, scope),
    )


def _find_direct_slots(func: Header, code: Code, scope: Scope) -> tuple[int, ...]:
    """The slots of the arrays that are returned, in their order, if all may be the caller's."""
    direct = [func.outputs[number] for number in code.direct_outputs]
    arrays = [result for result in func.returns or () if not isinstance(result, ScalarResult)]
    slots = tuple(scope.slot(array) for array in arrays if array in direct)
    is_plain = func.nesting is None and len(set(slots)) == len(arrays)
    return slots if is_plain else ()


def _compile_passing(call: Convention, scope: Scope) -> Callable[[Frame], list[int]]:
    """The words with the arguments of the kernel, from the frame that the prologue made."""
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


def layout_of(
    func: Header, args: Sequence[Any], *, is_disjoint: bool, counters: Sequence[int] = ()
) -> Layout:
    """What the code may assume about these arguments; `counters` are numbers of parameters."""
    arrays = tuple(
        _array_layout(param, base_array(value))
        for param, value in zip(func.params, args, strict=True)
        if isinstance(param, Buffer)
    )
    small = tuple(number for number in counters if _is_small(args[number]))
    return Layout(arrays, is_disjoint, small)


def _is_small(value: object) -> bool:
    # Only of a Python int the dispatcher asks again how large it is.
    return type(value) is int and -MAX_EXTENT <= value <= MAX_EXTENT


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
