"""`tir.Schedule`: TVM's arguments of steps, what it is asked, and modules of several functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import hybridjit.compat.tvm as package
from hybridjit.errors import ArgumentError, ScheduleError

np: Any = numpy  # whose types say nothing of arrays that may be any
tvm: Any = package
te: Any = tvm.te
tir: Any = tvm.tir
SIZE = 16


def product() -> Any:
    """A product whose first factor is doubled before, and whose result is halved."""
    A, B = (te.placeholder((SIZE, SIZE), name=name) for name in "AB")
    k = te.reduce_axis((0, SIZE), "k")

    def twice(i: Any, j: Any) -> Any:
        return A[i, j] * 2

    P = te.compute((SIZE, SIZE), twice, name="P")

    def element(i: Any, j: Any) -> Any:
        return te.sum(P[i, k] * B[k, j], axis=k)

    C = te.compute((SIZE, SIZE), element, name="C")

    def half(i: Any, j: Any) -> Any:
        return C[i, j] / 2.0

    return te.create_prim_func([A, B, te.compute((SIZE, SIZE), half, name="D")])


def scheduled() -> Any:
    return tir.Schedule(tvm.IRModule({"main": product()}))


def run(built: Any) -> None:
    a, b = (np.random.default_rng(seed).random((SIZE, SIZE), np.float32) for seed in (0, 1))
    found = tvm.nd.empty((SIZE, SIZE))
    built(a, b, found)
    np.testing.assert_allclose(found, a @ b, rtol=1e-5)


# -- arguments -------------------------------------------------------------------------------------


def align(sch: Any) -> None:
    sch.storage_align(sch.get_block("P"), 0, axis=0, factor=32, offset=1)
    assert "allocate((16, 33)" in sch.mod.script()


def scope(sch: Any) -> None:
    sch.set_scope(sch.get_block("P"), 0, "local")
    sch.set_scope("C", buffer_index=0, storage_scope="shared")
    assert '"local"' in sch.mod.script()
    assert '"shared"' in sch.mod.script()


def hint(sch: Any) -> None:
    i, *_ = sch.get_loops(sch.get_block("D"))
    sch.annotate(i, ann_key="pragma_unroll", ann_val=7)
    sch.annotate(i, ann_key="pragma_unroll", ann_val=1)  # takes the place of the first
    sch.annotate(block_or_loop=sch.get_block("P"), ann_key="hint", ann_val="high")
    sch.annotate(sch.get_block("root"), "meta_schedule.parallel", 8)
    assert "pragma_unroll" in sch.mod.script()
    assert "7" not in sch.mod.script()


def at(sch: Any) -> None:
    i, *_ = sch.get_loops(sch.get_block("C"))
    sch.compute_at(sch.get_block("P"), i, preserve_unit_loops=True, index=-1)
    sch.reverse_compute_at(sch.get_block("D"), i, index=-2)
    assert sch.get_loops(sch.get_block("P"))[0] == sch.get_loops(sch.get_block("D"))[0] == i


def roll(sch: Any) -> None:
    i, *_ = sch.get_loops(sch.get_block("C"))
    sch.compute_at("P", i)
    sch.rolling_buffer(sch.get_block("P"), write_buffer_index=0)


def sampled_place(sch: Any) -> None:
    for decision in range(4):
        where = sch.sample_compute_location(sch.get_block("P"), decision=decision)
        if where is None:
            sch.compute_at(sch.get_block("P"), where)
            sch.reverse_compute_at(sch.get_block("D"), where)
            assert len(sch.get_loops(sch.get_block("P"))) == 2
            return
    raise AssertionError("every decision was a loop")


def copies(sch: Any) -> None:
    block = sch.get_block("C")
    sch.cache_read(block, 1, "local", consumer_blocks=[block])
    sch.cache_read(block, 0, "local", ["C"])
    sch.cache_write(block, 0, "local", consumer_blocks=[])
    assert {"B_local", "P_local", "C_local"} <= {one.name for one in sch.blocks()}


def copies_of_parts(sch: Any) -> None:
    *_, k = sch.get_loops(sch.get_block("C"))
    _, inner = sch.split(k, [None, 4])
    partial = sch.rfactor(inner, 0)
    sch.cache_read(partial, 0, "local")
    sch.cache_read(partial, 1, "local")
    assert "P_local" in [one.name for one in sch.blocks()]
    assert "B_local" in [one.name for one in sch.blocks()]
    combined = sch.get_block("C_final")
    assert partial in sch.get_producers(combined)
    sch.cache_read(combined, 0, "local")
    assert "C_rf_local" in [one.name for one in sch.blocks()]


def parts_of_a_loop(sch: Any) -> None:
    i, *_ = sch.get_loops(sch.get_block("P"))
    made = sch.loop_partition(i, [2, None, 4])
    assert len(made) == 3
    assert [sch.get(loop).extent.value for loop in made] == [2, 10, 4]


STEPS: dict[str, Callable[[Any], None]] = {
    step.__name__: step
    for step in (
        *(align, scope, hint, at, roll, sampled_place, copies, copies_of_parts),
        parts_of_a_loop,
    )
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_take_the_arguments_of_tvm(name: str) -> None:
    sch = scheduled()
    STEPS[name](sch)
    run(tvm.build(sch.mod))


def test_copies_for_other_blocks() -> None:
    sch = scheduled()
    block, other = sch.get_block("C"), sch.get_block("D")
    with pytest.raises(ArgumentError, match="would not read it"):
        sch.cache_read(block, 0, "local", [block, other])
    with pytest.raises(ArgumentError, match="go on to read it, not the copy"):
        sch.cache_write(block, 0, "local", [other])


def test_a_loop_is_cut_as_it_is_long() -> None:
    sch = scheduled()
    i, *_ = sch.get_loops(sch.get_block("P"))
    for factors in ([4, 4], [None, None], [20, None]):
        with pytest.raises(ScheduleError, match="iterations are not 16"):
            sch.loop_partition(i, factors)


# -- questions -------------------------------------------------------------------------------------


def test_blocks_in_blocks_and_loops() -> None:
    sch = scheduled()
    root, blocks = sch.get_block("root"), [sch.get_block(name) for name in "PCD"]
    assert sch.get_child_blocks(root) == blocks
    assert sch.get_output_blocks(root) == sch.get_output_blocks() == blocks[2:]
    assert sch.get_loops(root) == []
    i, _, k = sch.get_loops(blocks[1])
    assert sch.get_child_blocks(i) == sch.get_child_blocks(k) == [blocks[1]]
    assert sch.get_child_blocks(blocks[1]) == []
    sch.compute_at(blocks[0], i)
    assert sch.get_child_blocks(i) == blocks[:2]
    around = sch.blockize(i)
    assert sch.get_child_blocks(around) == blocks[:2]


def test_what_handles_stand_for() -> None:
    sch = scheduled()
    block = sch.get_block("C")
    assert sch.get(block).name == "C"
    assert sch.get(sch.get_loops(block)[0]).extent.value == SIZE
    assert sch.get(sch.get_block("root")) is sch.mod["main"]
    assert sch.get(4) == 4


def test_steps_are_taken_on_another_schedule() -> None:
    first, second = scheduled(), scheduled()
    *_, k = first.get_loops(first.get_block("C"))
    _, inner = first.split(k, [None, 4])
    first.rfactor(inner)
    first.trace.apply_to_schedule(second, remove_postproc=False)
    tvm.ir.assert_structural_equal(first.mod, second.mod)
    assert str(first.trace) == str(second.trace)
    run(tvm.build(second.mod))


@pytest.mark.parametrize("name", ["reindex", "unannotate", "decompose_padding", "pad_einsum"])
def test_steps_that_are_not_here_say_so(name: str) -> None:
    with pytest.raises(AttributeError, match=rf"tir\.Schedule has no '{name}' here: "):
        getattr(scheduled(), name)


# -- several functions -----------------------------------------------------------------------------


def test_one_function_after_the_other() -> None:
    sch = tir.Schedule(tvm.IRModule({"f": product(), "g": product()}))
    with pytest.raises(ScheduleError, match="there is no function 'main'") as caught:
        sch.get_block("C")
    assert "work_on one of f, g" in str(caught.value)
    sch.work_on("f")
    sch.parallel(sch.get_loops(sch.get_block("C"))[0])
    sch.work_on("g")
    sch.vectorize(sch.get_loops(sch.get_block("C", func_name="g"))[1])
    assert "parallel" in str(sch.mod["f"])
    assert "vectorize" in str(sch.mod["g"])
    with pytest.raises(ScheduleError, match="steps are taken on 'g', not on 'f'"):
        sch.get_block("C", func_name="f")
    with pytest.raises(ScheduleError, match="there is no function 'h'"):
        sch.work_on("h")
    assert sch.func_working_on == sch.copy().func_working_on == "g"
    for built in (tvm.build(sch.mod), tvm.build(sch), tvm.build(sch.copy())):
        for name in ("f", "g"):
            run(built[name])
