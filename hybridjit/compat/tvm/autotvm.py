"""`tvm.autotvm`: templates, and tuners that build, run and time their configurations.

    @autotvm.template("matmul")
    def matmul(n):
        cfg = autotvm.get_config()
        cfg.define_split("tile", axis, num_outputs=2)
        ...
        return s, [A, B, C]

    task = autotvm.task.create("matmul", args=(512,), target="llvm")
    autotvm.tuner.RandomTuner(task).tune(
        n_trial=10, measure_option=autotvm.measure_option(),
        callbacks=[autotvm.callback.log_to_file("matmul.log")])

`hj.tune(template, args)` searches better, and in processes of their own.
"""

from __future__ import annotations

import itertools
import json
import logging
import math
import random
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import partial, wraps
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from hybridjit.compat.tvm.autotvm_config import Annotate, Config, Other, Reorder, Split
from hybridjit.compat.tvm.modules import build
from hybridjit.errors import ArgumentValueError, ScheduleError
from hybridjit.ir.expr import Binary, Call, Load, Node
from hybridjit.ir.visit import children
from hybridjit.record import record
from hybridjit.tensors.compute import exprs_of
from hybridjit.tensors.tensor import Compute, Tensor

logger = logging.getLogger("autotvm")
Template = Callable[..., tuple[Any, Sequence[Any]]]
_templates: dict[str, Template] = {}
_current: list[Config] = []
_best: list[dict[str, dict[str, int]]] = []  # of each `with`: the places by template and arguments


def template(name: str) -> Callable[[Template], Template]:
    """Register a function that makes a schedule; called, it does so with the best known config."""

    def register(function: Template) -> Template:
        @wraps(function)
        def make(*args: Any) -> Any:
            if _current:
                return function(*args)
            known = _known_best(_key(name, args))
            return _run(function, args, Config(partial(_given, known), is_fallback=not known))

        _templates[name] = function
        return make

    return register


def get_config() -> Config:
    """The configuration that the template that runs is to take."""
    if not _current:
        raise ArgumentValueError("get_config is for templates, and none is running")
    return _current[-1]


def _run(function: Template, args: Sequence[Any], config: Config) -> Any:
    _current.append(config)
    try:
        return function(*args)
    finally:
        _current.pop()


def _given(places: dict[str, int], name: str, count: int) -> int:
    return min(places.get(name, 0), count - 1)


def _known_best(key: str) -> dict[str, int]:
    for best in _best[::-1]:
        if key in best:
            return best[key]
    return {}


def _key(name: str, args: Sequence[Any]) -> str:
    return json.dumps([name, *map(str, args)])


# -- tasks and what was measured -------------------------------------------------------------------


@record(eq=False)
class Task:
    """A template with its arguments."""

    name: str
    args: tuple[Any, ...]
    target: Any = "llvm"

    @property
    def config_space(self) -> Config:
        """What the template leaves open."""
        config = Config(partial(_given, {}))
        _run(_templates[self.name], self.args, config)
        return config

    @property
    def flop(self) -> float:
        """How many operations a run takes: as the template says, or as they are counted."""
        config = Config(partial(_given, {}))
        schedule, _ = _run(_templates[self.name], self.args, config)
        return config.flop or float(sum(map(_count_operations, schedule.stages)))

    def instantiate(self, config: Config | dict[str, int]) -> tuple[Any, Sequence[Any]]:
        """The schedule with these choices, and its parameters."""
        places = config.places if isinstance(config, Config) else config
        return _run(_templates[self.name], self.args, Config(partial(_given, places)))


def _count_operations(stage: Any) -> int:
    """The operations that a stage takes, as far as its sizes are known."""
    op: Any = stage.op
    if not isinstance(op, Compute):
        return 0
    sizes = [axis.dom.extent for axis in (*op.axis, *op.reduce_axis)]
    nodes = [node for expr in exprs_of(op.body) for node in _walk_values(expr)]
    each = sum(isinstance(node, Binary | Call) for node in nodes)
    return each * math.prod(size for size in sizes if isinstance(size, int))


def _walk_values(expr: Node) -> Iterator[Node]:
    """The expressions that a value is made of, without the indices of what is read."""
    yield expr
    if not isinstance(expr, Load):
        for child in children(expr):
            yield from _walk_values(child)


@record(eq=False)
class Measured:
    """The seconds of each repeat, or why there are none."""

    task: Task
    places: dict[str, int]
    costs: tuple[float, ...] = ()
    error: str = ""

    @property
    def mean(self) -> float:
        """The average; without any, more than everything."""
        return sum(self.costs) / len(self.costs) if self.costs else float("inf")


def create_task(task_name: str, args: Sequence[Any], target: Any = "llvm") -> Task:
    """A task of the template of that name."""
    if task_name not in _templates:
        raise ArgumentValueError(
            f"there is no template '{task_name}'", help=f"there are {', '.join(_templates)}"
        )
    return Task(task_name, tuple(args), target)


@record
class Runner:
    """How often a configuration is run; all of them run in this process, one after the other."""

    number: int = 4
    repeat: int = 3
    options: dict[str, Any] = field(default_factory=dict[str, Any])


def local_runner(number: int = 4, repeat: int = 3, **options: Any) -> Runner:
    """How often a configuration is run."""
    return Runner(number, repeat, options)


def measure_option(builder: Any = "local", runner: Any = None) -> Runner:
    """How configurations are built, always in the same way, and run."""
    del builder
    return runner if isinstance(runner, Runner) else Runner()


# -- tuners ----------------------------------------------------------------------------------------


class RandomTuner:
    """Takes configurations by chance, each once."""

    def __init__(self, task: Task, **options: Any) -> None:
        del options
        self.task = task
        self.best: Measured | None = None

    def order(self, space: list[dict[str, int]]) -> list[dict[str, int]]:
        """The configurations, in the order in which they are tried."""
        return random.Random(0).sample(space, len(space))

    def tune(
        self,
        n_trial: int,
        measure_option: Runner | None = None,
        early_stopping: int | None = None,
        callbacks: Sequence[Callable[..., Any]] = (),
        **options: Any,
    ) -> None:
        """Build, run and time that many configurations."""
        del options
        runner = measure_option or Runner()
        since = 0
        for places in self.order(_all_places(self.task.config_space))[:n_trial]:
            measured = _measure(self.task, places, runner)
            logger.debug("%s: %s", places, measured.error or f"{measured.mean:.3g} s")
            since += 1
            if self.best is None or measured.mean < self.best.mean:
                self.best, since = measured, 0
            for callback in callbacks:
                callback(self, [measured], [measured])
            if early_stopping is not None and since >= early_stopping:
                return


class GridSearchTuner(RandomTuner):
    """Takes configurations one after the other."""

    def order(self, space: list[dict[str, int]]) -> list[dict[str, int]]:
        return space


def _all_places(space: Config) -> list[dict[str, int]]:
    sizes = [range(len(candidates)) for candidates in space.space.values()]
    return [dict(zip(space.space, places, strict=True)) for places in itertools.product(*sizes)]


def _measure(task: Task, places: dict[str, int], runner: Runner) -> Measured:
    try:
        schedule, args = task.instantiate(places)
        module = build(schedule, args, task.target)
        arrays = [_random_array(arg) for arg in args]
        timer = module.time_evaluator(number=runner.number, repeat=runner.repeat)
        return Measured(task, places, timer(*arrays).results)
    except ScheduleError as error:
        return Measured(task, places, error=str(error))


def _random_array(tensor: Any) -> Any:
    if not isinstance(tensor, Tensor) or not all(isinstance(size, int) for size in tensor.shape):
        raise ArgumentValueError(f"a template has tensors of known sizes, found {tensor!r}")
    shape = tuple(int(size) for size in tensor.shape)
    return (np.random.default_rng(0).random(shape) * 10).astype(tensor.dtype.numpy)


# -- what was found --------------------------------------------------------------------------------


def log_to_file(path: Any) -> Callable[..., None]:
    """A callback that adds what was measured to a file."""

    def write(tuner: Any, inputs: Any, results: Sequence[Measured]) -> None:
        del tuner, inputs
        with Path(path).open("a", encoding="utf-8") as file:
            for one in results:
                key = _key(one.task.name, one.task.args)
                line = {"task": key, "config": one.places, "costs": one.costs, "error": one.error}
                file.write(json.dumps(line) + "\n")

    return write


def progress_bar(total: int, prefix: str = "") -> Callable[..., None]:
    """A callback that shows nothing."""
    del total, prefix
    return lambda *_: None


def _with_numbers(kind: Callable[[tuple[Any, ...]], Any]) -> Callable[[Sequence[Any]], Any]:
    """What makes an entity of a list, `SplitEntity([-1, 4])`: the first number is what is left."""
    return lambda values: kind(tuple(values))


@contextmanager
def apply_history_best(records: Any) -> Generator[None]:
    """Inside, templates take the best configurations of a file."""
    found: dict[str, tuple[float, dict[str, int]]] = {}
    for line in Path(records).read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        costs = entry["costs"]
        mean = sum(costs) / len(costs) if costs else float("inf")
        if mean < found.get(entry["task"], (float("inf"), {}))[0]:
            found[entry["task"]] = mean, entry["config"]
    _best.append({key: config for key, (_, config) in found.items()})
    try:
        yield
    finally:
        _best.pop()


space: Any = SimpleNamespace(
    SplitEntity=_with_numbers(Split),
    ReorderEntity=_with_numbers(Reorder),
    AnnotateEntity=_with_numbers(Annotate),
    OtherOptionEntity=Other,
)
task: Any = SimpleNamespace(create=create_task, Task=Task, space=space)
tuner: Any = SimpleNamespace(
    RandomTuner=RandomTuner,
    GridSearchTuner=GridSearchTuner,
    GATuner=RandomTuner,
    XGBTuner=RandomTuner,
)
callback: Any = SimpleNamespace(log_to_file=log_to_file, progress_bar=progress_bar)
LocalRunner = local_runner
LocalBuilder = SimpleNamespace
ConfigEntity = ConfigSpace = Config
