"""Chaos: feed, rules and a headless screen on sources that fail, hang, lag or return garbage, for some minutes.

    python -m tests.chaos.run [--minutes 5] [--seed N]

Fails where the screen no longer answers a key, frames stop, a missing source has no reason, anything raises, or threads or file
descriptors grow.
"""

from __future__ import annotations

import argparse
import asyncio
import faulthandler
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from textual.pilot import Pilot

from hwtop.collectors.sampler import Sampler
from hwtop.feed.feed import Feed
from hwtop.model.frame import Frame
from hwtop.model.plan import SamplingPlan, UserFocus
from hwtop.model.snapshot import Snapshot
from hwtop.ui.app import HwtopApp
from hwtop.ui.options import Publish
from hwtop.ui.pages.registry import NAMES as PAGES
from tests.chaos.garbage import garbled, hostile
from tests.fake_source import FakeSource
from tests.recording import load
from tests.ui.test_app import view_of

FIELDS = (
    *("cpu", "memory", "disk", "network", "cgroup", "gpu", "process"),
    *("stacks", "logs", "kernel", "metrics", "heartbeat", "flight"),
)
INTERVAL_S = 0.5
PATIENCE_S = 60.0
"""For a key and for the next frame, on a machine that is busy with something else."""
LONGEST_HANG_S = 20.0
KEYS = (*"0123456789", "up", "down", "left", "right", "enter", "escape", "tab", "pageup", "pagedown", "home", "end")
OWN_THREADS = 12
"""Beside one a source: the screen's, the feed's, and what the toolkit starts."""
OWN_DESCRIPTORS = 32
SHARE = 0.05


class Troubled:
    """Snapshots whose sources have a trouble of their own from time to time."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.troubles: Counter[str] = Counter()
        self._recorded = load("gpu-errors")
        self._closing = threading.Event()
        self._turn = 0
        self._sources = [FakeSource(name, self._answer(name, random.Random(f"{seed} {name}"))) for name in FIELDS]
        self._hung: dict[str, float] = {}
        self._sampler = Sampler(self._sources, host="chaos", interval_s=INTERVAL_S)

    def __iter__(self) -> Iterator[Snapshot]:
        while not self._closing.wait(INTERVAL_S / 2):
            self._turn += 1
            self._trouble()
            yield self._sampler.tick()

    def set_plan(self, plan: SamplingPlan) -> None:
        self._sampler.set_plan(plan)

    def close(self) -> None:
        self._closing.set()
        for source in self._sources:
            source.gate.set()
        self._sampler.close()

    def _trouble(self) -> None:
        """Now and then a source hangs; later it is let go."""
        now_s = time.monotonic()
        for source in self._sources:
            if now_s >= self._hung.get(source.name, now_s + 1):
                del self._hung[source.name]
                source.gate.set()
            elif source.name not in self._hung and self.dice.random() < 0.01:
                self._hung[source.name] = now_s + self.dice.uniform(0, LONGEST_HANG_S)
                source.gate.clear()
                self.troubles["hang"] += 1

    def _answer(self, name: str, dice: random.Random) -> Callable[[], Struct | None]:
        def answer() -> Struct | None:
            reading: Any = getattr(self._recorded[self._turn % len(self._recorded)], name)
            kind = dice.choices(("fine", "fail", "lag", "nothing", "garbage", "hostile"), (60, 8, 4, 4, 16, 8))[0]
            self.troubles[kind] += 1
            if kind == "fail":
                raise dice.choice(
                    (OSError(5, "Input/output error"), ValueError(), KeyError("x"), MemoryError(), RecursionError())
                )
            if kind == "lag":
                time.sleep(dice.uniform(0, 3 * INTERVAL_S))
            if reading is None or kind == "nothing":
                return None
            if kind in ("garbage", "hostile"):
                reading = (garbled if kind == "garbage" else hostile)(reading, dice, dice.choice((SHARE, 1.0)))
            timed: Struct = replace(reading, at_s=time.monotonic())
            return timed

        return answer


class Watched:
    """The feed as the screen wants it; keeps the newest frame, and what was wrong with any."""

    def __init__(self, source: Troubled) -> None:
        self._source = source
        self.newest: Frame | None = None
        self.wrong: list[str] = []
        self.internal: Counter[str] = Counter()

    def start(self, publish: Publish) -> Watched:
        def seen(frame: Frame) -> None:
            self.newest = frame
            self._look(frame)
            publish(frame)

        self._feed = Feed(self._source, seen)
        self._feed.start()
        return self

    def _look(self, frame: Frame) -> None:
        for status in frame.derived.sources:
            if status.status != "ok" and not status.reason:
                self.wrong.append(f"{status.name} is {status.status} without a reason")
            if status.name == "hwtop":
                self.internal[f"{status.reason}"[:120]] += 1
        self.internal.update(each.reason[:120] for each in frame.blind if "internal error" in each.reason)
        if "hwtop has failed" in frame.verdict.text:
            self.wrong.append(frame.verdict.text)

    def attach(self, pid: int | None) -> None: ...

    def look(self, user_focus: UserFocus) -> None: ...

    def interval(self, seconds: float) -> None: ...

    def stop(self) -> None:
        self._feed.stop()


async def until(is_so: Callable[[], bool], what: str) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > end_s:
            faulthandler.dump_traceback(2)  # where each thread is; sys.stderr is the toolkit's own
            raise AssertionError(f"not within {PATIENCE_S:g} s: {what}")
        await asyncio.sleep(0.02)


async def watch(seconds: float, seed: int) -> tuple[Troubled, Watched]:
    """Press keys until the time is over. Raises AssertionError where something does not hold."""
    dice = random.Random(seed)
    source = Troubled(seed)
    watched = Watched(source)
    app = HwtopApp(watched.start)
    before = _descriptors()
    async with app.run_test(size=(140, 45)) as pilot:
        await until(lambda: watched.newest is not None, "the first frame")
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            await _round(app, pilot, watched, dice)
            threads = threading.active_count()
            assert threads <= len(FIELDS) + OWN_THREADS, [thread.name for thread in threading.enumerate()]
            assert _descriptors() <= before + OWN_DESCRIPTORS
            assert not watched.wrong, watched.wrong
    source.close()
    return source, watched


async def _round(app: HwtopApp, pilot: Pilot[None], watched: Watched, dice: random.Random) -> None:
    """Some keys, then one whose effect is known; and a frame that was not there before."""
    assert watched.newest is not None
    number = watched.newest.number
    for _ in range(dice.randint(0, 5)):
        await pilot.press(dice.choice(KEYS))
    for _ in range(4):
        await pilot.press("escape")
    page = dice.choice(PAGES[:6])
    key = str(PAGES.index(page) + 1)
    await pilot.press(key)
    await pilot.pause()
    shown = view_of(app).page
    await pilot.press("1")
    await until(lambda: view_of(app).page == PAGES[0], f"key 1 after {key} (page {shown})")
    await until(lambda: watched.newest is not None and watched.newest.number > number, f"a frame after {number}")


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    source, watched = asyncio.run(watch(60 * arguments.minutes, arguments.seed))
    frames = watched.newest.number if watched.newest else 0
    print(f"{frames} frames; {', '.join(f'{count} {kind}' for kind, count in source.troubles.most_common())}")
    for reason, count in watched.internal.most_common(20):
        print(f"shown as a reason {count:5} times: {reason}")


if __name__ == "__main__":
    main()
