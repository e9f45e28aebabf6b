"""Snapshots in, frames out: a plain list of snapshots is a feed like any other."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import msgspec
import pytest

from hwtop.derive.job.tracker import JobTracker
from hwtop.feed.feed import Feed, Focus, frames
from hwtop.model.frame import Frame
from hwtop.model.plan import SamplingPlan, UserFocus
from hwtop.model.snapshot import Snapshot, SourceStatus
from hwtop.symptoms import rules
from hwtop.symptoms.history import History
from hwtop.symptoms.judge import Judge
from hwtop.symptoms.rule import Observation, Rule
from tests.derive.readings import (
    LOAD,
    cpu,
    dump,
    launcher,
    log_lines,
    logs,
    processes,
    rank,
    snapshot,
    stacks,
    worker,
)
from tests.parts import replace

DEADLINE_S = 60.0


def training(at_s: float) -> Snapshot:
    """Two ranks under torchrun that use half a core each; rank 1 has a loader worker. One log line a second."""
    ticks = int(at_s * 50)
    step = int(at_s)
    return snapshot(
        at_s,
        cpu=cpu(at_s, ticks),
        process=processes(at_s, launcher(), rank(0, user_ticks=ticks), rank(1, user_ticks=ticks), worker(130, 111)),
        stacks=stacks(at_s, dump(110, at_s), dump(111, at_s, LOAD)),
        logs=logs(at_s, *log_lines("/logs/rank_0.log", at_s, f"step {step} loss 2.5", first=step)),
    )


def recording(seconds: int, first: int = 100) -> list[Snapshot]:
    return [training(float(first + second)) for second in range(seconds)]


class Source:
    """Snapshots of a machine that can be told where to look."""

    def __init__(self, snapshots: list[Snapshot]) -> None:
        self.snapshots = snapshots
        self.aims: list[SamplingPlan] = []
        self.closed = threading.Event()

    def __iter__(self) -> Iterator[Snapshot]:
        return iter(self.snapshots)

    def set_plan(self, plan: SamplingPlan) -> None:
        self.aims.append(plan)

    def close(self) -> None:
        self.closed.set()


def decoded(snapshots: list[Snapshot]) -> list[Snapshot]:
    """As they come out of a recording: equal, but not the same objects."""
    return [msgspec.msgpack.decode(msgspec.msgpack.encode(each), type=Snapshot) for each in snapshots]


def test_one_frame_a_snapshot_in_order() -> None:
    made = list(frames(recording(5)))
    assert [frame.number for frame in made] == [1, 2, 3, 4, 5]
    assert [frame.watched_s for frame in made] == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert [frame.derived.at_s for frame in made] == [100.0, 101.0, 102.0, 103.0, 104.0]
    assert [len(frame.history) for frame in made] == [1, 2, 3, 4, 5]
    assert all(frame.history[-1] is frame.derived for frame in made)


def test_the_frame_holds_rates_and_the_job() -> None:
    last = list(frames(recording(3)))[-1].derived
    assert last.cpu is not None and last.cpu.util_pct == pytest.approx(50.0)
    assert last.own_cpu_pct == pytest.approx(1.0)
    assert last.job is not None
    assert [(each.rank, each.pid, each.process.cpu_pct) for each in last.job.ranks] == [(0, 110, 50.0), (1, 111, 50.0)]
    assert last.job.ranks[0].progress.newest is not None and last.job.ranks[0].progress.newest.step == 102


def test_history_is_bounded_to_ten_minutes() -> None:
    last = list(frames([snapshot(float(second)) for second in range(1, 1400, 2)]))[-1]
    assert last.history[0].at_s == last.derived.at_s - 600.0
    assert len(last.history) == 301
    assert last.watched_s == 1398.0


@pytest.mark.parametrize("is_decoded", [False, True])
def test_a_stale_reading_keeps_its_rates(is_decoded: bool) -> None:
    first, second = recording(2)
    stale = replace(training(102.0), cpu=second.cpu, process=second.process)
    snapshots = decoded([first, second, stale]) if is_decoded else [first, second, stale]
    before, after = list(frames(snapshots))[1:]
    assert before.derived.cpu is not None and before.derived.cpu.util_pct == pytest.approx(50.0)
    assert after.derived.cpu == before.derived.cpu
    assert before.derived.job is not None and after.derived.job is not None
    assert [each.process.cpu_pct for each in after.derived.job.ranks] == [
        each.process.cpu_pct for each in before.derived.job.ranks
    ]
    assert after.derived.job.ranks[0].process.cpu_pct == 50.0


def test_a_recording_yields_the_same_frames() -> None:
    snapshots = recording(4)
    as_json = [msgspec.json.decode(msgspec.json.encode(each), type=Snapshot) for each in snapshots]
    assert decoded(snapshots) == snapshots
    assert as_json == snapshots
    made = list(frames(snapshots))
    assert list(frames(decoded(snapshots))) == made
    assert list(frames(as_json)) == made


def test_a_live_source_is_told_where_to_look() -> None:
    source = Source(recording(3))
    list(frames(source))
    assert len(source.aims) == 3
    plan = source.aims[-1]
    assert plan.target_pid == 100
    assert plan.stack_pids == (110, 111, 130)  # the worker, as its rank waits for data
    assert plan.focus_pid is None
    assert [target.path for target in plan.logs] == ["/logs/rank_0.log", "/logs/rank_1.log"]


def test_the_focused_rank_comes_first() -> None:
    source = Source(recording(1))
    focus = Focus()
    focus.user_focus = UserFocus(rank=1)
    list(frames(source, focus))
    assert source.aims[0].focus_pid == 111
    assert source.aims[0].stack_pids[:2] == (111, 110)


def test_without_a_job_nothing_is_aimed_at() -> None:
    source = Source([snapshot(1.0)])
    list(frames(source))
    assert source.aims == []


def test_the_feed_publishes_from_its_own_thread_and_ends_with_its_source() -> None:
    published: list[tuple[int, str]] = []
    feed = Feed(recording(4), lambda frame: published.append((frame.number, threading.current_thread().name)))
    assert feed.daemon
    feed.start()
    feed.join(DEADLINE_S)
    assert not feed.is_alive()
    assert published == [(number, "hwtop-feed") for number in (1, 2, 3, 4)]


def test_stop_ends_the_thread_and_closes_the_source() -> None:
    class Endless(Source):
        def __iter__(self) -> Iterator[Snapshot]:
            at_s = 100.0
            while not self.closed.wait(0.001):
                at_s += 1.0
                yield snapshot(at_s)

    source = Endless([])
    running = threading.Event()
    published: list[Frame] = []

    def publish(frame: Frame) -> None:
        published.append(frame)
        running.set()

    feed = Feed(source, publish)
    feed.start()
    assert running.wait(DEADLINE_S)
    feed.stop()
    feed.join(DEADLINE_S)
    assert not feed.is_alive()
    assert source.closed.is_set()


def test_nothing_is_published_after_stop() -> None:
    published: list[int] = []

    def publish(frame: Frame) -> None:
        published.append(frame.number)
        feed.stop()

    feed = Feed(recording(5), publish)
    feed.start()
    feed.join(DEADLINE_S)
    assert not feed.is_alive()
    assert published == [1]


SEEN = Observation(severity="warning", confidence=0.8, title="t", evidence=("e",), next_steps=("n",))


def broken_from(at_s: float) -> Rule:
    def check(history: History) -> Observation | None:
        if history.now.at_s >= at_s:
            raise ZeroDivisionError("division by zero")
        return SEEN

    return Rule(symptom="hang", category="stability", threshold="-", raise_s=0.0, clear_s=1.5, check=check)


GOOD = Rule(symptom="rank-dead", category="stability", threshold="-", raise_s=0.0, clear_s=0.0, check=lambda _: SEEN)


def test_a_rule_that_fails_is_told_and_the_others_still_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hwtop.feed.assemble.Judge", lambda _rules, _quiet: Judge([broken_from(101.0), GOOD]))
    made = list(frames([snapshot(100.0 + second) for second in range(4)]))
    reported = [[(spot.source, spot.reason) for spot in frame.blind] for frame in made]
    assert reported[0] == []
    assert reported[1:] == [[("hwtop", "internal error in hang: ZeroDivisionError: division by zero")]] * 3
    found = [{finding.symptom for finding in frame.findings} for frame in made]
    assert all("rank-dead" in each for each in found)
    assert "hang" not in found[3]  # what nobody can see any more is cleared


def test_a_failure_that_passes_is_no_longer_told() -> None:
    def check(history: History) -> Observation | None:
        if history.now.at_s == 1.0:
            raise KeyError("x")
        return None

    judge = Judge([Rule(symptom="hang", category="stability", threshold="-", raise_s=0, clear_s=0, check=check)])
    derived_states = [frame.derived for frame in frames([snapshot(float(second)) for second in (1, 2)])]
    judge.advance(History(derived_states[:1]), 0.0)
    assert [spot.source for spot in judge.failures] == ["hwtop"]
    judge.advance(History(derived_states), 1.0)
    assert not list(judge.failures)


def test_a_step_of_deriving_that_fails_is_told_and_the_rest_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(tracker: JobTracker, seen: Snapshot) -> None:
        raise ValueError("no such rank")

    monkeypatch.setattr(JobTracker, "advance", fail)
    status = SourceStatus(name="cpu", status="ok")
    made = list(frames([replace(each, sources=(status,)) for each in recording(2)]))
    assert made[1].derived.job is None
    assert made[1].derived.cpu is not None and made[1].derived.cpu.util_pct == pytest.approx(50.0)
    assert [(spot.source, spot.reason) for spot in made[1].blind] == [
        ("hwtop", "internal error in job: ValueError: no such rank")
    ]


def test_every_rule_stands_what_a_young_or_empty_history_holds() -> None:
    empty = [snapshot(float(second)) for second in range(1, 4)]
    no_process = [snapshot(float(second), process=processes(float(second), root_pid=None)) for second in range(1, 4)]
    for snapshots in (empty, no_process, recording(40)):
        made = list(frames(snapshots))
        assert not [spot for frame in made for spot in frame.blind if spot.source == "hwtop"]
    assert rules.RULES


def test_a_source_that_breaks_says_that_the_picture_stands_still() -> None:
    def broken() -> Iterator[Snapshot]:
        yield training(100.0)
        raise RuntimeError("the recording ends in the middle")

    published: list[Frame] = []
    feed = Feed(broken(), published.append)
    feed.start()
    feed.join(DEADLINE_S)
    assert published[-1].verdict.level == "unknown"
    assert "no longer live: RuntimeError: the recording ends in the middle" in published[-1].verdict.text
    assert published[-1].derived == published[0].derived
