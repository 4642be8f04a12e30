"""Kernels in other processes: what they need goes along, and nothing is run on the way."""

from __future__ import annotations

import copy
import ctypes
import linecache
import multiprocessing
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybridjit import Kernel, hybrid
from hybridjit.errors import ArgumentError, BoundsError
from hybridjit.hybrid import exp as exponential
from hybridjit.hybrid import output_tensor
from hybridjit.ir.dtype import DTYPES
from tests.support.own_process import PATIENCE

AnyKernel = Kernel[..., Any]
FACTOR = 3.0
TABLE: Any = np.arange(4.0)
REPOSITORY = Path(__file__).parents[2]


@hybrid.script
def at_module_level(a: Any) -> Any:
    return a[0] * FACTOR


def send(kernel: Any) -> Any:
    """The kernel as another process gets it."""
    return pickle.loads(pickle.dumps(kernel))


def check(kernel: AnyKernel, *args: Any) -> AnyKernel:
    """The kernel as another process gets it, which does the same there in all three ways."""
    sent = send(kernel)
    assert sent is not kernel
    expected = kernel(*args)
    for way in (sent, sent.interpret, sent.py_func):
        np.testing.assert_array_equal(way(*args), expected)
    return sent


# By name


def test_kernel_of_a_module_goes_by_name() -> None:
    assert send(at_module_level) is at_module_level
    assert len(pickle.dumps(at_module_level)) < 100


class Namespace:
    """A class whose kernel is static."""

    @staticmethod
    @hybrid.script
    def kernel(a: Any) -> Any:
        return a[0] + 1


def test_kernel_of_a_class_goes_by_name() -> None:
    assert send(Namespace.kernel) is Namespace.kernel


def test_copies_are_the_kernel_itself() -> None:
    kernel = make_scale(2.0)
    assert copy.copy(kernel) is kernel
    assert copy.deepcopy([kernel])[0] is kernel


# By text and values


def make_scale(factor: Any) -> AnyKernel:
    @hybrid.script
    def scale(a: Any) -> Any:
        b = output_tensor(a.shape, a.dtype)
        for i in range(a.shape[0]):
            b[i] = a[i] * factor
        return b

    return scale


@pytest.mark.parametrize("factor", [2, 2.5, np.float32(2.5), True, 1 + 2j], ids=str)
def test_captured_numbers(factor: Any) -> None:
    a = np.arange(3.0).astype(np.complex128)
    check(make_scale(factor), a)


def test_it_is_named_and_placed_as_it_was() -> None:
    kernel = make_scale(2.0)
    sent = send(kernel)
    assert (repr(sent), sent.__name__) == (repr(kernel), kernel.__name__)
    assert (sent.__qualname__, sent.__module__) == (kernel.__qualname__, kernel.__module__)


def test_captured_values_of_every_kind() -> None:
    table, name, pair, dtype = np.arange(3), "float32", (1, (2.5, np.int8(3))), np.dtype("int16")

    @hybrid.script
    def kernel(a: Any) -> Any:
        b = output_tensor(a.shape, name)
        c = hybrid.allocate((1,), dtype)
        for i in range(a.shape[0]):
            c[0] = table[i] + pair[0]
            b[i] = c[0] + pair[1][0] + pair[1][1] + FACTOR + TABLE[i]
        return b

    check(kernel, np.zeros(3))


def test_modules_and_names_of_the_language() -> None:
    @hybrid.script
    def kernel(a: Any, b: Any) -> Any:
        total = 0.0
        for i in hybrid.serial(a.shape[0]):
            total += np.sin(a[i]) + exponential(b[i])
        return total

    check(kernel, np.arange(3.0), np.arange(3.0))


ANNOTATED = """
import typing
import hybridjit as hj
from numpy.typing import NDArray

def make():
    @hj.script
    def kernel(a: hj.f64["n"], b: "hj.f64['n']", c: NDArray, d: typing.Any):
        return a[0] + b[0] + c[0] + d[0]
    return kernel
"""


def test_annotations(tmp_path: Path) -> None:
    file = tmp_path / "annotated.py"
    file.write_text(ANNOTATED)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(ANNOTATED, str(file), "exec"), names)

    sent = check(names["make"](), *[np.arange(3.0)] * 4)
    with pytest.raises(ArgumentError, match="must be float64"):
        sent(np.arange(3.0), np.arange(3), np.arange(3.0), np.arange(3.0))


def test_defaults() -> None:
    @hybrid.script
    def kernel(a: Any, m: Any = 2, *, k: Any = 0.5) -> Any:
        return a[0] * m + k

    sent = check(kernel, np.ones(1))
    assert sent(np.ones(1), k=3.0) == 5
    assert sent(np.ones(1), 4) == 4.5


def test_options() -> None:
    @hybrid.script(fastmath={"contract"}, parallel=True)
    def kernel(a: Any) -> Any:
        return a[0] * 2.0

    sent = check(kernel, np.ones(1))
    assert sent.fastmath == ("contract",)
    assert sent.options["parallel"] is True


def test_functions_that_it_calls() -> None:
    offset = 4.0

    def inner(x: Any) -> Any:
        return x + offset

    def outer(x: Any) -> Any:
        return inner(x) * FACTOR

    scale = make_scale(2.0)

    @hybrid.script
    def square(x: Any) -> Any:
        return x * x

    functions = (inner, outer)

    @hybrid.script
    def kernel(a: Any) -> Any:
        scale(a)
        return square(functions[1](a[0])) + at_module_level(a)

    check(kernel, np.ones(1))


def test_functions_that_call_each_other() -> None:
    def even(n: Any) -> Any:
        return True if n == 0 else odd(n - 1)

    def odd(n: Any) -> Any:
        return False if n == 0 else even(n - 1)

    @hybrid.script
    def kernel(a: Any) -> Any:
        return 1.0 if even(4) else a[0]

    sent = send(kernel)
    assert sent.py_func(np.ones(1)) == 1


def test_callback() -> None:
    seen: list[float] = []

    def note(x: Any) -> Any:
        seen.append(float(x))
        return x + 1

    packed_note = hybrid.packed(note, "float64")

    @hybrid.script
    def kernel(a: Any) -> Any:
        return packed_note(a[0])

    sent = send(kernel)
    assert sent(np.ones(1)) == sent.interpret(np.ones(1)) == 2
    assert seen == []  # the other side has a list of its own


def test_c_functions() -> None:
    by_symbol = hybrid.extern("hypot", "float64", ["float64", "float64"])
    from_library = hybrid.extern(ctypes.CDLL("libm.so.6").cbrt, "float64", ["float64"])

    @hybrid.script
    def kernel(a: Any) -> Any:
        return by_symbol(a[0], 3.0) + from_library(a[0])

    check(kernel, np.ones(1))


def test_c_function_by_its_address_stays() -> None:
    address = ctypes.cast(ctypes.CDLL(None).hypot, ctypes.c_void_p).value
    by_address = hybrid.extern(address, "float64", ["float64", "float64"], name="by_address")

    @hybrid.script
    def kernel(a: Any) -> Any:
        return by_address(a[0], 3.0)

    with pytest.raises(pickle.PicklingError, match="C function 'by_address': its address means"):
        pickle.dumps(kernel)


def test_values_are_those_of_the_moment() -> None:
    values = [2.0]
    factor = values[0]

    @hybrid.script
    def kernel(a: Any) -> Any:
        return a[0] * factor

    first = send(kernel)
    factor = 5.0
    second = send(kernel)
    assert (first(np.ones(1)), second(np.ones(1))) == (2, 5)


def test_kernel_that_comes_again_is_the_same() -> None:
    kernel = make_scale(3.5)
    assert send(kernel) is send(kernel)
    assert send(kernel) is not send(make_scale(4.5))


def test_nothing_is_run_to_restore_it() -> None:
    calls: list[str] = []

    def note(what: str) -> Any:
        calls.append(what)
        return hybrid.script if what == "decorator" else 2.0

    @note("decorator")
    def kernel(a: Any, m: Any = note("default")) -> Any:  # noqa: B008
        return a[0] * m

    assert send(kernel)(np.ones(1)) == 2
    assert sorted(calls) == ["decorator", "default"]


def test_errors_show_the_line_though_the_file_is_gone(tmp_path: Path) -> None:
    file = tmp_path / "cell.py"
    file.write_text(
        "from hybridjit import hybrid\n\ndef make():\n    @hybrid.script\n    def kernel(a, i):\n"
        "        return a[i]\n    return kernel\n"
    )
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(file.read_text(), str(file), "exec"), names)
    data = pickle.dumps(names["make"]())
    file.unlink()
    linecache.checkcache()

    sent = pickle.loads(data)
    with pytest.raises(BoundsError, match=r"<cell\.py \w+>:6:16: error: index 5") as caught:
        sent(np.ones(3), 5)
    assert "6 |         return a[i]" in str(caught.value)
    assert sent(np.ones(3), 1) == sent.py_func(np.ones(3), 1) == 1


def test_kernel_whose_text_is_gone_cannot_be_pickled() -> None:
    names: dict[str, Any] = {}
    exec("def kernel(a):\n    return a[0]\n", names)
    with pytest.raises(pickle.PicklingError, match="cannot pickle 'kernel': source of 'kernel'"):
        pickle.dumps(hybrid.script(names["kernel"]))


def test_types_of_elements_stay_themselves() -> None:
    for dtype in DTYPES.values():
        assert send(dtype) is dtype
        assert copy.deepcopy(dtype) is dtype


# In real processes


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_multiprocessing(method: str) -> None:
    kernel = make_scale(3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork, where threads are running
        with multiprocessing.get_context(method).Pool(1) as pool:
            results = pool.map(kernel, [np.arange(3.0), np.arange(5.0)])
            named = pool.apply(at_module_level, (np.ones(1),))
    assert [result.tolist() for result in results] == [[0, 3, 6], [0, 3, 6, 9, 12]]
    assert named == 3


MAIN = """
import multiprocessing, sys
import numpy as np
from hybridjit import hybrid
if __name__ == "__main__":
    FACTOR = 3.0
    def helper(x):
        return x * FACTOR
    @hybrid.script
    def kernel(a):
        return helper(a[0])
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        print(pool.apply(kernel, (np.ones(1),)))
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_kernel_of_a_main_program(method: str, tmp_path: Path) -> None:
    """A worker runs the file anew, but not what stands behind the guard."""
    file = tmp_path / "program.py"
    file.write_text(MAIN)
    ran = subprocess.run(
        [sys.executable, str(file), method],
        cwd=REPOSITORY,
        env={"PYTHONPATH": str(REPOSITORY), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (ran.stdout, ran.stderr) == ("3.0\n", "")


def test_joblib() -> None:
    joblib: Any = pytest.importorskip("joblib")
    kernel = make_scale(3.0)
    tasks = [joblib.delayed(kernel)(np.arange(n, dtype=float)) for n in range(4)]
    results = joblib.Parallel(n_jobs=2)(tasks)
    assert [result.tolist() for result in results] == [[], [0], [0, 3], [0, 3, 6]]


def test_dask() -> None:
    distributed: Any = pytest.importorskip("distributed")
    kernel = make_scale(3.0)
    workers = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": None}
    with distributed.Client(**workers) as client:
        futures = client.map(kernel, [np.arange(n, dtype=float) for n in range(4)])
        results = client.gather(futures)
    assert [result.tolist() for result in results] == [[], [0], [0, 3], [0, 3, 6]]


def test_cloudpickle_takes_what_pickle_cannot() -> None:
    cloudpickle: Any = pytest.importorskip("cloudpickle")
    add_one: Callable[[Any], Any] = lambda x: x + 1  # noqa: E731
    packed_add = hybrid.packed(add_one, "float64", name="add_one")

    @hybrid.script
    def kernel(a: Any) -> Any:
        return packed_add(a[0])

    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(kernel)
    assert pickle.loads(cloudpickle.dumps(kernel))(np.ones(1)) == 2


# With a schedule


def test_schedules() -> None:
    factor = 4

    def tiled(s: Any) -> None:
        (i,) = s.loops("b")
        s.split(i, factor=factor)

    kernel = make_scale(2.0)
    for recipe in (tiled, kernel.schedule(np.arange(8.0)).trace):
        check(kernel.with_schedule(recipe), np.arange(8.0))
    sent = send(kernel.with_schedule(tiled))
    assert sent.inspect("tir", np.arange(8.0)) == kernel.with_schedule(tiled).inspect(
        "tir", np.arange(8.0)
    )
    assert sent.inspect("tir", np.arange(8.0)) != kernel.inspect("tir", np.arange(8.0))
