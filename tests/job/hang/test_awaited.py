"""Which rank another one waits for, by who holds the other end."""

from __future__ import annotations

from hwtop.job.hang.awaited import awaited_rank
from hwtop.model.process import ProcessInfo, SystemCall
from tests.derive.readings import process

RANKS = {110: 0, 111: 1, 112: 2}


def at_pipe(pid: int, *holders: int) -> ProcessInfo:
    return process(pid, 100, call=SystemCall(name="read", fd=5, target="pipe:[9]", peer_pids=holders))


def awaited(*processes: ProcessInfo) -> int | None:
    return awaited_rank(processes[0], {each.pid: each for each in processes}, RANKS)


def test_the_rank_that_has_the_other_end() -> None:
    assert awaited(at_pipe(110, 112), process(112)) == 2


def test_a_server_in_between_is_followed() -> None:
    assert awaited(at_pipe(110, 100), at_pipe(100, 112), process(112)) == 2


def test_nobody_where_it_is_not_certain() -> None:
    assert awaited(process(110)) is None
    assert awaited(at_pipe(110, 111, 112)) is None, "two hold it"
    assert awaited(at_pipe(110), process(112)) is None, "nobody holds it"
    assert awaited(at_pipe(110, 100), process(100)) is None, "the server waits for none"
    assert awaited(at_pipe(110, 100), at_pipe(100, 110)) is None, "the server waits for itself"
