"""Write the table with which the dispatcher recognises and runs one piece of native code.

What has no place in a table (see `Unsupported`) is no error: such calls go through Python.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from hybridjit.arith.simplify import simplify
from hybridjit.codegen.dispatcher.layout import (
    MAX_INPUTS,
    MAX_OUTPUTS,
    MAX_RESULTS,
    MAX_SLOTS,
    MAX_WORDS,
    Aliasing,
    ExtentKind,
    Input,
    Output,
    Parameter,
    Result,
    ResultKind,
    Returns,
    Table,
)
from hybridjit.codegen.dispatcher.run import LARGE_SIZE
from hybridjit.codegen.sites import ADAPTER
from hybridjit.codegen.sites import MAX_WORDS as ERROR_WORDS
from hybridjit.config import api_edge
from hybridjit.interp.run import result_maker
from hybridjit.ir.dtype import BOOL, COMPLEX128, FLOAT64, INT64
from hybridjit.ir.expr import Buffer, Const, Expr, Var
from hybridjit.ir.signature import ArrayResult, ScalarParam, ScalarResult
from hybridjit.ir.signature import Result as AnyResult
from hybridjit.record import record
from hybridjit.runtime.dispatch.call_shape import CallShape
from hybridjit.runtime.dispatch.captures import capture_records, guard_records
from hybridjit.runtime.dispatch.inputs import array_record, constant_record, scalar_record
from hybridjit.runtime.dispatch.memory import Memory, Unsupported, write
from hybridjit.runtime.dispatch.programs import program_of
from hybridjit.runtime.native import NativeKernel
from hybridjit.scalars.specs import (
    ArraySpec,
    ConstantSpec,
    GeneratorSpec,
    ScalarSpec,
    Spec,
    TupleSpec,
)

# Giving up the GIL and taking it back costs 40 to 60 ns (measured); a simple iteration 0.2 to 1.
RELEASE_AT = 4096


class _OneField(NamedTuple):
    field: Any


# How a named tuple reads a field.
_FIELD: type = vars(_OneField)["field"].__class__
_WEAK_RESULTS = {
    BOOL: ResultKind.BOOL,
    INT64: ResultKind.INT,
    FLOAT64: ResultKind.FLOAT,
    COMPLEX128: ResultKind.COMPLEX,
}


@record(eq=False, frozen=False)
class TableOwner:
    """A table, and everything it points to."""

    address: int
    table: ctypes.Array[ctypes.c_int64]
    memory: Memory
    native: NativeKernel
    is_exact: bool

    def follow(self, address: int) -> None:
        """Let the dispatcher try the table at `address` after this one; 0 is the end."""
        self.table[Table.NEXT] = address

    @property
    def hits(self) -> int:
        """How many calls it has served."""
        return self.table[Table.HITS]


def make_table(call: CallShape) -> TableOwner | None:
    """The table for calls like `call`, or None if they must go through Python."""
    try:
        return _Writer(call).write()
    except Unsupported:
        return None


class _Writer:
    def __init__(self, call: CallShape) -> None:
        self.call = call
        self.memory = Memory()
        self.words = _number_words(call)
        self.layouts = dict(zip(call.func.buffers, call.layout.arrays, strict=True))
        self.small = [call.func.params[number].name for number in call.layout.small]
        # Flat parameters, and for each the Python parameter and the item that it comes from.
        self.inputs: list[list[int]] = []
        self.places: dict[Buffer, tuple[int, int]] = {}
        self.arrays: list[tuple[int, Buffer]] = []
        self.bound: dict[Var, int] = {}

    def write(self) -> TableOwner:
        call = self.call
        self._write_inputs()
        table = [0] * len(Table)
        write(table, Table.ENTRY, call.native.library.addresses[ADAPTER])
        write(table, Table.FAIL, self.memory.keep(functools.partial(_fail, call.native)))
        self._put_parameters(table)
        self._put_inputs(table)
        self._put_outputs(table)
        self._put_results(table)
        self._put_work(table)
        self._put_captures(table)
        _check_limits(table, self.words.count)
        return self._own(table)

    def _own(self, table: list[int]) -> TableOwner:
        array = (ctypes.c_int64 * len(table))(*table)
        is_exact = not self.call.func.dimensions
        address = ctypes.addressof(array)
        owner = TableOwner(address, array, self.memory, self.call.native, is_exact)
        array[Table.OWNER] = id(owner)
        return owner

    def _put(self, table: list[int], count: int, place: int, records: list[list[int]]) -> None:
        write(table, count, len(records))
        write(table, place, self.memory.put(list(itertools.chain.from_iterable(records))))

    # -- parameters ----------------------------------------------------------------------------

    def _put_parameters(self, table: list[int]) -> None:
        records: list[list[int]] = []
        positional = 0
        for name, parameter in self.call.signature.parameters.items():
            if parameter.kind is parameter.VAR_POSITIONAL:
                raise Unsupported
            record = [0] * len(Parameter)
            if parameter.kind is not parameter.POSITIONAL_ONLY:
                write(record, Parameter.NAME, self.memory.keep(sys.intern(name)))
            if parameter.default is not parameter.empty:
                write(record, Parameter.DEFAULT, self.memory.keep(parameter.default))
            positional += parameter.kind is not parameter.KEYWORD_ONLY
            records.append(record)
        self._put(table, Table.SLOTS, Table.PARAMETERS, records)
        write(table, Table.POSITIONAL, positional)

    def _write_inputs(self) -> None:
        params = iter(self.call.func.params)
        for slot, (spec, value) in enumerate(zip(self.call.specs, self.call.values, strict=True)):
            if not isinstance(spec, TupleSpec):
                self._write_input(slot, (-1, 0), spec, value, params)
                continue
            if not _holds_its_items(value, spec) or not spec.items:
                raise Unsupported
            elements = cast("tuple[Any, ...]", value)
            kind = self.memory.keep(type(elements))  # of a named tuple, its class
            for item, (inner, element) in enumerate(zip(spec.items, elements, strict=True)):
                self._write_input(slot, (item, len(elements)), inner, element, params)
                write(self.inputs[-1], Input.ITEMS_TYPE, kind)

    def _write_input(
        self, slot: int, item: tuple[int, int], spec: Spec, value: Any, params: Any
    ) -> None:
        match spec:
            case ConstantSpec(parts=parts) if parts:
                raise Unsupported  # the same function may have other code
            case ConstantSpec(constant):
                # The word for errors is set after the arguments are read.
                record = constant_record(constant, value, self.words.count - 1, self.memory)
            case ScalarSpec(type):
                param: ScalarParam = next(params)
                word, is_small = self.words.scalars[param.var], param.name in self.small
                record = scalar_record(type, value, word, self.memory, is_small=is_small)
            case ArraySpec():
                buffer: Buffer = next(params)
                self.places[buffer] = slot, item[0]
                self.arrays.append((len(self.inputs), buffer))
                record = self._array(buffer, value)
            case TupleSpec() | GeneratorSpec():
                raise Unsupported
        write(record, Input.SLOT, slot)
        write(record, Input.ITEM, item[0])
        write(record, Input.ITEMS, item[1])
        self.inputs.append(record)

    def _argument(self, slot: int, item: int) -> Any:
        value: Any = self.call.values[slot]
        return value if item < 0 else value[item]

    def _array(self, buffer: Buffer, value: Any) -> list[int]:
        layout = self.layouts[buffer]
        extents = self._extents(buffer, self._parameter_extent)
        strides = None
        if layout.strides is not None:
            strides = [
                (ExtentKind.FREE, self.words.strides[buffer, axis])
                if stride is None
                else (ExtentKind.FIXED, stride)
                for axis, stride in enumerate(layout.strides)
            ]
        record = array_record(
            value,
            (extents, strides, layout.align),
            self.memory,
            is_written=buffer in self.call.written,
        )
        write(record, Input.WORD, self.words.buffers[buffer])
        return record

    def _extents(
        self, buffer: Buffer, find: Callable[[Expr], tuple[int, int]]
    ) -> list[tuple[int, int]]:
        """The extents that callers see: those of the code, unless the call says otherwise."""
        seen = self.call.seen.get(buffer)
        return [(ExtentKind.FIXED, size) for size in seen] if seen else [*map(find, buffer.shape)]

    def _parameter_extent(self, extent: Expr) -> tuple[int, int]:
        match extent:
            case Const(value):
                return ExtentKind.FIXED, int(value.real)
            case Var() if extent in self.bound:
                return ExtentKind.EQUAL, self.bound[extent]
            case Var() if extent in self.words.sizes and extent not in self.words.scalars:
                self.bound[extent] = self.words.sizes[extent]
                return ExtentKind.FREE, self.bound[extent]
            case _:
                raise Unsupported

    def _put_inputs(self, table: list[int]) -> None:
        written = self.call.written
        pairs = [
            [i, j]
            for (i, a), (j, b) in itertools.combinations(self.arrays, 2)
            if a in written or b in written
        ]
        if not pairs:
            aliasing = Aliasing.ANY
        else:
            aliasing = Aliasing.DISJOINT if self.call.layout.is_disjoint else Aliasing.SHARED
        write(table, Table.ALIASING, aliasing)
        self._put(table, Table.PAIRS, Table.PAIR_RECORDS, pairs)
        self._put(table, Table.INPUTS, Table.INPUT_RECORDS, self.inputs)

    def _put_captures(self, table: list[int]) -> None:
        summary = self.call.summary
        records = capture_records(summary.captures, self.memory)
        self._put(table, Table.CAPTURES, Table.CAPTURE_RECORDS, records)
        written = [number for number, buffer in self.arrays if buffer in self.call.written]
        guards = guard_records(summary.guarded, written, self.memory)
        self._put(table, Table.GUARDS, Table.GUARD_RECORDS, guards)

    # -- results -------------------------------------------------------------------------------

    def _put_outputs(self, table: list[int]) -> None:
        code = self.call.native.code
        records: list[list[int]] = []
        for number, buffer in enumerate(self.call.func.outputs):
            record = [0] * len(Output)
            extents = self._extents(buffer, self._output_extent)
            write(record, Output.DESCRIPTOR, self.memory.keep(buffer.dtype.numpy))
            write(record, Output.NDIM, len(extents))
            write(record, Output.EXTENTS, self.memory.put([*itertools.chain(*extents)]))
            write(record, Output.WORD, self.words.buffers[buffer])
            write(record, Output.ITEMSIZE, buffer.dtype.numpy.itemsize)
            write(record, Output.IS_SET, number in code.set_outputs)
            write(record, Output.IS_DIRECT, number in code.direct_outputs)
            records.append(record)
        self._put(table, Table.OUTPUTS, Table.OUTPUT_RECORDS, records)

    def _output_extent(self, extent: Expr) -> tuple[int, int]:
        extent = simplify(extent)
        if isinstance(extent, Const):
            return ExtentKind.FIXED, int(extent.value.real)
        places = {**self.words.scalars, **self.bound}
        if isinstance(extent, Var) and extent in places and extent.dtype is INT64:
            return ExtentKind.FREE, places[extent]
        steps = program_of(extent, places)
        return ExtentKind.PROGRAM, self.memory.put([len(steps), *itertools.chain(*steps)])

    def _put_results(self, table: list[int]) -> None:
        func = self.call.func
        results = func.returns or ()
        has_list = any(isinstance(r, ArrayResult) and r.place is not None for r in results)
        is_made_by_python = has_list or func.nesting is not None
        scalars = itertools.count()
        records = [self._result(result, scalars) for result in results]
        if func.returns is None:
            shape = Returns.NOTHING
        else:
            is_tuple = func.returns_tuple or len(results) != 1
            shape = Returns.TUPLE if is_tuple or is_made_by_python else Returns.ONE
        if is_made_by_python:
            write(table, Table.FINISH, self.memory.keep(result_maker(func)))
        write(table, Table.RETURNS, shape)
        takes_out = shape is Returns.ONE and records[0][Result.KIND] == ResultKind.OUTPUT
        if takes_out and "out" not in self.call.signature.parameters:
            write(table, Table.OUT, self.memory.keep(sys.intern("out")))
        self._put(table, Table.RESULTS, Table.RESULT_RECORDS, records)
        write(table, Table.SCALAR_RESULTS, next(scalars))
        write(table, Table.SCALAR_WORD, self.words.results)
        write(table, Table.ERROR_WORD, self.words.count - 1)

    def _result(self, result: AnyResult, scalars: itertools.count[int]) -> list[int]:
        record = [0] * len(Result)
        if isinstance(result, ArrayResult):
            kind = ResultKind.GIVEN
            write(record, Result.SOURCE, next(scalars))
            write(record, Result.DESCRIPTOR, self.memory.keep(result.dtype.numpy))
            write(record, Result.NDIM, result.ndim)
            write(record, Result.ITEMSIZE, result.dtype.numpy.itemsize)
            for _ in range(result.ndim):
                next(scalars)
        elif isinstance(result, ScalarResult):
            kind = _WEAK_RESULTS[result.dtype] if result.weak else ResultKind.SCALAR
            write(record, Result.SOURCE, next(scalars))
            write(record, Result.DESCRIPTOR, self.memory.keep(result.dtype.numpy))
        elif result in self.places:
            kind = ResultKind.INPUT
            slot, item = self.places[result]
            if type(self._argument(slot, item)) is not np.ndarray:
                raise Unsupported  # what is returned is a plain array
            write(record, Result.SOURCE, slot)
            write(record, Result.ITEM, item)
        else:
            kind = ResultKind.OUTPUT
            write(record, Result.SOURCE, self.call.func.outputs.index(result))
        write(record, Result.KIND, kind)
        return record

    def _put_work(self, table: list[int]) -> None:
        work = self.call.summary.work
        places = {**self.words.scalars, **self.words.sizes}
        write(table, Table.WORK, min(work.iterations, LARGE_SIZE))
        write(table, Table.RELEASE_AT, RELEASE_AT)
        write(table, Table.WORK_SIZES, len(work.sizes))
        write(table, Table.WORK_WORDS, self.memory.put([places[var] for var in work.sizes]))


@record
class _WordNumbers:
    """In which word each argument of the kernel is passed."""

    buffers: Mapping[Buffer, int]
    sizes: Mapping[Var, int]
    strides: Mapping[tuple[Buffer, int], int]
    scalars: Mapping[Var, int]
    results: int
    count: int


def _number_words(call: CallShape) -> _WordNumbers:
    convention = call.native.convention
    number = itertools.count()
    buffers = {buffer: next(number) for buffer in convention.buffers}
    sizes = {var: next(number) for var in convention.dimensions}
    strides = {place: next(number) for place in convention.strides}
    scalars: dict[Var, int] = {}
    for var in convention.scalars:
        scalars[var] = next(number)
        if var.dtype.is_complex:
            next(number)
    results = next(number)
    return _WordNumbers(
        buffers, sizes, strides, scalars, results, results + len(convention.results) + 1
    )


def _holds_its_items(value: object, spec: TupleSpec) -> bool:
    """True for a tuple whose items and fields are what lies in it: a class may compute others."""
    cls: Any = type(value)
    plain: Any = tuple
    if not isinstance(value, tuple) or cls.__iter__ is not plain.__iter__:
        return False
    names = spec.fields or ()
    return names in ((), getattr(cls, "_fields", ())) and all(
        isinstance(getattr(cls, name, None), _FIELD) for name in names
    )


def _check_limits(table: Sequence[int], words: int) -> None:
    limits = {
        Table.SLOTS: MAX_SLOTS,
        Table.INPUTS: MAX_INPUTS,
        Table.OUTPUTS: MAX_OUTPUTS,
        Table.RESULTS: MAX_RESULTS,
        Table.SCALAR_RESULTS: MAX_RESULTS,
    }
    if words > MAX_WORDS or any(table[entry] > limit for entry, limit in limits.items()):
        raise Unsupported


@api_edge
def _fail(native: NativeKernel, status: int, record: int) -> None:
    """Raise what a kernel left behind."""
    native.fail(status, (ctypes.c_int64 * ERROR_WORDS).from_address(record))
