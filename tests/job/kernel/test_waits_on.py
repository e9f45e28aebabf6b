"""What a rank waits for, in words."""

from __future__ import annotations

from hwtop.job.kernel.waits_on import waits_on
from hwtop.model.process import ProcessInfo, SystemCall
from tests.derive.readings import process


def test_a_stopped_child_is_named_as_the_reason() -> None:
    rank = process(110, wchan="do_wait", call=SystemCall(name="wait4"))
    child = process(120, 110, "tar -c run", state="T")
    assert waits_on(rank, [child]) == "the end of a child process; its child PID 120 (tar -c run) is stopped (state T)"
    reads = process(110, wchan="anon_pipe_read", call=SystemCall(name="read", fd=5, target="pipe:[9]"))
    assert waits_on(reads, [child]) == (
        "bytes from a pipe (descriptor 5); its child PID 120 (tar -c run) is stopped (state T)"
    )


def test_the_one_child_that_is_waited_for_is_named() -> None:
    rank = process(110, wchan="do_wait")
    assert waits_on(rank, [process(120, 110, "sleep 1000")]) == (
        "the end of a child process: PID 120 (sleep 1000), state S"
    )


def test_who_runs_waits_for_nothing() -> None:
    assert waits_on(process(110, state="R", wchan="do_wait"), []) is None
    assert waits_on(process(110), []) is None


def test_who_has_the_other_end_and_what_it_does() -> None:
    def reads(*holders: int) -> ProcessInfo:
        return process(110, call=SystemCall(name="read", fd=5, target="pipe:[9]", peer_pids=holders))

    peer = process(120, 100, "python sim.py", call=SystemCall(name="clock_nanosleep"))
    others = {120: peer, 121: process(121)}
    assert waits_on(reads(120), [], others) == (
        "bytes from a pipe (descriptor 5); PID 120 (sim.py) has the other end, is in state S and waits for a sleep to end"
    )
    assert waits_on(reads(120, 121), [], others) == (
        "bytes from a pipe (descriptor 5); the other end is open in 2 processes of the job"
    )
    assert waits_on(reads(), [], others) == (
        "bytes from a pipe (descriptor 5); no other process of the job has the other end open"
    )
    own = process(110, call=SystemCall(name="read", fd=5, target="pipe:[9]", peer_pids=(), has_both_ends=True))
    assert waits_on(own, [], others) == (
        "bytes from a pipe (descriptor 5); it holds both ends itself: only another one of its threads could answer"
    )


def test_who_holds_a_file_lock() -> None:
    call = SystemCall(name="flock", fd=5, target="/data/index", peer="PID 120 (sim)", peer_pids=(120,))
    waits = process(110, wchan="flock_lock_inode_wait", call=call)
    assert waits_on(waits, [], {}) == "the file lock on /data/index that PID 120 (sim) holds"
    holder = process(120, call=SystemCall(name="clock_nanosleep"))
    assert waits_on(waits, [], {120: holder}) == (
        "the file lock on /data/index that PID 120 (sim) holds; it is in state S and waits for a sleep to end"
    )
