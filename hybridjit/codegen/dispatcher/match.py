"""The part of the dispatcher that compares the arguments of a call with a table."""

from __future__ import annotations

from llvmlite import ir

from hybridjit.codegen.dispatcher.layout import (
    NATIVE_ORDERS,
    Aliasing,
    Api,
    Extent,
    ExtentKind,
    Guard,
    Input,
    InputKind,
    Nesting,
    Parameter,
    Span,
    Table,
)
from hybridjit.codegen.dispatcher.object_layout import Offsets
from hybridjit.codegen.dispatcher.words import Word, Words
from hybridjit.codegen.llvm_types import DOUBLE, FLOAT, I1, I32, I64

MISS = ir.Constant(I1, 0)
HIT = ir.Constant(I1, 1)


def emit_bind(module: ir.Module) -> ir.Function:
    """`bind(table, args, count, names, slots, out)`: give each parameter its argument.

    Returns the address of the arguments in the order of the parameters, 0 if they do not fit.
    The array that the caller gives for the result is stored at `out`.
    """
    w = Words(module, "bind", 6)
    table, args, count, names, slots, out = w.args
    wanted = w.at(table, Table.SLOTS)
    w.return_if(w.is_less(w.at(table, Table.POSITIONAL), count), 0)
    is_plain = w.b.and_(w.is_zero(names), w.is_equal(count, wanted))
    with w.b.if_then(is_plain, likely=True):
        w.b.ret(args)
    with w.loop(count) as i:
        w.put(w.at(args, i), slots, i)
    with w.loop(w.b.sub(wanted, count)) as i:
        w.put(0, slots, w.b.add(count, i))
    with w.b.if_then(w.b.not_(w.is_zero(names))):
        _bind_names(w, table, (names, w.place(args, count)), (slots, out))
    parameters = w.at(table, Table.PARAMETERS)
    with w.loop(wanted) as i, w.b.if_then(w.is_zero(w.at(slots, i))):
        record = w.place(parameters, w.b.mul(i, w.word(len(Parameter))))
        default = w.at(record, Parameter.DEFAULT)
        w.return_if(w.is_zero(default), 0)
        w.put(default, slots, i)
    w.b.ret(slots)
    return w.hide()


def _bind_names(w: Words, table: Word, given: tuple[Word, Word], places: tuple[Word, Word]) -> None:
    names, values = given
    slots, out = places
    parameters = w.at(table, Table.PARAMETERS)
    is_placed = w.room(1)
    with w.loop(w.load(names, Offsets.TUPLE_SIZE)) as i:
        name = w.load(w.place(names, i), Offsets.TUPLE_ITEMS)
        w.put(0, is_placed)
        with w.loop(w.at(table, Table.SLOTS)) as k:
            record = w.place(parameters, w.b.mul(k, w.word(len(Parameter))))
            is_free = w.is_zero(w.at(slots, k))
            is_this = w.is_equal(w.at(record, Parameter.NAME), name)
            with w.b.if_then(w.b.and_(is_this, is_free)):
                w.put(w.at(values, i), slots, k)
                w.put(1, is_placed)
        is_out = w.b.and_(w.is_equal(w.at(table, Table.OUT), name), w.is_zero(w.at(out)))
        with w.b.if_then(is_out):
            w.put(w.at(values, i), out)
            w.put(1, is_placed)
        w.return_if(w.is_zero(w.at(is_placed)), 0)


def emit_match(module: ir.Module) -> ir.Function:
    """`match(table, slots, words, held, spans)`: True if the arguments fit.

    Then `words` is filled in, `held` with the number of arrays and the arrays, and `spans` with
    the bytes that each input covers if it is an array.
    """
    w = Words(module, "match", 5, I1)
    table, slots, words, held, spans = w.args
    w.put(0, held)
    array = emit_match_array(module)
    records = w.at(table, Table.INPUT_RECORDS)
    with w.loop(w.at(table, Table.INPUTS)) as i:
        record = w.place(records, w.b.mul(i, w.word(len(Input))))
        item = w.at(slots, w.at(record, Input.SLOT))
        item = _item_of_tuple(w, record, item)
        span = w.place(spans, w.b.mul(i, w.word(2)))
        _match_input(w, array, record, item, (words, held), span)
    _check_aliasing(w, table, spans)
    _check_guards(w, table, spans)
    w.b.ret(HIT)
    return w.hide()


def _item_of_tuple(w: Words, record: Word, item: Word) -> Word:
    position = w.at(record, Input.ITEM)
    before = w.b.block
    with w.b.if_then(w.b.icmp_signed(">=", position, w.word(0))):
        w.return_unless(w.is_equal(w.type_of(item), w.at(record, Input.ITEMS_TYPE)), MISS)
        size = w.load(item, Offsets.TUPLE_SIZE)
        w.return_unless(w.is_equal(size, w.at(record, Input.ITEMS)), MISS)
        inner = w.load(w.place(item, position), Offsets.TUPLE_ITEMS)
        inside = w.b.block
    chosen = w.b.phi(I64)
    chosen.add_incoming(item, before)
    chosen.add_incoming(inner, inside)
    return chosen


def _match_input(
    w: Words, array: ir.Function, record: Word, item: Word, places: tuple[Word, Word], span: Word
) -> None:
    words, held = places
    word = w.place(words, w.at(record, Input.WORD))
    after, unknown = (w.b.append_basic_block(name) for name in ("after", "unknown"))
    switch = w.b.switch(w.at(record, Input.KIND), unknown)
    w.b.position_at_end(unknown)
    w.b.ret(MISS)
    with w.case(switch, InputKind.ARRAY, after):
        w.return_unless(w.is_equal(w.type_of(item), w.at(record, Input.TYPE)), MISS)
        w.return_unless(w.b.call(array, [record, item, words, span]), MISS)
        w.put(w.load(item, Offsets.ARRAY_DATA), word)
        w.put(w.b.add(w.at(held), w.word(1)), held)
        w.put(item, held, w.at(held))
    with w.case(switch, InputKind.CONSTANT, after):
        _match_constant(w, record, item)
    _match_python_scalars(w, switch, after, (record, item, word))
    _match_numpy_scalars(w, switch, after, (record, item, word))
    w.b.position_at_end(after)


def _match_constant(w: Words, record: Word, item: Word) -> None:
    constant = w.at(record, Input.TYPE)
    with w.b.if_then(w.b.not_(w.is_equal(item, constant)), likely=False):
        for text in (item, constant):
            w.return_unless(w.is_equal(w.type_of(text), w.api(Api.STR_TYPE)), MISS)
        order = w.call(Api.COMPARE_STR, item, constant, result=I32)
        w.return_unless(w.b.icmp_signed("==", order, ir.Constant(I32, 0)), MISS)


def _match_python_scalars(
    w: Words, switch: ir.Instruction, after: ir.Block, parts: tuple[Word, Word, Word]
) -> None:
    record, item, word = parts
    type_of = w.type_of
    with w.case(switch, InputKind.FLOAT, after):
        w.return_unless(w.is_equal(type_of(item), w.api(Api.FLOAT_TYPE)), MISS)
        w.put(w.load(item, Offsets.FLOAT_VALUE), word)
    with w.case(switch, InputKind.FLOAT32, after):
        w.return_unless(w.is_equal(type_of(item), w.api(Api.FLOAT_TYPE)), MISS)
        w.put(w.b.fptrunc(w.load(item, Offsets.FLOAT_VALUE, DOUBLE), FLOAT), word)
    with w.case(switch, InputKind.COMPLEX, after):
        w.return_unless(w.is_equal(type_of(item), w.api(Api.COMPLEX_TYPE)), MISS)
        w.put(w.load(item, Offsets.COMPLEX_VALUE), word)
        w.put(w.load(item, Offsets.COMPLEX_VALUE + 8), word, 1)
    with w.case(switch, InputKind.BOOL, after):
        is_true = w.is_equal(item, w.api(Api.TRUE))
        w.return_unless(w.b.or_(is_true, w.is_equal(item, w.api(Api.FALSE))), MISS)
        w.put(w.b.zext(is_true, I64), word)
    with w.case(switch, InputKind.INT, after):
        w.return_unless(w.is_equal(type_of(item), w.api(Api.INT_TYPE)), MISS)
        _match_int(w, record, item, word)


def _match_int(w: Words, record: Word, item: Word, word: Word) -> None:
    overflow = w.b.inttoptr(word, I32.as_pointer())  # overwritten by the value in a moment
    value = w.call(Api.INT_VALUE, item, overflow)
    w.return_unless(w.b.icmp_signed("==", w.b.load(overflow, typ=I32), ir.Constant(I32, 0)), MISS)
    w.return_if(w.is_less(value, w.at(record, Input.LOW)), MISS)
    w.return_if(w.is_less(w.at(record, Input.HIGH), value), MISS)
    w.put(value, word)


def _match_numpy_scalars(
    w: Words, switch: ir.Instruction, after: ir.Block, parts: tuple[Word, Word, Word]
) -> None:
    record, item, word = parts
    kinds = (InputKind.SCALAR, InputKind.SCALAR_COMPLEX64, InputKind.SCALAR_COMPLEX128)
    for kind in kinds:
        with w.case(switch, kind, after):
            w.return_unless(w.is_equal(w.type_of(item), w.at(record, Input.TYPE)), MISS)
            value = w.load(item, Offsets.SCALAR_VALUE)
            w.put(value, word)
            if kind is InputKind.SCALAR_COMPLEX64:
                w.put(w.b.lshr(value, w.word(32)), word, 1)
            if kind is InputKind.SCALAR_COMPLEX128:
                w.put(w.load(item, Offsets.SCALAR_VALUE + 8), word, 1)


# Arrays


def emit_match_array(module: ir.Module) -> ir.Function:
    """`match_array(record, array, words, span)`: True if the array is as the record says."""
    w = Words(module, "match_array", 4, I1)
    record, item, words, span = w.args
    _match_descriptor(w, w.load(item, Offsets.ARRAY_DESCRIPTOR), record)
    ndim = w.at(record, Input.NDIM)
    w.return_unless(w.is_equal(w.load_int(item, Offsets.ARRAY_NDIM), ndim), MISS)
    flags = w.b.and_(w.load_int(item, Offsets.ARRAY_FLAGS), w.at(record, Input.FLAG_MASK))
    w.return_unless(w.is_equal(flags, w.at(record, Input.FLAGS)), MISS)
    extents = w.load(item, Offsets.ARRAY_EXTENTS)
    _match_extents(w, w.at(record, Input.EXTENTS), ndim, extents, words)
    strides = w.load(item, Offsets.ARRAY_STRIDES)
    expected = w.at(record, Input.STRIDES)
    with w.b.if_then(w.b.not_(w.is_zero(expected))):
        _match_strides(w, expected, ndim, (extents, strides), words)
        _check_nesting(w, record, (extents, strides))
    _find_span(w, record, item, span)
    w.b.ret(HIT)
    return w.hide()


def _match_descriptor(w: Words, found: Word, record: Word) -> None:
    """The usual dtype object, or another one with the same number in native byte order."""
    with w.b.if_then(w.b.not_(w.is_equal(found, w.at(record, Input.DESCRIPTOR))), likely=False):
        number = w.load_int(found, Offsets.DESCRIPTOR_NUMBER)
        is_one = w.is_equal(number, w.at(record, Input.NUMBER))
        is_other = w.is_equal(number, w.at(record, Input.OTHER_NUMBER))
        w.return_unless(w.b.or_(is_one, is_other), MISS)
        order = w.load_byte(found, Offsets.DESCRIPTOR_BYTE_ORDER)
        native, none = (w.is_equal(order, code) for code in NATIVE_ORDERS)
        w.return_unless(w.b.or_(native, none), MISS)


def _match_extents(w: Words, expected: Word, ndim: Word, extents: Word, words: Word) -> None:
    with w.loop(ndim) as axis:
        record = w.place(expected, w.b.mul(axis, w.word(len(Extent))))
        _match_extent(w, record, w.at(extents, axis), words)


def _match_extent(w: Words, record: Word, found: Word, words: Word) -> None:
    value = w.at(record, Extent.VALUE)
    is_fixed = w.is_equal(w.at(record, Extent.KIND), ExtentKind.FIXED)
    with w.b.if_else(is_fixed, likely=True) as (fixed, other):
        with fixed:
            w.return_unless(w.is_equal(found, value), MISS)
        with other:
            place = w.place(words, value)
            is_equal = w.is_equal(w.at(record, Extent.KIND), ExtentKind.EQUAL)
            with w.b.if_then(is_equal):
                w.return_unless(w.is_equal(found, w.at(place)), MISS)
            w.put(found, place)


def _match_strides(
    w: Words, expected: Word, ndim: Word, found: tuple[Word, Word], words: Word
) -> None:
    """Where an axis has at most one element, its stride means nothing and may be anything."""
    extents, strides = found
    with w.loop(ndim) as axis:
        record = w.place(expected, w.b.mul(axis, w.word(len(Extent))))
        value = w.at(record, Extent.VALUE)
        stride = w.at(strides, axis)
        is_fixed = w.is_equal(w.at(record, Extent.KIND), ExtentKind.FIXED)
        with w.b.if_else(is_fixed) as (fixed, passed):
            with fixed:
                is_idle = w.is_less(w.at(extents, axis), 2)
                w.return_unless(w.b.or_(is_idle, w.is_equal(stride, value)), MISS)
            with passed:
                w.put(stride, w.place(words, value))


def _check_nesting(w: Words, record: Word, found: tuple[Word, Word]) -> None:
    """Miss if two elements of an array that is written might share memory."""
    extents, strides = found
    order = w.at(record, Input.NESTING)
    with w.b.if_then(w.b.not_(w.is_equal(order, Nesting.KNOWN)), likely=False):
        ndim = w.at(record, Input.NDIM)
        reach = w.room(1)
        w.put(w.at(record, Input.ITEMSIZE), reach)
        with w.loop(ndim) as i:
            backwards = w.b.sub(w.b.sub(ndim, w.word(1)), i)
            axis = w.b.select(w.is_equal(order, Nesting.LAST_INSIDE), backwards, i)
            extent, stride = w.at(extents, axis), w.at(strides, axis)
            size = w.b.select(w.is_less(stride, 0), w.b.neg(stride), stride)
            with w.b.if_then(w.is_less(1, extent)):
                w.return_if(w.is_less(size, w.at(reach)), MISS)
                covered = w.b.mul(size, w.b.sub(extent, w.word(1)))
                w.put(w.b.add(w.at(reach), covered), reach)


def _find_span(w: Words, record: Word, item: Word, span: Word) -> None:
    """The first byte of the array and the one after its last, both 0 if it has no elements."""
    data = w.load(item, Offsets.ARRAY_DATA)
    after = w.b.append_basic_block("after")
    switch = w.b.switch(w.at(record, Input.SPAN), after)
    with w.case(switch, Span.EMPTY, after):
        _put_span(w, span, w.word(0), w.word(0))
    with w.case(switch, Span.FIXED, after):
        low = w.b.add(data, w.at(record, Input.SPAN_LOW))
        _put_span(w, span, low, w.b.add(data, w.at(record, Input.SPAN_HIGH)))
    with w.case(switch, Span.CONTIGUOUS, after):
        _put_contiguous_span(w, record, item, span)
    with w.case(switch, Span.STRIDED, after):
        _put_strided_span(w, record, item, span)
    w.b.position_at_end(after)


def _put_span(w: Words, span: Word, low: Word, high: Word) -> None:
    w.put(low, span)
    w.put(high, span, 1)


def _put_contiguous_span(w: Words, record: Word, item: Word, span: Word) -> None:
    w.put(w.at(record, Input.ITEMSIZE), span, 1)
    extents = w.load(item, Offsets.ARRAY_EXTENTS)
    with w.loop(w.at(record, Input.NDIM)) as axis:
        w.put(w.b.mul(w.at(span, 1), w.at(extents, axis)), span, 1)
    size = w.at(span, 1)
    data = w.b.select(w.is_zero(size), w.word(0), w.load(item, Offsets.ARRAY_DATA))
    _put_span(w, span, data, w.b.add(data, size))


def _put_strided_span(w: Words, record: Word, item: Word, span: Word) -> None:
    data = w.load(item, Offsets.ARRAY_DATA)
    _put_span(w, span, data, w.b.add(data, w.at(record, Input.ITEMSIZE)))
    extents, strides = (
        w.load(item, field) for field in (Offsets.ARRAY_EXTENTS, Offsets.ARRAY_STRIDES)
    )
    is_empty = w.room(1)
    w.put(0, is_empty)
    with w.loop(w.at(record, Input.NDIM)) as axis:
        extent = w.at(extents, axis)
        reach = w.b.mul(w.b.sub(extent, w.word(1)), w.at(strides, axis))
        end = w.b.zext(w.b.icmp_signed(">", reach, w.word(0)), I64)
        w.put(w.b.add(w.at(span, end), reach), span, end)
        with w.b.if_then(w.is_zero(extent)):
            w.put(1, is_empty)
    with w.b.if_then(w.b.not_(w.is_zero(w.at(is_empty)))):
        _put_span(w, span, w.word(0), w.word(0))


def _check_aliasing(w: Words, table: Word, spans: Word) -> None:
    """Arrays that are written share memory with others only if the code was made for that."""
    mode = w.at(table, Table.ALIASING)
    with w.b.if_then(w.b.not_(w.is_equal(mode, Aliasing.ANY))):
        shared = w.room(1)
        w.put(0, shared)
        pairs = w.at(table, Table.PAIR_RECORDS)
        with w.loop(w.at(table, Table.PAIRS)) as i:
            pair = w.place(pairs, w.b.mul(i, w.word(2)))
            one, other = (span_of(w, spans, w.at(pair, side)) for side in range(2))
            w.put(w.b.or_(w.at(shared), w.b.zext(overlap(w, one, other), I64)), shared)
        is_shared = w.b.not_(w.is_zero(w.at(shared)))
        is_wanted = w.is_equal(mode, Aliasing.SHARED)
        w.return_unless(w.b.icmp_unsigned("==", is_shared, is_wanted), MISS)


def _check_guards(w: Words, table: Word, spans: Word) -> None:
    """Captured arrays were copied into the code: writing to them would change them unseen."""
    guards = w.at(table, Table.GUARD_RECORDS)
    with w.loop(w.at(table, Table.GUARDS)) as i:
        guard = w.place(guards, w.b.mul(i, w.word(len(Guard))))
        low = w.load(w.at(guard, Guard.ARRAY), Offsets.ARRAY_DATA)
        captured = low, w.b.add(low, w.at(guard, Guard.BYTES))
        w.return_if(overlap(w, captured, span_of(w, spans, w.at(guard, Guard.INPUT))), MISS)


def span_of(w: Words, spans: Word, number: Word) -> tuple[Word, Word]:
    """The first byte of an input, and the one after its last."""
    span = w.place(spans, w.b.mul(number, w.word(2)))
    return w.at(span), w.at(span, 1)


def overlap(w: Words, one: tuple[Word, Word], other: tuple[Word, Word]) -> Word:
    """True if two spans have a byte in common."""
    starts_before = w.b.icmp_unsigned("<", one[0], other[1])
    ends_after = w.b.icmp_unsigned("<", other[0], one[1])
    return w.b.and_(starts_before, ends_after)
