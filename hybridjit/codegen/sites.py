"""Places in a kernel that can fail, and what the kernel tells when one does.

A kernel returns the number of the site that failed, or 0, and leaves the values to show in the
error record: 64-bit words, one or two for each value.
"""

from __future__ import annotations

from enum import Enum

from hybridjit.errors import Span
from hybridjit.ir.dtype import DType
from hybridjit.record import record

# The entry of a kernel that takes all its arguments in one array of words.
ADAPTER = "hj_call"
# Words in the error record; a message with more values is cut.
MAX_WORDS = 32
# One word more: 0, or the address of a count and of so many arrays, Python objects that the call
# holds. A callback that is given memory of one of them makes its view keep that array alive.
HELD = MAX_WORDS
RECORD_WORDS = MAX_WORDS + 1


class Failure(Enum):
    """What went wrong at a site."""

    BOUNDS = "bounds"
    DIVISION = "division"
    NARROWING = "narrowing"
    POWER = "power"
    UNBOUND = "unbound"
    STEP = "step"
    SIZE = "size"
    TOO_LARGE = "too large"
    EXTENT = "extent"
    MEMORY = "memory"
    STRIDES = "strides"  # an array for C that is not in C order
    RAISE = "raise"
    RAISE_TUPLE = "raise tuple"  # the parts are the items of one argument
    RAISE_TEXT = "raise text"  # the parts are a template and the values in it
    FORKED = "forked"  # a signal handler forked in a parallel loop: the child lacks its threads
    PYTHON = "python"  # a callback or a signal handler raised an exception


@record
class Site:
    """One place that can fail: how, where, and the parts of its message.

    `parts` are strings and, for values that the kernel provides, their types. `loops` names the
    loop variables around the place; their values follow those of the message.
    """

    failure: Failure
    span: Span | None
    parts: tuple[str | DType, ...] = ()
    loops: tuple[str, ...] = ()
