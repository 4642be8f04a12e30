"""What the processor of a module has, for code that chooses instructions by it."""

from __future__ import annotations

from hybridjit.codegen.llvm_types import Module


def note_features(module: Module, features: str) -> None:
    """Let the code of a module use what the processor has: LLVM's list of features."""
    module.features = frozenset(part[1:] for part in features.split(",") if part.startswith("+"))


def has_feature(module: Module, name: str) -> bool:
    """Whether the processor has a feature, as far as `note_features` said."""
    return name in getattr(module, "features", ())


def vector_bits(module: Module) -> int:
    """The widest vectors of the processor; the widest there are, if nothing is known about it."""
    features = getattr(module, "features", None)
    if features is None or "avx512f" in features:
        return 512
    return 256 if "avx2" in features else 128


def has_quick_gathers(module: Module) -> bool:
    """Whether the processor gathers faster than it loads one by one: see `Target`."""
    return has_feature(module, "avx512fp16")


def has_rounding(module: Module) -> bool:
    """Whether the processor rounds floats to integers by an instruction; True if not known."""
    features = getattr(module, "features", None)
    return features is None or "sse4.1" in features or "sse2" not in features


def has_fma(module: Module) -> bool:
    """Whether the processor fuses products with sums; True if nothing is known about it."""
    features = getattr(module, "features", None)
    return features is None or "fma" in features or "neon" in features


def orders_zeros(module: Module) -> bool:
    """Whether the processor's own minimum of 0.0 and -0.0 is -0.0; False if that is not known."""
    return has_feature(module, "neon")
