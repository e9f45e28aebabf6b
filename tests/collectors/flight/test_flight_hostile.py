"""Dumps that other users left in places where anybody may write, and dumps made to hold up whoever reads them."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hwtop.collectors.flight.decoder import Undecoded, decoded
from hwtop.collectors.flight.file import decode
from hwtop.collectors.flight.source import FlightSource
from hwtop.model.plan import FlightTarget, SamplingPlan
from hwtop.model.reported.flight import FlightReading
from tests.collectors.file_owners import OWNER, STRANGER, FileOwners
from tests.flight_dumps import document, op
from tests.stack_jobs import until

GOOD = pickle.dumps(document(op("all_reduce", 1), world=2), protocol=2)


def shared_tuples(depth: int) -> bytes:
    """A tuple of a tuple twice, of a tuple twice ...: a few bytes a level, and 2 to the power of `depth` leaves."""
    levels = b"".join(b"h%ch%c\x86q%c" % (level, level, level + 1) for level in range(depth))
    return b")q\x00" + levels


KEY = b"\x80\x02}(" + shared_tuples(31) + b"Nu."
"""As the key of a dict: its hash takes 2^31 steps in C, with the interpreter's lock held."""
VALUE = b"\x80\x02}(X\x07\x00\x00\x00entries" + shared_tuples(31) + b"u."


@pytest.mark.parametrize(
    "data",
    [
        KEY,
        b"\x80\x02}" + shared_tuples(31) + b"Ns.",
        b"\x80\x02(" + shared_tuples(31) + b"Nd.",
        VALUE,
        b"\x80\x04\x8f(" + shared_tuples(31) + b"\x90.",
        b"\x80\x04(" + shared_tuples(31) + b"\x91.",
        b"\x80\x05\x96\xff\xff\xff\xff\x7f\x00\x00\x00.",
        b"\x80\x02]q\x00h\x00a.",
        b"\x80\x02" + b"(" * 5 + b"N" + b"l" * 5 + b"\x85" * 40 + b".",
        b"\x80\x02\x8b\x00\x00\x10\x00" + b"\x7f" * (1 << 20) + b".",
        b'{"entries": ' + b"[" * 900 + b"]" * 900 + b"}",
    ],
    ids=["key", "one key", "dict", "value", "set", "frozenset", "claimed", "itself", "deep", "number", "deep json"],
)
def test_a_dump_that_would_hold_up_its_reader_is_refused_at_once(data: bytes) -> None:
    """Tried in a child: what goes wrong here cannot be interrupted."""
    code = "import sys; from hwtop.collectors.flight.file import decode; decode(sys.stdin.buffer.read())"
    tried = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, timeout=100, check=False)
    assert b"ValueError" in tried.stderr.splitlines()[-1], tried.stderr


def test_values_that_are_shared_are_no_reason() -> None:
    frames = [{"name": "step", "filename": "/home/me/train.py", "line": 3}] * 8
    entries = [op("all_reduce", number) | {"frames": frames} for number in range(100)]
    assert decode(pickle.dumps(document(*entries, world=2), protocol=2)) == document(*entries, world=2)


def test_a_decoder_that_takes_too_long_is_ended_and_the_next_dump_is_read() -> None:
    endless = b"\x80\x02" + b"N0" * 50_000_000 + b"N."
    waiting = [Undecoded(data, rank, f"/x/{rank}", 0.0, 0.0, False) for rank, data in enumerate((endless, GOOD))]
    slow, good = decoded(waiting, deadline_s=8.0)
    assert (slow.rank, slow.error) == (0, "not decoded within 8 s, or the decoder failed")
    assert (good.rank, good.error, good.entries[0].operation) == (1, None, "all_reduce")


def read(path: Path, uid: int | None, is_enough: str) -> FlightReading:
    source = FlightSource()
    target = FlightTarget(rank=0, pid=os.getpid(), uid=uid, files=(str(path),), started_s=time.time() - 60)
    source.set_plan(SamplingPlan(flight=(target,)))
    return until(source.read, lambda each: bool(getattr(each, is_enough)))


def test_a_dump_of_another_user_is_no_evidence(tmp_path: Path, owners: FileOwners) -> None:
    path = tmp_path / "nccl_trace_rank_0"
    path.write_bytes(GOOD)
    owners.give(path, STRANGER)
    reading = read(path, OWNER, "missing")
    assert (reading.dumps, "belongs to another user" in reading.missing[str(path)]) == ((), True)
    owners.give(path, OWNER)
    assert read(path, OWNER, "dumps").dumps[0].error is None


def test_a_link_to_what_only_root_may_read_is_not_followed(tmp_path: Path, owners: FileOwners) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(GOOD)
    secret.chmod(0o600)
    (tmp_path / "fr_0").symlink_to(secret)
    assert read(tmp_path / "fr_0", OWNER, "missing").dumps == ()


def test_a_fifo_in_the_place_of_a_dump_holds_up_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fr_0")
    source = FlightSource()
    target = FlightTarget(rank=0, pid=os.getpid(), files=(str(tmp_path / "fr_0"),))
    source.set_plan(SamplingPlan(flight=(target,)))
    reading = source.read()
    assert (reading.dumps, reading.missing) == ((), {})
