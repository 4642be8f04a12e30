"""The same kernel gives the same text in every process, whatever the hash seed is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PRINT_CORPUS = """
import sys
from tests.corpus import CORPUS
for case in CORPUS[:: int(sys.argv[1])]:
    arguments = case.arguments[0]
    print(case.kernel.prim_func(*arguments.args, **arguments.kwargs))
"""


def printed(seed: str, step: int) -> str:
    """The IR of every so many cases of the corpus, printed by a process of its own."""
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", PRINT_CORPUS, str(step)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=environment,
    )
    return done.stdout


def test_ir_text_does_not_depend_on_the_hash_seed(request: pytest.FixtureRequest) -> None:
    step = 4 if request.config.getoption("--sample") else 1
    reference = printed("0", step)
    assert reference.count("def ") > 60
    assert printed("4242", step) == reference
