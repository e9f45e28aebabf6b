"""Decoder: Flight Recorder dumps through a child process with a deadline for each (`child.py`)."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from hwtop.collectors.flight import child
from hwtop.model.reported.flight import FlightDump

DEADLINE_S = 20.0
"""For one dump, the start of the child included: the largest takes a few seconds on a busy machine. Engineering default."""
_MOST_ANSWER_BYTES = 64 << 20
_ROOT = str(Path(__file__).parents[3])


class Undecoded(NamedTuple):
    """Bytes of a dump, and what is known of it."""

    data: bytes
    rank: int
    origin: str
    at_s: float
    taken_s: float
    is_asked: bool


def decoded(dumps: Sequence[Undecoded], deadline_s: float = DEADLINE_S) -> Iterator[FlightDump]:
    """Each of them, trimmed; one that takes longer than `deadline_s` carries the reason. Blocks: call it in a thread."""
    process: subprocess.Popen[bytes] | None = None
    try:
        for dump in dumps:
            process = process or _started()
            answer = _asked(process, dump, deadline_s)
            if answer is None:
                _end(process)
                process = None
                answer = _failed(dump, f"not decoded within {deadline_s:g} s, or the decoder failed")
            yield answer
    finally:
        if process is not None:
            _end(process)


def _started() -> subprocess.Popen[bytes]:
    # isolated: neither the folder that hwtop was started in nor PYTHON* variables choose what is imported
    command = [sys.executable, "-I", child.__file__, _ROOT]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )


def _asked(process: subprocess.Popen[bytes], dump: Undecoded, deadline_s: float) -> FlightDump | None:
    """None where the child has died, or was ended because it took too long."""
    assert process.stdin is not None and process.stdout is not None
    timer = threading.Timer(deadline_s, process.kill)
    timer.daemon = True
    timer.start()
    try:
        message = msgspec.msgpack.encode(tuple(dump))
        process.stdin.write(child.LENGTH.pack(len(message)) + message)
        process.stdin.flush()
        head = process.stdout.read(child.LENGTH.size)
        size = child.LENGTH.unpack(head)[0] if len(head) == child.LENGTH.size else _MOST_ANSWER_BYTES + 1
        if size > _MOST_ANSWER_BYTES:
            return None
        return msgspec.msgpack.decode(process.stdout.read(size), type=FlightDump)
    except (OSError, msgspec.DecodeError):
        return None
    finally:
        timer.cancel()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def _failed(dump: Undecoded, error: str) -> FlightDump:
    return FlightDump(
        rank=dump.rank,
        origin=os.fspath(dump.origin),
        at_s=dump.at_s,
        taken_s=dump.taken_s,
        is_asked=dump.is_asked,
        error=error,
    )
