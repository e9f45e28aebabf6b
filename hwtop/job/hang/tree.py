"""Why a job that stands still does: a tree of questions, asked in order until one is answered with yes. Pure.

The order goes from what is certain and ends everything else (a dead rank) to what is only left over. Two classes, as C4D
(arXiv 2406.04594) names them: a communication hang (all came, nobody finishes) and a non-communication hang (one never came).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from hwtop.job.hang.liveness import LEVEL, STANDSTILL_S
from hwtop.job.hang.locks import deadlock, waits_text
from hwtop.job.hang.rank_state import waits
from hwtop.job.hang.stall import (
    GPU_BUSY_PCT,
    GPU_SPINS_PCT,
    PATIENCE,
    Patience,
    gap_s,
    standstill_phi,
    utils,
)
from hwtop.job.kernel.wait import waits_for
from hwtop.job.rank_set import do, named
from hwtop.job.stacks.frames import thread_of
from hwtop.model.gpu.device import Gpu
from hwtop.model.job import Job, StackGroup
from hwtop.model.rank import Rank

HangKind = Literal[
    "dead",
    "event",
    "stopped",
    "storage",
    "mismatch",
    "lock",
    "data-worker",
    "missing",
    "elsewhere",
    "transport",
    "unknown",
]
"""dead: a rank is gone. event: kernel or driver reported a fault. storage: D state. mismatch: different collectives. lock:
the rank that is missing waits for a lock of its own. data-worker: it waits for worker processes that do nothing. missing: it is
outside any collective, nobody knows why. elsewhere: all ranks of this machine wait alike, others are on other machines.
transport: all ranks wait in the same collective. unknown: none of these."""

_FAULTS = frozenset(
    {
        "xid",
        "gpu-lost",
        "gpu-driver-hang",
        "ecc-error",
        "nvlink-errors",
        "host-oom-kill",
        "filesystem-hang",
        "network-link",
        "cuda-oom",
        "device-side-assert",
        "illegal-memory-access",
        "segfault",
    }
)
"""Log patterns that explain a hang."""


class Step(Struct, frozen=True, kw_only=True):
    """One question of the tree and its answer."""

    question: str
    answer: str
    is_it: bool


class HangCause(Struct, frozen=True, kw_only=True):
    """What the tree came to."""

    kind: HangKind
    culprits: tuple[int, ...]
    """Ranks to look at; empty where none stands out."""
    waiting: tuple[int, ...]
    """Ranks that only wait for them."""
    still_s: float
    """`gap_s` of the live ranks."""
    phi: float
    """How improbable it is that the job is well (`hwtop.job.hang.liveness`)."""
    trail: tuple[Step, ...]
    """Every question that was asked; the last one is the cause."""

    @property
    def is_communication(self) -> bool:
        """All ranks joined, and the collective itself does not finish."""
        return self.kind in ("mismatch", "transport", "elsewhere")

    @property
    def why(self) -> str:
        """The answer that decided."""
        return self.trail[-1].answer

    @property
    def ruled_out(self) -> str:
        """ "ruled out: no rank dead, no fault reported, ..."; where no question was answered with yes, all of them."""
        return "ruled out: " + ", ".join(step.answer for step in self.trail if not step.is_it)


class _Scene(Struct, frozen=True):
    """What the questions are asked of."""

    job: Job
    live: tuple[Rank, ...]
    waiting: tuple[Rank, ...]
    changes: tuple[Rank, ...]
    gpus: tuple[Gpu, ...]


class _Answer(Struct, frozen=True):
    """Kind and culprits where the question is answered with yes; the text in both cases."""

    text: str
    kind: HangKind | None = None
    culprits: tuple[int, ...] = ()


def hang_cause(job: Job, gpus: Sequence[Gpu] = (), patience: Patience = PATIENCE) -> HangCause | None:
    """None while anything moves. Of the ranks' facts only the newest count; time is in them."""
    live = tuple(rank for rank in job.ranks if rank.is_alive)
    surprise = standstill_phi(live, gpus, patience)
    if surprise < LEVEL:
        return None
    by_number = {rank.rank: rank for rank in live}
    waiting = tuple(rank for rank in live if waits(rank) and not _is_awaited_itself(rank, by_number))
    changes = tuple(rank for rank in live if rank not in waiting)
    scene = _Scene(job, live, waiting, changes, tuple(gpus))
    trail: list[Step] = []
    for question, ask in _QUESTIONS:
        answer = ask(scene)
        trail.append(Step(question=question, answer=answer.text, is_it=answer.kind is not None))
        if answer.kind is not None:
            break
    others = tuple(rank.rank for rank in waiting if rank.rank not in answer.culprits)
    return HangCause(
        kind=answer.kind or "unknown",
        culprits=answer.culprits,
        waiting=others,
        still_s=gap_s(live),
        phi=surprise,
        trail=tuple(trail),
    )


def _is_awaited_itself(rank: Rank, by_number: Mapping[int, Rank]) -> bool:
    """It waits at a lock or connection for a rank that waits in a collective (or in the backward pass, for one), where this one has not
    come: that one waits for it."""
    other = by_number.get(rank.stall.awaits_rank) if rank.stall.awaits_rank is not None else None
    if other is None or rank.stack.phase == "collective":
        return False
    return bool(other.stack.is_waiting) and other.stall.awaits_rank is None


def _dead(scene: _Scene) -> _Answer:
    dead = tuple(rank.rank for rank in scene.job.ranks if not rank.is_alive)
    return _Answer(f"{named(dead)} {do(dead, 'be')} dead", "dead", dead) if dead else _Answer("no rank dead")


def _event(scene: _Scene) -> _Answer:
    faults = [
        event for event in scene.job.logs.events if event.pattern in _FAULTS and event.role in ("root", "confirmation")
    ]
    faults = [event for event in faults if not event.is_past]
    if not faults:
        return _Answer("no fault reported by kernel or driver")
    ranks = tuple(sorted({event.rank for event in faults if event.rank is not None}))
    return _Answer(f"{faults[0].pattern}: {faults[0].text[:160]}", "event", ranks)


def _stopped(scene: _Scene) -> _Answer:
    stopped = tuple(rank.rank for rank in scene.live if rank.process.os_state in ("T", "t"))
    return (
        _Answer(f"{named(stopped)} {do(stopped, 'be')} stopped", "stopped", stopped)
        if stopped
        else _Answer("no rank stopped")
    )


def _storage(scene: _Scene) -> _Answer:
    """If a rank is missing, only that one counts: ranks that wait for it may be in D state in a driver."""
    ranks = [
        rank for rank in scene.changes or scene.live if rank.stall.blocked and rank.stall.blocked.for_s >= STANDSTILL_S
    ]
    if not ranks:
        return _Answer("no thread in D state")
    first = ranks[0].stall.blocked
    assert first is not None
    what = waits_for(first.wchan)
    text = f"{named(rank.rank for rank in ranks)} {do([rank.rank for rank in ranks], 'be')} in D state"
    return _Answer(text + (f": {what}" if what else ""), "storage", tuple(rank.rank for rank in ranks))


def _mismatch(scene: _Scene) -> _Answer:
    """The Flight Recorder knows, or NCCL's counts; else two places in collectives, and nobody outside of them."""
    flight = scene.job.flight.verdict
    if flight is not None and flight.kind == "mismatch":
        return _Answer(flight.text, "mismatch", flight.culprits)
    ras = scene.job.ras.verdict
    if ras is not None and ras.kind == "mismatch" and not scene.changes:
        return _Answer(ras.text, "mismatch", ras.culprits)
    groups = collective_groups(scene.job)
    is_apart = len(groups) > 1 and not scene.changes and flight is None and ras is None
    if not is_apart or any(rank.stack.phase == "rendezvous" for rank in scene.live):
        return _Answer("no mismatch of collectives")
    fewest = groups[-1].ranks
    culprits = fewest if len(groups[0].ranks) > len(fewest) else tuple(rank.rank for rank in scene.live)
    return _Answer(f"ranks wait in {len(groups)} different places", "mismatch", culprits)


def _lock(scene: _Scene) -> _Answer:
    for rank in scene.changes:
        main = thread_of(rank)
        found = deadlock(rank.stack.dump, main) if rank.stack.dump is not None and main is not None else None
        if found is not None:
            return _Answer(f"rank {rank.rank} {waits_text(found.wait)}", "lock", (rank.rank,))
    return _Answer("no missing rank waits for a lock")


def _data_worker(scene: _Scene) -> _Answer:
    starved = [rank for rank in scene.changes if rank.stack.phase == "data" and rank.workers]
    if not starved:
        return _Answer("no missing rank waits for its workers")
    ranks = tuple(rank.rank for rank in starved)
    states = "".join(sorted(worker.state for rank in starved for worker in rank.workers))
    whose = "its" if len(ranks) == 1 else "their"
    return _Answer(f"{named(ranks)} {do(ranks, 'wait')} for {whose} workers (state {states})", "data-worker", ranks)


def _missing(scene: _Scene) -> _Answer:
    flight = scene.job.flight.verdict
    if flight is not None and flight.kind == "missing":
        return _Answer(flight.text, "missing", flight.culprits)
    ras, outside = scene.job.ras.verdict, {rank.rank for rank in scene.changes}
    # counts do not show who waits for a send or recv: a rank of this machine that is seen outside comes first
    if ras is not None and ras.kind == "missing" and (not outside or outside & set(ras.culprits)):
        return _Answer(ras.text, "missing", ras.culprits)
    if scene.waiting and scene.changes:
        ranks = tuple(rank.rank for rank in scene.changes if rank.stack.phase is not None)
        if not ranks:
            unseen = [rank.rank for rank in scene.changes]
            return _Answer(f"no stack of {named(unseen)}, so whether in the collective is not known")
        text = f"{named(ranks)} {do(ranks, 'be')} outside any collective"
        return _Answer(text + _idle_gpus(scene), "missing", ranks)
    idle = _spun_out(scene)
    if idle:
        return _Answer(f"the GPU of {named(idle)} is idle while the others spin", "missing", idle)
    return _Answer("no rank outside the collective" if scene.waiting else "no rank in a collective")


def _elsewhere(scene: _Scene) -> _Answer:
    size, here = scene.job.world_size or 0, len(scene.job.ranks)
    if scene.waiting and size > here:
        return _Answer(
            f"all {here} ranks {_where(scene)} wait, {size - here} of {size} ranks are on other machines", "elsewhere"
        )
    return _Answer(f"all ranks are {_where(scene)}" if size <= here else f"{size - here} of {size} ranks not seen")


def _where(scene: _Scene) -> str:
    """Which ranks can be seen at all."""
    nodes = {rank.node for rank in scene.job.ranks}
    return "on this machine" if nodes <= {None} else f"on the {len(nodes)} nodes that report"


def _transport(scene: _Scene) -> _Answer:
    flight = scene.job.flight.verdict
    if flight is not None and flight.kind in ("stalled", "queued"):
        return _Answer(flight.text, "transport" if flight.kind == "stalled" else "unknown")
    if len(scene.waiting) > 1 and not scene.changes:
        return _Answer("all ranks wait in the same collective and none finishes", "transport")
    return _Answer("no collective that all ranks are in")


_QUESTIONS: tuple[tuple[str, Callable[[_Scene], _Answer]], ...] = (
    ("Is a rank dead?", _dead),
    ("Did the kernel or a driver report a fault?", _event),
    ("Is a rank stopped?", _stopped),
    ("Is a thread in D state?", _storage),
    ("Do ranks wait in different collectives?", _mismatch),
    ("Does the missing rank wait for a lock?", _lock),
    ("Does the missing rank wait for its loader workers?", _data_worker),
    ("Is a rank outside the collective that others wait in?", _missing),
    ("Are there ranks on other machines?", _elsewhere),
    ("Do all ranks wait in the same collective?", _transport),
)


def collective_groups(job: Job) -> tuple[StackGroup, ...]:
    """Groups of ranks that wait for others; largest first."""
    ranks = {rank.rank for rank in job.ranks if rank.is_alive and waits(rank)}
    return tuple(group for group in job.stacks.groups if any(rank in ranks for rank in group.ranks))


def _idle_gpus(scene: _Scene) -> str:
    idle = _spun_out(scene)
    return f", and the GPU of {named(idle)} is idle while the others spin" if idle else ""


def _spun_out(scene: _Scene) -> tuple[int, ...]:
    """Ranks whose GPU is idle while those of all others are full: they launched nothing that the others wait for."""
    util = {rank.rank: [each for each in utils(rank, scene.gpus) if each is not None] for rank in scene.live}
    idle = tuple(rank for rank, found in util.items() if found and max(found) < GPU_BUSY_PCT)
    full = [rank for rank, found in util.items() if found and min(found) >= GPU_SPINS_PCT]
    return idle if idle and len(idle) + len(full) == len(scene.live) else ()
