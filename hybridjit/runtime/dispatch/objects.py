"""The base class of kernels: Python objects that carry the address of a native call function.

Python calls such an object without making a frame or a tuple: the vectorcall protocol (PEP 590).
While the address is 0, and wherever the protocol is not to be had, the call goes to `__call__`.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, TypeVar

from hybridjit.codegen.dispatcher.object_layout import Head, Offsets
from hybridjit.runtime.dispatch.facts import is_known_interpreter, read_word

C = TypeVar("C", bound=type)

_DEFAULT, _SUBCLASSABLE, _HAS_VECTORCALL = 1 << 18, 1 << 10, 1 << 11
# Fields of PyTypeObject, checked against `__flags__` and the offset that we gave.
_TYPE_FLAGS, _TYPE_VECTORCALL_OFFSET = 168, 56
_SLOT_CALL, _SLOT_MEMBERS = 50, 72
_MEMBER_OBJECT, _MEMBER_SIZE, _READ_ONLY = 16, 19, 1


class _Member(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Slot(ctypes.Structure):
    _fields_ = (("slot", ctypes.c_int), ("value", ctypes.c_void_p))


class _Spec(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    )


class _PythonCallable:
    """The base class where native calls are not possible."""

    __slots__ = ("_kept",)


def _make_base() -> Any:
    """The class, made as a C extension would make it.

    `_kept` keeps the memory of the list of tables alive until the object is freed; the garbage
    collector does not look at it, and there is nothing in it to look at.
    """
    if not is_known_interpreter():
        return _PythonCallable
    entry, kept = int(Offsets.CALLABLE_ENTRY), int(Offsets.CALLABLE_KEPT)
    members = (_Member * 3)(
        _Member(b"__vectorcalloffset__", _MEMBER_SIZE, entry, _READ_ONLY, None),
        _Member(b"_kept", _MEMBER_OBJECT, kept, 0, None),
    )
    call = ctypes.cast(ctypes.pythonapi.PyVectorcall_Call, ctypes.c_void_p)
    slots = (_Slot * 3)(
        _Slot(_SLOT_MEMBERS, ctypes.addressof(members)), _Slot(_SLOT_CALL, call.value)
    )
    flags = _DEFAULT | _SUBCLASSABLE | _HAS_VECTORCALL
    _spec_memory.extend((members, slots))
    spec = _Spec(f"{__name__}.NativeCallable".encode(), kept + 8, 0, flags, slots)
    _spec_memory.append(spec)
    make: Any = ctypes.pythonapi.PyType_FromSpec
    address = ctypes.cast(make, ctypes.c_void_p).value or 0
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)
    return prototype(address)(ctypes.addressof(spec))


# What the class was made of: on some versions it goes on pointing there.
_spec_memory: list[Any] = []
_native_classes: list[type] = []

if TYPE_CHECKING:

    class NativeCallable:
        """An object that can be called natively."""

else:
    NativeCallable = _make_base()


def native_calls(cls: C) -> C:
    """Class decorator: let Python call the objects of this class by their native function.

    A class with a `__call__` of its own does not inherit the protocol. Ours may have both: the
    native function does what `__call__` does.
    """
    if issubclass(cls, _PythonCallable) or not _has_expected_layout(cls):
        return cls
    flags = ctypes.c_ulong.from_address(id(cls) + _TYPE_FLAGS)
    flags.value |= _HAS_VECTORCALL
    _native_classes.append(cls)
    return cls


def _has_expected_layout(cls: type) -> bool:
    return all(
        read_word(kind, _TYPE_FLAGS) == kind.__flags__
        and read_word(kind, _TYPE_VECTORCALL_OFFSET) == Offsets.CALLABLE_ENTRY
        for kind in (NativeCallable, cls)
    )


def native_class() -> type | None:
    """The class whose objects can be called natively, if there is one."""
    return _native_classes[0] if _native_classes else None


def connect(target: Any, head: ctypes.Array[ctypes.c_int64], function: int) -> None:
    """From now on a call of `target` goes to the native `function`, which finds `head` in it."""
    if len(head) != len(Head) or not isinstance(target, tuple(_native_classes)):
        raise TypeError(f"{target!r} cannot be called natively")
    target._kept = head
    fields = (ctypes.c_uint64 * 2).from_address(id(target) + Offsets.CALLABLE_ENTRY)
    fields[1] = ctypes.addressof(head)
    fields[0] = function
