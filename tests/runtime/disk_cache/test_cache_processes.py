"""Many processes share a cache, and some of them die, or the power goes."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hybridjit.runtime.cache.entry import Entry
from tests.support.cache_faults import CODE, KEY, META, entry_path, open_store, run_scenario

# How often in `make test`; `make torture` repeats them more often, see tests/torture.
SCENARIOS = {
    "damage_at_random": 100,
    "kill_at_random": 20,
    "kill_at_every_call": 1,
    "write_together": 30,
    "evict_together": 30,
    "race_for_the_secret": 10,
    "fork_while_busy": 20,
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(tmp_path: Path, name: str) -> None:
    run_scenario(name, tmp_path / "cache", SCENARIOS[name])


# Power loss


@dataclass
class Disk:
    """What a save asked of the disk, in order."""

    steps: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    names: dict[int, str] = field(default_factory=dict[int, str])

    def record(self, patch: pytest.MonkeyPatch) -> None:
        for call in ("open", "write", "close", "rename", "link"):
            patch.setattr(os, call, getattr(self, call)(getattr(os, call)))

    def open(self, original: Any) -> Any:
        def call(path: str, flags: int, *args: Any, **kwargs: Any) -> int:
            fd = original(path, flags, *args, **kwargs)
            self.names[fd] = path
            return fd

        return call

    def write(self, original: Any) -> Any:
        def call(fd: int, data: bytes) -> int:
            self.steps.append(("write", self.names[fd]))
            return original(fd, data)

        return call

    def close(self, original: Any) -> Any:
        def call(fd: int) -> None:
            self.names.pop(fd, None)
            original(fd)

        return call

    def rename(self, original: Any) -> Any:
        def call(source: str, target: str, **kwargs: Any) -> None:
            assert source not in self.names.values(), "it is open still"
            self.steps.append(("name", source))
            original(source, target, **kwargs)

        return call

    def link(self, original: Any) -> Any:
        return self.rename(original)


def test_nothing_gets_its_name_before_it_is_complete(tmp_path: Path) -> None:
    disk = Disk()
    with pytest.MonkeyPatch.context() as patch:
        disk.record(patch)
        open_store(tmp_path / "cache", strict=True).save(KEY, META, CODE)
    assert [step for step, _ in disk.steps] == [
        "write",  # the marker, which may be empty
        *("write", "name"),  # the secret
        *("write", "name"),  # the entry
    ]


@pytest.mark.parametrize("lost", ["entry", "secret", "both"])
@pytest.mark.parametrize("zeros", [False, True])
def test_what_a_power_loss_takes_is_a_miss(tmp_path: Path, lost: str, zeros: bool) -> None:
    """Nobody waits for the disk, so there may be names without bytes, at every length."""
    directory = tmp_path / "cache"
    open_store(directory, strict=True).save(KEY, META, CODE)
    files = {"entry": entry_path(directory, KEY), "secret": directory / "secret"}
    contents = {file: file.read_bytes() for name, file in files.items() if lost in (name, "both")}
    for kept in range(0, max(map(len, contents.values())), 7):
        for file, content in contents.items():
            if kept < len(content):
                file.write_bytes(content[:kept] + bytes((len(content) - kept) * zeros))
        store = open_store(directory)
        assert store.load(KEY) is None
        store.save(KEY, META, CODE)
        assert store.load(KEY) == Entry(META, CODE)
        contents = {file: file.read_bytes() for file in contents}
