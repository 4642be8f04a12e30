"""What is surely written, what is surely inside, and how long values are needed."""

import pytest

import hybridjit as hj
from hybridjit.analysis.coverage import Coverage, is_set_afresh
from hybridjit.analysis.inside import find_outside
from hybridjit.analysis.instances import infer_instances
from hybridjit.ir.expr import Buffer
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.printer import name_buffers


def parse(body: str) -> PrimFunc:
    lines = ["def f(a: int64['n'], m: int):", "t = allocate((a.shape[0],), 'int64', 'global')"]
    text = "\n    ".join([*lines, *body.strip("\n").splitlines()])
    return hj.parse(text)


def cover(body: str) -> Coverage:
    func = parse(body)
    return Coverage(infer_instances(func, func.body), func.body, buffer_of(func))


def buffer_of(func: PrimFunc) -> Buffer:
    return name_buffers(func)["t"]


ALL = ("x0 >= 0", "x0 < p0")  # p0 is what the first dimension is called

WHOLE = """
for i in range(a.shape[0]):
    t[i] = a[i]
"""
ODD_AND_EVEN = """
for i in range(0, a.shape[0], 2):
    t[i] = a[i]
for j in range(1, a.shape[0], 2):
    t[j] = a[j]
"""
BRANCHES = """
for i in range(a.shape[0]):
    if i < m:
        t[i] = a[i]
    else:
        t[i] = 0
"""
DOWNWARDS = """
for i in range(a.shape[0] - 1, -1, -1):
    t[i] = a[i]
"""
BUT_THE_LAST = """
for i in range(a.shape[0] - 1):
    t[i] = a[i]
"""
IF_POSITIVE = """
for i in range(a.shape[0]):
    if a[i] > 0:
        t[i] = a[i]
"""
UNTIL_NEGATIVE = """
for i in range(a.shape[0]):
    if a[i] < 0:
        break
    t[i] = a[i]
"""
GATHERED = """
for i in range(a.shape[0]):
    t[a[i]] = a[i]
"""


@pytest.mark.parametrize("body", [WHOLE, ODD_AND_EVEN, BRANCHES, DOWNWARDS])
def test_all_is_written(body: str) -> None:
    assert cover(body).prove_written(ALL)


@pytest.mark.parametrize("body", [BUT_THE_LAST, IF_POSITIVE, UNTIL_NEGATIVE, GATHERED])
def test_some_may_not_be_written(body: str) -> None:
    assert not cover(body).prove_written(ALL)


@pytest.mark.parametrize(
    ("body", "is_set"),
    [
        *((body, True) for body in (WHOLE, ODD_AND_EVEN, BRANCHES, DOWNWARDS, BUT_THE_LAST)),
        (IF_POSITIVE, False),  # not in every round
        ("for i in range(a.shape[0]):\n    t[i] = t[i] + a[i]", False),
        ("for i in range(a.shape[0]):\n    t[i] = a[i]\n    t[i] = t[i] + 1", True),
    ],
)
def test_set_afresh(body: str, is_set: bool) -> None:
    func = parse(body)
    names = infer_instances(func, func.body).names
    assert is_set_afresh(func.body, names, buffer_of(func)) is is_set


def test_a_part_is_written() -> None:
    assert cover(BUT_THE_LAST).prove_written((*ALL, "x0 < p0 - 1"))


@pytest.mark.parametrize(
    ("read", "proved"),
    [
        ("a[i] = t[i]", True),
        ("a[i] = t[a.shape[0] - 1 - i]", False),
        ("if i > 0:\n        a[i] = t[i - 1]", True),
        ("if i + 1 < a.shape[0]:\n        a[i] = t[i + 1]", False),
        ("a[i] = t[a[i]]", False),
    ],
)
def test_reads_after_writes(read: str, proved: bool) -> None:
    body = f"{WHOLE}    {read}\n"
    assert cover(body).prove_read_after_write() is proved


def test_a_statement_reads_before_it_writes() -> None:
    assert not cover("for i in range(a.shape[0]):\n    t[i] = t[i] + 1").prove_read_after_write()


@pytest.mark.parametrize(
    ("reads", "window"),
    [
        ("a[i] = t[i]", 1),
        ("if i > 0:\n        a[i] = t[i - 1]", 2),
        ("if i > 4:\n        a[i] = t[i - 5] + t[i - 1]", 6),
        ("a[i] = t[0]", None),
        ("a[i] = t[i // 2]", None),
    ],
)
def test_windows(reads: str, window: int | None) -> None:
    assert cover(f"{WHOLE}    {reads}\n").find_window(0) == window


def test_what_may_be_overwritten_lives_on() -> None:
    """In the second round t[i] may still be what the first one wrote."""
    sure = (
        "for r in range(2):\n    for i in range(a.shape[0]):\n        t[i] = r\n        a[i] = t[i]"
    )
    assert cover(sure).find_window(0) == 1
    unsure = sure.replace("t[i] = r", "if a[i] > r:\n            t[i] = r")
    assert cover(unsure).find_window(0) is None


@pytest.mark.parametrize(
    ("body", "is_inside"),
    [
        (WHOLE, True),
        ("for i in range(a.shape[0]):\n    t[i - 1] = 0", False),
        ("for i in range(a.shape[0] + 1):\n    t[i] = 0", False),
        ("for i in range(m):\n    if i < a.shape[0]:\n        t[i] = 0", True),
        ("for i in range(m):\n    if 0 < i < a.shape[0]:\n        t[i - 1] = t[i]", True),
        (GATHERED, False),
    ],
)
def test_indices_inside(body: str, is_inside: bool) -> None:
    func = parse(body)
    part = infer_instances(func, func.body)
    assert (find_outside(part, buffer_of(func)) is None) is is_inside
