"""What is behind a hidden reference lives as long as the reference, cycle or not."""

from __future__ import annotations

import gc
import weakref
from typing import Any

from hybridjit.codegen.hidden_reference import hide


class Resource:
    """Ends when it is finalised, as code of llvmlite does."""

    is_open = True

    def __del__(self) -> None:
        self.is_open = False


class User:
    """Looks at a resource when it is finalised itself."""

    def __init__(self, resource: Any, seen: list[bool]) -> None:
        self.resource, self.seen, self.itself = resource, seen, self

    def __del__(self) -> None:
        self.seen.append(self.resource.item().is_open)


def test_resource_outlives_every_finaliser_of_its_cycle() -> None:
    seen: list[bool] = []
    resource = Resource()
    ended = weakref.ref(resource)
    users = [User(hide(resource), seen) for _ in range(3)]
    for user in users:
        user.itself = users[0]
    del resource, users, user  # pyright: ignore[reportPossiblyUnboundVariable]
    gc.collect()
    assert seen == [True] * 3
    assert ended() is None


def test_collector_does_not_look_inside() -> None:
    assert not gc.is_tracked(hide(Resource()))
