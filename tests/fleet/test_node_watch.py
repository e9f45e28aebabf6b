from __future__ import annotations

import pytest
from msgspec.structs import replace

from hwtop.fleet import wire
from hwtop.fleet.node_watch import CONNECT_S, LATE_S, LOST_S, NodeWatch
from hwtop.model.check import CheckResult
from tests.fleet.nodes import healthy

HELLO = wire.Hello(protocol=wire.PROTOCOL, version="9", host="h", time_s=0.0)


@pytest.fixture
def watch() -> NodeWatch:
    watch = NodeWatch("a", 0.0)
    watch.take(HELLO, 1.0, 0.0)
    return watch


def report(number: int) -> wire.Report:
    return wire.Report(report=replace(healthy()[0], number=number, at_s=500.0 + number))


def test_a_node_connects_reports_gets_late_and_is_lost(watch: NodeWatch) -> None:
    assert watch.node(1.0).status == "connecting"
    watch.take(report(1), 2.0, 0.0)
    assert (watch.node(2.5).status, watch.node(2.5).age_s) == ("reporting", 0.5)
    assert watch.node(2.1 + LATE_S).status == "late"
    lost = watch.node(2.1 + LOST_S)
    assert (lost.status, lost.reason) == ("lost", "silent for 10 s")
    assert lost.report is not None
    watch.take(report(2), 14.0, 0.0)
    assert watch.node(14.0).status == "reporting"


def test_a_node_that_claims_to_report_once_a_year_is_lost_all_the_same(watch: NodeWatch) -> None:
    watch.take(wire.Report(report=replace(healthy()[0], interval_s=3e7)), 2.0, 0.0)
    assert watch.node(1000.0).status == "lost"


@pytest.mark.parametrize("changes", [{"watched_s": float("nan")}, {"at_s": float("inf")}, {"time_s": 1e300}], ids=str)
def test_times_that_no_screen_can_show_end_the_node(changes: dict[str, float], watch: NodeWatch) -> None:
    with pytest.raises(wire.ProtocolError, match="it reports times that cannot be"):
        watch.take(wire.Report(report=replace(healthy()[0], **changes)), 2.0, 0.0)
    assert watch.node(2.0).report is None


def test_a_node_that_makes_checks_may_take_its_time(watch: NodeWatch) -> None:
    one = CheckResult(id="x" * 99, status="pass", reason="a\x1b[2Jb", remedy=None, took_s=1.0)
    watch.take(wire.Checks(results=(one,)), 2.0, 0.0)
    node = watch.node(100.0)
    assert (node.status, len(node.checks), len(node.checks[0].id)) == ("reporting", 1, 60)
    assert "\x1b" not in node.checks[0].reason
    assert watch.node(200.0).status == "late"
    watch.take(wire.Goodbye(reason="all checks are made"), 201.0, 0.0)
    assert watch.node(900.0).status == "ended"


def test_a_node_that_never_answers_has_failed() -> None:
    node = NodeWatch("a", 0.0).node(CONNECT_S + 1)
    assert (node.status, node.reason) == ("failed", "no report in 60 s")


def test_reports_that_were_not_sent_are_counted_anew_for_each_agent(watch: NodeWatch) -> None:
    watch.take(report(1), 2.0, 0.0)
    watch.take(report(5), 3.0, 0.0)
    assert watch.node(3.0).skipped == 3
    watch.end("lost", "broken")
    watch.again(4.0)
    assert watch.node(4.0).status == "connecting"
    watch.take(HELLO, 5.0, 0.0)
    watch.take(report(1), 5.0, 0.0)
    assert (watch.node(5.0).status, watch.node(5.0).skipped) == ("reporting", 3)


def test_the_clock_is_compared_by_the_shortest_round_trip(watch: NodeWatch) -> None:
    assert watch.node(1.0).clock_skew_s is None
    assert watch.node(1.0).clock_reason
    for at_s, trip_s, jitter_s in ((10.0, 0.5, 0.2), (20.0, 0.002, 0.0), (30.0, 3.0, -1.4)):
        answered_s = at_s - trip_s / 2 + jitter_s
        watch.take(wire.Pong(sent_at_s=at_s - trip_s, time_s=1.7e9 + answered_s + 3.0), at_s, 1.7e9 + at_s)
    node = watch.node(31.0)
    assert node.clock_skew_s == pytest.approx(3.0, abs=0.001)
    assert node.clock_error_s == pytest.approx(0.001)


def test_another_protocol_is_refused_with_both_versions(watch: NodeWatch) -> None:
    with pytest.raises(wire.ProtocolError, match=r"its hwtop 8.* speaks protocol 99.*same version"):
        watch.take(replace(HELLO, protocol=99, version="8"), 2.0, 0.0)


def test_the_first_reason_of_an_end_holds_and_is_printable(watch: NodeWatch) -> None:
    watch.take(wire.Goodbye(reason="no job\x1b[31m matches\n'x'", is_failure=True), 2.0, 0.0)
    watch.end("lost", "exit code 0")
    node = watch.node(3.0)
    assert (node.status, node.reason) == ("failed", "no job␛[31m matches 'x'")
