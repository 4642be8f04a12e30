"""Random functions of numbers as ufuncs, natively against the function on each element.

See tests/campaigns. Operands are broadcast, strided, reversed; results go to new arrays, to `out`
and under `where`.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy

from hybridjit import config, hybrid
from tests.campaigns.drawn import Drawn, size_class

np: Any = numpy

DTYPES = ("float32", "float64", "int32", "int16", "int64", "uint8", "float32", "float64")
SIZES = (0, 1, 2, 3, 8, 15, 16, 17, 31, 33, 64, 67, 131)
NAMES = ("x", "y", "z")


def try_number(seed: int, number: int) -> Drawn:
    """One function on operands of a few shapes."""
    label = f"{seed}/{number}"
    rng = random.Random(label)
    dtype, count = rng.choice(DTYPES), rng.randint(1, 3)
    text = _Writer(rng, dtype, NAMES[:count]).function()
    drawn = Drawn()
    drawn.counts["programs"] += 1
    try:
        function = _define(text, label)
        ufunc = hybrid.vectorize(function)
        for _ in range(3):
            operands = _operands(rng, dtype, count)
            with config.scope(cache_enabled=False, verify=False):
                _check(rng, ufunc, function, operands, dtype)
            drawn.counts["native calls"] += 1
            drawn.count("sizes", [size_class(size) for array in operands for size in array.shape])
    except Exception as error:
        raise AssertionError(f"{error}\n{dtype}\n{text}") from error
    finally:
        linecache.cache.pop(f"<random ufunc {label}>", None)
    drawn.counts["native"] += 1
    drawn.count("types", [dtype])
    return drawn


class _Writer:
    """Writes a function whose every value has one type, so that NumPy has no choice either."""

    def __init__(self, rng: random.Random, dtype: str, names: tuple[str, ...]) -> None:
        self.rng, self.dtype, self.names = rng, dtype, names
        self.is_float = dtype.startswith("float")

    def function(self) -> str:
        lines = [f"def function({', '.join(self.names)}):"]
        if self.rng.random() < 0.4:
            lines += [f"    if {self._condition()}:", f"        return {self._value(2)}"]
        return "\n".join([*lines, f"    return {self._value(3)}"]) + "\n"

    def _value(self, depth: int) -> str:
        if depth == 0 or self.rng.random() < 0.15:
            return self.rng.choice(self.names)
        x, y = self._value(depth - 1), self._value(depth - 1)
        common = [f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"min({x}, {y})", f"abs({x})"]
        common += [f"max({x}, {y})", f"({x} if {self._condition()} else {y})", f"({x} + 2)"]
        floats = [f"({x} / {y})", f"np.sqrt(abs({x}))", f"({x} * 0.5)", f"np.floor({x})"]
        integers = [f"({x} & {y})", f"({x} ^ {y})", f"({x} // 3)", f"({x} % 5)", f"({x} >> 1)"]
        return self.rng.choice(common + (floats if self.is_float else integers))

    def _condition(self) -> str:
        x, y = (self.rng.choice(self.names) for _ in range(2))
        op = self.rng.choice(("<", "<=", ">", "!=", "=="))
        return self.rng.choice((f"{x} {op} {y}", f"{x} {op} 1", f"{x} > 0 and {y} {op} 2"))


def _define(text: str, label: str) -> Callable[..., Any]:
    file = f"<random ufunc {label}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"np": numpy, "__name__": "random_ufunc"}
    exec(compile(text, file, "exec"), names)
    return names["function"]


def _operands(rng: random.Random, dtype: str, count: int) -> list[Any]:
    """Arrays that can be broadcast against each other."""
    rows, size = rng.choice((1, 2, 3, 5)), rng.choice(SIZES)
    shapes = ((size,), (rows, size), (rows, 1), (1, size), (rows, size))
    generator = np.random.default_rng(rng.randrange(1 << 30))
    return [_operand(rng, generator, rng.choice(shapes), dtype) for _ in range(count)]


def _operand(rng: random.Random, generator: Any, shape: tuple[int, ...], dtype: str) -> Any:
    if dtype.startswith("float"):
        values = generator.standard_normal((*shape, 2)).astype(dtype)
    else:
        values = generator.integers(0 if dtype[0] == "u" else -9, 10, (*shape, 2)).astype(dtype)
    plain = np.ascontiguousarray(values[..., 0])
    return rng.choice((plain, plain, plain, values[..., 1], plain[..., ::-1]))


def _check(
    rng: random.Random, ufunc: Any, function: Callable[..., Any], operands: list[Any], dtype: str
) -> None:
    with np.errstate(all="ignore"):
        expected = _by_element(function, operands, dtype)
        way = rng.choice(("new", "new", "out", "where"))
        if way == "new":
            _compare(ufunc(*operands), expected)
            return
        target = np.full(expected.shape, 7, dtype)
        mask = np.random.default_rng(0).random(expected.shape) < 0.5 if way == "where" else True
        found = ufunc(*operands, out=target, where=mask)
        _compare(found, np.where(mask, expected, np.asarray(7, dtype)))


def _by_element(function: Callable[..., Any], operands: list[Any], dtype: str) -> Any:
    spread = np.broadcast_arrays(*operands)
    result = np.empty(spread[0].shape, dtype)
    for place in np.ndindex(*result.shape):
        result[place] = function(*(array[place] for array in spread))
    return result


def _compare(found: Any, expected: Any) -> None:
    assert found.dtype == expected.dtype, f"{found.dtype}, expected {expected.dtype}"
    assert found.shape == expected.shape, f"{found.shape}, expected {expected.shape}"
    same = (found == expected) | ((found != found) & (expected != expected))
    assert same.all(), f"{found}, expected {expected}"
