"""Templates of AutoTVM: what they leave open is tried, kept and taken again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy
import pytest

import hybridjit.compat.tvm as package

np: Any = numpy  # whose types say nothing of arrays that may be any
tvm: Any = package
te: Any = tvm.te
autotvm: Any = tvm.autotvm


def stages(n: int) -> tuple[Any, ...]:
    A, B = (te.placeholder((n, n), name=name) for name in "AB")
    k = te.reduce_axis((0, n), "k")

    def element(i: Any, j: Any) -> Any:
        return te.sum(A[i, k] * B[k, j], axis=k)

    C = te.compute((n, n), element, name="C")
    return te.create_schedule(C.op), A, B, C


@autotvm.template("tests/knobs")
def by_knobs(n: int) -> Any:
    s, A, B, C = stages(n)
    cfg = autotvm.get_config()
    cfg.define_knob("tile_y", [1, 2, 4])
    cfg.define_knob("tile_x", [8, 4])
    y, x = s[C].op.axis
    yo, yi = s[C].split(y, cfg["tile_y"].val)
    xo, xi = s[C].split(x, cfg["tile_x"].val)
    s[C].reorder(yo, xo, s[C].op.reduce_axis[0], yi, xi)
    return s, [A, B, C]


@autotvm.template("tests/entities")
def by_entities(n: int) -> Any:
    s, A, B, C = stages(n)
    cfg = autotvm.get_config()
    y, x = s[C].op.axis
    cfg.define_split("tile_y", y, num_outputs=2, max_factor=4)
    cfg.define_split("tile_x", x, num_outputs=3, filter=is_square)
    yo, yi = cfg["tile_y"].apply(s, C, y)
    xo, xm, xi = cfg["tile_x"].apply(s, C, x)
    cfg.define_reorder("order", [yo, xo], policy="all")
    order = cfg["order"].apply(s, C, [yo, xo])
    s[C].reorder(*order, xm, s[C].op.reduce_axis[0], yi, xi)
    cfg.define_annotate("inner", [yi, xi], policy="try_unroll_vec")
    cfg["inner"].apply(s, C, [yi, xi])
    return s, [A, B, C]


def is_square(way: Any) -> bool:
    return way.size[1] == way.size[2]


def check(made: tuple[Any, Any], n: int) -> None:
    a, b = (np.random.default_rng(seed).random((n, n), np.float32) for seed in (0, 1))
    c = tvm.nd.empty((n, n))
    tvm.build(*made)(a, b, c)
    tvm.testing.assert_allclose(c.numpy(), a @ b, rtol=1e-4)


@pytest.mark.parametrize("name", ["tests/knobs", "tests/entities"])
@pytest.mark.parametrize("tuner", ["RandomTuner", "GridSearchTuner", "XGBTuner"])
def test_what_is_best_is_taken(name: str, tuner: str, tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    task = autotvm.task.create(name, args=(16,), target="llvm")
    made = getattr(autotvm.tuner, tuner)(task)
    runner = autotvm.LocalRunner(number=1, repeat=1, timeout=10)
    made.tune(
        n_trial=3,
        measure_option=autotvm.measure_option(builder="local", runner=runner),
        callbacks=[autotvm.callback.log_to_file(str(log)), autotvm.callback.progress_bar(3)],
    )
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(entries) == 3
    assert len({str(entry["config"]) for entry in entries}) == 3
    assert made.best.places == min(entries, key=lambda entry: entry["costs"][0])["config"]
    template = by_knobs if name == "tests/knobs" else by_entities
    with autotvm.apply_history_best(str(log)), tvm.target.Target("llvm"):
        check(template(16), 16)
    wanted = task.instantiate(made.best.places)
    with autotvm.apply_history_best(log):
        found = template(16)
    assert str(tvm.lower(*found)) == str(tvm.lower(*wanted))


def test_every_configuration_is_right() -> None:
    task = autotvm.task.create("tests/entities", args=(8,))
    space = task.config_space
    # Factors of 8 up to 4; squares in 8; two orders; each unrolled or not, the last in lanes.
    assert len(space) == 3 * 2 * 2 * 6
    assert "tile_x" in str(space)
    for places in autotvm._all_places(space)[::7]:
        check(task.instantiate(places), 8)


def test_operations_are_counted() -> None:
    task = autotvm.task.create("tests/entities", args=(8,))
    assert task.flop == 2 * 8**3


def test_without_a_history_the_first_is_taken() -> None:
    check(by_knobs(8), 8)


def test_what_there_is_not() -> None:
    with pytest.raises(ValueError, match="there is no template 'tests/none'"):
        autotvm.task.create("tests/none", args=())
    with pytest.raises(ValueError, match="none is running"):
        autotvm.get_config()
