"""Run the benchmarks: all of them, or those named on the command line."""

import argparse
from importlib import import_module

BENCHMARKS: tuple[str, ...] = (
    "benchmarks.frontend",
    "benchmarks.startup",
    "benchmarks.calls",
    "benchmarks.kernels",
    "benchmarks.arrays",
    "benchmarks.npbench",
    "benchmarks.math",
    "benchmarks.vectors",
    "benchmarks.ufuncs",
    "benchmarks.parallel",
    "benchmarks.stdlib",
    "benchmarks.operators",
    "benchmarks.profiling",
)


def main() -> None:
    """Call main() of each chosen benchmark module, in the order of BENCHMARKS."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", metavar="MODULE", help=", ".join(BENCHMARKS))
    only: list[str] = parser.parse_args().only
    unknown = [name for name in only if name not in BENCHMARKS]
    if unknown:
        parser.error(
            f"no benchmark named {', '.join(unknown)}; choose from {', '.join(BENCHMARKS)}"
        )

    for name in only or BENCHMARKS:
        print(f"== {name}", flush=True)
        import_module(name).main()


if __name__ == "__main__":
    main()
