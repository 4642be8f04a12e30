"""What makes code is a part of its key: all of the package, wherever its files stand."""

from pathlib import Path

import hybridjit
from hybridjit.runtime.cache import versions


def test_the_whole_package_is_measured() -> None:
    root = Path(hybridjit.__file__).parent
    expected = sorted(f"/{path.relative_to(root).as_posix()}" for path in root.rglob("*.py"))
    expected += [
        f"/stdlib/{p.relative_to(root / 'stdlib').as_posix()}"
        for p in (root / "stdlib").rglob("*.py")
    ]
    measured = {line.split(" ")[0] for line in versions._files(versions._PACKAGE)}  # pyright: ignore[reportPrivateUsage]
    assert measured == set(expected)
