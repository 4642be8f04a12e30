"""What a translation read from around its script, written down so that it can be read again.

A capture holds the objects of this process. A `Read` says how to get there from the script:

    N = 3                                       0: the name `helper` that the script sees
    def helper(x): return x * cfg.scale  -->    1: the name `cfg` that read 0, a function, sees
    @script                                     2: the attribute `scale` of read 1
    def f(a): ... helper(a[i]) + N              3: the name `N` that the script sees
"""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType, ModuleType
from typing import Any

from hybridjit.frontend.captures import (
    AttributeSource,
    Capture,
    Environment,
    NameSource,
    has_plain_attributes,
)
from hybridjit.record import record
from hybridjit.runtime.cache.entry import Json
from hybridjit.runtime.cache.value_identity import Unidentified
from hybridjit.scalars.kinds import is_sequence

# Beyond this, looking everything up again takes as long as parsing.
MAX_READS = 1000

Path = tuple[int, ...]


@record
class Read:
    """One look at something around a script: a name that a function sees, or an attribute.

    `owner` leads to that function or object: the number of the read that gave it, then positions
    in tuples and lists. It is empty for the script itself. `label` is what the source calls it.
    """

    label: str
    owner: Path
    name: str
    is_attribute: bool

    def encode(self) -> Json:
        """What `decode_read` reads."""
        return [self.label, self.owner, self.name, self.is_attribute]


def decode_read(encoded: Any) -> Read:
    """The read that `encode` wrote."""
    label, owner, name, is_attribute = encoded
    return Read(label, tuple(owner), name, is_attribute)


def find_reads(
    script: FunctionType, captures: Sequence[Capture], old: Sequence[Read] = ()
) -> tuple[list[Read], list[int]]:
    """`old` reads, and those that lead to `captures`; for each capture, the number of its read."""
    paths: dict[int, tuple[object, Path]] = {}
    _add_path(script, (), paths)
    reads = {read: number for number, read in enumerate(old)}
    numbers: list[int] = []
    for capture in captures:
        source = capture.read
        is_attribute = isinstance(source, AttributeSource)
        owner = source.owner if is_attribute else source.environment.function
        if id(owner) not in paths:
            raise Unidentified(f"the owner of '{capture.name}'")
        read = Read(capture.name, paths[id(owner)][1], source.name, is_attribute)
        numbers.append(reads.setdefault(read, len(reads)))
        _add_path(source(), (numbers[-1],), paths)
    if len(reads) > MAX_READS:
        raise Unidentified(f"{len(reads)} values around the script")
    return list(reads), numbers


def _add_path(value: object, path: Path, paths: dict[int, tuple[object, Path]]) -> None:
    """Note the way to a value, to the function of a script, and to what a sequence holds."""
    for found in (value, _function_of(value)):
        paths.setdefault(id(found), (found, path))  # kept, so that its id stays its own
    if is_sequence(value):
        for position, item in enumerate(value):
            _add_path(item, (*path, position), paths)


def _function_of(value: object) -> object:
    """What lies behind a kernel: it is inlined as its function."""
    return getattr(value, "__hybrid_function__", value)


def look_up(script: FunctionType, reads: Sequence[Read]) -> list[Capture]:
    """The captures that `reads` lead to now; raises `Unidentified` if they lead nowhere."""
    values: list[object] = []
    captures: list[Capture] = []
    for read in reads:
        source = _source(_follow(script, read.owner, values), read)
        value = source()
        values.append(value)
        captures.append(Capture.take(read.label, source, value))
    return captures


def _source(owner: object, read: Read) -> NameSource | AttributeSource:
    if read.is_attribute and (type(owner) is ModuleType or has_plain_attributes(owner)):
        return AttributeSource(owner, read.name)
    function = _function_of(owner)
    if not read.is_attribute and isinstance(function, FunctionType):
        return NameSource(Environment.of(function), read.name)
    raise Unidentified(f"'{read.label}'")


def _follow(script: FunctionType, path: Path, values: Sequence[object]) -> object:
    if not path:
        return script
    value = values[path[0]]
    for position in path[1:]:
        if not is_sequence(value) or position >= len(value):
            raise Unidentified("an item that is not there")
        value = value[position]
    return value
