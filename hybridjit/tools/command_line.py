"""The command line: `python -m hybridjit COMMAND ...`.

    demo      run a few kernels, check them against NumPy, print a table
    doctor    show processor, LLVM, versions, cache and threads, and run a self-check
    cache     show or clear the compiled kernels on disk
    report    say how a kernel runs
    profile   measure where the time of a call goes
    view      show a kernel at every stage, as a page for a browser
    show      print a stage of a kernel: program, optimised, lowered, LLVM, assembly
    explain   print the page of an error by its code
    bench     time a kernel beside its plain function
    tune      search for a fast schedule of a kernel
    db        show what searches have kept in a database

Exit codes: 0, all is well; 1, something failed; 2, the command was not understood; 130, it was
interrupted.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

import hybridjit
from hybridjit.errors import ConfigError, HybridError
from hybridjit.tools import (
    bench,
    cache,
    database,
    demo,
    doctor,
    explain,
    profile,
    report,
    show,
    tune,
    view,
)
from hybridjit.tools.calling import CallError
from hybridjit.tools.command import FAILED, INTERRUPTED, MISUSED, Command
from hybridjit.tools.load_kernel import LoadError

DESCRIPTION = "What there is of hybridjit here, and what becomes of a kernel."
COMMANDS: dict[str, Command] = {
    "demo": demo.COMMAND,
    "doctor": doctor.COMMAND,
    "cache": cache.COMMAND,
    "report": report.COMMAND,
    "profile": profile.COMMAND,
    "show": show.COMMAND,
    "view": view.COMMAND,
    "explain": explain.COMMAND,
    "bench": bench.COMMAND,
    "tune": tune.COMMAND,
    "db": database.COMMAND,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    options = make_parser().parse_args(arguments)
    _write_whatever_comes(sys.stdout)
    try:
        code = COMMANDS[options.command].run(options)
        sys.stdout.flush()
        return code
    except (ConfigError, LoadError) as error:
        print(error, file=sys.stderr)
        return MISUSED
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # whoever reads it has seen enough
        _write_nowhere(sys.stdout)
        return FAILED
    except (CallError, OSError) as error:  # such as a file that cannot be written
        print(error, file=sys.stderr)
        return FAILED
    except HybridError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return FAILED


def _write_whatever_comes(stream: object) -> None:
    """Let a terminal that has no `µ` show something else."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")


def _write_nowhere(stream: object) -> None:
    """What is still to be written would be one more error, as the process ends."""
    if isinstance(stream, io.TextIOWrapper):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def make_parser() -> argparse.ArgumentParser:
    """What reads the arguments of every command."""
    parser = argparse.ArgumentParser("python -m hybridjit", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=hybridjit.__version__)
    parsers = parser.add_subparsers(dest="command", required=True, metavar="command")
    for name, command in COMMANDS.items():
        command.declare(parsers.add_parser(name, help=command.help, description=command.help))
    return parser
