"""Random scripts in the ways that numerical code is written: products, folds, transposes, stencils,
planes, updates in place, each as statements on whole arrays or as loops.

Other generators draw from the whole language, and hardly ever what most of the optimiser is for.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

# The arrays of every script and their axes, by name: n, m and l are sizes.
AXES = {
    **{"x": "nm", "y": "nm", "q": "mn", "w": "ml", "c": "nl", "g": "nn"},
    **{"u": "n", "v": "m", "d": "nml", "e": "nml", "h": "n"},
}
# Indices, of a type of their own.
TABLES = {"h": "int64"}
DTYPES = ("float64", "float64", "float32", "float32", "int32", "int16")
MATRICES = ("x", "y", "q.T", "x * 2", "(x + y)", "y[::-1]", "(x - u[:, None])", "x * v")
# What stands where an element has no neighbour.
_EDGES = ("0", "1", "x[i, j]")


@dataclass(frozen=True, slots=True)
class Idioms:
    """The text of a function `kernel` of all arrays, and their type."""

    text: str
    dtype: str


def make_idioms(rng: random.Random) -> Idioms:
    """A random script."""
    return _Writer(rng).script()


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.results: list[str] = []

    def script(self) -> Idioms:
        dtype = self.rng.choice(DTYPES)
        for _ in range(self.rng.choice((1, 1, 1, 2, 2, 3))):
            self.rng.choice(WAYS)(self)
        head = [f"def kernel({', '.join(AXES)}):", "    n, m = x.shape", "    l = w.shape[1]"]
        results = ", ".join(self.results) or "n"
        text = "\n".join([*head, *(f"    {line}" for line in self.lines), f"    return {results}"])
        return Idioms(text + "\n", dtype)

    def _matrix(self) -> str:
        return self.rng.choice(MATRICES)

    def _name(self, value: str) -> str:
        name = f"t{len(self.results)}"
        self.lines.append(f"{name} = {value}")
        self.results.append(name)
        return name

    def _loops(self, order: str, line: str, *before: str) -> None:
        """Loops over the axes by their letters, around one line; others in front of the last."""
        sizes = {"i": "n", "j": "m", "k": "l", "r": "n"}
        for depth, name in enumerate(order):
            if depth == len(order) - 1:
                self.lines += ["    " * depth + text for text in before]
            self.lines.append("    " * depth + f"for {name} in range({sizes[name]}):")
        self.lines.append("    " * len(order) + line)

    # -- products ------------------------------------------------------------------------------

    def product(self) -> None:
        left, right = self._matrix(), self.rng.choice(("w", "w", "w * 3", "d[0]", "w[:, ::-1]"))
        form = self.rng.choice(("{}", "{}", "{} + c", "2 * ({}) + c", "({}).T", "-({})"))
        self._name(form.format(f"({left}) @ ({right})"))

    def product_of_itself(self) -> None:
        a = self._matrix()
        self._name(self.rng.choice((f"({a}).T @ ({a})", f"({a}) @ ({a}).T", f"({a}) @ y.T")))

    def product_in_place(self) -> None:
        line = self.rng.choice(("c[:] = x @ w", "c += x @ w", "c -= 2 * (y @ w)", "g[:] = x @ q"))
        self.lines.append(line)

    def of_a_vector(self) -> None:
        a = self._matrix()
        ways = (f"({a}) @ v", f"u @ ({a})", f"({a}) @ v + u", f"({a}).T @ u", "np.outer(u, v)")
        self._name(self.rng.choice((*ways, "np.dot(v, v)", "d @ w.T[:, :1].T[0]", "v @ w")))

    def product_in_loops(self) -> None:
        order = self.rng.choice(("ikj", "ijk", "kij", "jik", "kji", "jki"))
        line = self.rng.choice(("c[i, k] += x[i, j] * w[j, k]", "c[i, k] -= y[i, j] * w[j, k]"))
        match self.rng.randrange(3):
            case 0:
                self.lines.append("c[:] = 0")
            case 1:
                self._loops("ikj", line, "c[i, k] = 0")
                return
            case _:
                pass
        self._loops(order, line)

    def product_by_sums(self) -> None:
        self._loops("ikj", "s += x[i, j] * w[j, k]", "s = x[0, 0] * 0")
        self.lines.append("        c[i, k] = s")

    def decomposed(self) -> None:
        """Sums over what earlier iterations made."""
        stop = self.rng.choice(("i", "r", "min(i, r)"))
        self.lines += [
            "for i in range(n):",
            "    for r in range(n):",
            f"        for k in range({stop}):",
            "            g[i, r] -= (g[i, k] % 3) * (g[k, r] % 3)",
        ]

    # -- folds ---------------------------------------------------------------------------------

    def folds(self) -> None:
        a = self.rng.choice(("x", "x", "y", "d", "u", "x[1:]", "q.T"))
        ways = [f"{a}.sum()", f"({a} * {a}).sum()", f"{a}.min()", f"{a}.max()", f"({a} > 0).sum()"]
        ways += [f"np.abs({a}).max()", f"{a}.mean()", f"np.any({a} > 3)", f"({a} * 2 + 1).sum()"]
        for value in self.rng.sample(ways, self.rng.choice((2, 2, 3, 5))):
            self._name(value)
            if self.rng.random() < 0.15:
                self.lines.append(self.rng.choice(("x[1:] = 2", "u += 1", "y[:] = x", "d *= 2")))

    def folds_of_rows(self) -> None:
        a, axis = self._matrix(), self.rng.choice((0, 1))
        names = self.rng.sample(("sum", "max", "min", "sum"), self.rng.choice((1, 2)))
        for name in names:
            self._name(f"({a}).{name}(axis={axis})")

    def softmax(self) -> None:
        a, axis = self._matrix(), self.rng.choice((0, 1, 1))
        largest = self._name(f"({a}).max(axis={axis}, keepdims=True)")
        shifted = self._name(f"({a}) - {largest}")
        self._name(f"{shifted} * {shifted}.sum(axis={axis}, keepdims=True)")

    def selected(self) -> None:
        test = self.rng.choice(("x > 0", "y < 2", "x != y"))
        ways = (f"x[{test}].sum()", f"y[{test}] * 2", f"(x * y)[{test}].sum()")
        self._name(self.rng.choice(ways))

    # -- elements ------------------------------------------------------------------------------

    def transposed(self) -> None:
        ways = ("q.T + 0", "x + q.T", "x.T * q", "q.T[::-1] - y", "(x * q.T).T + q")
        self._name(self.rng.choice(ways))

    def transposed_in_place(self) -> None:
        lines = ("x[:] = q.T", "q[:] = x.T * 2", "x += q.T", "g[:] = g.T", "g += g.T")
        self.lines.append(self.rng.choice(lines))

    def transposed_in_loops(self) -> None:
        lines = ("x[i, j] = q[j, i]", "q[j, i] = x[i, j] + y[i, j]", "x[i, j] += q[j, i] * v[j]")
        self._loops(self.rng.choice(("ij", "ji")), self.rng.choice(lines))

    def planes(self) -> None:
        lines = ("d[:, :, k] = e[:, :, k] * 2", "d[:, :, k] += e[:, :, k] + x", "d[:, :, k] = x")
        late = "d[:, :, k] = d[:, :, k - 1] + e[:, :, k]"
        stop, line = ("1, l", late) if self.rng.random() < 0.4 else ("l", self.rng.choice(lines))
        self.lines += [f"for k in range({stop}):", f"    {line}"]

    def planes_in_loops(self) -> None:
        lines = ("d[i, j, k] = e[i, j, k] * 2", "d[i, j, k] += x[i, j] * e[i, j, k]")
        self._loops(self.rng.choice(("kij", "kji", "ikj", "jki")), self.rng.choice(lines))

    def updates(self) -> None:
        a = self.rng.choice(("x", "y", "d", "u", "x[1:]", "c[:, ::2]", "y[::-1]"))
        ways = (f"{a} += 1", f"{a} *= 2", f"{a} -= {a}.min()", f"{a} += {a} * {a}", f"{a} %= 5")
        self.lines += self.rng.sample(ways, self.rng.choice((2, 2, 3)))

    def shifted(self) -> None:
        lines = ("x[1:] = x[:-1] + y[1:]", "x[:-1] = x[1:] * 2", "u[:] = u[::-1] + u")
        more = ("x[:, 1:] += x[:, :-1]", "y[1:-1] = (x[2:] + x[:-2]) * 2", "x[:] = y[::-1] - x")
        self.lines.append(self.rng.choice(lines + more))

    def stencil(self) -> None:
        edge = self.rng.choice(_EDGES)
        up, left = self.rng.choice((1, 2)), self.rng.choice((1, 3))
        parts = (
            f"(x[i - {up}, j] if i >= {up} else {edge})",
            f"(x[i, j - {left}] if j >= {left} else {edge})",
            f"(x[i + 1, j] if i + 1 < n else {edge})",
            f"(x[i, j + 1] if j < m - 1 else {edge})",
            f"(x[i - 1, j - 1] if i > 0 and j > 0 else {edge})",
        )
        value = " + ".join(self.rng.sample(parts, self.rng.choice((1, 2, 3))))
        target = self.rng.choice(("y", "y", "y", "x"))
        self._loops(self.rng.choice(("ij", "ji")), f"{target}[i, j] = {value}")

    def looked_up(self) -> None:
        """Elements at places that are read from a table, which changes meanwhile."""
        place = f"h[i] % {self.rng.choice(('m', 'm', '3'))}"
        place = place if "3" not in place else "(h[i] % 3) % m"
        branch = [f"h[i] = {self.rng.choice(('h[i] + 1', '2', 'i'))}", f"u[i] = v[{place}] * 2"]
        branch = branch if self.rng.random() < 0.6 else branch[::-1]
        other = self.rng.choice(([], ["else:", f"    u[i] = v[{place}] - 1"]))
        lines = [f"if v[{place}] > 0:", *(f"    {line}" for line in branch), *other]
        self.lines += ["for i in range(n):", *(f"    {line}" for line in lines)]

    def chain(self) -> None:
        first = self._name(f"{self._matrix()} + {self._matrix()}")
        second = self._name(f"{first} * {self.rng.choice(('y', '2', first, 'v'))}")
        self._name(f"{second}{self.rng.choice(('[::-1]', '', '[1:]', '.T'))} - 1")


WAYS: tuple[Callable[[_Writer], None], ...] = (
    *(_Writer.product, _Writer.product, _Writer.product_of_itself, _Writer.product_in_place),
    *(_Writer.of_a_vector, _Writer.of_a_vector, _Writer.product_in_loops, _Writer.product_by_sums),
    *(_Writer.decomposed, _Writer.folds, _Writer.folds, _Writer.folds_of_rows, _Writer.softmax),
    *(_Writer.selected, _Writer.transposed, _Writer.transposed_in_place),
    *(_Writer.transposed_in_loops, _Writer.planes, _Writer.planes_in_loops, _Writer.updates),
    *(_Writer.shifted, _Writer.stencil, _Writer.stencil, _Writer.chain, _Writer.looked_up),
)
