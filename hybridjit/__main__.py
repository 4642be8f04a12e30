"""The command line: `python -m hybridjit cache info|clear|path`."""

import argparse
import sys
from collections.abc import Sequence

from hybridjit.errors import ConfigError
from hybridjit.runtime.cache import disk_cache as cache

_ACTIONS = {
    "info": "show where the cache is and how much is in it",
    "clear": "remove everything from it",
    "path": "print its directory",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    action: str = _make_parser().parse_args(arguments).action
    try:
        state = cache.info()
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    if state.path is None:
        print(f"the disk cache is off: {state.problem}", file=sys.stderr)
        return 1
    print(_run(action, state, state.path))
    return 0


def _run(action: str, state: cache.CacheInfo, path: str) -> str:
    match action:
        case "info":
            return _render(state)
        case "clear":
            return f"removed {_counted(cache.clear())} from {path}"
        case _:
            return path


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m hybridjit")
    commands = parser.add_subparsers(required=True, metavar="command")
    group = commands.add_parser("cache", help="the compiled kernels kept on disk")
    actions = group.add_subparsers(dest="action", required=True, metavar="action")
    for name, text in _ACTIONS.items():
        actions.add_parser(name, help=text, description=text)
    return parser


def _render(state: cache.CacheInfo) -> str:
    lines = [
        f"directory  {state.path}",
        f"holds      {_counted(state.entries)}, {_megabytes(state.size)}",
        f"limit      {_megabytes(state.size_limit)}",
    ]
    if state.problem != "":
        lines.append(f"problem    {state.problem}")
    return "\n".join(lines)


def _counted(entries: int) -> str:
    return "1 entry" if entries == 1 else f"{entries} entries"


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB"


if __name__ == "__main__":
    sys.exit(main())
