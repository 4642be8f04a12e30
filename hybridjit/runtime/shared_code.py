"""Native code that is the same for every kernel: the dispatcher and the thread pool."""

from __future__ import annotations

import json
from collections.abc import Callable

from hybridjit.codegen.engine import emit_object, tidy
from hybridjit.processor import current_target
from hybridjit.runtime.cache.disk_cache import active_store
from hybridjit.runtime.cache.versions import is_unchanged, maker_identity
from hybridjit.target import Target


def shared_code(name: str, emit: Callable[[Target], str]) -> bytes:
    """The code that `emit` gives as LLVM text, from the disk where an earlier process left it."""
    target = current_target()
    key = json.dumps({"shared": name, "maker": maker_identity(target)}).encode()
    entry = active_store().load(key)
    if entry is not None:
        return entry.object_code
    image = emit_object(tidy(emit(target), target), target)
    if is_unchanged():
        active_store().save(key, {}, image)
    return image
