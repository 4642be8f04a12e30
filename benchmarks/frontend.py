"""How long reading, typing and verifying a script takes: the budget is 5 ms for ten statements."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table

import hybridjit as hj
from hybridjit import hybrid
from hybridjit.frontend.captures import Environment
from hybridjit.frontend.parse import parse
from hybridjit.ir.dtype import FLOAT32
from hybridjit.ir.printer import print_func
from hybridjit.ir.verify import verify
from hybridjit.scalars.specs import ArraySpec, Spec
from hybridjit.source import read_function

ROUNDS = 200


@hybrid.script
def ten_statements(a, b):
    c = output_tensor(a.shape, a.dtype)
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(1, a.shape[1]):
            x = a[i, j] * 2.0 + b[j]
            if x > 0.0:
                total += x
            else:
                x = -x
            c[i, j] = x + a[i, j - 1]
    return c, total


def best(run: Callable[[], Any]) -> float:
    """The best time of many runs, in milliseconds."""
    times: list[float] = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def main() -> None:
    pyfunc = ten_statements.__hybrid_function__
    specs: list[Spec] = [ArraySpec(FLOAT32, (64, 64)), ArraySpec(FLOAT32, (64,))]
    source = read_function(pyfunc)
    environment = Environment.of(pyfunc)
    func = parse(source, environment, specs).func
    with hj.config.scope(verify=False):
        unverified = best(lambda: parse(source, environment, specs))
    rows = {
        "read the source": best(lambda: read_function(pyfunc)),
        "parse and infer": unverified,
        "parse, infer and verify": best(lambda: parse(source, environment, specs)),
        "verify": best(lambda: verify(func)),
        "print": best(lambda: print_func(func)),
    }
    table = Table("step", "best of many", title="front end, ten statements (budget: 5 ms)")
    for name, milliseconds in rows.items():
        table.add_row(name, f"{milliseconds:.2f} ms")
    Console().print(table)


if __name__ == "__main__":
    main()
