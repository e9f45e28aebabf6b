from __future__ import annotations

from typing import Any

from hwtop.derive.job.attach import Attachment, merged
from hwtop.model.process import ProcessInfo
from hwtop.model.snapshot import Snapshot
from hwtop.model.stack import DeepDump, DeepReading, Refusal, Rung, StackDump
from tests.derive.readings import launcher, processes, rank, snapshot, stacks
from tests.parts import replace

DENIED = Refusal(rung="py-spy", reason="no permission to read the memory of the process", advice="sudo hwtop 110")
NO_SUDO = Refusal(rung="sudo", reason="sudo -n: a password is required")
NO_SERVER = Refusal(rung="debug-server", reason="no debug server runs in it")
RANKS = {110: 0, 111: 1, 112: 2}


def at(at_s: float, *ranks: ProcessInfo, **fields: Any) -> Snapshot:
    return snapshot(at_s, process=processes(at_s, launcher(), *ranks), **fields)


def refused(pid: int, *refusals: Refusal, at_s: float = 10.0) -> StackDump:
    error = f"no permission to read the memory of pid {pid}"
    return StackDump(pid=pid, at_s=at_s, error=error, advice="sudo hwtop 110", refusals=refusals)


def seen(pid: int, via: Rung, *refusals: Refusal, at_s: float = 11.0) -> StackDump:
    return StackDump(pid=pid, at_s=at_s, via=via, refusals=refusals)


def after(*snapshots: Snapshot) -> Attachment:
    attachment = Attachment()
    for each in snapshots:
        attachment.advance(each)
    return attachment


def test_ranks_that_are_refused_alike_are_told_together() -> None:
    every = (DENIED, NO_SUDO, NO_SERVER)
    dumps = (refused(112, DENIED, NO_SUDO), refused(110, *every), refused(111, *every))
    found = after(at(10.0, rank(0), rank(1), rank(2), stacks=stacks(10.0, *dumps)))
    assert found.refusals(RANKS) == (
        replace(DENIED, ranks=(0, 1, 2)),
        replace(NO_SUDO, ranks=(0, 1, 2)),
        replace(NO_SERVER, ranks=(0, 1)),
    )
    assert found.errors == (("no permission to read the memory of the process", "sudo hwtop 110"),)


def test_the_first_advice_stays_and_helpers_have_no_rank() -> None:
    other = replace(DENIED, advice="sudo hwtop 999")
    assert merged([((DENIED,), 0), ((other,), None)]) == (replace(DENIED, ranks=(0,)),)
    assert merged([((DENIED,), None)]) == (DENIED,)


def test_what_root_sees_lacks_nothing_and_what_the_server_tells_does() -> None:
    dumps = (seen(110, "sudo", DENIED), seen(111, "debug-server", DENIED, NO_SUDO))
    found = after(at(11.0, rank(0), rank(1), stacks=stacks(11.0, *dumps)))
    assert found.refusals(RANKS) == (replace(DENIED, ranks=(1,)), replace(NO_SUDO, ranks=(1,)))
    assert found.errors == ()


def test_a_refusal_goes_with_its_cause_or_its_process() -> None:
    first = at(10.0, rank(0), rank(1), stacks=stacks(10.0, refused(110, DENIED), refused(111, DENIED)))
    mended = at(11.0, rank(0), rank(1), stacks=stacks(11.0, seen(110, "py-spy")))
    assert after(first, mended).refusals(RANKS) == (replace(DENIED, ranks=(1,)),)
    assert after(first, at(11.0, rank(0))).refusals(RANKS) == (replace(DENIED, ranks=(0,)),)


def test_the_newest_eight_answers_stay() -> None:
    def answered(number: int) -> Snapshot:
        dump = DeepDump(request=number, pid=110, at_s=10.0 + number, kind="native", text="stack")
        return at(10.0 + number, rank(0), deep=DeepReading(at_s=10.0 + number, dumps=(dump,)))

    found = after(*(answered(number) for number in range(1, 11)), at(30.0, rank(0)))
    assert [dump.request for dump in found.deep] == [3, 4, 5, 6, 7, 8, 9, 10]
