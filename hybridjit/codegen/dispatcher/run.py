"""The part of the dispatcher that runs the kernel and makes what the call returns."""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from hybridjit.codegen.dispatcher.layout import (
    MAX_DIMENSIONS,
    MAX_OUTPUTS,
    MAX_RESULTS,
    RESULT_WORDS,
    Api,
    Result,
    ResultKind,
    Returns,
    Table,
)
from hybridjit.codegen.dispatcher.object_layout import Offsets
from hybridjit.codegen.dispatcher.out_array import fill_out
from hybridjit.codegen.dispatcher.outputs import MADE, emit_outputs
from hybridjit.codegen.dispatcher.words import VOID, Word, Words
from hybridjit.codegen.llvm_types import DOUBLE, I8, I32, I64
from hybridjit.codegen.sites import HELD, RECORD_WORDS

# Sizes and estimates are cut here, so that products of two of them do not overflow.
LARGE_SIZE = 1 << 30
# Results of so many bytes are copied, in less time than Python takes to make an array around them.
COPIED_BYTES = 1 << 16


def emit_run(module: ir.Module) -> ir.Function:
    """`run(table, slots, words, out, held, spans)`: the result of the call, 0 with an exception.

    `out` is the array that takes the result, or 0; MISFIT if it cannot. `held` are the arrays
    that stay alive; those that the call makes are added. `spans` are the bytes of the inputs.
    """
    w = Words(module, "run", 6)
    table, slots, words, out, held, spans = w.args
    outputs, scalars = w.room(MAX_OUTPUTS), w.room(MAX_RESULTS * RESULT_WORDS)
    error = w.room(RECORD_WORDS)
    make = emit_outputs(module)
    release = _emit_release(module)
    finish = _emit_results(module)
    made = w.b.call(make, [table, words, outputs, out, spans])
    w.return_unless(w.is_equal(made, MADE), made)
    w.put(w.b.add(w.at(table, Table.HITS), w.word(1)), table, Table.HITS)
    with w.loop(w.at(table, Table.SCALAR_RESULTS)) as i:
        place = w.place(scalars, w.b.mul(i, w.word(RESULT_WORDS)))
        w.put(place, words, w.b.add(w.at(table, Table.SCALAR_WORD), i))
    w.put(error, words, w.at(table, Table.ERROR_WORD))
    _add_held(w, held, outputs, w.at(table, Table.OUTPUTS))
    w.put(held, error, HELD)
    status = _run_entry(w, w.b.call(release, [table, words]), table, words)
    with w.b.if_else(w.is_zero(status), likely=True) as (good, bad):
        with good:
            result = _finish(w, finish, (table, slots, outputs, scalars), out)
            good_end = w.b.block
        with bad:
            nothing = _fail(w, table, status, error)
            bad_end = w.b.block
    final = w.b.phi(I64)
    final.add_incoming(result, good_end)
    final.add_incoming(nothing, bad_end)
    w.drop(outputs, w.at(table, Table.OUTPUTS))
    w.b.ret(final)
    return w.hide()


def _add_held(w: Words, held: Word, arrays: Word, count: Word) -> None:
    known = w.at(held)
    with w.loop(count) as i:
        w.put(w.at(arrays, i), w.place(held, w.b.add(known, i)), 1)
    w.put(w.b.add(known, count), held)


def _finish(w: Words, finish: ir.Function, parts: tuple[Word, Word, Word, Word], out: Word) -> Word:
    """What the call returns, once the array of the caller has got it; 0 with an exception."""
    table, _, outputs, _ = parts
    result = w.room(1)
    w.put(0, result)
    with w.b.if_then(fill_out(w, table, out, outputs), likely=True):
        w.put(w.b.call(finish, parts), result)
    return w.at(result)


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
    """`is_long(table, words)`: nonzero if the kernel runs longer than giving up the GIL takes.

    A size of zero must not hide a large one, nor a negative number: `range(n, 0)` is a loop too.
    """
    w = Words(module, "is_long", 2)
    table, words = w.args
    estimate = w.room(1)
    w.put(w.at(table, Table.WORK), estimate)
    places = w.at(table, Table.WORK_WORDS)
    with w.loop(w.at(table, Table.WORK_SIZES)) as i:
        size = _at_most(w, _magnitude(w, w.at(words, w.at(places, i))), LARGE_SIZE)
        w.put(_at_most(w, w.b.mul(w.at(estimate), size), LARGE_SIZE), estimate)
    is_long = w.b.icmp_signed(">=", w.at(estimate), w.at(table, Table.RELEASE_AT))
    w.b.ret(w.b.zext(is_long, I64))
    return w.hide()


def _magnitude(w: Words, value: Word) -> Word:
    """How far `value` is from zero, at least 1."""
    size = w.b.select(w.is_less(value, 0), w.b.neg(value), value)
    return w.b.select(w.is_less(size, 1), w.word(1), size)


def _at_most(w: Words, value: Word, limit: int) -> Word:
    return w.b.select(w.is_less(value, limit), value, w.word(limit))


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
    finish = w.at(table, Table.FINISH)
    w.return_if(w.is_zero(finish), made)
    final = w.call(Api.CALL, finish, made)
    w.call(Api.DEC_REF, made, result=VOID)
    w.b.ret(final)
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
        ResultKind.GIVEN: lambda: _received(w, record, value),
    }
    for kind, make in makers.items():
        with w.case(switch, kind, unknown):
            w.b.ret(make())
    w.b.position_at_end(unknown)
    w.b.ret(_kept(w, w.api(Api.NONE)))
    return w.hide()


def _received(w: Words, record: Word, words: Word) -> Word:
    """A NumPy array with the elements of one that the kernel made, whose memory is freed."""
    extents, size = w.room(MAX_DIMENSIONS), w.room(1)
    memory, ndim = w.at(words), w.at(record, Result.NDIM)
    w.put(w.at(record, Result.ITEMSIZE), size)
    with w.loop(ndim) as axis:
        place = w.b.mul(w.b.add(axis, w.word(1)), w.word(RESULT_WORDS))
        extent = w.at(words, place)
        w.put(extent, extents, axis)
        w.put(w.b.mul(w.at(size), extent), size)
    descriptor, order = w.at(record, Result.DESCRIPTOR), ir.Constant(I32, 0)
    w.call(Api.INC_REF, descriptor, result=VOID)  # whoever makes the array takes it away
    with w.b.if_then(w.is_less(COPIED_BYTES, w.at(size)), likely=False):
        w.b.ret(_wrapped(w, memory, descriptor, ndim, extents))
    array = w.call_address(w.api(Api.ARRAY_EMPTY), w.b.trunc(ndim, I32), extents, descriptor, order)
    with w.b.if_then(w.b.not_(w.is_zero(array)), likely=True):
        w.call(Api.COPY_MEMORY, w.load(array, Offsets.ARRAY_DATA), memory, w.at(size))
    w.call(Api.FREE_MEMORY, memory, result=VOID)
    return array


def _wrapped(w: Words, memory: Word, descriptor: Word, ndim: Word, extents: Word) -> Word:
    """A NumPy array in the memory itself: the work of Python. Only out of memory, that fails."""
    arguments = w.call(Api.TUPLE_NEW, w.b.add(ndim, w.word(2)))
    result = w.room(1)
    w.put(0, result)
    with w.b.if_then(w.b.not_(w.is_zero(arguments)), likely=True):
        w.call(Api.TUPLE_SET, arguments, 0, w.call(Api.NEW_INT, memory), result=I32)
        w.call(Api.TUPLE_SET, arguments, 1, descriptor, result=I32)
        with w.loop(ndim) as axis:
            extent = w.call(Api.NEW_INT, w.at(extents, axis))
            w.call(Api.TUPLE_SET, arguments, w.b.add(axis, w.word(2)), extent, result=I32)
        with w.b.if_then(w.is_zero(w.call(Api.ERROR_OCCURRED)), likely=True):
            w.put(w.call(Api.CALL, w.api(Api.WRAP_MEMORY), arguments), result)
        w.call(Api.DEC_REF, arguments, result=VOID)
    return w.at(result)


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
