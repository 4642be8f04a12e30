"""Lowering: from blocks to the loops that code is made of, one pass per file.

`hj.lower(s, args)` is a function for users, and this package has the same name: once a pass is
loaded, `hj.lower` is the package. So it can be called, and does what the function does.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    from hybridjit.ir.func import PrimFunc
    from hybridjit.lower import entry
else:
    entry = lazy_module("hybridjit.lower.entry")


class _CallablePackage(ModuleType):
    def __call__(self, *args: Any, **options: Any) -> PrimFunc:
        return entry.lower(*args, **options)


sys.modules[__name__].__class__ = _CallablePackage
