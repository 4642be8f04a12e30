"""tensorize and hj.intrinsic: do what a loop does by a program that does the same."""

from collections.abc import Iterator
from typing import Any

import pytest

import hybridjit as hj
from hybridjit.errors import ArgumentValueError
from hybridjit.intrinsics.registry import INTRINSICS
from hybridjit.schedule.schedule import Schedule
from tests.conftest import Golden
from tests.schedule.programs import numbers, refuse
from tests.support.before_after import assert_unchanged


@pytest.fixture(autouse=True)
def no_intrinsics() -> Iterator[None]:
    """Each test declares its own."""
    yield
    INTRINSICS.clear()


def declare(name: str, header: str, description: str, implementation: str) -> None:
    hj.intrinsic(
        name,
        hj.parse(f"def d({header}):\n{description}"),
        hj.parse(f"def e({header}):\n{implementation}"),
    )


def declare_dot(dtype: str = "int64") -> None:
    declare(
        "dot4",
        f"x: {dtype}[4], y: {dtype}[4], z: {dtype}[1]",
        "    for k in range(4):\n        z[0] = z[0] + x[k] * y[k]\n",
        "    z[0] = z[0] + ((x[0] * y[0] + x[1] * y[1]) + (x[2] * y[2] + x[3] * y[3]))\n",
    )


def declare_fill() -> None:
    declare(
        "fill4",
        "x: int64[4]",
        "    for k in range(4):\n        x[k] = 7\n",
        "    for k in vectorize(4):\n        x[k] = 7\n",
    )


def product(dtype: str = "int64") -> hj.PrimFunc:
    return hj.parse(f"""
def f(a: {dtype}[5, 8], b: {dtype}[8], c: {dtype}[5]):
    for i in range(5):
        for k in range(8):
            c[i] = c[i] + a[i, k] * b[k]
""")


def fill(index: str, bounds: str = "4") -> hj.PrimFunc:
    return hj.parse(f"""
def f(a: int64[30], n: int):
    for j in range(3):
        for z in range({bounds}):
            a[{index}] = 7
""")


def tensorize_dot(s: Any) -> None:
    s.split("k", factor=4)
    s.tensorize("k_1", "dot4")


def test_a_dot_product(golden: Golden) -> None:
    declare_dot()
    s = Schedule(product())
    tensorize_dot(s)
    golden.check(s.show(), "ir")
    assert_unchanged(s.original, s.func, [numbers(5, 8), numbers(8), numbers(5)], native=True)


@pytest.mark.parametrize(
    ("index", "bounds"),
    [("z", "4"), ("z + 4 * j", "4"), ("z + n - 1", "4"), ("z + 8 * j - 2", "2, 6"), ("z - 4", "4")],
)
def test_places(index: str, bounds: str) -> None:
    declare_fill()
    s = Schedule(fill(index, bounds))
    s.tensorize("z", "fill4")
    assert_unchanged(s.original, s.func, [numbers(30), 5], native=True)


@pytest.mark.parametrize(
    ("index", "bounds", "match"),
    [
        ("2 * z", "4", "is not accessed as 'x' is described"),
        ("z", "5", "another number of iterations"),
        ("z", "3, -1, -1", "loops must count up by 1"),
        ("a[0] % 9 + z", "4", "depends on memory"),
    ],
)
def test_loops_that_do_something_else(index: str, bounds: str, match: str) -> None:
    declare_fill()
    refuse(fill(index, bounds), lambda s: s.tensorize("z", "fill4"), match)


def test_a_tail_is_something_else(golden: Golden) -> None:
    declare_fill()
    s = Schedule(fill("z", "7"))
    s.split("z", factor=4)
    error = refuse(s.func, lambda s: s.tensorize("z_1", "fill4"), "If where Store is described")
    golden.check(str(error), "txt")


def test_arrays_that_would_overlap() -> None:
    declare_dot()
    func = hj.parse("""
def f(a: int64[8, 8], c: int64[8]):
    for i in range(8):
        for k in range(4):
            c[i] = c[i] + a[i, k] * c[k]
""")
    refuse(func, lambda s: s.tensorize("k", "dot4"), "would both lie in 'c', which it writes to")


def test_sums_that_are_rounded_otherwise() -> None:
    declare_dot("float32")
    s = Schedule(product("float32"))
    s.split("k", factor=4)
    refuse(s.func, lambda s: s.tensorize("k_1", "dot4"), "rounds otherwise than its description")


def test_sums_that_may_be() -> None:
    declare_dot("float32")

    @hj.hybrid.script(fastmath={"reassoc"})
    def product(a: Any, b: Any, c: Any) -> None:
        for i in range(a.shape[0]):
            for k in range(8):
                c[i] += a[i, k] * b[k]

    s = product.schedule(hj.f32["n", 8], hj.f32[8], hj.f32["n"])
    tensorize_dot(s)
    args = [numbers(5, 8).astype("f4"), numbers(8).astype("f4"), numbers(5).astype("f4")]
    assert_unchanged(s.original, s.func, args, native=True)


def test_a_name_for_a_value_that_changes() -> None:
    declare(
        "copies",
        "x: int64[4], y: int64[4]",
        "    for k in range(4):\n        x[k] = y[k]\n        y[k] = x[k]\n",
        "    for k in range(4):\n        x[k] = y[k]\n",
    )
    func = hj.parse("""
def f(a: int64[4], b: int64[4]):
    for z in range(4):
        t = a[z]
        a[z] = b[z]
        b[z] = t
""")
    refuse(func, lambda s: s.tensorize("z", "copies"), "may have changed when it is used")


def test_an_intrinsic_that_is_not_there() -> None:
    refuse(fill("z"), lambda s: s.tensorize("z", "fill4"), "there is no intrinsic 'fill4'")
    refuse(fill("z"), lambda s: s.tensorize("z", 5), "expected the name of an intrinsic, got 5")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("implementation", "match"),
    [
        ("    for k in range(4):\n        x[k] = 8\n", "does not compute what"),
        ("    for k in range(4):\n        x[k] = 7\n    x[5] = x[5]\n", "touches elements of 'x'"),
        ("    for k in range(4):\n        x[k] = 7\n    return\n", "returns nothing"),
        ("    for k in range(4):\n        x[k + x[0] * 0] = 7\n", "is not proved to be between"),
    ],
)
def test_wrong_implementations(implementation: str, match: str) -> None:
    with pytest.raises(ArgumentValueError, match=match):
        declare(
            "fill4", "x: int64[8]", "    for k in range(4):\n        x[k] = 7\n", implementation
        )


def test_descriptions_that_depend_on_data() -> None:
    text = "    for k in range(4):\n        if x[k] > 2:\n            x[k] = 7\n"
    with pytest.raises(ArgumentValueError, match="must not depend on data"):
        declare("some", "x: int64[4]", text, text)
