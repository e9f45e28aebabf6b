"""The thread behind the screen of a fleet: readings in, frames of the whole job with that of the opened node out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Protocol

from msgspec.structs import replace

from hwtop.config import EVERY_SYMPTOM, SymptomConfig
from hwtop.errors import HwtopError
from hwtop.fleet.assemble import FleetAssembler
from hwtop.job.log.text import visible
from hwtop.model.fleet import FleetReading
from hwtop.model.frame import DerivedState, Frame
from hwtop.model.plan import UserFocus
from hwtop.model.symptom import Verdict

_END_S = 5.0
"""For the launcher's programs to end; they end with this process anyway. Engineering default."""
Publish = Callable[[Frame], None]
Store = Callable[[FleetReading], None]
"""Keeps what was read. Does not block and does not raise."""


class FleetSource(Protocol):
    """Readings of all nodes, until it is closed. Its methods may be called from any thread."""

    def __iter__(self) -> Iterator[FleetReading]:
        """One reading a tick."""

    def set_focus(self, node: str | None) -> None:
        """This node sends whole Snapshots, and no other."""

    def set_rate(self, interval_s: float) -> None:
        """All agents look so often."""

    def close(self) -> None:
        """End the iteration."""


class FleetFeed(threading.Thread):
    """What the screen sees of a fleet (`ui.options.Stopper`). A daemon: a launcher that hangs must not keep the program from exiting."""

    def __init__(
        self,
        source: FleetSource,
        publish: Publish,
        symptoms: SymptomConfig = EVERY_SYMPTOM,
        store: Store | None = None,
    ) -> None:
        """Starts nothing yet. `store` keeps what was read."""
        super().__init__(name="hwtop-fleet", daemon=True)
        self._source, self._publish, self._store = source, publish, store
        self._assembler = FleetAssembler(symptoms)
        self._is_stopping = False
        self.failure: HwtopError | None = None
        """Why it ended by itself, in words for the user."""

    def run(self) -> None:
        """Until the source ends or `stop` is called. A failure is published: a screen that is no longer live must show it."""
        last: Frame | None = None
        try:
            for reading in self._source:
                if self._is_stopping:
                    return
                last = self._frame(reading)
                self._publish(last)
        except Exception as error:
            if self._is_stopping:
                return
            if isinstance(error, HwtopError):
                self.failure = error
                text = visible(str(error))
            else:
                text = (
                    f"hwtop has failed, so this screen is no longer live: {type(error).__name__}: {visible(str(error))}"
                )
            self._publish(replace(last or _nothing(), verdict=Verdict(level="unknown", text=text)))

    def finish(self) -> None:
        """Wait until the agents were told to end; at most as long as that may take."""
        self.join(_END_S)

    def _frame(self, reading: FleetReading) -> Frame:
        if self._store is not None:
            self._store(reading)
        return self._assembler.advance(reading)

    def attach(self, pid: int | None) -> None:
        """There is no list of jobs to pick from."""

    def look(self, user_focus: UserFocus) -> None:
        """The opened node sends whole Snapshots."""
        self._source.set_focus(user_focus.node)

    def interval(self, seconds: float) -> None:
        """All agents look so often."""
        self._source.set_rate(seconds)

    def stop(self) -> None:
        """End; does not wait."""
        self._is_stopping = True
        self._source.close()


def _nothing() -> Frame:
    """Before any node has reported."""
    derived = DerivedState(time_s=time.time(), at_s=time.monotonic(), host="no node", interval_s=1.0, cores=0)
    verdict = Verdict(level="unknown", text="")
    return Frame(number=1, derived=derived, history=(derived,), verdict=verdict, findings=(), blind=(), watched_s=0.0)
