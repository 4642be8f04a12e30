"""Emit code that works on 64-bit words: numbers, and addresses of objects and tables."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from hybridjit.codegen.dispatcher.layout import API, Api
from hybridjit.codegen.dispatcher.object_layout import Offsets
from hybridjit.codegen.llvm_types import I8, I32, I64

VOID = ir.VoidType()
Word = Any  # ir.Value of type i64, or a Python int


class Words:
    """The body of one function, written from its entry on."""

    def __init__(
        self, module: ir.Module, name: str, parameters: int, result: ir.Type = I64
    ) -> None:
        kind = ir.FunctionType(result, [I64] * parameters)
        self.module: Any = module
        self.function: Any = ir.Function(module, kind, name)
        self.b: Any = ir.IRBuilder(self.function.append_basic_block("entry"))  # untyped in llvmlite
        self.args: tuple[Word, ...] = self.function.args

    def hide(self) -> ir.Function:
        """The function, for callers in the same module only: a part of them."""
        self.function.linkage = "internal"
        self.function.attributes.add("alwaysinline")
        return self.function

    def word(self, value: Word) -> Any:
        """`value`, a constant if it is a Python number."""
        return ir.Constant(I64, int(value)) if isinstance(value, int) else value

    def room(self, words: int) -> Word:
        """The address of memory on the stack, reserved once for each call."""
        with self.b.goto_entry_block():
            return self.b.ptrtoint(self.b.alloca(I64, size=words), I64)

    def place(self, address: Word, index: Word) -> Word:
        """The address of word `index`."""
        return self.b.add(address, self.b.mul(self.word(index), self.word(8)))

    def at(self, address: Word, index: Word = 0) -> Word:
        """Word `index` from `address` on."""
        return self.load(self.place(address, index), 0)

    def load(self, address: Word, offset: int, kind: ir.Type = I64) -> Any:
        """A value of type `kind`, `offset` bytes from `address`."""
        pointer = self.b.inttoptr(self.b.add(address, self.word(offset)), kind.as_pointer())
        return self.b.load(pointer, typ=kind)

    def load_int(self, address: Word, offset: int) -> Word:
        """An `int` of C, as a word."""
        return self.b.sext(self.load(address, offset, I32), I64)

    def load_byte(self, address: Word, offset: int) -> Word:
        """An unsigned byte, as a word."""
        return self.b.zext(self.load(address, offset, I8), I64)

    def put(self, value: Any, address: Word, index: Word = 0) -> None:
        """Store `value` at word `index` from `address` on."""
        value = self.word(value)
        pointer = self.b.inttoptr(self.place(address, index), value.type.as_pointer())
        self.b.store(value, pointer)

    def api(self, entry: Api) -> Word:
        """An entry of the table of what the process provides."""
        table = self.module.globals.get(API)
        if table is None:
            table = ir.GlobalVariable(self.module, ir.ArrayType(I64, len(Api)), API)
        return self.at(self.b.ptrtoint(table, I64), int(entry))

    def call(self, entry: Api, *args: Any, result: ir.Type = I64) -> Any:
        """Call a function of the process."""
        return self.call_address(self.api(entry), *args, result=result)

    def call_address(self, address: Word, *args: Any, result: ir.Type = I64) -> Any:
        """Call the function at `address`."""
        values = [self.word(arg) for arg in args]
        kind = ir.FunctionType(result, [value.type for value in values])
        return self.b.call(self.b.inttoptr(address, kind.as_pointer()), values)

    def type_of(self, item: Word) -> Word:
        """The type of a Python object."""
        return self.load(item, Offsets.TYPE)

    def is_equal(self, a: Word, b: Word) -> Any:
        """a == b."""
        return self.b.icmp_signed("==", self.word(a), self.word(b))

    def is_zero(self, a: Word) -> Any:
        """a == 0."""
        return self.is_equal(a, 0)

    def is_less(self, a: Word, b: Word) -> Any:
        """a < b, signed."""
        return self.b.icmp_signed("<", self.word(a), self.word(b))

    def return_if(self, condition: Any, value: Any) -> None:
        """Leave the function with `value` where `condition` holds."""
        with self.b.if_then(condition, likely=False):
            self.b.ret(value if isinstance(value, ir.Value) else self.word(value))

    def return_unless(self, condition: Any, value: Any) -> None:
        """Leave the function with `value` unless `condition` holds."""
        self.return_if(self.b.not_(condition), value)

    @contextmanager
    def loop(self, count: Word) -> Generator[Word]:
        """A loop with a counter from 0 to `count`; the body may leave the function."""
        before = self.b.block
        head, body, done = (self.b.append_basic_block(name) for name in ("head", "body", "done"))
        self.b.branch(head)
        self.b.position_at_end(head)
        counter = self.b.phi(I64)
        counter.add_incoming(self.word(0), before)
        self.b.cbranch(self.is_less(counter, count), body, done)
        self.b.position_at_end(body)
        yield counter
        counter.add_incoming(self.b.add(counter, self.word(1)), self.b.block)
        self.b.branch(head)
        self.b.position_at_end(done)

    def drop(self, items: Word, count: Word) -> None:
        """Take away a reference to each of so many objects."""
        with self.loop(count) as i:
            self.call(Api.DEC_REF, self.at(items, i), result=VOID)

    @contextmanager
    def case(self, switch: Any, value: int, after: ir.Block) -> Generator[None]:
        """The code of one case of a switch, which goes on at `after`."""
        block = self.b.append_basic_block("case")
        switch.add_case(self.word(int(value)), block)
        self.b.position_at_end(block)
        yield
        if not self.b.block.is_terminated:
            self.b.branch(after)
        self.b.position_at_end(after)
