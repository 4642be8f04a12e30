"""Compiling for a processor by its name."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from hybridjit import config, hybrid
from hybridjit.errors import ConfigError
from hybridjit.processor import (
    current_target,
    host_caches,
    host_features,
    host_target,
    named_target,
    processor_features,
    read_caches,
)
from hybridjit.runtime.cache.versions import maker_identity
from hybridjit.target import Caches, Target
from tests.corpus.case import Array
from tests.support.processors import IS_X86, PROCESSORS, compiling_for

on_x86 = pytest.mark.skipif(not IS_X86, reason="names of x86-64 processors")
EVERYTHING = dict.fromkeys(host_features(), True)


@hybrid.script
def double(a: Array) -> None:
    for i in range(a.shape[0]):
        a[i] = 2 * a[i]


@on_x86
@pytest.mark.parametrize(
    ("cpu", "bits", "has", "lacks"),
    [
        ("x86-64", 128, "sse2", "sse4.1"),
        ("nehalem", 128, "sse4.2", "avx"),
        ("haswell", 256, "f16c", "avx512f"),
        ("cascadelake", 512, "avx512vnni", "avx512fp16"),
        ("sapphirerapids", 512, "avx512fp16", "sse4a"),
    ],
)
def test_features_are_those_of_llvm(cpu: str, bits: int, has: str, lacks: str) -> None:
    target = named_target(cpu, EVERYTHING)
    assert target.cpu == cpu
    assert target.vector_bits == bits
    assert target.has(has)
    assert not target.has(lacks)


@on_x86
def test_what_the_host_lacks_is_named() -> None:
    host = EVERYTHING | {"avx512f": False, "avx512vl": False, "clwb": False}
    with pytest.raises(ConfigError, match=r"'skylake-avx512', which has avx512f, avx512vl: this"):
        named_target("skylake-avx512", host)


@on_x86
def test_what_only_systems_use_may_be_missing() -> None:
    """As virtual machines hide it."""
    assert "enqcmd" in processor_features("sapphirerapids")
    assert not named_target("sapphirerapids", EVERYTHING | {"enqcmd": False}).has("enqcmd")


@pytest.mark.parametrize("cpu", ["unheard-of", "pentium3"])
def test_a_name_that_llvm_does_not_know(cpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYBRIDJIT_CPU", cpu)
    config.clear()
    with pytest.raises(ConfigError, match=f"HYBRIDJIT_CPU is '{cpu}', which LLVM does not know"):
        current_target()
    monkeypatch.undo()
    config.clear()


@pytest.mark.parametrize("cpu", ["", "native"])
def test_the_host_is_the_default(cpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYBRIDJIT_CPU", cpu)
    config.clear()
    assert current_target() is host_target()
    monkeypatch.undo()
    config.clear()


@on_x86
def test_code_and_its_key_are_for_the_processor() -> None:
    here = maker_identity(host_target())
    with compiling_for("nehalem"):
        kernel = hybrid.script(double.py_func)
        a = np.ones(100)
        kernel(a)
        assert a.tolist() == [2.0] * 100
        text = kernel.inspect("asm", a)
        assert "xmm" in text
        assert "ymm" not in text
        assert maker_identity(current_target()) != here


@pytest.mark.skipif(not host_target().has("neon"), reason="names of ARM processors")
def test_processors_of_arm() -> None:
    assert not named_target("generic", EVERYTHING).has("lse")
    assert named_target("cortex-a76", EVERYTHING).has("lse")
    with pytest.raises(ConfigError, match="'neoverse-v1', which has sve: this processor"):
        named_target("neoverse-v1", EVERYTHING | {"sve": False})


@pytest.mark.parametrize("cpu", PROCESSORS)
def test_every_processor_has_vectors(cpu: str) -> None:
    """Or its floats would not be where functions look for them."""
    target = named_target(cpu, EVERYTHING)
    assert target.has("sse2") or target.has("neon")


def test_caches_are_those_of_the_machine_or_small_ones() -> None:
    caches = host_target().caches
    assert 1 << 12 <= caches.first <= caches.own
    assert caches.own <= caches.shared or caches.shared == Caches().shared


def test_caches_as_linux_describes_them(tmp_path: Path) -> None:
    described = [("1", "Data", "48K"), ("1", "Instruction", "32K"), ("2", "Unified", "2048K")]
    described += [("3", "Unified", "300M"), ("4", "Unified", "1G")]
    for number, entry in enumerate(described):
        folder = tmp_path / f"index{number}"
        folder.mkdir()
        for name, text in zip(("level", "type", "size"), entry, strict=True):
            (folder / name).write_text(text + "\n")
    assert read_caches(str(tmp_path)) == Caches(48 << 10, 2 << 20, 300 << 20)


def test_unknown_sizes_of_caches(tmp_path: Path) -> None:
    """Some systems have no such folder, and some leave files empty."""
    assert read_caches(str(tmp_path / "nowhere")) == Caches()
    (tmp_path / "index0").mkdir()
    (tmp_path / "index0" / "level").write_text("1\n")
    (tmp_path / "index0" / "size").write_text("\n")
    assert read_caches(str(tmp_path)) == Caches()


@pytest.mark.skipif(
    not Path("/sys/devices/system/cpu/cpu0/cache/index0/size").exists(), reason="not told"
)
def test_this_machine_tells_its_caches() -> None:
    assert host_caches() != Caches()


def test_code_for_other_caches_is_other_code() -> None:
    target = host_target()
    other = dataclasses.replace(target, caches=Caches(1, 2, 3))
    assert maker_identity(target) != maker_identity(other)


def test_registers_for_vectors() -> None:
    assert Target("x86_64-linux", "haswell", "+avx2").vector_registers == 16
    assert Target("x86_64-linux", "skylake-avx512", "+avx2,+avx512f").vector_registers == 32


@on_x86
def test_code_that_the_host_cannot_run_is_skipped_and_nothing_stays() -> None:
    before = current_target()
    with pytest.raises(pytest.skip.Exception, match="bdver1"), compiling_for("bdver1"):
        pytest.fail("no processor of today has all that this one had")
    assert current_target() == before
