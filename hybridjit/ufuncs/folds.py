"""`reduce`, `accumulate` and `at`: a function of two operands, applied one element after another.

The array is seen as a box of three axes, with the one to run along in the middle:

    reduce      out[i, k] = f(... f(f(x[i, 0, k], x[i, 1, k]), x[i, 2, k]) ...)
    accumulate  out[i, j, k] = f(out[i, j - 1, k], x[i, j, k])
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from hybridjit.config import api_edge
from hybridjit.errors import ArgumentError, ArgumentValueError, ShapeMismatch, TypeMismatch
from hybridjit.ir.dtype import DType, ScalarType
from hybridjit.kept_property import kept_property
from hybridjit.lazy import lazy_module
from hybridjit.runtime.arguments import NamedCall
from hybridjit.scalars.kinds import is_python_number
from hybridjit.scalars.specs import ScalarSpec
from hybridjit.ufuncs.operands import Array, as_array, as_type, read_dtype, read_input
from hybridjit.ufuncs.outputs import check_cast, check_target
from hybridjit.ufuncs.texts import FUNCTION, converted, definition, type_word

if TYPE_CHECKING:
    from hybridjit.kernel import Kernel
    from hybridjit.ufuncs import associative
    from hybridjit.ufuncs.ufunc import Declared
else:
    associative = lazy_module("hybridjit.ufuncs.associative")

_NOT_GIVEN: Any = object()
# Types only grow, and there are few.
_MAX_STEPS = 5


class Folds:
    """The methods of a ufunc that run along an axis."""

    __name__: str
    declared: Declared

    if TYPE_CHECKING:

        @property
        def nin(self) -> int: ...
        @kept_property
        def nout(self) -> int: ...
        @property
        def scalar_kernel(self) -> Kernel[..., Any]: ...
        def result_dtypes(self, specs: Sequence[ScalarSpec]) -> tuple[DType, ...]: ...
        def kernel_of(self, text: str, *, learns: bool = False) -> Kernel[..., Any]: ...

    @api_edge
    def reduce(
        self,
        array: Any,
        /,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = _NOT_GIVEN,
    ) -> Any:
        """Combine the elements along an axis, several (a tuple) or all (None) into one.

        The elements are combined from the first to the last, and where there are several axes in
        any grouping: the function must be associative, or declared to be.
        """
        with NamedCall(self.__name__):
            source, kind = self._fold_input("reduce", array, dtype)
            axes = _read_axes(axis, source.ndim)
            start = self._start(source, axes, initial, kind)
            result = self._reduced(source, axes, kind, start)
            if keepdims:
                result = np.expand_dims(result, axes)
            return _handed_out(result, kind, out)

    @api_edge
    def accumulate(self, array: Any, /, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Combine each element along an axis with the result for the one before."""
        with NamedCall(self.__name__):
            source, kind = self._fold_input("accumulate", array, dtype)
            if not source.ndim:
                raise ArgumentError("accumulate needs an array with an axis")
            axis = normalize_axis_index(axis, source.ndim)
            result = np.empty(source.shape, kind.numpy)
            if source.size:
                text = _accumulate_text(self.__name__, kind)
                box = _box(source, (axis,))
                result = self.kernel_of(text)(box).reshape(source.shape)
            return _handed_out(result, kind, out)

    @api_edge
    def at(self, array: Any, indices: Any, b: Any = _NOT_GIVEN, /) -> None:
        """Update elements in place, those that are named several times as often."""
        with NamedCall(self.__name__):
            operands = (array,) if b is _NOT_GIVEN else (array, b)
            if self.nout != 1 or self.nin != len(operands):
                raise ArgumentError(f"at takes the {self.nin} operands of '{self.__name__}'")
            check_target(array)
            numbers = as_array(np.arange(array.size)).reshape(array.shape)
            self._update(array, as_array(numbers[indices]), operands[1:])

    def _update(self, array: Array, positions: Array, rest: Sequence[Any]) -> None:
        """Combine the elements at `positions`, numbered in C order, with the other operands."""
        # Copied: what is stored may lie in the memory that it is stored to.
        values = [
            as_array(np.broadcast_to(_like(array, value), positions.shape)).copy().reshape(-1)
            for value in rest
        ]
        (computed,) = self.result_dtypes([_element_of(operand) for operand in (array, *values)])
        check_cast(computed, array.dtype, "same_kind")
        flat = as_array(np.ascontiguousarray(array)).reshape(-1)
        text = _at_text(self.__name__, computed, read_dtype(array.dtype), len(rest))
        self.kernel_of(text)(flat, positions.reshape(-1), *values)
        if not np.may_share_memory(flat, array):
            array[...] = flat.reshape(array.shape)

    # -- what is folded, and from what on ------------------------------------------------------

    def _fold_input(self, method: str, array: Any, dtype: Any) -> tuple[Array, DType]:
        """The array, and the type of what is carried along."""
        if self.nin != 2 or self.nout != 1:
            raise ArgumentError(f"{method} is for functions of two operands with one result")
        source = np.asarray(read_input("array", array))
        if dtype is not None:
            kind = read_dtype(dtype)
            source = np.asarray(as_type("array", source, kind.numpy, "same_kind"))
        return source, self._carried(read_dtype(source.dtype))

    def _carried(self, element: DType) -> DType:
        """The type that combining with elements does not change: int32 + int32 is int32."""
        kind = found = element
        for _ in range(_MAX_STEPS):
            specs = [ScalarSpec(ScalarType(kind)), ScalarSpec(ScalarType(element))]
            (found,) = self.result_dtypes(specs)
            if found is kind:
                return kind
            kind = found
        raise TypeMismatch(
            f"'{self.__name__}' of {kind} and {element} is {found}: its type never settles"
        )

    def _start(self, source: Array, axes: tuple[int, ...], initial: Any, kind: DType) -> Any:
        """The value to start from, or None for the first element."""
        identity = self._identity(kind)
        if initial is not _NOT_GIVEN and initial is not None:
            return kind.numpy.type(initial)
        if math.prod(source.shape[axis] for axis in axes):
            return None
        if initial is None or identity is None:
            raise ArgumentValueError(
                f"zero-size array to reduction operation '{self.__name__}', which has no identity",
                help="pass initial=",
            )
        return kind.numpy.type(identity)

    def _identity(self, kind: DType) -> Any:
        """The identity, if there is one; an error unless elements may be grouped at will."""
        if self.declared.identity is not None or self.declared.associative:
            return self.declared.identity
        func = self.scalar_kernel.prim_func(*[ScalarSpec(ScalarType(kind))] * 2)
        if associative.is_reduction(func):
            return associative.identity_of(func)
        raise ArgumentError(
            f"'{self.__name__}' is not known to be associative, and reduce groups at will",
            help="declare it: hybrid.vectorize(f, identity=0), or associative=True if it has "
            "none; or use accumulate, whose order is fixed",
        )

    def _reduced(self, source: Array, axes: tuple[int, ...], kind: DType, start: Any) -> Array:
        kept = tuple(size for axis, size in enumerate(source.shape) if axis not in axes)
        if not math.prod(kept):
            return np.empty(kept, kind.numpy)
        box = _box(source, axes)
        is_row = box.shape[2] == 1
        text = _reduce_text(self.__name__, kind, is_row=is_row, has_start=start is not None)
        operands = (box[:, :, 0] if is_row else box,) + (() if start is None else (start,))
        return self.kernel_of(text)(*operands).reshape(kept)


def _like(array: Array, value: Any) -> Array:
    """An operand as an array; a Python number takes the type of the array if it can."""
    if not is_python_number(value):
        return as_array(value)
    return as_array(value, np.result_type(array.dtype, value))


def _element_of(array: Array) -> ScalarSpec:
    return ScalarSpec(ScalarType(read_dtype(array.dtype)))


def _read_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    if ndim == 0 and axis in (0, -1):
        return ()  # NumPy lets it pass
    return tuple(sorted(normalize_axis_tuple(axis, ndim)))


def _box(source: Array, axes: tuple[int, ...]) -> Array:
    """The array with the axes before, of, and after a fold as one each; copied where needed."""
    first = axes[0] if axes else source.ndim
    if axes != tuple(range(first, first + len(axes))):
        kept = [axis for axis in range(source.ndim) if axis not in axes]
        source = source.transpose((*kept, *axes))
        first = len(kept)
    before, along = source.shape[:first], source.shape[first : first + len(axes)]
    after = source.shape[first + len(axes) :]
    return source.reshape(math.prod(before), math.prod(along), math.prod(after))


def _handed_out(result: Array, kind: DType, out: Any) -> Any:
    """The result, a number if it has no dimensions; or the array that it was stored in."""
    if isinstance(out, tuple):
        (out,) = cast("tuple[Any]", out)
    if out is None:
        return result if result.ndim else result[()]
    check_target(out)
    if out.shape != result.shape:
        raise ShapeMismatch(f"out= has the shape {out.shape}, and the result {result.shape}")
    check_cast(kind, out.dtype, "same_kind")
    out[...] = result
    return out


def _reduce_text(name: str, kind: DType, *, is_row: bool, has_start: bool) -> str:
    params = ["x", "start"] if has_start else ["x"]
    first = "0" if has_start else "1"
    word = type_word(kind)
    if is_row:
        begin = "start" if has_start else "x[i, 0]"
        return definition(
            name,
            params,
            [
                f'out = output_tensor((x.shape[0],), "{kind}")',
                "for i in range(x.shape[0]):",
                f"    r: {word} = {word}({begin})",
                f"    for j in range({first}, x.shape[1]):",
                f"        r = {FUNCTION}(r, x[i, j])",
                "    out[i] = r",
                "return out",
            ],
        )
    begin = "start" if has_start else "x[i, 0, k]"
    return definition(
        name,
        params,
        [
            f'out = output_tensor((x.shape[0], x.shape[2]), "{kind}")',
            "for i in range(x.shape[0]):",
            "    for k in range(x.shape[2]):",
            f"        out[i, k] = {word}({begin})",
            f"    for j in range({first}, x.shape[1]):",
            "        for k in range(x.shape[2]):",
            f"            out[i, k] = {FUNCTION}(out[i, k], x[i, j, k])",
            "return out",
        ],
    )


def _accumulate_text(name: str, kind: DType) -> str:
    word = type_word(kind)
    return definition(
        name,
        ["x"],
        [
            f'out = output_tensor((x.shape[0], x.shape[1], x.shape[2]), "{kind}")',
            "for i in range(x.shape[0]):",
            "    for k in range(x.shape[2]):",
            f"        out[i, 0, k] = {word}(x[i, 0, k])",
            "    for j in range(1, x.shape[1]):",
            "        for k in range(x.shape[2]):",
            f"            out[i, j, k] = {FUNCTION}(out[i, j - 1, k], x[i, j, k])",
            "return out",
        ],
    )


def _at_text(name: str, computed: DType, stored: DType, operands: int) -> str:
    params = ["out", "positions", *(f"x{k}" for k in range(operands))]
    values = "".join(f", x{k}[i0]" for k in range(operands))
    return definition(
        name,
        params,
        [
            "for i0 in range(positions.shape[0]):",
            "    p = positions[i0]",
            f"    r = {FUNCTION}(out[p]{values})",
            f"    out[p] = {converted('r', computed, stored)}",
        ],
    )
