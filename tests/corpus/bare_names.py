"""DESIGN 2: the names of the language work in a script without an import."""

from hybridjit import hybrid
from tests.corpus.case import Array, case, sweep


@hybrid.script
def without_imports(a: Array, b: Array) -> None:
    for i in range(a.shape[0]):
        b[i] = sigmoid(a[i])  # noqa: F821  # pyright: ignore[reportUndefinedVariable]
        b[i] += ceil_div(i, 2)  # noqa: F821  # pyright: ignore[reportUndefinedVariable]


CASES = (case(without_imports, sweep(lambda d: (d(d.n), d.out(d.n))), ulp=4),)
