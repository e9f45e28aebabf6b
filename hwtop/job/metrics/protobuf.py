"""Protocol buffers, as far as metrics files need them: the fields of a message (protobuf.dev, "Encoding")."""

from __future__ import annotations

import struct
from collections.abc import Iterator

_FIXED64, _FIXED32 = struct.Struct("<d"), struct.Struct("<f")
_MOST_FIELDS = 100_000


def fields(data: bytes) -> Iterator[tuple[int, int | float | bytes]]:
    """(number, value) of each field: varints as int (unsigned), fixed ones as float, the rest as bytes.

    Raises:
        ValueError: not a message, or one that is cut short.
    """
    at, end = 0, len(data)
    for _ in range(_MOST_FIELDS):
        if at >= end:
            return
        key, at = varint(data, at)
        kind = key & 7
        value: int | float | bytes
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            if at + size > end:
                raise ValueError("message is cut short")
            value = data[at : at + size]
            at += size
        elif kind in (1, 5):
            form = _FIXED64 if kind == 1 else _FIXED32
            if at + form.size > end:
                raise ValueError("message is cut short")
            (value,) = form.unpack_from(data, at)
            at += form.size
        else:
            raise ValueError(f"wire type {kind} is unknown")
        yield key >> 3, value


def varint(data: bytes, at: int) -> tuple[int, int]:
    """(number, where the next thing begins). Raises ValueError when it is cut or too long."""
    number = shift = 0
    for index in range(at, min(at + 10, len(data))):
        byte = data[index]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, index + 1
        shift += 7
    raise ValueError("message is cut short")


def signed(number: int) -> int:
    """An int64 field: negative numbers are written as 2^64 - n."""
    return number - (1 << 64) if number >= 1 << 63 else number
