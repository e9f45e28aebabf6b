"""`hwtop stacks --flight-recorder DIR`: an analysis of dump files, as JSON and as text."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from hwtop.job.flight.analysis import verdicts
from hwtop.job.flight.call import calls_of, completed, written
from hwtop.job.flight.team import WAITED_S, Team, first_open, newest, teams
from hwtop.job.log.text import visible
from hwtop.job.rank_set import named, rank_set
from hwtop.model.output import Output
from hwtop.model.reported.flight import FlightDump, FlightVerdict
from hwtop.model.symptom import Blind
from hwtop.report.text_table import aligned

_MOST_VERDICTS = 8


class FlightRow(Struct, frozen=True, kw_only=True):
    """Progress of one rank in one process group; None if its dump does not record it, -1 = nothing yet."""

    group: str
    last_enqueued: int | None
    last_started: int | None
    last_completed: int | None
    last_operation: str | None
    """The newest entry: "all_reduce #6 [1024] float32"."""


class FlightRank(Struct, frozen=True, kw_only=True):
    """One rank's dump."""

    rank: int
    file: str
    version: str
    taken_s: float | None
    entries: int
    groups: tuple[FlightRow, ...]
    error: str | None


class FlightReport(Output, frozen=True, kw_only=True):
    """`hwtop stacks --flight-recorder DIR --json`: the analysis of dump files."""

    directory: str
    sentence: str
    verdicts: tuple[FlightVerdict, ...]
    """The one that explains others first."""
    ranks: tuple[FlightRank, ...]
    ranks_without_dump: tuple[int, ...]
    blind: tuple[Blind, ...]


def flight_report(directory: str, dumps: Sequence[FlightDump]) -> FlightReport:
    """Analyse the dumps of one job."""
    found = verdicts(dumps)
    readable = newest(dumps)
    groups = teams(readable, ())
    labels = {team.name: team.label for team in groups}
    absent = {rank for team in groups for rank in team.absent}
    return FlightReport(
        directory=directory,
        sentence=found[0].text if found else _calm(groups, readable, absent),
        verdicts=found,
        ranks=tuple(_rank(dump, labels) for dump in dumps),
        ranks_without_dump=tuple(sorted(absent)),
        blind=tuple(Blind(source=dump.origin, reason=dump.error) for dump in dumps if dump.error is not None),
    )


def flight_text(report: FlightReport) -> str:
    """Lines with a line end each; control characters are made visible."""
    return "".join(f"{visible(line)}\n" for line in _lines(report))


def _calm(groups: Sequence[Team], readable: Collection[int], absent: Collection[int]) -> str:
    left = f" ({len(readable)} of {len(readable) + len(absent)} ranks wrote a readable dump)" if absent else ""
    dumps = f"the {'dump' if len(readable) == 1 else 'dumps'} of {named(readable)}{left}"
    if any(first_open(team) is not None for team in groups):
        return f"no operation in {dumps} had waited for {WAITED_S:.0f} s: no evidence of a hang"
    return f"no operation is stuck in {dumps}: all that were enqueued have finished"


def _rank(dump: FlightDump, labels: dict[str, str]) -> FlightRank:
    rows = []
    for group in dump.groups:
        calls = calls_of(dump, group)
        enqueued = [number for number in (group.last_enqueued, *calls) if number is not None]
        rows.append(
            FlightRow(
                group=labels.get(group.name, group.name),
                last_enqueued=max(enqueued, default=None),
                last_started=group.last_started,
                last_completed=completed(group, calls),
                last_operation=written(calls[max(calls)]) if calls else None,
            )
        )
    return FlightRank(
        rank=dump.rank or 0,
        file=dump.origin,
        version=dump.version,
        taken_s=dump.taken_s,
        entries=len(dump.entries),
        groups=tuple(rows),
        error=dump.error,
    )


def _lines(report: FlightReport) -> Iterator[str]:
    yield report.sentence
    for index, verdict in enumerate(report.verdicts[:_MOST_VERDICTS]):
        if index:
            yield ""
            yield f"also: {verdict.text}"
        yield from (f"  {line}" for line in verdict.evidence)
    if len(report.verdicts) > _MOST_VERDICTS:
        yield f"and {len(report.verdicts) - _MOST_VERDICTS} more"
    yield from _table(report.ranks)
    if report.ranks_without_dump:
        yield ""
        yield f"no dump of {named(report.ranks_without_dump)}"
    for spot in report.blind:
        yield f"not read: {spot.source}: {spot.reason}"


def _table(ranks: Sequence[FlightRank]) -> Iterator[str]:
    """One line for all ranks with the same progress."""
    rows: dict[tuple[str, ...], list[int]] = {}
    for rank in ranks:
        for row in rank.groups:
            numbers = (_number(row.last_enqueued), _number(row.last_started), _number(row.last_completed))
            rows.setdefault((row.group, *numbers, row.last_operation or "-"), []).append(rank.rank)
    if not rows:
        return
    head = ("group", "enqueued", "started", "finished", "last operation")
    table = [("ranks", *head), *((rank_set(numbers), *row) for row, numbers in sorted(rows.items()))]
    yield ""
    yield from aligned(table)


def _number(value: int | None) -> str:
    if value is None:
        return "-"
    return "none" if value < 0 else f"#{value}"
