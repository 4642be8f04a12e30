"""Translations of scripts: what is asked for, what calls need to know, and what is kept on disk.

A warm start needs neither the parser nor what follows it. Three entries of the disk cache take
its place, each found by what the one before says:

    the script's text, argument types, options, versions, processor   -->  what it reads around it
    ... and the values that these names and attributes have now       -->  the summary
    ... and how the arguments lie in memory                           -->  the code

The first entry cannot be wrong, only incomplete: a translation with other values may read other
names, which are added to it. The second and the third are made of all that was read, so they are
found only where a translation would read the same again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import CodeType
from typing import Any

from hybridjit.codegen.layout import Layout
from hybridjit.errors import Span
from hybridjit.frontend.captures import Capture, same_value
from hybridjit.ir.expr import Buffer, Var
from hybridjit.ir.header import Header
from hybridjit.ir.signature import ScalarParam
from hybridjit.processor import current_target
from hybridjit.record import record
from hybridjit.runtime.cache.capture_paths import Read, decode_read, find_reads, look_up
from hybridjit.runtime.cache.disk_cache import Store
from hybridjit.runtime.cache.entry import Json
from hybridjit.runtime.cache.serialization import Unsavable, decode_header, encode_header
from hybridjit.runtime.cache.value_identity import Identifier, Unidentified
from hybridjit.runtime.cache.versions import is_unchanged, maker_identity
from hybridjit.scalars.specs import Spec
from hybridjit.source import FunctionSource, span_of


@record(eq=False)
class Request:
    """A script to be translated for arguments of given types.

    Every option that changes the code is a part of `identify`.
    """

    function: Any  # a FunctionType, which type checkers would take for a method
    source: FunctionSource
    specs: tuple[Spec, ...]
    fastmath: tuple[str, ...] = ()
    schedule: Any = None  # a recipe of schedule/recipe.py, which a warm start does not load
    passes: tuple[Any, ...] = ()  # of lowering/custom_passes.py
    parallel: bool = False

    def identify(self) -> Json:
        """What is known before the script is parsed; raises `Unidentified`."""
        identifier = Identifier(self.source, {})
        return {
            "maker": maker_identity(current_target()),
            "text": [self.source.text, self.source.is_printed],
            "specs": [identifier.of_spec(spec) for spec in self.specs],
            "fastmath": self.fastmath,
            "parallel": self.parallel,
            "schedule": self._identify_schedule(),
            "passes": self._identify_passes(),
        }

    def _identify_passes(self) -> Json:
        if self.passes:
            raise Unidentified  # only running them tells what they do
        return None

    def _identify_schedule(self) -> Json:
        if self.schedule is None:
            return None
        if callable(self.schedule):
            raise Unidentified  # only running it tells what it does
        if any(step["step"] == "tensorize" for step in self.schedule.steps):
            raise Unidentified  # the name of an intrinsic does not tell what it does
        return [dict(step) for step in self.schedule.steps]


@record(eq=False)
class Work:
    """So many iterations, times each of the run-time `sizes`."""

    iterations: int
    sizes: tuple[Var, ...]


@record(eq=False)
class Summary:
    """What calls need to know about a translation besides its code.

    `written` are the parameters that a run may write to, `guarded` the captures that it must not
    write to meanwhile, `work` is how long a run takes. `counters` are the numbers of those Python
    ints among the parameters that loops, sizes and indices depend on.
    """

    header: Header
    captures: tuple[Capture, ...]
    written: frozenset[Buffer]
    guarded: tuple[Capture, ...]
    work: Work
    counters: tuple[int, ...] = ()


class SavedTranslation:
    """The entries of one request in the disk cache."""

    def __init__(self, request: Request, store: Store) -> None:
        self._request = request
        self._store = store
        self._before = self._identify()
        self._after: str | None = None
        self._reads: Sequence[Read] = ()

    def find(self) -> Summary | None:
        """The summary of a translation that would be made now, from an earlier process."""
        entry = None if self._before is None else self._store.load(_key("reads", self._before))
        if entry is None:
            return None
        self._reads = [decode_read(read) for read in entry.meta["reads"]]
        try:
            captures = look_up(self._request.function, self._reads)
            after = self._with_values(self._reads, captures, {})
        except Unidentified:
            return None
        entry = self._store.load(_key("summary", after))
        if entry is None:
            return None
        self._after = after
        source = self._request.source
        return decode_summary(entry.meta, captures, span_of(source.node, source))

    def keep(self, summary: Summary, callees: Mapping[CodeType, FunctionSource]) -> None:
        """Keep a translation that was just made; `callees` are the functions it put in place."""
        if self._before is None or not is_unchanged():
            return
        try:
            reads, numbers = self._reads_of(summary)
            captures = look_up(self._request.function, reads)
            if not all(
                same_value(captures[number].value, capture.value)
                for number, capture in zip(numbers, summary.captures, strict=True)
            ):
                return  # something changed meanwhile
            after = self._with_values(reads, captures, callees)
            meta = encode_summary(summary, numbers)
        except (Unidentified, Unsavable):
            return
        if reads != self._reads:
            listed: list[Json] = [read.encode() for read in reads]
            self._store.save(_key("reads", self._before), {"reads": listed}, b"")
        self._store.save(_key("summary", after), meta, b"")
        self._after = after

    def code_key(self, layout: Layout) -> bytes | None:
        """The key of the code for a layout, or None if the translation is not to be found."""
        if self._after is None:
            return None
        return _key("code", self._after + json.dumps(layout.encode()))

    def _identify(self) -> str | None:
        if self._store.location.path is None:
            return None
        try:
            return _text(self._request.identify())
        except Unidentified:
            return None

    def _reads_of(self, summary: Summary) -> tuple[list[Read], list[int]]:
        """Everything that earlier translations or this one read."""
        function = self._request.function
        reads, numbers = find_reads(function, summary.captures, self._reads)
        try:
            look_up(function, reads)
        except Unidentified:  # the way of an earlier translation leads nowhere now
            return find_reads(function, summary.captures)
        return reads, numbers

    def _with_values(
        self,
        reads: Sequence[Read],
        captures: Sequence[Capture],
        callees: Mapping[CodeType, FunctionSource],
    ) -> str:
        identifier = Identifier(self._request.source, callees)
        values = [identifier.of(capture.value) for capture in captures]
        listed: list[Json] = [read.encode() for read in reads]
        return f"{self._before}{_text([listed, values])}"


def _text(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"))


def _key(kind: str, text: str) -> bytes:
    return f"{kind} {text}".encode()


def _sizes(header: Header) -> list[Var]:
    """The variables that an amount of work can depend on."""
    numbers = [param.var for param in header.params if isinstance(param, ScalarParam)]
    return [*header.dimensions, *numbers]


def encode_summary(summary: Summary, numbers: Sequence[int]) -> dict[str, Json]:
    """What `decode_summary` reads; `numbers` are those of the captures."""
    sizes = _sizes(summary.header)
    guarded = [
        number
        for number, capture in zip(numbers, summary.captures, strict=True)
        if any(capture is other for other in summary.guarded)
    ]
    return {
        "header": encode_header(summary.header),
        "written": [buffer in summary.written for buffer in summary.header.buffers],
        "guarded": sorted(set(guarded)),
        "work": [summary.work.iterations, [sizes.index(size) for size in summary.work.sizes]],
        "counters": list(summary.counters),
    }


def decode_summary(
    meta: Mapping[str, Any], captures: Sequence[Capture], root: Span | None
) -> Summary:
    """The summary that `encode_summary` wrote, of the script at `root`."""
    header = decode_header(meta["header"], root)
    written: list[bool] = meta["written"]
    guarded: list[int] = meta["guarded"]
    iterations: int = meta["work"][0]
    sizes: list[int] = meta["work"][1]
    known = _sizes(header)
    return Summary(
        header,
        tuple(captures),
        frozenset(
            buffer for buffer, is_written in zip(header.buffers, written, strict=True) if is_written
        ),
        tuple(captures[number] for number in guarded),
        Work(iterations, tuple(known[size] for size in sizes)),
        tuple(meta["counters"]),
    )
