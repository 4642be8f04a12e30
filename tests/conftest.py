"""Shared fixtures and settings: golden files, hypothesis profiles, --fuzz, samples, caches, the
checker.
"""

import difflib
import gc
import os
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Generator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import settings

from hybridjit import config
from hybridjit.runtime.cache import versions
from tests.emulated.machine import emulated
from tests.emulated.process import NotEmulated

GOLDEN = Path(__file__).parent / "golden"
# Tests keep compiled kernels apart from the user's; a second run of the suite finds them there.
KERNELS = Path(__file__).parent.parent / ".pytest_cache" / "kernels"
os.environ.setdefault("HYBRIDJIT_CACHE_DIR", str(KERNELS))
# Programs that tests start, of which there are hundreds, need not compile the package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
SHARES_GOLDEN_WITH = pytest.StashKey[str]()

# `fast` is derandomised: a run in CI that fails, fails again on the developer's machine.
settings.register_profile("fast", max_examples=50, deadline=None, derandomize=True)
settings.register_profile("sample", settings.get_profile("fast"), max_examples=25)
settings.register_profile("nightly", max_examples=2000, deadline=None, print_blob=True)
settings.load_profile("fast")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files")
    parser.addoption("--fuzz", type=int, metavar="N", help="random examples per property test")
    parser.addoption(
        "--sample",
        action="store_true",
        help="of tables marked sampled(n), one row in n; half as many examples of properties",
    )
    parser.addoption("--processor", help="native code is for another one, and emulated")


def pytest_configure(config: pytest.Config) -> None:
    gc.set_threshold(200_000, 20, 20)  # what is collected now stays: garbage is rare
    config.addinivalue_line("markers", "sampled(n): --sample runs one row in n of this table")
    examples: int | None = config.getoption("--fuzz")
    if examples is None:
        if config.getoption("--sample"):
            settings.load_profile("sample")
        return
    settings.register_profile("fuzz", settings.get_profile("nightly"), max_examples=examples)
    settings.load_profile("fuzz")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--sample"):
        left_out = _left_out_of_samples(items)
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    _mark_shared_goldens(items)


def _left_out_of_samples(items: list[pytest.Item]) -> set[pytest.Item]:
    """What --sample does without: all but one row in n of each table, the same in every run."""
    tables: dict[tuple[int, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        marker = item.get_closest_marker("sampled")
        if marker is not None:
            tables[marker.args[0], item.nodeid.partition("[")[0]].append(item)
    left_out: set[pytest.Item] = set()
    for (share, _), rows in tables.items():
        count = max(round(len(rows) / share), 1)
        left_out.update(set(rows).difference(_covering(rows, count)))
    return left_out


def _covering(rows: list[pytest.Item], count: int) -> list[pytest.Item]:
    """So many rows of a table, in which each value of a parameter is met about equally often.

    Which of those that bring the rarest values is taken, checksums of their names decide: every
    n-th row could be always the same one of a parameter.
    """
    by_checksum = sorted(rows, key=lambda row: zlib.crc32(row.name.encode()))
    left = {row: _values(row) for row in by_checksum}
    met: Counter[tuple[str, int]] = Counter()
    taken: list[pytest.Item] = []
    while len(taken) < count:
        row = min(left, key=lambda row: sum(met[value] for value in left[row]))
        met.update(left.pop(row))
        taken.append(row)
    return taken


def _values(row: pytest.Item) -> list[tuple[str, int]]:
    """The values of the parameters of a row: rows of a grid share the objects themselves."""
    callspec: Any = getattr(row, "callspec", None)
    return [] if callspec is None else [(name, id(x)) for name, x in callspec.params.items()]


def _mark_shared_goldens(items: list[pytest.Item]) -> None:
    """Mark tests that would share a golden file with another; the fixture refuses them."""
    owners: dict[Path, str] = {}
    for item in items:
        if not isinstance(item, pytest.Function) or "golden" not in item.fixturenames:
            continue
        owner = owners.setdefault(golden_base(item), item.nodeid)
        if owner != item.nodeid:
            item.stash[SHARES_GOLDEN_WITH] = owner


def pytest_collection_finish() -> None:
    """Thousands of tests and all that they import stay: collecting garbage need not look there."""
    _freeze()


@pytest.fixture(scope="session", autouse=True)
def processor(request: pytest.FixtureRequest) -> Generator[None]:
    """With --processor, all kernels of this process run on another one."""
    name: str | None = request.config.getoption("--processor")
    with nullcontext() if name is None else emulated(name):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, Any, Any]:
    try:
        return (yield)
    except NotEmulated as error:
        pytest.skip(f"not emulated: {error}")


@pytest.fixture(scope="module", autouse=True)
def what_is_left() -> Generator[None]:
    """The kernels of a file and what they were made of stay, too. In the end there are millions of
    objects, and a test of what is freed would look at them all for seconds.
    """
    yield
    _freeze()


def _freeze() -> None:
    gc.collect()
    gc.freeze()


def golden_base(item: pytest.Item) -> Path:
    """Where the golden files of a test are, without their extension."""
    return GOLDEN / item.path.stem / re.sub(r"[^\w.=-]+", "_", item.name).strip("_")


@dataclass
class Golden:
    """Compares text with the golden file of the running test."""

    base: Path
    update: bool
    checked: set[str] = field(default_factory=set[str])

    def check(self, text: str, extension: Literal["ir", "txt"]) -> None:
        """Fail unless `text` is what the golden file holds; with --update-golden, write it."""
        if extension in self.checked:
            pytest.fail(f"golden.check was called twice with {extension!r}: one file per test")
        self.checked.add(extension)

        path = Path(f"{self.base}.{extension}")
        actual = text if text.endswith("\n") else text + "\n"
        if self.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(actual, encoding="utf-8", newline="\n")
            return
        if not path.exists():
            pytest.fail(
                f"no golden file {path.name} in {path.parent}; run `make golden` to write it, "
                f"then read it. The text is:\n{actual}",
                pytrace=False,
            )
        expected = path.read_text(encoding="utf-8")
        if actual != expected:
            pytest.fail(
                f"the text differs from {path}; if the change is intended, run `make golden` "
                f"and read the diff.\n{render_diff(expected, actual)}",
                pytrace=False,
            )


def render_diff(expected: str, actual: str) -> str:
    """A unified diff from the golden text to the actual one."""
    lines = difflib.unified_diff(
        expected.splitlines(), actual.splitlines(), "golden", "actual", lineterm=""
    )
    return "\n".join(lines)


@pytest.fixture
def many_calls(request: pytest.FixtureRequest) -> int:
    """So many calls that what each leaves behind adds up; fewer of them in a sample."""
    return 5_000 if request.config.getoption("--sample") else 100_000


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """The golden files of this test: tests/golden/<test file>/<test name>.<ir|txt>."""
    item: pytest.Item = request.node
    if SHARES_GOLDEN_WITH in item.stash:
        pytest.fail(f"this test and {item.stash[SHARES_GOLDEN_WITH]} have the same golden files")
    update = bool(request.config.getoption("--update-golden"))
    return Golden(golden_base(item), update)


@pytest.fixture(scope="session", autouse=True)
def swift_disk_cache() -> Generator[None]:
    """Thousands of kernels are kept. That the files of the package are not looked at once more for
    each of them is fine with us: code gets to the disk though somebody edits the package meanwhile.
    """

    def is_as_measured(_: object) -> bool:
        return True

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(versions, "_is_as_measured", is_as_measured)
        yield


@pytest.fixture
def unchecked() -> Generator[None]:
    """Without the checker, which the whole suite may run under (HYBRIDJIT_CHECK=1).

    For tests of the native call itself: which code it finds, what it holds, how it ends. A call
    that is checked is another one: it goes through Python every time, copies the arguments and
    runs the plain function on them, too. And for what plain Python cannot do: arrays of which
    only the pages that are touched fit into memory, floats that no integer can hold, a broken
    output.
    """
    if not config.current().check:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HYBRIDJIT_CHECK")
        config.clear()
        yield
    config.clear()
