"""Times without Python's garbage collector: what is made in them is kept, or freed without it.

It looks at all that is new each time some hundred objects are made, and a compiler makes millions.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Generator[None]:
    """Without the garbage collector: a fifteenth of the time of a first call was its.

    Threads that find it off leave it off: the first that turned it off turns it on.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def no_collection_of_modules() -> Generator[None]:
    """The same for what stays: modules leave no garbage, and looking took a sixth of the time.

    Nor does it look at all that is new as soon as it is back: to freeze and thaw makes what there
    is as old as what has been looked at twice. Who froze something keeps it frozen.
    """
    was_enabled = gc.isenabled()
    with no_collection():
        yield
        if was_enabled and not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
