"""Object files in the format of Linux, as far as profilers and debuggers need it."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from hybridjit.record import record

_MAGIC = b"\x7fELF\x02\x01"  # 64 bits, little endian
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMBOL_TABLE, _FUNCTION, _OBJECT = 2, 2, 1
_ADDRESS_OF_SECTION = 16  # where it stands in a section header


@record
class Section:
    """A section: where its header and its bytes are, and what belongs to it."""

    header: int
    kind: int
    offset: int
    size: int
    link: int


@record
class Symbol:
    """A function or a variable: the number of its section, its place there, and its size.

    In a library, the place is that from its begin.
    """

    name: str
    section: int
    offset: int
    size: int


def is_elf(image: bytes) -> bool:
    """True for files that the functions here can read."""
    return image[: len(_MAGIC)] == _MAGIC


def find_sections(image: bytes) -> list[Section]:
    """The sections, in their order."""
    header = _HEADER.unpack_from(image)
    start, size, count = header[6], header[11], header[12]
    found: list[Section] = []
    for place in range(start, start + size * count, size):
        _, kind, _, _, offset, length, link, *_ = _SECTION.unpack_from(image, place)
        found.append(Section(place, kind, offset, length, link))
    return found


def sections_by_name(image: bytes) -> dict[bytes, Section]:
    """The sections, found by their names."""
    sections = find_sections(image)
    strings = sections[int(_HEADER.unpack_from(image)[13])].offset
    found: dict[bytes, Section] = {}
    for section in sections:
        start = strings + int(_SECTION.unpack_from(image, section.header)[0])
        found[image[start : image.index(b"\0", start)]] = section
    return found


def find_symbols(image: bytes, names: frozenset[bytes] | None = None) -> Iterator[Symbol]:
    """The functions and variables, or those of some names."""
    sections = find_sections(image)
    for table in sections:
        if table.kind != _SYMBOL_TABLE:
            continue
        strings = sections[table.link].offset
        symbols = image[table.offset : table.offset + table.size]
        wanted = None if names is None else set(_places(image, sections[table.link], names))
        for place, info, _, section, offset, size in _SYMBOL.iter_unpack(symbols):
            if info & 15 not in (_FUNCTION, _OBJECT) or section == 0:
                continue
            if wanted is None or place in wanted:
                name = image[strings + place : image.index(b"\0", strings + place)]
                yield Symbol(name.decode(), section, offset, size)


def _places(image: bytes, strings: Section, names: frozenset[bytes]) -> Iterator[int]:
    """Where names stand in a table of strings, so that no other ones are read."""
    end = strings.offset + strings.size
    for name in names:
        found = image.find(b"\0" + name + b"\0", strings.offset, end)
        if found >= 0:
            yield found + 1 - strings.offset


def with_address(image: bytes, section: int, address: int) -> bytes:
    """The file, with the address that a section was loaded to."""
    place = find_sections(image)[section].header + _ADDRESS_OF_SECTION
    return image[:place] + struct.pack("<Q", address) + image[place + 8 :]
