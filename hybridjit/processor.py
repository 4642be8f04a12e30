"""The machine that code is made for: this one, or the one that HYBRIDJIT_CPU names."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any

import llvmlite.binding as binding

from hybridjit import config
from hybridjit.errors import ConfigError
from hybridjit.target import Caches, Target

llvm: Any = binding  # llvmlite has no types that a checker could follow

# Features whose instructions LLVM chooses by itself: code for a processor that has one does not
# run on one that has not. Others, for systems and cryptography, are only used when asked for.
_CHOSEN = (
    r"s?sse|avx|fma|f16c|evex|bmi|lzcnt|popcnt|movbe|cmov|cx|adx|xop|tbm|gfni|"
    r"egpr|ndd|ccmp|cf$|zu$|nf$|ppx|push2pop2|64bit|sahf|neon|sve|fullfp16|bf16|lse|dotprod"
)

# What the kernel of Linux tells programs of the processor, and where it says so.
_HWCAP = 16
_HWCAP_BITS = {"dotprod": 20}
_CACHES = "/sys/devices/system/cpu/cpu0/cache"
_LEVELS = {"1": "first", "2": "own", "3": "shared"}
_LONGEST = 64  # of what such a file says
_SIZE = re.compile(r"(\d+)([KMG]?)")
_SHIFTS = {"": 0, "K": 10, "M": 20, "G": 30}


@cache
def host_target() -> Target:
    """The processor that we are running on."""
    features = host_features()  # which starts LLVM, too
    return make_target(llvm.get_host_cpu_name(), features)


def current_target() -> Target:
    """The processor that kernels are compiled for: the host's, unless HYBRIDJIT_CPU names one."""
    cpu = config.current().cpu
    return host_target() if cpu is None else named_target(cpu, host_features())


@cache
def host_features() -> Mapping[str, bool]:
    """Every feature that LLVM knows, and whether this processor has it."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return {**llvm.get_host_cpu_features(), **_more_features()}


def _more_features() -> dict[str, bool]:
    """Features of ARM that LLVM does not ask Linux for."""
    if sys.platform != "linux" or os.uname().machine != "aarch64":
        return {}
    ask: Any = ctypes.CDLL(None).getauxval
    ask.restype, ask.argtypes = ctypes.c_ulong, [ctypes.c_ulong]
    return {name: bool(ask(_HWCAP) >> bit & 1) for name, bit in _HWCAP_BITS.items()}


def named_target(cpu: str, host: Mapping[str, bool]) -> Target:
    """A processor that LLVM knows by name, without what a host does not have."""
    features = processor_features(cpu)
    lacking = [name for name in sorted(features) if not host.get(name) and re.match(_CHOSEN, name)]
    if lacking:
        raise ConfigError(
            f"HYBRIDJIT_CPU is {cpu!r}, which has {', '.join(lacking)}: this processor, "
            f"{llvm.get_host_cpu_name()}, has not, and could not run the code"
        )
    return make_target(cpu, {name: has and name in features for name, has in host.items()})


def make_target(cpu: str, features: Mapping[str, bool]) -> Target:
    """A processor with just these features."""
    text = ",".join(f"{'+' if has else '-'}{name}" for name, has in sorted(features.items()))
    return Target(llvm.get_default_triple(), cpu, text, host_caches())


@cache
def host_caches() -> Caches:
    """The caches of this machine, as far as the system tells."""
    return read_caches(_CACHES)


def read_caches(folder: str) -> Caches:
    """The caches that Linux describes in a folder: the sizes of those for data, by their level."""
    sizes: dict[str, int] = {}
    for entry in _caches_in(folder):
        level = _LEVELS.get(_read(f"{entry}/level"))
        size = _SIZE.fullmatch(_read(f"{entry}/size"))
        if level is not None and size is not None and _read(f"{entry}/type") != "Instruction":
            sizes[level] = int(size[1]) << _SHIFTS[size[2]]
    return Caches(**sizes)


def _caches_in(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [f"{folder}/{name}" for name in names if name.startswith("index")]


def _read(path: str) -> str:
    """What a small file says: `open` takes four times as long, and there are a dozen."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return ""
    try:
        return os.read(file, _LONGEST).decode().strip()
    except OSError:
        return ""
    finally:
        os.close(file)


@cache
def processor_features(cpu: str) -> frozenset[str]:
    """The features of a processor, by the name that LLVM has for it."""
    import subprocess  # noqa: PLC0415 (4 ms, and hardly ever needed)

    program = (
        f"import runpy, sys; sys.path[:] = {sys.path!r}; "
        f"runpy.run_path({_PROBE!r}, None, '__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, cpu, *host_features()],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or "not a recognized processor" in done.stderr:
        raise ConfigError(
            f"HYBRIDJIT_CPU is {cpu!r}, which LLVM does not know as a 64-bit processor; "
            f"{_some_names()} are such names, and 'native' is this one"
        )
    return frozenset(done.stdout.split())


def _some_names() -> str:
    is_arm = host_target().is_arm
    return "cortex-a76, neoverse-n1 and generic" if is_arm else "haswell, znver4 and x86-64"


_PROBE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "feature_probe.py")
