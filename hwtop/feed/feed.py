"""The feed thread: takes snapshots from a source and publishes frames."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, runtime_checkable

from msgspec.structs import replace

from hwtop.collectors.logs.user_patterns import watched_patterns
from hwtop.config import EVERY_SYMPTOM, SymptomConfig
from hwtop.feed.assemble import Assembler
from hwtop.feed.learn import Learner
from hwtop.model.frame import Frame
from hwtop.model.plan import SamplingPlan, UserFocus
from hwtop.model.snapshot import Snapshot
from hwtop.model.symptom import Verdict


@runtime_checkable
class PlanFollower(Protocol):
    """A source of snapshots that follows a sampling plan: live ones do, recordings and other nodes do not."""

    def set_plan(self, plan: SamplingPlan) -> None:
        """Sample by `plan` from now on."""


Store = Callable[[Snapshot], None]
"""Keeps what was read. Does not block and does not raise."""


def both(*stores: Store) -> Store:
    """Keeps what was read in several places."""

    def store(snapshot: Snapshot) -> None:
        for each in stores:
            each(snapshot)

    return store


class Focus:
    """What the user looks at; set by the screen's thread, read by the feed's."""

    def __init__(self) -> None:
        self.user_focus = UserFocus()


def frames(
    snapshots: Iterable[Snapshot],
    focus: Focus | None = None,
    symptoms: SymptomConfig = EVERY_SYMPTOM,
    learner: Learner | None = None,
    store: Store | None = None,
) -> Iterator[Frame]:
    """One frame per snapshot; a live source gets a new plan after each, and earlier runs come from `learner`."""
    assembler = Assembler(patterns=watched_patterns(), symptoms=symptoms)
    for snapshot in snapshots:
        if store is not None:
            store(snapshot)
        frame = assembler.advance(snapshot)
        yield frame
        if learner is not None:
            learner.advance(snapshot, frame)
            assembler.earlier = learner.earlier
        if isinstance(snapshots, PlanFollower) and (
            plan := assembler.set_plan(focus.user_focus if focus else UserFocus())
        ):
            snapshots.set_plan(plan)


class Feed(threading.Thread):
    """Runs `frames` and hands each to `publish`. A daemon: a source that hangs must not keep the program from exiting."""

    def __init__(
        self,
        snapshots: Iterable[Snapshot],
        publish: Callable[[Frame], None],
        symptoms: SymptomConfig = EVERY_SYMPTOM,
        learner: Learner | None = None,
        store: Store | None = None,
    ) -> None:
        super().__init__(name="hwtop-feed", daemon=True)
        self._snapshots = snapshots
        self._publish = publish
        self._symptoms = symptoms
        self._learner = learner
        self._store = store
        self._stopping = threading.Event()
        self.focus = Focus()

    def run(self) -> None:
        """Until the source ends or `stop` is called. A failure is published: a screen that is no longer live must show it."""
        last: Frame | None = None
        try:
            for frame in frames(self._snapshots, self.focus, self._symptoms, self._learner, self._store):
                if self._stopping.is_set():
                    return
                last = frame
                self._publish(frame)
        except Exception as error:
            if last is None or self._stopping.is_set():
                raise
            text = f"hwtop has failed, so this screen is no longer live: {type(error).__name__}: {error}"
            self._publish(replace(last, verdict=Verdict(level="unknown", text=text)))

    def stop(self) -> None:
        """End after the current snapshot; does not wait."""
        self._stopping.set()
        if isinstance(self._snapshots, Closeable):
            self._snapshots.close()


@runtime_checkable
class Closeable(Protocol):
    """A source of snapshots that holds threads or files."""

    def close(self) -> None:
        """Release them. Must not block."""
