"""The signatures of generalised ufuncs: `(n,k),(k,m)->(n,m)`, and the sizes that they bind."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hybridjit.errors import ArgumentValueError, ShapeMismatch
from hybridjit.record import record

Dimension = str | int
Core = tuple[Dimension, ...]

_SIGNATURE = re.compile(r"\s*(?P<inputs>[^>]*?)\s*->\s*(?P<outputs>[^>]*?)\s*")
_OPERAND = re.compile(r"\(\s*([^()]*?)\s*\)")
_DIMENSION = re.compile(r"[^\W\d]\w*|\d+")


@record
class CoreSignature:
    """The core dimensions of the operands and results: names, and sizes that are frozen."""

    inputs: tuple[Core, ...]
    outputs: tuple[Core, ...]

    @classmethod
    def parse(cls, text: str) -> CoreSignature:
        """Read a signature, or say where it is wrong."""
        found = _SIGNATURE.fullmatch(text)
        if found is None:
            raise _refusal(text, "there must be one '->' in it")
        inputs, outputs = (_cores(found[side], text) for side in ("inputs", "outputs"))
        if not outputs:
            raise _refusal(text, "there are no results after '->'")
        return cls(inputs, outputs)

    def __str__(self) -> str:
        return "->".join(",".join(map(_core_text, cores)) for cores in (self.inputs, self.outputs))

    def bind(self, names: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> dict[str, int]:
        """The sizes of the named dimensions, from the shapes of the operands."""
        sizes: dict[str, int] = {}
        owners: dict[str, str] = {}
        for name, core, shape in zip(names, self.inputs, shapes, strict=True):
            for dimension, size in zip(core, core_of(name, core, shape), strict=True):
                known = dimension if isinstance(dimension, int) else sizes.get(dimension, size)
                if size != known:
                    owner = owners.get(str(dimension), f"the signature {self}")
                    raise ShapeMismatch(
                        f"dimension '{dimension}' is {known} in {owner}, but {size} in '{name}', "
                        f"whose shape is {shape}"
                    )
                if isinstance(dimension, str):
                    sizes[dimension] = size
                    owners.setdefault(dimension, f"'{name}'")
        return sizes

    def bind_output(
        self, position: int, shape: tuple[int, ...], sizes: dict[str, int], owner: str
    ) -> None:
        """Check the core shape of a result; it binds dimensions that no operand has."""
        core = self.outputs[position]
        if len(core) != len(shape):
            raise ShapeMismatch(
                f"{owner} has {len(shape)} core dimensions, "
                f"but the signature {self} says {_core_text(core)}"
            )
        for dimension, size in zip(core, shape, strict=True):
            known = dimension if isinstance(dimension, int) else sizes.setdefault(dimension, size)
            if known != size:
                raise ShapeMismatch(
                    f"dimension '{dimension}' is {known}, but {owner} has {size} there: "
                    f"its core shape is {shape}, the signature {self}"
                )

    def output_shape(self, position: int, sizes: dict[str, int]) -> tuple[int, ...]:
        """The core shape of a result."""
        shape: list[int] = []
        for dimension in self.outputs[position]:
            if isinstance(dimension, str) and dimension not in sizes:
                raise ArgumentValueError(
                    f"the size of dimension '{dimension}' is not known before the call",
                    help="pass out=, or return the result instead of writing to a parameter",
                )
            shape.append(dimension if isinstance(dimension, int) else sizes[dimension])
        return tuple(shape)


def core_of(name: str, core: Core, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The core part of a shape: its last dimensions."""
    if len(shape) < len(core):
        raise ShapeMismatch(
            f"'{name}' has {len(shape)} dimensions, but its core {_core_text(core)} needs "
            f"{len(core)}"
        )
    return shape[len(shape) - len(core) :]


def _cores(text: str, whole: str) -> tuple[Core, ...]:
    cores: list[Core] = []
    rest = text
    while rest:
        found = _OPERAND.match(rest)
        if found is None:
            raise _refusal(whole, f"expected a core like (n,k) at '{rest}'")
        cores.append(_core(found[1], whole))
        rest = rest[found.end() :].lstrip()
        if rest.startswith(",") and rest[1:].strip():
            rest = rest[1:].lstrip()
        elif rest:
            raise _refusal(whole, f"expected a comma and a core at '{rest}'")
    return tuple(cores)


def _core(text: str, whole: str) -> Core:
    if not text:
        return ()
    entries = [entry.strip() for entry in text.split(",")]
    for entry in entries:
        if not _DIMENSION.fullmatch(entry):
            raise _refusal(whole, f"'{entry}' is neither the name of a dimension nor a size")
    return tuple(int(entry) if entry[0].isdigit() else entry for entry in entries)


def _core_text(core: Core) -> str:
    return f"({','.join(map(str, core))})"


def _refusal(text: str, problem: str) -> ArgumentValueError:
    return ArgumentValueError(
        f"cannot read the signature '{text}': {problem}",
        help="write it as in (n,k),(k,m)->(n,m)",
    )
