"""The text form, which all versions have: a table of communicators, then the ranks that differ from most."""

from __future__ import annotations

import re
from io import BytesIO
from itertools import islice

from msgspec.structs import replace

from hwtop.job.ras.counts import in_order
from hwtop.job.ras.error import RasError
from hwtop.lazy_regex import lazy_regex
from hwtop.model.reported.ras import RasCommunicator, RasCount, RasProcess, RasRank, RasReport, RasState

_READ_LINES = 200_000
_READ_LINE_BYTES = 4096

_VERSION = lazy_regex(r"NCCL version (\d[\w.+-]{0,40}) compiled .*")
_HAS_TABLE = lazy_regex(r"Communicators\.\.\..*|No communicator data collected!")
_GROUP = lazy_regex(r"(\d{1,9}) +(\d{1,9}) +\d+ +[\d-]+ +(?:\d+-)?(\d{1,9}) +\d+ +([A-Z]+) +[A-Z, ]+")
"""Group, communicators in it, nodes of each, ranks per node and in each, ranks in all, status, errors."""
_BLOCK = lazy_regex(r"#(\d{1,9})-\d{1,9} \(([0-9a-f]{1,16})\) ([A-Z]+)")
_BLOCK_OF_JOB = lazy_regex(r"INCOMPLETE|DEAD|TIMEOUT")
_OPERATION = lazy_regex(r"Communicator ranks have different (\w{1,40}) operation counts")
_REPORTED = lazy_regex(r"(?:(\d{1,9}) ranks?|Rank (\d{1,9})) (have|has|reported) (.*?)(?: -- (.*))?")
"""Of a group of ranks with one line each after it, or of one rank, with its process."""
_MEMBER = lazy_regex(r"Rank (\d{1,9}) -- (.*)")
_MISSING = lazy_regex(r"The missing ranks?: ([\d, ]+)")
_LAUNCHED = lazy_regex(r"launched up to operation (\d{1,18})")
_NOT_LAUNCHED = "not launched any operations"
_STATUS = lazy_regex(r"status ([A-Z]{1,20})")
_PLACE = lazy_regex(r"GPU (\d{1,9})(?: \(NVML \d+\))? managed by process (\d{1,18}) on node (\S{1,256})")
_PROCESS = lazy_regex(r"Process (\d{1,18}) on node (\S{1,256})(?: managing GPU.*)?")
_TIMEOUTS = lazy_regex(r"Encountered (\d{1,9}) communication timeouts? .*")
_STATES: dict[str, RasState] = {
    "RUNNING": "running",
    "INIT": "starting",
    "FINALIZE": "finalizing",
    "ABORT": "aborted",
}


def parse_text(data: bytes) -> RasReport:
    """The report.

    Raises:
        RasError: it has neither the table of communicators nor the sentence that there are none.
    """
    reader = _Reader()
    for raw in islice(BytesIO(data), _READ_LINES):
        reader.take(raw[:_READ_LINE_BYTES].decode("utf-8", "replace").strip())
    if not reader.has_table:
        first = data[:200].decode("utf-8", "replace").strip().partition("\n")[0]
        raise RasError(f"not a RAS report: {first!r}" if first else "the report is empty")
    return reader.report()


class _Block:
    """What is reported of one communicator."""

    def __init__(self, size: int | None, state: RasState) -> None:
        self.size = size
        self.state = state
        self.operation = "collective"
        self.ranks: dict[int, RasRank] = {}
        self.counts: dict[tuple[str, int], int] = {}
        self.group: RasRank | None = None
        """What the last line reported of a group of ranks: the members come after it."""

    def take(self, line: str) -> None:
        if match := _OPERATION.fullmatch(line):
            self.operation = match[1]
        elif match := _MISSING.fullmatch(line):
            for number in re.findall(r"\d{1,9}", match[1]):
                self._see(int(number), RasRank(rank=0, state="missing"), None)
        elif match := _MEMBER.fullmatch(line):
            self._see(int(match[1]), self.group or RasRank(rank=0, state=self.state), match[2])
        elif match := _REPORTED.fullmatch(line):
            self.group = self._fields(match[3], match[4])
            for operation, launched in self.group.launched.items():
                key = (operation, launched)
                self.counts[key] = self.counts.get(key, 0) + int(match[1] or 1)
            if match[2] is not None:
                self._see(int(match[2]), self.group, match[5])

    def _fields(self, verb: str, words: str) -> RasRank:
        if verb == "reported":
            return RasRank(rank=0, state="error", error=words[:160])
        if words == _NOT_LAUNCHED:
            return RasRank(rank=0, state=self.state, launched={self.operation: 0})
        if match := _LAUNCHED.fullmatch(words):
            return RasRank(rank=0, state=self.state, launched={self.operation: int(match[1])})
        if match := _STATUS.fullmatch(words):
            return RasRank(rank=0, state=_STATES.get(match[1], "unknown"))
        return RasRank(rank=0, state=self.state)

    def _see(self, number: int, new: RasRank, place: str | None) -> None:
        known = self.ranks.get(number, new)
        found = _PLACE.fullmatch(place or "")
        self.ranks[number] = replace(
            known,
            rank=number,
            state=new.state if new.state != self.state else known.state,
            error=new.error or known.error,
            launched={**known.launched, **new.launched},
            process=RasProcess(host=found[3], pid=int(found[2])) if found else known.process,
            gpu=int(found[1]) if found else known.gpu,
        )


class _Reader:
    """Takes the lines in order."""

    def __init__(self) -> None:
        self.has_table = False
        self._version: str | None = None
        self._groups: dict[str, tuple[int, RasState]] = {}
        """Number of a group -> ranks and state of its communicators."""
        self._count = 0
        self._blocks: dict[str, _Block] = {}
        self._block: _Block | None = None
        self._processes: dict[str, list[RasProcess]] = {}
        self._of_job = ""
        self._timeouts = 0

    def take(self, line: str) -> None:
        """One line, without blanks around it."""
        if match := _BLOCK.fullmatch(line):
            self._block = self._blocks.setdefault(match[2], _Block(*self._groups.get(match[1], (None, "unknown"))))
            lost = RasRank(rank=0, state="missing")
            self._block.group = lost if match[3] == "INCOMPLETE" else None
        elif _BLOCK_OF_JOB.fullmatch(line):
            self._block, self._of_job = None, line
        elif self._block is not None:
            self._block.take(line)
        elif match := _PROCESS.fullmatch(line):
            self._processes.setdefault(self._of_job, []).append(RasProcess(host=match[2], pid=int(match[1])))
        elif match := _TIMEOUTS.fullmatch(line):
            self._timeouts = int(match[1])
        elif _HAS_TABLE.fullmatch(line):
            self.has_table = True
        elif match := _VERSION.fullmatch(line):
            self._version = match[1]
        elif match := _GROUP.fullmatch(line):
            self._groups[match[1]] = int(match[3]), _STATES.get(match[4], "unknown")
            self._count += int(match[2])

    def report(self) -> RasReport:
        """All that was read."""
        dead = tuple(self._processes.get("DEAD", ()))
        return RasReport(
            nccl_version=self._version,
            communicators=tuple(_communicator(name, block, dead) for name, block in self._blocks.items()),
            communicator_count=self._count,
            dead=dead,
            missing=tuple(self._processes.get("INCOMPLETE", ())),
            timeouts=self._timeouts,
        )


def _communicator(name: str, block: _Block, dead: tuple[RasProcess, ...]) -> RasCommunicator:
    gone = {(process.host, process.pid) for process in dead}
    ranks = (
        replace(rank, state="dead") if rank.process and (rank.process.host, rank.process.pid) in gone else rank
        for _, rank in sorted(block.ranks.items())
    )
    counts = (
        RasCount(operation=operation, launched=launched, ranks=ranks)
        for (operation, launched), ranks in block.counts.items()
    )
    return RasCommunicator(name=name, size=block.size, ranks=tuple(ranks), counts=in_order(counts))
