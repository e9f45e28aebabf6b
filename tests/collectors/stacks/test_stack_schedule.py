from __future__ import annotations

import random
from collections import Counter

import pytest

from hwtop.collectors.stacks.schedule import MINUTE_S, RETRY_S, Order, StackSchedule

WINDOW_LASTS_S = 4.2


class Sampling:
    """A schedule over made-up time, in steps of 20 ms."""

    def __init__(self, ranks: int, focus: int | None = None, *, cost: float = 1.0, threads: int = 10) -> None:
        self.schedule = StackSchedule(1.0, random.Random(7).random)
        self.threads = dict.fromkeys(range(ranks), threads)
        self.schedule.want(range(ranks), focus, self.threads)
        self.now = 0.0
        self.cost = cost
        self.out: list[tuple[float, Order]] = []
        self.done: list[tuple[float, Order, float]] = []

    def run(self, seconds: float) -> Sampling:
        ends_s = self.now + seconds
        while self.now < ends_s:
            for ends, order in [each for each in self.out if each[0] <= self.now]:
                cost_s = self.cost_s(order)
                self.out.remove((ends, order))
                self.schedule.done(order, self.now, cost_s)
                self.done.append((self.now, order, cost_s))
            while (new := self.schedule.next(self.now)) is not None:
                self.out.append((self.now + (WINDOW_LASTS_S if new.has_window else 0.02), new))
            self.now += 0.02
        return self

    def cost_s(self, order: Order) -> float:
        """As measured with py-spy 0.4: the start, and a part for each sample and thread."""
        threads = self.threads.get(order.pid, 10)
        sample_s = 0.000_3 + 0.000_025 * threads
        return self.cost * (0.008 + sample_s + (0.008 + 4 * order.rate_per_s * sample_s if order.has_window else 0.0))

    def samples(self, from_s: float, to_s: float) -> Counter[int]:
        found: Counter[int] = Counter()
        for at_s, order, _ in self.done:
            if from_s <= at_s < to_s:
                found[order.pid] += 1 + 4 * order.rate_per_s
        return found

    def worst_minute_pct(self) -> float:
        """The most that any minute took, the one that begins with the first look included."""
        starts = [at_s for at_s, _, _ in self.done]
        return max(
            100 * sum(cost_s for at_s, _, cost_s in self.done if start <= at_s < start + MINUTE_S) / MINUTE_S
            for start in starts
        )


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2, 8, 24, 512])
@pytest.mark.parametrize("focus", [None, 0])
@pytest.mark.parametrize("cost", [0.5, 1.0, 3.0])
def test_no_minute_takes_more_than_its_budget(ranks: int, focus: int | None, cost: float) -> None:
    sampling = Sampling(ranks, focus, cost=cost).run(150.0)
    assert 0.25 < sampling.worst_minute_pct() <= 1.05


@pytest.mark.parametrize("threads", [100, 300, 600, 3000])
@pytest.mark.parametrize("focus", [None, 0])
def test_many_threads_mean_fewer_samples_not_a_larger_bill(threads: int, focus: int | None) -> None:
    sampling = Sampling(2, focus, threads=threads).run(180.0)
    assert sampling.worst_minute_pct() <= 1.05
    for minute in (0.0, 60.0, 120.0):
        assert min(sampling.samples(minute, minute + 60.0)[pid] for pid in (0, 1)) >= (10 if threads <= 600 else 1)


@pytest.mark.parametrize("ranks", [2, 8])
def test_twenty_samples_of_every_rank_within_five_seconds(ranks: int) -> None:
    sampling = Sampling(ranks).run(5.0)
    assert min(sampling.samples(0.0, 5.0).values()) >= 20
    assert len(sampling.samples(0.0, 5.0)) == ranks


def test_all_ranks_are_seen_at_once_as_far_as_the_opening_goes() -> None:
    assert len(Sampling(8).run(0.5).samples(0.0, 0.5)) == 8
    many = Sampling(512).run(1.0)
    assert 30 <= len(many.samples(0.0, 1.0)) <= 35, "half of the first minute's allowance"


@pytest.mark.parametrize("ranks", [2, 8, 512])
def test_the_focused_rank_is_sampled_faster_than_once_a_second_and_the_others_go_on(ranks: int) -> None:
    sampling = Sampling(ranks, ranks - 1).run(180.0)
    for minute in (0.0, 60.0, 120.0):
        found = sampling.samples(minute, minute + 60.0)
        assert found[ranks - 1] >= 100
        assert sum(found.values()) - found[ranks - 1] >= 15
    if ranks <= 8:
        assert min(sampling.samples(60.0, 180.0)[pid] for pid in range(ranks)) >= 20


def test_eight_ranks_share_evenly() -> None:
    found = Sampling(8).run(240.0).samples(60.0, 240.0)
    assert min(found.values()) >= 120
    assert max(found.values()) <= 2 * min(found.values())


def test_very_many_are_looked_at_by_dumps_alone() -> None:
    sampling = Sampling(512).run(120.0)
    assert not any(order.has_window for _, order, _ in sampling.done)
    assert max(Counter(order.pid for _, order, _ in sampling.done).values()) == 1


def test_a_new_focus_is_looked_at_at_once() -> None:
    sampling = Sampling(24).run(60.0)
    sampling.schedule.want(range(24), 20)
    sampling.run(5.0)
    assert sampling.samples(60.0, 65.0)[20] >= 20


def test_a_process_that_joins_comes_next() -> None:
    sampling = Sampling(2).run(90.0)
    sampling.schedule.want((0, 1, 2), None)
    sampling.run(5.0)
    assert sampling.samples(90.0, 95.0)[2] >= 1


def test_a_worker_that_is_wanted_again_is_not_new() -> None:
    sampling = Sampling(2).run(30.0)
    for _ in range(30):
        sampling.schedule.want((0, 1, 2), None)
        sampling.run(1.0)
        sampling.schedule.want((0, 1), None)
        sampling.run(1.0)
    found = sampling.samples(30.0, 90.0)
    assert min(found[0], found[1]) >= found[2]


def test_a_process_that_refuses_is_tried_every_ten_seconds() -> None:
    schedule = StackSchedule(100.0, random.Random(7).random)
    schedule.want((1, 2), None)
    tried = []
    for tick in range(3000):
        now = tick / 50
        while (order := schedule.next(now)) is not None:
            if order.pid == 1:
                tried.append(now)
            schedule.done(order, now, 0.001, is_lasting=order.pid == 1)
    assert len(tried) == 60 / RETRY_S


def test_a_process_without_windows_gets_dumps() -> None:
    """Its stacks come from another rung of the attach ladder, or py-spy gave no samples."""
    schedule = StackSchedule(100.0, random.Random(7).random)
    schedule.want((1,), None)
    windows = 0
    for tick in range(1000):
        now = tick / 50
        while (order := schedule.next(now)) is not None:
            windows += order.has_window
            schedule.done(order, now, 0.001, has_samples=False)
    assert windows == 0


def test_one_look_at_a_process_at_a_time() -> None:
    schedule = StackSchedule(100.0, random.Random(7).random)
    schedule.want((1,), None)
    assert schedule.next(0.0) == Order(1)
    assert schedule.next(100.0) is None


def test_nothing_is_due_when_nothing_is_wanted() -> None:
    schedule = StackSchedule(1.0, random.Random(7).random)
    assert schedule.next(0.0) is None
    assert schedule.wait_s(0.0) == 1.0
    assert not schedule.is_first_pass


@pytest.mark.slow
@pytest.mark.parametrize(("ranks", "seen"), [(8, 8), (24, 20), (64, 20)])
def test_while_the_whole_job_sleeps_each_rank_gets_one_dump_at_once(ranks: int, seen: int) -> None:
    sampling = Sampling(ranks).run(90.0)
    for _ in range(5):  # said again with each tick
        sampling.schedule.want(range(ranks), None, sampling.threads, dict.fromkeys(range(ranks), 85.0))
        sampling.run(1.0)
    dumps = Counter(order.pid for at_s, order, _ in sampling.done if at_s > 90.0 and not order.has_window)
    looks = {order.pid for at_s, order, _ in sampling.done if at_s > 85.0}
    assert len(looks) >= seen, "as far as the minute's budget goes"
    assert set(dumps.values()) == {1}
    assert sampling.run(60.0).worst_minute_pct() <= 1.05


def test_who_was_looked_at_in_its_sleep_is_not_looked_at_more_often() -> None:
    sleeping, awake = Sampling(2).run(30.0), Sampling(2).run(30.0)
    sleeping.schedule.want(range(2), None, None, {0: 5.0, 1: 5.0})
    awake.schedule.want(range(2), None)
    assert sleeping.run(30.0).samples(30.0, 60.0) == awake.run(30.0).samples(30.0, 60.0)
