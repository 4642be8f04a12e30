"""Random scripts of whole-array statements: in-place updates, overlap, masks, loops, names."""

from __future__ import annotations

import linecache
import random
import warnings
from dataclasses import dataclass
from typing import Any

from tests.support.random_array_expressions import Expressions, Noted, Operand, evaluate, fits
from tests.support.random_array_values import Arguments, Style, make_arguments, np

_FAILURES = (ValueError, TypeError, IndexError, AttributeError, ArithmeticError)
PARAMETERS = ("a", "b", "c", "k", "s")
_UPDATES = ("+=", "+=", "-=", "*=", "/=", "//=", "%=", "&=", "|=", "^=")


@dataclass(frozen=True, slots=True)
class Program:
    """The text of a script, its arguments, and how exactly results and arrays are known.

    `results` and `arrays` have a tolerance for each returned value and each parameter: 0 for what
    must be equal bit for bit. `count` is the number of expressions.
    """

    text: str
    arguments: Arguments
    results: tuple[float, ...]
    arrays: dict[str, float]
    count: int


# What one rounding can change, times a number of them.
_ROUNDING = {2: 4e-3, 4: 3e-6, 8: 1e-13}


def tolerance(value: Any, note: Noted | Operand) -> float:
    """How far off a value may be."""
    if note.is_exact or value.dtype.kind not in "fc":
        return 0.0
    size = value.dtype.itemsize // (2 if value.dtype.kind == "c" else 1)
    return _ROUNDING[size] * max(1.0, note.scale) * 16


class Generator:
    """Writes one script, statement by statement; what NumPy refuses is not written."""

    def __init__(self, seed: int | str, style: Style | None = None) -> None:
        self.choose = random.Random(seed)
        self.style = style or Style()
        self.arguments = make_arguments(self.choose, self.style)
        self.lines: list[str] = []
        self.noted: dict[str, Noted] = {}
        self.count = 0
        self._run()

    def _run(self, *more: str) -> bool:
        """Run all statements anew, and some more; keep what the names mean then."""
        names = self.arguments.make()
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec("\n".join([*self.lines, *more]), {"np": np}, names)
        except _FAILURES:
            return False
        self.names: dict[str, Any] = names
        self.lines += more
        return True

    @property
    def expressions(self) -> Expressions:
        style = self.style
        return Expressions(
            self.choose,
            self.names,
            self.noted,
            selects=style.selects,
            multiplies=style.multiplies,
        )

    def program(self) -> Program:
        """The script."""
        for number in range(self.choose.choice((0, 1, 1, 2, 2, 3, 4))):
            self._statement(number)
        if self.arguments.shares is not None:
            self._move(*self.arguments.shares)
        results: list[Operand] = []
        for _ in range(self.choose.choice((1, 1, 2, 3))):
            found = self.expressions.make(self.choose.choice((1, 2, 3, 3)))
            results.append(found)
        texts = [self._returned(result) for result in results]
        body = [*self.lines, f"return {', '.join(texts)}"]
        text = f"def kernel({', '.join(PARAMETERS)}):\n" + "".join(f"    {x}\n" for x in body)
        arrays = {
            name: tolerance(np.asarray(self.names[name]), self.noted.get(name, Noted()))
            for name in self.arguments.plans
        }
        tolerances = tuple(tolerance(result.value, result) for result in results)
        return Program(text, self.arguments, tolerances, arrays, self.count + len(results))

    @staticmethod
    def _returned(result: Operand) -> str:
        """A value that is no view of an argument."""
        return f"({result.text}).copy()" if result.ndim else f"({result.text}) * 1"

    # -- statements ----------------------------------------------------------------------------

    def _statement(self, number: int) -> None:
        kind = self.choose.choice(("name", "store", "update", "update", "mask", "out", "loop"))
        for _ in range(10):
            match kind:
                case "name":
                    is_done = self._name(f"t{number}")
                case "mask":
                    is_done = self._masked()
                case "out":
                    is_done = self._out()
                case "loop":
                    is_done = self._loop()
                case _:
                    is_done = self._store(self.expressions, "", kind == "update")
            if is_done:
                self.count += 1
                return

    def _name(self, name: str) -> bool:
        found = self.expressions.make(self.choose.choice((1, 2, 3)))
        if not self._run(f"{name} = {found.text}"):
            return False
        self.noted[name] = Noted(found.is_exact, found.scale)
        return True

    def _move(self, whole: str, part: str) -> None:
        """Move rows to other places of the same memory, which goes by two names."""
        target, source = self.choose.choice(((whole, part), (part, whole)))
        rows = self.names[part].shape[0]
        count = self.choose.randint(0, rows)
        to, start = (self.choose.randint(0, rows - count) for _ in "ab")
        turned = self.choose.choice(("", "", "[::-1]"))
        op = "+=" if self.names[whole].dtype.kind in "iu" else "="
        line = f"{target}[{to}:{to + count}] {op} {source}[{start}:{start + count}]{turned}"
        self.count += self._run(line)

    def _store(self, expressions: Expressions, lead: str, is_update: bool) -> bool:
        """`a[1:] = ...` and `a[1:] += ...`: where both sides overlap, the right one comes first."""
        name = self._target(expressions)
        if name is None:
            return False
        place = expressions.part(name)
        if place == name:
            place += "[...]"
        part = evaluate(place, expressions.names)
        value = expressions.make(self.choose.choice((0, 1, 2, 2)))
        op = self.choose.choice(_UPDATES) if is_update else "="
        if part is None or not self._may_store(part, op, value):
            return False
        if not self._run(*_nested(lead, f"{place} {op} {value.text}")):
            return False
        self._note(name, value, op)
        return True

    def _target(self, expressions: Expressions) -> str | None:
        names = [name for name in expressions.names if name not in ("k", "s", "i")]
        arrays = [name for name in names if isinstance(expressions.names[name], np.ndarray)]
        return self.choose.choice(arrays) if arrays else None

    def _may_store(self, part: Any, op: str, value: Operand) -> bool:
        """True if NumPy and everyone else give the same where a value is stored."""
        if value.kind == "c" and part.dtype.kind != "c":
            return False
        if op in ("//=", "%=") and (
            part.dtype.kind == "c" or not value.is_exact or bool((value.value == 0).any())
        ):
            return False
        if op == "/=" and (not value.is_exact or part.dtype.kind == "c"):
            return False
        if part.dtype.kind in "biu":
            if op != "=" and np.result_type(part.dtype, value.value.dtype).kind not in "biu":
                return False  # what float64 makes of uint64 and int64 may be negative
            return value.kind in "biu" or (
                op == "=" and part.dtype.kind != "b" and fits(value, part.dtype)
            )
        return True

    def _note(self, name: str, value: Operand, op: str) -> None:
        """What is known of an array, and of all that shares its memory, after a store."""
        old = self.noted.get(name, Noted())
        target = self.names[name]
        is_exact = (old.is_exact and value.is_exact) or target.dtype.kind in "biu"
        is_exact = is_exact and not (op in ("*=", "/=") and target.dtype.kind == "c")
        scale = max(old.scale, value.scale)
        if not is_exact and op == "*=":
            scale = old.scale * value.scale * 100
        new = Noted(is_exact, scale)
        for other, array in self.names.items():
            if isinstance(array, np.ndarray) and np.may_share_memory(array, target):
                self.noted[other] = new

    def _masked(self) -> bool:
        """`a[m] = ...`, `a[m] *= 2`, `a[m] = b[m] + 1`."""
        expressions = self.expressions
        name = self._target(expressions)
        if name is None or not self.names[name].ndim:
            return False
        condition = expressions.make(2)
        target = self.names[name]
        if condition.kind != "b" or condition.value.shape != target.shape:
            other = expressions.make(0)
            text = f"({name} {self.choose.choice(('>', '!=', '=='))} 1)"
            value = evaluate(text, self.names)
            if value is None or not other.is_exact or not self.noted.get(name, Noted()).is_exact:
                return False
            if target.dtype.kind == "c" and ">" in text:
                return False
            condition = Operand(text, value)
        number = self.choose.choice(("0", "2", "1"))
        form = self.choose.choice(("=", "+=", "*=", "self"))
        store = f"{name}[m] = {name}[m] * 2 + 1" if form == "self" else f"{name}[m] {form} {number}"
        if target.dtype.kind == "b" and form != "=":
            return False
        if not self._run(f"m = {condition.text}", store):
            return False
        note = self.noted.get(name, Noted())
        if not note.is_exact:
            self.noted[name] = Noted(False, note.scale * 4)
        return True

    def _out(self) -> bool:
        """`np.add(x, y, a[1:])`."""
        expressions = self.expressions
        name = self._target(expressions)
        if name is None:
            return False
        place = expressions.part(name)
        part = evaluate(place, self.names)
        left = expressions.leaf()
        right = expressions.matching(left, 0)
        if part is None or right is None or not isinstance(part, np.ndarray):
            return False
        function = self.choose.choice(("add", "subtract", "multiply", "minimum", "maximum"))
        operands = left.kind + right.kind + part.dtype.kind
        if "c" in operands or not (left.is_exact and right.is_exact):
            return False
        form = self.choose.choice((", {}", ", out={}")).format(place)
        if not self._run(f"np.{function}({left.text}, {right.text}{form})"):
            return False
        self._note(name, left, "=")
        return True

    def _loop(self) -> bool:
        """A loop over the rows of an array."""
        arrays = [n for n in self.names if isinstance(self.names[n], np.ndarray) and n not in "km"]
        sizes = [self.names[n].shape[0] for n in arrays if self.names[n].ndim]
        if not sizes:
            return False
        count = self.choose.choice(sizes)
        rows = {
            f"{n}[i]": self.names[n][0]
            for n in arrays
            if self.names[n].ndim > 1 and self.names[n].shape[0] >= count > 0
        }
        if not rows:
            return False
        return self._store_rows(count, rows)

    def _store_rows(self, count: int, rows: dict[str, Any]) -> bool:
        target = self.choose.choice(tuple(rows))
        name, row = target.partition("[")[0], rows[target]
        other = self.choose.choice(tuple(rows))
        source = rows[other]
        op = self.choose.choice(("=", "+=", "*="))
        ahead = self.choose.choice(("i", "i", "i - 1", "-i"))
        moved = other.replace("[i]", f"[{ahead}]")
        operand = self.choose.choice(("2", "i", target))
        text = f"{moved} {self.choose.choice('+-*')} {operand}"
        note, own = self.noted.get(other.partition("[")[0], Noted()), self.noted.get(name, Noted())
        if (
            not note.is_exact
            or not own.is_exact
            or row.dtype.kind == "c"
            or source.dtype.kind == "c"
        ):
            return False
        if row.dtype.kind in "biu" and source.dtype.kind == "f":
            return False
        if row.dtype.kind == "b" or source.dtype.kind == "b":
            return False
        if row.dtype.kind in "iu" and np.result_type(row, source).kind == "f":  # uint64 and int64
            return False
        return self._run(f"for i in range({count}):", f"    {target} {op} {text}")


def _nested(lead: str, line: str) -> list[str]:
    return [lead, f"    {line}"] if lead else [line]


def define(text: str, seed: int | str) -> Any:
    """The function that a script's text defines; `linecache` has its source."""
    file = f"<random array script {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec"), names)
    return names["kernel"]
