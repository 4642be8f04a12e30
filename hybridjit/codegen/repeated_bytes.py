"""Take shuffles out of optimised code that LLVM's back end never finishes.

For AVX-512, LLVM (20 and 22) does not come to an end where all of 64 bytes repeat the first two or
four of a computed vector (factors of sums of products of bytes are like that):

    %x = xor <64 x i8> %a, splat (i8 -128)
    %r = shufflevector <64 x i8> %x, <64 x i8> poison, <64 x i32> <i32 0, i32 1, i32 0, i32 1, ...>

It does where longer numbers are repeated, and what is computed is computed of these:

    %words = bitcast <64 x i8> %a to <32 x i16>
    %all = shufflevector <32 x i16> %words, <32 x i16> poison, <32 x i32> zeroinitializer
    %bytes = bitcast <32 x i16> %all to <64 x i8>
    %r = xor <64 x i8> %bytes, splat (i8 -128)

The passes before it would turn that back, so that it is done to what they have left.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

_BYTES = 64
_VECTOR = f"<{_BYTES} x i8>"
# How many bytes are repeated; of one and of eight, LLVM makes a broadcast by itself.
_GROUPS = (2, 4)
_SHUFFLE = re.compile(
    rf"^(?P<result>  %\S+ = )shufflevector {_VECTOR} (?P<source>%[^\s,]+), "
    rf"{_VECTOR} [^,]+, <{_BYTES} x i32> <(?P<places>[^<>]+)>"
)
_CONSTANT = r"splat \(i8 -?\d+\)|<[^<>]+>"
# Of a vector and constants; of two vectors that repeat bytes, LLVM would compute first again.
_COMPUTED = re.compile(
    rf"^  (?P<name>%\S+) = (?P<op>xor|and|or|add|sub|mul) (?:\w+ )*{_VECTOR} "
    rf"(?P<x>%[^\s,]+), (?P<y>{_CONSTANT})"
)


def repeat_words(text: str) -> str:
    """The text of an optimised module, with such shuffles made of longer numbers."""
    if f"shufflevector {_VECTOR}" not in text:
        return text
    repeats = _Repeats()
    for line in text.splitlines():
        repeats.take(line)
    return "\n".join(repeats.lines) + "\n" if repeats.is_new else text


class _Repeats:
    """The lines of a module so far, and what they say is computed of vectors of bytes."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.is_new: bool = False
        self._computed: dict[str, re.Match[str]] = {}  # in the function, by name
        self._names: Iterator[str] = (f"%repeated.{number}" for number in itertools.count())

    def take(self, line: str) -> None:
        """Add a line, or what stands for it."""
        found, shuffle = _COMPUTED.match(line), _SHUFFLE.match(line)
        if line.startswith("define"):
            self._computed.clear()
        elif found is not None:
            self._computed[found["name"]] = found
        group = None if shuffle is None else _repeated(shuffle["places"])
        if shuffle is None or group is None:
            self.lines.append(line)
            return
        self.is_new = True
        value = self._repeat(shuffle["source"], group)
        self.lines.append(f"{shuffle['result']}or {_VECTOR} {value}, zeroinitializer")

    def _repeat(self, value: str, group: int) -> str:
        """A vector that repeats the first bytes of another, made by new lines."""
        how = self._computed.get(value)
        if how is None:
            return self._repeat_read(value, group)
        operand, constant = self._repeat(how["x"], group), _repeated_constant(how["y"], group)
        return self._add(f"{how['op']} {_VECTOR} {operand}, {constant}")

    def _repeat_read(self, value: str, group: int) -> str:
        kind, places = f"<{_BYTES // group} x i{8 * group}>", f"<{_BYTES // group} x i32>"
        words = self._add(f"bitcast {_VECTOR} {value} to {kind}")
        every = f"shufflevector {kind} {words}, {kind} poison, {places} zeroinitializer"
        return self._add(f"bitcast {kind} {self._add(every)} to {_VECTOR}")

    def _add(self, made: str) -> str:
        name = next(self._names)
        self.lines.append(f"  {name} = {made}")
        return name


def _repeated_constant(value: str, group: int) -> str:
    if value.startswith("splat"):
        return value
    first = value.strip("<>").split(", ")[:group]
    return f"<{', '.join(first * (_BYTES // group))}>"


def _repeated(places: str) -> int | None:
    """How many of the first bytes fill all places; None if there are others, or only one."""
    found = [place.removeprefix("i32 ") for place in places.split(", ")]
    for group in _GROUPS:
        if all(place in ("poison", str(at % group)) for at, place in enumerate(found)):
            return group
    return None
