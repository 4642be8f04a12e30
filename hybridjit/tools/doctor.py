"""`python -m hybridjit doctor`: what there is here, and whether it works."""

from __future__ import annotations

import argparse
import dataclasses
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from hybridjit import Kernel, __version__, config, hybrid
from hybridjit.codegen.llvm_version import is_tried, llvm_versions
from hybridjit.hybrid import allocate, exp, output_tensor, parallel
from hybridjit.processor import current_target
from hybridjit.runtime.cache import disk_cache
from hybridjit.runtime.pool import get_num_threads
from hybridjit.tools import cache
from hybridjit.tools.command import FAILED, Command, declare_json, format_bytes, print_facts
from hybridjit.tools.working import working

_PACKAGES = ("numpy", "islpy", "ml-dtypes", "typing-extensions")
_FEATURES = (
    *("avx2", "fma", "avx512f", "avx512vnni", "avx512fp16", "amx-tile"),
    *("neon", "fullfp16", "bf16", "dotprod", "i8mm", "sve", "sve2"),
)


def declare(parser: argparse.ArgumentParser) -> None:
    """Nothing but the form of the answer."""
    declare_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print the facts, then check."""
    with working("checking"):
        problems = find_problems()
    facts = {
        **describe_software(),
        **describe_processor(),
        **describe_settings(),
        "self-check": problems or "passed",
    }
    print_facts(facts, as_json=options.json)
    return FAILED if problems else 0


def describe_software() -> dict[str, Any]:
    """Versions."""
    llvmlite, llvm = llvm_versions()
    tried = "" if is_tried(llvmlite, llvm) else ", which was never tried"
    return {
        "hybridjit": __version__,
        "Python": f"{platform.python_version()} ({sys.platform}, {platform.machine()})",
        "llvmlite": f"{llvmlite}, LLVM {llvm}{tried}",
        **{name: _version_of(name) for name in _PACKAGES},
    }


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def describe_processor() -> dict[str, Any]:
    """What code is made for."""
    target = current_target()
    caches = dataclasses.asdict(target.caches)
    return {
        "processor": target.cpu,
        "features": [name for name in _FEATURES if target.has(name)],
        "vectors": f"{target.vector_registers} of {target.vector_bits} bits",
        "caches": [f"{name} {format_bytes(size)}" for name, size in caches.items()],
        "threads": f"{get_num_threads()} of {os.cpu_count()}",
    }


def describe_settings() -> dict[str, Any]:
    """The disk cache, and what is set by the environment."""
    state = disk_cache.info()
    found = sorted(f"{name}={value}" for name, value in os.environ.items() if _is_ours(name))
    return {"disk cache": _describe_cache(state), "settings": found or "none"}


def _describe_cache(state: disk_cache.CacheInfo) -> str:
    if state.path is None:
        return f"off: {state.problem}" if state.problem else "off"
    text = f"{state.path}: {cache.held(state)} of {format_bytes(state.size_limit)}"
    return f"{text}; {state.problem}" if state.problem else text


def _is_ours(name: str) -> bool:
    return name.startswith("HYBRIDJIT_")


@hybrid.script
def _sums(a: Any) -> Any:
    out = output_tensor((a.shape[0],), a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i] += a[i, j]
    return out


@hybrid.script
def _softmax(x: Any) -> Any:
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


@hybrid.script
def _threads(a: Any) -> Any:
    out = output_tensor(a.shape, a.dtype)
    for i in parallel(a.shape[0]):
        row = allocate((a.shape[1],), a.dtype)
        for j in range(a.shape[1]):
            row[j] = exp(a[i, j])
        for j in range(a.shape[1]):
            out[i, j] = row[a.shape[1] - 1 - j]
    return out


_SELF_CHECKS: tuple[Kernel[..., Any], ...] = (_sums, _softmax, _threads)


def find_problems() -> list[str]:
    """Small kernels, held against plain Python; what went wrong with each."""
    a = np.random.default_rng(0).standard_normal((33, 70))
    problems: list[str] = []
    for kernel in _SELF_CHECKS:
        for array in (a, a.astype(np.float32), a[::2, ::-1]):
            try:
                with config.scope(interpret=False):
                    kernel.check(array)
            except Exception as error:
                problems.append(f"{kernel.__name__}: {type(error).__name__}: {error}")
    return problems


COMMAND = Command("show processor, versions, cache and threads; run a self-check", declare, run)
