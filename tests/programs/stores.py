"""Random stores to elements of arrays, and what makes arrays."""

from __future__ import annotations

from collections.abc import Callable

from tests.programs import types as ty
from tests.programs.maker import Lines, Maker, indent
from tests.programs.scope import Array, Value, can_store, constant_shape


def _into_array(make_one: Callable[[Maker, Array], str]) -> Callable[[Maker, int], Lines | None]:
    """A statement about an array that is written."""

    def make_statement(make: Maker, depth: int) -> Lines | None:
        arrays = make.written_arrays()
        if not arrays:
            return None
        make.has_effects = True
        array = make.choices.pick(arrays)
        return make.guarded(lambda: make_one(make, array).split("\n"))

    return make_statement


def _store(make: Maker, array: Array) -> str:
    value = _stored_value(make, array)
    return f"{make.element(array, is_target=True).text} = {value.text}"


def _stored_value(make: Maker, array: Array) -> Value:
    sources = [t for t in make.types_here() if can_store(t, array.type)]
    may_mix = make.choices.chance(make.style.mixes)
    type = make.choices.pick([array.type, *sources]) if may_mix else array.type
    value = make.operand(type, make.style.depth, array.type)
    return value if ty.holds(array.type, type) else Value(f"{array.type}({value.text})", type)


def _update(make: Maker, array: Array) -> str:
    options = [
        (symbol, type)
        for symbol in make.style.operators
        for type in make.types_here()
        if _storable(symbol, array.type, type)
    ]
    if not options:
        return _store(make, array)
    symbol, type = make.choices.pick(options)
    result = ty.result_type(symbol, array.type, type)
    assert result is not None
    value = make.right_operand(symbol, result, type, 2, array.type)
    return f"{make.element(array, is_target=True).text} {symbol}= {value.text}"


def _storable(symbol: str, array: str, type: str) -> bool:
    result = ty.result_type(symbol, array, type)
    if result is None or not can_store(result, array) or not ty.holds(array, result):
        return False
    return not may_fail_update(symbol, result, type)


def _fold(make: Maker, array: Array) -> str:
    """An element that is added to, or keeps the largest or smallest of what it meets."""
    target = make.element(array, is_target=True).text
    value = make.expr(array.type, make.style.depth).text
    form = make.choices.below(4 if array.type != ty.BOOL else 1)
    if form == 3:
        return f"{target} = {make.choices.pick(('min', 'max'))}({target}, {value})"
    return f"{target} += {value}" if form == 0 else f"{target} = {target} + {value}"


def _swap(make: Maker, array: Array) -> str:
    """Two stores that depend on each other."""
    x, y = (make.element(array, is_target=which).text for which in (True, False))
    name = make.fresh("t")
    return f"{name} = {x}\n{x} = {y}\n{y} = {name}"


make_store = _into_array(_store)
make_store_update = _into_array(_update)
make_fold = _into_array(_fold)
make_swap = _into_array(_swap)


def make_allocate(make: Maker, depth: int) -> Lines:
    name, type = make.fresh("l"), make.choices.pick(make.palette)
    shape = tuple(make.choices.between(1, 4) for _ in range(make.choices.between(1, 2)))
    make.scope.arrays[name] = Array(name, type, constant_shape(*shape))
    dtype = "bool" if type == ty.BOOL else type
    scope = make.choices.pick(("", ', "local"'))
    return [f'{name} = allocate({shape}, "{dtype}"{scope})']


def make_call(make: Maker, depth: int) -> Lines | None:
    """A helper that is called for what it stores."""
    helpers = [h for h in make.helpers if h.always_stores and make.is_callable(h)]
    if not helpers:
        return None
    make.has_effects = True
    return [make.call(make.choices.pick(helpers), 2)]


def make_named_block(make: Maker, depth: int) -> Lines | None:
    lines = make_store(make, 0)
    return None if lines is None else [f'with block("{make.fresh("blk")}"):', *indent(lines)]


def may_fail_update(symbol: str, result: str, type: str) -> bool:
    """Right operands for which plain Python and scripts part ways; see `_may_fail` of exprs."""
    if symbol == "**" and not ty.is_int(result):
        return ty.is_weak(result) or not (ty.is_weak(type) or type == result)
    if symbol == "**":
        return ty.is_bool(type)
    if symbol in ("/", "//", "%") and ty.is_weak(result):
        return ty.is_complex(result) or ty.is_bool(type)
    if symbol in ("//", "%"):
        return ty.is_bool(type) and not ty.is_float(result)
    return symbol in ("<<", ">>") and ty.is_weak(result)
