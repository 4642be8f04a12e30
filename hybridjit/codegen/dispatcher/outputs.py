"""The part of the dispatcher that makes the arrays that a kernel writes its results to."""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from hybridjit.codegen.dispatcher.layout import (
    MAX_DIMENSIONS,
    MAX_STACK,
    Api,
    Extent,
    ExtentKind,
    Output,
    Step,
    Table,
)
from hybridjit.codegen.dispatcher.object_layout import Offsets
from hybridjit.codegen.dispatcher.out_array import Kind, emit_is_direct, fits
from hybridjit.codegen.dispatcher.words import VOID, Word, Words
from hybridjit.codegen.llvm_types import I32, I64

# What making them ends with; no object has these addresses.
FAILED, MISFIT, MADE = range(3)


def emit_outputs(module: ir.Module) -> ir.Function:
    """`outputs(table, words, made, out, spans)`: MADE once all output arrays are there.

    FAILED with an exception set, MISFIT if `out`, an array of the caller or 0, cannot take the
    elements of the first. If the kernel can write to `out`, it is the first.
    """
    w = Words(module, "outputs", 5)
    table, words, made, out, spans = w.args
    find_extent, is_direct = _emit_extent(module), emit_is_direct(module)
    extents, array = w.room(MAX_DIMENSIONS), w.room(1)
    records = w.at(table, Table.OUTPUT_RECORDS)
    with w.loop(w.at(table, Table.OUTPUTS)) as i:
        record = w.place(records, w.b.mul(i, w.word(len(Output))))
        with w.loop(w.at(record, Output.NDIM)) as axis:
            place = w.b.mul(axis, w.word(len(Extent)))
            extent = w.place(w.at(record, Output.EXTENTS), place)
            w.put(w.b.call(find_extent, [extent, words]), extents, axis)
        w.put(0, array)
        is_given = w.b.and_(w.is_zero(i), w.b.not_(w.is_zero(out)))
        with w.b.if_then(is_given, likely=False):
            kind = Kind(w.at(record, Output.DESCRIPTOR), w.at(record, Output.NDIM), extents)
            w.return_unless(fits(w, out, kind), MISFIT)
            with w.b.if_then(w.b.call(is_direct, [table, out, spans])):
                w.call(Api.INC_REF, out, result=VOID)
                w.put(out, array)
        with w.b.if_then(w.is_zero(w.at(array)), likely=True):
            w.put(_new_array(w, record, extents), array)
            with w.b.if_then(w.is_zero(w.at(array)), likely=False):
                w.drop(made, i)
                w.b.ret(w.word(FAILED))
        w.put(w.at(array), made, i)
        w.put(w.load(w.at(array), Offsets.ARRAY_DATA), words, w.at(record, Output.WORD))
    w.b.ret(w.word(MADE))
    return w.hide()


def _new_array(w: Words, record: Word, extents: Word) -> Word:
    """A new array; 0 with an exception set."""
    descriptor = w.at(record, Output.DESCRIPTOR)
    w.call(Api.INC_REF, descriptor, result=VOID)  # what makes the array takes it away
    needs_zeros = w.is_zero(w.at(record, Output.IS_SET))
    make = w.b.select(needs_zeros, w.api(Api.ARRAY_ZEROS), w.api(Api.ARRAY_EMPTY))
    ndim, order = w.b.trunc(w.at(record, Output.NDIM), I32), ir.Constant(I32, 0)
    return w.call_address(make, ndim, extents, descriptor, order)


def _emit_extent(module: ir.Module) -> ir.Function:
    """`extent(record, words)`: an extent that is fixed, passed or computed."""
    w = Words(module, "extent", 2)
    record, words = w.args
    value, kind = w.at(record, Extent.VALUE), w.at(record, Extent.KIND)
    with w.b.if_then(w.is_equal(kind, ExtentKind.FIXED), likely=True):
        w.b.ret(value)
    with w.b.if_then(w.is_equal(kind, ExtentKind.FREE), likely=True):
        w.b.ret(w.at(words, value))
    stack, depth = w.room(MAX_STACK), w.room(1)
    w.put(0, depth)
    with w.loop(w.at(value)) as i:
        step = w.place(value, w.b.add(w.b.mul(i, w.word(2)), w.word(1)))
        _run_step(w, step, words, (stack, depth))
    w.b.ret(w.at(stack))
    return w.hide()


def _run_step(w: Words, step: Word, words: Word, memory: tuple[Word, Word]) -> None:
    """Pushes leave the stack one higher, operations on two numbers one lower."""
    stack, depth = memory
    operand = w.at(step, 1)
    top = w.place(stack, w.at(depth))
    under, second, third = (w.b.sub(top, w.word(8 * below)) for below in (1, 2, 3))
    after, unknown = (w.b.append_basic_block(name) for name in ("after", "unknown"))
    switch = w.b.switch(w.at(step), unknown)
    w.b.position_at_end(unknown)
    w.b.ret(w.word(-1))  # a negative size: an error, and no harm
    for kind in (Step.CONSTANT, Step.WORD):
        with w.case(switch, kind, after):
            w.put(operand if kind is Step.CONSTANT else w.at(words, operand), top)
            w.put(w.b.add(w.at(depth), w.word(1)), depth)
    for kind, compute in _operations(w).items():
        with w.case(switch, kind, after):
            w.put(compute(w.at(second), w.at(under)), second)
            w.put(w.b.sub(w.at(depth), w.word(1)), depth)
    with w.case(switch, Step.DIVIDE, after):
        number = w.at(under)
        remainder = w.b.srem(number, operand)
        quotient = w.b.sdiv(number, operand)
        lower = w.b.sub(quotient, w.word(1))
        w.put(w.b.select(w.is_less(remainder, 0), lower, quotient), under)
    with w.case(switch, Step.CHOOSE, after):
        chosen = w.b.select(w.is_zero(w.at(third)), w.at(under), w.at(second))
        w.put(chosen, third)
        w.put(w.b.sub(w.at(depth), w.word(2)), depth)
    w.b.position_at_end(after)


def _operations(w: Words) -> dict[Step, Callable[[Word, Word], Word]]:
    return {
        Step.ADD: w.b.add,
        Step.SUBTRACT: w.b.sub,
        Step.MULTIPLY: w.b.mul,
        Step.LEAST: lambda a, b: w.b.select(w.is_less(a, b), a, b),
        Step.GREATEST: lambda a, b: w.b.select(w.is_less(a, b), b, a),
        Step.LESS: lambda a, b: w.b.zext(w.is_less(a, b), I64),
        Step.EQUAL: lambda a, b: w.b.zext(w.is_equal(a, b), I64),
    }
