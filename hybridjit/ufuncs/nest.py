"""One elementwise call: a nest over the elements of its operands, as the text of a script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from hybridjit.ir.dtype import DType, dtype_named
from hybridjit.record import record
from hybridjit.scalars.kinds import is_array
from hybridjit.ufuncs.operands import (
    USUAL_CASTING,
    Array,
    all_contiguous,
    all_fortran,
    can_cast,
)
from hybridjit.ufuncs.outputs import SameAs
from hybridjit.ufuncs.texts import (
    FUNCTION,
    converted,
    definition,
    entries_of,
    indented,
    index,
    loops,
    type_word,
)

# Rows shorter than this are cheaper as one long row (measured: loops over rows of 3 elements take
# 4 times as long, over rows of 32 a tenth more).
_SHORT_ROW = 64


@record
class Names:
    """What a nest calls itself and its operands."""

    nest: str
    inputs: tuple[str, ...]


@record
class Nest:
    """The operands of an elementwise call.

    `computed` are the types in which the function gives its results, `wanted` those that the caller
    has them in, and `stored` those of the arrays that hold them: new ones, or `outs`. `typed` are
    the types of Python numbers that are converted.
    """

    inputs: tuple[Any, ...]
    shape: tuple[int, ...]
    computed: tuple[DType, ...]
    wanted: tuple[DType, ...]
    stored: tuple[DType, ...]
    outs: tuple[Array, ...] | None = None
    where: Array | None = None
    typed: tuple[DType | None, ...] = ()
    is_parallel: bool = False

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What the script of the nest is called with."""
        inputs = tuple(value for value in self.inputs if not isinstance(value, SameAs))
        where = () if self.where is None else (self.where,)
        return (*inputs, *(self.outs or ()), *where)

    @property
    def has_plain_call(self) -> bool:
        """True if the script does what a call without keywords does with the same arguments:
        operands, and at most one output, which can hold the results.
        """
        in_place = any(isinstance(value, SameAs) for value in self.inputs)
        is_plain = self.where is None and not in_place and len(self.outs or ()) <= 1
        return is_plain and self.wanted == self.computed and self._holds_results()

    def _holds_results(self) -> bool:
        """True if the results may be stored without being asked."""
        return all(
            can_cast(wanted.numpy, stored.numpy, USUAL_CASTING)
            for wanted, stored in zip(self.wanted, self.stored, strict=True)
        )

    @property
    def arrays(self) -> list[Array]:
        """All arrays that take part."""
        return [value for value in self.arguments if is_array(value)]

    def mapped(self, change: Callable[[Array], Any], shape: tuple[int, ...]) -> Nest:
        """The nest over other views of its arrays."""
        return replace(
            self,
            inputs=tuple(change(value) if is_array(value) else value for value in self.inputs),
            outs=None if self.outs is None else tuple(change(out) for out in self.outs),
            where=None if self.where is None else change(self.where),
            shape=shape,
        )

    def simplified(self) -> Nest:
        """The same elements in a nest that runs along memory: transposed, or as one row."""
        if len(self.shape) < 2:
            return self
        arrays = self.arrays
        if all_fortran(arrays, self.shape):
            return self.mapped(lambda array: array.T, self.shape[::-1]).simplified()
        if self.shape[-1] < _SHORT_ROW and all_contiguous(arrays, self.shape):
            return self.mapped(lambda array: array.reshape(-1), (arrays[0].size,))
        return self

    def restored(self, result: Array, whole: Nest) -> Array:
        """A result of a simplified nest with the shape that it has in the `whole` one."""
        if self is whole:
            return result
        if all_fortran(whole.arrays, whole.shape):
            return result.reshape(whole.shape[::-1]).T
        return result.reshape(whole.shape)

    # -- text ----------------------------------------------------------------------------------

    def text(self, names: Names) -> str:
        """The script."""
        outs = self._out_names()
        params = [
            name
            for name, value in zip(names.inputs, self.inputs, strict=True)
            if not isinstance(value, SameAs)
        ]
        params += outs if self.outs is not None else []
        params += [] if self.where is None else ["where"]
        return definition(names.nest, params, self._body(names.inputs, outs))

    def _out_names(self) -> list[str]:
        if len(self.stored) == 1:
            return ["out"]
        return [f"out{position}" for position in range(len(self.stored))]

    def _body(self, inputs: Sequence[str], outs: Sequence[str]) -> list[str]:
        if not self.shape and self.outs is None:
            return [*self._compute(inputs), f"return {', '.join(self._results())}"]
        sizes = self._sizes(inputs, outs)
        lines: list[str] = []
        if self.outs is None:
            shape = f"({''.join(f'{size}, ' for size in sizes)})"
            lines = [
                f'{out} = output_tensor({shape}, "{dtype}")'
                for out, dtype in zip(outs, self.stored, strict=True)
            ]
        kind = "parallel" if self.is_parallel else "range"
        lines += loops(sizes, self._element(inputs, outs), kind)
        return [*lines, f"return {', '.join(outs)}"]

    def _sizes(self, inputs: Sequence[str], outs: Sequence[str]) -> list[str]:
        """For each loop, the size of an operand that runs along with it."""
        ndim = len(self.shape)
        if self.outs is not None:
            return [f"{outs[0]}.shape[{axis}]" for axis in range(ndim)]
        found = ["1"] * ndim
        for name, value in reversed(list(zip(inputs, self.inputs, strict=True))):
            if is_array(value):
                shift = ndim - value.ndim
                for axis, entry in enumerate(entries_of(value.shape, self.shape)):
                    if entry != "0":
                        found[axis + shift] = f"{name}.shape[{axis}]"
        return found

    def _element(self, inputs: Sequence[str], outs: Sequence[str]) -> list[str]:
        """What is done for one element: all is read before anything is stored."""
        place = index([f"i{axis}" for axis in range(len(self.shape))])
        stores = [
            f"{out}{place} = {result}" for out, result in zip(outs, self._results(), strict=True)
        ]
        lines = [*self._compute(inputs), *stores]
        if self.where is None:
            return lines
        return [
            f"if where{index(entries_of(self.where.shape, self.shape))}:",
            *indented(lines),
        ]

    def _compute(self, inputs: Sequence[str]) -> list[str]:
        operands = [self._operand(k, name) for k, name in enumerate(inputs)]
        names = ", ".join(f"r{position}" for position in range(len(self.computed)))
        return [f"{names} = {FUNCTION}({', '.join(operands)})"]

    def _operand(self, position: int, name: str) -> str:
        value = self.inputs[position]
        if isinstance(value, SameAs):
            place = index([f"i{axis}" for axis in range(len(self.shape))])
            return f"{self._out_names()[value.position]}{place}"
        if is_array(value):
            return f"{name}{index(entries_of(value.shape, self.shape))}"
        typed = self.typed[position]
        return name if typed is None else f"{type_word(typed)}({name})"

    def _results(self) -> list[str]:
        return [
            self._result(f"r{position}", types)
            for position, types in enumerate(
                zip(self.computed, self.wanted, self.stored, strict=True)
            )
        ]

    def _result(self, text: str, types: tuple[DType, DType, DType]) -> str:
        computed, wanted, stored = types
        text = converted(text, computed, wanted)
        return text if stored is wanted else converted(text, wanted, stored)


def default_type(value: Any) -> DType:
    """The type that NumPy gives a Python number."""
    names = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
    return dtype_named(names[type(value)])
