"""Native calls: from the second call on, `kernel(a, b)` runs without Python.

A call that no table fits runs through Python, which makes a table for calls like it; see
codegen/dispatcher for how tables are used. What is published is published by one store of an
address, under the GIL.

Always through Python go calls with lists, nested tuples, `out=` that is a tuple, a subclass of
arrays, not C-contiguous or of another type, and kernels that capture a list, a tuple with an array
in it, or an array that is not C-contiguous.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, NamedTuple

from hybridjit.codegen.dispatcher.object_layout import Head
from hybridjit.codegen.forks import COMPILE_LOCK
from hybridjit.codegen.layout import Layout
from hybridjit.fresh_stack import on_fresh_stack
from hybridjit.lazy import lazy_module
from hybridjit.record import record
from hybridjit.runtime.dispatch.call_shape import CallShape
from hybridjit.runtime.dispatch.objects import connect
from hybridjit.runtime.specialization import Specialization

if TYPE_CHECKING:
    from hybridjit.runtime.dispatch import dispatcher
    from hybridjit.runtime.dispatch import table as dispatch_table
    from hybridjit.runtime.dispatch.table import TableOwner
else:
    # For the second call and those that follow.
    dispatch_table = lazy_module("hybridjit.runtime.dispatch.table")
    dispatcher = lazy_module("hybridjit.runtime.dispatch.dispatcher")


class Form(NamedTuple):
    """What calls that one table serves have in common."""

    specialization: Specialization
    layout: Layout
    types: tuple[type, ...]


@record(frozen=False)
class _Known:
    """Calls of one form: how many ran through Python, and the table made for them."""

    count: int = 0
    table: TableOwner | None = None


class NativeCalls:
    """The tables of one kernel."""

    def __init__(self) -> None:
        self._head = (ctypes.c_int64 * len(Head))()
        self._tables: list[TableOwner] = []
        self._known: dict[Form, _Known] = {}
        self._is_connected = False
        self._is_over = False

    def __del__(self, first: int = Head.FIRST) -> None:  # at exit, globals may be gone
        # The collector may clear a kernel that something in its cycle still calls. It runs all
        # finalisers of a cycle before it clears the first object, so no call ever finds a table
        # that is gone; one of a finaliser that comes after this one must not bring in another.
        self._is_over = True
        self._head[first] = 0

    @property
    def tables(self) -> tuple[TableOwner, ...]:
        """The tables in the order in which they are tried."""
        return tuple(self._tables)

    def learn(self, kernel: object, call: CallShape) -> None:
        """Note that a call ran through Python; let the next one of this form run natively.

        A table may stop fitting, as when a captured number is replaced by an equal one. It is
        made anew after 2, 4, 8 ... such calls, so that a form that never fits costs little.
        """
        types: tuple[type, ...] = tuple(map(type, call.values))
        form = Form(call.specialization, call.layout, types)
        known = self._known.setdefault(form, _Known())
        known.count += 1
        if known.count < 2 or known.count & (known.count - 1):
            return
        with COMPILE_LOCK:
            entry = on_fresh_stack(dispatcher.find_dispatcher)
            table = None if entry is None else dispatch_table.make_table(call)
            if entry is None or table is None or self._is_over:
                return
            self._replace(known.table, table)
            known.table = table
            if not self._is_connected:
                connect(kernel, self._head, entry.address)
                self._is_connected = True

    def forget(self, specialization: Specialization) -> None:
        """Drop what was made of a translation that is out of date."""
        with COMPILE_LOCK:
            forms = list(self._known)  # to which other threads may add meanwhile
            stale = [form for form in forms if form.specialization is specialization]
            for form in stale:
                self._replace(self._known.pop(form).table, None)

    def clear(self) -> None:
        """Drop all tables. Calls that are running keep theirs until they end."""
        with COMPILE_LOCK:
            self._head[Head.FIRST] = 0
            self._tables = []
            self._known = {}

    def _replace(self, old: TableOwner | None, new: TableOwner | None) -> None:
        """Publish the list without `old` and with `new`: exact shapes are tried first.

        A signal handler may raise at every line: whatever can be reached from the head is owned.
        Tables are linked from the last one on, so that every chain in between ends.
        """
        kept = [table for table in self._tables if table is not old]
        if new is not None:
            position = 0 if new.is_exact else len(kept)
            kept.insert(position, new)
        self._tables = [*kept, *([] if old is None else [old])]
        following = 0
        for table in reversed(kept):
            table.follow(following)
            following = table.address
        self._head[Head.FIRST] = following
        self._tables = kept  # only now may the old table go
