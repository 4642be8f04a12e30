"""Which lines the code in an object file came from: the line table of DWARF 4.

The table is a program for a small machine, whose registers are an address and a line; some of its
instructions add a row of the two to the table.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator

from hybridjit.codegen.elf import Section, sections_by_name
from hybridjit.record import record

_RELOCATION = struct.Struct("<QQq")
_UNIT = struct.Struct("<IHIBBBbBB")
_TABLE, _RELOCATIONS = b".debug_line", b".rela.debug_line"
_VERSION = 4
_END_SEQUENCE, _SET_ADDRESS = 1, 2
_COPY, _ADVANCE_PC, _ADVANCE_LINE, _SET_FILE = 1, 2, 3, 4
_CONST_ADD_PC, _FIXED_ADVANCE_PC = 8, 9


@record
class Row:
    """From here on, code is of this line; `offset` is that in the section of the code."""

    offset: int
    file: str
    line: int


def find_rows(image: bytes) -> list[Row]:
    """The rows of the table, in the order of addresses; none if there is no table to be read."""
    sections = sections_by_name(image)
    if _TABLE not in sections:
        return []
    table = sections[_TABLE]
    reader = _Reader(_bytes(image, table), _addends(image, sections.get(_RELOCATIONS)))
    rows: dict[int, Row] = {}
    while reader.place < table.size:
        rows.update((row.offset, row) for row in _read_unit(reader))
    return [rows[offset] for offset in sorted(rows)]


def _bytes(image: bytes, section: Section) -> bytes:
    return image[section.offset : section.offset + section.size]


def _addends(image: bytes, relocations: Section | None) -> dict[int, int]:
    """What is to be added, at places of the table, to the address of the code."""
    if relocations is None:
        return {}
    entries = _RELOCATION.iter_unpack(_bytes(image, relocations))
    return {offset: addend for offset, _, addend in entries}


class _Reader:
    def __init__(self, data: bytes, addends: dict[int, int]) -> None:
        self.data, self.addends, self.place = data, addends, 0

    def byte(self) -> int:
        self.place += 1
        return self.data[self.place - 1]

    def number(self) -> int:
        """An unsigned number, seven bits in each byte."""
        result = shift = 0
        while True:
            byte = self.byte()
            result |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return result

    def signed(self) -> int:
        start = self.place
        number = self.number()
        bits = 7 * (self.place - start)
        return number - (1 << bits) if number >> (bits - 1) else number

    def text(self) -> str:
        end = self.data.index(b"\0", self.place)
        found, self.place = self.data[self.place : end], end + 1
        return found.decode(errors="replace")


def _read_unit(reader: _Reader) -> Iterator[Row]:
    start = reader.place
    length, version, header, least, _, _, base, spread, first = _UNIT.unpack_from(
        reader.data, start
    )
    end = start + 4 + length
    if version == _VERSION:
        reader.place = start + _UNIT.size
        lengths = [reader.byte() for _ in range(first - 1)]
        files = _read_files(reader)
        reader.place = start + 10 + header
        machine = _Machine(reader, files, lengths, (least, base, spread))
        while reader.place < end:
            yield from machine.step()
    reader.place = end


def _read_files(reader: _Reader) -> list[str]:
    folders = [""]
    while folder := reader.text():
        folders.append(folder)
    files = [""]
    while name := reader.text():
        place = reader.number()
        reader.number()
        reader.number()
        files.append(os.path.join(folders[place], name))
    return files


class _Machine:
    """The registers, and what the instructions do to them."""

    def __init__(
        self, reader: _Reader, files: list[str], lengths: list[int], steps: tuple[int, int, int]
    ) -> None:
        self._reader, self._files, self._lengths = reader, files, lengths
        self._least, self._base, self._spread = steps
        self._reset()

    def _reset(self) -> None:
        self._offset, self._file, self._line = 0, 1, 1

    def _row(self) -> Row:
        return Row(self._offset, self._files[self._file], self._line)

    def step(self) -> Iterator[Row]:
        """Take one instruction."""
        code = self._reader.byte()
        if code > len(self._lengths):
            self._special(code)
            yield self._row()
        elif code == 0:
            self._extended()
        elif code == _COPY:
            yield self._row()
        else:
            self._standard(code)

    def _special(self, code: int) -> None:
        advance, line = divmod(code - len(self._lengths) - 1, self._spread)
        self._offset += advance * self._least
        self._line += self._base + line

    def _extended(self) -> None:
        reader = self._reader
        length = reader.number()
        end = reader.place + length
        code = reader.byte()
        if code == _SET_ADDRESS:
            self._offset = reader.addends.get(reader.place, 0)
        elif code == _END_SEQUENCE:
            self._reset()
        reader.place = end

    def _standard(self, code: int) -> None:
        reader = self._reader
        if code == _ADVANCE_PC:
            self._offset += reader.number() * self._least
        elif code == _ADVANCE_LINE:
            self._line += reader.signed()
        elif code == _SET_FILE:
            self._file = reader.number()
        elif code == _CONST_ADD_PC:
            self._offset += (255 - len(self._lengths) - 1) // self._spread * self._least
        elif code == _FIXED_ADVANCE_PC:
            (advance,) = struct.unpack_from("<H", reader.data, reader.place)
            reader.place += 2
            self._offset += advance
        else:
            for _ in range(self._lengths[code - 1]):
                reader.number()
