"""Say which functions of the language no random program calls.

    python -m tests.campaigns.undrawn --count 2000

The tables of the front end are compared with the texts of so many programs of each generator.
Nothing is compiled.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from hybridjit.frontend.captures import SUPPORTED
from hybridjit.scalars.builtins import MATH
from tests.arrays.generate import make_program as make_array_script
from tests.brought.generate import make_program as make_brought_script
from tests.loops.generate import make_program as make_loops
from tests.programs.kinds import STYLES
from tests.programs.program import program_from_seed
from tests.support.choices import Choices

_CALL = re.compile(r"(?:\b(np\.|math\.)|(?<=\.)|\b)([a-z][\w.]*)\(")
# Other names for the same function.
_SAME = {"absolute": "abs", "amin": "min", "amax": "max", "asanyarray": "asarray"}


def _loops(number: int) -> str:
    return make_loops(Choices(random.Random(number).randrange)).text


def _programs(number: int) -> str:
    style = list(STYLES.values())[number % 5]
    return program_from_seed(number, style).source


GENERATORS: dict[str, Callable[[int], str]] = {
    "loops": _loops,
    "programs": _programs,
    "arrays": lambda number: make_array_script(f"0/{number}").text,
    "brought": lambda number: make_brought_script(f"0/{number}").text,
}


def count_calls(texts: Iterable[str]) -> Counter[str]:
    """The functions that are called, by the name that follows the last dot: methods are, too."""
    return Counter(
        found.group(2).split(".")[-1] for text in texts for found in _CALL.finditer(text)
    )


def undrawn(drawn: Counter[str]) -> Iterator[tuple[str, list[str]]]:
    """Of each table, what nobody calls."""
    tables = {"the language": tuple(MATH), **{f"{m}": names for m, names in SUPPORTED.items()}}
    for table, names in tables.items():
        yield (
            table,
            [
                name
                for name in dict.fromkeys(names)
                if not drawn[name.split(".")[-1]] and not drawn[_SAME.get(name, name)]
            ],
        )


def main() -> None:
    """Draw programs, and print what is in none of them."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--count", type=int, default=1000, help="programs of each generator")
    count = parser.parse_args().count
    drawn = Counter[str]()
    for make in GENERATORS.values():
        drawn += count_calls(make(number) for number in range(count))
    for table, names in undrawn(drawn):
        print(f"{table}, {len(names)} never: {', '.join(names)}")


if __name__ == "__main__":
    main()
