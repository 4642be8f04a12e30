"""Settings: what the environment says, what a scope changes, what is refused."""

import asyncio
import threading
import traceback
from collections.abc import Iterator
from typing import Any

import pytest

from hybridjit import config
from hybridjit.config import Config
from hybridjit.errors import ConfigError

VARIABLES = (
    "HYBRIDJIT_CACHE",
    "HYBRIDJIT_CACHE_DIR",
    "HYBRIDJIT_CACHE_SIZE",
    "HYBRIDJIT_CACHE_STRICT",
    "HYBRIDJIT_CHECK",
    "HYBRIDJIT_CPU",
    "HYBRIDJIT_INTERPRET",
    "HYBRIDJIT_NUM_THREADS",
    "HYBRIDJIT_PARALLEL",
    "HYBRIDJIT_TRACEBACK",
    "HYBRIDJIT_VERIFY",
)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    config.clear()
    yield
    config.clear()


def test_defaults() -> None:
    assert config.current() == Config(
        cache_dir=None,
        cache_enabled=True,
        cache_size=1 << 30,
        cache_strict=False,
        interpret=False,
        traceback="short",
        verify=True,
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", True), ("true", True), ("ON", True), ("0", False), ("False", False), (" off ", False)],
)
def test_a_switch_accepts(monkeypatch: pytest.MonkeyPatch, text: str, value: bool) -> None:
    monkeypatch.setenv("HYBRIDJIT_INTERPRET", text)
    monkeypatch.setenv("HYBRIDJIT_VERIFY", text)
    assert config.current() == Config(interpret=value, verify=value)


def test_traceback_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYBRIDJIT_TRACEBACK", "full")
    assert config.current().traceback == "full"


def test_the_cache_directory_keeps_its_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYBRIDJIT_CACHE_DIR", "/Some/Where ")
    assert config.current().cache_dir == "/Some/Where "


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"verify": "yes"}, "verify is 'yes'; it must be True or False"),
        ({"cache_dir": 3}, "cache_dir is 3; it must be a str, or None"),
        ({"cache_size": "1G"}, "cache_size is '1G'; it must be a number of bytes"),
        ({"cache_size": -1}, "cache_size is -1; it must be a number of bytes"),
        ({"traceback": "long"}, "traceback is 'long'; it must be one of short, full"),
        (
            {"bogus": 1},
            "'bogus' is no setting of a scope(.|\\n)*there are cache_dir, cache_enabled",
        ),
        ({"num_threads": 2}, r"'num_threads' is no setting of a scope(.|\n)*with hj.threads\(n\)"),
        ({"debug": True}, "'debug' is no setting of a scope(.|\\n)*HYBRIDJIT_DEBUG=1"),
    ],
)
def test_a_scope_refuses(change: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        config.scope(**change)
    assert caught.value.code == "HJ701"
    assert config.current() == Config()


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("123", 123), ("4k", 4 << 10), ("500M", 500 << 20), (" 2G ", 2 << 30)],
)
def test_a_size_accepts(monkeypatch: pytest.MonkeyPatch, text: str, size: int) -> None:
    monkeypatch.setenv("HYBRIDJIT_CACHE_SIZE", text)
    assert config.current().cache_size == size


@pytest.mark.parametrize("text", ["-1", "G", "1.5G", "1GB", "many", "²", "9" * 5000])
def test_a_malformed_size_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("HYBRIDJIT_CACHE_SIZE", text)
    with pytest.raises(ConfigError, match="it must be a number of bytes, or one with K, M or G"):
        config.current()


def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.setenv(variable, "")
    assert config.current() == Config()


def test_a_malformed_switch_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYBRIDJIT_VERIFY", "maybe")
    for _ in range(2):
        with pytest.raises(
            ConfigError,
            match=r"^HYBRIDJIT_VERIFY is 'maybe'; it must be one of 1, true, on, 0, false, off\n",
        ):
            config.current()


def test_a_malformed_traceback_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYBRIDJIT_TRACEBACK", "long")
    with pytest.raises(
        ConfigError, match=r"^HYBRIDJIT_TRACEBACK is 'long'; it must be one of short, full\n"
    ):
        config.current()


def test_the_environment_is_read_once_until_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    before = config.current()
    monkeypatch.setenv("HYBRIDJIT_INTERPRET", "1")
    assert config.current() is before
    config.clear()
    assert config.current().interpret


def test_a_scope_changes_what_it_names_and_restores_it() -> None:
    with config.scope(interpret=True) as outer:
        assert config.current() is outer
        with config.scope(verify=False):
            assert config.current() == Config(interpret=True, verify=False)
        assert config.current() is outer
    assert config.current() == Config()


def test_a_scope_can_switch_off_what_the_environment_switched_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HYBRIDJIT_INTERPRET", "1")
    with config.scope(interpret=False):
        assert not config.current().interpret


def test_a_scope_ends_with_an_exception() -> None:
    with pytest.raises(KeyError, match="left"), config.scope(interpret=True):
        raise KeyError("left")
    assert not config.current().interpret


def test_a_scope_can_be_entered_again() -> None:
    again = config.scope(interpret=True)
    with again, config.scope(interpret=False), again:
        assert config.current().interpret
    assert not config.current().interpret


def test_a_scope_refuses_an_unknown_style() -> None:
    with pytest.raises(ConfigError, match="traceback is 'long'; it must be one of short, full"):
        config.scope(traceback="long")  # pyright: ignore[reportArgumentType]


def test_a_scope_is_not_seen_by_another_thread() -> None:
    seen: list[bool] = []
    with config.scope(interpret=True):
        thread = threading.Thread(target=lambda: seen.append(config.current().interpret))
        thread.start()
        thread.join()
    assert seen == [False]


def test_a_scope_is_not_seen_by_another_task() -> None:
    async def inside(entered: asyncio.Event, leave: asyncio.Event) -> None:
        with config.scope(interpret=True):
            entered.set()
            await leave.wait()

    async def outside() -> bool:
        entered, leave = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(inside(entered, leave))
        await entered.wait()
        seen = config.current().interpret
        leave.set()
        await task
        return seen

    assert not asyncio.run(outside())


def test_the_edge_reports_a_malformed_setting_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYBRIDJIT_TRACEBACK", "long")
    with pytest.raises(ConfigError, match="HYBRIDJIT_TRACEBACK is 'long'") as caught:
        config.api_edge(config.current)()
    text = "".join(traceback.format_exception(caught.value))
    assert text.count("it must be one of") == 1


def test_the_edge_passes_arguments_results_and_name() -> None:
    @config.api_edge
    def divide(a: int, b: int = 2) -> float:
        """Return a over b."""
        return a / b

    assert divide(3, b=4) == 0.75
    assert (divide.__name__, divide.__doc__) == ("divide", "Return a over b.")
