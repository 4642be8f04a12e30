"""Stores of the active lanes to the next free places of an array, side by side.

    out[k] = a[i]      -->    compress(a[i : i + 8] by the mask) to out[k : k + active lanes]
    k = k + 1                 k = k + active lanes

AVX-512 has an instruction for it. AVX2 moves the active lanes to the front, in an order that a
table has for every mask, and stores as many of them as there are:

    a[i : i + 4] by 0101  -->  permute(a[i : i + 4] by table[5] = (0, 2, ...)) to out[k : k + 2]

Which stores these are is found by analysis/packing.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from hybridjit.analysis.packing import Group
from hybridjit.codegen.declarations import declare_function
from hybridjit.codegen.emit.emitter import Emitter, Lanes
from hybridjit.codegen.emit.memory import ArrayAddress
from hybridjit.codegen.emit.vector_values import count_flags, flags_as_number, shuffle, splat
from hybridjit.codegen.llvm_types import (
    I1,
    I8,
    I32,
    I64,
    Builder,
    LLVMType,
    Module,
    Value,
    find_constant,
    lanes_of,
    mangled,
)
from hybridjit.codegen.sites import Failure
from hybridjit.ir import stmt as tis
from hybridjit.ir.dtype import BOOL, INT64
from hybridjit.ir.expr import Bounded

# The registers that AVX2 permutes: eight words.
_PERMUTED_BITS, _WORDS = 256, 8
_ROW, _ROW_BYTES, _VOID = ir.VectorType(I32, _WORDS), 32, ir.VoidType()


def run_packed(emitter: Emitter, lanes: Lanes, stmt: tis.Store) -> bool:
    """Emit `stmt` if it stores to a next free place, or counts these; else give False."""
    groups = () if lanes.packing is None else lanes.packing.groups
    for group in groups:
        if stmt is group.step:
            place, active = _place_and_active(emitter, lanes, group)
            emitter.registers[group.count].store(emitter.b, emitter.b.add(place, active))
            return True
        if any(stmt is store for store in group.stores):
            _store(emitter, lanes, group, stmt)
            return True
    return False


def _place_and_active(emitter: Emitter, lanes: Lanes, group: Group) -> tuple[Value, Value]:
    """The next free place, and how many lanes take one."""
    place = emitter.registers[group.count].load(emitter.b)
    if lanes.mask is None:
        return place, ir.Constant(I64, lanes.count)
    return place, count_flags(emitter.b, lanes.mask)


def _store(emitter: Emitter, lanes: Lanes, group: Group, stmt: tis.Store) -> None:
    value = emitter.whole(emitter.emit(stmt.value))
    place, active = _place_and_active(emitter, lanes, group)
    if stmt is group.stores[0]:
        for store in group.stores:
            _check(emitter, store, place, active)
    array = emitter.arrays[stmt.buffer]
    if array.dtype is BOOL:
        value = emitter.b.zext(value, ir.VectorType(I8, lanes.count))
    flags = lanes.mask
    if flags is None:
        flags = ir.Constant(ir.VectorType(I1, lanes.count), [1] * lanes.count)
    is_row = find_constant(array.strides[0]) == array.dtype.bits // 8
    (_store_row if is_row else _store_each)(emitter, lanes, array, place, value, flags)
    lanes.has_stored = True


def _check(emitter: Emitter, store: tis.Store, place: Value, active: Value) -> None:
    """Before the first lane is stored: all places are inside, and none counts from the end."""
    (index,) = store.indices
    if not isinstance(index, Bounded):
        return
    b, extent = emitter.b, emitter.emit(index.extent)
    # Unsigned: a place that is negative is huge, and far more than `active` places from the top.
    is_inside = b.and_(
        b.icmp_unsigned("<", place, extent),
        b.icmp_unsigned("<=", b.add(place, active), extent),
    )
    parts = [(place, INT64), index.buffer, str(index.axis), (extent, INT64)]
    emitter.check(is_inside, Failure.BOUNDS, index.span, parts)


def _store_row(
    emitter: Emitter, lanes: Lanes, array: ArrayAddress, place: Value, value: Value, flags: Value
) -> None:
    has_instruction = emitter.options.target.has("avx512f")
    (_compress if has_instruction else _permute)(emitter.b, lanes, array, place, value, flags)


def _compress(
    b: Builder, lanes: Lanes, array: ArrayAddress, place: Value, value: Value, flags: Value
) -> None:
    for part in _parts(lanes.count, lanes.piece):
        piece, wanted = shuffle(b, value, part), shuffle(b, flags, part)
        address = array.element(b, [place], inside=False)
        name = f"llvm.masked.compressstore.{mangled(piece.type)}"
        _call(b, name, [piece, address, wanted])
        place = b.add(place, count_flags(b, wanted))


def _permute(
    b: Builder, lanes: Lanes, array: ArrayAddress, place: Value, value: Value, flags: Value
) -> None:
    assert lanes.count <= I64.width
    mask = flags_as_number(b, flags)
    for part in _parts(lanes.count, _PERMUTED_BITS // array.dtype.bits):
        wanted = b.and_(
            b.lshr(mask, ir.Constant(I64, part.start)), ir.Constant(I64, 2 ** len(part) - 1)
        )
        active = _call(b, "llvm.ctpop.i64", [wanted], returns=I64)
        front = _active_first(b, shuffle(b, value, part), wanted, array.dtype.bits // I32.width)
        numbers = ir.Constant(ir.VectorType(I32, len(part)), list(range(len(part))))
        is_active = b.icmp_signed("<", numbers, splat(b, b.trunc(active, I32), len(part)))
        address = array.element(b, [place], inside=False)
        align = ir.Constant(I32, array.align)
        name = f"llvm.masked.store.{mangled(front.type)}.p0"
        _call(b, name, [front, address, align, is_active])
        place = b.add(place, active)


def _parts(count: int, size: int) -> list[range]:
    return [range(first, min(first + size, count)) for first in range(0, count, size)]


def _active_first(b: Builder, value: Value, mask: Value, words: int) -> Value:
    """The lanes of `value` whose bits are set in `mask`, in front; of so many words each."""
    count = lanes_of(value)
    row = b.gep(_table(b.module, count, words), [ir.Constant(I64, 0), mask])
    order = b.load(row, typ=_ROW, align=_ROW_BYTES)
    used = [*range(count * words), *([0] * (_WORDS - count * words))]
    as_words = shuffle(b, b.bitcast(value, ir.VectorType(I32, count * words)), used)
    moved = _call(b, "llvm.x86.avx2.permd", [as_words, order], returns=_ROW)
    return b.bitcast(shuffle(b, moved, range(count * words)), value.type)


def _table(module: Module, count: int, words: int) -> Value:
    """For every mask of `count` lanes, the words of the lanes that are set, from the front."""
    name = f"hj.active_words.{count}.{words}"
    if name in module.globals:
        return module.globals[name]
    kind = ir.ArrayType(_ROW, 2**count)
    table: Value = ir.GlobalVariable(module, kind, name)
    table.linkage, table.global_constant, table.align = "internal", True, _ROW_BYTES
    rows: list[Value] = []
    for mask in range(2**count):
        active = (lane for lane in range(count) if mask >> lane & 1)
        places = [lane * words + word for lane in active for word in range(words)]
        rows.append(ir.Constant(_ROW, places + [0] * (_WORDS - len(places))))
    table.initializer = ir.Constant(kind, rows)
    return table


def _call(b: Builder, name: str, args: Sequence[Value], returns: LLVMType = _VOID) -> Value:
    kind = ir.FunctionType(returns, [arg.type for arg in args])
    return b.call(declare_function(b.module, name, kind), args)


def _store_each(
    emitter: Emitter, lanes: Lanes, array: ArrayAddress, place: Value, value: Value, flags: Value
) -> None:
    """Elements that are apart: lane by lane."""
    for lane in range(lanes.count):
        b, number = emitter.b, ir.Constant(I32, lane)
        flag = b.extract_element(flags, number)
        store, after = (emitter.function.append_basic_block(name) for name in ("store", "after"))
        b.cbranch(flag, store, after)
        b.position_at_end(store)
        address = array.element(b, [place], inside=True)
        b.store(b.extract_element(value, number), address, align=array.align)
        b.branch(after)
        b.position_at_end(after)
        place = b.add(place, b.zext(flag, I64))
