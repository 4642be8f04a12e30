"""Our math functions over 64k elements, against NumPy (SVML where it has it) and Numba.

A script with one loop per function. The three are timed in turn, and the best time of each counts.

    python -m benchmarks.math [function ...]
"""

import linecache
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np

from benchmarks.turns import best_times
from hybridjit import hybrid

COUNT = 1 << 16
ROUNDS = 60
Array = np.ndarray[Any, Any]

# ours: NumPy's, Numba's as an expression of x (and y), the interval of x
FUNCTIONS: dict[str, tuple[str | None, str, float, float]] = {
    "exp": ("exp", "math.exp(x)", -10, 10),
    "exp2": ("exp2", "np.exp2(x)", -10, 10),
    "expm1": ("expm1", "math.expm1(x)", -3, 3),
    "log": ("log", "math.log(x)", 0.1, 100),
    "log2": ("log2", "np.log2(x)", 0.1, 100),
    "log10": ("log10", "math.log10(x)", 0.1, 100),
    "log1p": ("log1p", "math.log1p(x)", -0.9, 10),
    "sqrt": ("sqrt", "math.sqrt(x)", 0.1, 100),
    "cbrt": ("cbrt", "np.cbrt(x)", -10, 10),
    "sin": ("sin", "math.sin(x)", -100, 100),
    "cos": ("cos", "math.cos(x)", -100, 100),
    "tan": ("tan", "math.tan(x)", -100, 100),
    "asin": ("arcsin", "math.asin(x)", -1, 1),
    "acos": ("arccos", "math.acos(x)", -1, 1),
    "atan": ("arctan", "math.atan(x)", -5, 5),
    "atan2": ("arctan2", "math.atan2(x, y)", -5, 5),
    "sinh": ("sinh", "math.sinh(x)", -5, 5),
    "cosh": ("cosh", "math.cosh(x)", -5, 5),
    "tanh": ("tanh", "math.tanh(x)", -5, 5),
    "asinh": ("arcsinh", "math.asinh(x)", -5, 5),
    "acosh": ("arccosh", "math.acosh(x)", 1, 10),
    "atanh": ("arctanh", "math.atanh(x)", -0.99, 0.99),
    "sigmoid": (None, "1 / (1 + math.exp(-x))", -10, 10),
    "pow": ("power", "x ** y", 0.1, 10),
    "hypot": ("hypot", "math.hypot(x, y)", -10, 10),
    "erf": (None, "math.erf(x)", -3, 3),
    "erfc": (None, "math.erfc(x)", -3, 3),
    "gamma": (None, "math.gamma(x)", 0.1, 30),
    "lgamma": (None, "math.lgamma(x)", 0.1, 30),
    "fmod": ("fmod", "np.fmod(x, y)", 0, 100),
}
BINARY = ("atan2", "pow", "hypot", "fmod")

Run = Callable[[], object]


def main(names: Sequence[str] = tuple(FUNCTIONS)) -> None:
    print(f"{'':10}{'ns per element':>24}{'times faster than':>24}")
    print(f"{'':10}{'ours':>8}{'NumPy':>8}{'Numba':>8}{'NumPy':>14}{'Numba':>10}")
    for dtype in ("float32", "float64"):
        rows = [report(name, dtype) for name in names]
        over_numpy = [row[0] for row in rows if row[0] is not None]
        over_numba = [row[1] for row in rows]
        means = (geometric_mean(over_numpy), geometric_mean(over_numba))
        print(f"{dtype} geometric mean{means[0]:>31.2f}{means[1]:>10.2f}")


def report(name: str, dtype: str) -> tuple[float | None, float]:
    """Print one line; how much faster we are than NumPy and than Numba."""
    runs = make_runs(name, dtype)
    times = best_times([run for run in runs if run is not None], rounds=ROUNDS)
    ours, *others, numba_ = (microseconds * 1e3 / COUNT for microseconds in times)
    numpy = others[0] if others else None
    numpy_text = "" if numpy is None else f"{numpy:.3f}"
    ratio = "" if numpy is None else f"{numpy / ours:.2f}"
    label = f"{name} {dtype[-2:]}"
    print(
        f"{label:10}{ours:>8.3f}{numpy_text:>8}{numba_:>8.3f}{ratio:>14}{numba_ / ours:>10.2f}",
        flush=True,
    )
    return None if numpy is None else numpy / ours, numba_ / ours


def make_runs(name: str, dtype: str) -> tuple[Run, Run | None, Run]:
    numpy_name, expression, low, high = FUNCTIONS[name]
    rng = np.random.default_rng(0)
    arity = 2 if name in BINARY else 1
    args: list[Array] = [rng.uniform(low, high, COUNT).astype(dtype)]
    args += [rng.uniform(0.1, 5, COUNT).astype(dtype)] * (arity - 1)
    out = np.empty(COUNT, dtype)

    call = f"{name}(x, y)" if arity == 2 else f"{name}(x)"
    ours: Any = hybrid.script(make_loop("x ** y" if name == "pow" else call, arity))
    theirs: Any = numba.njit(make_loop(expression, arity))
    ours(*args, out)
    theirs(*args, out)
    ufunc: Any = None if numpy_name is None else getattr(np, numpy_name)
    return (
        lambda: ours(*args, out),
        None if ufunc is None else lambda: ufunc(*args, out),
        lambda: theirs(*args, out),
    )


def make_loop(expression: str, arity: int) -> Any:
    """A function that stores an expression of x (and y) for every element."""
    names = ("x", "y")[:arity]
    parameters = ", ".join(f"{name}s" for name in names)
    bindings = "; ".join(f"{name} = {name}s[i]" for name in names)
    source = (
        f"def loop({parameters}, out):\n"
        f"    for i in range(out.size):\n"
        f"        {bindings}\n"
        f"        out[i] = {expression}\n"
    )
    file = f"<{expression}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    scope: dict[str, Any] = {"math": math, "np": np}
    exec(compile(source, file, "exec"), scope)
    return scope["loop"]


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


if __name__ == "__main__":
    main(sys.argv[1:] or tuple(FUNCTIONS))
