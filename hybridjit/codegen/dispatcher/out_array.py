"""The part of the dispatcher that deals with `out=`, an array of the caller for the result.

    kernel(a, b, out=c)

Where nobody can tell the difference, the kernel writes to `c` itself: it sets all elements before
it reads any and no error can end it halfway (see `Code.direct_outputs`), and `c` shares no memory
with an input. Otherwise it writes to a new array, whose elements are copied to `c` at the end.
"""

from __future__ import annotations

from typing import NamedTuple

from llvmlite import ir

from hybridjit.codegen.dispatcher.layout import (
    ALIGNED,
    C_CONTIGUOUS,
    WARN_ON_WRITE,
    WRITEABLE,
    Api,
    Input,
    InputKind,
    Output,
    Table,
)
from hybridjit.codegen.dispatcher.match import overlap, span_of
from hybridjit.codegen.dispatcher.object_layout import Offsets
from hybridjit.codegen.dispatcher.words import VOID, Word, Words
from hybridjit.codegen.llvm_types import I1, I32, I64


class Kind(NamedTuple):
    """The type and the shape of an array; `extents` is the address of its sizes."""

    descriptor: Word
    ndim: Word
    extents: Word


def _kind_of(w: Words, array: Word) -> Kind:
    return Kind(
        w.load(array, Offsets.ARRAY_DESCRIPTOR),
        w.load_int(array, Offsets.ARRAY_NDIM),
        w.load(array, Offsets.ARRAY_EXTENTS),
    )


def fits(w: Words, out: Word, made: Kind) -> Word:
    """True if the elements of a new array of kind `made` can be copied to `out` as they lie."""
    result = w.room(1)
    w.put(0, result)
    with w.b.if_then(w.is_equal(w.type_of(out), w.api(Api.ARRAY_TYPE))):
        w.put(w.b.zext(_is_like(w, out, made), I64), result)
    extents = w.load(out, Offsets.ARRAY_EXTENTS)
    with w.b.if_then(w.b.not_(w.is_zero(w.at(result)))), w.loop(made.ndim) as axis:
        is_same = w.is_equal(w.at(extents, axis), w.at(made.extents, axis))
        with w.b.if_then(w.b.not_(is_same)):
            w.put(0, result)
    return w.b.not_(w.is_zero(w.at(result)))


def _is_like(w: Words, out: Word, made: Kind) -> Word:
    """True if `out` can take the elements of a new array, except for its extents."""
    mask, wanted = C_CONTIGUOUS | WRITEABLE | WARN_ON_WRITE, C_CONTIGUOUS | WRITEABLE
    flags = w.b.and_(w.load_int(out, Offsets.ARRAY_FLAGS), w.word(mask))
    given = _kind_of(w, out)
    same = w.b.and_(
        w.is_equal(given.descriptor, made.descriptor), w.is_equal(given.ndim, made.ndim)
    )
    return w.b.and_(w.is_equal(flags, wanted), same)


# Writing to it


def emit_is_direct(module: ir.Module) -> ir.Function:
    """`is_direct(table, out, spans)`: True if the kernel may write to `out`, which fits."""
    w = Words(module, "is_direct", 3, I1)
    table, out, spans = w.args
    no = ir.Constant(I1, 0)
    w.return_if(w.is_zero(w.at(w.at(table, Table.OUTPUT_RECORDS), Output.IS_DIRECT)), no)
    flags = w.load_int(out, Offsets.ARRAY_FLAGS)
    w.return_if(w.is_zero(w.b.and_(flags, w.word(ALIGNED))), no)
    span = _span(w, table, out)
    records = w.at(table, Table.INPUT_RECORDS)
    with w.loop(w.at(table, Table.INPUTS)) as i:
        record = w.place(records, w.b.mul(i, w.word(len(Input))))
        is_array = w.is_equal(w.at(record, Input.KIND), InputKind.ARRAY)
        with w.b.if_then(is_array):
            w.return_if(overlap(w, span, span_of(w, spans, i)), no)
    w.b.ret(ir.Constant(I1, 1))
    return w.hide()


def _span(w: Words, table: Word, out: Word) -> tuple[Word, Word]:
    """The first byte of `out` and the one after its last, both 0 if it has no elements."""
    size = _bytes_of(w, table, out)
    first = w.b.select(w.is_zero(size), w.word(0), w.load(out, Offsets.ARRAY_DATA))
    return first, w.b.add(first, size)


def _bytes_of(w: Words, table: Word, array: Word) -> Word:
    """How many bytes the elements of the first output, or of an array like it, take."""
    size = w.room(1)
    w.put(w.at(w.at(table, Table.OUTPUT_RECORDS), Output.ITEMSIZE), size)
    extents = w.load(array, Offsets.ARRAY_EXTENTS)
    with w.loop(w.load_int(array, Offsets.ARRAY_NDIM)) as axis:
        w.put(w.b.mul(w.at(size), w.at(extents, axis)), size)
    return w.at(size)


# Copying to it


def fill_out(w: Words, table: Word, out: Word, outputs: Word) -> Word:
    """Let the array of the caller, if there is one, take the place of the first output.

    False with an exception set. The kernel may have run Python code, which can resize the array
    or make it read-only: where it is no longer what it was, Python has the last word.
    """
    done = w.room(1)
    w.put(1, done)
    made = w.at(outputs)
    is_there = w.b.or_(w.is_zero(out), w.is_equal(out, made))
    with w.b.if_then(w.b.not_(is_there), likely=False):
        with w.b.if_else(fits(w, out, _kind_of(w, made)), likely=True) as (same, changed):
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
    places = [w.load(array, Offsets.ARRAY_DATA) for array in (out, made)]
    w.call(Api.COPY_MEMORY, *places, _bytes_of(w, table, made))


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
