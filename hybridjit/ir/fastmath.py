"""What a kernel may do to float arithmetic: `@hybrid.script(fastmath={"contract", "reassoc"})`.

Without flags results are exactly NumPy's. A flag allows native code to differ; the interpreter
takes no notice. The flags are LLVM's, whose manual defines them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.lazy import lazy_module

if TYPE_CHECKING:
    import difflib
else:
    difflib = lazy_module("difflib")

# contract: x * y + z may round once          reassoc: sums and products in any order
# nnan, ninf: no NaN, no infinity occurs      nsz: the sign of a zero does not count
# arcp: x / y may be x * (1 / y)              afn: functions may be approximated
FASTMATH_FLAGS = ("contract", "reassoc", "nnan", "ninf", "nsz", "arcp", "afn")
# True, False, or flags.
Fastmath = bool | Iterable[str]
# With these, a value that breaks the promise is LLVM's poison.
POISONING_FLAGS = frozenset({"nnan", "ninf"})


def read_fastmath(option: object) -> tuple[str, ...]:
    """The flags that an option stands for, in the order of `FASTMATH_FLAGS`."""
    if isinstance(option, bool):
        return FASTMATH_FLAGS if option else ()
    if isinstance(option, str) or not isinstance(option, Iterable):
        raise ArgumentError(f"fastmath must be True, False or a set of flags, got {option!r}")
    names = list(cast("Iterable[Any]", option))
    for name in names:
        if name not in FASTMATH_FLAGS:
            raise _unknown(name)
    return tuple(flag for flag in FASTMATH_FLAGS if flag in names)


def print_fastmath(flags: tuple[str, ...]) -> str:
    """The option that `read_fastmath` turns into `flags`."""
    if flags == FASTMATH_FLAGS:
        return "True"
    quoted = ", ".join(f'"{flag}"' for flag in flags)
    return f"{{{quoted}}}"


def _unknown(name: object) -> ArgumentValueError:
    close = difflib.get_close_matches(str(name), FASTMATH_FLAGS, 1)
    known = ", ".join(FASTMATH_FLAGS)
    return ArgumentValueError(
        f"fastmath has no flag {name!r}",
        help=f'did you mean "{close[0]}"?' if close else f"the flags are {known}",
    )
