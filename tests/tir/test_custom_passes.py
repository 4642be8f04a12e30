"""Passes of the user's own: where they run, what they may do, and what is said if they may not."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import hybrid, te, tir
from hybridjit.errors import ArgumentError, PassError
from hybridjit.hybrid import output_tensor
from hybridjit.runtime.cache.disk_cache import active_store
from tests.conftest import Golden

pytestmark = pytest.mark.usefixtures("unchecked")


def double_constants(func: tir.PrimFunc) -> tir.PrimFunc:
    """Every float constant, twice as large."""

    def rule(node: tir.Node) -> tir.Node | None:
        if isinstance(node, tir.Const) and node.of.is_float:
            return tir.const(node.value * 2, node.of)
        return None

    return dataclasses.replace(func, body=tir.rewrite(func.body, rule))


def names_of(func: tir.PrimFunc) -> list[str]:
    return [type(node).__name__ for node in tir.walk(func.body)]


def make_add() -> tuple[Any, list[Any]]:
    A = te.placeholder((6,), name="A")
    B = te.compute((6,), lambda i: A[i] + 3.0, name="B")
    return te.create_schedule(B.op), [A, B]


def run_module(module: Any) -> list[Any]:
    results: list[Any] = []
    for call in (module, module.interpret):
        a, b = np.arange(6, dtype=np.float32), np.zeros(6, np.float32)
        call(a, b)
        results.append(b)
    assert results[0].tolist() == results[1].tolist()
    return results[0].tolist()


def test_a_build_with_a_pass() -> None:
    s, args = make_add()
    changed = hj.build(s, args, passes=[double_constants])
    assert run_module(changed) == [6.0, 7.0, 8.0, 9.0, 10.0, 11.0]
    assert "+ 6.0" in changed.inspect("tir")
    assert "+ 6.0" in str(hj.lower(s, args, passes=[double_constants]))

    assert run_module(hj.build(s, args)) == [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]  # for one build only


def test_passes_run_in_order() -> None:
    s, args = make_add()
    assert "+ 12.0" in str(hj.lower(s, args, passes=[double_constants] * 2))


def test_arguments_that_overlap_meet_the_pass_too() -> None:
    s, args = make_add()
    module = hj.build(s, args, passes=[double_constants])
    for call in (module, module.interpret):
        memory = np.zeros(7, np.float32)
        call(memory[:6], memory[1:])
        assert memory.tolist() == [0.0] + [6.0] * 6  # inputs are read before outputs are written


@pytest.mark.parametrize("stage", ["blocks", "loops"])
def test_the_stage_of_a_pass(stage: Any) -> None:
    seen: list[str] = []

    @tir.prim_func_pass(stage=stage)
    def look(func: tir.PrimFunc) -> tir.PrimFunc:
        seen.extend(names_of(func))
        return func

    s, args = make_add()
    assert run_module(hj.build(s, args, passes=[look])) == [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    assert ("Block" in seen) == (stage == "blocks")


def test_passes_for_blocks_run_first() -> None:
    order: list[str] = []

    def early(func: tir.PrimFunc) -> tir.PrimFunc:
        order.append("early")
        return func

    @tir.prim_func_pass(stage="loops")
    def late(func: tir.PrimFunc) -> tir.PrimFunc:
        order.append("late")
        return func

    s, args = make_add()
    hj.lower(s, args, passes=[late, early])
    assert order == ["early", "late"]


@hybrid.script
def add_one(a: Any) -> Any:
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = a[i] + 1.0
    return b


def test_a_script_with_a_pass() -> None:
    a = np.zeros(3)
    changed = add_one.with_passes([double_constants])
    assert add_one(a).tolist() == [1.0] * 3
    assert changed(a).tolist() == changed.interpret(a).tolist() == [2.0] * 3
    assert "+ 2.0" in changed.inspect("tir", a)
    assert changed.with_passes([double_constants])(a).tolist() == [4.0] * 3


def test_a_schedule_keeps_the_passes() -> None:
    changed = add_one.with_passes([double_constants]).with_schedule(lambda s: s.split("i", 2))
    assert changed(np.zeros(3)).tolist() == [2.0] * 3
    assert "i_0" in changed.inspect("tir", np.zeros(3))


def test_a_kernel_with_a_pass_is_pickled_with_it() -> None:
    changed = add_one.with_passes([double_constants])
    for again in (pickle.loads(pickle.dumps(changed)), copy.deepcopy(changed)):
        assert again(np.zeros(2)).tolist() == [2.0, 2.0]


def test_code_on_disk_is_that_of_its_passes() -> None:
    """A pass that does something else has other code, whatever its name."""

    def add(number: float) -> Any:
        def change(func: tir.PrimFunc) -> tir.PrimFunc:
            def rule(node: tir.Node) -> tir.Node | None:
                return tir.const(number, node.of) if isinstance(node, tir.Const) else None

            body = tir.rewrite(func.body, lambda n: rule(n) if _is_one(n) else None)
            return dataclasses.replace(func, body=body)

        return change

    assert active_store().location.path is not None
    for number in (5.0, 7.0, 5.0):
        assert add_one.with_passes([add(number)])(np.zeros(2)).tolist() == [number] * 2
    assert add_one(np.zeros(2)).tolist() == [1.0, 1.0]


def _is_one(node: tir.Node) -> bool:
    return isinstance(node, tir.Const) and node.of.is_float and node.value == 1.0


def test_an_error_of_a_pass_is_its_own() -> None:
    def fails(func: tir.PrimFunc) -> tir.PrimFunc:
        raise LookupError("nothing here")

    s, args = make_add()
    with pytest.raises(LookupError, match="nothing here"):
        hj.build(s, args, passes=[fails])


# -- refusals --------------------------------------------------------------------------------------


def returns_nothing(func: tir.PrimFunc) -> Any:
    return None


def changes_parameters(func: tir.PrimFunc) -> tir.PrimFunc:
    return dataclasses.replace(func, params=func.params[:1])


def reads_an_unknown_buffer(func: tir.PrimFunc) -> tir.PrimFunc:
    other = tir.Buffer("other", func.buffers[0].dtype, (tir.Const(4),))
    store = tir.Store(func.buffers[1], (tir.Const(0),), tir.Load(other, (tir.Const(0),)))
    return dataclasses.replace(func, body=tir.seq(func.body, store))


def binds_a_variable_twice(func: tir.PrimFunc) -> tir.PrimFunc:
    return dataclasses.replace(func, body=tir.seq(func.body, func.body))


def leaves_a_sum_of_constants(func: tir.PrimFunc) -> tir.PrimFunc:
    index = tir.Add(tir.Const(1), tir.Const(2))
    store = tir.Store(func.buffers[1], (index,), tir.const(0, func.buffers[1].dtype))
    return dataclasses.replace(func, body=tir.seq(func.body, store))


@pytest.mark.parametrize(
    "broken",
    [
        returns_nothing,
        changes_parameters,
        reads_an_unknown_buffer,
        binds_a_variable_twice,
        leaves_a_sum_of_constants,
    ],
    ids=lambda broken: broken.__name__,
)
def test_a_broken_pass_is_named(broken: Any, golden: Golden) -> None:
    s, args = make_add()
    with pytest.raises(PassError, match=broken.__name__) as caught:
        hj.build(s, args, passes=[broken])
    golden.check(str(caught.value), "txt")


@pytest.mark.parametrize(
    "passes", [double_constants, [3], "ab", 5], ids=["one", "three", "text", "five"]
)
def test_what_is_no_list_of_passes(passes: Any) -> None:
    s, args = make_add()
    with pytest.raises(ArgumentError, match=r"passes are a list of functions|a pass is a function"):
        hj.build(s, args, passes=passes)


def test_a_stage_that_is_not_there() -> None:
    stage: Any = "late"
    with pytest.raises(ArgumentError, match="there is no stage 'late' for a pass"):
        tir.prim_func_pass(stage=stage)
