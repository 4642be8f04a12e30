"""Scripts whose source is made by a test."""

import itertools
import linecache
from collections.abc import Callable, Mapping
from typing import Any

from hybridjit import Kernel, hybrid

_NUMBERS = itertools.count()


def script_from_text(text: str, names: Mapping[str, Any] | None = None) -> Kernel[..., Any]:
    """The script `f` that `text` defines; linecache serves its source, as in a notebook."""
    filename = f"<test script {next(_NUMBERS)}>"
    linecache.cache[filename] = len(text), None, text.splitlines(keepends=True), filename
    namespace: dict[str, Any] = dict(names or {})
    exec(compile(text, filename, "exec"), namespace)
    function: Callable[..., Any] = namespace["f"]
    return hybrid.script(function)
