"""The names of the printed form: unique in a function, and clear of the words of the language."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Iterable

from hybridjit.ir.dtype import DTYPES, WEAK_TYPES
from hybridjit.ir.expr import Buffer, Var
from hybridjit.ir.extern import Extern
from hybridjit.ir.intrinsics import INTRINSICS
from hybridjit.ir.raisable import RAISABLE

# A typed bool scalar: the word "bool" means Python's there, as "int" and "float" do.
TYPED_BOOL = "bool_"
# These intrinsics print as attributes, so their names stay free for variables.
ATTRIBUTES = {"real": ".real", "imag": ".imag", "conj": ".conjugate()"}

_LOOPS = "range serial parallel vectorize unroll const_range grid scan bind"
_ARRAYS = "allocate output_tensor constant_array part"
_BLOCKS = "block init spatial reduce"
_FUNCTIONS = "likely min max abs round len ceil_div select pow print inf nan"

RESERVED: frozenset[str] = frozenset(
    (
        *" ".join((_LOOPS, _ARRAYS, _BLOCKS, _FUNCTIONS)).split(),
        *keyword.kwlist,
        *DTYPES,
        *WEAK_TYPES,
        TYPED_BOOL,
        *(name for name in INTRINSICS if name not in ATTRIBUTES),
        *RAISABLE,
    )
)

Named = Var | Buffer | Extern


class Names:
    """Gives each variable, buffer and external function of one printed text a name of its own."""

    def __init__(self) -> None:
        self._taken = set(RESERVED)
        self._texts: dict[Named, str] = {}
        self._suffixes: dict[str, int] = {}

    def bind(self, item: Named) -> str:
        """Choose the name of `item`: its own, with a suffix where that is taken."""
        known = self._texts.get(item)
        return known if known is not None else self.show_as(item, self._unique(item.name))

    def bind_all(self, items: Iterable[Named]) -> None:
        """Choose the names of `items`, the first one first."""
        for item in items:
            self.bind(item)

    def show_as(self, item: Named, text: str) -> str:
        """Print `item` as `text`, whatever its name."""
        self._texts[item] = text
        return text

    def text(self, item: Named) -> str:
        """What `item` prints as; one that nothing bound prints by the name it has."""
        return self._texts.get(item, item.name)

    def _unique(self, name: str) -> str:
        base = text = make_identifier(name)
        suffix = self._suffixes.get(base, 0)
        while text in self._taken:
            suffix += 1
            text = f"{base}_{suffix}"
        self._suffixes[base] = suffix
        self._taken.add(text)
        return text


def make_identifier(name: str) -> str:
    """A Python identifier close to `name`, such as "c_local" for "c.local"."""
    # Python reads identifiers in NFKC: two spellings of one name must not pass for two names.
    text = name if name.isascii() else unicodedata.normalize("NFKC", name)
    if text.isidentifier():
        return text
    text = re.sub(r"[^0-9A-Za-z_]", "_", text)
    return text if text.isidentifier() else f"_{text}"
