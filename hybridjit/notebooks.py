"""Notebooks: what IPython calls its cells, and how it shows errors in the text of scripts."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any


def cell_name(file: str) -> str | None:
    """`Cell In[4]` for the name of the file that IPython made of a cell; None for other files."""
    shell = _find_shell()
    name_of = getattr(getattr(shell, "compile", None), "format_code_name", None)
    found = None if name_of is None else name_of(file)
    return None if found is None else " ".join(found)


def show_as_raised(kind: type[BaseException]) -> None:
    """Let IPython show errors of this kind as it shows those of running code.

    Those that are a SyntaxError it takes for errors in a cell: it shows a frame of its own, a file
    that there is not, and no line of the cell. Handlers that a user has set stay.
    """
    shell = _find_shell()
    if shell is not None and not getattr(shell, "custom_exceptions", True):
        shell.set_custom_exc((kind,), _show)


def _show(
    shell: Any,
    kind: type[BaseException],
    error: BaseException,
    trace: TracebackType | None,
    tb_offset: int | None = None,
) -> list[str]:
    lines = shell.InteractiveTB.structured_traceback(kind, error, trace, tb_offset=tb_offset)
    shell._showtraceback(kind, error, lines)
    return lines


def _find_shell() -> Any:
    """The shell of IPython that this runs in, if it does."""
    module: Any = sys.modules.get("IPython")
    find = getattr(module, "get_ipython", None)
    return None if find is None else find()
