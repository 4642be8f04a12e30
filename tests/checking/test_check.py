"""kernel.check and HYBRIDJIT_CHECK: sound code passes, and planted wrong code is told."""

from __future__ import annotations

import re
import subprocess
import sys
from array import array
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from numpy import empty

from hybridjit import config, hybrid
from hybridjit.errors import CheckError, ParseError
from hybridjit.hybrid import Kernel
from hybridjit.ir.expr import Add, Const, Eq, Node, Select
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Store
from hybridjit.ir.visit import rewrite
from hybridjit.lowering.pipeline import lower
from hybridjit.runtime import compiler
from hybridjit.target import Target

Array = Any


@hybrid.script
def scaled(a: Array, b: Array) -> None:
    for i in range(a.shape[0]):
        b[i] = a[i] * 3


@hybrid.script
def total(a: Array) -> Any:
    return np.sum(a)


@hybrid.script
def waves(a: Array) -> Any:
    return np.sin(a) * 2, a + 1


@hybrid.script
def picked(a: Array, i: int) -> Any:
    return a[i]


@hybrid.script
def halved(a: Array, b: Array) -> None:
    for i in range(a.shape[0]):
        b[i] = a[i] // a[0]


@hybrid.script
def swapped(a: Array, b: Array) -> Any:
    return b + 0, a + 0


TABLE = np.zeros(4)


@hybrid.script
def shifted() -> Array:
    b = hybrid.output_tensor((4,), "float64")
    for i in range(1, 4):
        b[i] = TABLE[i - 1]
    return b


def fresh(kernel: Kernel[..., Any]) -> Kernel[..., Any]:
    return Kernel(kernel.__hybrid_function__)


def lower_wrongly(func: PrimFunc, target: Target, **options: bool) -> PrimFunc:
    """Lowered code in which index 1 of an array of floats is set to twice what it should be."""

    def rule(node: Node) -> Node | None:
        if not isinstance(node, Store) or len(node.indices) != 1:
            return None
        is_wrong = Eq(node.indices[0], Const(1))
        return replace(node, value=Select(is_wrong, Add(node.value, node.value), node.value))

    lowered = lower(func, target, **options)
    return replace(lowered, body=rewrite(lowered.body, rule))


@pytest.fixture
def wrong_code() -> Any:
    with (
        patch.object(compiler, "lower", lower_wrongly),
        config.scope(cache_enabled=False),
    ):
        yield


def run(kernel: Kernel[..., Any], *args: Any, **kwargs: Any) -> Any:
    with config.scope(check=True):
        return kernel(*args, **kwargs)


def test_sound_kernels_agree() -> None:
    a = np.arange(40.0)
    assert str(scaled.check(a, np.zeros(40))) == (
        "'scaled' and its plain function agree, bit for bit"
    )
    assert "within the bound" in str(total.check(a))
    assert "within the bound" in str(waves.check(a.astype(np.float32)))


@hybrid.script
def products_along_rows(a: Array, v: Array) -> Array:
    return np.vecdot(a, v), np.matvec(a, v), np.vecmat(v, a.T)


@pytest.mark.skipif(not hasattr(np, "matvec"), reason="NumPy before 2.2")
def test_sums_of_products_along_rows_agree() -> None:
    """The order of their terms is open, though no name of a sum is in the script."""
    a = np.random.default_rng(0).random((300, 333))
    products_along_rows.check(a, a[0])


def test_arguments_stay_as_they_are() -> None:
    b = np.zeros(4)
    scaled.check(np.ones(4), b)
    assert not b.any()


def test_checked_calls_do_what_calls_do() -> None:
    b = np.zeros(4)
    assert run(scaled, np.ones(4), b) is None
    assert b.tolist() == [3, 3, 3, 3]
    assert run(total, np.ones(5)) == 5


def test_arrays_that_share_memory() -> None:
    a = np.arange(9.0)
    run(scaled, a[:-1], a[1:])
    assert a.tolist() == [0] * 9


def test_results_into_memory_of_arguments() -> None:
    a = np.arange(6.0)
    run(swapped, a[:3], a[3:], out=(a[:3], a[3:]))
    assert a.tolist() == [3, 4, 5, 0, 1, 2]


def test_result_into_what_the_script_captures() -> None:
    TABLE[:] = range(4)
    run(shifted, out=TABLE)
    assert TABLE.tolist() == [0, 0, 1, 2]


def test_code_for_any_size_is_what_is_checked() -> None:
    """Sizes are constants in the first translation only, as in calls that are not checked."""
    kernel = fresh(scaled)
    for size in (3, 4, 5, 6):
        run(kernel, np.ones(size), np.zeros(size))
    assert len(kernel.cache_info()) == 2


def test_subclasses_of_arrays() -> None:
    """What one says of its memory need not be so."""

    class Liar(np.ndarray[Any, Any]):
        shape: Any = (1 << 40,)

    array: Any = np.arange(6.0)[::2]
    assert run(total, array.view(Liar)) == 6


def test_errors_are_compared_and_raised() -> None:
    a = np.arange(3)
    picked.check(a, 7)
    with pytest.raises(IndexError, match="out of bounds"):
        run(picked, a, 7)


def test_integer_division_by_zero_is_not_compared() -> None:
    """NumPy warns and gives 0; a script raises."""
    assert "not checked" in str(halved.check(np.zeros(3, int), np.zeros(3, int)))


def test_what_is_refused_stays_refused() -> None:
    @hybrid.script
    def refused(a: Array) -> Any:
        return {1: a}

    with pytest.raises(ParseError, match="dicts are not supported"):
        refused.check(np.ones(3))


def test_callbacks_are_not_called_twice() -> None:
    seen: list[int] = []

    @hybrid.packed
    def note(x: Array) -> None:
        seen.append(len(x))

    @hybrid.script
    def calls(a: Array) -> None:
        note(a)

    assert "would be called twice" in str(calls.check(np.ones(3)))
    assert seen == [3]


@pytest.mark.usefixtures("wrong_code")
def test_a_difference_is_told_with_place_and_values(tmp_path: Path) -> None:
    with (
        patch("tempfile.tempdir", str(tmp_path)),
        pytest.raises(CheckError, match="plain Python") as caught,
    ):
        fresh(scaled).check(np.arange(1.0, 6.0), np.zeros(5))
    text = str(caught.value)
    assert "argument 'b' at [1]" in text
    assert "b[i] = a[i] * 3" in text
    assert re.search(r"in native code, and np.float64\(6.0\) in plain Python", text)
    (kept,) = tmp_path.iterdir()
    assert str(kept) in text


@pytest.mark.usefixtures("wrong_code")
def test_the_file_repeats_the_call(tmp_path: Path) -> None:
    with patch("tempfile.tempdir", str(tmp_path)), pytest.raises(CheckError, match="native"):
        fresh(scaled).check(np.arange(1.0, 6.0), np.zeros(5))
    (kept,) = tmp_path.iterdir()
    # In a new process nothing is wrong with the code, so that both agree there.
    found = subprocess.run([sys.executable, str(kept)], capture_output=True, text=True, check=False)
    assert "agree, bit for bit" in found.stdout, found.stderr


@pytest.mark.usefixtures("wrong_code")
def test_calls_are_checked_even_if_the_dispatcher_knows_them() -> None:
    kernel = fresh(scaled)
    a = np.zeros(5)
    for _ in range(4):
        kernel(a, np.zeros(5))
    with pytest.raises(CheckError, match="argument 'b'"):
        run(kernel, a + 1, np.zeros(5))


def test_the_environment_turns_it_on() -> None:
    text = (
        "from hybridjit import config, hybrid\nassert config.current().check\nimport numpy as np\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], env={"HYBRIDJIT_CHECK": "1", "PATH": ""}, check=False
    )
    assert done.returncode == 0


def unset_row(n: int) -> Array:
    return empty((2, n), np.int32)


@hybrid.script
def partly_set(a: Array, n: int) -> Any:
    b, c = np.empty_like(a), np.empty(n)
    b[1:] = a[1:]
    c[::2] = 1
    return b, c, unset_row(n)


def test_elements_that_nobody_set_agree() -> None:
    """NumPy leaves them to chance, scripts have zeros; functions that are called are looked at."""
    for size in (1, 9, 100):
        freed = [np.full(size, 7.7) for _ in range(10)]
        del freed
        partly_set.check(np.arange(float(size)), size)


summed = np.sum


@hybrid.script
def sums_by_other_names(a: Array) -> Any:
    def inside(x: Array) -> Any:
        return np.sum(x)

    return inside(a), summed(a)


@hybrid.script
def complex_products(a: Array) -> Array:
    return a * a


def test_sums_by_other_names_agree() -> None:
    sums_by_other_names.check(np.random.default_rng(0).standard_normal(10007))


def test_complex_products_agree() -> None:
    """Where a processor can, NumPy rounds a product and a sum at once."""
    parts = np.random.default_rng(0).standard_normal((2, 1000))
    complex_products.check(parts[0] + 1j * parts[1])


@hybrid.script
def counted_up(a: Array) -> Any:
    for i in range(a.shape[0]):
        a[i] += 1
    return a.sum()


def test_arrays_of_others_are_copied_too() -> None:
    """The plain function has no use for a memoryview, and must not write to what it shows."""
    memory = array("d", [0, 0, 0])
    for given in (memory, memoryview(memory)):
        counted_up.check(given)
        assert list(memory) == [0, 0, 0]
    assert run(counted_up, memory) == 3
    assert list(memory) == [1, 1, 1]


def test_strides_of_arrays_without_an_owner() -> None:
    counted_up.check(np.from_dlpack(np.arange(20.0)[::-2]))


@hybrid.script
def squared(n: Any) -> Any:
    return n, (n * n, 1.0)


def test_integers_of_python_that_outgrow_64_bits_are_not_compared() -> None:
    assert "integers differ from Python's here" in str(squared.check(2**40))
    assert "agree, bit for bit" in str(squared.check(2**20))
    assert "agree, bit for bit" in str(squared.check(-3))
