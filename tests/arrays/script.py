"""A random array script while it is written: statement by statement, each tried out with NumPy.

What NumPy refuses is not written. The body of a loop is tried in all rounds of the loop, the sides
of a branch as if each were taken. What is made in either is not known after it.

In loops, what was exact stays exact: a statement may have been drawn because of it that is run once
more. Where errors grow in a round, they are taken to grow as much in each.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.arrays.pool import FAILURES, Noted, Operand, Pool, is_near, largest, quiet
from tests.arrays.style import Style
from tests.arrays.values import Arguments, np

# Calls of it are statements, too.
HELPER = """def helper(p, q, k):
    first = p[0]
    if first % 2:
        p = p + k
    for _ in range(k):
        p, q = q, p
    if k == 1:
        return p, q + 1
    return q, p * 2

"""
CLIMB = """def climb(k):
    return 1 if k < 2 else climb(k - 1) + climb(k - 2)

"""
PAIR = """from typing import NamedTuple


class Pair(NamedTuple):
    x: int
    y: int

"""
# What stands before a script that calls it.
PRELUDES = {"helper(": HELPER, "climb(": CLIMB, "Pair(": PAIR}
# What an argument is known by, whatever its name stands for by now.
_PASSED = "passed {}"
ROUNDS = 3


@dataclass(slots=True)
class Script:
    """The lines of a script, and its pool of names as they are after them."""

    choose: random.Random
    style: Style
    arguments: Arguments
    pool: Pool = field(init=False)
    lines: list[str] = field(default_factory=list[str])
    results: list[str] = field(default_factory=list[str])  # names that are to be returned
    drawn: Counter[str] = field(default_factory=Counter[str])
    depth: int = 0
    loops: int = 0
    passed: dict[str, Any] = field(default_factory=dict[str, Any])
    _heads: list[str] = field(default_factory=list[str])  # of blocks without a statement so far
    _made: int = 0

    def __post_init__(self) -> None:
        self.pool = Pool(self.choose, self.style, hidden=set(self.arguments.numbers))
        self._run()

    # -- statements ----------------------------------------------------------------------------

    def statement(self) -> bool:
        """Write one of the kinds of the style."""
        kind = self.choose.choice(self.style.statements)
        for _ in range(10):
            if kind(self):
                self.drawn[kind.__name__] += 1
                return True
        return False

    def statements(self, count: int) -> None:
        for _ in range(count):
            self.statement()

    def new_name(self) -> str:
        self._made += 1
        return f"t{self._made - 1}"

    def write(self, *lines: str, notes: Mapping[str, Noted] | None = None) -> bool:
        """Write lines, after which more or less is known of some names."""
        noted, pool = dict(notes or {}), self.pool
        known = {n: pool.note(n) for n in noted if n in pool.noted or n in pool.names}
        if self.depth:
            noted = {name: note.or_worse(known.get(name, note)) for name, note in noted.items()}
        if self.loops and any(old.is_exact > noted[name].is_exact for name, old in known.items()):
            return False
        if not self._run(*lines):
            return False
        pool.hidden -= set(noted)
        pool.noted |= noted
        return True

    def assign(self, name: str, value: Operand) -> bool:
        """Give a name a value: a new one, or another one."""
        return self.write(f"{name} = {value.text}", notes={name: value.note})

    def store(self, name: str, note: Noted, line: str) -> bool:
        """Write a line that stores to a named array: to all that shares its memory."""
        target = self.pool.names[name]
        scale = max(self.pool.note(name).scale, note.scale)
        is_exact = self.pool.note(name).is_exact and note.is_exact
        new = Noted(is_exact or target.dtype.kind in "biu", scale)
        return self.write(line, notes=dict.fromkeys(self._sharing(target), new))

    def mix(self, names: Iterable[str], line: str, *also: str) -> bool:
        """Write a line after which some names, and new ones, stand for each other's arrays."""
        known = [name for name in names if name in self.pool.names]
        note = Noted()
        for name in known:
            note = note.or_worse(self.pool.note(name))
        touched = {key for name in known for key in self._sharing(self.pool.names[name])}
        return self.write(line, notes=dict.fromkeys(sorted({*touched, *names, *also}), note))

    def change_all(self, *lines: str) -> bool:
        """Write lines that may change any array, and round."""
        floats = [k for k, value in self._values() if np.asarray(value).dtype.kind in "fc"]
        if self.loops and any(self.pool.note(key).is_exact for key in floats):
            return False
        if not self._run(*lines):
            return False
        scale = 8 * max(largest(np.asarray(value)) for _, value in self._values())
        for key, value in self._values():
            is_exact = np.asarray(value).dtype.kind in "biu"
            self.pool.noted[key] = Noted(is_exact, 1.0 if is_exact else scale)
        return True

    def _values(self) -> list[tuple[str, Any]]:
        """All arrays, by name or by the argument that they were passed as."""
        values = [(_PASSED.format(name), array) for name, array in self.passed.items()]
        return values + [(name, self.pool.names[name]) for name in self.pool.visible()]

    def _sharing(self, target: Any) -> list[str]:
        """The keys of all arrays in the memory of one."""
        arrays = [(key, value) for key, value in self._values() if isinstance(value, np.ndarray)]
        return [key for key, array in arrays if np.may_share_memory(array, target)]

    def passed_note(self, name: str) -> Noted:
        """What is known of an array that was passed."""
        return self.pool.note(_PASSED.format(name))

    # -- blocks --------------------------------------------------------------------------------

    def loop(self, head: str, count: int, *first: str) -> bool:
        """A loop around statements; in every other one, nothing is exact but integers."""
        restore, pool = self._save(), self.pool
        for key, value in self._values() if self.choose.random() < 0.5 else ():
            if np.asarray(value).dtype.kind in "fc":
                pool.noted[key] = pool.note(key).or_worse(Noted(False, largest(np.asarray(value))))
        scales = {key: pool.note(key).scale for key, _ in self._values()}
        self.loops += 1
        is_done = self._block(head, count, *first)
        self.loops -= 1
        return (is_done and self._grow(scales)) or restore()

    def branch(self, condition: str, count: int, other: int) -> bool:
        """A branch, perhaps with another side."""
        restore, at = self._save(), len(self.lines) + len(self._heads)
        indent = "    " * self.depth
        if not self._block("if True:", count):
            return restore()
        if other:
            self.lines[at] = f"{indent}if False:"
            self._run()
            self._block("else:", other)
        self.lines[at] = f"{indent}if {condition}:"
        return self._run() or restore()

    def _block(self, head: str, count: int, *first: str) -> bool:
        known, hidden, length = set(self.pool.names), set(self.pool.hidden), len(self.lines)
        self._heads.append("    " * self.depth + head)
        self.depth += 1
        if first:
            self._run(*first)
        self.statements(count)
        self.depth -= 1
        if len(self.lines) == length:  # nothing was to be had
            self._heads.pop()
            return False
        if self.choose.random() >= self.style.late:
            self.pool.hidden = hidden | (set(self.pool.names) - known)
        return True

    def _grow(self, before: dict[str, float]) -> bool:
        """What errors are after all rounds; False if they cannot be compared any more."""
        growth = max((self.pool.note(key).scale / old for key, old in before.items()), default=1)
        for key, value in self._values():
            note, dtype = self.pool.note(key), np.asarray(value).dtype
            if not note.is_exact:
                self.pool.noted[key] = Noted(False, note.scale * growth ** (ROUNDS - 1))
                if not is_near(self.pool.note(key).scale, dtype):
                    return False
        return True

    def _save(self) -> Callable[[], bool]:
        """What puts everything back, and is False."""
        pool = self.pool
        lines, heads, results = ([*x] for x in (self.lines, self._heads, self.results))
        noted, hidden = dict(pool.noted), set(pool.hidden)

        def restore() -> bool:
            self.lines, self._heads, self.results = lines, heads, results
            pool.noted, pool.hidden = noted, hidden
            self._run()
            return False

        return restore

    def _run(self, *more: str) -> bool:
        """Run all statements anew, and some more; keep what the names mean then."""
        indented = ["    " * self.depth + line for line in more]
        lines = [*self.lines, *self._heads, *indented] if more else self.lines
        passed = self.arguments.make()
        names = dict(passed)
        try:
            with quiet():
                exec("\n".join(lines), _GLOBALS, names)
        except (*FAILURES, NameError):
            return False
        self.pool.names = names
        self.passed = {name: passed[name] for name in self.arguments.plans}
        if more:
            self.lines, self._heads = lines, []
        return True


_GLOBALS: dict[str, Any] = {"np": np}
for _text in PRELUDES.values():
    exec(_text, _GLOBALS)
