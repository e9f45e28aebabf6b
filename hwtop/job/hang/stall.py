"""Does the whole job stand still? Pure: the one question before anybody may be blamed for a hang."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from hwtop.job.hang.liveness import (
    LEVEL,
    PRIOR_S,
    STANDSTILL_S,
    SUSPECT,
    Activity,
    evidence_s,
    has_trained,
    is_idle_loop,
    is_improbable,
    newest_report_s,
    phi,
    phi_of_prior,
    phi_of_silence,
    rhythm_s,
)
from hwtop.job.hang.prompt import prompt_of
from hwtop.job.hang.rank_state import waits
from hwtop.job.kernel.wait import waits_for
from hwtop.job.stacks.frames import called_by_user, own_frames, short_name, thread_of
from hwtop.model.gpu.device import Gpu
from hwtop.model.rank import Rank
from hwtop.model.rank_stack import Phase

GPU_SPINS_PCT = 98.0
"""A collective or a synchronisation that waits keeps its GPU at (nearly) 100 %: the kernel spins. Engineering default."""
GPU_BUSY_PCT = 10.0
"""Utilization under which a GPU is idle. Engineering default."""
_AMONG_RANKS: frozenset[Phase | None] = frozenset({"collective", "backward"})
"""Who sleeps there waits for what other ranks send."""
_OF_A_CLIENT = ("socket.py", "ssl.py", "http/client.py")
_OF_A_SERVER = frozenset({"accept"})


class Patience(Struct, frozen=True, kw_only=True):
    """How much silence is asked before a job that looks still is called so."""

    quiet_s: float = STANDSTILL_S
    busy_gpu_s: float = PRIOR_S["training", "moving"]
    """While a GPU of the job works: a long kernel explains a still stack, so that only silence counts."""
    spin_waiting: frozenset[int] = frozenset()
    """GPUs that have been full for some time and did nothing: their kernel waits."""


PATIENCE = Patience()


def standstill_phi(ranks: Sequence[Rank], gpus: Sequence[Gpu] = (), patience: Patience = PATIENCE) -> float:
    """The least phi of all live ranks; 0 where nothing is known that could stand still."""
    live = [rank for rank in ranks if rank.is_alive]
    if not any(_is_training(rank, live) for rank in live) or all(rank.stack.phase == "rendezvous" for rank in live):
        return 0.0
    if silence_s(live) < patience.quiet_s:
        return 0.0
    floor_s = _floor_s(live, gpus, patience)
    is_computing = not _busy(live, gpus) <= patience.spin_waiting
    is_witnessed = (_is_silence_unusual(live) and not is_computing) or _spin_on_gpus(live, gpus)
    waiting = {rank.rank for rank in live if _has_not_returned(rank)}
    trained = any(has_trained(rank) for rank in live)
    each = [
        _phi(rank, floor_s, is_missed=bool(waiting - {rank.rank}), is_witnessed=is_witnessed, trained=trained)
        for rank in live
    ]
    return min(_phi_of_reports(live), *each)


def silence_s(ranks: Sequence[Rank]) -> float:
    """Since the newest sign of life: a log line, a step, or (without logs) a change of a stack."""
    reported_s = newest_report_s(ranks)
    return gap_s(ranks) if reported_s is None else reported_s


def gap_s(ranks: Sequence[Rank]) -> float:
    """Since the newest progress of any of these ranks: a step, a log line, another place; blocked ones count since they are blocked.

    The one number of all texts that say how long nothing has moved.
    """
    place_s = min((max(evidence_s(rank, "idle"), evidence_s(rank, "busy")) for rank in ranks), default=0.0)
    reported_s = newest_report_s(ranks)
    return place_s if reported_s is None else min(place_s, reported_s)


def is_unmoved(ranks: Sequence[Rank]) -> bool:
    """Each of these has shown no progress for improbably long: whatever is proven, they are not well."""
    return bool(ranks) and all(map(is_improbable, ranks))


def late_ranks(ranks: Sequence[Rank]) -> list[Rank]:
    """Those whose next step is overdue."""
    return [rank for rank in ranks if rank.state in ("stalled", "stuck")]


def newest_step_s(ranks: Sequence[Rank]) -> float | None:
    """Since the newest step that any of these ranks reported; None where none did."""
    return min((rank.progress.step_age_s for rank in ranks if rank.progress.step_age_s is not None), default=None)


def utils(rank: Rank, gpus: Sequence[Gpu]) -> list[float | None]:
    """Utilisation of the rank's GPUs, in percent."""
    return [gpu.util_pct for gpu in gpus if gpu.index in rank.gpus]


def _phi(rank: Rank, floor_s: float, *, is_missed: bool, is_witnessed: bool, trained: bool) -> float:
    """Of one rank among the others. One that stays in a function may work there: somebody must miss it.

    Args:
        rank: alive.
        floor_s: as of `liveness.phi`.
        is_missed: another rank waits for it in a collective that has not returned since, or in the rendezvous.
        is_witnessed: the reports of the job, or its GPUs, show that it does not go on.
        trained: the job did, before.
    """
    if is_idle_loop(rank) and not is_missed:
        return 0.0
    activities: list[Activity] = ["idle"] if waits(rank) or _is_asleep(rank) or is_witnessed or is_missed else []
    if is_witnessed or is_missed:
        activities.append("busy")
    if is_missed:
        activities.append("moving")  # it may go round and round and never come
    return phi(rank, activities, floor_s=floor_s, is_missed=is_missed, trained=trained)


def _has_not_returned(rank: Rank) -> bool:
    """The collective that it waits in: while it sleeps there it was not woken once."""
    if rank.stack.phase == "rendezvous":
        return phi(rank) >= LEVEL
    if not rank.stack.is_waiting or rank.stack.phase not in _AMONG_RANKS:
        return False
    return wait_phi(rank) >= SUSPECT


def wait_phi(rank: Rank) -> float:
    """How improbable it is that the collective which it waits in has not returned, if nobody is missing: by the prior, and by how
    long steps and earlier waits took."""
    since_s = waited_s(rank)
    usual_s = max(rhythm_s(rank) or 0.0, rank.stall.woken_every_s or 0.0)
    return min(phi(rank), phi_of_prior(since_s, STANDSTILL_S), phi_of_silence(since_s, usual_s))


def waited_s(rank: Rank) -> float:
    """For how long the collective that it waits in has not returned."""
    return evidence_s(rank, "idle") if rank.stall.asleep_for_s is None else rank.stall.asleep_for_s


def _is_asleep(rank: Rank) -> bool:
    """It was not woken, or stays on one line: what it does nothing in is one call."""
    idle_s = evidence_s(rank, "idle")
    return max(rank.stall.asleep_for_s or 0.0, rank.stall.same_stack_for_s or 0.0) >= idle_s / 2


def _is_silence_unusual(live: Sequence[Rank]) -> bool:
    """The job reports its steps, and has not for improbably long."""
    is_known = any(_usual_s(rank) is not None for rank in live) and newest_report_s(live) is not None
    return is_known and _phi_of_reports(live) >= LEVEL


def _phi_of_reports(live: Sequence[Rank]) -> float:
    """Of the time since anybody reported anything."""
    usual_s = min((known for rank in live if (known := _usual_s(rank)) is not None), default=None)
    return phi_of_silence(newest_report_s(live), usual_s)


def _usual_s(rank: Rank) -> float | None:
    """Time between two reports; where too few show it, at most all the time from the start of the job to the last of them."""
    known_s, past = rhythm_s(rank), rank.log.past_pace
    return past.steps * past.step_s if known_s is None and past is not None else known_s


def _floor_s(live: Sequence[Rank], gpus: Sequence[Gpu], patience: Patience) -> float:
    busy = _busy(live, gpus)
    return patience.quiet_s if busy <= patience.spin_waiting else patience.busy_gpu_s


def _busy(live: Sequence[Rank], gpus: Sequence[Gpu]) -> set[int]:
    """The GPUs of these ranks that have something to do."""
    own = {index for rank in live for index in rank.gpus}
    return {gpu.index for gpu in gpus if gpu.index in own and (gpu.util_pct or 0.0) >= GPU_BUSY_PCT}


def _is_training(rank: Rank, live: Sequence[Rank]) -> bool:
    """It trained, is one of several ranks, or waits for something that somebody must send: else it may be a notebook or a server
    that idles, and nothing is expected of it."""
    if is_idle_loop(rank):
        return has_trained(rank)
    return (
        has_trained(rank)
        or bool(rank.stack.is_waiting)
        or len(live) > 1
        or rank.stack.phase in _EXPECTED
        or _expects_an_answer(rank)
    )


def _expects_an_answer(rank: Rank) -> bool:
    """Of a person, of a server that it asked, or of another process."""
    if prompt_of(rank) is not None or waits_for(rank.process.wchan, rank.process.call) is not None:
        return True
    thread = thread_of(rank)
    frames = own_frames(thread) if thread is not None else ()
    inner = [(frame.short_filename, short_name(frame.name)) for frame in called_by_user(frames)]
    return any(file in _OF_A_CLIENT and name not in _OF_A_SERVER for file, name in inner)


_EXPECTED: frozenset[Phase | None] = frozenset({"data-main", "checkpoint", "eval", "sync", "compile"})
"""Nothing but a training does this; what has_trained knows is left out."""


def _spin_on_gpus(live: Sequence[Rank], gpus: Sequence[Gpu]) -> bool:
    """All wait in a synchronisation whose kernel spins: every GPU of the job is full, or idle (the one that never came)."""
    known = [util for rank in live for util in utils(rank, gpus) if util is not None]
    if not known or not all(rank.stack.phase in ("sync", "backward", "collective") for rank in live):
        return False
    return max(known) >= GPU_SPINS_PCT and all(util >= GPU_SPINS_PCT or util < GPU_BUSY_PCT for util in known)
