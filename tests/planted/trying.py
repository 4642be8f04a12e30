"""Try whether planted bugs are noticed, each in a process of its own.

There, nothing of the bug is left when it has been tried, and a compiler that makes the process end
by a signal has been noticed too.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack

import pytest

from hybridjit import config
from hybridjit.kernel import Kernel
from tests.planted.bugs import Bug, Check, Plant, shortened

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="each bug needs its own process")

# How a child ends whose compiler has nothing of the name that the bug replaces.
_CANNOT_PLANT = 3


def assert_noticed(bug: Bug) -> None:
    """Fail unless the check is content with the sound compiler, and not with the bug in it."""
    assert notices(shortened(bug.check)) is None

    assert notices(bug.check, bug.plants) is not None


def notices(check: Check, plants: Sequence[Plant] = ()) -> str | None:
    """What a check says of the compiler with these bugs in it; None if it is content."""
    sys.stdout.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _try_in_child(check, plants, writer)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return f"signal {os.WTERMSIG(status)}"
    if os.WEXITSTATUS(status) == _CANNOT_PLANT:
        raise LookupError(f"the bug cannot be planted: {said}")
    return said or None


def _try_in_child(check: Check, plants: Sequence[Plant], writer: int) -> None:
    faulthandler.disable()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    said, status = "", _CANNOT_PLANT
    try:
        with ExitStack() as stack:
            if plants:
                # Code of a sound compiler must not come from the disk, nor that of this one get
                # there. What the sound one says of a check, other tests may have compiled for.
                stack.enter_context(config.scope(cache_enabled=False))
                _forget_kernels()
            for plant in plants:
                stack.enter_context(plant())
            status = 0
            check()
    except BaseException as error:
        said = f"{type(error).__name__}: {error}".splitlines()[0]
    os.write(writer, said.encode())
    os._exit(status)


def _forget_kernels() -> None:
    """Kernels of the tests' own files are compiled once more: by the compiler with the bug.

    They are found among what refers to their classes. A list of all objects would count a reference
    to each of millions, and so copy every page of memory that we share with the parent.
    """
    gc.unfreeze()  # what the tests froze is not looked at
    for each in gc.get_referrers(Kernel, *Kernel.__subclasses__()):
        if issubclass(type(each), Kernel):
            each.clear()
    gc.freeze()  # or the check takes most of its time to look for garbage there


def report(bugs: Sequence[Bug]) -> int:
    """Try the bugs that can be seen, print what is said of each; the number that was missed."""
    bugs = [bug for bug in bugs if bug.can_be_seen]
    missed = 0
    for bug in bugs:
        found = notices(bug.check, bug.plants)
        missed += found is None
        name = getattr(getattr(bug.check, "func", bug.check), "__name__", "")  # of a partial, too
        print(f"{bug!s:60} {name:44} {'MISSED' if found is None else found[:90]}", flush=True)
    print(f"{len(bugs) - missed} of {len(bugs)} bugs noticed", flush=True)
    return missed
