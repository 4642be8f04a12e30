"""Statements of random array scripts: names, stores, updates in place, masks, loops, branches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.arrays.elements import fits
from tests.arrays.pool import Noted, Operand, evaluate, is_widened
from tests.arrays.script import ROUNDS, Script
from tests.arrays.values import np

# Writes a statement; False if it could not be had.
Statement = Callable[[Script], bool]
_UPDATES = ("+=", "+=", "-=", "*=", "/=", "//=", "%=", "&=", "|=", "^=")


def name(script: Script) -> bool:
    """`t = ...`."""
    return script.assign(script.new_name(), script.pool.make(script.choose.choice((1, 2, 3))))


def rebind(script: Script) -> bool:
    """Another array for a name that has one, perhaps of another size."""
    names = [name for name in script.pool.visible() if name.startswith("t")]
    if not names:
        return False
    return script.assign(script.choose.choice(names), script.pool.make(2))


def store(script: Script) -> bool:
    """`a[1:] = ...`: where both sides overlap, the right one comes first."""
    return _store(script, "=")


def update(script: Script) -> bool:
    """`a[1:] += ...`."""
    return _store(script, script.choose.choice(_UPDATES))


def _store(script: Script, op: str) -> bool:
    pool, array = script.pool, _target(script)
    place = pool.part(array)
    if place == array:
        place += "[...]"
    value = pool.make(script.choose.choice((0, 1, 2, 2)))
    return store_to(script, array, place, op, value)


def _target(script: Script) -> str:
    return script.choose.choice(script.pool.arrays())


def store_to(script: Script, array: str, place: str, op: str, value: Operand) -> bool:
    """Store a value to a place of a named array, if everyone agrees on what that gives."""
    target, note = script.pool.names[array], script.pool.note(array)
    part = evaluate(place, script.pool.names)
    if part is None or not _may_store(part, op, value):
        return False
    if op in ("//=", "%=") and script.depth:
        return False  # a later round may find a zero, which NumPy divides by
    is_exact = value.is_exact and not (op in ("*=", "/=") and target.dtype.kind == "c")
    is_factor = op == "*=" and not (is_exact and note.is_exact)
    scale = note.scale * value.scale * 100 if is_factor else value.scale
    return script.store(array, Noted(is_exact, scale), f"{place} {op} {value.text}")


def _may_store(part: Any, op: str, value: Operand) -> bool:
    """True if NumPy and everyone else give the same where a value is stored."""
    dtype = part.dtype
    if value.kind == "c" and dtype.kind != "c":
        return False
    if op in ("//=", "%=") and (
        dtype.kind == "c" or not value.is_exact or bool((value.value == 0).any())
    ):
        return False
    if op == "/=" and (not value.is_exact or dtype.kind == "c"):
        return False
    if dtype.kind not in "biu":
        return not is_widened(dtype, value)
    if op != "=" and np.result_type(dtype, value.value.dtype).kind not in "biu":
        return False  # what float64 makes of uint64 and int64 may be negative
    return value.kind in "biu" or (op == "=" and dtype.kind != "b" and fits(value, dtype))


def mask(script: Script) -> bool:
    """`a[m] = ...`, `a[m] *= 2`, `a[m] = a[m] * 2 + 1`."""
    pool, array = script.pool, _target(script)
    target, note = pool.names[array], pool.note(array)
    condition = pool.make(2)
    if condition.kind != "b" or condition.value.shape != target.shape or not target.ndim:
        text = f"({array} {script.choose.choice(('>', '!=', '=='))} {script.choose.choice('012')})"
        value = evaluate(text, pool.names)
        if value is None or not note.is_exact or not target.ndim:
            return False
        if target.dtype.kind == "c" and ">" in text:
            return False
        condition = Operand(text, value)
    test, number = script.new_name(), script.choose.choice("012")
    own = script.choose.choice((f"{array}[{test}] * 2 + 1", f"-{array}[{test}]", number))
    form = script.choose.choice((f"= {own}", f"= {own}", f"+= {number}", f"*= {number}"))
    if target.dtype.kind == "b" and form != f"= {number}":
        return False
    if not script.assign(test, condition):
        return False
    return script.store(array, Noted(note.is_exact, note.scale * 4), f"{array}[{test}] {form}")


def out(script: Script) -> bool:
    """`np.add(x, y, a[1:])`."""
    pool, array = script.pool, _target(script)
    place = pool.part(array)
    part, left = evaluate(place, pool.names), pool.leaf()
    right = pool.matching(left, 0)
    if right is None or not isinstance(part, np.ndarray):
        return False
    function = script.choose.choice(("add", "subtract", "multiply", "minimum", "maximum"))
    operands = left.kind + right.kind + part.dtype.kind
    if "c" in operands or not (left.is_exact and right.is_exact):
        return False
    form = script.choose.choice((", {}", ", out={}")).format(place)
    return script.store(array, left.note, f"np.{function}({left.text}, {right.text}{form})")


def move(script: Script) -> bool:
    """Move rows to other places of the same memory, which goes by two names."""
    if not script.arguments.share:
        return False
    target, source = script.choose.choice(("ab", "ba"))
    rows = script.passed["b"].shape[0]
    count = script.choose.randint(0, rows)
    to, start = (script.choose.randint(0, rows - count) for _ in "ab")
    turned = script.choose.choice(("", "", "[::-1]"))
    op = "+=" if script.passed["a"].dtype.kind in "iu" else "="
    line = f"{target}[{to}:{to + count}] {op} {source}[{start}:{start + count}]{turned}"
    return script.mix((target, source), line)


def rows(script: Script) -> bool:
    """A loop over the rows of an array, which may read what it has written."""
    pool = script.pool
    values = {name: pool.names[name] for name in pool.arrays() if pool.note(name).is_exact}
    arrays = {n: a for n, a in values.items() if a.ndim > 1 and len(a) and a.dtype.kind in "iuf"}
    if not arrays:
        return False
    target, source = (script.choose.choice(list(arrays)) for _ in "ab")
    count = script.choose.choice([len(array) for array in values.values() if array.ndim])
    types = arrays[target].dtype, arrays[source].dtype
    if types[0].kind in "iu" and np.result_type(*types).kind == "f":  # uint64 and int64
        return False
    ahead = script.choose.choice(("i", "i", "i - 1", "-i"))
    operand = script.choose.choice(("2", "i", f"{target}[i]"))
    value = f"{source}[{ahead}] {script.choose.choice('+-*')} {operand}"
    line = f"    {target}[i] {script.choose.choice(('=', '+=', '*='))} {value}"
    return script.write(f"for i in range({count}):", line)


def measured_step(script: Script) -> bool:
    """New values of an array, how far they are from old ones, and their store."""
    pool, array = script.pool, _target(script)
    new, value = script.new_name(), pool.make(2)
    if pool.names[array].dtype.kind == "b" or not script.assign(new, value):
        return False
    fold = script.choose.choice(("sum", "max", "mean"))
    scale = value.scale * max(1, value.value.size) * 4
    text = f"np.{fold}(np.abs({new} - {pool.part(array)}))"
    distance = pool.keep(text, pool.named(new), pool.named(array), is_exact=False, scale=scale)
    if distance is not None:
        script.assign(script.new_name(), distance)
    entry = script.choose.choice((":", ":", "1:", ":-1", "2:", "1:-1", "::-1"))
    return store_to(script, array, f"{array}[{entry}]", "=", pool.named(new)) or True


# -- blocks ----------------------------------------------------------------------------------------


def loop(script: Script) -> bool:
    """A loop that does something a few times, or not at all."""
    if script.depth >= script.style.depth:
        return False
    counts = ("n", "2", "n + 1") if "n" in script.arguments.numbers else ("2", str(ROUNDS))
    head = f"for r{script.depth} in range({script.choose.choice(counts)}):"
    return script.loop(head, script.choose.randint(1, 4))


def branch(script: Script) -> bool:
    """A branch that elements decide on."""
    condition = element_test(script)
    if script.depth >= script.style.depth or condition is None:
        return False
    other = script.choose.choice((0, script.choose.randint(1, 3)))
    return script.branch(condition, script.choose.randint(1, 3), other)


def element_test(script: Script) -> str | None:
    """A condition on the first element of an array, if one is known exactly."""
    pool = script.pool
    arrays = [n for n in pool.arrays() if pool.names[n].size and pool.note(n).is_exact]
    if not arrays:
        return None
    one, other = (script.choose.choice(arrays) for _ in "ab")
    kinds = "".join(pool.names[name].dtype.kind for name in (one, other))
    if "c" in kinds:
        return f"{_first(script, one)} != 1"
    tests = [f"{_first(script, one)} > {_first(script, other)}", f"{_first(script, one)} > 1"]
    if kinds[0] in "iu":
        tests = [*tests, *(f"{_first(script, one)} % {number}" for number in (2, 2, 3, 3))]
    return script.choose.choice(tests)


def _first(script: Script, array: str) -> str:
    ndim = script.pool.names[array].ndim
    return f"{array}[{', '.join('0' * ndim)}]" if ndim else f"{array}[()]"


STATEMENTS: tuple[Statement, ...] = (
    *(name, store, update, update, mask, out, rows),
    *(name, store, update, update, mask, out, rows),
    *(loop, branch, rebind),
)
# Of arrays that are alike: named, rebound, summed, and stored where others are still read.
CHAIN: tuple[Statement, ...] = (*(name,) * 6, *(update, store, mask, rebind, loop, branch))
STEPS: tuple[Statement, ...] = (
    *(name, name, update, store, measured_step, measured_step, measured_step, rebind, loop, mask),
)
