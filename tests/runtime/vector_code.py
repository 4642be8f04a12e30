"""Which instructions of assembly work on several numbers at once, by processor."""

from __future__ import annotations

import re

from hybridjit.processor import current_target
from hybridjit.record import record


@record
class Instructions:
    """Patterns of lines of assembly.

    `packed` works on several numbers at once, `jump` goes to another place of the function. `wide`
    is arithmetic on vectors that LLVM does not make of single numbers by itself, as it does in 128
    bits, where it may pair operations of one iteration; None where no registers are wider.
    """

    packed: re.Pattern[str]
    wide: re.Pattern[str] | None
    jump: re.Pattern[str]


X86 = Instructions(
    # With wide registers or by its name.
    packed=re.compile(
        r"\t(v\S+.*%[yz]mm|v?\w+p[sd]\b|v?p[a-z]+[bwdq]\d*\b.*%xmm|vpternlog|vpbroadcast)"
    ),
    wide=re.compile(
        r"\tv(f?n?m(add|sub)\d+|add|sub|mul|div|min|max|sqrt|padd|psub|pmull)\w*\b.*%[yz]mm"
    ),
    jump=re.compile(r"\tj\w+\t\.LBB"),
)
ARM = Instructions(
    # Constants are put into whole registers for single numbers as well; memset takes whole ones.
    packed=re.compile(
        r"\t(?!movi|mvni|fmov)\w+\t(\{ )?(v\d+\.(16b|8b|8h|4h|4s|2s|2d)|z\d+\.[bhsd]|q\d+)"
        r"|\tbl?\tmemset"
    ),
    wide=None,
    jump=re.compile(r"\t(b\.\w+|cbn?z|tbn?z)\t.*\.LBB"),
)


def instructions() -> Instructions:
    """Those of the processor that code is made for."""
    return X86 if current_target().triple.startswith("x86_64") else ARM
