"""The dispatcher: the native function that a call of a kernel enters, without a Python frame.

    kernel(a, b, c)  -->  dispatch(kernel, args, count, keyword names)

It walks the tables of the kernel (see layout.py). The first one that fits is run; when none
does, or a captured value has changed, the Python method `__call__` of the kernel takes the call.
The code is the same for every kernel and process: what it needs to know is in the tables.
"""

from __future__ import annotations

from llvmlite import ir

from hybridjit.codegen.dispatcher.captures import emit_captures
from hybridjit.codegen.dispatcher.layout import (
    ARGUMENTS_OFFSET,
    DISPATCH,
    MAX_HELD,
    MAX_INPUTS,
    MAX_SLOTS,
    MAX_WORDS,
    Api,
    Table,
)
from hybridjit.codegen.dispatcher.match import emit_bind, emit_match
from hybridjit.codegen.dispatcher.object_layout import Head, Offsets
from hybridjit.codegen.dispatcher.outputs import MISFIT
from hybridjit.codegen.dispatcher.run import emit_run
from hybridjit.codegen.dispatcher.words import VOID, Word, Words
from hybridjit.codegen.llvm_types import I32, I64
from hybridjit.target import Target

# Far below where 32 bits end, which later versions give a meaning.
_SMALL_COUNT = 1 << 30
_GO_ON = 0
_FIT = 1
_GIVE_UP = 2
_NO, _YES, _FAILED = range(3)


def emit_dispatcher(target: Target) -> str:
    """The LLVM text of the dispatcher."""
    module = ir.Module(name="dispatcher")
    module.triple = target.triple
    is_diverted, slow, attempt = (
        emit(module) for emit in (_emit_interpret, _emit_slow_call, _emit_attempt)
    )
    w = Words(module, DISPATCH, 4)
    callee, args, flagged, names = w.args
    count = w.b.and_(flagged, w.word(ARGUMENTS_OFFSET - 1))
    given = [callee, args, count, names]
    guard = w.at(w.api(Api.DIVERT_GUARD))
    with w.b.if_then(w.b.not_(w.is_zero(guard)), likely=False):
        answer = w.b.call(is_diverted, [])
        w.return_if(w.is_equal(answer, _FAILED), 0)
        with w.b.if_then(w.is_equal(answer, _YES)):
            w.b.ret(w.b.call(slow, given))
    _emit_walk(w, attempt, given)
    w.b.ret(w.b.call(slow, given))
    return str(module)


def _emit_walk(w: Words, attempt: ir.Function, given: list[Word]) -> None:
    """Try one table after the other; go on behind the last of them."""
    first = w.at(w.load(given[0], Offsets.CALLABLE_HEAD), Head.FIRST)
    result = w.room(1)
    before = w.b.block
    head, body, more, done = (w.b.append_basic_block(n) for n in ("head", "body", "more", "done"))
    w.b.branch(head)
    w.b.position_at_end(head)
    table = w.b.phi(I64)
    table.add_incoming(first, before)
    w.b.cbranch(w.is_zero(table), done, body)
    w.b.position_at_end(body)
    outcome = w.b.call(attempt, [table, *given[1:], result])
    with w.b.if_then(w.is_equal(outcome, _FIT), likely=True):
        w.b.ret(w.at(result))
    w.b.cbranch(w.is_equal(outcome, _GIVE_UP), done, more)
    w.b.position_at_end(more)
    table.add_incoming(w.at(table, Table.NEXT), more)
    w.b.branch(head)
    w.b.position_at_end(done)


def _emit_attempt(module: ir.Module) -> ir.Function:
    """`attempt(table, args, count, names, result)`: run the kernel of a table if it fits.

    From the first reference to the owner on, Python code may run: it may drop the table, and
    with it the one that follows. Then the walk ends.
    """
    bind, match, captures, run = (
        emit(module) for emit in (emit_bind, emit_match, emit_captures, emit_run)
    )
    w = Words(module, "attempt", 5)
    table, args, count, names, result = w.args
    slots, words, out = w.room(MAX_SLOTS), w.room(MAX_WORDS), w.room(1)
    held, spans = w.room(MAX_HELD), w.room(2 * MAX_INPUTS)
    w.put(0, out)
    bound = w.b.call(bind, [table, args, count, names, slots, out])
    w.return_if(w.is_zero(bound), _GO_ON)
    w.return_unless(w.b.call(match, [table, bound, words, held, spans]), _GO_ON)
    owner = w.at(table, Table.OWNER)
    w.call(Api.INC_REF, owner, result=VOID)
    arrays = _hold(w, held)
    with w.b.if_then(w.b.not_(w.b.call(captures, [table])), likely=False):
        _let_go(w, held, arrays, owner)
        _pass_error_on(w, result)
        w.b.ret(w.word(_GIVE_UP))
    found = w.b.call(run, [table, bound, words, w.at(out), held, spans])
    w.put(found, result)
    _let_go(w, held, arrays, owner)
    w.return_if(w.is_equal(found, MISFIT), _GIVE_UP)
    w.b.ret(w.word(_FIT))
    return w.hide()


def _hold(w: Words, held: Word) -> Word:
    """Take a reference to every array of the call; how many there are.

    The caller need not have one of its own: the items of `f(*arrays)` belong to a tuple, and
    another thread or a callback may ask NumPy for new memory in their place. NumPy refuses that
    where somebody else has a reference.
    """
    count = w.at(held)
    with w.loop(count) as i:
        _change_count(w, w.at(w.place(held, i), 1), 1)
    return count


def _let_go(w: Words, held: Word, count: Word, owner: Word) -> None:
    with w.loop(count) as i:
        _change_count(w, w.at(w.place(held, i), 1), -1)
    w.call(Api.DEC_REF, owner, result=VOID)


def _change_count(w: Words, item: Word, by: int) -> None:
    """Count a reference to an object, or one less: in place, as Python's own macros do.

    Where the word holds more than a small number (an immortal object, flags of later versions),
    or the last reference goes, Python does it. A call each would take 2 ns.
    """
    count = w.load(item, Offsets.REFERENCES)
    is_small = w.b.icmp_unsigned("<", w.b.sub(count, w.word(2)), w.word(_SMALL_COUNT))
    with w.b.if_else(is_small, likely=True) as (here, there):
        with here:
            w.put(w.b.add(count, w.word(by)), item, 0)
        with there:
            w.call(Api.INC_REF if by > 0 else Api.DEC_REF, item, result=VOID)


def _pass_error_on(w: Words, result: Word) -> None:
    """End the call if looking at captures raised something: Ctrl-C may have been pressed.

    A missing attribute means that what was captured is gone, which Python reports better.
    """
    with w.b.if_then(w.b.not_(w.is_zero(w.call(Api.ERROR_OCCURRED)))):
        kind = w.api(Api.ATTRIBUTE_ERROR)
        is_missing = w.call(Api.ERROR_MATCHES, kind, result=I32)
        with w.b.if_then(w.b.icmp_signed("==", is_missing, ir.Constant(I32, 0))):
            w.put(0, result)
            w.b.ret(w.word(_FIT))
        w.call(Api.CLEAR_ERROR, result=VOID)


def _emit_interpret(module: ir.Module) -> ir.Function:
    """`is_diverted()`: _NO if the settings say that native code may run."""
    w = Words(module, "is_diverted", 0)
    answer = w.call(Api.CALL_NO_ARGS, w.api(Api.IS_DIVERTED))
    w.return_if(w.is_zero(answer), _FAILED)
    w.call(Api.DEC_REF, answer, result=VOID)
    w.return_if(w.is_equal(answer, w.api(Api.FALSE)), _NO)
    w.b.ret(w.word(_YES))
    return w.hide()


def _emit_slow_call(module: ir.Module) -> ir.Function:
    """`slow(callee, args, count, names)`: the call through `__call__` in Python."""
    w = Words(module, "slow", 4)
    callee, args, count, names = w.args
    items = w.call(Api.TUPLE_NEW, count)
    w.return_if(w.is_zero(items), 0)
    with w.loop(count) as i:
        item = w.at(args, i)
        w.call(Api.INC_REF, item, result=VOID)
        w.call(Api.TUPLE_SET, items, i, item, result=I32)
    keywords = w.room(1)
    w.put(0, keywords)
    with w.b.if_then(w.b.not_(w.is_zero(names))):
        w.put(w.call(Api.DICT_NEW), keywords)
        with w.b.if_then(w.is_zero(w.at(keywords)), likely=False):
            w.call(Api.DEC_REF, items, result=VOID)
            w.b.ret(w.word(0))
        _fill_keywords(w, items, w.at(keywords), names, w.place(args, count))
    result = w.call_address(w.api(Api.SLOW_CALL), callee, items, w.at(keywords))
    w.call(Api.DEC_REF, items, result=VOID)
    w.call(Api.DEC_REF, w.at(keywords), result=VOID)
    w.b.ret(result)
    return w.hide()


def _fill_keywords(w: Words, items: Word, keywords: Word, names: Word, values: Word) -> None:
    with w.loop(w.load(names, Offsets.TUPLE_SIZE)) as i:
        name = w.load(w.place(names, i), Offsets.TUPLE_ITEMS)
        status = w.call(Api.DICT_SET, keywords, name, w.at(values, i), result=I32)
        failed = w.b.icmp_signed("!=", status, ir.Constant(I32, 0))
        with w.b.if_then(failed, likely=False):
            w.call(Api.DEC_REF, items, result=VOID)
            w.call(Api.DEC_REF, keywords, result=VOID)
            w.b.ret(w.word(0))
