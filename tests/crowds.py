"""Frames of many ranks: 64 or 512 of them, well or with a few that are not."""

from __future__ import annotations

from functools import cache

from hwtop.model.frame import Frame
from hwtop.model.job import StackGroup
from hwtop.model.rank import Rank
from hwtop.model.rank_stack import Phase, PhaseShare
from hwtop.model.reported.log import Progress
from hwtop.model.stack import StackFrame
from hwtop.model.symptom import Finding, Verdict
from tests import frames
from tests.parts import replace


@cache
def healthy(count: int) -> Frame:
    """All in step; they wait for each other a little."""
    base = frames.healthy()
    derived = frames.derived(frames.SECONDS - 1, ranks=count)
    assert derived.job is not None
    ranks = tuple(replace(rank, gpus=(rank.rank % 8,)) for rank in derived.job.ranks)
    derived = replace(derived, job=replace(derived.job, ranks=ranks))
    return replace(
        base,
        derived=derived,
        history=(derived,),
        verdict=Verdict(level="ok", text=f"training normally: 0.312 s/step, {count} of {count} ranks in step"),
    )


@cache
def sick(count: int) -> Frame:
    """A rank of the middle writes a summary, so all others wait; one is slow, one loads data, the last is dead."""
    base = healthy(count)
    job = base.derived.job
    assert job is not None
    writer, slow, loader, dead = count // 2 + 5, 17, 42, count - 1
    odd = {writer: "stuck", slow: "slow", loader: "data-wait", dead: "dead"}
    ranks = tuple(_sick(item, odd.get(item.rank)) for item in job.ranks)
    waiting = tuple(rank.rank for rank in ranks if rank.rank not in odd)
    groups = (
        _group(waiting, "collective", frames.ALL_REDUCE),
        _group((slow,), "backward", frames.BACKWARD),
        _group((loader,), "data", frames.DATA),
        _group((writer,), "logging", frames.SAVE),
    )
    derived = replace(base.derived, job=replace(job, ranks=ranks, stack_groups=groups))
    finding = Finding(
        symptom="hang",
        severity="critical",
        confidence=0.97,
        category="stability",
        title=f"Rank {writer} never reached the all_reduce that {len(waiting)} other ranks wait in",
        evidence=("no rank has made a step for 50 s; a step took 0.31 s before",),
        next_steps=("look at the file that it writes",),
        ranks=(writer,),
        first_seen_s=84,
    )
    text = f"the job hangs since 50 s: rank {writer} is not in the all_reduce that {len(waiting)} ranks wait in"
    return replace(
        base,
        derived=derived,
        history=(derived,),
        verdict=Verdict(level="critical", text=text),
        findings=(finding,),
    )


def _sick(item: Rank, state: str | None) -> Rank:
    if state is None:
        return replace(
            item,
            state="collective-wait",
            phase="collective",
            is_waiting=True,
            wait_share=0.93,
            step_age_s=50.0,
            phase_shares=(PhaseShare(phase="collective", share=0.93), PhaseShare(phase="backward", share=0.07)),
            stack=frames.dump(item.rank, frames.ALL_REDUCE, 1_058.0),
            same_stack_for_s=48.0,
        )
    if state == "dead":
        return replace(
            item,
            state="dead",
            is_alive=False,
            exit_code=-9,
            os_state="X",
            phase=None,
            phase_shares=(),
            stack=None,
            workers=(),
        )
    progress = item.progress.newest or Progress()
    if state == "slow":
        return replace(item, state="slow", wait_share=0.04, progress=replace(progress, step=(progress.step or 0) - 12))
    phase: Phase
    phase, leaf_first = ("data", frames.DATA) if state == "data-wait" else ("logging", frames.SAVE)
    return replace(
        item,
        state=state,
        phase=phase,
        step_age_s=50.0,
        wait_share=0.04,
        phase_shares=(PhaseShare(phase=phase, share=0.95),),
        stack=frames.dump(item.rank, leaf_first, 1_058.0),
        same_stack_for_s=48.0,
        workers=tuple(replace(worker, state="D", wchan="rpc_wait_bit_killable") for worker in item.workers),
    )


def _group(ranks: tuple[int, ...], phase: str, leaf_first: tuple[StackFrame, ...]) -> StackGroup:
    user = next(frame for frame in leaf_first if not frame.short_filename.startswith("torch/"))
    return StackGroup(
        ranks=ranks,
        frames=leaf_first[::-1],
        phase=phase,  # type: ignore[arg-type]
        user_frame=user,
        leaf=leaf_first[0],
    )
