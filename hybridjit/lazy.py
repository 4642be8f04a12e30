"""The one place where modules of ours are imported late: when something in them is first used.

`import hybridjit`, and a call whose code is on disk, load what they need and nothing else: the
front end, the passes, code generation, schedules and tools stay out. A module that uses one of
these only now and then says so among its imports, where type checkers see the real thing:

    if TYPE_CHECKING:
        from hybridjit.runtime import compiler
    else:
        compiler = lazy_module("hybridjit.runtime.compiler")

A package offers names of such modules with a `__getattr__` of its own (PEP 562):

    if TYPE_CHECKING:
        from hybridjit.ir.func import PrimFunc as PrimFunc
    else:
        __getattr__ = lazy_names(__name__, {"PrimFunc": "hybridjit.ir.func:PrimFunc"})

No module may use another one of these while it is being loaded itself.
"""

from __future__ import annotations

import importlib
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from hybridjit.collection import no_collection_of_modules

# Held while a module is loaded. A fork waits for it: a child could not finish what another thread
# of its parent began.
LOADING = threading.RLock()
_ON_SIGINT = signal.default_int_handler


class _LazyModule(ModuleType):
    """Stands for a module that is not loaded yet."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_load(self.__name__), name)


def lazy_module(name: str) -> ModuleType:
    """The module called `name`, which is loaded when it is first asked for something."""
    return _LazyModule(name)


def lazy_names(owner: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of `owner`: each name is "module:name" elsewhere, or a whole module."""

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {owner!r} has no attribute {name!r}")
        module, _, attribute = homes[name].partition(":")
        loaded = _load(module)
        value = getattr(loaded, attribute) if attribute else loaded
        setattr(sys.modules[owner], name, value)  # found without us from now on
        return value

    return find


def _load(name: str) -> ModuleType:
    loaded = sys.modules.get(name)
    if loaded is not None and not _is_loading(loaded):
        return loaded
    if _is_interruptible():
        return _load_elsewhere(name)
    return _import(name)


def _is_interruptible() -> bool:
    """True where a signal handler of the user's may run: it might want the module, too."""
    if threading.current_thread() is not threading.main_thread():
        return False
    handlers = (signal.getsignal(number) for number in signal.valid_signals())
    return any(callable(handler) and handler is not _ON_SIGINT for handler in handlers)


def _load_elsewhere(name: str) -> ModuleType:
    """Load a module in a thread of its own, which no handler interrupts.

    A handler that runs in this thread meanwhile waits for `LOADING` as another thread would; in
    the same thread it would find a module that is half loaded.
    """
    thread = threading.Thread(target=_import, args=(name,), name="hybridjit-import")
    try:
        thread.start()
    except RuntimeError:  # Python is ending
        return _import(name)
    thread.join()
    return _import(name)  # there by now, unless it failed: then it fails here


def _import(name: str) -> ModuleType:
    with LOADING, no_collection_of_modules():
        return importlib.import_module(name)


def _is_loading(module: ModuleType) -> bool:
    return getattr(module.__spec__, "_initializing", False)
