"""Searches on a cluster: a real one of several processes, of which some are killed on the way."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKER_DIES = """
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


SCHEDULER_DIES = """
    import json, socket, subprocess, sys, threading
    import hybridjit as hj
    from distributed import Client, LocalCluster
    from tests.tuning.kernels import CASES

    def measured():
        return len(json.loads(hj.tune.export())["measurements"])

    def start(name, *options):
        command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *options]
        return subprocess.Popen([*command, "--no-dashboard"], stderr=subprocess.DEVNULL)

    if __name__ == "__main__":
        hj.tune.use(sys.argv[1])
        kernel, args = CASES["loops"]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        address = f"tcp://127.0.0.1:{port}"
        scheduler = start("scheduler", "--host", "127.0.0.1", "--port", str(port))
        worker = start("worker", address, "--nthreads", "1", "--no-nanny")
        client = Client(address, timeout=20)
        client.wait_for_workers(1, timeout=60)

        def kill_soon():
            while measured() < 2:
                pass
            scheduler.kill()

        threading.Thread(target=kill_soon, daemon=True).start()
        first = kernel.tune(*args, trials=1000, executor=client.get_executor())
        worker.kill()
        print(first.tuned.stopped)
        before = measured()
        options = dict(n_workers=1, threads_per_worker=1, dashboard_address=None)
        with LocalCluster(**options) as cluster, Client(cluster) as other:
            second = kernel.tune(*args, trials=3, executor=other.get_executor())
        print(before >= 2, measured() - before == second.tuned.trials)
"""


def test_a_cluster_of_which_a_worker_dies(tmp_path: Path) -> None:
    done = _run(tmp_path, WORKER_DIES)
    assert done.stdout == "3 5\n", done.stderr


def test_a_search_goes_on_after_the_scheduler_is_gone(tmp_path: Path) -> None:
    done = _run(tmp_path, SCHEDULER_DIES)
    assert done.stdout == "the executor broke: its jobs were cancelled\nTrue True\n", done.stderr


def _run(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("distributed")
    path = folder / "cluster.py"
    path.write_text(textwrap.dedent(program), encoding="utf-8")
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(
        [sys.executable, str(path), str(folder / "tuned.db")],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


KINDS = """
    import sys
    import numpy as np
    from distributed import Client, SpecCluster, Scheduler, Nanny
    from tests.tuning.kernels import CASES

    def count_builds():
        from hybridjit.runtime import compiler
        build, compiler.builds = compiler.build, 0
        def counted(*args, **kwargs):
            compiler.builds += 1
            return build(*args, **kwargs)
        compiler.build = counted

    def builds():
        from hybridjit.runtime import compiler
        return compiler.builds

    if __name__ == "__main__":
        kernel, args = CASES["loops"]
        options = dict(nthreads=1, dashboard_address=None)
        workers = {
            name: {"cls": Nanny, "options": {**options, "name": name, "resources": resources}}
            for name, resources in {"quiet": {"measure": 1}, "a": {}, "b": {}}.items()
        }
        scheduler = {"cls": Scheduler, "options": {"dashboard_address": None}}
        with SpecCluster(workers, scheduler) as cluster, Client(cluster) as client:
            client.wait_for_workers(3, timeout=60)
            workers = client.scheduler_info()["workers"]
            names = {address: worker["id"] for address, worker in workers.items()}
            client.run(count_builds)
            fast = kernel.tune(*args, trials=6, executor=client)
            made = {names[address]: count for address, count in client.run(builds).items()}
        np.testing.assert_array_equal(fast(*args), kernel(*args))
        # The plain program is compiled where it is run first.
        print(fast.tuned.counts["measured"], made["quiet"], made["a"] + made["b"] >= 6)
"""


def test_workers_of_one_kind_measure_and_others_compile(tmp_path: Path) -> None:
    done = _run(tmp_path, KINDS)
    assert done.stdout == "6 1 True\n", done.stderr
