"""The transaction log of a real W&B offline run, whole, in pieces and broken."""

from __future__ import annotations

import math
import random
import struct
import zlib
from collections.abc import Iterable

import pytest

from hwtop.job.metrics.wandb_log import WandbLog
from tests.metrics_files import DATA

RUN = (DATA / "wandb" / "run-abc12345.wandb").read_bytes()


def test_history_with_its_own_step() -> None:
    parser = WandbLog()
    losses = [each for each in parser.feed(RUN) if each.meaning.name == "loss"]
    assert [each.step for each in losses] == [10 * row for row in range(20)]
    assert losses[1].value == pytest.approx(4 / 1.1)
    assert losses[1].reported_s is not None
    assert losses[1].reported_s > 1.7e9
    assert math.isnan(losses[-1].value)
    assert parser.broken == 0
    assert parser.total_steps == 100  # max_steps of the run's configuration


@pytest.mark.parametrize("size", [1, 13, 4096])
def test_pieces_tell_the_same(size: int) -> None:
    parser = WandbLog()
    reported = [each for at in range(0, len(RUN), size) for each in parser.feed(RUN[at : at + size])]
    assert repr(reported) == repr(WandbLog().feed(RUN))


def test_a_broken_record_costs_only_itself() -> None:
    lost = []
    at = RUN.find(b"train/loss")
    while at > 0:
        parser = WandbLog()
        reported = parser.feed(RUN[:at] + b"T" + RUN[at + 1 :])
        steps = {each.step for each in reported if each.meaning.name == "loss"}
        lost += sorted({10 * row for row in range(20)} - {step for step in steps if step is not None})
        assert parser.broken == 1
        at = RUN.find(b"train/loss", at + 1)
    assert lost == [10 * row for row in range(20)]  # the summaries between them hold the name as well


BLOCK, HEAD = 32_768, struct.Struct("<IHB")
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4


def records() -> list[bytes]:
    """Those of the run, in which each lies in one piece."""
    found, at = [], 7
    while at + HEAD.size <= len(RUN):
        _, length, kind = HEAD.unpack_from(RUN, at)
        assert kind == FULL
        found.append(RUN[at + HEAD.size : at + HEAD.size + length])
        at += HEAD.size + length
    return found


def log_of(given: Iterable[bytes]) -> bytes:
    """In blocks of 32 KiB, as LevelDB's log format has it: a record that does not fit is cut; less than a head is zeros."""
    log = RUN[:7]
    for record in given:
        kind = FIRST
        while True:
            room = BLOCK - len(log) % BLOCK
            if room < HEAD.size:
                log += bytes(room)
                continue
            part, record = record[: room - HEAD.size], record[room - HEAD.size :]
            last = (FULL if kind == FIRST else LAST) if not record else kind
            log += HEAD.pack(zlib.crc32(bytes([last]) + part), len(part), last) + part
            if not record:
                break
            kind = MIDDLE
    return log


def table(size: int) -> bytes:
    """A record that is no history, nor a configuration: field 3, of so many bytes."""
    return (
        b"\x1a"
        + bytes([size & 0x7F | 0x80, size >> 7 & 0x7F | 0x80, size >> 14 & 0x7F | 0x80, size >> 21])
        + bytes(size)
    )


def losses(parser: WandbLog, data: bytes) -> list[int | None]:
    return [each.step for each in parser.feed(data) if each.meaning.name == "loss"]


@pytest.mark.parametrize("size", [100, 25_000, 32_700, 70_000, 3 << 20, 5 << 20])
@pytest.mark.parametrize("piece", [1000, 100_000_000])
def test_history_after_a_record_of_any_size(size: int, piece: int) -> None:
    """Short, cut into two and into many parts, and longer than what is kept."""
    log, parser = log_of([table(size), *records(), table(size), *records()]), WandbLog()
    found = [step for at in range(0, len(log), piece) for step in losses(parser, log[at : at + piece])]
    assert found == [10 * row for row in range(20)] * 2
    assert parser.broken == 0


def test_a_broken_block_costs_the_records_in_it() -> None:
    log = log_of([table(BLOCK - 7 - 7 - 5 - 7), table(BLOCK), *records()])
    for broken in (log[:BLOCK] + b"\0" * 7 + log[BLOCK + 7 :], log[:BLOCK] + b"\xff" * 7 + log[BLOCK + 7 :]):
        parser = WandbLog()
        assert losses(parser, broken) == [10 * row for row in range(20)]
        assert parser.broken == 1


def test_reading_that_begins_in_the_middle_takes_the_next_whole_record() -> None:
    log, parser = log_of([table(70_000), *records()]), WandbLog()
    at = parser.jump(40_000)
    assert at == BLOCK
    assert losses(parser, log[at:]) == [10 * row for row in range(20)]
    assert parser.broken == 0


def test_another_file_is_refused() -> None:
    parser = WandbLog()
    assert parser.feed(b"SQLite format 3\0" + bytes(100)) == []
    assert parser.broken == 1


def test_nothing_raises_whatever_is_broken() -> None:
    chance = random.Random(7)
    for _ in range(200):
        data = bytearray(RUN)
        for _ in range(chance.randrange(1, 30)):
            data[chance.randrange(7, len(data))] = chance.randrange(256)
        WandbLog().feed(bytes(data[: chance.randrange(len(data))]))
