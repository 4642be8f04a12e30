"""The machine that code is made for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """A processor: everything about it that changes the code."""

    triple: str
    cpu: str
    features: str

    @property
    def vector_bits(self) -> int:
        """The widest vectors that the processor has."""
        enabled = set(self.features.split(","))
        return 512 if "+avx512f" in enabled else 256 if "+avx2" in enabled else 128
