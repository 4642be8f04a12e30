"""How long the stages of compiling took, and where code came from: for `kernel.report`."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import Literal

from hybridjit.record import record

Source = Literal["compiled now", "read from disk", "in memory"]


class Stages(dict[str, float]):
    """Seconds by the name of a stage, in the order in which they ended."""

    @contextmanager
    def timed(self, stage: str) -> Generator[None]:
        """Add the time that the block takes, also if it ends in an error."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self[stage] = self.get(stage, 0.0) + time.perf_counter() - start


@record
class Compiled:
    """The code for some arguments: its bytes, where it came from, and how long each stage took.

    `seconds` are those of this process: of code that was read from disk, to read and link it.
    """

    source: Source
    code_bytes: int
    is_kept: bool
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])

    def __str__(self) -> str:
        kept = "" if self.is_kept else "; not kept on disk"
        lines = [f"code: {self.code_bytes} bytes, {self.source}{kept}"]
        if self.seconds:
            stages = ", ".join(f"{name} {each * 1e3:.1f}" for name, each in self.seconds.items())
            lines.append(f"compile time: {sum(self.seconds.values()) * 1e3:.1f} ms ({stages})")
        return "\n".join(lines)
