"""cpu-oversubscribed, host-memory-leak, shm-nearly-full, and what the log tells."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from hwtop.model.frame import DerivedState
from hwtop.model.host.disk import MountReading
from hwtop.model.rank import Rank
from hwtop.model.reported.log import Progress
from hwtop.symptoms.history import History
from hwtop.symptoms.host.cpu import check_oversubscribed, check_steal
from hwtop.symptoms.host.memory import check_leak
from hwtop.symptoms.host.shm import check_shm
from hwtop.symptoms.log import check_loss_nan, check_pattern
from tests.parts import replace
from tests.symptoms.derived_states import constant, cpu, derived, event, history, job, memory, rank, row


@pytest.mark.parametrize(
    ("threads", "cores", "pressure_pct", "expected"),
    [
        (12, 8.0, 30.0, True),
        (11, 8.0, 30.0, False),  # 1.5 x cores is not reached
        (12, 8.0, 19.0, False),  # nobody waits for a core
        (12, 8.0, None, True),  # no PSI: the run queue alone
        (6, 2.0, 50.0, True),
        (5, 2.0, 50.0, False),  # a full small box is not a fault
    ],
)
def test_oversubscribed(threads: int, cores: float, pressure_pct: float | None, expected: bool) -> None:
    watched = replace(job(rank(0)), processes=(row(thread_states={"R": threads, "S": 3}),))
    seen = check_oversubscribed(constant(watched, cores=cores, cpu=cpu(99.0, pressure_pct)))
    assert (seen is not None) is expected
    if seen is not None:
        assert f"{threads} runnable threads of the job on {cores:g} cores" in seen.title


def test_processes_that_are_no_ranks_count_too() -> None:
    """A search starts its trials, and only waits for them."""
    trials = tuple(row(2000 + index, role="other", rank=None, thread_states={"R": 3}) for index in range(4))
    watched = replace(job(rank(0)), processes=(row(thread_states={"S": 1}), *trials))
    seen = check_oversubscribed(constant(watched, cores=2.0, cpu=cpu(99.0, 60.0)))
    assert seen is not None
    assert seen.title == "CPU oversubscribed: 12 runnable threads of the job on 2 cores"
    assert any("OMP_NUM_THREADS=1" in step and "4 processes" in step for step in seen.next_steps)
    assert seen.ranks == ()


def bound(number: int, cpus: str | None, cpu_pct: float, delay_pct: float | None) -> Rank:
    return rank(number, allowed_cpus=cpus, tree_cpu_pct=cpu_pct, run_delay_pct=delay_pct)


@pytest.mark.parametrize(
    ("why", "ranks", "expected"),
    [
        ("both on one core of eight", (bound(0, "3", 54, 40), bound(1, "3", 48, 44)), (0, 1)),
        ("the kernel tells no delay", (bound(0, "3", 54, None), bound(1, "3", 44, None)), (0, 1)),
        ("a neighbour takes most of it", (bound(0, "3", 10, 85), bound(1, "3", 12, 80)), (0, 1)),
        ("a core each", (bound(0, "2", 97, 2), bound(1, "3", 96, 3)), None),
        ("one core, hardly used", (bound(0, "3", 20, 3), bound(1, "3", 20, 2)), None),
        ("one core, used in turns without waiting", (bound(0, "3", 48, 5), bound(1, "3", 48, 6)), None),
        ("a neighbour beside one rank on its core", (bound(0, "2", 98, 1), bound(1, "3", 30, 65)), None),
        ("all cores of the machine", (bound(0, "0-7", 400, 60), bound(1, "0-7", 400, 60)), None),
        ("not known", (bound(0, None, 54, 40), bound(1, None, 48, 44)), None),
    ],
)
def test_ranks_are_measured_on_the_cores_that_they_may_use(
    why: str, ranks: tuple[Rank, ...], expected: tuple[int, ...] | None
) -> None:
    seen = check_oversubscribed(constant(job(*ranks)))
    assert (seen.ranks if seen else None) == expected, why


def test_what_a_rank_wants_and_gets_is_told() -> None:
    seen = check_oversubscribed(constant(job(bound(0, "3", 54, 40), bound(1, "3", 46, 44))))
    assert seen is not None
    assert seen.title == "Ranks 0-1: bound to CPU 3 of 8, want 1.8 cores and get 1.0"
    assert "rank 1 (PID 1001): its main thread was ready to run and had no core 44 % of the time" in seen.evidence


@pytest.mark.parametrize(("steal_pct", "seconds", "expected"), [(9.9, 40, False), (12.5, 40, True), (12.5, 20, False)])
def test_steal(steal_pct: float, seconds: int, expected: bool) -> None:
    seen = check_steal(constant(job(rank()), seconds, cpu=replace(cpu(), steal_pct=steal_pct)))
    assert (seen is not None) is expected
    if seen is not None:
        assert seen.title == "CPU steal time 12 %: about 1.0 cores are used by other virtual machines"


def grows(bytes_at: Callable[[int], float], seconds: int = 20, available: int = 16 * 10**9) -> History:
    return history(
        seconds,
        lambda second: derived(
            float(second), job(rank(0, tree_anon_bytes=int(bytes_at(second)))), memory=memory(available)
        ),
    )


def test_a_fast_leak_is_seen_in_seconds() -> None:
    seen = check_leak(grows(lambda second: 1e9 + second * 50e6))
    assert seen is not None
    assert seen.severity == "warning"
    assert seen.title == "Host memory of rank 0 grows by 2861 MiB/min, full in 5 min"
    assert seen.ranks == (0,)


@pytest.mark.parametrize(
    ("growing", "expected"),
    [
        ({2: 1.4e6}, (2,)),
        ({0: 1.4e6}, ()),  # the first rank evaluates, and keeps what is logged
        ({1: 1.4e6, 2: 1.4e6}, ()),  # caches of all that do the same
        ({2: 0.3e6}, ()),
    ],
)
def test_one_rank_that_grows_while_its_peers_do_not_leaks(growing: dict[int, float], expected: tuple[int, ...]) -> None:
    def at(second: int) -> DerivedState:
        sizes = [int(40e6 + growing.get(number, 0.0) * second) for number in range(3)]
        ranks = [rank(number, tree_anon_bytes=size) for number, size in enumerate(sizes)]
        return derived(float(second), job(*ranks), memory=memory(24 * 10**9))

    seen = check_leak(history(40, at))
    assert (() if seen is None else seen.ranks) == expected
    if seen is not None:
        assert seen.severity == "warning"
        assert "ranks 0-1 do the same work and do not grow" in seen.evidence


def test_a_leak_that_has_days_of_room_is_only_told() -> None:
    seen = check_leak(grows(lambda second: 1e9 + second * 10e6, available=10**12))
    assert seen is not None
    assert seen.severity == "info"


def test_a_leak_that_has_gained_little_yet_is_only_told() -> None:
    seen = check_leak(grows(lambda second: 1e9 + second * 5e6, available=10**11))
    assert seen is not None
    assert (seen.severity, seen.title) == ("info", "Host memory of rank 0 grows by 286 MiB/min, full in 5.6 h")


def test_memory_for_longer_and_longer_inputs_is_only_told() -> None:
    """It rises less and less: each input that is longer than any before takes more."""
    seen = check_leak(grows(lambda second: 1e9 + 400e6 * second**0.5))
    assert seen is not None
    assert seen.severity == "info"


@pytest.mark.parametrize(
    ("why", "bytes_at"),
    [
        ("flat", lambda second: 4e9),
        ("one large allocation", lambda second: 1e9 if second < 10 else 6e9),
        ("a buffer that fills up", lambda second: 1e9 + min(second, 8) * 100e6),
        ("sawtooth", lambda second: 1e9 + (second % 5) * 100e6),
        ("slow", lambda second: 1e9 + second * 2e6),
        (
            "warms up in bursts",
            lambda second: 1e9 + 300e6 * (second > 2) + 300e6 * (second > 9) + 300e6 * (second > 16),
        ),
        ("shrinks", lambda second: 9e9 - second * 50e6),
    ],
)
def test_no_leak(why: str, bytes_at: Callable[[int], float]) -> None:
    assert check_leak(grows(bytes_at)) is None, why


def test_growth_during_start_up_is_no_leak() -> None:
    watched = history(
        20,
        lambda second: derived(
            float(second), job(rank(0, phase="startup", state="starting", tree_anon_bytes=10**9 + second * 50_000_000))
        ),
    )
    assert check_leak(watched) is None


@pytest.mark.parametrize(("used", "expected"), [(89, False), (90, True), (100, True)])
def test_shared_memory(used: int, expected: bool) -> None:
    mount = MountReading(
        mount_point="/dev/shm", device="shm", fs_type="tmpfs", total_bytes=100 * 10**6, used_bytes=used * 10**6
    )
    assert (check_shm(constant(job(rank()), mounts=(mount,))) is not None) is expected


def test_a_full_disk_is_not_shared_memory() -> None:
    mount = MountReading(mount_point="/", device="sda", fs_type="ext4", total_bytes=100, used_bytes=100)
    assert check_shm(constant(job(rank()), mounts=(mount,))) is None


def test_a_loss_that_is_not_a_number() -> None:
    bad = rank(1, progress=Progress(step=64, loss=math.nan), last_line="step 64 loss nan")
    seen = check_loss_nan(constant(job(rank(0), bad)))
    assert seen is not None
    assert (seen.title, seen.ranks, seen.severity) == ("Loss is nan on rank 1 at step 64", (1,), "critical")


def test_a_loss_that_recovered_is_not_raised() -> None:
    assert check_loss_nan(constant(job(rank(0), events=(event("loss-nan"),)))) is None


def test_a_log_line_raises_its_symptom_with_the_line() -> None:
    watched = constant(job(rank(0), events=(event("cuda-oom", rank=0),)))
    seen = check_pattern("cuda-oom", watched)
    assert seen is not None
    assert seen.log_line == "a line about cuda-oom"
    assert seen.ranks == (0,)
    assert check_pattern("rank-crash", watched) is None


def test_context_never_raises_and_a_cascade_only_alone() -> None:
    assert check_pattern("cuda-oom", constant(job(rank(), events=(event("cuda-oom", "context"),)))) is None
    alone = constant(job(rank(), events=(event("nccl-error", "cascade"),)))
    assert check_pattern("nccl-error", alone) is not None
    with_root = constant(job(rank(), events=(event("nccl-error", "cascade"), event("cuda-oom"))))
    assert check_pattern("nccl-error", with_root) is None


def test_what_a_dead_rank_drew_after_it_is_no_crash_of_its_own() -> None:
    felt = event("rank-crash", "cascade", rank=0, text="ConnectionError: Connection closed by peer")
    dead = rank(1, is_alive=False, os_state="X", state="dead", exit_code=-9)
    assert check_pattern("rank-crash", constant(job(rank(0), dead, events=(felt,)))) is None
    assert check_pattern("rank-crash", constant(job(rank(0), events=(felt,)))) is not None


def test_an_exception_is_a_crash_although_the_rank_is_dead() -> None:
    raised = event("rank-crash", rank=1, text="ValueError: label 12 is out of range")
    dead = rank(1, is_alive=False, os_state="X", state="dead", exit_code=1)
    assert check_pattern("rank-crash", constant(job(rank(0), dead, events=(raised,)))) is not None


def test_an_exception_that_training_went_on_after_is_overcome() -> None:
    raised = event("rank-crash", rank=0, at_s=5.0)
    assert check_pattern("rank-crash", constant(job(rank(0, step_reported_at_s=4.0), events=(raised,)))) is not None
    assert check_pattern("rank-crash", constant(job(rank(0, step_reported_at_s=9.0), events=(raised,)))) is None


@pytest.mark.parametrize(
    ("source", "fields", "at_s", "expected"),
    [
        (
            "common wording",
            {"step_reported_at_s": 9.0},
            5.0,
            "info",
        ),  # a sample that the model wrote, or a caught error
        ("torch message", {"step_reported_at_s": 9.0}, 5.0, "info"),
        ("common wording", {"step_reported_at_s": 4.0}, 5.0, "critical"),
        ("common wording", {"step_reported_at_s": 4.0}, 9.0, "info"),  # the next step may still come
        ("common wording", {"step_reported_at_s": 4.0, "log_interval_s": None}, 9.0, "info"),
        ("common wording", {"progress": None, "log_interval_s": None}, 9.0, "info"),  # nothing else shows it
        ("common wording", {"progress": None, "log_interval_s": None, "state": "stuck"}, 9.0, "critical"),
        ("common wording", {"step_reported_at_s": 9.0, "is_alive": False, "exit_code": 1}, 5.0, "critical"),
    ],
)
def test_words_alone_are_doubted_while_the_training_goes_on(
    source: str, fields: dict[str, Any], at_s: float, expected: str
) -> None:
    reported = event("cuda-oom", rank=0, at_s=at_s, source=source)
    seen = check_pattern("cuda-oom", History([derived(10.0, job(rank(0, **fields), events=(reported,)))]))
    assert seen is not None
    assert seen.severity == expected


def test_who_was_merely_ended_by_the_launcher_is_not_blamed() -> None:
    ended = event("rank-crash", "confirmation", rank=0, groups={"exit": "-15"})
    failed = event("rank-crash", "confirmation", rank=1, groups={"exit": "1"})
    raised = event("rank-crash", rank=3)
    seen = check_pattern("rank-crash", constant(job(rank(0), events=(ended, failed))))
    assert seen is not None
    assert seen.ranks == (1,)
    seen = check_pattern("rank-crash", constant(job(rank(0), events=(ended, failed, raised))))
    assert seen is not None
    assert seen.ranks == (3,)


def test_the_root_is_told_first_however_late_it_was_read() -> None:
    summary = event("rank-crash", "confirmation", rank=1, text="failed (exitcode: 1)")
    raised = event("rank-crash", rank=1, text="ValueError: label 12")
    seen = check_pattern("rank-crash", constant(job(rank(0), events=(summary, raised))))
    assert seen is not None
    assert seen.log_line == "ValueError: label 12"
    assert "ValueError: label 12" in seen.evidence[0]
