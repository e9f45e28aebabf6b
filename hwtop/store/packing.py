"""Rows: MessagePack, compressed with zstd, and back."""

from __future__ import annotations

from typing import Any

import zstandard
from msgspec import MsgspecError, msgpack

from hwtop.store.kind import FLEET, MACHINE, Kind, R

_LEVEL = 3
"""Of zstd: a Snapshot takes 0.2 ms in all (`bench/recording.py`)."""

_DECODERS: dict[int, msgpack.Decoder[Any]] = {kind.version: msgpack.Decoder(kind.reading) for kind in (MACHINE, FLEET)}


class UnreadableError(Exception):
    """Bytes that are not a reading; the message says why."""


def compressor(key: bytes | None = None) -> zstandard.ZstdCompressor:
    """Of a key frame, or of the rows after the one with this MessagePack."""
    if key is None:
        return zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
    dictionary = _dictionary(key)
    dictionary.precompute_compress(level=_LEVEL)
    return zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True, dict_data=dictionary)


def decompressor(key: bytes | None = None) -> zstandard.ZstdDecompressor:
    """What `compressor` of the same key frame has compressed."""
    return zstandard.ZstdDecompressor(dict_data=_dictionary(key) if key is not None else None)


def decompressed(decompressor: zstandard.ZstdDecompressor, data: bytes, most_bytes: int = MACHINE.most_bytes) -> bytes:
    """The MessagePack of a row, of at most so many bytes.

    Raises:
        UnreadableError: it is not zstd, claims to be larger, or was compressed with another key frame.
    """
    try:
        if not 0 <= zstandard.frame_content_size(data) <= most_bytes:
            raise UnreadableError("larger than a reading may be")
        return decompressor.decompress(data)
    except zstandard.ZstdError as error:
        raise UnreadableError(str(error)) from None


def decoded(content: bytes, kind: Kind[R]) -> R:
    """The reading of this MessagePack.

    Raises:
        UnreadableError: it is not one.
    """
    try:
        found: R = _DECODERS[kind.version].decode(content)
        return found
    except (MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise UnreadableError(str(error)) from None


def _dictionary(key: bytes) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(key, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
