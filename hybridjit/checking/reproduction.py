"""A file that repeats a call: the kernel and its arguments, as they were before it."""

from __future__ import annotations

import base64
import os
import pickle
import tempfile
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

_WIDTH = 96
_TEXT = '''"""Repeats a call of '{name}' whose native code and plain function differed.

{difference}

    python {file}
"""

import base64
import pickle

{source}

# The kernel and the arguments of the call, as they were before it. Unpickling runs code: open such
# a file only if it is your own.
CALL = (
{data}
)

kernel, args, kwargs = pickle.loads(base64.b64decode(CALL))
print(kernel.check(*args, **kwargs))
'''


def write_reproduction(
    kernel: Any, args: Sequence[Any], kwargs: Mapping[str, Any], difference: str, source: str
) -> str | None:
    """Write the file and give its path; None if the call cannot be written down."""
    try:
        data = base64.b64encode(pickle.dumps((kernel, tuple(args), dict(kwargs)))).decode()
    except (pickle.PicklingError, TypeError, AttributeError):
        return None
    handle, path = tempfile.mkstemp(prefix=f"hybridjit-check-{kernel.__name__}-", suffix=".py")
    text = _TEXT.format(
        name=kernel.__name__,
        difference=difference.replace("\\", "/").replace('"""', "'''"),
        file=os.path.basename(path),
        source="\n".join(f"# {line}".rstrip() for line in source.splitlines()),
        data="\n".join(f'    "{line}"' for line in textwrap.wrap(data, _WIDTH - 6)),
    )
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    return path
