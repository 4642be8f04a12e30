"""Loads and stores of all lanes at once: contiguous, reversed, or gathered and scattered.

A mask says which lanes take part; the others touch no memory, wherever they point.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from hybridjit.codegen.declarations import declare_function
from hybridjit.codegen.emit.memory import LINE, ArrayAddress, call_prefetch, dot
from hybridjit.codegen.emit.vector_values import (
    Index,
    Ramp,
    has_lanes,
    reverse,
    shuffle,
    splat,
    zeros,
)
from hybridjit.codegen.llvm_types import (
    I1,
    I8,
    I32,
    I64,
    Builder,
    Complex,
    LLVMType,
    Value,
    find_constant,
    lanes_of,
    mangled,
    memory_type,
)
from hybridjit.codegen.module_features import has_quick_gathers, vector_bits
from hybridjit.ir.dtype import BOOL
from hybridjit.lowering.lane_cost import SCATTER_BITS, max_picked_step
from hybridjit.record import record


@record
class Places:
    """One address for each lane: a common start, and offsets in values of a kind."""

    start: Value
    offsets: Value
    kind: LLVMType


@record
class Access:
    """The elements of an array that the lanes touch: one index per axis, and a mask or None."""

    b: Builder
    array: ArrayAddress
    indices: Sequence[Index]
    lanes: int
    mask: Value | None
    # How many lanes, at most, are one vector of the widest values of the loop.
    piece: int
    # How many elements lie before and after one of them that the loop reads besides: `a[2 * i]` and
    # `a[2 * i + 1]` are picked from the same rows.
    beside: tuple[int, int] = (0, 0)
    # Whether the row of an array that only this thread sees is there, if no lane is active, too.
    in_own_row: bool = False

    def load(self) -> Value:
        """The elements; a value without lanes where all lanes read the same one."""
        stride = self._stride()
        if stride == 0:
            return self.array.load(self.b, self._at_lane(0))
        loaded = self._load_parts(stride)
        if self.array.dtype is BOOL:  # a view of other data may hold any byte: all but 0 are True
            return self.b.icmp_unsigned("!=", loaded[0], ir.Constant(loaded[0].type, 0))
        return Complex(*loaded) if self.array.dtype.is_complex else loaded[0]

    def store(self, value: Value, *, past_caches: bool = False) -> None:
        """Set the elements; where lanes meet in one, the last lane wins.

        Those that go past the caches are whole lines of them.
        """
        if not has_lanes(value):
            value = splat(self.b, value, self.lanes)
        if self.array.dtype is BOOL:
            value = self.b.zext(value, ir.VectorType(I8, self.lanes))
        stride, size = self._stride(), self._size
        if past_caches:
            self._store_lines(value)
        elif self.array.dtype.is_complex:
            self._store_complex(value, stride)
        elif stride == size and self.mask is not None and self._is_own():
            address = self._address(0)
            old = self._load_row(address, self.lanes, None)
            self._store_row(self.b.select(self.mask, value, old), address, None)
        elif stride == size:
            self._store_row(value, self._address(0), self.mask)
        elif stride == -size:
            mask = None if self.mask is None else reverse(self.b, self.mask)
            self._store_row(reverse(self.b, value), self._address(self.lanes - 1), mask)
        elif stride is not None and not self._scatters:
            self._store_each(value)
        else:
            self._scatter(value, self._pointers(self._places()))

    def ask_ahead(self, distance: int) -> None:
        """Prefetch what lies so many bytes further on, if the elements are next to each other."""
        if self._stride() != self._size or self.mask is not None:
            return
        first = self.b.bitcast(self._address(0), I8.as_pointer())
        for offset in range(distance, distance + self.lanes * self._size, LINE):
            call_prefetch(self.b, self.b.gep(first, [ir.Constant(I64, offset)]))

    # -- parts ---------------------------------------------------------------------------------

    def _load_parts(self, stride: int | None) -> list[Value]:
        b, size = self.b, self._size
        if self.array.dtype.is_complex:
            return self._load_complex(stride)
        if stride == size:
            mask = None if self._is_own() else self.mask
            return [self._load_row(self._address(0), self.lanes, mask)]
        if stride == -size:
            mask = None if self.mask is None else reverse(b, self.mask)
            return [reverse(b, self._load_row(self._address(self.lanes - 1), self.lanes, mask))]
        if stride is not None and self.mask is None and stride in self._close_strides:
            return [self._load_close(stride // size)]
        if stride is not None and not self._gathers:
            return [self._load_each()]
        return self._gather_parts()

    @property
    def _close_strides(self) -> list[int]:
        # With fewer lanes than that, whole rows would go past the last element.
        most = max_picked_step(vector_bits(self.b.module))
        return [step * self._size for step in range(2, min(most, self.lanes) + 1)]

    def _load_close(self, step: int) -> Value:
        """Every `step`-th element of some rows, the last of which ends with the last one read."""
        b, lanes = self.b, self.lanes
        before, after = self.beside
        first, end = self._address(0, before), before + (lanes - 1) * step + 1 + after
        starts = [row * lanes for row in range(step - 1)] + [end - lanes]
        rows = [
            self._load_at_once(b.gep(first, [ir.Constant(I64, start)], inbounds=True), lanes)
            for start in starts
        ]
        wanted = [before + lane * step for lane in range(lanes)]
        first_row = [min(place, lanes - 1) for place in wanted]
        taken = shuffle(b, rows[0], first_row)
        for number in range(1, step):
            row = [lanes + max(0, min(place - starts[number], lanes - 1)) for place in wanted]
            is_taken = [place < number * lanes for place in wanted]
            places = [lane if is_taken[lane] else row[lane] for lane in range(lanes)]
            taken = shuffle(b, taken, places, rows[number])
        return taken

    def _load_each(self) -> Value:
        """The elements, one by one: for processors that gather no faster."""
        loaded = zeros(ir.VectorType(memory_type(self.array.dtype), self.lanes))
        for lane in range(self.lanes):
            kind = memory_type(self.array.dtype)
            element = self.b.load(self._address(lane), align=self.array.align, typ=kind)
            loaded = self.b.insert_element(loaded, element, ir.Constant(I32, lane))
        return loaded

    def _store_each(self, value: Value) -> None:
        """The same for processors that scatter nothing; the last lane comes last."""
        for lane in range(self.lanes):
            element = self.b.extract_element(value, ir.Constant(I32, lane))
            self.b.store(element, self._address(lane), align=self.array.align)

    @property
    def _gathers(self) -> bool:
        """Whether an instruction loads elements that lie apart: under a mask it has to."""
        return self.mask is not None or has_quick_gathers(self.b.module)

    @property
    def _scatters(self) -> bool:
        return self.mask is not None or vector_bits(self.b.module) >= SCATTER_BITS

    def _load_complex(self, stride: int | None) -> list[Value]:
        """Real and imaginary parts take turns in memory."""
        if stride == self._size:
            both = self._load_row(self._address(0), 2 * self.lanes, self._mask_of_pairs())
            return [shuffle(self.b, both, range(part, 2 * self.lanes, 2)) for part in range(2)]
        return self._gather_parts()

    def _gather_parts(self) -> list[Value]:
        """Elements from anywhere: real and imaginary parts, or just the elements."""
        places = self._places()
        if not self._gathers:
            return [self._load_at(places, part) for part in range(self._components)]
        pointers = self._pointers(places)
        if self.array.dtype.is_complex:
            return [self._gather(self._part(pointers, part)) for part in range(2)]
        return [self._gather(pointers)]

    def _load_at(self, places: Places, part: int) -> Value:
        """One component of the elements at `places`, one by one."""
        b, kind = self.b, memory_type(self.array.dtype)
        loaded = zeros(ir.VectorType(kind, self.lanes))
        for lane in range(self.lanes):
            number = ir.Constant(I32, lane)
            offset = b.extract_element(places.offsets, number)
            address = b.gep(places.start, [offset], source_etype=places.kind)
            if part:
                address = b.gep(address, [ir.Constant(I64, part)], source_etype=kind)
            element = b.load(address, align=self.array.align, typ=kind)
            loaded = b.insert_element(loaded, element, number)
        return loaded

    def _store_complex(self, value: Value, stride: int | None) -> None:
        if stride == self._size:
            self._store_row(self._pairs(value), self._address(0), self._mask_of_pairs())
            return
        pointers = self._pointers(self._places())
        for part in range(2):
            self._scatter(value[part], self._part(pointers, part))

    def _pairs(self, value: Value) -> Value:
        turns = [place for lane in range(self.lanes) for place in (lane, lane + self.lanes)]
        return shuffle(self.b, value.real, turns, value.imag)

    def _store_lines(self, value: Value) -> None:
        row = self._pairs(value) if self.array.dtype.is_complex else value
        count = min(LINE * 8, vector_bits(self.b.module)) // self.array.dtype.component.bits
        hint = self.b.module.add_metadata([ir.Constant(I32, 1)])
        first = self._address(0)
        for start in range(0, lanes_of(row), count):
            line = shuffle(self.b, row, range(start, start + count))
            address = self.b.gep(first, [ir.Constant(I64, start)], inbounds=True)
            pointer = self.b.bitcast(address, line.type.as_pointer())
            align = count * self.array.dtype.component.bits // 8
            self.b.store(line, pointer, align=align).set_metadata("nontemporal", hint)

    def _mask_of_pairs(self) -> Value | None:
        if self.mask is None:
            return None
        return shuffle(self.b, self.mask, [place // 2 for place in range(2 * self.lanes)])

    def _part(self, pointers: Value, part: int) -> Value:
        offsets = ir.Constant(ir.VectorType(I64, self.lanes), part)
        return self._vector_gep(pointers, offsets)

    def _is_own(self) -> bool:
        """True if all lanes, active or not, lie in an array that nobody else sees.

        Without masks, LLVM can keep such an array in registers.
        """
        index = self.indices[-1] if self.indices else None
        first = find_constant(index.base) if isinstance(index, Ramp) else None
        if first is None or not self.array.own_shape or not self.in_own_row:
            return False
        return 0 <= first <= self.array.own_shape[-1] - self.lanes

    # -- addresses -----------------------------------------------------------------------------

    @property
    def _size(self) -> int:
        return self.array.dtype.bits // 8

    def _stride(self) -> int | None:
        """The bytes from one lane's element to the next one's; None if it varies or is unknown."""
        total = 0
        for index, stride in zip(self.indices, self.array.strides, strict=True):
            if not has_lanes(index):
                continue
            step = find_constant(stride)
            if step is None or not isinstance(index, Ramp):
                return None
            total += step * index.stride
        return total

    def _at_lane(self, lane: int) -> list[Value]:
        """The indices in one lane."""
        number = ir.Constant(I64, lane)
        return [
            index.lane(self.b, number) if isinstance(index, Ramp) else index
            for index in self.indices
        ]

    def _address(self, lane: int, before: int = 0) -> Value:
        """The address of the element of a lane, or of one along the last axis before it."""
        *outer, last = self._at_lane(lane)
        if before:
            last = self.b.sub(last, ir.Constant(I64, before))
        return self.array.element(self.b, [*outer, last], inside=self.mask is None)

    def _places(self) -> Places:
        zero = ir.Constant(I64, 0)
        varying = [axis for axis, index in enumerate(self.indices) if has_lanes(index)]
        common = [zero if axis in varying else i for axis, i in enumerate(self.indices)]
        start = self.array.element(self.b, common, inside=False)
        known = [find_constant(self.array.strides[axis]) for axis in varying]
        vectors = [self._whole(self.indices[axis]) for axis in varying]
        if all(stride is not None and stride % self._size == 0 for stride in known):
            factor = 2 if self.array.dtype.is_complex else 1
            steps = [(stride or 0) // self._size * factor for stride in known]
            kind, strides = memory_type(self.array.dtype), [ir.Constant(I64, s) for s in steps]
        else:
            kind, strides = I8, [self.array.strides[axis] for axis in varying]
        wide = [splat(self.b, stride, self.lanes) for stride in strides]
        return Places(start, self._whole(dot(self.b, vectors, wide, exact=False)), kind)

    def _pointers(self, places: Places) -> Value:
        return self._vector_gep(places.start, places.offsets, places.kind)

    def _whole(self, index: Index) -> Value:
        if isinstance(index, Ramp):
            return index.whole(self.b, self.lanes)
        return index if has_lanes(index) else splat(self.b, index, self.lanes)

    def _vector_gep(self, base: Value, offsets: Value, kind: LLVMType | None = None) -> Value:
        kind = memory_type(self.array.dtype) if kind is None else kind
        gep = self.b.gep(base, [offsets], source_etype=kind)
        gep.type = ir.VectorType(ir.PointerType(), self.lanes)  # llvmlite takes it for one pointer
        return gep

    # -- instructions --------------------------------------------------------------------------

    def _load_row(self, address: Value, count: int, mask: Value | None) -> Value:
        kind = ir.VectorType(memory_type(self.array.dtype), count)
        if mask is not None:
            name = f"llvm.masked.load.{mangled(kind)}.p0"
            return self._call(name, kind, [address, self._align, mask, zeros(kind)])
        if self._is_piece(count):
            return self._load_at_once(address, count)
        halves = [self._load_row(half, count // 2, None) for half in self._halves(address, count)]
        return shuffle(self.b, halves[0], range(count), halves[1])

    def _load_at_once(self, address: Value, count: int) -> Value:
        kind = ir.VectorType(memory_type(self.array.dtype), count)
        return self.b.load(address, align=self.array.align, typ=kind)

    def _store_row(self, value: Value, address: Value, mask: Value | None) -> None:
        count = lanes_of(value)
        if mask is not None:
            name = f"llvm.masked.store.{mangled(value.type)}.p0"
            self._call(name, ir.VoidType(), [value, address, self._align, mask])
        elif self._is_piece(count):
            pointer = self.b.bitcast(address, value.type.as_pointer())
            self.b.store(value, pointer, align=self.array.align)
        else:
            for start, half in zip((0, count // 2), self._halves(address, count), strict=True):
                lanes = range(start, start + count // 2)
                self._store_row(shuffle(self.b, value, lanes), half, None)

    def _is_piece(self, count: int) -> bool:
        """Whether a row is one register at most.

        Longer ones are loaded and stored from front to back: LLVM would cut them too, but store the
        pieces in any order, which takes 1.7 times as long (a polynomial of 100,000 floats). Loads
        go the same way: scratch arrays become registers if both touch the same pieces. Elements
        that become wider ones, or were, are a part of a register: it need not be taken apart.
        """
        if not self.array.own_shape and count > self._components * self.piece:
            return False
        return count * self.array.dtype.component.bits <= vector_bits(self.b.module)

    @property
    def _components(self) -> int:
        return 2 if self.array.dtype.is_complex else 1

    def _halves(self, address: Value, count: int) -> list[Value]:
        """Where the two halves of a row begin."""
        return [address, self.b.gep(address, [ir.Constant(I64, count // 2)], inbounds=True)]

    def _gather(self, pointers: Value) -> Value:
        kind = ir.VectorType(memory_type(self.array.dtype), self.lanes)
        name = f"llvm.masked.gather.{mangled(kind)}.v{self.lanes}p0"
        return self._call(name, kind, [pointers, self._align, self._flags, zeros(kind)])

    def _scatter(self, value: Value, pointers: Value) -> None:
        name = f"llvm.masked.scatter.{mangled(value.type)}.v{lanes_of(value)}p0"
        self._call(name, ir.VoidType(), [value, pointers, self._align, self._flags])

    def _call(self, name: str, returns: LLVMType, args: Sequence[Value]) -> Value:
        function_type = ir.FunctionType(returns, [arg.type for arg in args])
        return self.b.call(declare_function(self.b.module, name, function_type), args)

    @property
    def _align(self) -> Value:
        return ir.Constant(I32, self.array.align)

    @property
    def _flags(self) -> Value:
        return ir.Constant(ir.VectorType(I1, self.lanes), 1) if self.mask is None else self.mask
