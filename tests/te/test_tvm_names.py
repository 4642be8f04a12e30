"""What users of TVM type from habit: names and arguments that mean here what they mean there."""

from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import te
from hybridjit.errors import ArgumentValueError

TE: Any = te  # as a caller without a type checker has it
A = te.placeholder((8,), "float32", "A")
B: Any = te.compute((8,), lambda i: A[i] + 1, name="B")
C: Any = te.compute((8,), lambda i: A[i] * 2, name="C")


def run(function: Any) -> Any:
    x, y = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    function(x, y)
    return y - x


def test_schedules_with_their_arguments_in_one_module() -> None:
    module = hj.build({"f": (te.create_schedule(B.op), [A, B]), "g": [A, C]})
    assert module.names == ("f", "g")
    assert run(module["f"]).tolist() == [1] * 8
    assert run(module["g"]).tolist() == list(range(8))


def test_functions_in_one_module() -> None:
    functions = [hj.lower([A, B], name="f"), hj.lower([A, C], name="g")]
    module = hj.build(functions)
    assert module.entry_name == "f"
    assert run(module).tolist() == [1] * 8
    assert run(module["g"]).tolist() == list(range(8))
    with pytest.raises(ArgumentValueError, match="two functions of a module have the same name"):
        hj.build([functions[0], functions[0]])


def test_the_target_is_this_processor() -> None:
    assert run(hj.build([A, B], target="llvm")).tolist() == [1] * 8
    with pytest.raises(ArgumentValueError, match="there is no code for the target 'cuda'"):
        hj.build([A, B], target="cuda")


def test_the_target_comes_third() -> None:
    assert hj.build(te.create_schedule(B.op), [A, B], "llvm", name="f").names == ("f",)


def test_the_variable_of_an_axis_is_an_expression() -> None:
    k = te.reduce_axis((0, 4), "k")
    D = te.compute((8,), lambda i: te.sum(A[k.var] + k.var * 2, axis=k), name="D")
    assert run(hj.build([A, D])).tolist() == [18 - i for i in range(8)]


def test_a_timer_takes_a_device() -> None:
    module = hj.build([A, B], name="f")
    x, y = np.zeros(8, np.float32), np.zeros(8, np.float32)
    timing = module.time_evaluator(module.entry_name, None, number=2, repeat=3)(x, y)
    assert len(timing.results) == 3
    assert timing.mean > 0


@pytest.mark.parametrize(
    "step",
    [
        te.schedule.AutoInlineElemWise,
        te.schedule.AutoInlineBroadcast,
        te.schedule.AutoInlineInjective,
    ],
)
def test_stages_are_inlined_by_their_kind(step: Any) -> None:
    d = te.compute((8,), lambda i: B[i] * 2, name="D")
    s = te.create_schedule(d.op)
    step(s)
    assert "B" not in str(hj.lower(s, [A, d]))


def test_the_domain_of_an_axis() -> None:
    n = te.var("n")
    x = te.placeholder((n,), name="X")
    k = te.reduce_axis((2, n), "k")
    c: Any = te.compute((4,), lambda i: te.sum(x[k], axis=k))
    assert (c.op.axis[0].dom.min, c.op.axis[0].dom.extent) == (0, 4)
    assert k.dom.min == 2
    assert repr(k.dom.extent) == "te expression n - 2"
    assert n.name == "n"
    with pytest.raises(AttributeError, match=r"only a te\.var has a name"):
        _ = (n + 1).name


def test_the_axes_of_an_operation() -> None:
    """Tensors have them whatever their operation is, for a type checker."""
    x, k = te.placeholder((4, 6), name="X"), te.reduce_axis((0, 6), "k")
    c: te.Tensor = te.compute((4,), lambda i: te.sum(x[i, k], axis=k))
    assert [axis.name for axis in c.op.axis] == ["i"]
    assert [axis.name for axis in c.op.reduce_axis] == ["k"]
    with pytest.raises(AttributeError, match=r"the placeholder 'X' has no axis; a te\.compute or"):
        _ = x.op.axis
    assert not hasattr(x.op, "reduce_axis")


def test_a_scan_over_the_last_axis() -> None:
    x, state = te.placeholder((3, 5), name="X"), te.placeholder((3, 5), name="S")
    update = te.compute((3, 5), lambda i, t: state[i, t - 1] + x[i, t])
    first = te.compute((3, 1), lambda i, t: x[i, t])
    sums = te.scan(first, update, state, [x], tag="mine", attrs={"key": 1}, axis=-1)
    assert (sums.op.tag, sums.op.attrs) == ("mine", {"key": 1})
    value, found = np.ones((3, 5), np.float32), np.zeros((3, 5), np.float32)
    hj.build([x, sums])(value, found)
    assert found.tolist() == [[1, 2, 3, 4, 5]] * 3
