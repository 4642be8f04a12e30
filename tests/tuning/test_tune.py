"""`kernel.tune` and `hj.tune` as users call them, with real workers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import pytest

import hybridjit as hj
from hybridjit import config, hybrid, te
from hybridjit import stdlib as _stdlib
from hybridjit.processor import current_target
from hybridjit.tools.command_line import main
from hybridjit.tuning.database import Database
from hybridjit.tuning.identity import identify, shapes_of
from hybridjit.tuning.jobs import Measurement
from hybridjit.tuning.knobs import TemplateSpace
from hybridjit.tuning.memory import Memory
from hybridjit.tuning.picks import Picks, first
from hybridjit.tuning.remembered import options_of
from hybridjit.tuning.search import Search
from hybridjit.tuning.space import Candidate
from hybridjit.tuning.timing import Times
from tests.tuning.kernels import CASES, loops, matrices, mirrored, product

hs: Any = _stdlib


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "tuned.db"
    hj.tune.use(path)
    yield path
    config.clear()


def test_a_tuned_kernel_computes_the_same() -> None:
    kernel, args = CASES["mirrored"]
    fast = kernel.tune(*args, trials=4)
    np.testing.assert_array_equal(fast(*args), kernel(*args))
    assert fast.tuned is not None
    assert fast.tuned.trials == 4
    assert kernel.tuned is None


def tiles(s: Any) -> None:
    i, _, k = s.loops("c")
    s.split(i, s.sample_categorical([2, 4]))
    s.split(k, s.sample_perfect_tile(k, 2)[-1])


def test_a_space_of_ones_own() -> None:
    args = CASES["loops"][1]
    fast = loops.tune(*args, trials=3, space=tiles, search="grid", executor=ThreadPoolExecutor(1))
    np.testing.assert_array_equal(fast(*args), loops(*args))
    assert fast.tuned is not None
    assert fast.tuned.counts["measured"] == 3


def test_what_was_found_is_taken_from_the_database(database: Path) -> None:
    args = CASES["product"][1]
    kernel = product.copy()
    _crown(kernel, args)
    np.testing.assert_array_equal(kernel(*args), product.py_func(*args))
    assert str(kernel.prim_func(*args)) != str(kernel.schedule(*args).func)


def test_steps_for_other_shapes_go_when_a_search_finds_nothing_better(database: Path) -> None:
    """What was found for shapes nearby is taken, until it is known that it is no gain."""
    near, here = ((matrices(1, n, n)[0], matrices(1, n, n)[0]) for n in (33, 35))
    _crown(product.copy(), near)
    own = str(product.schedule(*here).func)
    assert str(product.copy().prim_func(*here)) != own
    shapes, options = shapes_of(here), options_of(product.fastmath, is_parallel=False)
    known = identify(product.schedule(*here).func, shapes, current_target(), options)
    Memory(Database(database), known).crown_plain(None)
    assert str(product.copy().prim_func(*here)) == own


class Pair(NamedTuple):
    left: Any
    right: Any


@hybrid.script
def product_of(pair: Any) -> Any:
    return pair.left @ pair.right


@pytest.mark.parametrize(("size", "is_near"), [(36, True), (270, False)])
def test_arrays_in_tuples_have_shapes_too(database: Path, size: int, is_near: bool) -> None:
    tuned, here = (Pair(*matrices(2, n, n)) for n in (33, size))
    assert shapes_of([here, 2.0]) == ((size, size), (size, size))
    _crown(product_of.copy(), (tuned,))
    own = str(product_of.schedule(here).func)
    assert (str(product_of.copy().prim_func(here)) != own) == is_near


def test_operators_take_what_was_found_for_them(database: Path) -> None:
    """In a process that did not search: it has the database, and no code yet."""
    x = np.random.default_rng(0).random((6, 8))
    compiled, _ = hs.softmax._compile((x,), {})
    func = compiled.opened.original
    schedule = hj.Schedule(func)
    schedule.split(schedule.loops(schedule.blocks()[0])[0], 3)
    options = options_of(func.fastmath, is_parallel=False)
    known = identify(func, shapes_of([x]), current_target(), options)
    Database(database).crown(known, schedule.trace.to_json(), 0.5, None)
    hs.softmax.clear()
    found, _ = hs.softmax._compile((x,), {})
    assert "split" in str(found.opened.trace)
    np.testing.assert_allclose(hs.softmax(x).sum(axis=-1), 1.0)
    hs.softmax.clear()


def _crown(kernel: Any, args: Any) -> None:
    """Keep steps as if a search had found them."""
    schedule = kernel.schedule(*args)
    options = options_of(kernel.fastmath, is_parallel=False)
    known = identify(schedule.func, shapes_of(args), current_target(), options)
    schedule.interchange("product")
    path = config.tune_database()
    assert path is not None
    Database(path).crown(known, schedule.trace.to_json(), 0.5, None)
    assert [winner.name for winner in hj.tune.winners()] == [schedule.func.name]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["matmul", "softmax", "add", "sum"])
def test_operators(name: str) -> None:
    operator = getattr(hs, name)
    args: list[Any] = {"matmul": matrices(2, 40, 40), "add": [matrices(1, 40, 40)[0], 2.0]}.get(
        name, matrices(1, 40, 40)
    )
    before = operator(*args)
    try:
        found = operator.tune(*args, trials=3)
        assert found.counts["measured"] == found.trials
        np.testing.assert_allclose(operator(*args), before, rtol=1e-5)
    finally:
        operator.clear()


def test_operators_on_nothing() -> None:
    with pytest.raises(hj.ArgumentError, match="arrays without elements need no tuning"):
        hs.add.tune(np.ones((0, 3)), np.ones((0, 3)), trials=1)
    with pytest.raises(hj.ArgumentError, match="tune takes arrays"):
        hs.exp.tune(te.placeholder((3,), "float32"))


def test_a_search_keeps_what_it_measured(database: Path) -> None:
    args = CASES["mirrored"][1]
    mirrored.copy().tune(*args, trials=3)
    assert len(json.loads(hj.tune.export())["measurements"]) == 3


def template(knobs: Any) -> tuple[Any, list[Any]]:
    A, B = (te.placeholder((24, 24), "float32", name) for name in "AB")
    k = te.reduce_axis((0, 24), "k")
    C = te.compute((24, 24), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    _, inner = s[C].split(C.op.axis[1], factor=knobs.sample_categorical([4, 8]))
    tile = knobs.sample_perfect_tile(loop=C.op.axis[0], n=2)
    assert math.prod(tile) == 24
    s[C].split(C.op.axis[0], factor=tile[1])
    s[C].vectorize(inner)
    return s, [A, B, C]


def test_a_template_of_tensors() -> None:
    a, b = matrices(2, 24, 24)
    c = np.zeros((24, 24), np.float32)
    fast = hj.tune(template, (a, b, c), trials=3)
    fast(a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)
    assert fast.tuned.trials == 3


def test_a_template_goes_on_where_the_last_search_ended(database: Path) -> None:
    """What it made is not kept, but how."""
    a, b = matrices(2, 24, 24)
    c = np.zeros((24, 24), np.float32)
    space = TemplateSpace(template)
    measured = [space.make(Picks(first, (place, 3))) for place in range(2)]
    options = [*options_of((), is_parallel=False), "template"]
    known = identify(space.plain, shapes_of((a, b, c)), current_target(), options)
    memory = Memory(Database(database), known)
    times = Times((0.5,)), Times((1.0,))
    for candidate in measured:
        assert isinstance(candidate, Candidate)
        memory.note(candidate, (), Measurement("measured", "", *times), 0.5)
    search = Search(space, 0)
    found = [scored.recipe for scored in memory.teach(search)]
    assert [space.values(recipe) for recipe in found] == [(4, [6, 4]), (8, [6, 4])]
    tried = hj.tune(template, (a, b, c), trials=40, search="grid").tuned
    assert tried.trials == 2 * 8 - 2
    assert tried.recipe is None or str(tried.knobs[0]) in str(tried)
    assert all(winner.recipe for winner in hj.tune.winners())


def test_tensors_in_the_space_of_the_compiler() -> None:
    A = te.placeholder((16, 40), "float32", "A")
    B = te.compute((40, 16), lambda i, j: A[j, i] + 1, name="B")
    (a,), b = matrices(1, 16, 40), np.zeros((40, 16), np.float32)
    fast = hj.tune((te.create_schedule(B.op), [A, B]), (a, b), trials=3)
    fast(a, b)
    np.testing.assert_array_equal(b, a.T + 1)


def test_arguments_that_are_written_are_as_before() -> None:
    kernel, (x,) = CASES["in_place"]
    before = x.copy()
    kernel.tune(x, trials=3)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"budget": "soon"}, "budget is 'soon'"),
        ({"budget": 0}, "budget is 0"),
        ({"tirals": 3}, "tune has no option 'tirals'"),
        ({"trials": 0}, "trials is 0: it must be a number above 0"),
        ({"trials": "3"}, "trials is '3'"),
        ({"search": "gird"}, "search is 'gird': it must be one of 'evolution'"),
        ({"space": 3}, "space is 3: it must be a function"),
        ({"executor": 3}, "executor is 3"),
        ({"seed": "x"}, "seed is 'x'"),
        ({"cold": "yes"}, "cold is 'yes': it must be True or False"),
    ],
)
def test_settings_that_make_no_sense(settings: Any, message: str) -> None:
    with pytest.raises(hj.ArgumentError, match=message):
        mirrored.tune(*CASES["mirrored"][1], **settings)


def forgetful(knobs: Any) -> None:
    knobs.sample_categorical([1, 2])


def test_a_template_that_returns_something_else() -> None:
    with pytest.raises(hj.ArgumentError, match="returns a schedule and its parameters"):
        hj.tune(forgetful, ())


def test_without_a_database_there_are_no_winners() -> None:
    with pytest.raises(hj.ArgumentError, match="no database is open"):
        hj.tune.winners()


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "tuned.db")
    name = f"{Path(__file__).parent / 'kernels.py'}:mirrored"
    command = ["tune", name, "--args", "f32[33, 33]", "--trials", "3", "--db", path, "--json"]
    try:
        assert main(command) == 0
        assert json.loads(capsys.readouterr().out)["trials"]["measured"] == 3
        assert main(["db", "list", path, "--json"]) == 0
        assert isinstance(json.loads(capsys.readouterr().out), list)
        assert main(["db", "export", path]) == 0
        assert len(json.loads(capsys.readouterr().out)["measurements"]) == 3
        with pytest.raises(SystemExit, match="2"):
            main(["db", "prune", path, "--days", "-1"])
        assert "-1 is below 0" in capsys.readouterr().err
        assert main(["db", "prune", path, "--days", "0"]) == 0
        assert capsys.readouterr().out == "3 measurements removed\n"
    finally:
        config.clear()


class Scaled(NamedTuple):
    values: Any
    factor: float


@hybrid.script
def scale_in_place(scaled: Any) -> None:
    for i in range(scaled.values.shape[0]):
        scaled.values[i] = scaled.values[i] * scaled.factor + 1.0


def test_arguments_that_hold_arrays_are_copied_and_compared() -> None:
    scaled = Scaled(np.ones(40, np.float32), 3.0)
    fast = scale_in_place.tune(scaled, trials=2, executor=ThreadPoolExecutor(1))
    assert fast.tuned is not None
    assert fast.tuned.counts["measured"] == 2
    np.testing.assert_array_equal(scaled.values, np.ones(40, np.float32))


@hybrid.script
def refuse_positive(x: Any) -> None:
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            raise ValueError("it is positive")


def test_a_kernel_that_raises_is_told_of() -> None:
    with pytest.raises(hj.TuneError, match=r"(?s)could be run: 1 failed.*it is positive"):
        refuse_positive.tune(np.ones(4), trials=2, executor=ThreadPoolExecutor(1))


def split_nothing(s: Any) -> None:
    s.split("nothing", s.sample_categorical([2, 4]))


def test_a_space_that_is_refused_is_told_of() -> None:
    with pytest.raises(hj.TuneError, match=r"(?s)could be run: \d+ refused.*'nothing'"):
        mirrored.tune(*CASES["mirrored"][1], trials=2, space=split_nothing)


def by_four(s: Any) -> None:
    s.split("i", 4)


def test_a_kernel_with_a_schedule_competes_with_it() -> None:
    args = CASES["loops"][1]
    scheduled = loops.with_schedule(by_four)
    executor = ThreadPoolExecutor(1)
    fast = scheduled.tune(*args, trials=2, space=tiles, search="grid", executor=executor)
    assert fast.tuned is not None
    assert fast.tuned.counts["measured"] == 2
    np.testing.assert_array_equal(fast(*args), loops(*args))


def test_the_plain_program_takes_nothing_from_the_database(database: Path) -> None:
    args = CASES["product"][1]
    _crown(product.copy(), args)
    with config.without_database():
        plain = product.copy().prim_func(*args)
    assert str(plain) == str(product.schedule(*args).func)


def test_what_cannot_be_sent_is_told_of() -> None:
    lock = Lock()

    def callback(x: Any) -> None:
        with lock:
            x[0] = 1.0

    packed = hybrid.packed(callback)

    @hybrid.script
    def calls(x: Any) -> None:
        packed(x)

    with pytest.raises(hj.ArgumentError, match="'calls' cannot be sent to the processes"):
        calls.tune(np.ones(3), trials=1)


def test_times_with_cold_caches_are_kept_apart(database: Path) -> None:
    kernel, args = CASES["loops"]
    kernel.tune(*args, trials=3, search="grid")
    cold = kernel.tune(*args, trials=3, search="grid", cold=True).tuned
    assert cold.counts["measured"] == 3  # none of them is taken for known
    settings = {row["setting"] for row in json.loads(hj.tune.export())["measurements"]}
    assert len(settings) == 2
