"""`python -m hybridjit.stdlib`: the table of operators."""

import sys

from hybridjit import stdlib


def main() -> None:
    """Print a line for each operator, by family."""
    rows = sorted(stdlib.OPERATORS.values(), key=lambda row: (row.family, row.name))
    for row in rows:
        has = ", ".join(
            word
            for word, is_there in (("schedule", row.has_schedule), ("gradient", row.has_gradient))
            if is_there
        )
        sys.stdout.write(f"{row.family:16}{row.name:28}{has}\n")


if __name__ == "__main__":
    main()
