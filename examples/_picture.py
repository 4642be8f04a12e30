"""Shared by the examples: arrays as PNG files, with nothing but the standard library."""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path

import numpy as np

# From dark to light: blue, violet, orange, yellow.
COLORS = np.array([[13, 18, 60], [120, 30, 120], [230, 95, 60], [252, 225, 110]], float)


def colored(values, low=None, high=None):
    """Numbers from `low` to `high` as colours."""
    low = values.min() if low is None else low
    high = values.max() if high is None else high
    place = np.clip((values - low) / max(high - low, 1e-12), 0, 1) * (len(COLORS) - 1)
    channels = [np.interp(place, range(len(COLORS)), channel) for channel in COLORS.T]
    return np.stack(channels, axis=-1).astype(np.uint8)


def enlarged(pixels, factor):
    """Every pixel as a square."""
    return pixels.repeat(factor, axis=0).repeat(factor, axis=1)


def png(pixels):
    """The bytes of a PNG file: grey if `pixels` has two axes, else red, green, blue."""
    height, width = pixels.shape[:2]
    rows = pixels.reshape(height, -1)
    lines = np.insert(rows, 0, 0, axis=1).astype(np.uint8).tobytes()  # each begins with its filter
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if pixels.ndim == 2 else 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def save_if_asked(picture):
    """Write the picture to the file that the command line names, if it names one."""
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_bytes(png(picture()))
        print(f"the picture is in {sys.argv[1]}")
