"""Which line of the script each line of LLVM or assembly came from: debug lines, read and removed.

%sum = fadd double %a, %b, !dbg !9      -->     ("%sum = fadd double %a, %b", 12)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hybridjit.viewing.stages import Line

_PLACE = re.compile(r"^!(\d+) = !DILocation\(line: (\d+), (?:column: \d+, )?scope: !(\d+)")
_OTHER_FILE = re.compile(r"^!(\d+) = (?:distinct )?!DILexicalBlockFile\(")
_ABOUT_LINES = re.compile(
    r"^!\d+ = (distinct )?!(DI\w+\(|\{(null)?\}|\{i32 \d+, !\"(Dwarf|Debug Info) Version)"
    r"|^!llvm\.(dbg\.cu|module\.flags)"
)
_MARK = re.compile(r",? !dbg !(\d+)")
_LOC = re.compile(r"^\t\.loc\t(\d+) (\d+) ")
_NUMBERED_FILE = re.compile(r"^\t\.file\t(\d+) .*\"([^\"]*)\"$")
_DEBUG_SECTION = re.compile(r"^\t\.section\t\.debug_")
# What stands in assembly for debuggers only.
_FOR_DEBUGGERS = re.compile(
    r"^\t\.cfi_|^\.L(tmp|func_begin|func_end)\d+:$|^\t\.loc\t|^\t\.file\t\d"
)


def read_llvm(text: str) -> tuple[Line, ...]:
    """LLVM with debug lines, as lines without them."""
    lines = text.splitlines()
    elsewhere = {found[1] for line in lines if (found := _OTHER_FILE.match(line))}
    places = {
        found[1]: int(found[2])
        for line in lines
        if (found := _PLACE.match(line)) and found[3] not in elsewhere
    }
    return tuple(_read_llvm_line(line, places) for line in lines if not _ABOUT_LINES.match(line))


def _read_llvm_line(line: str, places: dict[str, int]) -> Line:
    found = _MARK.search(line)
    if found is None or line.startswith("define "):
        return _MARK.sub("", line), None
    return _MARK.sub("", line), places.get(found[1]) or None


def read_assembly(text: str, script: str = "") -> tuple[Line, ...]:
    """Assembly with debug lines, as lines without them; `script` names the file that they are of,
    if several have lines in it."""
    return tuple(_read_assembly(text.splitlines(), script))


def _read_assembly(lines: list[str], script: str) -> Iterator[Line]:
    numbered = [found for line in lines if (found := _NUMBERED_FILE.match(line))]
    files = [found[1] for found in numbered if found[2].endswith(script)]
    here: int | None = None
    for line in lines:
        if _DEBUG_SECTION.match(line):
            return
        found = _LOC.match(line)
        if found is not None:
            here = (int(found[2]) or None) if found[1] in files[:1] else None
        if _FOR_DEBUGGERS.match(line):
            continue
        is_instruction = line.startswith("\t") and not line.startswith("\t.")
        here = None if line.startswith("\t.section") or line.startswith("\t.text") else here
        yield line, here if is_instruction else None
