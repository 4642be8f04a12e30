"""The machine that code is made for."""

from __future__ import annotations

from dataclasses import dataclass

# Of a processor that is not known: code for vectors of this size does well on larger ones too.
DEFAULT_VECTOR_BITS = 256


@dataclass(frozen=True, slots=True)
class Target:
    """A processor: everything about it that changes the code."""

    triple: str
    cpu: str
    features: str

    def has(self, feature: str) -> bool:
        """Whether the processor has a feature, by LLVM's name for it: "avx512vnni"."""
        return f"+{feature}" in self.features.split(",")

    @property
    def vector_bits(self) -> int:
        """The widest vectors that the processor has."""
        enabled = set(self.features.split(","))
        return 512 if "+avx512f" in enabled else 256 if "+avx2" in enabled else 128
