"""The diagnosis as text, for a terminal and for issues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hwtop import __version__
from hwtop.job.log.text import visible
from hwtop.job.rank_set import named
from hwtop.job.stacks.phase_sentence import phase_sentence
from hwtop.model.frame import Frame
from hwtop.model.job import Job
from hwtop.model.rank import Rank
from hwtop.model.symptom import Episode, Finding, Hypothesis
from hwtop.report.fit import Section, fitted
from hwtop.report.frame.ras import lines as ras_lines
from hwtop.report.text_table import aligned
from hwtop.seconds import moment

_TOLD_RANKS = 16
_FOLDED_BYTES = (56_000, 13_000)
"""GitHub takes 65,536 characters. The second one fits whatever is escaped in it."""
_TOLD_EPISODES = 20
_MOST_ROWS = 64
"""Ranks of several nodes that are listed."""
_WORD = {"critical": "CRITICAL", "warning": "WARNING", "info": "info"}


def diagnosis(frame: Frame, *, markdown: bool, most_bytes: int | None = None) -> str:
    """Verdict, findings with evidence and next steps, ranks, and what could not be read; at most so many bytes of it."""
    heading = "# " if markdown else ""
    job = frame.derived.job
    head = [f"{heading}{frame.verdict.text}"]
    if frame.verdict.category is not None:
        stall = f" ({frame.verdict.stall})" if frame.verdict.stall else ""
        head += ["", f"Class: {frame.verdict.category}{stall}"]
    if job is not None:
        head += ["", _job_line(job, frame)]
    sections = [
        Section("findings", [line for finding in frame.findings for line in ("", *_finding(finding, markdown))][1:]),
        Section("ranks", _ranks(job, markdown) if job is not None and job.ranks else []),
        Section("phases", _phases(job) if job is not None else []),
        Section("NCCL RAS", ras_lines(job.ras) if job is not None else []),
        Section("checks", _suspects(frame.hypotheses, markdown) if frame.hypotheses else []),
        Section("the timeline", _timeline(frame.episodes, markdown) if frame.episodes else []),
        Section("what is not visible", _blind(frame, markdown) if frame.blind else []),
    ]
    apart = [Section(section.name, ["", *section.lines]) for section in sections if section.lines]
    text = fitted(head, apart, most_bytes, f"hwtop diagnose {job.target_pid if job else 'PID'}")
    return inert(text) if markdown else text


def folded(frame: Frame) -> str:
    """The whole report as a part of an issue that is folded until it is clicked; with what is above it, it fits into one."""
    for most_bytes in _FOLDED_BYTES:
        report = diagnosis(frame, markdown=True, most_bytes=most_bytes)
        if len(report.encode(errors="replace")) <= max(_FOLDED_BYTES):
            break
    return f"<details><summary>Report of hwtop {__version__}</summary>\n\n{report}\n</details>"


def inert(markdown: str) -> str:
    """Without HTML, links and images: the report itself has none, so all of them come from the machine."""
    return markdown.replace("<", "&lt;").replace("](", "]\\(").replace("![", "!\\[")


def _job_line(job: Job, frame: Frame) -> str:
    launcher = f"{job.launcher.kind} (PID {job.launcher.pid})" if job.launcher else f"PID {job.target_pid}"
    if frame.nodes:
        launcher = job.launcher.kind if job.launcher else "ranks"
    alive = [rank.rank for rank in job.ranks if rank.is_alive]
    who = named(alive) if alive else "no live rank"
    world = f" of {job.world_size}" if job.world_size is not None else ""
    again = f", restarted {job.restarts} time{'' if job.restarts == 1 else 's'}" if job.restarts else ""
    until = moment(frame.derived.time_s)
    return f"Job: {launcher} on {frame.derived.host}, {who}{world}{again}; watched for {frame.watched_s:.0f} s until {until}"


def _finding(finding: Finding, markdown: bool) -> list[str]:
    mark = "## " if markdown else ""
    lines = [
        f"{mark}{_WORD[finding.severity]} {finding.symptom} ({finding.category}, confidence {100 * finding.confidence:.0f} %)",
        visible(finding.title),
        *(f"- {visible(line)}" for line in finding.evidence),
    ]
    if finding.folded:
        lines += [f"- consequence: {visible(line)}" for line in finding.folded]
    lines.append("Next steps:")
    lines += [f"{number}. {visible(step)}" for number, step in enumerate(finding.next_steps, 1)]
    reported = (
        ("Verify", finding.test),
        ("Disproved if", finding.refuted_by),
        ("If that is not enough", "; ".join(finding.escalate)),
    )
    return lines + [
        f"- {what}: {text}" for what, text in reported if text and not any(text in step for step in finding.next_steps)
    ]


def _ranks(job: Job, markdown: bool) -> list[str]:
    has_nodes = any(rank.node is not None for rank in job.ranks)
    head = ("rank", *(("node",) if has_nodes else ()), "pid", "step", "s/step", "phase", "state", "CPU %")
    shown = _unusual_first(job.ranks) if has_nodes else job.ranks
    rows = [_row(rank) for rank in shown]
    if markdown:
        return [
            "| " + " | ".join(head) + " |",
            "|" + " --- |" * len(head),
            *("| " + " | ".join(row) + " |" for row in rows),
        ]
    return aligned((head, *rows), first=str.rjust, others=str.rjust)


def _unusual_first(ranks: Sequence[Rank]) -> Sequence[Rank]:
    """Of many ranks those that are not in the state of most."""
    usual = Counter(rank.state for rank in ranks).most_common(1)[0][0]
    shown = sorted(ranks, key=lambda rank: rank.state == usual)[:_MOST_ROWS] if len(ranks) > _MOST_ROWS else ranks
    return sorted(shown, key=lambda rank: rank.rank)


def _suspects(asked: Sequence[Hypothesis], markdown: bool) -> list[str]:
    """The checks, one line each."""
    if markdown:
        results = [visible(each.result).replace("|", "\\|") for each in asked]
        rows = [
            f"| {each.hypothesis} | {each.verdict} | {result} |" for each, result in zip(asked, results, strict=True)
        ]
        return ["## Checks", "", "| question | answer | reason |", "| --- | --- | --- |", *rows]
    width = max(len(each.hypothesis) for each in asked)
    return [
        "Checks:",
        *(f"  {each.hypothesis:{width}}  {each.verdict:7}  {visible(each.result)}" for each in asked),
    ]


def _timeline(episodes: Sequence[Episode], markdown: bool) -> list[str]:
    """When each symptom was raised and cleared; of many the newest."""
    earlier = len(episodes) - _TOLD_EPISODES
    return [
        "## Timeline (seconds since hwtop started)" if markdown else "Timeline (seconds since hwtop started):",
        *([f"- {earlier} earlier findings"] if earlier > 0 else []),
        *map(_episode, episodes[-_TOLD_EPISODES:]),
    ]


def _episode(episode: Episode) -> str:
    until = "now" if episode.cleared_s is None else f"{episode.cleared_s:.0f}"
    seen = f" (first seen at {episode.seen_s:.0f})" if episode.raised_s - episode.seen_s >= 1 else ""
    return f"- {episode.raised_s:.0f} to {until}: {episode.severity} {episode.symptom}{seen}: {visible(episode.title)}"


def _phases(job: Job) -> list[str]:
    """Phases of each rank in the last minute, for the first ranks."""
    sampled = [rank for rank in job.ranks if rank.stack.shares]
    lines = [
        f"- rank {rank.rank}: {phase_sentence(rank.stack.shares, rank.stack.samples)}" for rank in sampled[:_TOLD_RANKS]
    ]
    return lines + ([f"- and {len(sampled) - _TOLD_RANKS} more ranks"] if len(sampled) > _TOLD_RANKS else [])


def _blind(frame: Frame, markdown: bool) -> list[str]:
    job = frame.derived.job
    pid = "" if job is None or frame.nodes else f" {job.target_pid}"
    there = " there" if frame.nodes else ""
    title = f"Not visible (`hwtop doctor{pid}`{there} prints how to change that)"
    return [
        f"## {title}" if markdown else f"{title}:",
        *(f"- {visible(spot.source)}: {visible(spot.reason)}" for spot in frame.blind),
    ]


def _row(rank: Rank) -> tuple[str, ...]:
    step = rank.progress.step
    return (
        str(rank.rank),
        *((visible(rank.node),) if rank.node is not None else ()),
        str(rank.pid),
        "-" if step is None else str(step),
        "-" if rank.progress.step_time_s is None else f"{rank.progress.step_time_s:.3g}",
        rank.stack.phase or "-",
        rank.state,
        "-" if rank.process.cpu_pct is None else f"{rank.process.cpu_pct:.0f}",
    )
