"""The port is found, the job's own process asked, and whatever it does is an answer or a reason."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import pytest

from hwtop.collectors.process.listening_socket import TcpSocket
from hwtop.collectors.ras.client import RasClient
from hwtop.collectors.ras.port import find_port, is_answered_by
from hwtop.collectors.ras.source import EVERY_S, RasSource
from hwtop.model.plan import SamplingPlan
from hwtop.model.reported.ras import RasPolicy, RasReading
from tests.collectors.ras.conftest import StartServer
from tests.fake_source import FakeClock


def source_of(pid: int, clock: FakeClock, policy: RasPolicy = "auto") -> RasSource:
    source = RasSource(policy=policy, now=clock, reply_s=0.05, waits_s=30.0)
    source.set_plan(SamplingPlan(ras_pids=(pid,)))
    return source


def reading_of(pid: int, policy: RasPolicy = "auto") -> RasReading:
    found = source_of(pid, FakeClock(), policy).read()
    assert found is not None
    return found


NO_IPV6 = pytest.mark.skipif(not Path("/proc/net/if_inet6").exists(), reason="a kernel without IPv6")


@pytest.mark.parametrize("address", ["127.0.0.1", pytest.param("::1", marks=NO_IPV6)])
def test_found_at_the_address_that_the_job_listens_on(serve: StartServer, port: int, address: str) -> None:
    pid = serve("json", address)
    found = find_port((pid,))
    assert found is not None
    assert (found.address, found.port) == (address, port)
    report = reading_of(pid).report
    assert report is not None
    (rank,) = report.communicators[0].ranks
    assert rank.process is not None and rank.process.pid == pid


def test_nobody_listens() -> None:
    assert find_port((os.getpid(), 2**22 + 1)) is None
    assert source_of(os.getpid(), FakeClock()).read() is None


def test_a_port_open_to_all_is_asked_over_loopback(serve: StartServer) -> None:
    found = find_port((serve("json", "0.0.0.0"),))
    assert found is not None
    assert found.address == "127.0.0.1"


def test_asked_again_only_after_30_s_and_while_the_plan_says_so(serve: StartServer) -> None:
    clock = FakeClock()
    source = source_of(serve("json"), clock)
    first = source.read()
    clock.at_s += EVERY_S - 1
    assert first is not None and source.read() is first
    clock.at_s += 1
    second = source.read()
    assert second is not None and second.reported_at_s == clock.at_s
    source.set_plan(SamplingPlan())
    clock.at_s += EVERY_S
    assert source.read() is second


@pytest.mark.parametrize(("policy", "pids"), [("off", True), ("auto", False)])
def test_not_asked(serve: StartServer, policy: RasPolicy, pids: bool) -> None:
    source = source_of(serve("json"), FakeClock(), policy)
    if not pids:
        source.set_plan(SamplingPlan())
    assert source.read() is None


def test_versions_that_may_crash_are_asked_only_if_the_user_says_so(serve: StartServer) -> None:
    pid = serve("old")
    refused = reading_of(pid)
    assert refused.report is None
    assert "before 2.28.7" in refused.missing["report"]
    allowed = reading_of(pid, "any-version").report
    assert allowed is not None and allowed.nccl_version == "2.26.2"


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("silent", "8 of 8 connections silent"),
        ("half", "not a RAS report"),
        ("garbage", "not a RAS report"),
        ("flood", "sends more than"),
        ("web", "does not answer as NCCL RAS does"),
    ],
)
def test_what_is_no_report_is_a_reason(serve: StartServer, kind: str, reason: str) -> None:
    found = reading_of(serve(kind))
    assert found.report is None
    assert reason in found.missing["report"]


def test_a_stopped_job_is_silent_and_its_last_report_stays(serve: StartServer) -> None:
    clock, pid = FakeClock(), serve("json")
    source = source_of(pid, clock)
    before = source.read()
    os.kill(pid, signal.SIGSTOP)
    clock.at_s += EVERY_S
    after = source.read()
    assert before is not None and after is not None
    assert (after.report, after.reported_at_s) == (before.report, before.reported_at_s)
    assert "silent" in after.missing["report"]


def test_a_process_of_another_job_is_never_asked_for_a_report(serve: StartServer, port: int) -> None:
    foreign = serve("json")
    server = find_port((foreign,))
    assert server is not None
    client = RasClient(server, lambda peer_port: is_answered_by((os.getpid(),), port, peer_port))
    with pytest.raises(OSError, match="8 answered by another job"):
        client.report()


def test_two_jobs_at_one_port(serve: StartServer, port: int) -> None:
    """The kernel deals the connections: whichever it takes, the report is of the job."""
    own, foreign = serve("json"), serve("json")
    turns = iter((False, False, True))
    server = TcpSocket("127.0.0.1", port, 0)
    asked: list[bool] = []

    def is_job(peer_port: int) -> bool:
        assert is_answered_by((own,), port, peer_port) is not is_answered_by((foreign,), port, peer_port)
        asked.append(next(turns))
        return asked[-1]

    assert b'"nccl_version"' in RasClient(server, is_job).report()
    assert asked == [False, False, True]


def test_another_network_namespace_is_said(serve: StartServer, tmp_path: Path) -> None:
    pid = serve("json")
    for name in (str(pid), "self"):
        (tmp_path / name / "ns").mkdir(parents=True)
    for name in ("fd", "net", "environ"):
        (tmp_path / str(pid) / name).symlink_to(f"/proc/{pid}/{name}")
    (tmp_path / str(pid) / "ns" / "net").symlink_to("net:[1]")
    (tmp_path / "self" / "ns" / "net").symlink_to("net:[2]")
    with pytest.raises(OSError, match="another network namespace"):
        find_port((pid,), str(tmp_path))


def test_a_client_that_is_refused_gives_the_reason() -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        server = TcpSocket("127.0.0.1", sock.getsockname()[1], 0)
        with pytest.raises(OSError, match="refused"):
            RasClient(server, lambda _: True).report()


def test_an_answer_that_takes_long_comes_in_a_later_read(serve: StartServer) -> None:
    pid, clock = serve("json"), FakeClock()
    source = RasSource(policy="auto", now=clock, waits_s=0.0)
    source.set_plan(SamplingPlan(ras_pids=(pid,)))
    os.kill(pid, signal.SIGSTOP)
    assert source.read() is None
    clock.at_s += EVERY_S
    late = source.read()
    assert late is not None
    assert late.missing == {"report": "NCCL RAS is not answering for 30 s"}
