"""Random scripts of several whole-array statements: named arrays, updates in place, loops."""

from __future__ import annotations

import linecache
import random
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

_SHAPES = ((3, 4), (4, 3), (5, 5), (2, 7), (1, 4), (6, 1))
_UNARY = ("np.exp({})", "np.sin({})", "({}) * 2", "-({})", "np.abs({})", "({}) + 1")
_BINARY = ("({} + {})", "({} - {})", "({} * {})", "np.maximum({}, {})", "np.minimum({}, {})")


def _is_tame(value: Any) -> bool:
    """True for a value that is small in every respect: no step makes infinities of it."""
    with np.errstate(all="ignore"):
        return np.size(value) <= 200 and bool(np.all(np.abs(value * 1.0) <= 1e6))


@dataclass(frozen=True, slots=True)
class Program:
    """The text of a script, and the arguments to call it with."""

    text: str
    args: list[Any]

    def define(self) -> Any:
        """The function that the text defines; `linecache` has its source."""
        file = f"<random chain {id(self)}>"
        lines = self.text.splitlines(keepends=True)
        linecache.cache[file] = (len(self.text), None, lines, file)
        names: dict[str, Any] = {"np": np}
        exec(compile(self.text, file, "exec"), names)
        return names["kernel"]


class ChainGenerator:
    """Writes one script, of few shapes and one type: most statements can use what others made."""

    shapes: ClassVar[Sequence[tuple[int, ...]]] = _SHAPES
    dtypes: ClassVar[Sequence[str]] = ("float64", "float64", "float32", "int64")
    unary: ClassVar[Sequence[str]] = _UNARY

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.arrays: dict[str, Any] = {}
        self.dtype = self.random.choice(self.dtypes)
        self.count = 0
        self.depth = 0

    def program(self) -> Program:
        """A script with a chain of statements."""
        shape = self.random.choice(self.shapes)
        for name, size in (("a", shape), ("b", shape), ("c", shape[-1:]), ("d", shape)):
            values = self.numbers.integers(-4, 9, size)
            self.arrays[name] = (values / 4 if "float" in self.dtype else values).astype(self.dtype)
        args = [array.copy() for array in self.arrays.values()]
        lines = self.statements(self.random.randint(2, 7))
        results = [self.operand() for _ in range(self.random.randint(1, 2))]
        lines.append("return " + ", ".join(f"({text}) * 1" for text in results))
        body = "".join(f"    {line}\n" for line in lines)
        return Program(f"def kernel(a, b, c, d):\n{body}", args)

    def statements(self, number: int) -> list[str]:
        """So many statements, one after the other."""
        lines: list[str] = []
        for _ in range(number):
            lines += self.statement()
        return lines

    def statement(self) -> list[str]:
        """One statement, or a loop or a branch with a few."""
        kind = self.random.randint(0, 11 if self.depth == 0 else 9)
        if kind <= 4:
            return self.name(self.expression())
        if kind == 5:
            return self.name(self.reduction())
        if kind <= 7:
            return self.update()
        if kind == 8:
            return self.masked()
        if kind == 9:
            return self.rebind()
        first = ", ".join("0" * self.arrays["a"].ndim)
        return self.nested("for k in range(3):" if kind == 10 else f"if a[{first}] > b[{first}]:")

    def nested(self, head: str) -> list[str]:
        """A loop or a branch: what is named inside is not known after it."""
        self.depth += 1
        known = set(self.arrays)
        inner = self.statements(self.random.randint(1, 4))
        self.depth -= 1
        self.arrays = {name: value for name, value in self.arrays.items() if name in known}
        return [head, *(f"    {line}" for line in inner)] if inner else []

    def name(self, text: str | None) -> list[str]:
        """A new name for a value."""
        if text is None:
            return []
        self.count += 1
        name = f"t{self.count}"
        return self.keep([f"{name} = {text}"])

    def keep(self, lines: list[str]) -> list[str]:
        """`lines`, if NumPy accepts them; their effect is kept."""
        trial: dict[str, Any] = {name: np.copy(array) for name, array in self.arrays.items()}
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the mean of nothing
                exec("\n".join(lines), {"np": np, "k": 1}, trial)
        except (ValueError, TypeError, IndexError):
            return []
        if not all(map(_is_tame, trial.values())):
            return []
        self.arrays = {k: v for k, v in trial.items() if isinstance(v, (np.ndarray, np.generic))}
        return lines

    def operand(self) -> str:
        """An array or a part of one, most likely one of the newest."""
        names = list(self.arrays)
        name = self.random.choice(names[-4:] if self.random.random() < 0.7 else names)
        array = np.asarray(self.arrays[name])
        if array.ndim == 0 or self.random.random() < 0.7:
            return name
        return self.part(name)

    def expression(self) -> str | None:
        """A value of an operator or two."""
        text = self.operand()
        for _ in range(self.random.randint(1, 3)):
            if self.random.random() < 0.4:
                text = self.random.choice(self.unary).format(text)
            elif self.random.random() < 0.1:
                other = self.operand()
                text = f"np.where({text} > {other}, {other}, {text} * 2)"
            else:
                text = self.random.choice(_BINARY).format(text, self.operand())
        return text

    def reduction(self) -> str:
        """A reduction, to a number or along an axis."""
        name = self.random.choice(("sum", "max", "min", "mean", "prod"))
        axis = self.random.choice(("", "axis=0", "axis=-1", "axis=0, keepdims=True"))
        axis = self.random.choice((axis, "axis=-1, keepdims=True"))
        source = self.expression() if self.random.random() < 0.5 else self.operand()
        return f"({source}).{name}({axis})"

    def update(self) -> list[str]:
        """An update of an array in place, which may overlap what is read."""
        name = self.random.choice(list(self.arrays))
        array = np.asarray(self.arrays[name])
        if array.ndim == 0:
            return []
        target = self.part(name)
        op = self.random.choice(("=", "+=", "-=", "*="))
        value = self.expression()
        if self.random.random() < 0.4:
            value = f"{self.part(name)} * 2"
        if target == name:
            target += "[...]"
        return self.keep([f"{target} {op} {value}"])

    def masked(self) -> list[str]:
        """A mask with a name, and an update where it is true."""
        name = self.random.choice(list(self.arrays))
        if np.asarray(self.arrays[name]).ndim == 0:
            return []
        self.count += 1
        mask = f"t{self.count}"
        made = self.keep([f"{mask} = {name} > {self.random.choice('012')}"])
        if not made:
            return []
        value = self.random.choice(("1", f"{name}[{mask}] * 2", f"-{name}[{mask}]"))
        return made + self.keep([f"{name}[{mask}] = {value}"])

    def rebind(self) -> list[str]:
        """A new array for a name that has one."""
        names = [name for name in self.arrays if name.startswith("t")]
        if not names:
            return []
        name = self.random.choice(names)
        return self.keep([f"{name} = {self.random.choice(_BINARY).format(name, self.operand())}"])

    def part(self, name: str) -> str:
        """A subscript of an array: slices, indices, new axes, ellipsis."""
        array = self.arrays[name]
        if self.random.random() < 0.2:
            return name
        entries: list[str] = []
        for axis in range(array.ndim):
            if self.random.random() < 0.15:
                entries.append("None")
            entries.append(self._entry(array.shape[axis]))
        if self.random.random() < 0.2:
            entries[self.random.randrange(len(entries)) :] = ["..."]
        return f"{name}[{', '.join(entries)}]"

    def _entry(self, size: int) -> str:
        if self.random.random() < 0.15 and size:
            return str(self.random.randint(-size, size - 1))
        low, high = (self.random.choice(("", *map(str, range(-size - 1, size + 2)))) for _ in "ab")
        step = self.random.choice(("", "", ":1", ":2", ":-1", ":-2", ":3"))
        return f"{low}:{high}{step}"


class LongChainGenerator(ChainGenerator):
    """Writes scripts on rows that are folded in lanes, or just too short for it.

    Elements are named, summed, and stored where others are still read, one or two places further.
    """

    shapes = tuple((size,) for size in (*range(1, 5), *range(14, 20), 31, 33, 40, 64, 65, 100))
    shapes += ((2, 17), (3, 33), (2, 70))
    dtypes = ("float64", "float32", "float32", "int32")
    unary = ("np.tanh({})", "({}) * 2", "-({})", "np.abs({})", "({}) + 1")  # no errors grow

    def statement(self) -> list[str]:
        """One statement: every other one a reduction, or a store in place."""
        for _ in range(8):  # most shapes do not fit together
            kind = self.random.randint(0, 9)
            if kind <= 1:
                lines = self.name(self.reduction())
            elif kind <= 3:
                lines = self.update()
            elif kind <= 6:
                lines = self.measured_step()
            else:
                lines = super().statement()
            if lines:
                return lines
        return []

    def measured_step(self) -> list[str]:
        """New values of an array, how far they are from old ones, and their store."""
        name, target = self.random.choice("abd"), self.random.choice("abd")
        made = self.name(self.random.choice(_BINARY).format(self.part(name), self.operand()))
        if not made:
            return []
        new = f"t{self.count}"
        fold = self.random.choice(("sum", "max", "mean"))
        distance = self.name(f"np.{fold}(np.abs({new} - {self.part(target)}))")
        return made + distance + self.keep([f"{target}[{self._entry(0)}] = {new}"])

    def _entry(self, size: int) -> str:
        return self.random.choice((":", ":", "1:", "1:", ":-1", ":-1", "2:", ":-2", "1:-1", "::-1"))
