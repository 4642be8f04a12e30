"""What the code of the pool is written with: atomic words, futexes and the clock."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from hybridjit.codegen.declarations import declare_function
from hybridjit.codegen.dispatcher.words import Word, Words
from hybridjit.codegen.llvm_types import I8, I32, I64
from hybridjit.codegen.pool.layout import Pool
from hybridjit.codegen.pool.names import FUTEX, STATE

VOID = ir.VoidType()
_ORDER = "seq_cst"
_WAIT_PRIVATE, _WAKE_PRIVATE = 128, 129
_MONOTONIC_COARSE = 6


class PoolWords(Words):
    """A function of the pool. Its parameters are words."""

    def __init__(
        self, module: ir.Module, name: str, parameters: int, result: ir.Type = I64
    ) -> None:
        super().__init__(module, name, parameters, result)
        self.function.attributes.add("nounwind")

    def keep(self) -> ir.Function:
        """The function, for callers in the same module only."""
        self.function.linkage = "internal"
        return self.function

    # -- the state -----------------------------------------------------------------------------

    def state(self, place: Pool) -> Word:
        """The address of a word of the pool."""
        state = self.module.globals[STATE]
        return self.place(self.b.ptrtoint(state, I64), int(place))

    def get(self, place: Pool) -> Word:
        """A word of the pool."""
        return self.b.load_atomic(self._pointer(self.state(place)), _ORDER, 8)

    def set(self, value: Word, place: Pool) -> None:
        """Set a word of the pool."""
        self.b.store_atomic(self.word(value), self._pointer(self.state(place)), _ORDER, 8)

    def write(self, value: Word, place: Pool) -> None:
        """Set a word that others look at only after some later `set` of another one, or of it."""
        self.b.store_atomic(self.word(value), self._pointer(self.state(place)), "release", 8)

    def add(self, place: Pool, value: Word) -> Word:
        """Add to a word of the pool; the value it had before."""
        return self._modify("add", place, value)

    def mask(self, place: Pool, value: Word) -> Word:
        """Clear the bits of a word that `value` does not have; the value it had before."""
        return self._modify("and", place, value)

    def _modify(self, operation: str, place: Pool, value: Word) -> Word:
        pointer = self._pointer(self.state(place))
        return self.b.atomic_rmw(operation, pointer, self.word(value), _ORDER)

    def replace(self, place: Pool, expected: Word, value: Word) -> Any:
        """Set a word of the pool if it has the expected value; whether it had."""
        pointer = self._pointer(self.state(place))
        words = (self.word(expected), self.word(value))
        return self.b.extract_value(self.b.cmpxchg(pointer, *words, _ORDER, _ORDER), 1)

    def _pointer(self, address: Word) -> Any:
        return self.b.inttoptr(address, I64.as_pointer())

    # -- control -------------------------------------------------------------------------------

    @contextmanager
    def forever(self) -> Generator[ir.Block]:
        """A loop that its body leaves by a jump to the block given to it."""
        again, done = (self.b.append_basic_block(name) for name in ("again", "done"))
        self.b.branch(again)
        self.b.position_at_end(again)
        yield done
        self.b.branch(again)
        self.b.position_at_end(done)

    def leave_if(self, condition: Any, block: ir.Block) -> None:
        """Go to `block` where `condition` holds."""
        following = self.b.append_basic_block("following")
        self.b.cbranch(condition, block, following)
        self.b.position_at_end(following)

    def least(self, a: Word, b: Word) -> Word:
        """The smaller of two words."""
        return self.b.select(self.is_less(a, b), self.word(a), self.word(b))

    def greatest(self, a: Word, b: Word) -> Word:
        """The larger of two words."""
        return self.b.select(self.is_less(a, b), self.word(b), self.word(a))

    def copy(self, source: Word, target: Word, words: int) -> None:
        """Copy some words."""
        with self.loop(words) as i:
            self.put(self.at(source, i), target, i)

    # -- the system ----------------------------------------------------------------------------

    def libc(self, name: str, result: ir.Type, *args: Any) -> Any:
        """Call a function of the C library."""
        values = [self.word(arg) for arg in args]
        kind = ir.FunctionType(result, [value.type for value in values])
        return self.b.call(declare_function(self.module, name, kind), values)

    def sleep(self, place: Pool, seen: Word, milliseconds: int | None = None) -> None:
        """Sleep until a word of the pool is woken up, unless it is no longer what was seen."""
        limit: Word = 0
        if milliseconds is not None:
            limit = self.room(2)
            self.put(0, limit)
            self.put(milliseconds * 1_000_000, limit, 1)
        self._futex(self.state(place), _WAIT_PRIVATE, seen, limit)

    def wake(self, place: Pool, count: Word) -> None:
        """Wake up to `count` threads that sleep at a word of the pool."""
        self._futex(self.state(place), _WAKE_PRIVATE, count, 0)

    def _futex(self, address: Word, operation: int, value: Word, limit: Word) -> None:
        """A futex is 32 bits wide: the low half of a word, on a little-endian machine."""
        number = FUTEX[self.module.triple.partition("-")[0]]
        kind = ir.FunctionType(I64, [I64], var_arg=True)
        args = [self.word(arg) for arg in (number, address, operation, value, limit)]
        self.b.call(declare_function(self.module, "syscall", kind), args)

    def pause(self) -> None:
        """Tell the processor that this thread is only waiting."""
        if self.module.triple.startswith("x86_64"):
            self.libc("llvm.x86.sse2.pause", VOID)
        else:
            self.libc("llvm.aarch64.hint", VOID, ir.Constant(I32, 1))

    def now(self) -> Word:
        """Milliseconds, from a clock that is quick to read."""
        spec = self.room(2)
        clock = ir.Constant(I32, _MONOTONIC_COARSE)
        self.libc("clock_gettime", I32, clock, spec)
        seconds = self.b.mul(self.at(spec), self.word(1000))
        return self.b.add(seconds, self.b.sdiv(self.at(spec, 1), self.word(1_000_000)))


def declare_state(module: Any) -> None:
    """Add the memory of the pool to its module."""
    kind = ir.ArrayType(I64, int(Pool.SIZE))
    state: Any = ir.GlobalVariable(module, kind, STATE)
    state.initializer, state.align = ir.Constant(kind, None), 128


def pointer_word(w: Words, function: Any) -> Word:
    """The address of a function, as a word."""
    return w.b.ptrtoint(w.b.bitcast(function, I8.as_pointer()), I64)
