"""Searches on a cluster: a real one of several processes, of which one is killed on the way."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
    import os, signal, sys
    import numpy as np
    from distributed import Client, LocalCluster
    from tests.tuning.kernels import CASES

    if __name__ == "__main__":
        kernel, args = CASES["mirrored"]
        options = dict(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
        with LocalCluster(**options) as cluster, Client(cluster) as client:
            workers = list(client.run(os.getpid).values())
            executor = client.get_executor()
            first = kernel.tune(*args, trials=3, executor=executor)
            os.kill(workers[0], signal.SIGKILL)
            fast = kernel.tune(*args, trials=5, executor=executor)
            np.testing.assert_array_equal(fast(*args), kernel(*args))
            print(first.tuned.counts["measured"], fast.tuned.counts["measured"])
"""


def test_a_cluster_of_which_a_worker_dies(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    path = tmp_path / "cluster.py"
    path.write_text(textwrap.dedent(PROGRAM), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, env=environment, check=False
    )
    assert done.stdout == "3 5\n", done.stderr
