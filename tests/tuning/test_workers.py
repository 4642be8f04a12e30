"""Processes that crash, hang, eat memory or leave: one call is lost, and nothing else."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator

import pytest

from hybridjit.tuning.patience import at_most
from hybridjit.tuning.worker import Receiver, Sender
from hybridjit.tuning.workers import LateError, WorkerError, Workers
from tests.tuning import jobs_for_workers as jobs


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers(1, memory=2 << 30) as made:
        yield made


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (jobs.crash, "died of SIG"),
        (jobs.leave, "exit code 3"),
        (jobs.eat, "more memory than it may have"),
        (jobs.fail, "ValueError: not today"),
    ],
)
def test_what_went_wrong_is_told_and_the_next_call_runs(
    workers: Workers, job: Callable[[], object], message: str
) -> None:
    lost, next_one = workers.submit(job), workers.submit(jobs.double, 21)
    with pytest.raises(WorkerError, match=message):
        lost.result(timeout=120)
    assert next_one.result(timeout=120) == 42


def test_a_call_that_hangs_is_killed() -> None:
    with Workers(1, timeout=3.0) as workers:
        process = workers.submit(jobs.who).result(timeout=120)
        with pytest.raises(LateError, match="more than 3 s"):
            workers.submit(jobs.hang).result(timeout=120)
        assert workers.submit(jobs.double, 4).result(timeout=120) == 8
        assert_is_gone(process)


def test_what_code_prints_does_not_disturb(workers: Workers) -> None:
    assert workers.submit(jobs.talk).result(timeout=120) == 1


def test_what_cannot_be_sent_is_an_error_of_its_call(workers: Workers) -> None:
    with pytest.raises(Exception, match="pickle"):
        workers.submit(lambda: 1).result(timeout=120)
    assert workers.submit(jobs.double, 1).result(timeout=120) == 2


def test_a_call_that_nobody_waits_for_is_ended() -> None:
    with Workers(1) as workers:
        process = workers.submit(jobs.who).result(timeout=120)
        running, waiting = workers.submit(jobs.hang), workers.submit(jobs.hang)
        while not running.running():
            time.sleep(0.01)
        workers.abandon(waiting)
        workers.abandon(running)
        with pytest.raises(WorkerError, match="died of SIGKILL"):
            running.result(timeout=120)
        assert waiting.cancelled()
        assert workers.submit(jobs.double, 4).result(timeout=120) == 8
        assert_is_gone(process)


def test_native_code_is_given_up_and_the_process_goes_on(workers: Workers) -> None:
    process = workers.submit(jobs.who).result(timeout=120)
    found = workers.submit(jobs.give_up_code, 0.05).result(timeout=120)
    assert found == ("given up", process)
    assert workers.submit(jobs.be_late).result(timeout=120) == "given up"
    assert workers.submit(jobs.who).result(timeout=120) == process


def test_only_processes_that_obey_are_interrupted() -> None:
    with at_most(1e-6):
        time.sleep(0.01)


def test_what_is_large_is_sent_once() -> None:
    pipe = io.BytesIO()
    sender, receiver = Sender(pipe), Receiver(pipe)
    large, other = bytes(1 << 20), bytes(1 << 17)
    messages = [(large, 1), (large, 2), (other, large), (3, large, other)]
    sizes: list[int] = []
    for message in messages:
        start = pipe.tell()
        sender.send(message)
        sizes.append(pipe.tell() - start)
        pipe.seek(start)
        assert receiver.receive() == message
    assert sizes[0] > len(large) > sizes[2] > len(other)
    assert max(sizes[1], sizes[3]) < 1000


def test_a_message_that_cannot_be_sent_leaves_nothing_behind() -> None:
    pipe = io.BytesIO()
    sender, receiver = Sender(pipe), Receiver(pipe)
    large = bytes(1 << 20)
    with pytest.raises(Exception, match="pickle"):
        sender.send((large, lambda: 1))
    sender.send((large, 1))
    pipe.seek(0)
    assert receiver.receive() == (large, 1)


def test_nothing_is_left_when_they_are_closed() -> None:
    with Workers(2) as workers:
        processes = {workers.submit(jobs.who).result(timeout=120) for _ in range(4)}
        waiting = workers.submit(jobs.hang)
    assert waiting.done()
    for process in processes:
        assert_is_gone(process)
    with pytest.raises(RuntimeError, match="closed"):
        workers.submit(jobs.who)


PARENT = """
    import sys, time
    sys.path.insert(0, {root!r})
    from hybridjit.tuning.workers import Workers
    from tests.tuning import jobs_for_workers as jobs
    workers = Workers(1)
    print(workers.submit(jobs.who).result(), flush=True)
    workers.submit(jobs.hang)
    time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks the system of Linux")
def test_a_worker_dies_with_the_process_that_asked() -> None:
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    program = textwrap.dedent(PARENT).format(root=root)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        process = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    assert_is_gone(process)


def assert_is_gone(process: int) -> None:
    for _ in range(600):
        try:
            os.kill(process, 0)
            with open(f"/proc/{process}/stat") as file:
                if file.read().split(")")[-1].split()[0] == "Z":
                    return
        except (ProcessLookupError, FileNotFoundError):
            return
        time.sleep(0.1)
    raise AssertionError(f"process {process} is still there")
