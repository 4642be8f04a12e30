"""The part of the dispatcher that makes outputs, runs the kernel and makes results of it."""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from hybridjit.codegen.dispatcher.layout import (
    C_CONTIGUOUS,
    MAX_DIMENSIONS,
    MAX_OUTPUTS,
    MAX_RESULTS,
    MAX_STACK,
    RESULT_WORDS,
    WARN_ON_WRITE,
    WRITEABLE,
    Api,
    Extent,
    ExtentKind,
    Output,
    Result,
    ResultKind,
    Returns,
    Step,
    Table,
)
from hybridjit.codegen.dispatcher.object_layout import Offsets
from hybridjit.codegen.dispatcher.words import Word, Words
from hybridjit.codegen.llvm_types import DOUBLE, I8, I32, I64
from hybridjit.codegen.sites import HELD, RECORD_WORDS

VOID = ir.VoidType()
# No object has this address.
MISFIT = 1
# Sizes and estimates are cut here, so that products of two of them do not overflow.
LARGE_SIZE = 1 << 30
# Results of so many bytes are copied, in less time than Python takes to make an array around them.
COPIED_BYTES = 1 << 16


def emit_run(module: ir.Module) -> ir.Function:
    """`run(table, slots, words, out, held)`: the result of the call, 0 with an exception set.

    `out` is the array that takes the result, or 0; MISFIT if it cannot. `held` are the arrays
    that stay alive; those that the call makes are added.
    """
    w = Words(module, "run", 5)
    table, slots, words, out, held = w.args
    outputs, scalars = w.room(MAX_OUTPUTS), w.room(MAX_RESULTS * RESULT_WORDS)
    error = w.room(RECORD_WORDS)
    make = _emit_outputs(module)
    release = _emit_release(module)
    finish = _emit_results(module)
    w.return_if(w.is_zero(w.b.call(make, [table, words, outputs])), 0)
    _check_out(w, table, out, outputs)
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
    _drop(w, outputs, w.at(table, Table.OUTPUTS))
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
    with w.b.if_then(_fill_out(w, table, out, outputs), likely=True):
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


def _drop(w: Words, items: Word, count: Word) -> None:
    with w.loop(count) as i:
        w.call(Api.DEC_REF, w.at(items, i), result=VOID)


# Outputs


def _emit_outputs(module: ir.Module) -> ir.Function:
    """`outputs(table, words, made)`: make the output arrays; 0 with an exception set."""
    w = Words(module, "outputs", 3)
    table, words, made = w.args
    find_extent = _emit_extent(module)
    extents = w.room(MAX_DIMENSIONS)
    records = w.at(table, Table.OUTPUT_RECORDS)
    with w.loop(w.at(table, Table.OUTPUTS)) as i:
        record = w.place(records, w.b.mul(i, w.word(len(Output))))
        ndim = w.at(record, Output.NDIM)
        with w.loop(ndim) as axis:
            place = w.b.mul(axis, w.word(len(Extent)))
            extent = w.place(w.at(record, Output.EXTENTS), place)
            w.put(w.b.call(find_extent, [extent, words]), extents, axis)
        descriptor = w.at(record, Output.DESCRIPTOR)
        w.call(Api.INC_REF, descriptor, result=VOID)  # what makes the array takes it away
        order = ir.Constant(I32, 0)
        needs_zeros = w.is_zero(w.at(record, Output.IS_SET))
        make = w.b.select(needs_zeros, w.api(Api.ARRAY_ZEROS), w.api(Api.ARRAY_EMPTY))
        array = w.call_address(make, w.b.trunc(ndim, I32), extents, descriptor, order)
        w.put(array, made, i)
        with w.b.if_then(w.is_zero(array), likely=False):
            _drop(w, made, i)
            w.b.ret(w.word(0))
        w.put(w.load(array, Offsets.ARRAY_DATA), words, w.at(record, Output.WORD))
    w.b.ret(w.word(1))
    return w.hide()


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


def _check_out(w: Words, table: Word, out: Word, outputs: Word) -> None:
    """Give up, before anything has happened, unless `out` is like the first output."""
    with w.b.if_then(w.b.not_(w.is_zero(out)), likely=False):
        fits = _fits(w, out, w.at(outputs))
        with w.b.if_then(w.b.not_(fits), likely=False):
            _drop(w, outputs, w.at(table, Table.OUTPUTS))
            w.b.ret(w.word(MISFIT))


def _fits(w: Words, out: Word, made: Word) -> Word:
    """True if the elements of `made`, a new array, can be copied to `out` as they lie."""
    fits = w.room(1)
    w.put(0, fits)
    with w.b.if_then(w.is_equal(w.type_of(out), w.api(Api.ARRAY_TYPE))):
        w.put(w.b.zext(_is_like(w, out, made), I64), fits)
    ndim = w.load_int(made, Offsets.ARRAY_NDIM)
    with w.b.if_then(w.b.not_(w.is_zero(w.at(fits)))), w.loop(ndim) as axis:
        theirs, ours = (w.at(w.load(array, Offsets.ARRAY_EXTENTS), axis) for array in (out, made))
        with w.b.if_then(w.b.not_(w.is_equal(theirs, ours))):
            w.put(0, fits)
    return w.b.not_(w.is_zero(w.at(fits)))


def _is_like(w: Words, out: Word, made: Word) -> Word:
    """True if `out` can take the elements of `made`, a new array, except for its extents."""
    mask, wanted = C_CONTIGUOUS | WRITEABLE | WARN_ON_WRITE, C_CONTIGUOUS | WRITEABLE
    flags = w.b.and_(w.load_int(out, Offsets.ARRAY_FLAGS), w.word(mask))
    has_flags = w.is_equal(flags, wanted)
    fields = (Offsets.ARRAY_DESCRIPTOR, Offsets.ARRAY_NDIM)
    descriptors, ranks = (
        [w.load(array, field, I64 if field == fields[0] else I32) for array in (out, made)]
        for field in fields
    )
    same = w.b.and_(w.b.icmp_signed("==", *descriptors), w.b.icmp_signed("==", *ranks))
    return w.b.and_(has_flags, same)


def _fill_out(w: Words, table: Word, out: Word, outputs: Word) -> Word:
    """Let the array of the caller, if there is one, take the place of the first output.

    False with an exception set. The kernel may have run Python code, which can resize the array
    or make it read-only: where it is no longer what it was, Python has the last word.
    """
    done = w.room(1)
    w.put(1, done)
    with w.b.if_then(w.b.not_(w.is_zero(out)), likely=False):
        made = w.at(outputs)
        with w.b.if_else(_fits(w, out, made), likely=True) as (same, changed):
            with same:
                _copy_elements(w, table, out, made)
                w.call(Api.INC_REF, out, result=VOID)
                w.put(out, done)
            with changed:
                w.put(_call_with(w, w.api(Api.STORE_RESULT), (made, out)), done)
        with w.b.if_then(w.b.not_(w.is_zero(w.at(done))), likely=True):
            w.put(w.at(done), outputs)
            w.call(Api.DEC_REF, made, result=VOID)
    return w.b.not_(w.is_zero(w.at(done)))


def _copy_elements(w: Words, table: Word, out: Word, made: Word) -> None:
    size = w.room(1)
    w.put(w.at(w.at(table, Table.OUTPUT_RECORDS), Output.ITEMSIZE), size)
    extents = w.load(made, Offsets.ARRAY_EXTENTS)
    with w.loop(w.load_int(made, Offsets.ARRAY_NDIM)) as axis:
        w.put(w.b.mul(w.at(size), w.at(extents, axis)), size)
    places = [w.load(array, Offsets.ARRAY_DATA) for array in (out, made)]
    w.call(Api.COPY_MEMORY, *places, w.at(size))


def _call_with(w: Words, function: Word, objects: tuple[Word, ...]) -> Word:
    """The result of a Python function; 0 with an exception set."""
    arguments = w.call(Api.TUPLE_NEW, len(objects))
    result = w.room(1)
    w.put(0, result)
    with w.b.if_then(w.b.not_(w.is_zero(arguments)), likely=True):
        for position, item in enumerate(objects):
            w.call(Api.INC_REF, item, result=VOID)
            w.call(Api.TUPLE_SET, arguments, position, item, result=I32)
        w.put(w.call(Api.CALL, function, arguments), result)
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
