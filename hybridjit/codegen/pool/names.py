"""What kernels know of the pool: its functions, and whether there is one at all."""

from __future__ import annotations

STATE = "hj_pool_state"
RUN = "hj_pool_run"
POLL = "hj_pool_poll"

# The number of the system call, on the machines that there is code for.
FUTEX = {"x86_64": 202, "aarch64": 98}


def has_pool(triple: str) -> bool:
    """True if there is code for the pool on this kind of machine."""
    return triple.partition("-")[0] in FUTEX and "linux" in triple
