"""The record of a schedule: every step, printed as Python, kept as JSON, replayed elsewhere."""

from __future__ import annotations

import json
import keyword
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, cast

from hybridjit.errors import ArgumentValueError
from hybridjit.ir.expr import Var
from hybridjit.record import record
from hybridjit.schedule.handles import BlockHandle, Handle, LoopHandle


@record(eq=False)
class Step:
    """One call on a schedule: `results = s.name(*args, **options)`."""

    name: str
    args: tuple[Any, ...]
    options: Mapping[str, Any]
    results: tuple[Handle, ...] = ()
    # Whether the call gave its results as one value, a list, or not at all.
    is_list: bool = False


@record(eq=False, repr=False, frozen=False)
class Trace:
    """The steps of a schedule, in order. `print(trace)` shows a function that replays them."""

    steps: list[Step] = field(default_factory=list[Step])

    def __str__(self) -> str:
        return "\n".join(["def schedule(s):", *_lines(self.steps)])

    def __repr__(self) -> str:
        return str(self)

    @property
    def says_order(self) -> bool:
        """True if the steps say in which order loops run: then no pass changes that."""
        return _says_order([step.name for step in self.steps])

    def to_json(self) -> str:
        """The trace as JSON text."""
        return RecordedTrace.of(self).to_json()

    @staticmethod
    def from_json(text: str) -> RecordedTrace:
        """The trace that `to_json` wrote."""
        try:
            data = json.loads(text)
        except (ValueError, TypeError, RecursionError) as error:
            raise ArgumentValueError(f"not the JSON of a trace: {error}") from None
        match data:
            case {"format": int(found)} if found != FORMAT:
                raise ArgumentValueError(f"a trace of format {found}, expected {FORMAT}")
            case {"format": int(), "steps": list()}:
                return RecordedTrace(tuple(map(_checked_step, cast("list[Any]", data["steps"]))))
            case _:
                raise ArgumentValueError("not the JSON of a trace: it has no format and steps")


FORMAT = 1
RECORDABLE = (LoopHandle, BlockHandle, bool, int, float, str)
"""What the arguments of steps are made of, besides lists and None."""

# Steps that the optimiser takes by itself (optimize/receipt.py), and queries. A schedule of these
# alone runs as what was optimised does: later passes still choose what they say nothing of.
_AUTOMATIC = {
    *("loops", "loop", "blocks", "block", "compute_inline", "merge", "reverse_compute_inline"),
    *("contract", "store_once", "gemm", "interchange", "sum_in_register", "add_terms"),
    *("reduce_in_lanes", "unroll_and_jam", "sink", "squares", "in_lanes", "on_threads"),
    *("sums_in_lanes", "in_register", "sums_first"),
}


def _says_order(steps: Sequence[str]) -> bool:
    return any(step not in _AUTOMATIC for step in steps)


def _checked_step(step: Any) -> Mapping[str, Any]:
    match step:
        case {"step": str(), "args": list(), "options": dict(), "results": list()} if all(
            isinstance(number, int) for number in cast("list[Any]", step["results"])
        ):
            return cast("Mapping[str, Any]", step)
        case _:
            raise ArgumentValueError(f"not the JSON of a trace: {step!r} is not a step")


@record(repr=False)
class RecordedTrace:
    """A trace read back: handles are numbers until a replay gives them loops and blocks."""

    steps: tuple[Mapping[str, Any], ...]

    def __str__(self) -> str:
        return "\n".join(["def schedule(s):", *_lines(list(self._named_steps()))])

    def __repr__(self) -> str:
        names = ", ".join(step["step"] for step in self.steps)
        return f"trace of {len(self.steps)} steps: {names}"

    def _named_steps(self) -> Iterator[Step]:
        """The steps with names in place of numbers: their loops are called i, j, k again."""
        made: dict[int, Handle] = {}
        for call in self.calls():
            args = [_with_names(arg, made) for arg in call.args]
            options = {name: _with_names(value, made) for name, value in call.options.items()}
            for place, number in enumerate(call.results):
                made[number] = LoopHandle(Var(_LOOP_NAMES[place % len(_LOOP_NAMES)]))
            results = tuple(made[number] for number in call.results)
            is_list = len(results) > 1 or call.name in ("loops", "blocks")
            yield Step(call.name, tuple(args), options, results, is_list)

    @property
    def says_order(self) -> bool:
        """True if the steps say in which order loops run: then no pass changes that."""
        return _says_order([step["step"] for step in self.steps])

    def to_json(self) -> str:
        """The trace as JSON text, as it was read."""
        return json.dumps({"format": FORMAT, "steps": list(self.steps)}, indent=1)

    def calls(self) -> Iterator[RecordedCall]:
        """The calls, in order."""
        for step in self.steps:
            yield RecordedCall(step["step"], step["args"], step["options"], step["results"])

    @staticmethod
    def of(trace: Trace) -> RecordedTrace:
        """The same steps, without the loops of the program that they were taken on."""
        numbers: dict[Handle, int] = {}
        return RecordedTrace(tuple(_step_to_json(step, numbers) for step in trace.steps))


@record
class RecordedCall:
    """One call of a recorded trace."""

    name: str
    args: Sequence[Any]
    options: Mapping[str, Any]
    results: Sequence[int]

    def arguments(self, made: Mapping[int, Handle]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of the call, with the handles that earlier calls `made`."""
        args = [_from_json(arg, made) for arg in self.args]
        return args, {name: _from_json(value, made) for name, value in self.options.items()}


def _step_to_json(step: Step, numbers: dict[Handle, int]) -> dict[str, Any]:
    args = [_to_json(arg, numbers) for arg in step.args]
    options = {name: _to_json(value, numbers) for name, value in step.options.items()}
    results = [numbers.setdefault(result, len(numbers)) for result in step.results]
    return {"step": step.name, "args": args, "options": options, "results": results}


def _to_json(value: Any, numbers: dict[Handle, int]) -> Any:
    match value:
        case LoopHandle() | BlockHandle():
            # A handle that no step gave is as good as its name.
            return {"handle": numbers[value]} if value in numbers else value.name
        case list() | tuple():
            return [_to_json(item, numbers) for item in cast("Sequence[Any]", value)]
        case _ if value is None or isinstance(value, RECORDABLE):
            return value
        case _:
            raise ArgumentValueError(
                f"a trace cannot hold {value!r} of type {type(value).__name__}"
            )


_LOOP_NAMES = "ijklmn"


def _with_names(value: Any, made: Mapping[int, Handle]) -> Any:
    match value:
        case {"handle": int(number)} if number in made:
            return made[number]
        case list():
            return [_with_names(item, made) for item in cast("list[Any]", value)]
        case _:
            return value


def _from_json(value: Any, made: Mapping[int, Handle]) -> Any:
    match value:
        case {"handle": number}:
            if not isinstance(number, int) or number not in made:
                raise ArgumentValueError(f"a trace that uses handle {number!r} before it is made")
            return made[number]
        case list():
            return [_from_json(item, made) for item in cast("list[Any]", value)]
        case _:
            return value


def _lines(steps: Sequence[Step]) -> Iterator[str]:
    """One line of Python for each step; a handle is a variable named after its loop or block."""
    names: dict[Handle, str] = {}
    if not steps:
        yield "    pass"
    for step in steps:
        args = [_text(arg, names) for arg in step.args]
        args += [f"{name}={_text(value, names)}" for name, value in step.options.items()]
        call = f"s.{step.name}({', '.join(args)})"
        targets = [_variable(result, names) for result in step.results]
        if not targets:
            yield f"    {call}"
        elif step.is_list:
            yield f"    {', '.join(targets)}{',' if len(targets) == 1 else ''} = {call}"
        else:
            yield f"    {targets[0]} = {call}"


def _variable(handle: Handle, names: dict[Handle, str]) -> str:
    if handle not in names:
        base, count = re.sub(r"\W", "_", handle.name), 0
        name = base if base.isidentifier() and not keyword.iskeyword(base) else f"_{base}"
        while name in names.values() or name == "s":
            count += 1
            name = f"{base}_{count}"
        names[handle] = name
    return names[handle]


def _text(value: Any, names: dict[Handle, str]) -> str:
    match value:
        case LoopHandle() | BlockHandle():
            return names.get(value, repr(value.name))
        case list() | tuple():
            return f"[{', '.join(_text(item, names) for item in cast('Sequence[Any]', value))}]"
        case float() if not math.isfinite(value):
            return f"float({str(value)!r})"
        case _:
            return repr(value)
