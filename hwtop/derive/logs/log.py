"""The job's logs over time: whose line it is, what it tells of the training, which patterns it matched."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from operator import itemgetter

from msgspec import Struct
from msgspec.structs import replace

from hwtop.derive.logs.curves import CurveBook
from hwtop.derive.logs.stream import LogStream, LogStreams
from hwtop.derive.logs.surroundings import Surroundings
from hwtop.derive.logs.writer import of_job
from hwtop.job.log.attempt import attempt_of, is_earlier, superseded
from hwtop.job.log.bare_label import BareLabels
from hwtop.job.log.own_report import without_reports
from hwtop.job.log.parsed import ParsedLine, parsed
from hwtop.job.log.rank_path import rank_of_path
from hwtop.job.patterns.match import Matcher
from hwtop.job.patterns.registry import Registry
from hwtop.model.curve import Curve
from hwtop.model.evidence import LEVEL_VALUES, REPEATED
from hwtop.model.rank import RankLog, RankProgress
from hwtop.model.reported.log import LogEvent, LogFile, LogLine, LogReading

_KEPT_LINES = 500
_KEPT_EVENTS = 500


class LogReport(Struct, frozen=True, kw_only=True):
    """What the logs say of one rank."""

    log: RankLog
    progress: RankProgress


class _Reported(Struct):
    """An event, and how many lines of the same file reported progress after it: where a counter begins again, too."""

    event: LogEvent
    steps_after: int = 0


class LogBook:
    """Takes in every LogReading, and answers for each rank. `ranks_of` maps a path to the ranks that write to it."""

    def __init__(self, patterns: Registry | None = None) -> None:
        self._matcher = Matcher(patterns)
        self._streams = LogStreams()
        self._bare_labels: dict[str, BareLabels] = {}
        self._read_at_s = 0.0
        self._job_age_s: float | None = None
        self._lines: deque[LogLine] = deque(maxlen=_KEPT_LINES)
        self._curves = CurveBook()
        self._surroundings = Surroundings()
        self._reported: deque[_Reported] = deque(maxlen=_KEPT_EVENTS)
        self.files: tuple[LogFile, ...] = ()
        self.rank_of_path: Mapping[str, int] = {}
        """Logs of ranks that are not here, by how they are called; given from outside."""
        self.exit_codes: dict[int, int] = {}
        """PID -> exit code, where a launcher's log tells it; negative = signal."""

    @property
    def lines(self) -> tuple[LogLine, ...]:
        """The newest lines of all files, oldest first."""
        return tuple(self._lines)

    @property
    def events(self) -> tuple[LogEvent, ...]:
        """What the patterns found, oldest first."""
        return tuple(reported.event for reported in self._reported)

    @property
    def flagged_lines(self) -> tuple[LogLine, ...]:
        """Lines that matched, with those around them."""
        return self._surroundings.lines

    @property
    def curves(self) -> tuple[Curve, ...]:
        """What the logs tell over the steps of the training."""
        return self._curves.curves

    def advance(
        self,
        reading: LogReading,
        ranks_of: Mapping[str, Sequence[int]],
        rank_of: Mapping[int, int],
        job_age_s: float | None = None,
    ) -> None:
        """Take in the lines of one reading; those of earlier jobs in the same file are shown, and tell nothing.

        `rank_of` maps the PIDs of ranks to their numbers; `job_age_s`: since the job began.
        """
        self.files = reading.files
        self._read_at_s, self._job_age_s = reading.at_s, job_age_s
        every = [parsed(line) for line in reading.lines]
        shown = [line.source if line.rank is None else replace(line.source, rank=line.rank) for line in every]
        self._lines.extend(_side_by_side(shown))
        lines = of_job(reading, without_reports(every), job_age_s)
        doubtful = [replace(event, writer="unknown") for event in self._matcher.match_parsed(lines.unknown)]
        events = [*doubtful, *self._matcher.match_parsed(lines.of_job)]
        self._surroundings.advance(shown, events)
        for event in events:
            names_rank = event.groups.get("pid", event.groups.get("exit_pid", "")) in map(str, rank_of)
            writer = "job" if names_rank else event.writer
            blamed = self._blamed(event, ranks_of, rank_of)
            self._reported.append(_Reported(replace(event, rank=blamed, writer=writer)))
        earlier = superseded(file.path for file in reading.files)
        for line in lines.unknown:
            if line.path not in earlier:
                self._take(line, ranks_of)
        for line in lines.of_job:
            stream = None if line.path in earlier else self._take(line, ranks_of)
            if stream is not None and line.source.is_past:
                stream.see_past(self._job_s_at(stream), self._modified_s(stream))

    def of_rank(self, rank: int, ranks_of: Mapping[str, Sequence[int]], at_s: float) -> LogReport:
        """What is known of this rank at `at_s`."""
        paths = [path for path, ranks in ranks_of.items() if rank in ranks]
        shared = [stream for stream in self._streams.of_rank(None) if self._speaks_for(stream.path, rank, ranks_of)]
        streams = [*self._streams.of_rank(rank), *shared]
        wanted = {*paths, *(stream.path for stream in streams)}
        since_s = max(0.0, at_s - self._read_at_s)
        ages = {
            file.path: file.age_s + since_s for file in self.files if file.path in wanted and file.age_s is not None
        }
        age_s = min(ages.values(), default=None)
        news = {stream.path: at_s - stream.news_at_s for stream in streams if stream.news_at_s is not None}
        best = max(
            (stream for stream in streams if stream.last_step_at_s is not None),
            key=lambda stream: stream.last_step_at_s or 0.0,
            default=None,
        )
        log = RankLog(
            path=best.path if best else next(iter([*paths, *(stream.path for stream in streams)]), None),
            age_s=age_s,
            news_age_s=min((ages | news).values()) if news else None,
            interval_s=best.log_interval_s if best else None,
            mean_interval_s=self._mean_interval_s(best) if best else None,
            longest_gap_s=best.longest_gap_s if best else None,
            past_pace=best.past_pace if best else None,
            last_line=next((stream.last_line for stream in (best, *streams) if stream and stream.last_line), None),
        )
        if best is None:
            newest = next((stream.newest for stream in streams if stream.newest), None)
            return LogReport(log=log, progress=RankProgress(newest=newest))
        progress = RankProgress(
            newest=best.newest,
            step_time_s=best.step_time_s,
            step_age_s=best.step_age_s(at_s),
            lost_values=best.lost_values,
            reported_at_s=None if best.is_past else best.last_step_at_s,
        )
        return LogReport(log=log, progress=progress)

    def _mean_interval_s(self, stream: LogStream) -> float | None:
        """The life of the job until the last line of the file, over its lines with a step."""
        job_s = self._job_s_at(stream)
        if job_s is None or not stream.is_past or stream.past_steps < LEVEL_VALUES:
            return None
        return job_s / stream.past_steps

    def _job_s_at(self, stream: LogStream) -> float | None:
        """How old the job was when the file was last written to; None where either is not known."""
        modified_s = self._modified_s(stream)
        if modified_s is None or self._job_age_s is None:
            return None
        return max(0.0, self._job_age_s - (self._read_at_s - modified_s))

    def _modified_s(self, stream: LogStream) -> float | None:
        """When its file was last written to; None where that is not known."""
        age_s = next((file.age_s for file in self.files if file.path == stream.path), None)
        return None if age_s is None else self._read_at_s - age_s

    def _blamed(self, event: LogEvent, ranks_of: Mapping[str, Sequence[int]], rank_of: Mapping[int, int]) -> int | None:
        """The rank that the line is about: it says so, names its PID, or stands in that rank's log."""
        pid = event.groups.get("pid") or event.groups.get("exit_pid")
        code = event.groups.get("exitcode") or event.groups.get("exit")
        if pid and code:
            self.exit_codes[int(pid)] = int(code)
        if event.rank is not None:
            return event.rank
        if pid and int(pid) in rank_of:
            return rank_of[int(pid)]
        return self._owner(event.path, ranks_of)

    def _take(self, parsed_line: ParsedLine, ranks_of: Mapping[str, Sequence[int]]) -> LogStream | None:
        """The stream, where the line tells a new step."""
        line = parsed_line.source
        rank, parsed_line = self._writer(parsed_line, ranks_of)
        stream = self._streams.of(line.path, rank)
        progress, is_step = stream.take(parsed_line)
        if stream.takes_times_back:
            self._curves.take_back("step_time_s", stream.key)
        if progress is not None:
            step = stream.run_step if stream.run_step is not None else self._step_elsewhere(stream.rank)
            self._curves.take(stream.key, progress, step, line)
            if stream.measured is not None:
                self._curves.take_arrival(stream.key, stream.measured)
        if progress is not None and (line.is_past or attempt_of(line.path) is not None):
            self._overcome(line)
        return stream if is_step else None

    def _step_elsewhere(self, rank: int | None) -> int | None:
        """The newest step that the rank told in another file: bars go to its stderr, losses to its stdout."""
        others = self._streams.of_rank(rank) if rank is not None else []
        newest = max(others, key=lambda stream: stream.last_step_at_s or 0.0, default=None)
        return None if newest is None else newest.run_step

    def _overcome(self, line: LogLine) -> None:
        """Count the steps after each past event of the file; drop those that the run has survived."""
        for reported in self._reported:
            if reported.event.is_past and _is_before(reported.event, line):
                reported.steps_after += 1
        survived = (reported for reported in self._reported if reported.steps_after < REPEATED)
        self._reported = deque(survived, maxlen=_KEPT_EVENTS)

    def _writer(self, line: ParsedLine, ranks_of: Mapping[str, Sequence[int]]) -> tuple[int | None, ParsedLine]:
        """The rank of a line, and what it says: its launcher names the rank, or it does itself, where several write into the file."""
        if line.rank is not None:
            return line.rank, line
        ranks = ranks_of.get(line.path, ())
        if len(ranks) > 1:
            if line.label in ranks:
                return line.label, line
            proven = self._bare_labels.setdefault(line.path, BareLabels()).read(line, ranks)
            if proven is not None:
                return proven
        return self._owner(line.path, ranks_of), line

    def _owner(self, path: str, ranks_of: Mapping[str, Sequence[int]]) -> int | None:
        """The rank of a line that names none."""
        ranks = ranks_of.get(path, ())
        return ranks[0] if len(ranks) == 1 else self.rank_of_path.get(path, rank_of_path(path))

    def _speaks_for(self, path: str, rank: int, ranks_of: Mapping[str, Sequence[int]]) -> bool:
        """Lines without a rank in a file that several ranks share (or that --logs named) are taken for the lowest one's."""
        ranks = ranks_of.get(path, ())
        everyone = ranks or [number for numbers in ranks_of.values() for number in numbers] or [0]
        return rank == min(everyone)


def _side_by_side(lines: Sequence[LogLine]) -> list[LogLine]:
    """What was read of several files at once, the newest of each last: where not all are kept, each file has its share."""
    left, places = Counter(line.path for line in lines), []
    for line in lines:
        left[line.path] -= 1
        places.append((line.at_s, -left[line.path]))
    return [line for _, line in sorted(zip(places, lines, strict=True), key=itemgetter(0))]


def _is_before(event: LogEvent, line: LogLine) -> bool:
    if event.path != line.path:
        return is_earlier(event.path, line.path)
    if not line.is_past:
        return False
    if event.line_no is None or line.line_no is None:
        return True
    return event.line_no < line.line_no
