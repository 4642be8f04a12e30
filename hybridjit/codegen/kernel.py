"""A whole kernel: the LLVM module of a lowered PrimFunc."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from llvmlite import ir

from hybridjit.analysis.footprint import find_footprint
from hybridjit.analysis.initialization import find_unassigned_reads
from hybridjit.analysis.traffic import is_large
from hybridjit.codegen.emit.allocation import clear, contiguous
from hybridjit.codegen.emit.emitter import Emitter, Options
from hybridjit.codegen.emit.language import LANGUAGE
from hybridjit.codegen.emit.loop_hints import finish_hints
from hybridjit.codegen.emit.memory import ArrayAddress
from hybridjit.codegen.layout import ArrayLayout, Convention, Layout, convention
from hybridjit.codegen.llvm_types import (
    I8,
    I32,
    I64,
    Builder,
    Complex,
    Function,
    LLVMType,
    Module,
    Value,
    memory_type,
    value_type,
)
from hybridjit.codegen.module_features import note_features
from hybridjit.codegen.pool.names import has_pool
from hybridjit.codegen.sites import ADAPTER, Failure, Site
from hybridjit.ir.dtype import BOOL, INT64, DType
from hybridjit.ir.expr import Buffer, BufferRef, ExternCall
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.header import MAX_EXTENT
from hybridjit.ir.signature import ConstantArray
from hybridjit.ir.stmt import Print, Return, Stmt, flat_stmts
from hybridjit.ir.visit import walk, walk_stmts
from hybridjit.lazy import lazy_module
from hybridjit.record import record
from hybridjit.target import Target

if TYPE_CHECKING:
    from hybridjit.codegen import llvm_functions
    from hybridjit.codegen.emit import interrupt, source_lines
    from hybridjit.codegen.emit import timers as loop_timers
    from hybridjit.codegen.emit.timers import Timers
else:
    source_lines = lazy_module("hybridjit.codegen.emit.source_lines")
    interrupt = lazy_module("hybridjit.codegen.emit.interrupt")
    loop_timers = lazy_module("hybridjit.codegen.emit.timers")
    llvm_functions = lazy_module("hybridjit.codegen.llvm_functions")


ENTRY = "hj_kernel"
_DEFINITION = re.compile(r"^(define .*?)( !dbg !\d+)?$")
Layouts = Mapping[Buffer, ArrayLayout]  # of the parameters


@record(eq=False)
class KernelModule:
    """The LLVM text of a kernel, how it is called, and what its failures and callbacks mean.

    `is_settled` when it begins with its outputs: from then on nothing but a signal ends it early,
    and no function of somebody else runs.
    """

    text: str
    convention: Convention
    sites: tuple[Site, ...]
    callbacks: Mapping[str, ExternCall | Print]
    known: tuple[str, ...]
    is_settled: bool


@record(eq=False)
class Extras:
    """What code does besides computing: `has_lines` lets instructions know where they came from,
    `timers` notes how long loops take, `fills_unset` makes elements NaN that have no value yet.
    """

    has_lines: bool = False
    timers: Timers | None = None
    fills_unset: bool = False


_NO_EXTRAS = Extras()


def emit_kernel(
    func: PrimFunc,
    layout: Layout,
    target: Target,
    *,
    standalone: bool = False,
    extras: Extras = _NO_EXTRAS,
) -> KernelModule:
    """The LLVM module of `func`, which is lowered to checked loops.

    Standalone code needs neither Python nor the thread pool. It begins with the zeros of its
    outputs, which Python makes otherwise.
    """
    call = convention(func.header, layout)
    module = ir.Module(name=func.name)
    module.triple = target.triple
    note_features(module, target.features)
    if standalone:
        interrupt.ignore_signals(module)
    function: Function = ir.Function(module, _function_type(call), ENTRY)
    layouts = dict(zip(func.buffers, layout.arrays, strict=True))
    is_untouched = layout.is_disjoint and not _lets_others_touch_arrays(func)
    _set_attributes(function, call, layouts, is_disjoint=is_untouched)
    # Where arrays overlap, what is legal for the loops of the script may not be for its memory.
    options = Options(
        target,
        func.fastmath,
        may_vectorize=layout.is_disjoint,
        may_stream=layout.is_disjoint and target.triple.startswith("x86_64"),
        runs_parallel=layout.is_disjoint and not standalone and has_pool(target.triple),
        given=frozenset(func.buffers),
        given_away=find_given_away(func),
        first_use=_find_first_use(func),
        doubtful=find_unassigned_reads(func),
        fills_unset=extras.fills_unset,
        lines=source_lines.SourceLines(module, func.name, func.span) if extras.has_lines else None,
        timers=extras.timers,
    )
    emitter = Emitter(LANGUAGE, options, function, function.args[-1])
    _bind_parameters(emitter, function, call, layouts)
    for array in func.constants:
        emitter.arrays[array.buffer] = _constant_array(emitter, array)
    for buffer in func.outputs if standalone else ():
        clear(emitter, buffer)
    with emitter.timed(None if extras.timers is None else loop_timers.WHOLE):
        emitter.run(func.body)
    if not emitter.is_closed:
        emitter.leave(0)
    emitter.entry.branch(function.basic_blocks[1])
    _emit_adapter(module, function)
    text = _with_vector_width(finish_hints(str(module)), target.vector_bits)
    if emitter.functions:
        text = llvm_functions.link_functions(text, emitter.functions)
    is_settled = not _calls_others(func) and _only_signals(emitter)
    return KernelModule(
        text,
        call,
        tuple(emitter.sites),
        emitter.callbacks,
        tuple(sorted(emitter.known)),
        is_settled,
    )


def find_given_away(func: PrimFunc) -> frozenset[Buffer]:
    """The local arrays that some `Return` gives to the caller."""
    returns = (stmt for stmt in walk_stmts(func.body) if isinstance(stmt, Return))
    values = (value for stmt in returns for value in stmt.values)
    return frozenset(value.buffer for value in values if isinstance(value, BufferRef))


def _find_first_use(func: PrimFunc) -> Stmt | None:
    """The statement of the body, itself in no loop, that is the first to use an output."""
    outputs = frozenset(func.outputs)
    stmts = flat_stmts(func.body)
    return next((stmt for stmt in stmts if outputs & find_footprint(stmt).names), None)


def _only_signals(emitter: Emitter) -> bool:
    """Whether all that can end a run early, once an output is in use, are signals."""
    later = emitter.sites[emitter.sites_before_outputs :]
    return all(site.failure in (Failure.PYTHON, Failure.FORKED) for site in later)


def _calls_others(func: PrimFunc) -> bool:
    return any(isinstance(node, ExternCall | Print) for node in walk(func.body))


def _lets_others_touch_arrays(func: PrimFunc) -> bool:
    """Whether it calls a function that may know its arguments without being given them."""
    calls = (node for node in walk(func.body) if isinstance(node, ExternCall))
    return any(not call.callee.is_reentrant for call in calls)


def _with_vector_width(text: str, bits: int) -> str:
    """Ask for the widest vectors: LLVM takes half of them by default. llvmlite cannot say it."""
    lines = [_DEFINITION.sub(r"\1 #0\2", line) for line in text.splitlines()]
    lines.append(f'attributes #0 = {{ "prefer-vector-width"="{bits}" }}')
    return "\n".join(lines)


def _function_type(call: Convention) -> LLVMType:
    params: list[LLVMType] = [memory_type(buffer.dtype).as_pointer() for buffer in call.buffers]
    params += [I64] * (len(call.dimensions) + len(call.strides))
    for var in call.scalars:
        params += [memory_type(var.dtype)] * (2 if var.dtype.is_complex else 1)
    params += [memory_type(result.dtype).as_pointer() for result in call.results]
    params.append(I64.as_pointer())
    return ir.FunctionType(I32, params)


def _received(b: Builder, argument: Value, dtype: DType) -> Value:
    return b.trunc(argument, value_type(dtype)) if dtype is BOOL else argument


def _set_attributes(
    function: Function, call: Convention, layouts: Layouts, *, is_disjoint: bool
) -> None:
    function.attributes.add("nounwind")
    for position, buffer in enumerate(call.buffers):
        # Outputs are made for the call: nothing else can point into them.
        if is_disjoint or buffer not in layouts:
            function.args[position].add_attribute("noalias")
    first_result = len(function.args) - 1 - len(call.results)
    for argument in function.args[first_result:]:
        argument.add_attribute("noalias")


def _bind_parameters(
    emitter: Emitter, function: Function, call: Convention, layouts: Layouts
) -> None:
    arguments = iter(function.args)
    bases = {buffer: next(arguments) for buffer in call.buffers}
    for var in call.dimensions:
        emitter.values[var] = next(arguments)
    strides = {place: next(arguments) for place in call.strides}
    for var in call.scalars:
        parts = [next(arguments) for _ in range(2 if var.dtype.is_complex else 1)]
        if var.dtype.is_complex:
            emitter.values[var] = Complex(*parts)
        else:
            emitter.values[var] = _received(emitter.b, parts[0], var.dtype)
    emitter.results = [
        ArrayAddress(next(arguments), result.dtype, (), result.dtype.component.bits // 8)
        for result in call.results
    ]
    _check_extents(emitter, call)
    for buffer, base in bases.items():
        layout = layouts.get(buffer, ArrayLayout())
        emitter.arrays[buffer] = _parameter(emitter, buffer, base, layout, strides)


def _check_extents(emitter: Emitter, call: Convention) -> None:
    """Sizes are as small as proofs about indices take them to be."""
    for var in call.dimensions:
        size = emitter.values[var]
        fits = emitter.b.icmp_unsigned("<=", size, ir.Constant(I64, MAX_EXTENT))
        emitter.check(fits, Failure.EXTENT, None, [(size, INT64)])


def _parameter(
    emitter: Emitter,
    buffer: Buffer,
    base: Value,
    layout: ArrayLayout,
    passed: Mapping[tuple[Buffer, int], Value],
) -> ArrayAddress:
    if layout.strides is None:
        shape = [emitter.emit(extent) for extent in buffer.shape]
        address = contiguous(emitter, base, buffer, shape)
    else:
        strides = tuple(
            passed[buffer, axis] if stride is None else ir.Constant(I64, stride)
            for axis, stride in enumerate(layout.strides)
        )
        address = ArrayAddress(base, buffer.dtype, strides, buffer.dtype.component.bits // 8)
    align = address.align if layout.align is None else layout.align
    return ArrayAddress(base, buffer.dtype, address.strides, align, is_large(buffer))


def _constant_array(emitter: Emitter, array: ConstantArray) -> ArrayAddress:
    data = array.data.tobytes()
    kind = ir.ArrayType(I8, max(1, len(data)))
    name = emitter.module.get_unique_name(f"hj_constant_{array.buffer.name}")
    stored: Value = ir.GlobalVariable(emitter.module, kind, name)
    stored.initializer = ir.Constant(kind, bytearray(data or b"\0"))
    stored.global_constant, stored.linkage, stored.align = True, "internal", 64
    shape = [ir.Constant(I64, extent) for extent in array.data.shape]
    return contiguous(emitter, stored, array.buffer, shape)


def _emit_adapter(module: Module, kernel: Function) -> None:
    """Add a second entry, for the dispatcher: all arguments in one array of words.

        int32 hj_call(int64 *words)  -->  int32 hj_kernel(words[0], words[1], ...)

    Each parameter of the kernel takes one word; a narrow value lies in its low bytes.
    """
    kernel.attributes.add("noinline")
    kind = ir.FunctionType(I32, [I64.as_pointer()])
    function: Function = ir.Function(module, kind, ADAPTER)
    function.attributes.add("nounwind")
    b: Builder = ir.IRBuilder(function.append_basic_block("entry"))
    args: list[Value] = []
    for position, parameter in enumerate(kernel.args):
        word = b.gep(function.args[0], [ir.Constant(I64, position)], inbounds=True)
        pointer = b.bitcast(word, parameter.type.as_pointer())
        args.append(b.load(pointer, typ=parameter.type))
    b.ret(b.call(kernel, args))
