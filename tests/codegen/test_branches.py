"""Branches keep off the ends of 32 bytes where a processor decodes those anew each time."""

import platform
from collections.abc import Iterator
from dataclasses import replace

import pytest

from hybridjit.codegen.engine import code_bytes, emit_object, optimize
from hybridjit.processor import host_target
from hybridjit.target import Target

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="it is a matter of Intel's processors"
)

# Many short branches after each other: some end at a multiple of 32 bytes.
CHECKS = 60


def lines() -> Iterator[str]:
    yield "declare void @seen(i64)"
    yield "define void @checks(ptr %p) {"
    yield "entry:\n  br label %check0"
    for k in range(CHECKS):
        yield f"check{k}:\n  %x{k} = load volatile i64, ptr %p"
        yield f"  %c{k} = icmp slt i64 %x{k}, {k}\n  br i1 %c{k}, label %out, label %check{k + 1}"
    yield f"check{CHECKS}:\n  call void @seen(i64 1)\n  ret void\nout:\n  ret void\n}}"


def code_for(target: Target) -> bytes:
    return emit_object(optimize("\n".join(lines()), target), target)


def named(cpu: str) -> Target:
    return replace(host_target(), cpu=cpu, features="")


@pytest.mark.parametrize("cpu", ["skylake", "skylake-avx512", "cascadelake"])
def test_branches_are_moved_for_processors_that_need_it(
    cpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = code_bytes(code_for(named(cpu)))
    monkeypatch.setattr(Target, "has_slow_branches", False)
    assert code_bytes(code_for(named(cpu))) < moved


def test_others_in_the_process_have_their_branches_as_before() -> None:
    before = code_for(named("haswell"))
    code_for(named("cascadelake"))
    assert code_for(named("haswell")) == before
