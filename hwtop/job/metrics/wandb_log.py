"""Weights & Biases: the transaction log run-ID.wandb, which an offline and an online run both write.

A LevelDB log (leveldb doc/log_format.md) with a head of 7 bytes (":W&B", 0xBEE1, version 0) and zlib's CRC-32 (wandb
sdk/internal/datastore.py), in it `Record` messages (wandb_internal.proto): 2 history: 1 item: 1 key, 2 nested_key,
16 value_json; 2 step: 1 num. 5 config, and 17 run: 4 config: 1 update, with the fields of an item. wandb writes the file in
blocks of 32 KiB, so rows come late and many at once.
"""

from __future__ import annotations

import json
import struct
import zlib

from hwtop.job.metrics.parsed import MetricValue
from hwtop.job.metrics.protobuf import fields, signed
from hwtop.job.metrics.rows import numbers, reported

_BLOCK = 32_768
_HEAD = struct.Struct("<IHB")
_FILE_HEAD = struct.pack("<4sHB", b":W&B", 0xBEE1, 0)
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_CRC_OF = {kind: zlib.crc32(bytes([kind])) for kind in (_FULL, _FIRST, _MIDDLE, _LAST)}
_TOTALS = (
    "max_steps",
    "total_steps",
    "num_train_steps",
    "num_training_steps",
    "max_train_steps",
    "train_iters",
    "max_iters",
)
"""transformers, accelerate's examples, Megatron-LM, nanoGPT: what people hand over as their configuration."""
_LONGEST = 4 << 20
"""A longer record is a table or code: it is passed over."""


class WandbLog:
    """One run-ID.wandb file."""

    is_whole = False

    def __init__(self) -> None:
        self.broken = 0
        self.total_steps: int | None = None
        self._rest = b""
        self._at = 0
        """Where `_rest` begins in the file."""
        self._record: bytes | None = None
        """Begun in an earlier part; None outside of one."""
        self._is_other = False

    def feed(self, data: bytes) -> list[MetricValue]:
        """The history in the records that are complete by now."""
        self._rest += data
        found: list[MetricValue] = []
        if self._at == 0 and not self._begin():
            return found
        at = 0
        while True:
            left = _BLOCK - (self._at + at) % _BLOCK
            if left < _HEAD.size:
                if len(self._rest) - at < left:
                    break
                at += left
                continue
            if len(self._rest) - at < _HEAD.size:
                break
            crc, length, kind = _HEAD.unpack_from(self._rest, at)
            if length + _HEAD.size > left or kind not in _CRC_OF:
                if len(self._rest) - at < left:
                    break  # of a block that is not complete the head may still be written
                self._lose()
                at += left
                continue
            end = at + _HEAD.size + length
            if end > len(self._rest):
                break
            found += self._part(kind, self._rest[at + _HEAD.size : end], crc)
            at = end
        self._rest, self._at = self._rest[at:], self._at + at
        return found

    def jump(self, offset: int) -> int:
        """The block that it is in."""
        self._at = max(_BLOCK, offset - offset % _BLOCK)
        self._rest, self._record = b"", None
        return self._at

    def take_skip(self) -> int:
        """All is read: parts of a long record are short."""
        return 0

    def _begin(self) -> bool:
        if len(self._rest) < len(_FILE_HEAD):
            return False
        if self._rest[:6] != _FILE_HEAD[:6]:
            self._is_other = True
        if self._is_other:
            self.broken = 1
            self._rest = b""
            return False
        self._rest, self._at = self._rest[len(_FILE_HEAD) :], len(_FILE_HEAD)
        return True

    def _lose(self) -> None:
        self.broken += 1
        self._record = None

    def _part(self, kind: int, data: bytes, crc: int) -> list[MetricValue]:
        if zlib.crc32(data, _CRC_OF[kind]) != crc:
            self._lose()
            return []
        if kind in (_FULL, _FIRST):
            self._record = b""
        if self._record is None:
            return []  # reading began in the middle of it, or its first part is broken
        self._record = self._record + data if len(self._record) <= _LONGEST else self._record
        if kind in (_FIRST, _MIDDLE):
            return []
        record, self._record = self._record, None
        try:
            return self._reported(record) if len(record) <= _LONGEST else []
        except ValueError:
            self.broken += 1
            return []

    def _reported(self, record: bytes) -> list[MetricValue]:
        found: list[MetricValue] = []
        for number, value in fields(record):
            if not isinstance(value, bytes):
                continue
            if number == 2:
                found += reported(numbers(_history(value)))
            elif number == 5:
                self._see_config(value)
            elif number == 17:
                for inner, each in fields(value):
                    if inner == 4 and isinstance(each, bytes):
                        self._see_config(each)
        return found

    def _see_config(self, data: bytes) -> None:
        for number, value in fields(data):
            name, text = _item(value) if number == 1 and isinstance(value, bytes) else ("", b"")
            total = _number(text) if name in _TOTALS else None
            if isinstance(total, int) and total > 0:
                self.total_steps = total


def _history(data: bytes) -> dict[object, object]:
    row: dict[object, object] = {}
    for number, value in fields(data):
        if number == 1 and isinstance(value, bytes):
            name, text = _item(value)
            row[name] = _number(text)
        elif number == 2 and isinstance(value, bytes):
            step = next((each for field, each in fields(value) if field == 1 and isinstance(each, int)), 0)
            row.setdefault("_step", signed(step))
    return row


def _item(data: bytes) -> tuple[str, bytes]:
    names, text = [], b""
    for number, value in fields(data):
        if number in (1, 2) and isinstance(value, bytes):
            names.append(value.decode("utf-8", "replace"))
        elif number == 16 and isinstance(value, bytes):
            text = value
    return "/".join(name for name in names if name), text


def _number(text: bytes) -> object:
    """Numbers, and NaN as the text that it is written as; anything longer is a table or a histogram."""
    try:
        return json.loads(text) if 0 < len(text) <= 64 else None
    except (ValueError, RecursionError):
        return None
