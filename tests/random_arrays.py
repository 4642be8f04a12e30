"""Random scripts of whole-array statements: slices, broadcasting, reductions, in-place updates."""

from __future__ import annotations

import linecache
import random
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

DTYPES = ("float64", "float32", "int64", "int32", "uint8", "bool")
SIZES = (1, 2, 3, 5)
_FLOATS = ("float64", "float32")
_ARRAY: type[Any] = np.ndarray


def _is_finite(value: Any) -> bool:
    """False if a NaN would have to become an integer, of which NumPy makes what it likes."""
    return bool(np.isfinite(value).all())


@dataclass
class Program:
    """The text of a script, and the arguments to call it with."""

    text: str
    args: list[Any] = field(default_factory=list[Any])


class Generator:
    """Writes one script. Shapes are those of real arrays: what NumPy refuses is not written."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.arrays: dict[str, Any] = {}

    def program(self) -> Program:
        """A script with a few statements."""
        for name in "abc":
            shape = tuple(self.random.choice(SIZES) for _ in range(self.random.randint(1, 3)))
            self.arrays[name] = self._array(shape)
        args = [array.copy() for array in self.arrays.values()]
        lines = [self._statement(k) for k in range(self.random.randint(1, 4))]
        lines.append(f"return ({self._expression(3)[0]}) * 1")
        body = "".join(f"    {line}\n" for line in lines if line)
        return Program(f"def kernel(a, b, c):\n{body}", args)

    def _array(self, shape: tuple[int, ...]) -> Any:
        dtype = self.random.choice(DTYPES)
        values = self.numbers.integers(-4, 9, shape)
        return (values / 2 if dtype in _FLOATS else np.abs(values)).astype(dtype)

    def _statement(self, number: int) -> str:
        kind = self.random.choice(("name", "assign", "update", "update"))
        if kind == "name":
            text, value = self._expression(2)
            if not isinstance(value, _ARRAY):
                return ""
            name = f"t{number}"
            self.arrays[name] = np.array(value)
            return f"{name} = {text} + 0" if value.dtype != bool else f"{name} = {text} | False"
        target, part = self._part(self.random.choice(tuple(self.arrays)))
        if target in self.arrays and kind == "assign":
            target += "[...]"
        if not isinstance(part, _ARRAY):
            return ""
        for _ in range(10):
            text, value = self._expression(2)
            op = self.random.choice(("+=", "*=", "-=")) if kind == "update" else "="
            if self._run(target, op, text):
                return f"{target} {op} {text}"
        return ""

    def _run(self, target: str, op: str, text: str) -> bool:
        """Try a statement on copies; keep its effect if NumPy accepts it."""
        trial = {name: array.copy() for name, array in self.arrays.items()}
        if target in trial:
            target += "[...]"
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(f"{target} {op} {text}", {"np": np}, trial)
        except (ValueError, TypeError):
            return False
        self.arrays.update(trial)
        return True

    def _expression(self, depth: int) -> tuple[str, Any]:
        """An expression and its value, which is tried out."""
        for _ in range(20):
            text = self._text(depth)
            try:
                with np.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the mean of nothing
                    value = eval(text, {"np": np}, dict(self.arrays))
            except (ValueError, TypeError):
                continue
            if (
                isinstance(value, _ARRAY)
                and value.ndim > 0
                and value.size < 500
                and _is_finite(value)
            ):
                return text, value
        name = self.random.choice(tuple(self.arrays))
        return f"({name} * 1)", self.arrays[name] * 1

    def _text(self, depth: int) -> str:
        if depth == 0:
            return self._part(self.random.choice(tuple(self.arrays)))[0]
        left, right = self._text(depth - 1), self._text(self.random.randint(0, depth - 1))
        match self.random.randint(0, 9):
            case 0 | 1 | 2:
                return f"({left} {self.random.choice('+-*')} {right})"
            case 3:
                return f"np.where({left} > {right}, {left}, {right})"
            case 4:
                return f"np.{self.random.choice(('minimum', 'maximum'))}({left}, {right})"
            case 5:
                return f"({left} {self.random.choice(('<', '==', '>='))} {right})"
            case 6:
                name = self.random.choice(("sum", "max", "min", "any", "argmax", "mean"))
                keep = self.random.choice(("", ", keepdims=True"))
                return f"({left}).{name}(axis={self.random.randint(-2, 1)}{keep})"
            case 7:
                return f"({left}) {self.random.choice(('+', '*'))} {self.random.choice('23')}"
            case 8:
                return f"({left}).T"
            case _:
                return f"({left} @ {right})"

    def _part(self, name: str) -> tuple[str, Any]:
        """A subscript of an array: slices, indices, new axes, ellipsis."""
        array = self.arrays[name]
        if self.random.random() < 0.2:
            return name, array
        entries: list[str] = []
        for axis in range(array.ndim):
            if self.random.random() < 0.15:
                entries.append("None")
            entries.append(self._entry(array.shape[axis]))
        if self.random.random() < 0.2:
            entries[self.random.randrange(len(entries)) :] = ["..."]
        text = f"{name}[{', '.join(entries)}]"
        return text, eval(text, {}, {name: array})

    def _entry(self, size: int) -> str:
        if self.random.random() < 0.15 and size:
            return str(self.random.randint(-size, size - 1))
        low, high = (self.random.choice(("", *map(str, range(-size - 1, size + 2)))) for _ in "ab")
        step = self.random.choice(("", "", ":1", ":2", ":-1", ":-2", ":3"))
        return f"{low}:{high}{step}"


def define(text: str, seed: int) -> Any:
    """The function that a script's text defines; `linecache` has its source."""
    file = f"<random array script {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec"), names)
    return names["kernel"]
