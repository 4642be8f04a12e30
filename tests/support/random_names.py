"""Random scripts in which names stand for other arrays as time goes on, in loops and branches.

    python -m tests.support.random_names FIRST LAST    checks scripts by numbers, natively too

What they do to the numbers matters little: which array a name stands for does, so that every array
is written to and read all the time.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hybridjit import Kernel
from hybridjit.errors import HybridError, UnboundVariable
from tests.support.oracle import run_once
from tests.support.random_arrays import define

NAMES = ("u", "v", "w", "x")
# The array itself, in NumPy.
SAME = ("{0}", "{0}", "{0}", "np.asarray({0}, {0}.dtype)", "{0}.real", "np.real({0})", "{0}.conj()")
HEADER = """import numpy as np

def helper(p, q, k):
    first = p[0]
    if first % 2:
        p = p + k
    for _ in range(k):
        p, q = q, p
    if k == 1:
        return p, q + 1
    return q, p * 2

def kernel(a, b, n):
"""


@dataclass(slots=True)
class Names:
    """Makes one script; `named` are the names that have an array for sure."""

    seed: str
    named: list[str] = field(default_factory=lambda: ["a", "b"])
    lines: list[str] = field(default_factory=list[str])
    depth: int = 1
    loops: int = 0
    random: random.Random = field(init=False)
    forms: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.forms = random.Random(f"forms of {self.seed}")

    def text(self) -> str:
        """The source of the script."""
        for name in self.random.sample(NAMES, 3):
            self.new_array(name)
        if self.random.random() < 0.7:
            self.named = [name for name in self.named if name in NAMES]
        for _ in range(self.random.randint(2, 4)):
            self.statement()
        results = [f"{name} * 1" for name in self.random.sample(self.named, 2)]
        self.line(f"return {', '.join(results)}, {self.name()}.sum()")
        return HEADER + "\n".join(self.lines) + "\n"

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def name(self) -> str:
        return self.random.choice(self.named)

    def statement(self) -> None:
        kinds: list[Callable[[], None]] = [self.swap, self.rotate, self.other_name, self.write]
        kinds += [self.computed, self.update, self.named_copy, self.write]
        if self.depth < 4:
            kinds += [self.loop, self.loop, self.branch, self.while_loop]
        if self.loops:
            kinds += [self.leave]
        else:
            kinds += [self.call]
        self.random.choice(kinds)()

    def block(self, count: int) -> None:
        known = list(self.named)
        self.depth += 1
        for _ in range(count):
            self.statement()
        self.depth -= 1
        self.named = known

    def swap(self) -> None:
        one, other = self.random.sample(self.named, 2)
        self.line(f"{one}, {other} = {other}, {one}")

    def rotate(self) -> None:
        names = self.random.sample(self.named, 3)
        self.line(f"{', '.join(names)} = {', '.join([*names[1:], names[0]])}")

    def other_name(self) -> None:
        """A name that may have had no array before gets one that another name stands for."""
        target = self.random.choice((*NAMES, self.name()))
        self.line(f"{target} = {self.forms.choice(SAME).format(self.name())}")
        self._note(target)

    def new_array(self, target: str) -> None:
        values = ("{} + 1", "{} * 2", "{}.copy()", "np.zeros_like({})", "{}[::-1] - 3")
        self.line(f"{target} = {self.random.choice(values).format(self.name())}")
        self._note(target)

    def named_copy(self) -> None:
        self.new_array(self.random.choice(NAMES))

    def computed(self) -> None:
        target = self.random.choice((*NAMES, self.name()))
        self.line(f"{target} = {self.name()} - {self.name()}[::-1] * {self.random.randint(1, 3)}")
        self._note(target)

    def _note(self, name: str) -> None:
        if name not in self.named:
            self.named.append(name)

    def write(self) -> None:
        self.line(f"{self.name()}[{self.random.randint(-1, 1)}] += {self.random.randint(1, 9)}")

    def update(self) -> None:
        values = ("{0} += {1}", "{0}[1:] = {1}[:-1]", "{0}[:] = {1} * 3", "{0} -= 1")
        self.line(self.random.choice(values).format(self.name(), self.name()))

    def loop(self) -> None:
        self.loops += 1
        self.line(f"for t{self.depth} in range({self.random.choice(('n', '2', 'n + 1'))}):")
        self.block(self.random.randint(1, 4))
        self.loops -= 1

    def while_loop(self) -> None:
        counter = f"c{self.depth}"
        self.line(f"{counter} = 0")
        self.line(f"while {counter} < n and {self.name()}[0] < 1000:")
        self.depth += 1
        self.line(f"{counter} += 1")
        self.depth -= 1
        self.loops += 1
        self.block(self.random.randint(1, 3))
        self.loops -= 1

    def branch(self) -> None:
        self.line(f"if {self.name()}[0] % {self.random.randint(2, 3)}:")
        self.block(self.random.randint(1, 3))
        if self.random.random() < 0.5:
            self.line("else:")
            self.block(self.random.randint(1, 3))

    def leave(self) -> None:
        self.line(f"if {self.name()}[1] % 3 == 0:")
        self.line("    " + self.random.choice(("break", "continue")))

    def call(self) -> None:
        one, other = self.random.sample(self.named, 2)
        self.line(f"{one}, {other} = helper({self.name()}, {self.name()}, n % 3)")


def _run_plain(kernel: Kernel[..., Any], *args: Any) -> Any:
    return kernel.py_func(*args)


def _interpret(kernel: Kernel[..., Any], *args: Any) -> Any:
    return kernel.interpret(*args)


def _run(kernel: Kernel[..., Any], *args: Any) -> Any:
    return kernel(*args)


def check(number: int, *, natively: bool) -> str | None:
    """Run a script in every way; the reason why it was refused, if it was."""
    text = Names(f"names {number}").text()
    function = define(text, f"names {number}")
    kernel: Kernel[..., Any] = Kernel(function)
    ways = [_interpret, _run] if natively else [_interpret]
    for size, rounds in ((2, 0), (3, 1), (5, 2), (4, 3)):
        args = np.arange(size) + 1, np.arange(size) * 3 - 1, rounds
        plain = run_once(_run_plain, kernel, args)
        for way in ways:
            found = run_once(way, kernel, args)
            if isinstance(found.error, HybridError) and not isinstance(
                found.error, UnboundVariable
            ):
                return found.error.message
            same_error = isinstance(found.error, UnboundVariable) == isinstance(
                plain.error, UnboundLocalError
            )
            assert same_error, f"{text}\n{found.error!r}\n{plain.error!r}"
            np.testing.assert_equal(found.result, plain.result, err_msg=text)
            if plain.error is None:
                np.testing.assert_equal(found.arguments, plain.arguments, err_msg=text)
    return None


if __name__ == "__main__":
    reasons: dict[str, int] = {}
    for index in range(int(sys.argv[1]), int(sys.argv[2])):
        try:
            reason = check(index, natively=index % 10 == 0) or "agrees"
        except Exception as error:
            print(f"script {index}: {error}", flush=True)
            reason = "FAILS"
        reasons[reason] = reasons.get(reason, 0) + 1
    for reason, count in sorted(reasons.items(), key=lambda item: -item[1])[:40]:
        print(f"{count:6} {reason}")
