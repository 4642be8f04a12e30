"""Arrays whose elements are all set before any is read: what is proved, and that it is true."""

from __future__ import annotations

import itertools
from random import Random

import numpy as np
import pytest

from hybridjit.analysis.first_writes import find_set_outputs, prove_set
from hybridjit.analysis.lower_blocks import lower_blocks
from hybridjit.analysis.make_blocks import make_blocks
from hybridjit.frontend.parse import parse_text
from hybridjit.interp.run import interpret
from hybridjit.ir.func import PrimFunc

HEAD = 'a: float64[6, 5], b: float64["n", 5], k: int'


def parsed(body: str, head: str = HEAD) -> PrimFunc:
    lines = "".join(f"    {line}\n" for line in body.strip("\n").splitlines())
    return lower_blocks(parse_text(f"def f({head}):\n{lines}"))


def is_set(body: str, shape: str = "(6, 5)") -> bool:
    """Whether an output `c` of that shape is set by `body`, in blocks as without."""
    func = parsed(f'c = output_tensor({shape}, "float64")\n{body}\nreturn c')
    (c,) = func.outputs
    found = bool(find_set_outputs(func))
    assert prove_set(make_blocks(func.body), c) is found
    return found


PLAIN = """
for i in range(6):
    for j in range(5):
        c[i, j] = a[i, j]
"""
ROWS = """
for i in range(6):
    s = 0.0
    for j in range(5):
        s = s + a[i, j]
        c[i, j] = s
    for j in range(5):
        c[i, j] = c[i, 4 - j] / s
for i in range(6):
    c[i, 0] = c[5 - i, 1]
"""
BRANCHES = """
for j in range(5):
    for i in range(6):
        if a[i, j] > 0.0:
            c[i, j] = 1.0
        else:
            c[i, j] = 2.0
            c[i, j] = c[i, j] + 1.0
"""
INNER_JUMPS = """
for i in range(6):
    for j in range(5):
        s = 0.0
        while s < 10.0:
            s = s + 1.0
            if s > a[i, j]:
                break
        c[i, j] = s
"""
CHECKED = """
for i in range(6):
    for j in range(5):
        assert a[i, j] > 0.0
        c[i, j] = a[k, j]
if k > 3:
    return c
"""
SPLIT = """
for i_0 in range(3):
    for j_0 in range(5):
        for i_1 in range(2):
            c[i_0 * 2 + i_1, j_0] = a[i_1, j_0]
for i in range(6):
    c[i, 0] = c[5 - i, 1]
"""


@pytest.mark.parametrize("body", [PLAIN, ROWS, BRANCHES, INNER_JUMPS, CHECKED, SPLIT])
def test_what_is_set(body: str) -> None:
    assert is_set(body)


def test_sizes_that_are_known_at_run_time() -> None:
    body = "for i in range(b.shape[0]):\n    for j in range(5):\n        c[i, j, 0] = b[i, j]"
    assert is_set(body, "(b.shape[0], 5, 1)")
    assert not is_set(body, "(b.shape[0] + 1, 5, 1)")
    assert not is_set(body, "(b.shape[0], 5, 2)")


JOINED = """
for i in range(b.shape[0]):
    for j in range(5):
        c[i, j] = b[i, j]
for i in range(6):
    for j in range(5):
        c[b.shape[0] + i, j] = a[i, j]
"""
STACKED = """
for i in range(6):
    for j in range(5):
        c[0, i, j] = a[i, j]
for j in range(5):
    for i in range(6):
        c[1, i, j] = 1.0
"""


def test_parts_that_lie_next_to_each_other() -> None:
    assert is_set(JOINED, "(b.shape[0] + 6, 5)")
    assert is_set(STACKED, "(2, 6, 5)")
    assert is_set(
        JOINED.replace("\n", "\ns = 1.0\n", 1) + "c[0, 0] = c[1, 1]", "(b.shape[0] + 6, 5)"
    )


def test_parts_that_do_not() -> None:
    assert not is_set(JOINED, "(b.shape[0] + 7, 5)")
    assert not is_set(JOINED, "(b.shape[0] + 6, 6)")
    assert not is_set(STACKED, "(3, 6, 5)")
    wrong = {
        "b.shape[0] + i": "b.shape[0] + i + 1",
        "range(b.shape[0])": "range(b.shape[0] - 1)",
        "= a[i, j]": "= c[i, j]",
        "c[i, j] =": "c[i, 0] =",
        "for i in range(6)": "if k > 3:\n    return c\nfor i in range(6)",
    }
    for text, other in wrong.items():
        assert not is_set(JOINED.replace(text, other), "(b.shape[0] + 6, 5)"), other
    assert not is_set(
        JOINED.replace("for i in range(6)", "s = c[0, 0]\nfor i in range(6)"), "(b.shape[0] + 6, 5)"
    )


NOT_SET = {
    "some rows": PLAIN.replace("range(6)", "range(5)"),
    "not the first row": PLAIN.replace("range(6)", "range(1, 6)"),
    "every other row": PLAIN.replace("range(6)", "range(0, 6, 2)"),
    "the same row": PLAIN.replace("c[i, j]", "c[0, j]"),
    "the diagonal": PLAIN.replace("c[i, j]", "c[j, j]"),
    "old values": PLAIN.replace("= a[i, j]", "= c[i, j] + 1.0"),
    "sometimes": PLAIN.replace("        c[", "        if a[i, j] > 0.0:\n            c["),
    "one side": BRANCHES.replace("            c[i, j] = 1.0", "            pass"),
    "a condition that reads": BRANCHES.replace("a[i, j] > 0.0", "c[i, j] > 0.0"),
    "a later row": PLAIN + "        c[i, j] = c[5 - i, j]",
    "a later element": PLAIN + "        c[i, j] = c[i, 4 - j]",
    "break": PLAIN + "        if a[i, j] > 0.0:\n            break",
    "continue": PLAIN.replace(
        "      c[", "      if a[i, j] > 0.0:\n            continue\n        c["
    ),
    "read before": "s = c[1, 1]" + PLAIN,
    "return before": "if k > 3:\n    return c" + PLAIN,
    "return inside": PLAIN + "        if a[i, j] > 0.0:\n            return c",
    "a while loop": f"while k > 3:{PLAIN}".replace("\n", "\n    "),
    "a loop around": f"for t in range(k):{PLAIN}".replace("\n", "\n    "),
    "nothing": "",
    "a part of a block": SPLIT.replace("c[i_0 * 2 + i_1, j_0] =", "s ="),
    "blocks with gaps": SPLIT.replace("range(2)", "range(1)"),
    "blocks from 1 on": SPLIT.replace("i_0 * 2 + i_1", "i_0 * 2 + i_1 + 1"),
    "another block": SPLIT.replace("a[i_1, j_0]", "a[i_1, j_0]\n            s = c[i_0, j_0]"),
}


@pytest.mark.parametrize("name", NOT_SET)
def test_what_is_not_set(name: str) -> None:
    assert not is_set(NOT_SET[name])


def test_each_output_is_proved_on_its_own() -> None:
    made = 'c = output_tensor((6, 5), "float64")\nd = output_tensor((6,), "float64")'
    func = parsed(f"{made}{PLAIN}\nreturn c, d")
    assert [buffer.name for buffer in find_set_outputs(func)] == ["c"]


def test_indices_in_digits() -> None:
    """Three loops make an index: it is proved only where it takes all values."""
    factors, extents = itertools.permutations((1, 2, 3, 4, 6), 3), [1, 2, 3]
    drawn = Random(0).sample([*itertools.product(factors, itertools.product(*[extents] * 3))], 90)
    proved = 0
    for steps, counts in [*drawn, ((6, 1, 2), (3, 2, 3)), ((1, 4, 2), (2, 3, 2))]:
        reached = [range(0, step * n, step) for step, n in zip(steps, counts, strict=True)]
        values = sorted(map(sum, itertools.product(*reached)))
        nest = [f"{'    ' * k}for v{k} in range({n}):" for k, n in enumerate(counts)]
        index = " + ".join(f"v{k} * {step}" for k, step in enumerate(steps))
        body = "\n".join([*nest, f"            c[{index}] = 1.0"])
        found = is_set(body, f"({values[-1] + 1},)")
        assert not found or values == [*range(len(values))], body
        proved += found
    assert proved > 2


BLOCKS = """
for j in range(0, {size}, {step}):
    for k in range(0, 9, 4):
        for i in range(0, 5, 2):
            if k + 4 >= 9:
                for p in range({panels}):
                    for r in range(min(5 - i, 2)):
                        for l in range({width}):
                            if j + p * {width} + l < {size}:
                                c[i + r, j + p * {width} + l] = 1.0
"""
PANELS = (
    "{all}",
    "min({size} - j, {step}) // {width}",
    "(min({size} - j, {step}) + {more}) // {width}",
)


def test_tiles_that_are_cut_at_the_end() -> None:
    """Sizes that panels divide or not: it is proved only where all elements are set, and with as
    many panels as there must be it is.
    """
    proved: dict[str, int] = dict.fromkeys(PANELS, 0)
    grid = itertools.product(PANELS, (1, 7, 8, 12), (4, 6), (2, 3), (0, 1))
    for panels, size, step, width, less in grid:
        numbers = {"size": size, "step": step, "width": width, "all": step // width}
        text = panels.format(**numbers, more=width - 1 - less)
        body = BLOCKS.format(panels=text, **numbers)
        stored: dict[tuple[int, int], float] = {}
        exec(body, {"c": stored})
        found = is_set(body, f"(5, {size})")
        assert not found or len(stored) == 5 * size, body
        proved[panels] += found
    assert all(proved.values()), proved


IN_ROWS = """
for k in range(0, 9, 4):
    for i in range(0, 30, 10):
        if k + 4 >= 9:
            for l in range(10):
                c[(i + l) // 5, (i + l) % 5] = 1.0
"""


def test_rows_that_are_one_index() -> None:
    assert is_set(IN_ROWS)
    assert is_set(
        IN_ROWS.replace("[(i + l) // 5,", "[(i + l) // 5 // 3, (i + l) // 5 % 3,"), "(2, 3, 5)"
    )
    wrong = {
        "(i + l) % 5": "(i + l + 1) % 5",
        "30": "20",
        ") // 5": ") // 6",
        "+ 4 >= 9": "+ 4 >= 13",
    }
    for text, other in wrong.items():
        assert not is_set(IN_ROWS.replace(text, other)), other
    assert not is_set(f"{IN_ROWS}            s = c[0, 0]")
    assert not is_set(f"{IN_ROWS}        else:\n            s = c[0, 0]")
    assert not is_set(f"{IN_ROWS}        if k > 4:\n            s = c[0, 0]")


# Proofs against the interpreter, which knows which elements are set


class _Texts:
    """Random statements on an array c[2, 2], most of them close to setting all of it."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def program(self) -> list[str]:
        rows = ["for v1 in range(2):", *_indented(self.block(1, ["v0", "v1"]))]
        rest = [] if self.random.random() < 0.5 else self.block(2, ["v0"])
        return ["for v0 in range(2):", *_indented([*rows, *rest])]

    def block(self, depth: int, loops: list[str]) -> list[str]:
        count = self.random.choice([1, 1, 1, 2, 2, 3])
        return [line for _ in range(count) for line in self.stmt(depth, loops)]

    def stmt(self, depth: int, loops: list[str]) -> list[str]:
        kinds = ["store", "jump", "if"] + ["loop"] * (9 if len(loops) < 2 else 1)
        kind = "store" if depth == 0 else self.random.choice(kinds)
        if kind == "store":
            value = self.random.choice(["1.0", "1.0", "1.0", self.element(loops)])
            return [f"{self.element(loops)} = {value}"]
        if kind == "jump":
            jumps = ["continue", "break"] if loops else []
            effect = self.random.choice([f"s = {self.element(loops)}", "s = 1.0", *jumps])
            return ["if a[0] > 0.5:", f"    {effect}"]
        if kind == "if":
            sides = [self.block(depth - 1, loops) for _ in range(2)]
            lines = [f"if a[{self.index(loops)}] > 0.5:", *_indented(sides[0])]
            is_full = self.random.random() < 0.9
            return [*lines, "else:", *_indented(sides[1])] if is_full else lines
        var = f"v{len(loops)}"
        bounds = self.random.choice(["2"] * 8 + ["1, 2", "0, 2, 2", "k"])
        return [f"for {var} in range({bounds}):", *_indented(self.block(depth - 1, [*loops, var]))]

    def element(self, loops: list[str]) -> str:
        if len(loops) > 1 and self.random.random() < 0.8:
            return self.random.choice(["c[v0, v1]", "c[v1, v0]"])
        return f"c[{self.index(loops)}, {self.index(loops)}]"

    def index(self, loops: list[str]) -> str:
        return self.random.choice([*loops, *loops, *loops, "0", "1"])


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


MADE = 'c = output_tensor((2, 2), "float64")'
UNSET = 'c = allocate((2, 2), "float64", "global", zero=False)'
READ = "for i in range(2):\n    for j in range(2):\n        d[i, j] = c[i, j]"


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(8))
def test_what_is_proved_is_true(seed: int) -> None:
    proved = 0
    for number in range(80):
        texts = _Texts(1000 * seed + number)
        lines = texts.program() if number % 2 else texts.block(3, [])
        body = "\n".join(["s = 0.0", *lines, READ])
        head = "a: float64[2], d: float64[2, 2], k: int"
        made = parsed(f"{MADE}\n{body}\nreturn c", head)
        if not find_set_outputs(made):
            continue
        proved += 1
        unset = parsed(f"{UNSET}\n{body}", head)
        for values in ([0.0, 0.0], [1.0, 0.0], [0.0, 1.0]):
            for count in range(3):
                interpret(unset, [np.array(values), np.zeros((2, 2)), count])
    assert proved > 0
