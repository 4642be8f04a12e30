"""Arrays that a script captures and a call writes to: refused, never read as they were before."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hybridjit import ArgumentError, Kernel, config, hybrid
from hybridjit.hybrid import output_tensor

pytestmark = pytest.mark.usefixtures("unchecked")

AnyKernel = Kernel[..., Any]
TABLE: Any = np.arange(8.0)
PAIR: Any = (np.arange(4.0), np.arange(4.0))
SETTINGS = SimpleNamespace(weights=np.arange(8.0))


@pytest.fixture(autouse=True)
def fresh_tables() -> None:
    for array in (TABLE, SETTINGS.weights):
        array[:] = np.arange(8.0)


@hybrid.script
def smear(b: Any) -> None:
    for i in range(1, b.shape[0]):
        b[i] = TABLE[i - 1] + 1


@hybrid.script
def smear_first(b: Any) -> None:
    for i in range(1, b.shape[0]):
        b[i] = PAIR[0][i - 1] + 1


@hybrid.script
def smear_weights(b: Any) -> None:
    for i in range(1, b.shape[0]):
        b[i] = SETTINGS.weights[i - 1] + 1


@hybrid.script
def count_up(b: Any) -> None:
    for i in range(TABLE.shape[0]):
        b[i] = b[i] + 1


@hybrid.script
def shifted() -> Any:
    b = output_tensor((8,), "float64")
    for i in range(1, 8):
        b[i] = TABLE[i - 1]
    return b


def warm_up(kernel: AnyKernel, size: int = 8) -> None:
    """Let the dispatcher have calls that write elsewhere."""
    for _ in range(4):
        kernel(np.zeros(size))
    assert kernel.native_calls.tables[0].hits > 0


VIEWS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda a: a,
    "view": lambda a: a[:],
    "part": lambda a: a[4:],
    "backwards": lambda a: a[::-1],
    "every_second": lambda a: a[::2],
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_first_call_refuses_to_write_to_what_it_reads(view: Callable[[Any], Any]) -> None:
    kernel = hybrid.script(smear.__hybrid_function__)

    with pytest.raises(
        ArgumentError, match=r"smear\(\): argument 'b' is written, but it shares memory"
    ):
        kernel(view(TABLE))

    assert TABLE.tolist() == list(range(8))


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_dispatcher_refuses_to_write_to_what_the_kernel_reads(view: Callable[[Any], Any]) -> None:
    kernel = hybrid.script(smear.__hybrid_function__)
    elsewhere = view(np.zeros(8))
    for _ in range(4):
        kernel(elsewhere)
    assert kernel.native_calls.tables[0].hits > 0

    with pytest.raises(ArgumentError, match="shares memory with 'TABLE'"):
        kernel(view(TABLE))


def test_dispatcher_refuses_among_arrays_of_run_time_sizes() -> None:
    kernel = hybrid.script(smear.__hybrid_function__)
    for size in (3, 4, 5, 6, 3, 4, 5):
        kernel(np.zeros(size))
    assert any(table.hits for table in kernel.native_calls.tables if not table.is_exact)

    with pytest.raises(ArgumentError, match="shares memory with 'TABLE'"):
        kernel(TABLE[2:7])


def test_interpreter_refuses_too() -> None:
    with pytest.raises(ArgumentError, match="shares memory with 'TABLE'"):
        smear.interpret(TABLE)
    with config.scope(interpret=True), pytest.raises(ArgumentError, match="with 'TABLE'"):
        smear(TABLE)


def test_array_inside_a_captured_tuple() -> None:
    with pytest.raises(ArgumentError, match="shares memory with 'PAIR'"):
        smear_first(PAIR[0])


def test_array_that_is_an_attribute() -> None:
    warm_up(smear_weights)

    with pytest.raises(ArgumentError, match=r"shares memory with 'SETTINGS\.weights'"):
        smear_weights(SETTINGS.weights)


def test_array_of_a_closure() -> None:
    table = np.arange(8.0)

    @hybrid.script
    def local(b: Any) -> None:
        for i in range(1, b.shape[0]):
            b[i] = table[i - 1]

    warm_up(local)
    with pytest.raises(ArgumentError, match="shares memory with 'table'"):
        local(table)


def test_array_that_a_called_function_captures() -> None:
    def look_up(i: int) -> Any:
        return TABLE[i]

    @hybrid.script
    def outer(b: Any) -> None:
        for i in range(1, b.shape[0]):
            b[i] = look_up(i - 1)

    warm_up(outer)
    with pytest.raises(ArgumentError, match="shares memory with 'TABLE'"):
        outer(TABLE)


def test_two_names_of_one_array_that_part_later() -> None:
    one = other = np.arange(8.0)

    @hybrid.script
    def both(b: Any) -> None:
        for i in range(1, b.shape[0]):
            b[i] = one[i - 1] + other[i - 1]

    warm_up(both)
    other = np.arange(8.0)  # equal, so that the translation stays
    both(np.zeros(8))
    with pytest.raises(ArgumentError, match="shares memory with 'other'"):
        both(other)


def test_array_of_which_only_the_shape_is_read() -> None:
    for _ in range(4):
        count_up(TABLE)

    assert TABLE.tolist() == [i + 4 for i in range(8)]


def test_neighbours_that_share_no_element_work() -> None:
    memory = np.zeros(16)
    even, odd = memory[::2], memory[1::2]
    even[:] = np.arange(8.0)

    @hybrid.script
    def local(b: Any) -> None:
        for i in range(8):
            b[i] = even[i]

    for _ in range(4):
        local(odd)
    assert odd.tolist() == list(range(8))


def test_result_may_go_to_a_captured_array() -> None:
    """The result is complete before it is stored, so `out=` may be what the script reads."""
    for _ in range(5):
        expected = shifted.py_func()
        shifted(out=TABLE)
        assert TABLE.tolist() == expected.tolist()


def test_captured_array_may_be_read_as_an_argument() -> None:
    @hybrid.script
    def add(a: Any, b: Any) -> None:
        for i in range(8):
            b[i] = a[i] + TABLE[i]

    result = np.zeros(8)
    for _ in range(4):
        add(TABLE, result)
    assert result.tolist() == [2 * i for i in range(8)]
