"""hang, collective-mismatch, rank-missing-from-collective: raised on jobs that stand still, and only on those."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.model.gpu.device import Gpu
from hwtop.model.hang import CollectiveTimeout
from hwtop.model.member import Launcher
from hwtop.model.reported.ras import RasProcess, RasVerdict
from hwtop.model.stack import StackDump, StackFrame, ThreadStack
from hwtop.symptoms.hang.hang import awaited_in, check_hang, check_mismatch, check_missing
from hwtop.symptoms.history import History
from tests.parts import replace
from tests.symptoms.derived_states import (
    ALL_REDUCE,
    BARRIER,
    SAVE,
    TRAIN,
    constant,
    derived,
    event,
    job,
    rank,
    row,
    stack_group,
    still,
    worker,
)

ACQUIRE = StackFrame(name="acquire", filename="/home/me/train.py", short_filename="train.py", line=40)
WAITING = stack_group((0, 2, 3), TRAIN, ALL_REDUCE)
ELSEWHERE = stack_group((1,), ACQUIRE, phase="other")
LOCKED: dict[str, Any] = {"phase": "other", "is_waiting": False, "wchan": "futex_do_wait"}


def test_one_rank_outside_the_collective_is_named_with_both_call_sites() -> None:
    culprit = still(1, last_line="flushing metrics", **LOCKED)
    watched = job(still(0), culprit, still(2), still(3), stack_groups=(WAITING, ELSEWHERE))
    seen = check_missing(constant(watched))
    assert seen is not None
    assert seen.ranks == (1,)
    assert seen.title == (
        "Rank 1 is missing from the collective for 20 s: "
        "ranks 0,2-3 wait in all_reduce (train.py:231 train_step), rank 1 is in acquire (train.py:40)"
    )
    assert any("rank 1 (PID 1001) never reached the collective" in line for line in seen.evidence)
    assert any("futex_do_wait" in line for line in seen.evidence)
    assert "its last log line (20 s ago): flushing metrics" in seen.evidence
    assert any(line.startswith("ruled out: no rank dead") for line in seen.evidence)
    assert seen.next_steps[0].startswith("hwtop stacks 1001")
    assert check_hang(constant(watched)) is None, "one root"


def test_who_waits_before_the_training_waits_in_the_rendezvous() -> None:
    early = [still(number, phase="rendezvous") for number in (0, 2, 3)]
    assert awaited_in([*early, still(1, **LOCKED)], (1,)) == "rendezvous"
    assert awaited_in([still(0), *early], (1,)) == "collective"


def test_a_rank_on_another_machine_is_named_with_its_process() -> None:
    text = "rank 21 on node 172.16.64.213 has launched 6649 of 6650 AllReduce operations: it never came"
    process = RasProcess(host="172.16.64.213", pid=3487984)
    found = RasVerdict(kind="missing", culprits=(21,), processes=(process,), text=text, evidence=("NCCL RAS: counts",))
    group = stack_group((0, 1), TRAIN, ALL_REDUCE)
    watched = job(still(0), still(1), world_size=32, ras=found, stack_groups=(group,))
    seen = check_missing(constant(watched))
    assert seen is not None
    assert seen.ranks == (21,)
    assert seen.title.startswith("Rank 21 is missing from the collective for 20 s: ranks 0-1 wait in all_reduce")
    assert f"{text} (non-communication hang)" in seen.evidence
    assert "NCCL RAS: counts" in seen.evidence
    assert "hwtop diagnose 3487984   # on node 172.16.64.213: what this rank does" in seen.next_steps
    assert check_hang(constant(watched)) is None, "one root"


@pytest.mark.parametrize(
    ("silent_s", "said"),
    [(20.0, "for 20 s:"), (417.0, "for 6 min 57 s (watched 20 s):"), (1200.0, "for 20 min (watched 20 s):")],
)
def test_a_standstill_from_before_the_watch_is_told_with_both_times(silent_s: float, said: str) -> None:
    late = {"step_age_s": silent_s, "log_age_s": silent_s}
    watched = job(still(0, **late), still(1, **LOCKED, **late), still(2, **late), stack_groups=(WAITING, ELSEWHERE))
    seen = check_missing(constant(watched, 20))
    assert seen is not None
    assert said in seen.title


def test_workers_in_d_state_are_named() -> None:
    blocked = worker(state="D", wchan="nfs_wait", cpu_pct=0.0)
    watched = job(
        still(0),
        still(1, **LOCKED | {"workers": (blocked, blocked)}),
        still(2),
        still(3),
        stack_groups=(WAITING, ELSEWHERE),
    )
    seen = check_missing(constant(watched))
    assert seen is not None
    assert any("its 2 workers are in D state (nfs_wait)" in line for line in seen.evidence)


def test_how_a_child_ended_that_is_waited_for() -> None:
    ended = row(7, ppid=1000, role="other", state="Z", command="[python]", exit_code=-9)
    watched = replace(job(still(0), stack_groups=(stack_group((0,), TRAIN, ACQUIRE),)), processes=(ended,))
    seen = check_hang(constant(watched))
    assert seen is not None
    assert "rank 0: its child PID 7 has ended, killed by SIGKILL" in seen.evidence


def test_the_end_of_the_wait_is_told() -> None:
    timeout = CollectiveTimeout(backend="nccl", rank=0, timeout_s=600.0, origin="NCCL's default", waited_s=108.0)
    watched = job(still(0), still(1), stack_groups=(stack_group((0, 1), TRAIN, ALL_REDUCE),), timeout=timeout)
    seen = check_hang(constant(watched))
    assert seen is not None
    assert any("at most 8 min 12 s" in line for line in seen.evidence)


def test_ranks_that_wait_for_one_that_died_before_are_no_hang_of_their_own() -> None:
    waits = [still(number, phase="other", is_waiting=False) for number in range(2)]
    assert check_hang(constant(job(*waits))) is not None
    zombie = row(1002, ppid=999, state="Z", command="[python]")
    launcher = Launcher(pid=999, kind="python", command="python start.py")
    assert check_hang(constant(job(*waits, world_size=3, launcher=launcher, processes=(zombie,)))) is None


def test_all_in_one_collective_is_a_hang_of_the_transport() -> None:
    watched = job(still(0), still(1), stack_groups=(stack_group((0, 1), TRAIN, ALL_REDUCE),))
    seen = check_hang(constant(watched))
    assert seen is not None
    assert seen.ranks == (0, 1)
    assert seen.evidence[0] == "all ranks wait in the same collective and none finishes (communication hang)"


@pytest.mark.parametrize(
    ("phase", "idle_s", "expected"),
    [("eval", 20.0, True), ("checkpoint", 20.0, True), ("startup", 20.0, True), ("checkpoint", 19.0, False)],
)
def test_no_phase_is_exempt_when_a_rank_does_nothing_and_the_others_wait(
    phase: str, idle_s: float, expected: bool
) -> None:
    alone = still(1, idle_s, phase=phase, is_waiting=False, phase_for_s=idle_s, state=phase)
    watched = job(still(0, idle_s), alone, stack_groups=(stack_group((0,), TRAIN, BARRIER), ELSEWHERE))
    seen = check_missing(constant(watched))
    assert (seen is not None) is expected
    if seen is not None:
        assert (seen.severity, seen.ranks) == ("critical", (1,))


def test_what_torch_itself_calls_a_mismatch() -> None:
    reported = event(
        "collective-mismatch", text="Detected mismatch between collectives on ranks. Rank 1 is ...", rank=1
    )
    seen = check_mismatch(constant(job(rank(0), rank(1), events=(reported,))))
    assert seen is not None
    assert seen.ranks == (1,)
    assert "Detected mismatch between collectives" in seen.title


@pytest.mark.parametrize(
    ("why", "fields"),
    [
        ("moved 9 s ago", {"same_stack_for_s": 9.0}),
        (
            "uses its CPU outside a collective",
            {"idle_for_s": 0.0, "phase": "forward", "is_waiting": False, "step_age_s": 19.0},
        ),
        ("still imports", {"phase": "startup", "idle_for_s": 0.0}),
        ("compiles", {"phase": "compile", "idle_for_s": 0.0}),
        ("logged 4 s ago", {"log_age_s": 4.0}),
        ("told a step 4 s ago", {"step_age_s": 4.0}),
        ("is dead: another symptom", {"is_alive": False, "same_stack_for_s": 0.0}),
    ],
)
def test_not_a_hang_when_one_rank(why: str, fields: dict[str, Any]) -> None:
    watched = job(still(0), still(1, **LOCKED | fields), stack_groups=(stack_group((0,), TRAIN, ALL_REDUCE), ELSEWHERE))
    if fields.get("is_alive") is False:
        watched = replace(watched, ranks=(rank(0), watched.ranks[1]))
    assert check_hang(constant(watched)) is None, why
    assert check_missing(constant(watched)) is None, why


def test_a_rank_without_a_stack_is_not_called_missing() -> None:
    watched = job(still(0), still(1, **LOCKED | {"phase": None}), stack_groups=(stack_group((0,), TRAIN, ALL_REDUCE),))
    assert check_missing(constant(watched)) is None
    found = check_hang(constant(watched))
    assert found is not None
    assert "no stack of rank 1, so whether in the collective is not known" in " ".join(found.evidence)


def test_a_rank_that_spins_in_its_collective_counts_as_still() -> None:
    watched = job(
        still(0, idle_for_s=0.0, cpu_pct=100.0),
        still(1, **LOCKED),
        stack_groups=(stack_group((0,), TRAIN, ALL_REDUCE), ELSEWHERE),
    )
    assert check_missing(constant(watched)) is not None


@pytest.mark.parametrize(("silent_s", "expected"), [(29.0, False), (31.0, True)])
def test_a_job_that_logs_every_ten_seconds_is_given_three_intervals(silent_s: float, expected: bool) -> None:
    ranks = [still(n, silent_s, log_interval_s=10.0) for n in range(2)]
    watched = job(*ranks, stack_groups=(stack_group((0, 1), TRAIN, ALL_REDUCE),))
    assert (check_hang(constant(watched)) is not None) is expected


@pytest.mark.parametrize(("silent_s", "expected"), [(9.0, False), (10.0, True)])
def test_a_job_whose_rhythm_is_unknown_is_judged_by_the_prior(silent_s: float, expected: bool) -> None:
    ranks = [still(n, silent_s, log_interval_s=None, step_time_s=None) for n in range(2)]
    watched = job(*ranks, stack_groups=(stack_group((0, 1), TRAIN, ALL_REDUCE),))
    assert (check_hang(constant(watched)) is not None) is expected


@pytest.mark.parametrize(("silent_s", "expected"), [(40.0, False), (61.0, True)])
def test_a_busy_gpu_explains_a_still_stack_for_a_minute(silent_s: float, expected: bool) -> None:
    busy = Gpu(index=0, vendor="nvidia", name="H100", uuid=None, status="ok", util_pct=100.0)
    ranks = [still(n, silent_s, gpus=(0,)) for n in range(2)]
    watched = job(*ranks, stack_groups=(stack_group((0, 1), TRAIN, ALL_REDUCE),))
    assert (check_hang(constant(watched, gpus=(busy,))) is not None) is expected


def test_two_collectives_are_a_mismatch_and_not_a_hang_with_a_suspect() -> None:
    groups = (stack_group((0,), TRAIN, ALL_REDUCE), stack_group((1,), SAVE, BARRIER))
    seen = check_mismatch(constant(job(still(0), still(1), stack_groups=groups)))
    assert seen is not None
    assert "rank 0 waits in all_reduce (train.py:231 train_step)" in seen.title
    assert "rank 1 waits in barrier (train.py:88 save_checkpoint)" in seen.title
    assert "train.py:231 train_step and train.py:88 save_checkpoint" in seen.next_steps[0]
    assert seen.ranks == (0, 1)


def test_the_minority_is_named_when_there_is_one() -> None:
    groups = (stack_group((0, 1, 3), TRAIN, ALL_REDUCE), stack_group((2,), SAVE, BARRIER))
    seen = check_mismatch(constant(job(*(still(n) for n in range(4)), stack_groups=groups)))
    assert seen is not None
    assert seen.ranks == (2,)


def test_one_collective_or_one_rank_is_no_mismatch() -> None:
    same = (stack_group((0, 1), TRAIN, ALL_REDUCE),)
    assert check_mismatch(constant(job(still(0), still(1), stack_groups=same))) is None
    assert check_mismatch(constant(job(still(0), stack_groups=(stack_group((0,), TRAIN, ALL_REDUCE),)))) is None


def test_a_rank_outside_all_collectives_is_missing_and_no_mismatch() -> None:
    groups = (stack_group((0,), TRAIN, ALL_REDUCE), ELSEWHERE)
    watched = job(still(0), still(1, **LOCKED), stack_groups=groups)
    assert check_mismatch(constant(watched)) is None
    assert check_missing(constant(watched)) is not None


def test_nothing_is_seen_before_there_is_a_job() -> None:
    assert check_hang(History([derived(0.0, None)])) is None
    assert check_mismatch(History([derived(0.0, None)])) is None
    assert check_missing(History([derived(0.0, None)])) is None


SPINS: dict[str, Any] = {"phase": "other", "is_waiting": False, "idle_for_s": 0.0, "cpu_pct": 100.0, "os_state": "R"}


@pytest.mark.parametrize(
    ("seconds", "fields", "expected"),
    [
        (20.0, {}, True),
        (19.0, {}, False),
        (30.0, {"same_stack_for_s": 9.0}, False),
        (30.0, {"phase": "eval"}, False),
        (30.0, {"phase": "checkpoint"}, False),
        (29.0, {"log_interval_s": 10.0}, False),
        (30.0, {"log_interval_s": 10.0}, True),
    ],
)
def test_an_endless_loop_while_the_others_wait(seconds: float, fields: dict[str, Any], expected: bool) -> None:
    groups = (stack_group((0,), TRAIN, ALL_REDUCE), ELSEWHERE)
    interval = {"log_interval_s": fields.get("log_interval_s", 0.2)}
    watched = job(still(0, seconds, **interval), still(1, seconds, **SPINS | interval | fields), stack_groups=groups)
    seen = check_missing(constant(watched))
    assert (seen is not None) is expected
    if seen is not None:
        assert seen.ranks == (1,)
        assert any("100 % of a core" in line for line in seen.evidence)


@pytest.mark.parametrize(
    ("seconds", "interval_s", "expected"), [(60.0, 2.0, True), (40.0, 2.0, False), (19.0, 0.2, False)]
)
def test_all_ranks_computing_in_one_function_stand_still_when_that_is_far_longer_than_usual(
    seconds: float, interval_s: float, expected: bool
) -> None:
    groups = (stack_group((0, 1), ACQUIRE, phase="other"),)
    ranks = [still(number, seconds, **SPINS, log_interval_s=interval_s) for number in range(2)]
    assert (check_hang(constant(job(*ranks, stack_groups=groups))) is not None) is expected


def test_a_job_that_asks_and_is_not_answered() -> None:
    ask = replace(ACQUIRE, name="<module>", code='input("Overwrite? [y/N] ")')
    main = ThreadStack(name="MainThread", os_thread_id=1, is_active=False, owns_gil=False, frames=(ask,))
    asks = still(0, **LOCKED, stack=StackDump(pid=1000, at_s=1.0, threads=(main,)), progress=None, step_age_s=None)
    seen = check_hang(constant(job(asks)))
    assert seen is not None
    assert seen.title == "Stuck for 20 s: rank 0 waits for somebody to type (train.py:40 <module>)"
    assert seen.evidence[0] == 'rank 0 asks: input("Overwrite? [y/N] ") (train.py:40 <module>)'
    assert seen.next_steps[0].startswith("Answer in the terminal")


def test_who_waits_long_for_an_evaluation_is_told() -> None:
    def reported(for_s: float) -> str | None:
        chore = rank(0, phase="eval", state="eval", phase_for_s=for_s)
        watched = job(chore, still(1, for_s), stack_groups=(stack_group((1,), TRAIN, BARRIER),))
        seen = check_hang(constant(watched))
        assert seen is None or seen.severity == "info"
        return None if seen is None else seen.title

    assert reported(50.0) is None
    assert (reported(70.0) or "").startswith("Rank 0 evaluates for 70 s, the others wait")


def test_what_the_kernel_shows_a_stuck_rank_to_wait_for_is_told() -> None:
    blocked = still(0, phase="other", is_waiting=False, waits_for="room in its standard output (pipe:[7])")
    seen = check_hang(constant(job(blocked)))
    assert seen is not None
    assert any("waits for room in its standard output (pipe:[7])" in line for line in seen.evidence)


def test_that_nobody_woke_the_ranks_is_told() -> None:
    def reported(*since_s: float | None) -> list[str]:
        ranks = [still(number, asleep_since_s=each) for number, each in enumerate(since_s)]
        watched = job(*ranks, stack_groups=(stack_group((0, 1), TRAIN, ALL_REDUCE),))
        seen = check_hang(History([derived(100.0, watched)]))
        assert seen is not None
        return [line for line in seen.evidence if "woken" in line]

    assert reported(70.0, 85.0) == ["the kernel has not woken the main thread of ranks 0-1 once in 15 s"]
    assert reported(70.0, None) == ["the kernel has not woken the main thread of rank 0 once in 20 s"], (
        "not more than still"
    )
    assert reported(95.0, 96.0) == []
