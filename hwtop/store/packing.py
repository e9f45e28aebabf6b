"""Rows: MessagePack, compressed with zstd, and back."""

from __future__ import annotations

import zstandard
from msgspec import MsgspecError, msgpack

from hwtop.model.snapshot import Snapshot
from hwtop.store.schema import MOST_BYTES

_LEVEL = 3
"""Of zstd: a Snapshot takes 0.2 ms in all (`bench/recording.py`)."""

_decoder = msgpack.Decoder(Snapshot)


class UnreadableError(Exception):
    """Bytes that are not a Snapshot; the message says why."""


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


def decompressed(decompressor: zstandard.ZstdDecompressor, data: bytes) -> bytes:
    """The MessagePack of a row, of at most `MOST_BYTES`.

    Raises:
        UnreadableError: it is not zstd, claims to be larger, or was compressed with another key frame.
    """
    try:
        if not 0 <= zstandard.frame_content_size(data) <= MOST_BYTES:
            raise UnreadableError("larger than a snapshot may be")
        return decompressor.decompress(data)
    except zstandard.ZstdError as error:
        raise UnreadableError(str(error)) from None


def decoded(content: bytes) -> Snapshot:
    """The Snapshot of this MessagePack.

    Raises:
        UnreadableError: it is not one.
    """
    try:
        return _decoder.decode(content)
    except (MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise UnreadableError(str(error)) from None


def _dictionary(key: bytes) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(key, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
