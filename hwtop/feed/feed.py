"""The feed thread: takes snapshots from any source of them and publishes frames."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, runtime_checkable

from msgspec.structs import replace

from hwtop.collectors.user_patterns import watched_patterns
from hwtop.config import EVERY_SYMPTOM, SymptomConfig
from hwtop.feed.assemble import Assembler
from hwtop.feed.learn import Learner
from hwtop.model.aim import Aim, Wish
from hwtop.model.frame import Frame, Verdict
from hwtop.model.snapshot import Snapshot


@runtime_checkable
class Aimable(Protocol):
    """A source of snapshots that can be told where to look: live ones. Recordings and other nodes cannot."""

    def aim(self, aim: Aim) -> None:
        """Look there from now on."""


class Focus:
    """What a person looks at; set by the screen's thread, read by the feed's."""

    def __init__(self) -> None:
        self.wish = Wish()


def frames(
    snapshots: Iterable[Snapshot],
    focus: Focus | None = None,
    symptoms: SymptomConfig = EVERY_SYMPTOM,
    learner: Learner | None = None,
) -> Iterator[Frame]:
    """One frame a snapshot; a live source is aimed after each, and what is learned of the job comes from `learner`."""
    assembler = Assembler(patterns=watched_patterns(), symptoms=symptoms)
    for snapshot in snapshots:
        frame = assembler.advance(snapshot)
        yield frame
        if learner is not None:
            learner.advance(snapshot, frame)
            assembler.earlier = learner.earlier
        if isinstance(snapshots, Aimable) and (aim := assembler.aim(focus.wish if focus else Wish())):
            snapshots.aim(aim)


class Feed(threading.Thread):
    """Runs `frames` and hands each to `publish`. A daemon: a source that hangs must not keep the program from leaving."""

    def __init__(
        self,
        snapshots: Iterable[Snapshot],
        publish: Callable[[Frame], None],
        symptoms: SymptomConfig = EVERY_SYMPTOM,
        learner: Learner | None = None,
    ) -> None:
        super().__init__(name="hwtop-feed", daemon=True)
        self._snapshots = snapshots
        self._publish = publish
        self._symptoms = symptoms
        self._learner = learner
        self._stopping = threading.Event()
        self.focus = Focus()

    def run(self) -> None:
        """Until the source ends or `stop` is called. A failure is published: a picture that stands still must say so."""
        last: Frame | None = None
        try:
            for frame in frames(self._snapshots, self.focus, self._symptoms, self._learner):
                if self._stopping.is_set():
                    return
                last = frame
                self._publish(frame)
        except Exception as error:
            if last is None or self._stopping.is_set():
                raise
            text = f"hwtop itself has failed, what you see is no longer live: {type(error).__name__}: {error}"
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
        """Let go. Must not block."""
