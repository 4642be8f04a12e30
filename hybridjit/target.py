"""The machine that code is made for."""

from __future__ import annotations

from hybridjit.record import record


@record
class Caches:
    """The bytes that a core can keep near: in its first cache, in its own, and in the shared one.

    The sizes here are those of a small processor, for where nobody knows.
    """

    first: int = 1 << 15
    own: int = 1 << 18
    shared: int = 1 << 22


@record
class Target:
    """A processor: everything about it that changes the code."""

    triple: str
    cpu: str
    features: str
    caches: Caches = Caches()

    def has(self, feature: str) -> bool:
        """Whether the processor has a feature, by LLVM's name for it: "avx512vnni"."""
        return f"+{feature}" in self.features.split(",")

    @property
    def is_arm(self) -> bool:
        """Whether it is an ARM of 64 bits."""
        return self.triple.startswith(("aarch64", "arm64"))

    @property
    def vector_bits(self) -> int:
        """The widest vectors that the processor has."""
        enabled = set(self.features.split(","))
        return 512 if "+avx512f" in enabled else 256 if "+avx2" in enabled else 128

    @property
    def has_quick_gathers(self) -> bool:
        """Whether elements from all over an array are loaded at once, faster than one by one.

        That is so from the processors on that brought arithmetic on half floats. Intel's before
        them wait in each gather, against sampling of data, for about as long as a dozen loads take;
        AMD's take gathers apart.
        """
        return self.has("avx512fp16")

    @property
    def has_slow_branches(self) -> bool:
        """Whether branches at the end of 32 bytes of code are decoded anew each time: loops full
        of checks take half as long again. Intel names the processors ("Jump Conditional Code
        Erratum"); LLVM calls those in between by the names of the first.
        """
        return self.cpu in ("skylake", "skylake-avx512", "cascadelake")

    @property
    def vector_registers(self) -> int:
        """How many vectors it holds at once."""
        return 16 if self.triple.startswith("x86_64") and not self.has("avx512f") else 32
