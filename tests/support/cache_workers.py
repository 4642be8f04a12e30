"""Processes that write to one disk cache at once, or are killed while they do.

    python -m tests.support.cache_workers SCENARIO DIRECTORY COUNT

A program of its own, because a test process has threads and must not fork. It forks from a state
in which everything is imported, so a process costs a millisecond, and exits with an error if
anything that comes out of the cache is wrong.
"""

import faulthandler
import logging
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from random import Random

from hybridjit.runtime.cache.disk_cache import Counters, Store
from hybridjit.runtime.cache.entry import Entry
from tests.support.cache_faults import (
    DAMAGES,
    KEY,
    META,
    check_recovers,
    counters,
    intercepted_call,
    open_store,
    rewrite,
    save_sample,
    temporaries,
)

WRITERS = 8
KEYS = tuple(b"key %d" % number for number in range(20))
HOUR = 3600


def expected_code(key: bytes) -> bytes:
    """The only right object code for `key`."""
    random = Random(key)
    return random.randbytes(random.randrange(40_000))


def check_entry(store: Store, key: bytes) -> bool:
    """Fail if what comes out is wrong; return whether anything did."""
    entry = store.load(key)
    assert entry in (None, Entry(META, expected_code(key))), f"wrong entry for {key!r}"
    return entry is not None


def spawn(work: Callable[[], None]) -> int:
    """Run `work` in a forked process; return its id."""
    pid = os.fork()
    if pid != 0:
        return pid
    status = 1
    try:
        logging.disable()
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def finish(pids: list[int]) -> None:
    """Wait for processes, which must end well."""
    statuses = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    assert statuses == [0] * len(pids), statuses


def check_untouched_by_kills(directory: Path) -> None:
    """Fail unless a fresh process finds only whole entries and can clean up and go on."""
    store = open_store(directory)
    found = sum(check_entry(store, key) for key in KEYS)
    assert counters(store) == Counters(hits=found, misses=len(KEYS) - found)


def check_cleans_up(directory: Path) -> None:
    """Fail unless what the killed left behind goes with the first save an hour later."""
    then = time.time() - 2 * HOUR
    for path in temporaries(directory):
        os.utime(path, (then, then))
    store = open_store(directory, strict=True)
    store.save(KEYS[0], META, expected_code(KEYS[0]))
    assert check_entry(store, KEYS[0])
    assert temporaries(directory) == []


def save_for_ever(directory: Path, seed: int) -> None:
    random, store = Random(seed), open_store(directory, strict=True)
    while True:
        key = random.choice(KEYS)
        store.save(key, META, expected_code(key))


def kill_at_random(directory: Path, count: int) -> None:
    """Kill writers after a random time; nothing half-written may ever be seen."""
    random = Random(count)
    killed_while_writing = 0
    for seed in range(count):
        before = len(temporaries(directory))
        pid = spawn(lambda seed=seed: save_for_ever(directory, seed))
        time.sleep(random.uniform(0, 0.03))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        killed_while_writing += len(temporaries(directory)) > before
        check_untouched_by_kills(directory)
    assert killed_while_writing > 0 or count < 100, "the kills hit no write"
    check_cleans_up(directory)


def kill_at_every_call(directory: Path, count: int) -> None:
    """Kill a writer before its first system call, its second, and so on to the last."""
    for size_limit in (1 << 30, 50_000)[:count]:
        number, ended = 0, False
        while not ended:
            place = directory / f"{size_limit}-{number}"
            pid = spawn(lambda place=place, n=number, limit=size_limit: die(place, n, limit))
            ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
            check_untouched_by_kills(place)
            check_cleans_up(place)
            number += 1
        assert number > 40


def die(place: Path, number: int, size_limit: int) -> None:
    """Save two keys, but do not survive the system call with this number."""
    store = open_store(place, size_limit=size_limit, strict=True)
    with intercepted_call(number, lambda: os.kill(os.getpid(), signal.SIGKILL)):
        for key in KEYS[:2]:
            store.save(key, META, expected_code(key))


def damage_at_random(directory: Path, count: int) -> None:
    """Let a fresh process meet each of `count` damaged files: always a miss, never worse."""
    random = Random(count)
    file = save_sample(directory)
    data = file.read_bytes()

    def meet() -> None:
        store = open_store(directory)
        assert store.load(KEY) is None
        assert counters(store) == Counters(misses=1, corrupt=1)

    for number in range(count):
        damaged = DAMAGES[number % len(DAMAGES)](data, random)
        if damaged != data:
            rewrite(file, damaged)
            finish([spawn(meet)])
    check_recovers(directory)


def write_together(directory: Path, count: int) -> None:
    """Let 8 processes save and load the same keys in different orders."""

    def work(seed: int) -> None:
        store = open_store(directory, strict=True)
        keys = [b"shared %d" % number for number in range(count)]
        Random(seed).shuffle(keys)
        for key in keys:
            check_entry(store, key)
            store.save(key, META, expected_code(key))
            assert check_entry(store, key)

    finish([spawn(lambda seed=seed: work(seed)) for seed in range(WRITERS)])
    store = open_store(directory, strict=True)
    assert all(check_entry(store, b"shared %d" % number) for number in range(count))
    assert temporaries(directory) == []


def evict_together(directory: Path, count: int) -> None:
    """Let 8 processes save, evict and clear at once."""

    def work(seed: int) -> None:
        random = Random(seed)
        store = open_store(directory, size_limit=200_000)
        for _ in range(count):
            key = random.choice(KEYS)
            if not check_entry(store, key):
                store.save(key, META, expected_code(key))
            if random.random() < 0.05:
                store.clear()
        counts = counters(store)
        assert counts.corrupt == counts.foreign == 0, counts

    finish([spawn(lambda seed=seed: work(seed)) for seed in range(WRITERS)])
    assert open_store(directory).info().size <= 200_000 + WRITERS * 40_000


def race_for_the_secret(directory: Path, count: int) -> None:
    """Let 8 processes be the first to save: they must agree on one secret."""
    for attempt in range(count):
        place = directory / str(attempt)
        reading, writing = os.pipe()

        def work(key: bytes, place: Path = place, gate: int = reading) -> None:
            store = open_store(place, strict=True)
            os.read(gate, 1)
            store.save(key, META, expected_code(key))

        pids = [spawn(lambda key=key, work=work: work(key)) for key in KEYS[:WRITERS]]
        os.write(writing, b"!" * WRITERS)
        finish(pids)
        os.close(reading)
        os.close(writing)
        store = open_store(place, strict=True)
        assert all(check_entry(store, key) for key in KEYS[:WRITERS])


def fork_while_busy(directory: Path, count: int) -> None:
    """Fork while threads are inside the store; it must work in the child."""
    store = open_store(directory, strict=True)
    stop = threading.Event()

    def hammer(key: bytes) -> None:
        while not stop.is_set():
            store.save(key, META, expected_code(key))
            assert check_entry(store, key)
            store.load(b"missing")

    threads = [threading.Thread(target=hammer, args=(key,)) for key in KEYS[:3]]
    for thread in threads:
        thread.start()
    time.sleep(0.05)

    def work() -> None:
        faulthandler.dump_traceback_later(20, exit=True)  # a deadlock
        store.save(KEYS[5], META, expected_code(KEYS[5]))
        assert check_entry(store, KEYS[5])

    try:
        for _ in range(count):
            finish([spawn(work)])
    finally:
        stop.set()
        for thread in threads:
            thread.join()


SCENARIOS = {
    "damage_at_random": damage_at_random,
    "kill_at_random": kill_at_random,
    "kill_at_every_call": kill_at_every_call,
    "write_together": write_together,
    "evict_together": evict_together,
    "race_for_the_secret": race_for_the_secret,
    "fork_while_busy": fork_while_busy,
}

if __name__ == "__main__":
    SCENARIOS[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
