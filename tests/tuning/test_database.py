"""The database: several writers, other versions, damage, full disks, export and import."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hybridjit.errors import TuneError
from hybridjit.tuning.database import Database, Identity, Row


def identity(hash: str = "h", shapes: tuple[tuple[int, ...], ...] = ((8, 8),)) -> Identity:
    return Identity(hash, "kind", "f", "def f(): ...", shapes, "[]")


def row(recipe: str = "r", score: float | None = 0.5) -> Row:
    return Row(recipe, ((1, 3), (0, 2)), (1.0, 2.0), "measured", "", score, 1e-3, 0.1, 0.2)


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path / "tuned.db")


def test_what_is_kept_comes_back(database: Database) -> None:
    database.keep(identity(), [row("a"), row("b", None)])
    assert database.rows(identity()) == [row("a"), row("b", None)]
    assert database.rows(identity("other")) == []


def test_others_are_there_to_learn_from(database: Database) -> None:
    database.keep(identity("other"), [row(), row("wrong", None)])
    assert database.lessons(identity()) == [([1.0, 2.0], 0.5)]


def test_the_latest_winner_of_the_program_else_the_nearest_of_its_kind(database: Database) -> None:
    for size, recipe in ((64, "old"), (64, "new"), (512, "large")):
        database.crown(identity(f"h{size}", ((size, size),)), recipe, 0.5, None)
    found = [database.winner(identity(f"h{n}", ((n, n),))) for n in (64, 100, 400)]
    assert [winner and winner.recipe for winner in found] == ["new", "new", "large"]


@pytest.mark.parametrize("shapes", [((64, 600),), ((64,),), ((64, 64), (64, 64))])
def test_winners_of_far_shapes_are_left_alone(database: Database, shapes: Any) -> None:
    database.crown(identity("h64", ((64, 64),)), "r", 0.5, None)
    assert database.winner(identity("other", shapes)) is None


def test_there_is_no_winner_of_another_kind(database: Database) -> None:
    database.crown(identity(), "r", 0.5, None)
    other = Identity("x", "another kind", "g", "", ((8, 8),), "[]")
    assert database.winner(other) is None


def test_several_threads_write_at_once(database: Database) -> None:
    def write(number: int) -> None:
        for turn in range(10):
            database.keep(identity(), [row(f"{number} {turn}")])

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(database.rows(identity())) == 40


def test_all_of_it_goes_through_json(database: Database, tmp_path: Path) -> None:
    database.keep(identity(), [row("a"), row("b")])
    database.crown(identity(), "a", 0.5, 1e-3)
    other = Database(tmp_path / "other.db")
    other.keep(identity("more"), [row("c")])
    assert other.load(database.dump()) == 3
    assert other.rows(identity()) == database.rows(identity())
    assert [winner.recipe for winner in other.winners()] == ["a"]


def test_what_is_imported_again_is_not_added(database: Database, tmp_path: Path) -> None:
    database.keep(identity(), [row("a"), row("b", None)])
    database.crown(identity(), "a", 0.5, None)
    other = Database(tmp_path / "other.db")
    assert [other.load(database.dump()) for _ in range(2)] == [3, 0]
    assert database.load(database.dump()) == 0


@pytest.mark.parametrize("later", ["better", ""])
def test_what_is_imported_may_be_older(database: Database, later: str) -> None:
    database.crown(identity(), "old", 0.5, None)
    before = database.dump()
    database.crown(identity(), later, 0.4, None)
    moved = Database(f"{database.path}.moved")
    for text in (database.dump(), before.replace('"score": 0.5', '"score": 0.6')):
        assert moved.load(text)
    winner = moved.winner(identity())
    assert winner is not None
    assert winner.recipe == later


def test_the_best_are_those_that_are_taken(database: Database) -> None:
    for size, recipe in ((8, "old"), (8, ""), (16, "other")):
        database.crown(identity(f"h{size}", ((size, size),)), recipe, 0.5, None)
    assert [winner.recipe for winner in database.best()] == ["other", ""]
    assert len(database.winners()) == 3


@pytest.mark.parametrize("text", ["no", "3", '[["a"]]', "[null]"])
def test_rows_that_make_no_sense_are_told_of(database: Database, text: str) -> None:
    database.crown(identity(), "r", 0.5, None)
    with closing(sqlite3.connect(database.path)) as connection, connection:
        connection.execute("update winners set shapes = ?", (text,))
    with pytest.raises(TuneError, match="damaged or not a database: malformed row"):
        database.winner(identity())
    with pytest.raises(TuneError, match="not the JSON of a tuning database"):
        Database(f"{database.path}.other").load(database.dump())


TEXTS = [
    "{}",
    "no",
    "[]",
    '{"format": 1, "programs": 3}',
    '{"format": 1, "programs": [], "measurements": [{"program": 3}], "winners": []}',
]


@pytest.mark.parametrize("text", TEXTS)
def test_json_of_something_else_is_refused(database: Database, text: str) -> None:
    with pytest.raises(TuneError, match="not the JSON of a tuning database"):
        database.load(text)


@pytest.mark.parametrize(
    ("field", "other"),
    [
        *(('"hash": "h"', f'"hash": {value}') for value in ("null", "3")),
        *(('"recipe": "r"', f'"recipe": {value}') for value in ("null", "3")),
        *(('"score": 0.5', f'"score": {value}') for value in ("null", "0", '"fast"', "NaN")),
        *(('"setting": "[]"', f'"setting": {value}') for value in ('"no"', "[]")),
    ],
)
def test_values_that_make_no_sense_are_refused(database: Database, field: str, other: str) -> None:
    database.crown(identity(), "r", 0.5, None)
    text = database.dump()
    assert field in text
    with pytest.raises(TuneError, match="not the JSON of a tuning database"):
        Database(f"{database.path}.other").load(text.replace(field, other))
    assert database.load(text) == 0


def test_old_measurements_can_be_removed(database: Database) -> None:
    database.keep(identity(), [row()])
    assert database.prune(older_than=0.0) == 0
    assert database.prune(older_than=1e12) == 1
    assert database.rows(identity()) == []


def test_a_damaged_file_is_named_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "damaged.db"
    path.write_bytes(b"this is no database" * 100)
    with pytest.raises(TuneError, match="damaged or not a database"):
        Database(path).winners()
    assert path.read_bytes().startswith(b"this is no database")


def test_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "newer.db"
    with sqlite3.connect(path) as connection:
        connection.execute("pragma user_version = 99")
    with pytest.raises(TuneError, match="another kind or version"):
        Database(path).winners()


def test_a_database_of_somebody_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table mine (x)")
    with pytest.raises(TuneError, match="another kind or version"):
        Database(path).keep(identity(), [row()])


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(TuneError, match=r"(?s)cannot be opened.*a folder that is there"):
        Database(tmp_path / "nowhere" / "tuned.db").winners()


def test_reading_makes_no_file(tmp_path: Path) -> None:
    assert Database(tmp_path / "tuned.db").winners() == []
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_still_empty_has_nothing(tmp_path: Path) -> None:
    path = tmp_path / "tuned.db"
    path.touch()
    assert Database(path).rows(identity()) == []
    assert path.read_bytes() == b""


def test_it_is_read_where_nobody_may_write(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.crown(identity(), "a", 0.5, 1e-3)

    def refuse(path: str, mode: int) -> bool:
        return mode != os.W_OK

    monkeypatch.setattr(os, "access", refuse)
    assert [winner.recipe for winner in database.winners()] == ["a"]
    assert os.listdir(os.path.dirname(database.path)) == [os.path.basename(database.path)]
