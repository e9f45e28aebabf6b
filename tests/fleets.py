"""Frames of a job over many nodes with eight GPUs each: well, or with a few nodes that are not."""

from __future__ import annotations

from functools import cache

from msgspec import structs

from hwtop.model.fleet import Node, NodeReport
from hwtop.model.frame import Frame
from hwtop.model.gpu.device import Gpu
from hwtop.model.rank import Rank
from hwtop.model.rank_stack import PhaseShare
from hwtop.model.reported.log import Progress
from hwtop.model.symptom import Finding, Verdict
from tests import frames
from tests.parts import job_of, replace

GPUS = 8
_SECOND = frames.SECONDS - 1


def name_of(number: int) -> str:
    return f"gpu-{number:03}"


@cache
def healthy(count: int, *, gpus: bool = True) -> Frame:
    """All nodes report, all ranks are in step."""
    ranks = count * GPUS
    verdict = Verdict(level="ok", text=f"training normally: 0.312 s/step, {ranks:,} of {ranks:,} ranks in step")
    return frame(tuple(node(number, gpus=gpus) for number in range(count)), verdict)


@cache
def sick(count: int) -> Frame:
    """A rank of the third node never came to a collective, a node is hot and slow, one is late, one lost, one never reported, and one has a GPU
    that fell off the bus; as far as there are so many nodes."""
    nodes = [node(number, waits=True) for number in range(count)]
    missing = min(2, count - 1)
    nodes[missing] = _with_missing_rank(nodes[missing])
    changes = (
        (17, _lost),
        (1, _hot),
        (29, _late),
        (40, _failed),
        (33, _without_gpu),
    )
    for number, change in changes:
        if number < count:
            nodes[number] = change(nodes[number])
    rank = missing * GPUS + 5
    others = count * GPUS - 1
    finding = Finding(
        symptom="hang",
        severity="critical",
        confidence=0.97,
        category="stability",
        title=f"Rank {rank} on {name_of(missing)} never reached the all_reduce that {others:,} other ranks wait in",
        evidence=(
            f"rank {rank} is in write_summary (train.py:212) for 50 s",
            "no rank has made a step for 50 s; a step took 0.31 s before",
        ),
        next_steps=(f"ssh {name_of(missing)} hwtop --name train.py   # the file that it writes",),
        ranks=(rank,),
        first_seen_s=84,
    )
    text = f"Hang for 50 s: rank {rank} on {name_of(missing)} is not in the all_reduce that {others:,} ranks wait in"
    return replace(frame(tuple(nodes), Verdict(level="critical", text=text)), findings=(finding,))


def frame(nodes: tuple[Node, ...], verdict: Verdict) -> Frame:
    """The job over these nodes."""
    base = frames.healthy()
    ranks = tuple(
        structs.replace(rank, node=each.name)
        for each in nodes
        if each.report and each.report.job
        for rank in each.report.job.ranks
    )
    assert base.derived.job is not None
    job = job_of(
        target_pid=4_711,
        launcher=base.derived.job.launcher,
        world_size=len(nodes) * GPUS,
        ranks=ranks,
        processes=(),
    )
    derived = structs.replace(base.derived, host=f"{len(nodes)} nodes", job=job, gpus=(), gpu_rates=())
    return structs.replace(
        base, derived=derived, history=(derived,), verdict=verdict, findings=(), blind=(), nodes=nodes
    )


def node(number: int, *, gpus: bool = True, waits: bool = False) -> Node:
    """One that reports."""
    base = frames.healthy()
    ranks = tuple(_rank(number * GPUS + place, place, gpus=gpus, waits=waits) for place in range(GPUS))
    assert base.derived.job is not None
    job = job_of(target_pid=4_000, launcher=None, world_size=None, local_world_size=GPUS, ranks=ranks, processes=())
    report = NodeReport(
        host=name_of(number),
        number=100,
        time_s=base.derived.time_s,
        at_s=base.derived.at_s,
        interval_s=1.0,
        watched_s=base.watched_s,
        verdict=Verdict(level="ok", text="training normally: 0.312 s/step, 8 of 8 ranks in step"),
        gpus=tuple(_gpu(place, number, waits=waits) for place in range(GPUS)) if gpus else (),
        job=job,
        cpu=base.derived.cpu and structs.replace(base.derived.cpu, cores=()),
        memory=base.derived.memory,
        network=base.derived.network,
        own_cpu_pct=0.8,
        own_rss_bytes=46 * 1024**2,
    )
    return Node(
        name=name_of(number),
        status="reporting",
        age_s=0.4,
        clock_skew_s=0.002 * (number % 7 - 3),
        clock_error_s=0.0004,
        version="0.3.0",
        report=report,
    )


def _gpu(place: int, number: int, *, waits: bool) -> Gpu:
    found = frames.gpu(
        place, _SECOND, util=100 if waits else 92 + number % 5, power=310 if waits else 630, temp=52 if waits else 63
    )
    return structs.replace(found, temp_c=(found.temp_c or 0) + number % 4, processes=None)


def _rank(number: int, place: int, *, gpus: bool, waits: bool) -> Rank:
    rank = structs.replace(frames.rank(number, _SECOND), local_rank=place, gpus=(place,) if gpus else (), workers=())
    if not waits:
        return rank
    return replace(
        rank,
        state="collective-wait",
        phase="collective",
        is_waiting=True,
        wait_share=0.93,
        step_age_s=50.0,
        phase_shares=(PhaseShare(phase="collective", share=0.93), PhaseShare(phase="backward", share=0.07)),
        stack=frames.dump(number, frames.ALL_REDUCE, 1_058.0),
    )


def _report(each: Node) -> NodeReport:
    assert each.report is not None
    return each.report


def _with(each: Node, place: int, **changes: object) -> Node:
    """With another rank in this place."""
    report = _report(each)
    assert report.job is not None
    ranks = list(report.job.ranks)
    ranks[place] = replace(ranks[place], **changes)
    return structs.replace(each, report=structs.replace(report, job=structs.replace(report.job, ranks=tuple(ranks))))


def _with_missing_rank(each: Node) -> Node:
    return _with(each, 5, state="stuck", phase="logging", is_waiting=False, wait_share=0.04)


def _hot(each: Node) -> Node:
    report = _report(each)
    gpus = tuple(
        structs.replace(
            gpu, temp_c=88.0 if gpu.index == 3 else gpu.temp_c, power_w=180.0 if gpu.index == 3 else gpu.power_w
        )
        for gpu in report.gpus
    )
    finding = Finding(
        symptom="gpu-throttled",
        severity="warning",
        confidence=0.9,
        category="performance",
        title="GPU 3 is throttled: thermal, at 88 °C",
        evidence=("SM clock 1,110 of 1,980 MHz",),
        next_steps=("nvidia-smi -q -d TEMPERATURE,CLOCK -i 3",),
        ranks=(_report(each).job.ranks[3].rank,),  # type: ignore[union-attr]
    )
    slow = _with(structs.replace(each, report=structs.replace(report, gpus=gpus, findings=(finding,))), 3, state="slow")
    return _behind(slow, 3, 4)


def _behind(each: Node, place: int, steps: int) -> Node:
    report = _report(each)
    assert report.job is not None
    progress = report.job.ranks[place].progress.newest or Progress()
    return _with(each, place, progress=structs.replace(progress, step=(progress.step or 0) - steps))


def _late(each: Node) -> Node:
    return structs.replace(each, status="late", age_s=4.2, reason="no report for 4.2 s", skipped=3)


def _lost(each: Node) -> Node:
    return structs.replace(each, status="lost", age_s=71.0, reason="connection closed: the agent ended with signal 9")


def _failed(each: Node) -> Node:
    reason = "ssh: Host key verification failed: ssh-keygen -R gpu-040 removes the old key"
    return structs.replace(
        each, status="failed", report=None, age_s=None, reason=reason, clock_skew_s=None, clock_reason="no report"
    )


def _without_gpu(each: Node) -> Node:
    report = _report(each)
    gpus = tuple(
        structs.replace(
            gpu, status="lost", reason="fell off the bus (Xid 79)", util_pct=None, power_w=None, temp_c=None
        )
        if gpu.index == 6
        else gpu
        for gpu in report.gpus
    )
    return structs.replace(each, report=structs.replace(report, gpus=gpus))
