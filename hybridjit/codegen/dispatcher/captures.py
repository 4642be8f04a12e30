"""The part of the dispatcher that sees whether captured values are what they were."""

from __future__ import annotations

from llvmlite import ir

from hybridjit.codegen.dispatcher.layout import C_CONTIGUOUS, Api, Capture, CaptureKind, Table
from hybridjit.codegen.dispatcher.match import HIT, MISS
from hybridjit.codegen.dispatcher.object_layout import Offsets
from hybridjit.codegen.dispatcher.words import Word, Words
from hybridjit.codegen.llvm_types import I1, I32


def emit_captures(module: ir.Module) -> ir.Function:
    """`captures(table)`: True if the translation is up to date; else an exception may be set."""
    w = Words(module, "captures", 1, I1)
    (table,) = w.args
    records = w.at(table, Table.CAPTURE_RECORDS)
    with w.loop(w.at(table, Table.CAPTURES)) as i:
        _check_capture(w, w.place(records, w.b.mul(i, w.word(len(Capture)))))
    w.b.ret(HIT)
    return w.hide()


def _check_capture(w: Words, record: Word) -> None:
    after, unknown = (w.b.append_basic_block(name) for name in ("after", "unknown"))
    owner, name, expected = (
        w.at(record, field) for field in (Capture.OWNER, Capture.NAME, Capture.EXPECTED)
    )
    switch = w.b.switch(w.at(record, Capture.KIND), unknown)
    w.b.position_at_end(unknown)
    w.b.ret(MISS)
    with w.case(switch, CaptureKind.NAME, after):
        w.return_unless(w.is_equal(w.call(Api.DICT_GET, owner, name), expected), MISS)
    with w.case(switch, CaptureKind.FIELD, after):
        found = w.load(w.b.add(owner, w.at(record, Capture.OFFSET)), 0)
        w.return_unless(w.is_equal(found, expected), MISS)
    with w.case(switch, CaptureKind.ATTRIBUTE, after):
        _check_attribute(w, owner, name, expected)
    with w.case(switch, CaptureKind.ABSENT, after):
        _check_absent(w, owner, record)
    with w.case(switch, CaptureKind.CONTENT, after):
        _check_content(w, owner, record)
    w.b.position_at_end(after)


def _check_attribute(w: Words, owner: Word, name: Word, expected: Word) -> None:
    found = w.call(Api.GET_ATTRIBUTE, owner, name)
    w.return_if(w.is_zero(found), MISS)
    w.call(Api.DEC_REF, found, result=ir.VoidType())
    w.return_unless(w.is_equal(found, expected), MISS)


def _check_absent(w: Words, owner: Word, record: Word) -> None:
    """Look for each name, unless nothing in the dict has changed since none of them was there.

    The version is read before the names are looked up: a key that Python compares may change the
    dict. Where there are no versions it is 0, and so is the one in the record: never the same.
    """
    version = _version(w, owner, record)
    is_known = w.b.and_(
        w.is_equal(version, w.at(record, Capture.VERSION)), w.b.not_(w.is_zero(version))
    )
    with w.b.if_then(w.b.not_(is_known), likely=False):
        names = w.at(record, Capture.NAMES)
        with w.loop(w.at(record, Capture.NAME_COUNT)) as i:
            found = w.call(Api.DICT_GET, owner, w.at(names, i))
            w.return_unless(w.is_zero(found), MISS)
            w.return_unless(w.is_zero(w.call(Api.ERROR_OCCURRED)), MISS)
        w.put(version, record, Capture.VERSION)


def _version(w: Words, owner: Word, record: Word) -> Word:
    """A number that differs after every change of the dict; 0 where Python does not count."""
    offset = w.at(record, Capture.VERSION_OFFSET)
    version = w.load(w.b.add(owner, offset), 0)
    return w.b.select(w.is_zero(offset), w.word(0), version)


def _check_content(w: Words, array: Word, record: Word) -> None:
    """The same dtype, shape and bytes: a captured array may change in place."""
    descriptor = w.load(array, Offsets.ARRAY_DESCRIPTOR)
    w.return_unless(w.is_equal(descriptor, w.at(record, Capture.DESCRIPTOR)), MISS)
    ndim = w.load_int(array, Offsets.ARRAY_NDIM)
    w.return_unless(w.is_equal(ndim, w.at(record, Capture.NDIM)), MISS)
    flags = w.b.and_(w.load_int(array, Offsets.ARRAY_FLAGS), w.word(C_CONTIGUOUS))
    w.return_if(w.is_zero(flags), MISS)
    extents, expected = w.load(array, Offsets.ARRAY_EXTENTS), w.at(record, Capture.EXTENTS)
    with w.loop(ndim) as axis:
        w.return_unless(w.is_equal(w.at(extents, axis), w.at(expected, axis)), MISS)
    order = w.call(
        Api.COMPARE_MEMORY,
        w.load(array, Offsets.ARRAY_DATA),
        w.at(record, Capture.EXPECTED),
        w.at(record, Capture.BYTES),
        result=I32,
    )
    w.return_unless(w.b.icmp_signed("==", order, ir.Constant(I32, 0)), MISS)
