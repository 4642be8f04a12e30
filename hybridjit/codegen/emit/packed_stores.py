"""Stores of the active lanes to the next free places of an array, side by side.

    out[k] = a[i]      -->    compress(a[i : i + 8] by the mask) to out[k : k + active lanes]
    k = k + 1                 k = k + active lanes

Which stores these are is found by analysis/packing.py.
"""

from __future__ import annotations

from llvmlite import ir

from hybridjit.analysis.packing import Group
from hybridjit.codegen.emit.casts import declare
from hybridjit.codegen.emit.emitter import Emitter, Lanes
from hybridjit.codegen.emit.memory import ArrayAddress
from hybridjit.codegen.emit.vector_values import count_flags, shuffle
from hybridjit.codegen.llvm_types import I1, I8, I32, I64, Value, find_constant, mangled
from hybridjit.codegen.sites import Failure
from hybridjit.ir import stmt as tis
from hybridjit.ir.dtype import BOOL, INT64
from hybridjit.ir.expr import Bounded


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
    b = emitter.b
    for first in range(0, lanes.count, lanes.piece):
        part = range(first, min(first + lanes.piece, lanes.count))
        piece, wanted = shuffle(b, value, part), shuffle(b, flags, part)
        address = array.element(b, [place], inside=False)
        name = f"llvm.masked.compressstore.{mangled(piece.type)}"
        kind = ir.FunctionType(ir.VoidType(), [piece.type, address.type, wanted.type])
        b.call(declare(b.module, name, kind), [piece, address, wanted])
        place = b.add(place, count_flags(b, wanted))


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
