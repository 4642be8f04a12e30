"""The dispatcher in memory: what a native call enters. See codegen/dispatcher."""

from __future__ import annotations

import ctypes
from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING

from hybridjit import config
from hybridjit.codegen.dispatcher.layout import API, DISPATCH, Api
from hybridjit.codegen.engine import Library, link
from hybridjit.lazy import lazy_module
from hybridjit.record import record
from hybridjit.runtime.dispatch.functions import find_functions, slow_call_of
from hybridjit.runtime.dispatch.objects import native_class
from hybridjit.runtime.dispatch.pinned import pin
from hybridjit.runtime.given_arrays import array_in
from hybridjit.runtime.out_arrays import store_results
from hybridjit.runtime.shared_code import shared_code

if TYPE_CHECKING:
    from hybridjit.codegen.dispatcher import dispatcher as emitter
else:
    # As a rule, its code is on disk.
    emitter = lazy_module("hybridjit.codegen.dispatcher.dispatcher")


@record
class _Dispatcher:
    """The dispatcher in memory, never unloaded."""

    address: int
    library: Library
    api: ctypes.Array[ctypes.c_int64] = field(repr=False)


_is_diverted = config.api_edge(config.is_diverted)
_store_result = config.api_edge(store_results)


@cache
def find_dispatcher() -> _Dispatcher | None:
    """The dispatcher of this process, or None where native calls are not possible."""
    cls = native_class()
    functions = None if cls is None else find_functions()
    if cls is None or functions is None:
        return None
    entries: dict[Api, int] = {
        **functions,
        Api.DIVERT_GUARD: ctypes.addressof(config.may_divert),
        Api.IS_DIVERTED: id(_is_diverted),
        Api.SLOW_CALL: slow_call_of(cls),
        Api.STORE_RESULT: id(_store_result),
        Api.WRAP_MEMORY: id(array_in),
    }
    api = (ctypes.c_int64 * len(Api))(*(entries[entry] for entry in Api))
    image = shared_code("dispatcher", lambda target: emitter.emit_dispatcher(target))
    library = link(image, (DISPATCH,), {API: ctypes.addressof(api)})
    dispatcher = _Dispatcher(library.addresses[DISPATCH], library, api)
    pin(dispatcher, config.may_divert, _is_diverted, _store_result, array_in)
    return dispatcher
