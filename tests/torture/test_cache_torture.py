"""The disk cache, at length: `make torture N=1000`.

With N given there are N kills and 10 N damaged files. Then the tests themselves are tested: each
of the mistakes below is planted in a copy of the package, and its tests must fail.
"""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.cache_faults import run_scenario
from tests.support.own_process import PATIENCE

REPOSITORY = Path(__file__).parents[2]

PER_N = {
    "damage_at_random": 10.0,
    "kill_at_random": 1.0,
    "write_together": 0.5,
    "evict_together": 0.5,
    "race_for_the_secret": 0.2,
    "fork_while_busy": 0.2,
}


@pytest.fixture
def repetitions(request: pytest.FixtureRequest) -> int:
    """N, as in --fuzz=N; without it there is nothing to do here."""
    given: int | None = request.config.getoption("--fuzz")
    if given is None:
        pytest.skip("run by `make torture`")
    return given


@pytest.mark.parametrize("name", PER_N)
def test_scenario(tmp_path: Path, repetitions: int, name: str) -> None:
    run_scenario(name, tmp_path / "cache", int(repetitions * PER_N[name]))


@dataclass(frozen=True)
class Mistake:
    """A change to the package that its tests must notice."""

    what: str
    module: str
    right: str
    wrong: str


MISTAKES = (
    Mistake("any tag will do", "entry", "if not compare_digest(tag, data[-_TAG_SIZE:]):", "if 0:"),
    Mistake("any key will do", "entry", "if data[_HEADER.size : meta_start] != key:", "if 0:"),
    Mistake(
        "a prefix of the key will do",
        "entry",
        "if data[_HEADER.size : meta_start] != key:",
        "if not key.startswith(data[_HEADER.size : meta_start]):",
    ),
    Mistake(
        "lengths are trusted",
        "entry",
        "if header + key + meta + code + _TAG_SIZE != len(data):",
        "if 0:",
    ),
    Mistake(
        "any version will do",
        "entry",
        "if (magic, version, header) != (_MAGIC, _FORMAT, _HEADER.size):",
        "if magic != _MAGIC:",
    ),
    Mistake("the tag has no secret", "entry", "block = secret.ljust", 'block = b"".ljust'),
    Mistake("links are followed", "directory", 'getattr(os, "O_NOFOLLOW", 0) |', "0 |"),
    Mistake("a pipe blocks", "directory", '| getattr(os, "O_NONBLOCK", 0) |', "|"),
    Mistake(
        "any owner of a file",
        "directory",
        'raise ForeignFile(f"{name} belongs to',
        '(f"{name} belongs to',
    ),
    Mistake(
        "any owner of a directory",
        "directory",
        'raise ForeignFile(f"its directory belongs',
        '(f"its directory belongs',
    ),
    Mistake(
        "any mode of a file", "directory", "if status.st_mode & rules.forbidden_mode:", "if 0:"
    ),
    Mistake("hard links", "directory", "if status.st_nlink > rules.max_links:", "if 0:"),
    Mistake(
        "a replaced file is refused",
        "directory",
        "status.st_nlink > rules",
        "status.st_nlink != rules",
    ),
    Mistake("any kind of file", "directory", "if not stat.S_ISREG(status.st_mode):", "if 0:"),
    Mistake("any size", "directory", "if status.st_size > MAX_FILE_SIZE:", "if 0:"),
    Mistake("one write", "directory", "_write_all(fd, data)\n", "os.write(fd, data)\n"),
    Mistake(
        "one read",
        "directory",
        "data = _read_all(fd, status.st_size)",
        "data = os.read(fd, status.st_size)",
    ),
    Mistake(
        "temporaries stay",
        "directory",
        "                os.unlink(temporary, dir_fd=self.fd)\n",
        "                pass\n",
    ),
    Mistake("loose directories stay loose", "directory", "    os.fchmod(fd,", "    (fd,"),
    Mistake("a loose directory keeps its secret", "directory", "self.remove(SECRET_NAME)", "pass"),
    Mistake(
        "the last secret wins",
        "directory",
        "publish = self._publish_first_secret",
        "publish = self._replace_secret",
    ),
    Mistake("a secret that others read", "directory", "_Rules(_OPEN_TO_OTHERS,", "_Rules(0,"),
    Mistake("a damaged secret", "directory", " and any(secret[-8:])", ""),
    Mistake(
        "open directories", "directory", "os.mkdir(directory, 0o700)", "os.mkdir(directory, 0o755)"
    ),
    Mistake(
        "open files", "directory", "(temporary, _CREATE, 0o600,", "(temporary, _CREATE, 0o644,"
    ),
    Mistake("relative paths", "directory", "if not os.path.isabs(cache_dir) or", "if"),
    Mistake(
        "borrowed rights",
        "directory",
        "os.geteuid() != os.getuid() or os.getegid() != os.getgid()",
        "False",
    ),
    Mistake(
        "the home of another user", "directory", " and os.stat(home).st_uid == os.geteuid()", ""
    ),
    Mistake(
        "no folder of our own",
        "directory",
        "os.path.join(path, FOLDER_NAME)",
        "path",
    ),
    Mistake(
        "what is not ours is used",
        "directory",
        "if _is_marked(self.fd):\n            return\n        names",
        "if True:\n            return\n        names",
    ),
    Mistake("XDG_CACHE_HOME of another user", "directory", "if not _is_for_us(xdg):", "if False:"),
    Mistake(
        "entries do not stay young", "directory", "            os.utime(fd)\n", "            pass\n"
    ),
    Mistake(
        "a leaked descriptor",
        "directory",
        "        os.close(fd)\n\n\ndef _check_file",
        "        pass\n\n\ndef _check_file",
    ),
    Mistake(
        "the newest are evicted",
        "eviction",
        "sorted(find_entries(directory))",
        "sorted(find_entries(directory), reverse=True)",
    ),
    Mistake("nothing is evicted", "eviction", "        if excess <= 0:", "        if 1:"),
    Mistake(
        "stale files stay", "eviction", "STALE_AFTER_SECONDS = 3600", "STALE_AFTER_SECONDS = 1e9"
    ),
    Mistake("fresh files go", "eviction", "STALE_AFTER_SECONDS = 3600", "STALE_AFTER_SECONDS = 0"),
    Mistake("all files are ours", "eviction", 'r"[0-9a-f]{62}" + re.escape(ENTRY_SUFFIX)', '".*"'),
    Mistake(
        "a failing load raises",
        "store",
        '{self.location.reason}")\n        except (CacheError, OSError)',
        '{self.location.reason}")\n        except CacheError',
    ),
    Mistake(
        "a failing save raises",
        "store",
        "object_code)\n        except (CacheError, OSError)",
        "object_code)\n        except CacheError",
    ),
    Mistake(
        "no second attempt",
        "store",
        "except FileNotFoundError:  # somebody",
        "except ZeroDivisionError:  # somebody",
    ),
    Mistake("a warning each time", "store", "        if is_first:\n", "        if 1:\n"),
    Mistake("never strict", "store", "        if self._strict:\n", "        if 0:\n"),
    Mistake(
        "no limit on entries",
        "store",
        "if len(data) > min(self._size_limit, MAX_FILE_SIZE):",
        "if 0:",
    ),
)

SUITE = "tests/runtime/disk_cache"
MODULES = {
    "entry": "entry.py",
    "directory": "directory.py",
    "eviction": "eviction.py",
    "store": "disk_cache.py",
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package and of the tests of its cache."""
    place = tmp_path_factory.mktemp("copy")
    skip_caches = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPOSITORY / "hybridjit", place / "hybridjit", ignore=skip_caches)
    (place / SUITE).mkdir(parents=True)
    shutil.copy(REPOSITORY / "pyproject.toml", place)
    for folder in ("tests/support", "tests/emulated"):  # what conftest.py imports
        shutil.copytree(REPOSITORY / folder, place / folder, ignore=skip_caches)
    for pattern in ("tests/*.py", f"{SUITE}/*.py"):
        for file in REPOSITORY.glob(pattern):
            shutil.copy(file, place / file.relative_to(REPOSITORY))
    return place


def is_suite_green(copy: Path) -> bool:
    """Run the tests of the cache in the copy; one that hangs does not pass."""
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    try:
        run = subprocess.run(
            [*command, SUITE], cwd=copy, check=False, capture_output=True, timeout=2 * PATIENCE
        )
    except subprocess.TimeoutExpired:
        return False
    assert run.returncode in (0, 1), run.stderr.decode()  # else no test has run
    return run.returncode == 0


@pytest.mark.usefixtures("repetitions")
def test_the_copy_passes(copy: Path) -> None:
    assert is_suite_green(copy)


@pytest.mark.usefixtures("repetitions")
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.what)
def test_a_planted_mistake_is_noticed(copy: Path, mistake: Mistake) -> None:
    file = copy / "hybridjit" / "runtime" / "cache" / MODULES[mistake.module]
    source = file.read_text()
    try:
        file.write_text(source.replace(mistake.right, mistake.wrong))
        assert not is_suite_green(copy), f"unnoticed: {mistake.what}"
    finally:
        file.write_text(source)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.what)
def test_a_mistake_can_be_planted(mistake: Mistake) -> None:
    """The code that a mistake is about is still there, once."""
    file = REPOSITORY / "hybridjit" / "runtime" / "cache" / MODULES[mistake.module]
    assert file.read_text().count(mistake.right) == 1
