"""What workers are asked to do in tests."""

from __future__ import annotations

import ctypes
import os
import time


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
