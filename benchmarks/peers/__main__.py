"""Measure in one process for each number of threads; write JSON, Markdown and a chart."""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.peers.table import as_chart, in_markdown, ratio

PACKAGES = ("numpy", "numba", "jax", "onnxruntime", "scipy", "llvmlite")


def main() -> None:
    """All rows, or those whose names hold every word that is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="rows whose names hold them")
    parser.add_argument("--threads", type=int, nargs="+", default=None)
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for each row")
    parser.add_argument("--out", type=Path, default=None, help="a folder for what was found")
    given = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    found = describe_run()
    for threads in given.threads or sorted({1, cores}):
        machine, records = measure(threads, given.words, given.budget)
        found["threads"].append({"threads": threads, **machine, "rows": records})
        print(in_markdown(records, threads), flush=True)
        if given.out is not None:
            given.out.mkdir(parents=True, exist_ok=True)
            (given.out / f"peers-{threads}.md").write_text(in_markdown(records, threads))
            (given.out / f"peers-{threads}.svg").write_text(as_chart(records, threads))
            (given.out / "peers.json").write_text(json.dumps(found, indent=1))


def describe_run() -> dict[str, Any]:
    """When, on what, with which versions."""
    versions: dict[str, str] = {}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    today = datetime.datetime.now(datetime.timezone.utc).date()
    return {"date": str(today), "cpu": _processor(), "versions": versions, "threads": []}


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown"


def measure(
    threads: int, words: list[str], budget: float
) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """The rates of the machine, and the rows, as they come in."""
    command = [sys.executable, "-m", "benchmarks.peers.measure", *words]
    command += ["--threads", str(threads), "--budget", str(budget)]
    records: list[dict[str, Any]] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        machine: dict[str, float] = json.loads(process.stdout.readline())
        for line in process.stdout:
            records.append(json.loads(line))
            _say(records[-1])
    if process.returncode:
        sys.exit(f"measuring with {threads} threads failed")
    return machine, records


def _say(record: dict[str, Any]) -> None:
    found = ratio(record)
    compared = "" if found is None else f"{found:5.2f}"
    print(f"  {compared} {record['name']}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
