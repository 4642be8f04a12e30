"""The records of captured values: how the dispatcher sees that nothing around a script changed."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Sequence
from types import FunctionType, ModuleType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from hybridjit.codegen.dispatcher.layout import Capture as Field
from hybridjit.codegen.dispatcher.layout import CaptureKind, Guard
from hybridjit.codegen.dispatcher.object_layout import Offsets
from hybridjit.frontend.captures import (
    MISSING,
    AttributeSource,
    Capture,
    NameSource,
    functions_in,
    same_value,
)
from hybridjit.runtime.captured_arrays import captured_arrays
from hybridjit.runtime.dispatch.facts import dict_version_offset, read_word
from hybridjit.runtime.dispatch.memory import Memory, Unsupported, write
from hybridjit.scalars.builtins import BUILTINS, PYTHON_NAMES
from hybridjit.scalars.kinds import is_array, is_sequence

_PYTHON: dict[str, Any] = builtins.__dict__
_FUNCTION_FIELDS = (
    Offsets.FUNCTION_CODE,
    Offsets.FUNCTION_DEFAULTS,
    Offsets.FUNCTION_KWDEFAULTS,
)
Absent = dict[int, tuple[dict[str, Any], dict[str, None]]]


def capture_records(captures: Sequence[Capture], memory: Memory) -> list[list[int]]:
    """The records for `captures`, which are up to date."""
    records: dict[tuple[int, ...], None] = {}
    absent: Absent = {}
    for capture in captures:
        now = capture.read()
        if not same_value(now, capture.value):
            raise Unsupported
        if isinstance(capture.read, AttributeSource):
            found = _attribute_records(capture.read, now, memory)
        else:
            found = _name_records(capture.read, now, absent, memory)
        if found:
            found += _content_records(now, capture.value, memory)
        records.update(dict.fromkeys(map(tuple, found)))
    missing = [_absent_record(names, sorted(keys), memory) for names, keys in absent.values()]
    return [*map(list, records), *missing]


def guard_records(
    captures: Sequence[Capture], inputs: Sequence[int], memory: Memory
) -> list[list[int]]:
    """The records that keep each of `inputs`, which are written, away from captured arrays."""
    records: list[list[int]] = []
    for capture in captures:
        for array in captured_arrays(capture.read()):
            for number in inputs:
                record = [0] * len(Guard)
                write(record, Guard.INPUT, number)
                write(record, Guard.ARRAY, memory.keep(array))
                write(record, Guard.BYTES, array.nbytes)
                records.append(record)
    return records


def _attribute_records(source: AttributeSource, now: object, memory: Memory) -> list[list[int]]:
    if type(source.owner) is ModuleType and source.name in vars(source.owner):
        return [_name_record(source.owner.__dict__, source.name, now, memory)]
    record = _record(CaptureKind.ATTRIBUTE, memory.keep(source.owner), now, memory)
    write(record, Field.NAME, memory.keep(sys.intern(source.name)))
    return [record]


def _name_records(
    source: NameSource, now: object, absent: Absent, memory: Memory
) -> list[list[int]]:
    """Where Python looks: the closure, the globals, the language, the builtins."""
    environment, name = source.environment, source.name
    names = _plain_dict(environment.module)
    if name in environment.cells:
        cell = environment.cells[name]
        memory.keep(now)
        return [_field_record(cell, Offsets.CELL_VALUE, memory)]
    if name in environment.closure:
        raise Unsupported
    if name in names:
        return [_name_record(names, name, now, memory)]
    absent.setdefault(id(names), (names, {}))[1].setdefault(name)
    if now is MISSING:
        absent.setdefault(id(_PYTHON), (_PYTHON, {}))[1].setdefault(name)
        return []
    if name in BUILTINS or name in PYTHON_NAMES:
        return []  # the language's own meaning of the name, unless something hides it
    return [_name_record(_PYTHON, name, now, memory)]


def _plain_dict(names: Any) -> dict[str, Any]:
    if type(names) is not dict:
        raise Unsupported
    return cast("dict[str, Any]", names)


def _name_record(names: dict[str, Any], name: str, now: object, memory: Memory) -> list[int]:
    record = _record(CaptureKind.NAME, memory.keep(names), now, memory)
    write(record, Field.NAME, memory.keep(sys.intern(name)))
    return record


def _absent_record(names: dict[str, Any], keys: Sequence[str], memory: Memory) -> list[int]:
    record = _record(CaptureKind.ABSENT, memory.keep(names), None, memory)
    write(record, Field.VERSION_OFFSET, dict_version_offset())
    write(record, Field.NAMES, memory.put([memory.keep(sys.intern(key)) for key in keys]))
    write(record, Field.NAME_COUNT, len(keys))
    return record


def _content_records(now: object, then: object, memory: Memory) -> list[list[int]]:
    """What can change inside an object that stays the same."""
    if is_array(now) and is_array(then):
        return [_array_record(now, then, memory)]
    if _is_mutable(now):
        raise Unsupported
    return [
        record for function in functions_in(now) for record in _function_records(function, memory)
    ]


def _function_records(function: FunctionType, memory: Memory) -> list[list[int]]:
    """Its code and its defaults, which can be replaced."""
    memory.keep((function.__code__, function.__defaults__, function.__kwdefaults__))
    return [_field_record(function, field, memory) for field in _FUNCTION_FIELDS]


def _is_mutable(value: object) -> bool:
    """True if a captured sequence can change, or hold something that can."""
    if isinstance(value, (list, np.ndarray)):
        return True
    return is_sequence(value) and any(_is_mutable(item) for item in value)


def _array_record(now: NDArray[Any], then: NDArray[Any], memory: Memory) -> list[int]:
    if not now.flags.c_contiguous:
        raise Unsupported
    record = _record(CaptureKind.CONTENT, memory.keep(now), None, memory)
    write(record, Field.BYTES, now.nbytes)
    write(record, Field.EXPECTED, memory.put_bytes(then.tobytes()))
    write(record, Field.DESCRIPTOR, memory.keep(now.dtype))
    write(record, Field.NDIM, now.ndim)
    write(record, Field.EXTENTS, memory.put(now.shape))
    return record


def _field_record(owner: object, offset: int, memory: Memory) -> list[int]:
    """The word at `offset` of an object. The caller keeps what it points to: no other has it."""
    record = [0] * len(Field)
    write(record, Field.KIND, CaptureKind.FIELD)
    write(record, Field.OWNER, memory.keep(owner))
    write(record, Field.OFFSET, offset)
    write(record, Field.EXPECTED, read_word(owner, offset))
    return record


def _record(kind: CaptureKind, owner: int, expected: object, memory: Memory) -> list[int]:
    record = [0] * len(Field)
    write(record, Field.KIND, kind)
    write(record, Field.OWNER, owner)
    write(record, Field.EXPECTED, memory.keep(expected))
    return record
