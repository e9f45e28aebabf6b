"""Structs to MessagePack, whatever text is in them."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, msgpack, to_builtins

from hwtop.job.log.text import storable

_encoder = msgpack.Encoder()


def encoded(value: Struct) -> bytes:
    """As MessagePack."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:  # a file name that is not UTF-8
        return _encoder.encode(_storable(to_builtins(value)))


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {_storable(key): _storable(entry) for key, entry in value.items()}
    return [_storable(entry) for entry in value] if isinstance(value, (list, tuple)) else value
