"""A frame of one node as its report: enough to compare nodes and to judge the job over all of them. Pure."""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from hwtop.job.hang.liveness import SUSPECT, phi
from hwtop.job.hang.rank_state import waits
from hwtop.job.secrets import masked_text
from hwtop.model.fleet import NodeReport
from hwtop.model.frame import Frame
from hwtop.model.gpu.device import Gpu
from hwtop.model.job import Job, JobLogs, JobMetrics, JobStacks
from hwtop.model.rank import Rank
from hwtop.model.reported.log import LogEvent

_MOST_EVENTS = 50
"""Matches of log patterns that are sent, the newest: what a judgement over all nodes needs of them is the first of each kind."""
_MOST_WORKERS = 64
"""Loader workers of a rank that are sent."""


def condensed(frame: Frame) -> NodeReport:
    """The report. It leaves the machine, so secrets in lines of logs are masked."""
    derived = frame.derived
    return NodeReport(
        host=derived.host,
        number=frame.number,
        time_s=derived.time_s,
        at_s=derived.at_s,
        interval_s=derived.interval_s,
        watched_s=frame.watched_s,
        verdict=replace(frame.verdict, text=_masked(frame.verdict.text)),
        findings=tuple(
            replace(
                finding,
                title=_masked(finding.title),
                evidence=tuple(map(_masked, finding.evidence)),
                log_line=None if finding.log_line is None else _masked(finding.log_line),
            )
            for finding in frame.findings
        ),
        blind=frame.blind,
        gpus=tuple(map(_gpu, derived.gpus)),
        job=None if derived.job is None else _job(derived.job),
        cpu=None if derived.cpu is None else replace(derived.cpu, cores=()),
        memory=derived.memory,
        network=derived.network,
        own_cpu_pct=derived.own_cpu_pct,
        own_rss_bytes=derived.own_rss_bytes,
    )


def _gpu(gpu: Gpu) -> Gpu:
    return replace(gpu, processes=None, nvlinks=None, xids=(), mig=(), counters=None, missing={})


def _job(job: Job) -> Job:
    return replace(
        job,
        processes=(),
        ranks=tuple(map(_rank, job.ranks)),
        logs=JobLogs(events=tuple(map(_event, job.logs.events[-_MOST_EVENTS:]))),
        metrics=JobMetrics(),
        stacks=JobStacks(groups=job.stacks.groups, errors=job.stacks.errors),
        flight=replace(job.flight, targets=(), settings=()),
        ras=replace(job.ras, report=None),
        detail=None,
    )


def _rank(rank: Rank) -> Rank:
    """Where it does not come along, all that it holds may be the reason; who only waits has none."""
    is_suspicious = rank.is_alive and not waits(rank) and phi(rank, ("idle", "busy", "moving")) >= SUSPECT
    last_line = rank.log.last_line
    return replace(
        rank,
        workers=rank.workers[:_MOST_WORKERS],
        log=rank.log if last_line is None else replace(rank.log, last_line=_masked(last_line)),
        stack=replace(rank.stack, intervals=(), dump=rank.stack.dump if is_suspicious else None),
    )


def _event(event: LogEvent) -> LogEvent:
    return replace(event, text=_masked(event.text))


@lru_cache(maxsize=1024)
def _masked(text: str) -> str:
    """The same texts come every second."""
    return masked_text(text)
