"""The native tests of every dtype, for processors other than the host's.

One process for each: what is compiled is for one processor in a whole process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hybridjit.errors import ConfigError
from hybridjit.processor import host_features, named_target
from tests.support.processors import PROCESSORS

ROOT = Path(__file__).parent.parent
HALF = "float16 or test_smoke"
# Without SSE4.1, F16C and FMA; with them and AVX2; with AVX-512, without AVX512-FP16, and the tests
# that this makes a difference to (bfloat16 is a float16, too). An ARM without float16.
CHOSEN = {"x86-64": "", "haswell": "", "cascadelake": HALF, "generic": HALF}
# Casts, arithmetic, math, remainders, vectors, guards.
TESTS = (
    "tests/test_smoke.py",
    "tests/codegen/test_fma.py",
    "tests/codegen/test_math_remainder.py",
    "tests/codegen/test_math_special.py",
    "tests/codegen/test_vectors.py",
    "tests/tir/test_custom_intrinsics.py",
    "tests/differential/test_guarded_loops.py",
    "tests/differential/test_converted_corpus.py",
)


@pytest.mark.parametrize("cpu", [cpu for cpu in PROCESSORS if cpu in CHOSEN])
def test_native_code_for_a_processor(
    cpu: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    try:
        named_target(cpu, host_features())
    except ConfigError as error:
        pytest.skip(str(error))
    settings = {"HYBRIDJIT_CPU": cpu, "HYBRIDJIT_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            "-k",
            CHOSEN[cpu],
            *TESTS,
            *(["--sample"] if request.config.getoption("--sample") else []),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **settings},
    )
    assert done.returncode == 0, done.stdout[-4000:]
