"""Run a call natively and as plain Python, and say where they first differ.

The plain function runs on copies of the arguments, made before the call. It is what the language
promises to compute, so that a difference is a bug of ours (or of LLVM's), never of the script.
"""

from __future__ import annotations

import inspect
import io
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridjit import config
from hybridjit.checking.difference import (
    Difference,
    Outcome,
    are_comparable,
    find_difference,
)
from hybridjit.checking.empty_arrays import filled_stand_ins
from hybridjit.checking.exactness import is_exact, makes_empty_arrays
from hybridjit.checking.reproduction import write_reproduction
from hybridjit.errors import CheckError, HybridError, RunError, Span
from hybridjit.ir.expr import ExternCall
from hybridjit.ir.func import PrimFunc
from hybridjit.ir.stmt import Return, Store
from hybridjit.ir.visit import walk, walk_stmts
from hybridjit.record import record
from hybridjit.scalars.contents import arrays_in, fresh_copies

# The packages that define what scripts raise.
_HOMES_OF_ERRORS = ("builtins", "numpy", "hybridjit")

__all__ = ("Call", "Checked", "filled_stand_ins", "fresh_copies", "makes_empty_arrays")


@record
class Checked:
    """What a check compared: print it."""

    kernel: str
    is_exact: bool
    why_not: str | None = None

    def __str__(self) -> str:
        if self.why_not is not None:
            return f"'{self.kernel}' was not checked: {self.why_not}"
        how = "bit for bit" if self.is_exact else "within the bound for sums and functions"
        return f"'{self.kernel}' and its plain function agree, {how}"

    __repr__ = __str__


@record
class Call:
    """A call to be checked: of a kernel, whose IR for these arguments is `func`.

    `plain` is the function that native code is held against.
    """

    kernel: Any
    plain: Callable[..., Any]
    func: PrimFunc
    args: Sequence[Any]
    kwargs: Mapping[str, Any]

    def run(self, native: Callable[..., Any]) -> tuple[Outcome, Checked]:
        """Run `native` on the arguments and the plain function on copies; fail if they differ."""
        why_not = _obstacle(self.func)
        before = self._copies()
        found = self._outcome(native, (self.args, self.kwargs))
        if _is_refused(found.error):
            found.value()
        if why_not is not None:
            return found, Checked(self.kernel.__name__, False, why_not)
        exact = is_exact(self.func, self.kernel.__hybrid_function__)
        with _as_before(self._outputs(self.kwargs), self._outputs(before[1])):
            plain = self._plain_outcome(before)
        if not are_comparable(found, plain):
            return found, Checked(self.kernel.__name__, exact, "integers differ from Python's here")
        difference = find_difference(found, plain, is_exact=exact)
        if difference is not None:
            raise self._error(difference, before)
        return found, Checked(self.kernel.__name__, exact)

    def _copies(self) -> tuple[list[Any], dict[str, Any]]:
        """Copies of the arguments and of `out`, which share memory where those do."""
        copies = fresh_copies([*self.args, *self.kwargs.values()])
        count = len(self.args)
        return copies[:count], dict(zip(self.kwargs, copies[count:], strict=True))

    def _outputs(self, kwargs: Mapping[str, Any]) -> list[NDArray[Any]]:
        """The arrays that are given as `out`, which is not for the plain function."""
        return [] if self._is_parameter("out") else list(arrays_in(kwargs.get("out")))

    def _is_parameter(self, name: str) -> bool:
        return name in self.kernel.signature.parameters

    def _plain_outcome(self, before: tuple[list[Any], dict[str, Any]]) -> Outcome:
        values = fresh_copies([*before[0], *before[1].values()])
        count = len(before[0])
        given = dict(zip(before[1], values[count:], strict=True))
        own = {name: value for name, value in given.items() if self._is_parameter(name)}
        with (
            config.scope(check=False),
            np.errstate(all="ignore"),
            warnings.catch_warnings(),
            redirect_stdout(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            outcome = self._outcome(self.plain, (values[:count], own))
        outputs = self._outputs(given)
        if not outputs or outcome.error is not None:
            return outcome
        return replace(outcome, result=_stored(outcome.result, outputs))

    def _outcome(
        self, way: Callable[..., Any], given: tuple[Sequence[Any], Mapping[str, Any]]
    ) -> Outcome:
        args, kwargs = given
        result, error = None, None
        try:
            result = way(*args, **kwargs)
        except Exception as caught:
            if _is_of_a_handler(caught):
                raise
            error = caught
        own = {name: value for name, value in kwargs.items() if self._is_parameter(name)}
        bound: inspect.BoundArguments = self.kernel.signature.bind(*args, **own)
        return Outcome(result, error, dict(bound.arguments))

    def _error(
        self, difference: Difference, before: tuple[list[Any], dict[str, Any]]
    ) -> CheckError:
        lines = [f"native code gives {difference.native}", f"plain Python    {difference.plain}"]
        text = "\n".join([f"{difference.place} differs", *lines])
        source = inspect.getsource(self.kernel.__hybrid_function__)
        own = {name: value for name, value in before[1].items() if self._is_parameter(name)}
        path = write_reproduction(self.kernel, before[0], own, text, source)
        saved = () if path is None else (f"the call is kept in {path}: run it to see it again",)
        return CheckError(
            f"'{self.kernel.__name__}': {difference.place} is {difference.native} in native code, "
            f"and {difference.plain} in plain Python",
            _place(self.func, difference),
            help="this is a bug in hybridjit; please report it with the file",
            notes=saved,
        )


@contextmanager
def _as_before(outputs: Sequence[NDArray[Any]], before: Sequence[NDArray[Any]]) -> Generator[None]:
    """What was given as `out` holds what it held: a script may capture these very arrays."""
    results = fresh_copies(outputs)
    _fill(outputs, before)
    try:
        yield
    finally:
        _fill(outputs, results)


def _stored(result: Any, outputs: Sequence[NDArray[Any]]) -> Any:
    """The result, complete before it goes to `out`, in whose memory arguments may lie."""
    (complete,) = fresh_copies([result])
    _fill(outputs, list(arrays_in(complete)))
    return complete


def _fill(targets: Sequence[NDArray[Any]], values: Sequence[NDArray[Any]]) -> None:
    for target, value in zip(targets, values, strict=True):
        if target.flags.writeable:  # else the call has failed
            target[...] = value


def _is_refused(error: Exception | None) -> bool:
    """True if the compiler refused the script or its arguments: then nothing has run."""
    return isinstance(error, HybridError) and not isinstance(error, RunError)


def _is_of_a_handler(error: Exception) -> bool:
    """True for what no script raises, and signal handlers do: errors of users, and TimeoutError."""
    home = type(error).__module__.partition(".")[0]
    return isinstance(error, OSError) or home not in _HOMES_OF_ERRORS


def _obstacle(func: PrimFunc) -> str | None:
    for node in walk(func.body):
        if isinstance(node, ExternCall):
            return f"it calls '{node.callee.name}', which would be called twice"
    return None


def _place(func: PrimFunc, difference: Difference) -> Span | None:
    """Where the element that differs is stored last, or what is returned."""
    stores = [
        node for node in walk_stmts(func.body) if isinstance(node, Store) and node.span is not None
    ]
    if difference.argument is not None:
        wanted = [node for node in stores if node.buffer.name == difference.argument]
    else:
        results = set(func.outputs) | {item for item in func.returns or () if item in func.buffers}
        wanted = [node for node in stores if node.buffer in results]
        wanted += [
            node for node in walk_stmts(func.body) if isinstance(node, Return) and not wanted
        ]
    spans = [node.span for node in wanted if node.span is not None]
    return spans[-1] if spans else func.span
