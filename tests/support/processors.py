"""The processors that tests compile for, whatever the host is."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import pytest

from hybridjit import config
from hybridjit.errors import ConfigError
from hybridjit.processor import current_target, host_target

# Without SSE4.1; without AVX; with AVX2, F16C and FMA; two kinds of AVX-512; with AVX512-FP16.
_X86 = ("x86-64", "nehalem", "haswell", "skylake-avx512", "cascadelake", "sapphirerapids")
# Without arithmetic on half floats, one of them a processor that runs in order; with it.
_ARM = ("generic", "cortex-a53", "cortex-a76")
IS_X86 = host_target().triple.startswith("x86_64")
PROCESSORS = _X86 if IS_X86 else _ARM if host_target().has("neon") else ()

# Shorter vectors have neither masks nor gathers.
needs_wide_vectors = pytest.mark.skipif(
    host_target().vector_bits < 256, reason="vectors of 128 bits have no masks"
)


@contextmanager
def compiling_for(cpu: str) -> Generator[None]:
    """Compile new kernels for a processor; skip the test if the host cannot run such code."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HYBRIDJIT_CPU", cpu)
            config.clear()
            try:
                target = current_target()
            except ConfigError as error:
                pytest.skip(str(error))
            if target.cpu != cpu:
                pytest.skip(f"{target.cpu} is emulated")
            yield
    finally:
        config.clear()
