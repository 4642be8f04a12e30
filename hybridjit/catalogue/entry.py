"""A page of the catalogue."""

from __future__ import annotations

from hybridjit.record import record

# What examples may use without saying so.
PRELUDE = """\
import numpy as np

import hybridjit as hj
from hybridjit import hybrid, te, tir

"""


@record
class Entry:
    """What a code means, a program that is wrong, and one that is right.

    `says` are patterns, one of which is found in each message of the family; `kind` names the error
    class whose messages belong here if they belong nowhere else.
    """

    code: str
    title: str
    text: str
    wrong: str
    right: str
    says: tuple[str, ...] = ()
    kind: str = ""

    @property
    def page(self) -> str:
        """The page as text."""
        parts = [f"{self.code}: {self.title}", self.text.strip()]
        parts += ["Wrong:", _indented(self.wrong), "Right:", _indented(self.right)]
        return "\n\n".join(parts)


def _indented(code: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in code.strip().splitlines())
