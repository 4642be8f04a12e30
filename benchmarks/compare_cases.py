"""What two checkouts are compared by, and the process that runs it in one of them.

It is run by its path in both of them (benchmarks/compare.py), so that both run these cases.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks import arrays, kernels, math, stdlib
from hybridjit import hybrid
from hybridjit import stdlib as hs
from tests.npbench import data
from tests.npbench import kernels as array_kernels
from tests.npbench import loops as loop_kernels

Run = Callable[..., Any]
SIZES = (8, 16, 32, 64, 128, 256, 512, 1024, 2048)
ELEMENTS = 1 << 20
LINE = 64


@dataclass(frozen=True, slots=True)
class Case:
    """A function and its arguments. Those that it changes are made anew for each run."""

    function: Callable[[], Run]
    args: Callable[[], Sequence[Any]]
    earlier: Sequence[Any] = ()
    changes: bool = False


def product(a, b):
    return a @ b


def all_cases() -> dict[str, Case]:
    """Every case by its name, `group/case`."""
    return dict((*_loops(), *_npbench(), *_arrays(), *_math(), *_operators(), *_products()))


def _scripted(function: Any) -> Callable[[], Run]:
    return lambda: hybrid.script(function)


def _loops() -> Iterator[tuple[str, Case]]:
    for function, args in kernels.cases():
        earlier = kernels.EARLIER.get(function, ())
        yield f"loops/{function.__name__}", Case(_scripted(function), lambda a=args: a, earlier)


def _npbench() -> Iterator[tuple[str, Case]]:
    for group, module in (("npbench", array_kernels), ("npbench loops", loop_kernels)):
        for name in data.KERNELS:
            function = getattr(module, name)
            yield (
                f"{group}/{name}",
                Case(_scripted(function), lambda n=name: data.make(n, "S"), changes=True),
            )


def _arrays() -> Iterator[tuple[str, Case]]:
    rng = np.random.default_rng(0)
    made = [rng.random(ELEMENTS) for _ in range(3)]
    for chain in arrays.CHAINS:
        args = made[: chain.parameters]
        yield f"arrays/{chain.function.__name__}", Case(_scripted(chain.function), lambda a=args: a)


def _math() -> Iterator[tuple[str, Case]]:
    rng = np.random.default_rng(0)
    for name, (_, _, low, high) in math.FUNCTIONS.items():
        arity = 2 if name in math.BINARY else 1
        call = f"{name}(x, y)" if arity == 2 else f"{name}(x)"
        function = math.make_loop("x ** y" if name == "pow" else call, arity)
        for dtype in ("float32", "float64"):
            x, y = (rng.uniform(*ends, math.COUNT).astype(dtype) for ends in ((low, high), (1, 5)))
            args = (*(x, y)[:arity], np.empty_like(x))
            yield f"math/{name} {dtype}", Case(_scripted(function), lambda a=args: a)


def _operators() -> Iterator[tuple[str, Case]]:
    for case in (*stdlib.layers(), *stdlib.matrices(), *stdlib.elementwise()):
        yield f"stdlib/{case.name}", Case(lambda c=case: c.ours, lambda c=case: c.args)


def _products() -> Iterator[tuple[str, Case]]:
    rng = np.random.default_rng(0)
    for size in SIZES:
        for dtype in ("float32", "float64"):
            args = [rng.random((size, size)).astype(dtype) for _ in range(2)]
            yield f"a @ b/{size} {dtype}", Case(_scripted(product), lambda a=args: a)
            yield f"hs.matmul/{size} {dtype}", Case(lambda: hs.matmul, lambda a=args: a)


@dataclass(slots=True)
class Server:
    """Runs cases on demand: one line of JSON in, one out."""

    cases: dict[str, Case] = field(default_factory=all_cases)
    ready: dict[str, tuple[Run, Sequence[Any]]] = field(default_factory=dict)

    def list(self) -> Sequence[str]:
        return [*self.cases]

    def prepare(self, name: str) -> float:
        """The seconds that the first call takes."""
        case = self.cases[name]
        run, args = case.function(), case.args()
        if not case.changes:
            args = [aligned(arg) for arg in args]
        if case.earlier:
            run(*case.earlier)
        start = time.perf_counter()
        run(*deepcopy(args))
        seconds = time.perf_counter() - start
        run(*deepcopy(args))
        self.ready[name] = run, args
        return seconds

    def measure(self, name: str, budget: float) -> float:
        """The least time of runs that take `budget` seconds in all; one run at least."""
        run, args = self.ready[name]
        changes = self.cases[name].changes
        best, spent, runs = float("inf"), 0.0, 0
        while spent < budget:
            given = turned(deepcopy(args), runs) if changes else args
            start = time.perf_counter()
            run(*given)
            seconds = time.perf_counter() - start
            best, spent, runs = min(best, seconds), spent + seconds + 1e-6, runs + 1
        return best

    def digest(self, name: str) -> str:
        """Stands for every bit of what one run returns, and of the arguments that it leaves."""
        run, args = self.ready[name]
        given = deepcopy(args)
        found = hashlib.sha256()
        for value in _arrays_in([run(*given), given]):
            found.update(f"{value.dtype}{value.shape}".encode() + value.tobytes())
        return found.hexdigest()

    def forget(self, name: str) -> None:
        self.ready.pop(name, None)


def turned(args: Sequence[Any], places: int) -> Sequence[Any]:
    """The arguments, with rows of bytes turned by so many places: where bits decide what is done, a
    processor that is given the same message again and again has learnt all that it will meet.
    """
    return [
        np.roll(arg, places) if isinstance(arg, np.ndarray) and arg.dtype == np.uint8 else arg
        for arg in args
    ]


def aligned(value: Any) -> Any:
    """An array that begins where a line of the cache does: elsewhere, by chance, each vector of a
    loop may lie on two of them (a fifth of the time of `log` in float32).
    """
    if not isinstance(value, np.ndarray) or not value.flags.c_contiguous:
        return value
    memory = np.empty(value.nbytes + LINE, np.uint8)
    start = -memory.ctypes.data % LINE
    made = memory[start : start + value.nbytes].view(value.dtype).reshape(value.shape)
    made[...] = value
    return made


def _arrays_in(value: Any) -> Iterator[np.ndarray]:
    """The arrays and numbers in nested tuples and lists, in their order."""
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _arrays_in(item)
    elif value is not None:
        yield np.asarray(value)


def main() -> None:
    """Answer until the other side is gone."""
    server = Server()
    with np.errstate(all="ignore"):
        for line in sys.stdin:
            name, *args = json.loads(line)
            try:
                answer = {"value": getattr(server, name)(*args)}
            except Exception as error:  # a case that one of the checkouts cannot run
                answer = {"error": f"{type(error).__name__}: {error}".partition("\n")[0]}
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
