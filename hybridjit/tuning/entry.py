"""`kernel.tune` and `hj.tune`: what is tuned, in which space, for how long."""

from __future__ import annotations

import inspect
import os
import pickle
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any, Protocol, cast, get_args

from hybridjit import config
from hybridjit.config import api_edge
from hybridjit.errors import ArgumentError, ArgumentValueError
from hybridjit.ir.func import PrimFunc
from hybridjit.optimize.receipt import make_receipt
from hybridjit.processor import current_target
from hybridjit.record import record
from hybridjit.runtime.modules.module import Module
from hybridjit.schedule.schedule import Schedule
from hybridjit.schedule.scheduled import as_scheduled
from hybridjit.schedule.trace import RecordedTrace
from hybridjit.target import Caches
from hybridjit.tuning.budget import read_budget
from hybridjit.tuning.budgets import require
from hybridjit.tuning.database import Database, Winner
from hybridjit.tuning.executors import is_executor
from hybridjit.tuning.identity import identify, shapes_of
from hybridjit.tuning.knobs import Knobs, TemplateSpace
from hybridjit.tuning.picks import Picks, likeliest
from hybridjit.tuning.programs import Built, Function, Program, Script
from hybridjit.tuning.rates import work_of
from hybridjit.tuning.receipts import Receipt
from hybridjit.tuning.remembered import database_in_use, options_of
from hybridjit.tuning.result import Tuned
from hybridjit.tuning.search import Search, Strategy
from hybridjit.tuning.session import Limits, Session
from hybridjit.tuning.space import Automatic, Candidate, Schedules, Space, Steps
from hybridjit.tuning.tasks import Task


class Tunable(Protocol):
    """What a search asks of a kernel."""

    fastmath: tuple[str, ...]

    @property
    def is_parallel(self) -> bool: ...
    def copy(self) -> Any: ...
    def schedule(self, *args: Any) -> Schedule: ...
    def auto_schedule(self, *args: Any) -> Schedule: ...


@record(eq=False)
class Settings:
    """How to search."""

    budget: str | float | None = None
    trials: int | None = None
    space: Steps | None = None
    executor: Any = None
    seed: int = 0
    search: Strategy = "evolution"
    cold: bool = False

    def limits(self) -> Limits:
        """When to stop: after the trials, if only those are given."""
        if self.budget is not None:
            return Limits(read_budget(self.budget), self.trials)
        return Limits(None if self.trials is not None else _USUAL, self.trials)


_USUAL = 60.0  # seconds, if neither they nor trials are given
SETTINGS = tuple(field.name for field in fields(Settings))


def read_settings(**settings: Any) -> Settings:
    """Settings by name; a name that there is not is an error that lists them."""
    wrong = [name for name in settings if name not in SETTINGS]
    if wrong:
        raise ArgumentError(
            f"tune has no option '{wrong[0]}'",
            help=f"its options are {', '.join(SETTINGS)}; arguments of a kernel have no names here",
        )
    made = Settings(**settings)
    _check_settings(made)
    return made


def _check_settings(settings: Settings) -> None:
    if settings.budget is not None:
        read_budget(settings.budget)
    trials, space, executor = settings.trials, settings.space, settings.executor
    is_count = trials is None or (type(trials) is int and trials > 0)
    _demand(is_count, "trials", trials, "a number above 0")
    _demand(type(settings.seed) is int, "seed", settings.seed, "an integer")
    strategies = ", ".join(map(repr, get_args(Strategy)))
    is_strategy = settings.search in get_args(Strategy)
    _demand(is_strategy, "search", settings.search, f"one of {strategies}")
    _demand(space is None or callable(space), "space", space, "a function of a Schedule")
    is_good = executor is None or is_executor(executor)
    needed = "one of concurrent.futures, a pair of them, or a client of a cluster"
    _demand(is_good, "executor", executor, needed)
    _demand(type(settings.cold) is bool, "cold", settings.cold, "True or False")


def _demand(is_good: bool, name: str, value: Any, needed: str) -> None:
    if not is_good:
        raise ArgumentValueError(f"{name} is {value!r}: it must be {needed}")


def _pickled(value: Any, what: str) -> bytes:
    """What workers are sent."""
    try:
        return pickle.dumps(value)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise ArgumentError(
            f"{what} cannot be sent to the processes that measure: {error}",
            help="what it uses must be picklable: no locks, open files or lambdas",
        ) from None


def tune_kernel(kernel: Tunable, args: Sequence[Any], settings: Settings) -> Tuned:
    """Search for the best schedule of a kernel, for these arguments."""
    plain = kernel.schedule(*args)  # with the steps of its own, if it has any
    steps = settings.space or _automatic(kernel.auto_schedule(*args), kernel.is_parallel)
    options = options_of(kernel.fastmath, is_parallel=kernel.is_parallel)
    task = Task(
        _pickled(Script(kernel.copy()), f"'{plain.func.name}'"),
        _pickled(list(args), "an argument"),
        plain.is_open or bool(kernel.fastmath),
        kernel.is_parallel,
        settings.cold,
    )
    # Candidates replace the kernel's own steps; what they compete with is what they are kept under.
    space = Schedules(plain.original, steps)
    usual = None if settings.space or plain.trace.steps else _likeliest(space)
    return _search(space, task, settings, plain.func, options, args, usual)


def _automatic(receipt: Schedule, is_parallel: bool) -> Steps:
    target = current_target()
    return Automatic(Receipt(RecordedTrace.of(receipt.trace), target), target, is_parallel)


def _likeliest(space: Space) -> Any:
    """The recipe of what the compiler does by itself, if this is its own space."""
    made = space.make(Picks(likeliest))
    return made.recipe if isinstance(made, Candidate) else None


def _search(
    space: Space,
    task: Task,
    settings: Settings,
    func: PrimFunc,
    options: Any,
    args: Sequence[Any],
    usual: Any,
) -> Tuned:
    database = database_in_use()
    identity = None
    if database is not None:
        identity = identify(func, shapes_of(args), current_target(), options)
    session = Session(
        task,
        Search(space, settings.seed, settings.search),
        settings.limits(),
        executor=settings.executor,
        database=database,
        identity=identity,
        work=work_of(func, args, is_parallel=task.parallel),
        usual=usual,
    )
    return session.run(func.name)


class Tune:
    """`hj.tune(...)` searches; `hj.tune.use(path)` opens a database of what searches found."""

    @api_edge
    def __call__(self, source: Any, args: Sequence[Any], **settings: Any) -> Any:
        """Search for a fast way to run `source` on `args`.

        A kernel is tuned by `kernel.tune(*args)`. A function of the IR, tensors, or a schedule of
        them with its parameters, `(s, [A, B, C])`, is tuned in the compiler's own space, or in
        that of the schedule function `space`. A Python function is a template: it gets knobs, and
        returns a schedule and its parameters.

            def product(knobs):
                ...
                tile = knobs.sample_categorical([8, 16, 32])
                s[C].split(C.op.axis[0], factor=tile)
                return s, [A, B, C]

            fast = hj.tune(product, (a, b, c), budget="60s")

        The result is called like what `hj.build` makes; `fast.tuned` tells how the search went.
        """
        chosen = read_settings(**settings)
        if hasattr(source, "tune"):
            return source.tune(*args, **settings)
        if inspect.isfunction(source):
            return _tune_template(source, args, chosen)
        return _tune_function(source, args, chosen)

    def use(self, path: str | os.PathLike[str] | None) -> None:
        """Keep what searches find in this database, and take it from there; None closes it.

        Kernels that ran already go on as they are: `kernel.clear()` makes them look.
        """
        config.use_database(None if path is None else os.path.abspath(_checked_path(path)))

    def require(self, holds: bool, reason: str = "it does not fit") -> None:
        """In a space or a template: refuse the candidate, before it is compiled, unless this holds.

        hj.tune.require(4 * rows * columns <= hj.tune.caches.own, "a tile must fit the cache")
        """
        require(holds, reason)

    @property
    def caches(self) -> Caches:
        """The bytes that a core can keep near: `first`, `own` and `shared`."""
        return current_target().caches

    @property
    def registers(self) -> int:
        """How many vectors a core has in registers."""
        return current_target().vector_registers

    def winners(self) -> list[Winner]:
        """What the database in use has, the latest first."""
        return self._database().winners()

    def export(self) -> str:
        """All of the database in use as JSON."""
        return self._database().dump()

    def load(self, text: str) -> int:
        """Add what `export` gave to the database in use; how many entries that were."""
        return self._database().load(text)

    def _database(self) -> Database:
        found = database_in_use()
        if found is None:
            raise ArgumentError("no database is open", help='open one with hj.tune.use("tuned.db")')
        return found

    def __repr__(self) -> str:
        return "hj.tune: hj.tune(source, args, budget='60s'), hj.tune.use(path)"


def _tune_function(source: Any, args: Sequence[Any], settings: Settings) -> Module:
    parts = cast("tuple[Any, Any]", source if isinstance(source, tuple) else (source, None))
    func = as_scheduled(*parts, None).func
    opened = Schedule(func)
    steps = settings.space
    if steps is None:
        make_receipt(opened, current_target())
        steps = _automatic(opened, is_parallel=False)
    space = Schedules(func, steps)
    usual = None if settings.space else _likeliest(space)
    return _tune_module(Function(func), space, func, args, settings, usual)


def tune_scheduled(opened: Schedule, args: Sequence[Any], settings: Settings) -> Module:
    """Tune a program that steps of a schedule were taken on: in the space around these steps."""
    steps = settings.space or _automatic(opened, is_parallel=opened.func.parallel)
    func = opened.original
    program, space = Function(func, opened.trace.to_json()), Schedules(func, steps)
    usual = None if settings.space else _likeliest(space)
    return _tune_module(program, space, func, args, settings, usual)


def _tune_template(
    template: Callable[[Knobs], Any], args: Sequence[Any], settings: Settings
) -> Module:
    space = TemplateSpace(template)
    func = space.plain
    made: Any = _tune_module(Built(func), space, func, args, settings, None)
    made.tuned = replace(made.tuned, knobs=space.values(made.tuned.recipe))
    return made


def _tune_module(
    program: Program,
    space: Space,
    func: PrimFunc,
    args: Sequence[Any],
    settings: Settings,
    usual: Any,
) -> Module:
    loose = Schedule(func).is_open or bool(func.fastmath) or isinstance(program, Built)
    data = _pickled(program, f"'{func.name}'"), _pickled(list(args), "an argument")
    task = Task(*data, loose, False, settings.cold)
    options = options_of(func.fastmath, is_parallel=False)
    if isinstance(program, Built):
        options.append("template")  # its candidates are no steps that others could take
    found = _search(space, task, settings, func, options, args, usual)
    made: Any = program.make(found.recipe)
    made.tuned = found
    return made


def _checked_path(path: object) -> str:
    if not isinstance(path, str | os.PathLike):
        raise ArgumentError(f"a database is the path of a file, or None, got {path!r}")
    return os.fspath(cast("str | os.PathLike[str]", path))


tune = Tune()
