"""Where the dispatcher finds things: the head of a kernel's tables, fields of Python's objects."""

from __future__ import annotations

from enum import IntEnum


class Head(IntEnum):
    """The start of a kernel's list of tables, which never moves."""

    FIRST = 0


class Offsets(IntEnum):
    """Where fields lie in the objects of CPython and NumPy, in bytes: public structures.

    `hybridjit.runtime.dispatch.facts` compares each with what the running interpreter does.
    """

    REFERENCES = 0
    TYPE = 8
    TUPLE_SIZE = 16
    TUPLE_ITEMS = 24
    CELL_VALUE = 16
    FLOAT_VALUE = 16
    COMPLEX_VALUE = 16
    SCALAR_VALUE = 16
    ARRAY_DATA = 16
    ARRAY_NDIM = 24
    ARRAY_EXTENTS = 32
    ARRAY_STRIDES = 40
    ARRAY_DESCRIPTOR = 56
    ARRAY_FLAGS = 64
    DESCRIPTOR_BYTE_ORDER = 26
    DESCRIPTOR_NUMBER = 28
    DICT_VERSION = 24
    FUNCTION_CODE = 48
    FUNCTION_DEFAULTS = 56
    FUNCTION_KWDEFAULTS = 64
    CALLABLE_ENTRY = 16
    CALLABLE_HEAD = 24
    CALLABLE_KEPT = 32
