"""What workers are asked to do in tests."""

from __future__ import annotations

import ctypes
import math
import os
import time
from typing import Any

import numpy as np

from hybridjit import hybrid
from hybridjit.tuning.patience import GivenUpError, at_most


def double(number: int) -> int:
    return 2 * number


def crash() -> None:
    ctypes.string_at(0)


def hang() -> None:
    while True:
        time.sleep(0.01)


def leave() -> None:
    os._exit(3)


def eat() -> int:
    return len(bytearray(1 << 40))


def fail() -> None:
    raise ValueError("not today")


def talk() -> int:
    print("to nobody", flush=True)
    os.write(1, b"not even so")
    return 1


def who() -> int:
    return os.getpid()


@hybrid.script
def count_long(x: Any) -> None:
    for i in range(x.shape[0]):
        for _ in range(1 << 40):
            x[i] = x[i] * 0.5 + 1.0


def give_up_code(seconds: float, until: float = math.inf) -> tuple[str, int]:
    """A run that nobody lives to see the end of, if it is not given up."""
    try:
        with at_most(seconds, until):
            count_long(np.zeros(1))
    except GivenUpError:
        return "given up", os.getpid()
    return "done", os.getpid()


def be_late() -> str:
    return give_up_code(math.inf, time.time() + 0.05)[0]


def size_of(data: bytes) -> int:
    return len(data)
