"""Coverage: how much of the job was seen, so that nobody concludes from what is not there."""

from __future__ import annotations

from msgspec import Struct

from hwtop.model.frame import Frame


class Seen(Struct, frozen=True, kw_only=True):
    """How many of how many."""

    seen: int
    of: int | None
    """None where it is not known how many there are."""
    reason: str | None = None
    """Why not all."""


class Coverage(Struct, frozen=True, kw_only=True):
    """What the diagnosis rests on."""

    ranks: Seen
    """Living ones on this machine, of all ranks of the job."""
    stacks: Seen
    """Living ranks whose stack was read."""
    steps: Seen
    """Living ranks whose step is known from a log, metrics file or heartbeat."""
    logs: Seen
    """Log files that can be read."""
    gpus: Seen
    """Devices that answer."""
    sources: Seen
    """What hwtop reads: processor, kernel log and so on; `blind` has the reasons."""


def coverage(frame: Frame) -> Coverage:
    """Of the newest moment."""
    derived, job = frame.derived, frame.derived.job
    alive = [rank for rank in job.ranks if rank.is_alive] if job else []
    files = job.logs.files if job else ()
    late = [source.name for source in derived.sources if source.status != "ok"]

    def seen(count: int, of: int | None, *sources: str) -> Seen:
        """Of a source that names one thing ("log /a/b") the first word tells which it is."""
        reasons = [spot.reason for spot in frame.blind if spot.source.partition(" ")[0] in sources]
        is_all = of is not None and count >= of > 0
        return Seen(seen=count, of=of, reason=None if is_all else "; ".join(reasons) or None)

    return Coverage(
        ranks=seen(len(alive), job.world_size if job else None, "ranks", "process"),
        stacks=seen(sum(rank.stack.phase is not None for rank in alive), len(alive), "stacks"),
        steps=seen(sum(bool(rank.progress.step) for rank in alive), len(alive)),
        logs=seen(sum(file.reason is None for file in files), len(files), "log", "logs"),
        gpus=seen(sum(gpu.status == "ok" for gpu in derived.gpus), len(derived.gpus) or None, "gpu"),
        sources=Seen(seen=len(derived.sources) - len(late), of=len(derived.sources), reason=", ".join(late) or None),
    )


def coverage_text(found: Coverage) -> str:
    """`ranks 14 of 16 (...), stacks 14 of 14, ...`: all of it in one line."""
    parts = []
    for name in found.__struct_fields__:
        one: Seen = getattr(found, name)
        of = "" if one.of is None else f" of {one.of}"
        parts.append(f"{name} {one.seen}{of}" + (f" ({one.reason})" if one.reason else ""))
    return ", ".join(parts)
