"""The part of the dispatcher that makes outputs, runs the kernel and makes results of it."""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from hybridjit.codegen.llvm_types import DOUBLE, I8, I32, I64
from hybridjit.codegen.sites import MAX_WORDS as ERROR_WORDS
from hybridjit.codegen.stub_layout import (
    MAX_DIMENSIONS,
    MAX_OUTPUTS,
    MAX_RESULTS,
    RESULT_WORDS,
    Api,
    Extent,
    ExtentKind,
    Offsets,
    Output,
    Result,
    ResultKind,
    Returns,
    Table,
)
from hybridjit.codegen.stub_words import Word, Words

VOID = ir.VoidType()


def emit_run(module: ir.Module) -> ir.Function:
    """`run(table, slots, words)`: the result of the call, 0 with an exception set."""
    w = Words(module, "run", 3)
    table, slots, words = w.args
    outputs, scalars = w.room(MAX_OUTPUTS), w.room(MAX_RESULTS * RESULT_WORDS)
    error = w.room(ERROR_WORDS)
    make = _emit_outputs(module)
    release = _emit_release(module)
    finish = _emit_results(module)
    w.return_if(w.is_zero(w.b.call(make, [table, words, outputs])), 0)
    with w.loop(w.at(table, Table.SCALAR_RESULTS)) as i:
        place = w.place(scalars, w.b.mul(i, w.word(RESULT_WORDS)))
        w.put(place, words, w.b.add(w.at(table, Table.SCALAR_WORD), i))
    w.put(error, words, w.at(table, Table.ERROR_WORD))
    status = _run_entry(w, w.b.call(release, [table, words]), table, words)
    with w.b.if_else(w.is_zero(status), likely=True) as (good, bad):
        with good:
            result = w.b.call(finish, [table, slots, outputs, scalars])
            good_end = w.b.block
        with bad:
            nothing = _fail(w, table, status, error)
            bad_end = w.b.block
    final = w.b.phi(I64)
    final.add_incoming(result, good_end)
    final.add_incoming(nothing, bad_end)
    _drop(w, outputs, w.at(table, Table.OUTPUTS))
    w.b.ret(final)
    return w.hide()


def _run_entry(w: Words, is_long: Word, table: Word, words: Word) -> Word:
    """The status of the kernel. A long one runs without the GIL."""
    entry = w.at(table, Table.ENTRY)
    with w.b.if_else(w.is_zero(is_long)) as (short, long):
        with short:
            short_status = w.call_address(entry, words, result=I32)
            short_end = w.b.block
        with long:
            thread = w.call(Api.SAVE_THREAD)
            long_status = w.call_address(entry, words, result=I32)
            w.call(Api.RESTORE_THREAD, thread, result=VOID)
            long_end = w.b.block
    status = w.b.phi(I32)
    status.add_incoming(short_status, short_end)
    status.add_incoming(long_status, long_end)
    return w.b.zext(status, I64)


def _emit_release(module: ir.Module) -> ir.Function:
    """`is_long(table, words)`: nonzero if the kernel runs longer than giving up the GIL takes."""
    w = Words(module, "is_long", 2)
    table, words = w.args
    estimate = w.room(1)
    w.put(w.at(table, Table.WORK), estimate)
    first = w.at(table, Table.WORK_WORD)
    with w.loop(w.at(table, Table.WORK_SIZES)) as i:
        size = w.at(words, w.b.add(first, i))
        w.put(w.b.mul(w.at(estimate), size), estimate)
    is_long = w.b.icmp_signed(">=", w.at(estimate), w.at(table, Table.RELEASE_AT))
    w.b.ret(w.b.zext(is_long, I64))
    return w.hide()


def _fail(w: Words, table: Word, status: Word, error: Word) -> Word:
    """Raise what went wrong: the work of Python. Only out of memory, that fails."""
    arguments = w.call(Api.TUPLE_NEW, 2)
    result = w.room(1)
    w.put(0, result)
    with w.b.if_then(w.b.not_(w.is_zero(arguments)), likely=True):
        numbers = [w.call(Api.NEW_INT, value) for value in (status, error)]
        for position, number in enumerate(numbers):
            w.call(Api.TUPLE_SET, arguments, position, number, result=I32)
        is_lost = w.b.or_(*map(w.is_zero, numbers))
        with w.b.if_then(w.b.not_(is_lost), likely=True):
            w.put(w.call(Api.CALL, w.at(table, Table.FAIL), arguments), result)
        w.call(Api.DEC_REF, arguments, result=VOID)
    return w.at(result)


def _drop(w: Words, items: Word, count: Word) -> None:
    with w.loop(count) as i:
        w.call(Api.DEC_REF, w.at(items, i), result=VOID)


# Outputs


def _emit_outputs(module: ir.Module) -> ir.Function:
    """`outputs(table, words, made)`: make the output arrays; 0 with an exception set."""
    w = Words(module, "outputs", 3)
    table, words, made = w.args
    extents = w.room(MAX_DIMENSIONS)
    records = w.at(table, Table.OUTPUT_RECORDS)
    with w.loop(w.at(table, Table.OUTPUTS)) as i:
        record = w.place(records, w.b.mul(i, w.word(len(Output))))
        ndim = w.at(record, Output.NDIM)
        with w.loop(ndim) as axis:
            place = w.b.mul(axis, w.word(len(Extent)))
            extent = w.place(w.at(record, Output.EXTENTS), place)
            w.put(_extent(w, extent, words), extents, axis)
        descriptor = w.at(record, Output.DESCRIPTOR)
        w.call(Api.INC_REF, descriptor, result=VOID)  # PyArray_Zeros takes it away
        order = ir.Constant(I32, 0)
        array = w.call(Api.ARRAY_ZEROS, w.b.trunc(ndim, I32), extents, descriptor, order)
        w.put(array, made, i)
        with w.b.if_then(w.is_zero(array), likely=False):
            _drop(w, made, i)
            w.b.ret(w.word(0))
        w.put(w.load(array, Offsets.ARRAY_DATA), words, w.at(record, Output.WORD))
    w.b.ret(w.word(1))
    return w.hide()


def _extent(w: Words, record: Word, words: Word) -> Word:
    value = w.at(record, Extent.VALUE)
    with w.b.if_else(w.is_equal(w.at(record, Extent.KIND), ExtentKind.FIXED)) as (fixed, passed):
        with fixed:
            fixed_end = w.b.block
        with passed:
            given = w.at(words, value)
            passed_end = w.b.block
    final = w.b.phi(I64)
    final.add_incoming(value, fixed_end)
    final.add_incoming(given, passed_end)
    return final


# Results


def _emit_results(module: ir.Module) -> ir.Function:
    """`results(table, slots, outputs, scalars)`: what the call returns; 0 with an exception."""
    w = Words(module, "results", 4)
    table, slots, outputs, scalars = w.args
    shape = w.at(table, Table.RETURNS)
    with w.b.if_then(w.is_equal(shape, Returns.NOTHING), likely=True):
        nothing = w.api(Api.NONE)
        w.call(Api.INC_REF, nothing, result=VOID)
        w.b.ret(nothing)
    one = _emit_result(module)
    records = w.at(table, Table.RESULT_RECORDS)
    with w.b.if_then(w.is_equal(shape, Returns.ONE), likely=True):
        w.b.ret(w.b.call(one, [records, slots, outputs, scalars]))
    count = w.at(table, Table.RESULTS)
    made = w.call(Api.TUPLE_NEW, count)
    w.return_if(w.is_zero(made), 0)
    with w.loop(count) as i:
        record = w.place(records, w.b.mul(i, w.word(len(Result))))
        item = w.b.call(one, [record, slots, outputs, scalars])
        with w.b.if_then(w.is_zero(item), likely=False):
            w.call(Api.DEC_REF, made, result=VOID)
            w.b.ret(w.word(0))
        w.call(Api.TUPLE_SET, made, i, item, result=I32)
    w.b.ret(made)
    return w.hide()


def _emit_result(module: ir.Module) -> ir.Function:
    """`result(record, slots, outputs, scalars)`: one result, a new reference."""
    w = Words(module, "result", 4)
    record, slots, outputs, scalars = w.args
    unknown = w.b.append_basic_block("unknown")
    source = w.at(record, Result.SOURCE)
    value = w.place(scalars, w.b.mul(source, w.word(RESULT_WORDS)))
    switch = w.b.switch(w.at(record, Result.KIND), unknown)
    makers: dict[ResultKind, Callable[[], Word]] = {
        ResultKind.INPUT: lambda: _kept(w, _argument(w, record, w.at(slots, source))),
        ResultKind.OUTPUT: lambda: _kept(w, w.at(outputs, source)),
        ResultKind.FLOAT: lambda: w.call(Api.NEW_FLOAT, w.load(value, 0, DOUBLE)),
        ResultKind.INT: lambda: w.call(Api.NEW_INT, w.at(value)),
        ResultKind.BOOL: lambda: _kept(w, _truth(w, value)),
        ResultKind.COMPLEX: lambda: w.call(
            Api.NEW_COMPLEX, w.load(value, 0, DOUBLE), w.load(value, 8, DOUBLE)
        ),
        ResultKind.SCALAR: lambda: w.call(
            Api.ARRAY_SCALAR, value, w.at(record, Result.DESCRIPTOR), 0
        ),
    }
    for kind, make in makers.items():
        with w.case(switch, kind, unknown):
            w.b.ret(make())
    w.b.position_at_end(unknown)
    w.b.ret(_kept(w, w.api(Api.NONE)))
    return w.hide()


def _kept(w: Words, item: Word) -> Word:
    w.call(Api.INC_REF, item, result=VOID)
    return item


def _truth(w: Words, value: Word) -> Word:
    is_false = w.is_zero(w.b.zext(w.load(value, 0, I8), I64))
    return w.b.select(is_false, w.api(Api.FALSE), w.api(Api.TRUE))


def _argument(w: Words, record: Word, item: Word) -> Word:
    position = w.at(record, Result.ITEM)
    before = w.b.block
    with w.b.if_then(w.b.icmp_signed(">=", position, w.word(0))):
        inner = w.load(w.place(item, position), Offsets.TUPLE_ITEMS)
        inside = w.b.block
    chosen = w.b.phi(I64)
    chosen.add_incoming(item, before)
    chosen.add_incoming(inner, inside)
    return chosen
