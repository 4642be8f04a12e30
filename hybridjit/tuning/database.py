"""What was measured, kept in a file: SQLite, so that several processes may write to it at once.

    programs      what was tuned: a hash of the program, which shapes and types are a part of; its
                  kind, which they are not; its name and text
    measurements  every candidate: its steps, its picks, how it looked to the model, what came of it
    winners       what won a search, verified: this is what kernels take; without steps where
                  nothing was better than what the compiler does by itself

A measurement says for which target, options and versions it was made. Only a winner of the same
target, options and versions is used; all measurements are there to learn from.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
import time
import urllib.parse
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import Any

from hybridjit.errors import TuneError
from hybridjit.record import record

FORMAT = 1
# What is good for one size says little of one that is so many times as large.
_FAR = 8
PATIENCE = 10.0  # seconds to wait for another process that writes

_TABLES = """
create table facts (name text primary key, value text not null);
create table programs (
    id integer primary key, hash text unique not null, kind text not null,
    name text not null, text text not null
);
create table measurements (
    id integer primary key, program integer not null references programs,
    setting text not null, shapes text not null, recipe text not null, picks text not null,
    features text not null, status text not null, message text not null, score real,
    seconds real, spread real, compiling real, at real not null
);
create index by_program on measurements (program, setting);
create table winners (
    id integer primary key, program integer not null references programs,
    setting text not null, shapes text not null, recipe text not null,
    score real not null, seconds real, at real not null
);
create index winners_by_program on winners (program, setting);
"""


@record
class Identity:
    """A program and where it runs: what measurements are kept under."""

    hash: str
    kind: str
    name: str
    text: str
    shapes: tuple[tuple[int, ...], ...]
    setting: str


@record
class Row:
    """A candidate and what came of it."""

    recipe: str
    picks: tuple[tuple[int, int], ...]
    features: tuple[float, ...]
    status: str
    message: str = ""
    score: float | None = None
    seconds: float | None = None
    spread: float | None = None
    compiling: float = 0.0


@record
class Winner:
    """What won a search."""

    name: str
    shapes: tuple[tuple[int, ...], ...]
    recipe: str
    score: float
    seconds: float | None
    setting: str
    at: float


class Database:
    """A file of measurements. It is opened when it is needed, and made if it is not there."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: str = os.path.abspath(os.fspath(path))

    @contextmanager
    def _open(self, patience: float = PATIENCE) -> Generator[sqlite3.Connection]:
        """A connection, in one transaction; what is wrong with the file is told in our words."""
        connection = None
        try:
            connection = sqlite3.connect(self.path, timeout=patience)
            connection.execute("pragma journal_mode = wal")
            self._prepare(connection)
            with connection:
                yield connection
        except sqlite3.Error as error:
            raise self._explain(error) from None
        finally:
            if connection is not None:
                connection.close()

    @contextmanager
    def _read(self) -> Generator[sqlite3.Connection]:
        """A connection that changes nothing. A file that is not there, or that another process is
        about to fill, reads like an empty one.
        """
        try:
            with ExitStack() as opened:
                connection = opened.enter_context(closing(self._connect_to_read()))
                if self._is_empty(connection):
                    connection = opened.enter_context(closing(sqlite3.connect(":memory:")))
                    self._make_tables(connection)
                self._check_format(connection)
                yield connection
        except sqlite3.Error as error:
            raise self._explain(error) from None
        except (ValueError, TypeError) as error:  # what a row has is not what is kept there
            raise self._explain(sqlite3.Error(f"malformed row: {error}")) from None

    def _connect_to_read(self) -> sqlite3.Connection:
        folder = os.path.dirname(self.path)
        if os.path.isdir(folder) and not os.path.exists(self.path):
            return sqlite3.connect(":memory:")
        if not os.path.isdir(folder) or all(os.access(p, os.W_OK) for p in (folder, self.path)):
            return sqlite3.connect(self.path, timeout=PATIENCE)
        return self._connect_where_nobody_writes()

    def _connect_where_nobody_writes(self) -> sqlite3.Connection:
        """Readers keep a file beside the database, unless they are told that it does not change."""
        address = f"file:{urllib.parse.quote(self.path)}?mode=ro"
        is_in_use = os.path.exists(f"{self.path}-wal")
        return sqlite3.connect(
            address if is_in_use else f"{address}&immutable=1", uri=True, timeout=PATIENCE
        )

    def _prepare(self, connection: sqlite3.Connection) -> None:
        if self._is_empty(connection):
            self._make_tables(connection)
        self._check_format(connection)

    def _is_empty(self, connection: sqlite3.Connection) -> bool:
        (version,) = connection.execute("pragma user_version").fetchone()
        (tables,) = connection.execute("select count(*) from sqlite_master").fetchone()
        return version == 0 and tables == 0

    def _check_format(self, connection: sqlite3.Connection) -> None:
        (found,) = connection.execute("pragma user_version").fetchone()
        if found != FORMAT:
            raise TuneError(
                f"{self.path} is a database of another kind or version ({found}, not {FORMAT})",
                help="name another file; this one is left as it is",
            )

    def _make_tables(self, connection: sqlite3.Connection) -> None:
        with connection:
            connection.execute("begin immediate")
            if connection.execute("pragma user_version").fetchone()[0] == 0:
                for statement in _TABLES.split(";"):
                    connection.execute(statement)
                connection.execute(f"pragma user_version = {FORMAT}")

    def _explain(self, error: sqlite3.Error) -> TuneError:
        text = str(error)
        if "not a database" in text or "malformed" in text:
            return TuneError(
                f"{self.path} is damaged or not a database: {text}",
                help="move it away; a new one is made in its place",
            )
        if "locked" in text:
            help = "another process writes to it without end; is one hanging?"
            return TuneError(f"{self.path} is locked: {text}", help=help)
        if "unable to open" in text or "readonly" in text:
            help = "name a file in a folder that is there, and in which you may write"
            return TuneError(f"{self.path} cannot be opened: {text}", help=help)
        return TuneError(f"{self.path} cannot be used: {text}", help="is the disk full?")

    def keep(self, identity: Identity, rows: Sequence[Row], patience: float = PATIENCE) -> None:
        """Add measurements; another process that writes is waited for so many seconds."""
        with self._open(patience) as connection:
            program = _program(connection, identity)
            connection.executemany(
                f"insert into measurements (program, setting, shapes, {_COLUMNS}, at)"
                " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (program, identity.setting, json.dumps(identity.shapes), *_values(r))
                    for r in rows
                ],
            )

    def crown(self, identity: Identity, recipe: str, score: float, seconds: float | None) -> None:
        """Add what won a search."""
        with self._open() as connection:
            connection.execute(
                "insert into winners (program, setting, shapes, recipe, score, seconds, at)"
                " values (?, ?, ?, ?, ?, ?, ?)",
                (
                    _program(connection, identity),
                    *(identity.setting, json.dumps(identity.shapes), recipe, score, seconds),
                    time.time(),
                ),
            )

    def rows(self, identity: Identity) -> list[Row]:
        """What was measured of this program, in this setting."""
        with self._read() as connection:
            found = connection.execute(
                f"select {_COLUMNS} from measurements join programs on program = programs.id"
                " where hash = ? and setting = ? order by measurements.id",
                (identity.hash, identity.setting),
            ).fetchall()
            return [_row(values) for values in found]

    def lessons(self, identity: Identity, most: int = 2000) -> list[tuple[list[float], float]]:
        """The features and scores of other programs, the latest ones."""
        with self._read() as connection:
            found = connection.execute(
                "select features, score from measurements join programs on program = programs.id"
                " where hash != ? and setting = ? and score is not null"
                " order by measurements.id desc limit ?",
                (identity.hash, identity.setting, most),
            ).fetchall()
            return [(json.loads(features), score) for features, score in found]

    def winner(self, identity: Identity) -> Winner | None:
        """The latest winner for this program, else that of the nearest shapes of its kind."""
        exact = self._winners("hash = ? and setting = ?", (identity.hash, identity.setting))
        if exact:
            return exact[0]
        alike = self._winners("kind = ? and setting = ?", (identity.kind, identity.setting))
        near = [it for it in alike if _is_near(it.shapes, identity.shapes)]
        return min(near, key=lambda it: distance(it.shapes, identity.shapes), default=None)

    def winners(self) -> list[Winner]:
        """All winners, the latest first."""
        return self._winners("1", ())

    def best(self) -> list[Winner]:
        """The winners that are taken: of each program, in each setting, the latest."""
        latest = (
            "winners.id = (select id from winners as other where other.program = winners.program"
            " and other.setting = winners.setting order by at desc, id desc limit 1)"
        )
        return self._winners(latest, ())

    def _winners(self, condition: str, values: tuple[Any, ...]) -> list[Winner]:
        with self._read() as connection:
            found = connection.execute(
                "select name, shapes, recipe, score, seconds, setting, at"
                " from winners join programs on program = programs.id"
                # What was imported may be older than what was there.
                f" where {condition} order by at desc, winners.id desc",
                values,
            ).fetchall()
            return [Winner(row[0], _shapes(row[1]), *row[2:]) for row in found]

    def prune(self, older_than: float) -> int:
        """Remove measurements made before that time that are not winners; how many they were."""
        with self._open() as connection:
            return connection.execute(
                "delete from measurements where at < ?", (older_than,)
            ).rowcount

    def dump(self) -> str:
        """Everything as JSON."""
        with self._read() as connection:
            connection.row_factory = sqlite3.Row
            tables = {
                table: [dict(row) for row in connection.execute(f"select * from {table}")]
                for table in ("programs", "measurements", "winners")
            }
        return json.dumps({"format": FORMAT, **tables}, indent=1)

    def load(self, text: str) -> int:
        """Add what `dump` gave, of another database; how many measurements and winners are new."""
        try:
            data = json.loads(text)
            programs = {row["id"]: _checked_program(row) for row in data["programs"]}
            entries = [
                (table, programs[row["program"]], _checked_entry(row, table))
                for table in _KEPT
                for row in data[table]
            ]
            found = data["format"]
        except (ValueError, KeyError, TypeError) as error:
            raise _not_exported(f"{type(error).__name__}: {error}") from None
        if found != FORMAT:
            raise TuneError(f"a tuning database of format {found}, expected {FORMAT}")
        with self._open() as connection:
            return sum(_add(connection, *entry) for entry in entries)


_COLUMNS = "recipe, picks, features, status, message, score, seconds, spread, compiling"
_KEPT = {
    "measurements": ("setting", "shapes", *_COLUMNS.split(", "), "at"),
    "winners": ("setting", "shapes", "recipe", "score", "seconds", "at"),
}


_MAY_LACK = {"measurements": ("score", "seconds", "spread"), "winners": ("seconds",)}
_IDENTITY = ("hash", "kind", "name", "text")


def _checked_program(row: Any) -> dict[str, str]:
    """What a program is known by, if it is text."""
    return {name: _checked(name, row[name], str) for name in _IDENTITY}


def _checked_entry(row: Any, table: str) -> list[Any]:
    """The values of a measurement or winner, if they are such."""
    for name in _KEPT[table]:
        value: Any = row[name]
        match name:
            case "shapes":
                _shapes(_checked(name, value, str))
            case "setting" | "picks" | "features":
                json.loads(_checked(name, value, str))
            case "recipe" | "status" | "message":
                _checked(name, value, str)
            case _ if value is None and name in _MAY_LACK[table]:
                pass
            case _:
                if not _checked(name, value, int, float) > 0 and name == "score":
                    raise _not_exported(f"a score of {value}")
    return [row[name] for name in _KEPT[table]]


def _checked(name: str, value: Any, *types: type) -> Any:
    if type(value) not in types:
        raise _not_exported(f"{name} is {value!r}")
    return value


def _not_exported(why: str) -> TuneError:
    return TuneError(
        f"not the JSON of a tuning database: {why}",
        help="`python -m hybridjit db export` writes such",
    )


def _add(
    connection: sqlite3.Connection, table: str, program: dict[str, str], row: list[Any]
) -> bool:
    """Add a row, unless it is there already: the same file may be imported twice."""
    values = [_program_of(connection, program), *row]
    names = ("program", *_KEPT[table])
    marks = ", ".join("?" * len(values))
    same = " and ".join(f"{name} is ?" for name in names)
    added = connection.execute(
        f"insert into {table} ({', '.join(names)}) select {marks}"
        f" where not exists (select 1 from {table} where {same})",
        [*values, *values],
    )
    return added.rowcount > 0


def _program(connection: sqlite3.Connection, identity: Identity) -> int:
    return _program_of(connection, {name: getattr(identity, name) for name in _IDENTITY})


def _program_of(connection: sqlite3.Connection, fields: dict[str, str]) -> int:
    values = [fields[name] for name in _IDENTITY]
    connection.execute(
        "insert or ignore into programs (hash, kind, name, text) values (?, ?, ?, ?)", values
    )
    (number,) = connection.execute("select id from programs where hash = ?", values[:1]).fetchone()
    return number


def _values(row: Row) -> tuple[Any, ...]:
    lists = (json.dumps(row.picks), json.dumps(row.features))
    rest = (row.status, row.message, row.score, row.seconds, row.spread, row.compiling)
    return (row.recipe, *lists, *rest, time.time())


def _row(values: Sequence[Any]) -> Row:
    recipe, picks, features, *rest = values
    pairs = tuple((place, count) for place, count in json.loads(picks))
    return Row(recipe, pairs, tuple(json.loads(features)), *rest)


def _shapes(text: str) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(map(int, shape)) for shape in json.loads(text))


Shapes = Sequence[Sequence[int]]


def distance(ours: Shapes, theirs: Shapes) -> float:
    """How far shapes of the same ranks lie apart: the factors between their sizes, multiplied."""
    return math.prod(_factors(ours, theirs))


def _is_near(ours: Shapes, theirs: Shapes) -> bool:
    have_same_ranks = [len(shape) for shape in ours] == [len(shape) for shape in theirs]
    return have_same_ranks and all(factor < _FAR for factor in _factors(ours, theirs))


def _factors(ours: Shapes, theirs: Shapes) -> Iterator[float]:
    for a, b in zip(ours, theirs, strict=True):
        for n, m in zip(a, b, strict=True):
            yield max(n, m, 1) / max(min(n, m), 1)
