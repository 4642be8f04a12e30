"""The machine measures one thing at a time, whoever asks."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from hybridjit.tuning.machine import alone, lock_paths

pytest.importorskip("fcntl")

HOLDER = """
import sys
from hybridjit.tuning.machine import alone
with alone():
    print("mine", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the lock is: others measure while tests run."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def begin() -> threading.Event:
    """Set when a thread was alone."""
    was_alone = threading.Event()

    def measure() -> None:
        with alone():
            was_alone.set()

    threading.Thread(target=measure, daemon=True).start()
    return was_alone


def test_threads_wait_for_each_other() -> None:
    with alone():
        other = begin()
        assert not other.wait(0.2)
    assert other.wait(60)


def test_the_lock_is_gone_with_a_process_that_is_killed() -> None:
    command, pipe = [sys.executable, "-c", HOLDER], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"mine\n"
        here = begin()
        assert not here.wait(0.2)
        holder.kill()
        assert here.wait(60)


def test_all_users_have_the_same_lock(folder: Path) -> None:
    before = os.umask(0o077)
    try:
        with alone():
            pass
    finally:
        os.umask(before)
    assert [path.name for path in folder.iterdir()] == [Path(lock_paths()[0]).name]
    assert (folder / lock_paths()[0]).stat().st_mode & 0o777 == 0o444


def test_what_somebody_else_put_there_is_not_followed(folder: Path) -> None:
    shared, own = map(Path, lock_paths())
    shared.symlink_to(folder / "somewhere")
    with alone():
        assert own.exists()
    assert not (folder / "somewhere").exists()
