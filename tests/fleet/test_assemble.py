from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from hwtop.fleet.assemble import FleetAssembler
from hwtop.model.fleet import Node, NodeReport
from hwtop.model.frame import Frame
from hwtop.model.symptom import Blind, Finding
from tests.fleet.nodes import OFFSET_S, hanging, healthy, node, reading


def judged(nodes: Sequence[Node], seconds: int = 40) -> Frame:
    """What is said after so many readings of the same reports."""
    assembler = FleetAssembler()
    for second in range(0, seconds, 4):
        frame = assembler.advance(reading(nodes, OFFSET_S + second))
    return frame


def found(frame: Frame, symptom: str) -> Finding:
    return next(each for each in frame.findings if each.symptom == symptom)


def nodes_of(reports: Sequence[NodeReport], **values: Any) -> list[Node]:
    return [node(report.host, report, **values) for report in reports]


def finding(symptom: str, title: str, first_seen_s: float = 20.0, **values: Any) -> Finding:
    return Finding(
        symptom=symptom,
        severity="warning",
        confidence=0.8,
        category="performance",
        title=title,
        evidence=("a number",),
        next_steps=("vmstat 1 5   # see",),
        first_seen_s=first_seen_s,
        **values,
    )


def test_a_healthy_job_is_well_and_has_the_ranks_and_gpus_of_all_nodes() -> None:
    frame = judged(nodes_of(healthy()))
    job = frame.derived.job
    assert job is not None
    assert frame.verdict.level == "ok"
    assert [rank.rank for rank in job.ranks] == list(range(8))
    assert [(gpu.index, gpu.node, gpu.local_index) for gpu in frame.derived.gpus][4:6] == [(4, "b", 0), (5, "b", 1)]
    assert [(rank.node, rank.gpus) for rank in job.ranks][4:6] == [("b", (4,)), ("b", (5,))]
    assert [group.ranks for group in job.stacks.groups] == [tuple(range(8))]
    assert frame.findings == ()


def test_the_missing_rank_is_named_with_its_node_and_what_to_run_there() -> None:
    frame = judged(nodes_of(hanging()))
    missing = next(each for each in frame.findings if each.ranks == (5,))
    assert missing.symptom == "rank-missing-from-collective"
    assert missing.title.endswith("(on node b)")
    assert missing.evidence[0].startswith("rank 5 is on node b, PID ")
    assert all(step.startswith("on b: ") for step in missing.next_steps)
    assert frame.verdict.text.startswith(missing.title)


def test_a_node_that_only_waits_for_another_one_is_no_finding_of_its_own() -> None:
    waiting, culprit = hanging()
    alone = finding("hang", "Stuck for 60 s: ranks 0-3 wait in all_reduce")
    frame = judged(nodes_of([replace(waiting, findings=(alone,)), culprit]))
    assert "hang" not in [each.symptom for each in frame.findings]


def test_nobody_is_missed_before_all_nodes_have_come() -> None:
    here, _ = hanging()
    coming = node("b", None, status="connecting", age_s=None)
    assert judged([*nodes_of([here]), coming]).findings == ()


def test_the_verdict_says_of_how_many_nodes_it_knows() -> None:
    well = healthy(("a", "b", "c", "d"))
    failed = node("e", None, status="failed", reason="connection refused", age_s=None)
    frame = judged([*nodes_of(well), failed])
    assert frame.verdict.text.endswith("(4 of 5 nodes report)")
    assert frame.verdict.level == "unknown"
    assert Blind(source="node e", reason="connection refused") in frame.blind


def test_a_lost_node_is_why_the_others_stand_still() -> None:
    alive, gone = hanging()
    nodes = [*nodes_of([alive]), node("b", gone, status="lost", reason="silent for 40 s", age_s=40.0)]
    frame = judged(nodes)
    lost = frame.findings[0]
    assert (lost.symptom, lost.severity, lost.ranks) == ("node-lost", "critical", (4, 5, 6, 7))
    assert "node b no longer reports (silent for 40 s)" in lost.title
    assert [each.symptom for each in frame.findings] == ["node-lost"]


def test_a_lost_agent_of_a_job_that_goes_on_is_only_a_note() -> None:
    alive, gone = healthy()
    nodes = [*nodes_of([alive]), node("b", gone, status="lost", reason="its agent has ended", age_s=12.0)]
    assert found(judged(nodes), "node-lost").severity == "info"


@pytest.mark.parametrize(("skew_s", "error_s", "is_found"), [(1.2, 0.05, True), (0.9, 0.0, False), (2.0, 1.1, False)])
def test_clock_skew_counts_only_beyond_what_the_way_explains(skew_s: float, error_s: float, is_found: bool) -> None:
    first, second = healthy()
    nodes = [
        node("a", first, clock_skew_s=0.0, clock_error_s=0.0),
        node("b", second, clock_skew_s=skew_s, clock_error_s=error_s),
    ]
    titles = [each.title for each in judged(nodes).findings if each.symptom == "clock-skew"]
    assert titles == (["the clock of node b is 1.2 s ahead of that of node a"] if is_found else [])


def test_what_a_node_finds_itself_is_told_with_its_name_and_the_same_of_several_together() -> None:
    first, second, third, fourth = healthy(("a", "b", "c", "d"))
    swaps = finding("swapping", "200 pages/s are read back from swap")
    reports = [first, replace(second, findings=(swaps,)), replace(third, findings=(swaps,)), fourth]
    one = found(judged(nodes_of([reports[0], reports[1]])), "swapping")
    assert one.title == "node b: 200 pages/s are read back from swap"
    assert one.next_steps == ("on b: vmstat 1 5   # see",)
    assert found(judged(nodes_of(reports)), "swapping").title.startswith("nodes b and c: 200 pages/s")


def test_a_symptom_that_only_the_agent_knows_is_told_all_the_same() -> None:
    first, second = healthy()
    frame = judged(nodes_of([first, replace(second, findings=(finding("my-own-line", "A line of mine"),))]))
    assert found(frame, "my-own-line").title == "node b: A line of mine"


def test_the_node_that_failed_first_is_named() -> None:
    first, second = healthy()
    early = finding("network-link", "NIC eth0 is down", first_seen_s=first.watched_s - 30)
    late = finding("tcp-retransmits", "2 % are sent again", first_seen_s=first.watched_s - 10)
    frame = judged(nodes_of([replace(first, findings=(late,)), replace(second, findings=(early,))]))
    said = [line for line in frame.findings[0].evidence if line.startswith("first in time")]
    assert said == ["first in time: node b, 20 s before node a: NIC eth0 is down"]


def test_two_nodes_with_the_same_rank_are_two_jobs() -> None:
    first, _ = healthy()
    frame = judged([node("a", first), node("b", first)])
    job = frame.derived.job
    assert job is not None
    assert [rank.node for rank in job.ranks] == ["a"] * 4
    assert any(spot.source == "ranks on node b" and "rank 0" in spot.reason for spot in frame.blind)


def test_a_gpu_that_is_slower_than_those_of_other_nodes_is_named_with_its_reason() -> None:
    reports = healthy(("a", "b", "c", "d"))
    (slow, *others) = reports[2].gpus
    slow = replace(slow, sm_clock_mhz=0.6 * (slow.sm_clock_mhz or 0.0), throttle=("hw_thermal",), temp_c=93.0)
    reports[2] = replace(reports[2], gpus=(slow, *others))
    uneven = found(judged(nodes_of(reports), 60), "multi-gpu-imbalance")
    assert "GPU 0 of node c" in uneven.title
    assert "its clocks are held down by: hw_thermal" in uneven.evidence
    assert uneven.ranks == (4,)


def test_whatever_an_agent_claims_the_judgement_goes_on() -> None:
    first, second = healthy()
    job = first.job
    assert job is not None
    nan = float("nan")
    ranks = tuple(replace(rank, rank=-5, pid=-1, gone_at_s=nan, gpus=(10**18,)) for rank in job.ranks)
    mad = replace(
        first, time_s=nan, at_s=nan, watched_s=nan, interval_s=nan, job=replace(job, ranks=ranks, world_size=-3)
    )
    frame = judged([node("a", mad, offset_s=nan, clock_skew_s=nan), node("b", second)], 5)
    assert not [spot for spot in frame.blind if spot.source == "hwtop"]
