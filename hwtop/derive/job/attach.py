"""How the job's processes can be looked at: what was refused on the way, and the answers to a person's requests."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from hwtop.model.snapshot import Snapshot
from hwtop.model.stack import DeepDump, Refusal, StackDump

_KEPT_ANSWERS = 8


class Attachment:
    """Remembers the newest dump of each process and the newest answers; `advance` takes each snapshot in order."""

    def __init__(self) -> None:
        self._dumps: dict[int, StackDump] = {}
        self._deep: deque[DeepDump] = deque(maxlen=_KEPT_ANSWERS)

    @property
    def errors(self) -> tuple[tuple[str, str], ...]:
        """(why the newest dump of a process holds nothing, advice), each once: without the pid many ranks say the same."""
        found: dict[str, str] = {}
        for dump in self._dumps.values():
            if dump.error is not None:
                found.setdefault(dump.error.replace(f"pid {dump.pid}", "the process"), dump.advice or "")
        return tuple(found.items())

    @property
    def deep(self) -> tuple[DeepDump, ...]:
        """Answers to requests, oldest first."""
        return tuple(self._deep)

    def advance(self, snapshot: Snapshot) -> None:
        """Take in what was looked at since the last snapshot; forget the processes that are gone."""
        for dump in snapshot.stacks.dumps if snapshot.stacks else ():
            self._dumps[dump.pid] = dump
        self._deep.extend(snapshot.deep.dumps if snapshot.deep else ())
        if snapshot.process is not None and self._dumps:
            here = {process.pid for process in snapshot.process.processes}
            self._dumps = {pid: dump for pid, dump in self._dumps.items() if pid in here}

    def refusals(self, rank_of: Mapping[int, int]) -> tuple[Refusal, ...]:
        """Of the ranks' newest dumps, each reason once with the ranks that it concerns. Their helpers have the same owner and
        are refused alike; they count only where there is no rank.

        `rank_of`: pid -> rank of the ranks that live.
        """
        dumps = [dump for dump in self._dumps.values() if dump.pid in rank_of or not rank_of]
        return merged((dump.refusals, rank_of.get(dump.pid)) for dump in dumps if not _is_whole(dump))


def merged(found: Iterable[tuple[tuple[Refusal, ...], int | None]]) -> tuple[Refusal, ...]:
    """Refusals of many processes, those of the same rung for the same reason put together; the first one's advice stays."""
    whole: dict[tuple[str, str], tuple[Refusal, set[int]]] = {}
    for refusals, rank in found:
        for refusal in refusals:
            _, ranks = whole.setdefault((refusal.rung, refusal.reason), (refusal, set()))
            if rank is not None:
                ranks.add(rank)
    return tuple(replace(refusal, ranks=tuple(sorted(ranks))) for refusal, ranks in whole.values())


def _is_whole(dump: StackDump) -> bool:
    """Seen as well as by the first rung: as root py-spy tells the same."""
    return dump.error is None and dump.via in ("py-spy", "sudo")
