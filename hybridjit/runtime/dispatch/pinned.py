"""Objects that native code refers to for as long as the process runs.

At exit Python clears its modules one by one, and objects that outlive them may still be called:
what the dispatcher and the pool need must not go with a module.
"""

from __future__ import annotations

import ctypes

_KEEP = ctypes.pythonapi.Py_IncRef
_KEEP.argtypes, _KEEP.restype = [ctypes.py_object], None


def pin(*items: object) -> None:
    """Keep `items` until the process ends."""
    for item in items:
        _KEEP(item)
