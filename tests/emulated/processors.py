"""The processors that can be emulated, and the tools that make and run code for them."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

from hybridjit.target import Target


@dataclass(frozen=True)
class Machine:
    """A processor, and the tools that make and run code for it."""

    triple: str
    cpu: str
    features: str
    tools: str  # the prefix of the C compiler and the linker
    emulator: str
    emulated: str = "max"  # the processor that the emulator plays

    @property
    def target(self) -> Target:
        return Target(self.triple, self.cpu, self.features)

    @property
    def missing(self) -> list[str]:
        """The programs that are not installed."""
        programs = (f"{self.tools}gcc", f"{self.tools}ld", self.emulator)
        return [program for program in programs if shutil.which(program) is None]


def _features(text: str) -> str:
    return ",".join(f"+{name}" for name in text.split())


_SSE2 = "64bit cmov cx8 fxsr mmx sse sse2"
_SSE4 = f"{_SSE2} cx16 sahf popcnt sse3 ssse3 sse4.1 sse4.2"
_AVX2 = f"{_SSE4} avx avx2 fma f16c bmi bmi2 lzcnt movbe xsave"
_X86 = ("x86_64-linux-gnu-", "qemu-x86_64-static")
_ARM = ("aarch64-linux-gnu-", "qemu-aarch64-static")
MACHINES = {
    "x86-64": Machine("x86_64-unknown-linux-gnu", "x86-64", _features(_SSE2), *_X86),
    "nehalem": Machine("x86_64-unknown-linux-gnu", "nehalem", _features(_SSE4), *_X86),
    "haswell": Machine("x86_64-unknown-linux-gnu", "haswell", _features(_AVX2), *_X86),
    "cortex-a72": Machine(
        "aarch64-unknown-linux-gnu", "cortex-a72", _features("neon fp-armv8"), *_ARM
    ),
}
