from __future__ import annotations

import random
from collections.abc import Iterator

import msgspec
import pytest
import zstandard

from hwtop.fleet import wire
from hwtop.fleet.wire import Goodbye, Hello, Packer, Pong, ProtocolError, Report, Unpacker, control_line, control_of
from tests.fleet.nodes import healthy

HELLO = Hello(protocol=wire.PROTOCOL, version="1", host="h", time_s=1.0)


def framed(kind: bytes, data: bytes) -> bytes:
    return (1 + len(data)).to_bytes(4, "big") + kind + data


def taken(data: bytes, piece: int = 1 << 20) -> list[wire.Message]:
    unpacker = Unpacker()
    return [message for start in range(0, len(data), piece) for message in unpacker.take(data[start : start + piece])]


def sent() -> Iterator[wire.Message]:
    yield HELLO
    for number in range(150):  # several key frames
        yield Report(report=msgspec.structs.replace(healthy()[0], number=number))
    yield Pong(sent_at_s=1.5, time_s=2.5)
    yield Goodbye(reason="the job has ended")


@pytest.mark.parametrize("piece", [1, 7, 4096, 1 << 20])
def test_messages_arrive_as_they_were_sent_however_the_bytes_are_cut(piece: int) -> None:
    messages = list(sent())[: 20 if piece < 100 else None]
    packer = Packer()
    data = b"Last login: today\n\x1b[0mWelcome\n" + b"".join(map(packer.packed, messages))
    assert taken(data, piece) == messages


def test_a_report_that_repeats_takes_few_bytes() -> None:
    packer, report = Packer(), Report(report=healthy()[0])
    first, second = packer.packed(report), packer.packed(report)
    assert len(second) < 200 < len(first) < 8000


def test_a_login_shell_that_prints_without_end_is_refused() -> None:
    with pytest.raises(ProtocolError, match="login shell"):
        taken(b"y\n" * wire.MOST_NOISE_BYTES)


@pytest.mark.parametrize(
    "data",
    [
        (1 << 31).to_bytes(4, "big"),
        framed(b"D", zstandard.compress(b"x")),
        framed(b"?", b"x"),
        framed(b"K", b"no zstd"),
        framed(b"K", zstandard.compress(b"\xc1")),
        framed(b"K", zstandard.compress(b"\x91" * 100_000)),
        framed(b"K", zstandard.compress(bytes(64 << 20))),
        framed(b"K", zstandard.compress(msgspec.msgpack.encode({"type": "report", "report": {"host": 3}}))),
        framed(b"K", zstandard.compress(msgspec.msgpack.encode({"type": "unheard of"}))),
    ],
    ids=["too long", "no key frame", "kind", "no zstd", "no msgpack", "nested", "64 MiB", "types", "unknown"],
)
def test_garbage_is_a_reason_and_nothing_else(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        taken(wire.MAGIC + data)


def test_random_damage_never_does_more_than_end_the_node() -> None:
    packer, chance = Packer(), random.Random(7)
    good = b"".join(packer.packed(message) for message in list(sent())[:6])
    for _ in range(300):
        bad = bytearray(good)
        for _ in range(chance.randint(1, 8)):
            bad[chance.randrange(len(bad))] = chance.randrange(256)
        try:
            taken(bytes(bad), 999)
        except ProtocolError as error:
            assert str(error)


def test_fields_that_only_a_newer_agent_knows_are_ignored() -> None:
    newer = msgspec.to_builtins(HELLO) | {"colour": "blue", "nested": {"a": [1]}}
    assert taken(wire.MAGIC + framed(b"K", zstandard.compress(msgspec.msgpack.encode(newer)))) == [HELLO]


def test_an_agent_ignores_what_it_does_not_know() -> None:
    assert control_of(control_line(wire.Focus(node="a"))) == wire.Focus(node="a")
    assert control_of(b'{"type": "focus", "node": null, "newer": 1}\n') == wire.Focus(node=None)
    for line in (b"", b"\xff\n", b'{"type": "run", "command": "id"}\n', b"[" * 4000, b'{"type": "rate"}'):
        assert control_of(line) is None
