"""Is this the interpreter that the dispatcher was written for? Measured, never assumed.

The dispatcher reads the fields of Python's and NumPy's objects where their public headers put
them. Every such place is compared here with what Python itself says about a real object. If one
differs, or the interpreter is one that the tests do not run on, kernels are called through Python.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Iterator
from functools import cache
from types import CellType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybridjit.codegen.dispatcher.object_layout import Offsets
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    import sysconfig
else:
    sysconfig = lazy_module("sysconfig")

_TESTED = ((3, 10), (3, 13))


@cache
def is_known_interpreter() -> bool:
    """True if the dispatcher may look into objects here."""
    return _is_tested() and all(_objects_agree()) and all(_arrays_agree())


def _is_tested() -> bool:
    low, high = _TESTED
    return (
        sys.implementation.name == "cpython"
        and low <= sys.version_info[:2] <= high
        and not _is_free_threaded()
        and sys.byteorder == "little"
        and struct.calcsize("P") == struct.calcsize("l" if sys.platform != "win32" else "q") == 8
        and object.__basicsize__ == 16
    )


def _is_free_threaded() -> bool:
    # No build before 3.13 is; asking takes 1 ms.
    return sys.version_info >= (3, 13) and bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def _objects_agree() -> Iterator[bool]:
    item, number, pair = object(), 1.5, 2.5 - 3.5j
    items = (item, number, pair)
    before = read_word(item, Offsets.REFERENCES)
    more = [item, item]
    yield read_word(item, Offsets.REFERENCES) == before + len(more)
    yield read_word(item, Offsets.TYPE) == id(object)
    yield read_word(items, Offsets.TUPLE_SIZE) == 3
    yield [read_word(items, Offsets.TUPLE_ITEMS + 8 * i) for i in range(3)] == [*map(id, items)]
    yield read_word(CellType(item), Offsets.CELL_VALUE) == id(item)
    yield from _function_agrees()
    yield read_bytes(number, Offsets.FLOAT_VALUE, 8) == struct.pack("d", number)
    yield read_bytes(pair, Offsets.COMPLEX_VALUE, 16) == struct.pack("dd", pair.real, pair.imag)


def _function_agrees() -> Iterator[bool]:
    def function(a: int = 1, *, b: int = 2) -> None: ...

    yield read_word(function, Offsets.FUNCTION_CODE) == id(function.__code__)
    yield read_word(function, Offsets.FUNCTION_DEFAULTS) == id(function.__defaults__)
    yield read_word(function, Offsets.FUNCTION_KWDEFAULTS) == id(function.__kwdefaults__)


def _arrays_agree() -> Iterator[bool]:
    base: NDArray[Any] = np.zeros((4, 6), np.float32)
    swapped: NDArray[Any] = np.zeros(3, ">i2")
    frozen: NDArray[Any] = np.zeros((), np.complex128)
    frozen.flags.writeable = False
    small: NDArray[Any] = np.zeros(5, np.int8)
    for array in (base, base[::2, ::-3], np.asfortranarray(base), swapped, frozen, small):
        yield from _array_agrees(array)


def _array_agrees(array: NDArray[Any]) -> Iterator[bool]:
    ndim = array.ndim
    dtype = array.dtype
    extents = read_word(array, Offsets.ARRAY_EXTENTS)
    strides = read_word(array, Offsets.ARRAY_STRIDES)
    yield read_word(array, Offsets.ARRAY_DATA) == array.ctypes.data
    yield _read(array, Offsets.ARRAY_NDIM, ctypes.c_int) == ndim
    if ndim > 0:
        yield tuple((ctypes.c_ssize_t * ndim).from_address(extents)) == array.shape
        yield tuple((ctypes.c_ssize_t * ndim).from_address(strides)) == array.strides
    yield read_word(array, Offsets.ARRAY_DESCRIPTOR) == id(dtype)
    yield _read(array, Offsets.ARRAY_FLAGS, ctypes.c_int) == array.flags.num
    yield _read(dtype, Offsets.DESCRIPTOR_NUMBER, ctypes.c_int) == dtype.num
    yield _read(dtype, Offsets.DESCRIPTOR_BYTE_ORDER, ctypes.c_char) == dtype.byteorder.encode()


@cache
def dict_version_offset() -> int:
    """Where a dict keeps a number that no two states of dicts share; 0 if it keeps none.

    Until Python 3.12: the interpreter itself does without since.
    """
    if sys.version_info >= (3, 13):
        return 0
    names: dict[str, int] = {"a": 1, "b": 2}
    versions = [read_word(names, Offsets.DICT_VERSION)]
    for change in (lambda: names.pop("a"), lambda: names.update(c=3), lambda: names.update(c=4)):
        change()
        versions.append(read_word(names, Offsets.DICT_VERSION))
    is_counting = len(set(versions)) == len(versions) and sorted(versions) == versions
    return int(Offsets.DICT_VERSION) if is_counting and versions[0] > 0 else 0


def read_word(item: object, offset: int) -> int:
    """A field of an object: a number or an address."""
    return _read(item, offset, ctypes.c_ssize_t)


def read_bytes(item: object, offset: int, count: int) -> bytes:
    """`count` bytes of an object, which is that large."""
    return ctypes.string_at(id(item) + offset, count)


def _read(item: object, offset: int, kind: Any) -> Any:
    return kind.from_address(id(item) + offset).value
