"""te.scan: tensors step by step, against NumPy, interpreted and native."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hybridjit import te
from hybridjit.errors import HybridError
from hybridjit.tensors.function import create_program
from tests.conftest import Golden
from tests.support.tensor_programs import assert_computes

Array = Any
RNG = np.random.default_rng(11)


def floats(*shape: int) -> Array:
    return RNG.random(shape)


def cumulative(x: te.Tensor, axis: int) -> te.Tensor:
    """The cumulative sum of a matrix."""
    size = list(x.shape)
    state = te.placeholder(size, "float64", "state")
    first = [1 if dim == axis else extent for dim, extent in enumerate(size)]

    def before(i: Any, j: Any) -> tuple[Any, Any]:
        return (i - 1, j) if axis == 0 else (i, j - 1)

    init = te.compute(first, lambda i, j: x[i, j], name="first")
    update = te.compute(size, lambda i, j: state[before(i, j)] + x[i, j], name="update")
    return te.scan(init, update, state, inputs=[x], name="sums", axis=axis)


@pytest.mark.parametrize("axis", [0, 1])
def test_cumulative_sum(axis: int) -> None:
    x = te.placeholder((5, 4), "float64", "X")
    value = floats(5, 4)
    assert_computes([x, cumulative(x, axis)], [value], np.cumsum(value, axis))


@pytest.mark.parametrize("size", [1, 2, 7])
def test_cumulative_sum_at_sizes_of_the_run(size: int) -> None:
    x = te.placeholder((te.var("n"), te.var("m")), "float64", "X")
    value = floats(size, 3)
    assert_computes([x, cumulative(x, 0)], [value, floats(size, 3)], np.cumsum(value, 0))


def test_a_scan_between_other_operations() -> None:
    x = te.placeholder((6, 3), "float64", "X")
    doubled = te.compute((6, 3), lambda i, j: x[i, j] * 2, name="D")
    y = te.compute((6, 3), lambda i, j: cumulative(doubled, 0)[i, j] + 1, name="Y")
    value = floats(6, 3)
    assert_computes([x, y], [value], np.cumsum(value * 2, 0) + 1)


def test_what_a_scan_is_made_of() -> None:
    op: Any = cumulative(te.placeholder((5, 4), "float64", "X"), 0).op
    assert [tensor.name for tensor in op.state_placeholder] == ["state"]
    assert [op.init[0].name, op.update[0].name, op.scan_axis.name] == ["first", "update", "i"]


def test_fibonacci() -> None:
    state = te.placeholder((12,), "int64", "f")
    init = te.compute((2,), lambda t: t, name="first")
    update = te.compute((12,), lambda t: state[t - 1] + state[t - 2], name="next")
    result = te.scan(init, update, state, name="fibonacci")
    expected = np.array([0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89])
    assert_computes([result], [], expected)


def test_all_earlier_steps() -> None:
    state = te.placeholder((8,), "int64", "f")
    init = te.compute((1,), lambda t: t + 1, name="first")

    def body(t: Any) -> Any:
        k = te.reduce_axis((0, t), "k")
        return te.sum(state[k], axis=k)

    update = te.compute((8,), body, name="next")
    assert_computes([te.scan(init, update, state)], [], np.array([1, 1, 2, 4, 8, 16, 32, 64]))


def test_a_guarded_look_back() -> None:
    state = te.placeholder((8,), "int64", "f")
    init = te.compute((1,), lambda t: t + 1, name="first")
    update = te.compute(
        (8,), lambda t: state[t - 1] + te.if_then_else(t >= 3, state[t - 3], 0), name="next"
    )
    expected = [1]
    for t in range(1, 8):
        expected.append(expected[t - 1] + (expected[t - 3] if t >= 3 else 0))
    assert_computes([te.scan(init, update, state)], [], np.array(expected))


def test_several_stages_in_a_step() -> None:
    x = te.placeholder((5, 4), "float64", "X")
    state = te.placeholder((5, 4), "float64", "state")
    init = te.compute((1, 4), lambda t, i: x[0, i], name="first")
    k = te.reduce_axis((0, 4), "k")
    total = te.compute((5,), lambda t: te.sum(state[t - 1, k], axis=k), name="total")
    scaled = te.compute((4, 5), lambda i, t: state[t - 1, i] / total[t], name="scaled")
    update = te.compute((5, 4), lambda t, i: scaled[i, t] + x[t, i], name="update")
    result = te.scan(init, update, state, name="S")
    value = floats(5, 4)
    expected = value.copy()
    for t in range(1, 5):
        total_before = expected[t - 1][0]
        for item in expected[t - 1][1:]:
            total_before += item
        expected[t] = expected[t - 1] / total_before + value[t]
    assert_computes([x, result], [value], expected, rtol=1e-14)


def lstm(steps: int, batch: int, hidden: int) -> tuple[list[te.Tensor], list[te.Tensor]]:
    """The cells and outputs of an LSTM over inputs that are projected already."""
    x = te.placeholder((steps, 4, batch, hidden), "float64", "X")
    weights = te.placeholder((4, hidden, hidden), "float64", "W")
    cell = te.placeholder((steps, batch, hidden), "float64", "cell")
    out = te.placeholder((steps, batch, hidden), "float64", "out")
    zeros = [te.compute((1, batch, hidden), lambda t, i, j: 0.0, name=f"zero{k}") for k in (0, 1)]
    k = te.reduce_axis((0, hidden), "k")
    mixed = te.compute(
        (steps, 4, batch, hidden),
        lambda t, g, i, j: te.sum(out[t - 1, i, k] * weights[g, j, k], axis=k),
        name="mixed",
    )
    gates = te.compute(
        mixed.shape, lambda t, g, i, j: x[t, g, i, j] + mixed[t, g, i, j], name="gates"
    )
    shape = (steps, batch, hidden)
    enter = te.compute(shape, lambda t, i, j: te.sigmoid(gates[t, 0, i, j]), name="enter")
    change = te.compute(shape, lambda t, i, j: te.tanh(gates[t, 1, i, j]), name="change")
    forget = te.compute(shape, lambda t, i, j: te.sigmoid(gates[t, 2, i, j]), name="forget")
    leave = te.compute(shape, lambda t, i, j: te.sigmoid(gates[t, 3, i, j]), name="leave")
    next_cell = te.compute(
        shape,
        lambda t, i, j: forget[t, i, j] * cell[t - 1, i, j] + enter[t, i, j] * change[t, i, j],
        name="next_cell",
    )
    next_out = te.compute(
        shape, lambda t, i, j: leave[t, i, j] * te.tanh(next_cell[t, i, j]), name="next_out"
    )
    results = te.scan(zeros, [next_cell, next_out], [cell, out], inputs=[x, weights], name="lstm")
    return [x, weights], results


def test_two_states_of_an_lstm_cell() -> None:
    inputs, results = lstm(4, 2, 3)
    x, weights = floats(4, 4, 2, 3), floats(4, 3, 3)

    def sigmoid(value: Array) -> Array:
        return 1 / (1 + np.exp(-value))

    cell, out = np.zeros((4, 2, 3)), np.zeros((4, 2, 3))
    for t in range(1, 4):
        gates = x[t] + np.einsum("ik,gjk->gij", out[t - 1], weights)
        cell[t] = sigmoid(gates[2]) * cell[t - 1] + sigmoid(gates[0]) * np.tanh(gates[1])
        out[t] = sigmoid(gates[3]) * np.tanh(cell[t])
    assert_computes([*inputs, *results], [x, weights], [cell, out], rtol=1e-13)
    assert_computes([*inputs, results[1]], [x, weights], out, rtol=1e-13)


def test_the_function_of_a_scan(golden: Golden) -> None:
    x = te.placeholder((5, 4), "float64", "X")
    golden.check(str(te.create_prim_func([x, cumulative(x, 1)])), "ir")


def test_where_the_stages_are() -> None:
    inputs, results = lstm(4, 2, 3)
    op: Any = results[0].op
    places = create_program([*inputs, *results]).places
    names = [places.main_block(stage) for stage in op.stages]
    assert names[:2] == ["mixed", "gates"]
    assert sorted(names[2:]) == ["change", "enter", "forget", "leave", "next_cell", "next_out"]
    assert places.blocks[op] == ["lstm_init", "lstm_init_1"]
    last = op.stages[-1]
    assert places.loop(last, last.axis[0]) is places.loop(op, op.scan_axis)
    assert set(op.input_tensors[2:]) == set(inputs)


# -- refusals --------------------------------------------------------------------------------------

TE: Any = te  # as a caller without a type checker has it
STATE = te.placeholder((8,), name="state")


def scan(body: Callable[[Any], Any], init: Any = None, state: Any = STATE, **options: Any) -> Any:
    first = te.compute((1,), lambda t: te.const(0, "float32"), name="first")
    update = te.compute((8,), body, name="update")
    return te.scan(first if init is None else init, update, state, **options)


def stage(index: Callable[[Any], Any]) -> Any:
    inner = te.compute((8,), lambda t: STATE[t - 1] * 2, name="inner")
    return scan(lambda t: inner[index(t)])


CALLS: dict[str, Callable[[], object]] = {
    "reads_its_own_step": lambda: scan(lambda t: STATE[t] + 1),
    "reads_a_later_step": lambda: scan(lambda t: STATE[t + 1]),
    "reads_before_the_first_step": lambda: scan(lambda t: STATE[t - 2]),
    "reads_beside_a_guard": lambda: scan(
        lambda t: te.if_then_else(t >= 3, STATE[t - 3], 0) + STATE[t - 3]
    ),
    "reads_an_unknown_step": lambda: scan(lambda t: STATE[(t * t) % 7]),
    "stage_of_another_step": lambda: stage(lambda t: t - 1),
    "different_numbers": lambda: te.scan([], [], []),
    "init_of_another_type": lambda: scan(
        lambda t: STATE[t - 1], te.compute((1,), lambda t: 0, name="zeros")
    ),
    "init_of_more_steps": lambda: scan(
        lambda t: STATE[t - 1], te.placeholder((9,), "float32", "init")
    ),
    "update_of_another_type": lambda: scan(lambda t: STATE[t - 1].astype("float64")),
    "init_of_another_rank": lambda: scan(
        lambda t: STATE[t - 1], te.placeholder((1, 1), name="init")
    ),
    "update_of_another_size": lambda: scan(
        lambda t: STATE[0], state=te.placeholder((9,), name="other")
    ),
    "state_is_no_placeholder": lambda: scan(
        lambda t: te.const(1, "float32"), state=te.compute((8,), lambda t: t, name="numbers")
    ),
    "axis_out_of_range": lambda: scan(lambda t: STATE[t - 1], axis=1),
    "state_outside_of_the_scan": lambda: te.create_prim_func(
        [te.compute((8,), lambda i: STATE[i], name="B")]
    ),
    "no_tensor": lambda: TE.scan(3, 4, 5),
}


@pytest.mark.parametrize("case", CALLS)
def test_refusal(case: str, golden: Golden) -> None:
    with pytest.raises(HybridError, match=r"\w") as caught:
        CALLS[case]()
    golden.check(caught.value.render("short"), "txt")
