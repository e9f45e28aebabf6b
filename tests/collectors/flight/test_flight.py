from __future__ import annotations

import json
import os
import pickle
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from hwtop.collectors.flight.source import FlightSource
from hwtop.model.plan import FlightTarget, Request, SamplingPlan
from hwtop.model.reported.flight import FlightDump, FlightReading
from tests.flight_dumps import document, op
from tests.stack_jobs import until

PID = os.getpid()


def bytes_of(*entries: dict[str, object]) -> bytes:
    return pickle.dumps(document(*entries, world=2), protocol=2)


def target(*files: Path, rank: int = 0, **fields: object) -> FlightTarget:
    known = {"pid": PID, "files": tuple(str(path) for path in files), "started_s": time.time() - 60}
    return FlightTarget(rank=rank, **(known | fields))  # type: ignore[arg-type]


def wanted(source: FlightSource, *targets: FlightTarget, request: Request | None = None) -> FlightSource:
    source.set_plan(SamplingPlan(flight=targets, request=request))
    return source


def read_until(source: FlightSource, is_enough: Callable[[FlightReading], bool]) -> FlightReading:
    reading = until(source.read, is_enough)
    assert is_enough(reading), reading
    return reading


def only(reading: FlightReading) -> FlightDump:
    assert len(reading.dumps) == 1
    return reading.dumps[0]


def test_a_file_is_read_when_it_appears_and_again_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "fr_0"
    source = wanted(FlightSource(), target(path))
    assert source.read().dumps == ()
    path.write_bytes(bytes_of(op("all_reduce", 1)))
    first = only(read_until(source, lambda each: bool(each.dumps)))
    assert (first.rank, first.origin, first.entries[0].operation) == (0, str(path), "all_reduce")
    assert first.taken_s == pytest.approx(path.stat().st_mtime)
    assert only(source.read()) is first
    path.write_bytes(bytes_of(op("broadcast", 1), op("broadcast", 2)))
    second = read_until(source, lambda each: len(only(each).entries) == 2)
    assert only(second).entries[0].operation == "broadcast"


def test_a_file_of_an_earlier_run_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "fr_0"
    path.write_bytes(bytes_of(op("all_reduce", 1)))
    os.utime(path, (time.time() - 3600, time.time() - 3600))
    assert wanted(FlightSource(), target(path)).read().dumps == ()


def test_after_a_restart_the_dump_of_the_last_run_goes(tmp_path: Path) -> None:
    path = tmp_path / "fr_0"
    path.write_bytes(bytes_of(op("all_reduce", 1)))
    source = wanted(FlightSource(), target(path))
    read_until(source, lambda each: bool(each.dumps))
    assert wanted(source, target(path, started_s=time.time() + 60)).read().dumps == ()


def test_the_file_of_a_dead_rank_is_still_read(tmp_path: Path) -> None:
    path = tmp_path / "fr_0"
    path.write_bytes(bytes_of(op("all_reduce", 1)))
    source = wanted(FlightSource(), target(path, pid=2**22 + 1, is_alive=False))
    read_until(source, lambda each: bool(each.dumps))


def test_a_broken_file_carries_its_reason_until_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "fr_0"
    whole = bytes_of(op("all_reduce", 1))
    path.write_bytes(whole[:50])
    source = wanted(FlightSource(), target(path))
    broken = only(read_until(source, lambda each: bool(each.dumps)))
    assert "ends too early" in (broken.error or "")
    path.write_bytes(whole)
    read_until(source, lambda each: only(each).error is None)


def test_a_pipe_instead_of_a_file_does_not_block(tmp_path: Path) -> None:
    path = tmp_path / "fr_0"
    os.mkfifo(path)
    assert wanted(FlightSource(), target(path)).read().dumps == ()


def test_a_path_that_hangs_does_not_hold_up_the_others(tmp_path: Path) -> None:
    good = tmp_path / "fr_1"
    good.write_bytes(bytes_of(op("all_reduce", 1)))
    source = wanted(FlightSource(proc=str(tmp_path / "proc")), target(Path("/x"), rank=0, pid=7), target(good, rank=1))
    (tmp_path / "proc" / "7").mkdir(parents=True)
    looked: list[str] = []
    real = source._look

    def look(key: object) -> None:
        looked.append(str(key))
        if "/x" in str(key):
            time.sleep(1000)
        real(key)  # type: ignore[arg-type]

    source._look = look  # type: ignore[method-assign]
    reading = read_until(source, lambda each: bool(each.dumps))
    assert only(reading).rank == 1
    assert "not answering" in reading.missing["/x"]


class Server:
    """Answers like torch's worker server."""

    def __init__(self, **answers: bytes) -> None:
        self.answers = answers
        self.asked: list[tuple[str, Mapping[str, str] | None]] = []

    def handlers(self) -> list[str]:
        return ["ping", *self.answers]

    def post(self, handler: str, params: Mapping[str, str] | None = None) -> bytes:
        self.asked.append((handler, params))
        return self.answers[handler]


def of_gloo() -> bytes:
    return json.dumps(document(op("all_reduce", 1), world=2)).encode()


def test_a_server_is_asked_only_when_the_job_looks_stuck_and_not_often() -> None:
    server = Server(fr_trace_json=of_gloo())
    now = [1000.0]
    source = FlightSource(find_server=lambda pid, proc: server, now=lambda: now[0])
    wanted(source, target()).read()
    assert server.asked == []
    wanted(source, target(may_ask=True))
    dump = only(read_until(source, lambda each: bool(each.dumps)))
    assert dump.is_asked and dump.origin == f"debug server of PID {PID}"
    source.read()
    now[0] += 9.0
    source.read()
    assert len(server.asked) == 1
    now[0] += 2.0
    until(source.read, lambda _: len(server.asked) == 2)
    assert len(server.asked) == 2


def test_nccls_own_records_are_asked_for_first() -> None:
    server = Server(fr_trace_json=of_gloo(), dump_nccl_trace_json=of_gloo())
    source = wanted(FlightSource(find_server=lambda pid, proc: server), target(may_ask=True))
    read_until(source, lambda each: bool(each.dumps))
    assert [handler for handler, _ in server.asked] == ["dump_nccl_trace_json"]
    assert server.asked[0][1] == {"includecollectives": "true", "includestacktraces": "false", "onlyactive": "true"}


def test_where_nccl_is_not_used_the_others_records_are_asked_for() -> None:
    empty = b'{"version": "2.10", "pg_config": {}, "pg_status": {}}'
    server = Server(fr_trace_json=of_gloo(), dump_nccl_trace_json=empty)
    source = wanted(FlightSource(find_server=lambda pid, proc: server), target(may_ask=True))
    assert only(read_until(source, lambda each: bool(each.dumps))).entries


def test_a_server_that_refuses_is_a_reason() -> None:
    def refuse(pid: int, proc: str) -> Server | None:
        raise PermissionError(f"pid {pid} belongs to uid 0: only a server of one's own is asked")

    source = wanted(FlightSource(find_server=refuse), target(may_ask=True))
    reading = read_until(source, lambda each: bool(each.missing))
    assert "only a server of one's own" in reading.missing["debug server of rank 0"]


def test_pipes_are_written_to_only_on_request_and_once(tmp_path: Path) -> None:
    pipes = [tmp_path / f"fr{rank}.pipe" for rank in (0, 1)]
    ends = []
    for pipe in pipes:
        os.mkfifo(pipe)
        ends.append(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))
    targets = [target(rank=rank, pipe=str(pipe)) for rank, pipe in enumerate(pipes)]
    source = wanted(FlightSource(), *targets)
    source.read()
    request = Request(number=3, kind="flight-pipe", pid=PID)
    wanted(source, *targets, request=request).read()
    wanted(source, *targets, request=request).read()
    assert [until(lambda end=end: _drain(end), bool) for end in ends] == [b"1", b"1"]  # type: ignore[misc]
    assert [_drain(end) for end in ends] == [b"", b""]
    for end in ends:
        os.close(end)


def _drain(end: int) -> bytes:
    try:
        return os.read(end, 16)
    except BlockingIOError:
        return b""


def test_a_pipe_that_nobody_reads_or_that_is_none(tmp_path: Path) -> None:
    pipe, plain = tmp_path / "fr0.pipe", tmp_path / "fr1.pipe"
    os.mkfifo(pipe)
    plain.write_text("keep")
    targets = [target(rank=0, pipe=str(pipe)), target(rank=1, pipe=str(plain))]
    source = wanted(FlightSource(), *targets, request=Request(number=1, kind="flight-pipe", pid=PID))
    reading = read_until(source, lambda each: len(each.missing) == 2)
    assert "does not listen" in reading.missing[str(pipe)]
    assert "is not a FIFO" in reading.missing[str(plain)] or "Invalid" in reading.missing[str(plain)]
    assert plain.read_text() == "keep"


def test_a_request_without_any_pipe_says_what_to_set() -> None:
    source = wanted(FlightSource(), target(), request=Request(number=1, kind="flight-pipe", pid=PID))
    assert "TORCH_NCCL_DEBUG_INFO_PIPE_FILE" in source.read().missing["pipe"]


def test_other_requests_are_not_for_this_source(tmp_path: Path) -> None:
    source = wanted(FlightSource(), target(), request=Request(number=1, kind="native", pid=PID))
    assert source.read().missing == {}
