"""TensorBoard event files: TFRecords of `Event` messages.

Record (tensorflow/core/lib/io/record_writer.h): uint64 length, uint32 masked CRC-32C of it, data, uint32 masked CRC-32C of data.
Event (event.proto): 1 wall_time, 2 step, 5 summary. Summary (summary.proto): 1 value: 1 tag, 2 simple_value, 8 tensor.
Tensor (tensor.proto): 1 dtype, 4 tensor_content, 5 float_val, 6 double_val, 7 int_val, 10 int64_val; dtypes of types.proto.
"""

from __future__ import annotations

import struct

from hwtop.job.metrics.crc32c import masked_crc32c
from hwtop.job.metrics.names import meaning
from hwtop.job.metrics.parsed import MetricValue
from hwtop.job.metrics.protobuf import fields, signed, varint

_HEAD = struct.Struct("<QI")
_CRC = struct.Struct("<I")
_LONGEST = 1 << 20
"""A longer record holds pictures or embeddings: it is passed over."""
_ABSURD = 1 << 40
_CONTENT = {1: "<f", 2: "<d", 3: "<i", 9: "<q", 19: "<e"}
"""float, double, int32, int64, half. bfloat16 (14) is the upper half of a float."""
_BFLOAT16 = 14


class EventFile:
    """One events.out.tfevents file."""

    is_whole = False
    total_steps: int | None = None

    def __init__(self) -> None:
        self.broken = 0
        self._rest = b""
        self._skip = 0
        self._is_lost = False

    def feed(self, data: bytes) -> list[MetricValue]:
        """The scalars in the records that are complete by now."""
        self._rest += data
        found: list[MetricValue] = []
        at = 0
        while len(self._rest) - at >= _HEAD.size:
            length, crc = _HEAD.unpack_from(self._rest, at)
            if length >= _ABSURD or masked_crc32c(self._rest[at : at + 8]) != crc:
                self._lose()
                at += 1
                continue
            self._is_lost = False
            end = at + _HEAD.size + length + _CRC.size
            if length > _LONGEST:
                self._skip = max(0, end - len(self._rest))
                at = min(end, len(self._rest))
                break
            if end > len(self._rest):
                break
            found += self._event(self._rest[at + _HEAD.size : end - _CRC.size], self._rest[end - _CRC.size : end])
            at = end
        self._rest = self._rest[at:]
        return found

    def jump(self, offset: int) -> int:
        """Look for the next record from there on."""
        self._rest, self._is_lost = b"", True
        return offset

    def take_skip(self) -> int:
        """The rest of a long record."""
        skip, self._skip = self._skip, 0
        return skip

    def _lose(self) -> None:
        """This is no head of a record: the file is broken here, and read on from the next that is whole."""
        if not self._is_lost:
            self._is_lost = True
            self.broken += 1

    def _event(self, data: bytes, crc: bytes) -> list[MetricValue]:
        try:
            found = _scalars(data)
        except ValueError:
            found = None
        # the check takes 0.1 ms a kilobyte: only what is used is worth it
        if found is None or (found and masked_crc32c(data) != _CRC.unpack(crc)[0]):
            self.broken += 1
            return []
        return found


def _scalars(data: bytes) -> list[MetricValue]:
    time_s, step, values = None, 0, []
    for number, value in fields(data):
        if number == 1 and isinstance(value, float):
            time_s = value
        elif number == 2 and isinstance(value, int):
            step = signed(value)
        elif number == 5 and isinstance(value, bytes):
            values += [each for inner, each in fields(value) if inner == 1 and isinstance(each, bytes)]
    found = []
    for each in values:
        tag, scalar = _value(each)
        meant = meaning(tag)
        if meant is None or scalar is None or meant.name in ("step", "iteration"):
            continue
        if tag.startswith("epoch_"):  # Keras counts the epochs of these
            found.append(
                MetricValue(tag=tag, meaning=meant, value=scalar * meant.factor, epoch=float(step), reported_s=time_s)
            )
            continue
        epoch = scalar if meant.name == "epoch" else None
        found.append(
            MetricValue(tag=tag, meaning=meant, value=scalar * meant.factor, step=step, epoch=epoch, reported_s=time_s)
        )
    return found


def _value(data: bytes) -> tuple[str, float | None]:
    tag, scalar = "", None
    for number, value in fields(data):
        if number == 1 and isinstance(value, bytes):
            tag = value.decode("utf-8", "replace")
        elif number == 2 and isinstance(value, float):
            scalar = value
        elif number == 8 and isinstance(value, bytes) and meaning(tag) is not None:
            scalar = _tensor(value)
    return tag, scalar


def _tensor(data: bytes) -> float | None:
    """The only element; None where there are several, or where they are no numbers."""
    dtype, content, single = 0, b"", None
    for number, value in fields(data):
        if number == 1 and isinstance(value, int):
            dtype = value
        elif number == 4 and isinstance(value, bytes):
            content = value
        elif number in (5, 6, 7, 10):
            single = _element(number, value)
    if content and dtype == _BFLOAT16 and len(content) == 2:
        return float(struct.unpack("<f", b"\0\0" + content)[0])
    form = _CONTENT.get(dtype)
    if content and form is not None and struct.calcsize(form) == len(content):
        return float(struct.unpack(form, content)[0])
    return None if content else single


def _element(number: int, value: float | bytes) -> float | None:
    """Of a repeated field, packed or not."""
    if not isinstance(value, bytes):
        return float(value)
    if number in (5, 6):
        form = "<f" if number == 5 else "<d"
        return float(struct.unpack(form, value)[0]) if len(value) == struct.calcsize(form) else None
    plain, end = varint(value, 0)
    return float(signed(plain)) if end == len(value) else None
