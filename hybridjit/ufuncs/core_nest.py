"""One call of a gufunc: loops around its kernel, as the text of a script."""

from __future__ import annotations

from typing import Any

from hybridjit.ir.dtype import DType
from hybridjit.record import record
from hybridjit.scalars.kinds import is_array
from hybridjit.ufuncs.operands import Array
from hybridjit.ufuncs.signature import CoreSignature
from hybridjit.ufuncs.texts import definition, entries_of, loops, type_word


@record
class CoreNest:
    """The operands of a call: their core dimensions are the last ones, the others are looped over.

    `outs` are the arrays for the results, if the caller gave them. A result without core
    dimensions that the kernel writes to is an array of one element to it.
    """

    core: CoreSignature
    names: tuple[str, ...]
    inputs: tuple[Any, ...]
    loop: tuple[int, ...]
    sizes: tuple[tuple[str, int], ...]
    dtypes: tuple[DType, ...]
    outs: tuple[Array, ...] | None = None
    writes_outputs: bool = False
    is_parallel: bool = False

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What the script is called with."""
        return (*self.inputs, *(self.outs or ()))

    @property
    def has_plain_call(self) -> bool:
        """True if the script takes and gives what a call of the gufunc does."""
        known = {name for core in self.core.inputs for name in core}
        return (
            len(self.dtypes) == 1
            and all(isinstance(name, int) or name in known for name in self.core.outputs[0])
            and not self._is_stretched(0)
        )

    def _is_stretched(self, position: int) -> bool:
        return self.writes_outputs and not self.core.outputs[position]

    def stretched(self, position: int, out: Array) -> Array:
        """An array for a result as the script takes it."""
        return out[..., None] if self._is_stretched(position) else out

    def squeezed(self, position: int, result: Any) -> Any:
        """A result of the script as the caller gets it: a number if it has no dimensions."""
        return result[..., 0][()] if self._is_stretched(position) else result

    def text(self, name: str) -> str:
        """The script."""
        outs = self._out_names()
        params = [*self.names, *(outs if self.outs is not None else ())]
        return definition(name, params, self._body(outs))

    def _out_names(self) -> list[str]:
        if len(self.dtypes) == 1:
            return ["out"]
        return [f"out{position}" for position in range(len(self.dtypes))]

    def _body(self, outs: list[str]) -> list[str]:
        sizes = self._loop_sizes(outs)
        operands = [
            self._part(name, value) for name, value in zip(self.names, self.inputs, strict=True)
        ]
        call = f"core({', '.join([*operands, *self._targets(outs)])})"
        if not self.loop and self.outs is None and self._is_number():
            return [f"return {type_word(self.dtypes[0])}({call})"]
        lines = [] if self.outs is not None else self._allocations(outs, sizes)
        lines += loops(sizes, self._step(outs, call), "parallel" if self.is_parallel else "range")
        return [*lines, f"return {', '.join(outs)}"]

    def _is_number(self) -> bool:
        return len(self.dtypes) == 1 and not self.core.outputs[0] and not self.writes_outputs

    def _step(self, outs: list[str], call: str) -> list[str]:
        if self.writes_outputs:
            return [call]
        results = [f"r{position}" for position in range(len(outs))]
        stores = [
            f"{self._target(out, k)} = {result}"
            for k, (out, result) in enumerate(zip(outs, results, strict=True))
        ]
        return [f"{', '.join(results)} = {call}", *stores]

    def _target(self, out: str, position: int) -> str:
        """Where a result is stored: all of its core dimensions."""
        entries = [f"i{axis}" for axis in range(len(self.loop))]
        entries += [":"] * len(self.core.outputs[position])
        return f"{out}[{', '.join(entries) or '()'}]"

    def _targets(self, outs: list[str]) -> list[str]:
        if not self.writes_outputs:
            return []
        entries = ", ".join(f"i{axis}" for axis in range(len(self.loop)))
        return [f"{out}[{entries}]" if entries else out for out in outs]

    def _part(self, name: str, value: Any) -> str:
        """The core part of an operand."""
        if not is_array(value):
            return name
        shape = value.shape[: value.ndim - len(self.core.inputs[self.names.index(name)])]
        entries = entries_of(shape, self.loop)
        return f"{name}[{', '.join(entries)}]" if entries else name

    def _allocations(self, outs: list[str], sizes: list[str]) -> list[str]:
        core = self._core_sizes()
        lines: list[str] = []
        for position, (out, dtype) in enumerate(zip(outs, self.dtypes, strict=True)):
            entries = [*sizes, *(core[str(d)] for d in self.core.outputs[position])]
            entries += ["1"] if self._is_stretched(position) else []
            shape = "".join(f"{entry}, " for entry in entries)
            lines.append(f'{out} = output_tensor(({shape}), "{dtype}")')
        return lines

    def _core_sizes(self) -> dict[str, str]:
        """The sizes of the core dimensions: of an operand that has it, else as a number."""
        found = {name: str(size) for name, size in self.sizes}
        found |= {str(d): str(d) for core in self.core.outputs for d in core if isinstance(d, int)}
        for name, core, value in zip(self.names, self.core.inputs, self.inputs, strict=True):
            for axis, dimension in enumerate(core):
                if isinstance(dimension, str):
                    found[dimension] = f"{name}.shape[{axis + value.ndim - len(core)}]"
        return found

    def _loop_sizes(self, outs: list[str]) -> list[str]:
        """For each loop, the size of an array that runs along with it."""
        ndim = len(self.loop)
        if self.outs is not None:
            return [f"{outs[0]}.shape[{axis}]" for axis in range(ndim)]
        found = ["1"] * ndim
        for name, core, value in zip(self.names, self.core.inputs, self.inputs, strict=True):
            if is_array(value):
                count = value.ndim - len(core)
                for axis, entry in enumerate(entries_of(value.shape[:count], self.loop)):
                    if entry != "0":
                        found[axis + ndim - count] = f"{name}.shape[{axis}]"
        return found
