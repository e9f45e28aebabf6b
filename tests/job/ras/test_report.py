"""Reports in the forms of all versions (the texts are those of NCCL's user guide and source), and whatever else a port may send."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest

from hwtop.job.ras.error import RasError
from hwtop.job.ras.report import MOST_BYTES, parse
from hwtop.model.reported.ras import RasCommunicator, RasCount, RasProcess, RasReport
from tests.fuzz.mutation import mutated

DATA = Path(__file__).parents[2] / "data" / "ras"
REPORTS = sorted(path.name for path in DATA.iterdir())
HEALTHY = (DATA / "healthy-2.26.txt").read_bytes()


def report(name: str) -> RasReport:
    return parse((DATA / name).read_bytes())


def with_block(block: str) -> RasCommunicator:
    (communicator,) = parse(HEALTHY + block.encode()).communicators
    return communicator


def test_json_has_every_rank() -> None:
    found = report("missing-2.29.json")
    (communicator,) = found.communicators
    first, second = communicator.ranks
    assert (found.nccl_version, communicator.size) == ("2.29.1", 2)
    assert first.process == RasProcess(host="172.16.64.245", pid=1524344)
    assert (first.state, first.gpu, first.launched["AllReduce"]) == ("running", 0, 7)
    assert (second.rank, second.state, second.launched) == (1, "missing", {})
    assert found.missing == (RasProcess(host="172.16.64.245", pid=1524345),)
    assert RasCount(operation="AllReduce", launched=7, ranks=1) in communicator.counts


def test_the_comma_that_2_28_leaves_out_is_added() -> None:
    assert report("missing-2.28.json").communicators == report("missing-2.29.json").communicators


@pytest.mark.parametrize(
    ("status", "state", "error"),
    [
        ({}, "running", None),
        ({"async_error": 7}, "running", None),
        ({"init_state": 7}, "starting", None),
        ({"finalize_called": True}, "finalizing", None),
        ({"abort_flag": True, "async_error": 6}, "aborted", None),
        ({"async_error": 6}, "error", "remote process exited or network error"),
        ({"init_state": 42}, "error", "ncclResult_t 42"),
    ],
)
def test_state_of_a_rank(status: dict[str, object], state: str, error: str | None) -> None:
    rank = {"rank": 0, "host": "unknown", "pid": -1, "status": status}
    data = msgspec.json.encode({"communicators": [{"hash": "0x1", "ranks": [rank]}]})
    (found,) = parse(data).communicators[0].ranks
    assert (found.state, found.error, found.process) == (state, error, None)


@pytest.mark.parametrize(
    ("name", "operation"), [("mismatch-2.26.txt", "AllReduce"), ("mismatch-2.24.txt", "collective")]
)
def test_text_counts_all_and_names_the_outliers(name: str, operation: str) -> None:
    (communicator,) = report(name).communicators
    assert [(count.operation, count.launched, count.ranks) for count in communicator.counts] == [
        (operation, 6650, 26),
        (operation, 6649, 6),
    ]
    assert [rank.rank for rank in communicator.ranks] == [0, 2, 3, 4, 5, 7]
    last = communicator.ranks[-1]
    assert (last.launched, last.state, last.gpu) == ({operation: 6649}, "running", 7)
    assert last.process == RasProcess(host="172.16.64.210", pid=483079)


def test_text_names_missing_ranks() -> None:
    found = report("incomplete-2.28.txt")
    (communicator,) = found.communicators
    (rank,) = communicator.ranks
    process = RasProcess(host="172.16.64.213", pid=3487984)
    assert (communicator.name, communicator.size, found.timeouts) == ("cf264af53edbe986", 32, 2)
    assert (rank.rank, rank.state, rank.gpu, rank.process) == (21, "missing", 5, process)
    assert found.missing == (process,)
    (earliest,) = report("incomplete-2.24.txt").communicators[0].ranks
    assert (earliest.rank, earliest.state, earliest.process) == (21, "missing", None)


def test_text_of_a_healthy_job_names_nobody() -> None:
    found = report("healthy-2.26.txt")
    assert (found.communicator_count, found.communicators) == (1, ())
    assert (
        parse(b"NCCL version 2.26.2 compiled with CUDA 12.8\nNo communicator data collected!\n").communicator_count == 0
    )


def test_text_of_one_rank_stands_in_its_own_line() -> None:
    place = "GPU 1 managed by process 12 on node n1"
    block = "\n#0-0 (ab) MISMATCH\n  Communicator ranks have different Broadcast operation counts\n"
    one = with_block(
        block + f"  31 ranks have launched up to operation 9\n  Rank 4 has not launched any operations -- {place}\n"
    )
    assert [(count.launched, count.ranks) for count in one.counts] == [(9, 31), (0, 1)]
    assert one.ranks[0].launched == {"Broadcast": 0}
    lost = with_block(
        block + "  Rank 4 has launched up to operation 8 -- [process information not found]\n"
        "  Communicator ranks have different AllReduce operation counts\n  Rank 4 has launched up to operation 5\n"
    )
    assert (lost.ranks[0].process, lost.ranks[0].launched) == (None, {"Broadcast": 8, "AllReduce": 5})


def test_text_has_states_errors_and_the_dead() -> None:
    block = (
        "\nDEAD\n  1 job process is considered dead (unreachable via the RAS network)\n"
        "  Process 12 on node n1 managing GPU 1\n"
        "\n#0-0 (ab) ERROR\n  Asynchronous error(s) on 1 rank(s)\n"
        "  Rank 3 reported remote process exited -- GPU 0 managed by process 11 on node n1\n"
        "\n#0-0 (ab) INCOMPLETE\n  Missing communicator data from 1 rank\n"
        "  Rank 4 -- GPU 1 managed by process 12 on node n1\n"
        "\n#0-0 (ab) MISMATCH\n  Communicator ranks have different status\n"
        "  30 ranks have status RUNNING\n  Rank 5 has status ABORT -- GPU 2 managed by process 13 on node n1\n"
    )
    found = {rank.rank: rank for rank in with_block(block).ranks}
    assert {number: rank.state for number, rank in found.items()} == {3: "error", 4: "dead", 5: "aborted"}
    assert found[3].error == "remote process exited"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"ERROR: Unknown command VERBOSE STATUS\n",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b'{"communicators": 3}',
        b'{"communicators": [{"hash": "0x1", "ranks": [{"rank": 99999999999999999999}]}]}',
        (DATA / "missing-2.29.json").read_bytes()[:700],
        b'{"a":' * 100_000,
        b"{" + b"[" * MOST_BYTES,
        b"\n" * MOST_BYTES,
        b"Rank 1 " * (MOST_BYTES // 7),
    ],
    ids=lambda data: f"{len(data)} bytes",
)
def test_anything_else_is_one_error(data: bytes) -> None:
    with pytest.raises(RasError):
        parse(data)


@pytest.mark.parametrize("name", REPORTS)
def test_spoilt_reports_raise_nothing_else(name: str) -> None:
    samples, dice = [(DATA / name).read_bytes()], random.Random(name)
    for _ in range(300):
        data = mutated(dice, samples)
        try:
            found = parse(data)
        except RasError as error:
            assert "\n" not in str(error)
        else:
            assert msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=RasReport) == found
