"""The bytes of one cache entry: how they are laid out, sealed and checked.

    magic  format  header length  key length  meta length  object length      little-endian header
    key | meta | object code | HMAC-SHA-256 of all that precedes it, under the user's secret

Reading believes nothing early: the lengths must add up to the size of the file, then the tag must
be right, then the whole key must be equal, and only then is the meta text read. The object code
is not looked at here at all.
"""

import importlib
import json
import struct
import sys
from _operator import (
    _compare_digest as compare_digest,  # pyright: ignore[reportPrivateUsage] (as hmac does it)
)
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from hybridjit.record import record

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

# The object of a large kernel has some 100 kB; nothing sane comes near this.
MAX_FILE_SIZE = 64 << 20
SECRET_SIZE = 32

_MAGIC = b"HYBRJITC"
_FORMAT = 1
_HEADER = struct.Struct("<8sIIQQQ")
_TAG_SIZE = 32
_BLOCK_SIZE = 64  # of SHA-256
_INNER_PAD = bytes(byte ^ 0x36 for byte in range(256))
_OUTER_PAD = bytes(byte ^ 0x5C for byte in range(256))


class CacheError(Exception):
    """Something odd about the cache; it leaves `Store` only with HYBRIDJIT_CACHE_STRICT=1."""


class CorruptEntry(CacheError):
    """The bytes of an entry are not what was stored under its key."""


@record
class Entry:
    """What was stored under a key, verified."""

    meta: Mapping[str, Any]
    object_code: bytes


def entry_name(key: bytes) -> str:
    """Return the name for `key`, 64 hex digits; another format has other names."""
    return sha256(_MAGIC + _FORMAT.to_bytes(4, "little") + key).hexdigest()


def encode_entry(key: bytes, meta: Mapping[str, Json], object_code: bytes, secret: bytes) -> bytes:
    """Return the bytes of an entry; `meta` comes back as JSON has it, with lists for tuples."""
    text = json.dumps(dict(meta), allow_nan=False, separators=(",", ":")).encode()
    header = _HEADER.pack(_MAGIC, _FORMAT, _HEADER.size, len(key), len(text), len(object_code))
    body = b"".join((header, key, text, object_code))
    return body + hmac_sha256(secret, body)


def decode_entry(data: bytes, key: bytes, secret: bytes) -> Entry:
    """Return the entry that `data` holds if it was sealed with `secret` for this very `key`."""
    meta_start, object_start = _check_layout(data)
    tag = hmac_sha256(secret, memoryview(data)[:-_TAG_SIZE])
    if not compare_digest(tag, data[-_TAG_SIZE:]):
        raise CorruptEntry("its authentication tag is wrong")
    if data[_HEADER.size : meta_start] != key:
        raise CorruptEntry("it belongs to another key")
    return Entry(_read_meta(data[meta_start:object_start]), data[object_start:-_TAG_SIZE])


def _read_meta(text: bytes) -> dict[str, Any]:
    try:
        meta = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CorruptEntry("its meta text cannot be read") from error
    if not isinstance(meta, dict):
        raise CorruptEntry("its meta text is not a JSON object")
    return cast(dict[str, Any], meta)


def _check_layout(data: bytes) -> tuple[int, int]:
    """Return where meta and object code begin, having checked the header against the size."""
    if len(data) < _HEADER.size + _TAG_SIZE:
        raise CorruptEntry("it is cut short")
    magic, version, header, key, meta, code = _HEADER.unpack_from(data)
    if (magic, version, header) != (_MAGIC, _FORMAT, _HEADER.size):
        raise CorruptEntry("its header is not that of an entry")
    if header + key + meta + code + _TAG_SIZE != len(data):
        raise CorruptEntry("its lengths do not add up to its size")
    return header + key, header + key + meta


def hmac_sha256(secret: bytes, data: bytes | memoryview) -> bytes:
    """Return the HMAC-SHA-256 tag (RFC 2104) of `data`; `secret` has at most 64 bytes."""
    block = secret.ljust(_BLOCK_SIZE, b"\0")
    inner = sha256(block.translate(_INNER_PAD))
    inner.update(data)
    return sha256(block.translate(_OUTER_PAD) + inner.digest()).digest()


def sha256(data: bytes) -> Any:
    """Return the SHA-256 hash object of `data`: OpenSSL's if that is loaded, else Python's own.

    Loading OpenSSL, which `import hmac` does, takes 4.6 ms: more than the rest of a warm start.
    It hashes 20 kB in 16 us instead of 92 us, so it pays after some 60 entries only.
    """
    openssl = sys.modules.get("_hashlib")
    make = _INTERPRETER_SHA256 if openssl is None else openssl.openssl_sha256
    return make(data)


def _find_interpreter_sha256() -> Callable[[bytes], Any]:
    """Return SHA-256 from where CPython keeps it: 3.12 and later, before, or a build without."""
    for module in ("_sha2", "_sha256"):
        try:
            return importlib.import_module(module).sha256
        except ImportError:
            continue
    return importlib.import_module("hashlib").sha256


# Found once and now: an import by one thread while another forks can hang the child.
_INTERPRETER_SHA256 = _find_interpreter_sha256()
