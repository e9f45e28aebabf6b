"""The thread behind the screen of a fleet."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

from hwtop.errors import CannotError
from hwtop.feed.record import RecordingSwitch
from hwtop.fleet.feed import FleetFeed
from hwtop.model.fleet import FleetReading
from hwtop.model.frame import Frame
from hwtop.model.plan import UserFocus
from hwtop.model.snapshot import Snapshot
from hwtop.store.kind import FLEET
from tests.fleet.nodes import hanging, node, reading
from tests.fleet.sessions import hang, read
from tests.recording import load


class FakeFleet:
    """Gives these readings, then fails if it shall."""

    def __init__(self, *readings: FleetReading, error: Exception | None = None) -> None:
        self.readings, self.error = readings, error
        self.focused: list[str | None] = []
        self.rates: list[float] = []
        self.is_closed = False

    def __iter__(self) -> Iterator[FleetReading]:
        yield from self.readings
        if self.error is not None:
            raise self.error

    def set_focus(self, node: str | None) -> None:
        self.focused.append(node)

    def set_rate(self, interval_s: float) -> None:
        self.rates.append(interval_s)

    def close(self) -> None:
        self.is_closed = True


def run(source: FakeFleet) -> tuple[list[Frame], FleetFeed]:
    """What it publishes until its source ends."""
    shown: list[Frame] = []
    feed = FleetFeed(source, shown.append)
    feed.run()
    return shown, feed


def focused(name: str | None, *snapshots: Snapshot) -> FleetReading:
    nodes = [node(each.host, each) for each in hanging(("a", "b"))]
    whole = reading(nodes)
    return FleetReading(
        time_s=whole.time_s,
        at_s=whole.at_s,
        interval_s=1.0,
        nodes=whole.nodes,
        focus=name,
        snapshots=snapshots,
    )


def test_a_frame_of_all_nodes_holds_that_of_the_opened_one() -> None:
    snapshots = load("hang")[:3]
    shown, _ = run(FakeFleet(focused(None), focused("b", *snapshots[:2]), focused("b", snapshots[2]), focused(None)))
    assert [frame.opened and frame.opened.node for frame in shown] == [None, "b", "b", None]
    opened = shown[2].opened
    assert opened is not None
    assert [derived.at_s for derived in opened.history] == [snapshot.at_s for snapshot in snapshots]
    assert [each.name for each in shown[2].nodes] == ["a", "b"]


def test_another_node_begins_anew() -> None:
    first, second = load("hang")[:2]
    shown, _ = run(FakeFleet(focused("a", first), focused("b"), focused("b", second)))
    assert shown[1].opened is None
    opened = shown[2].opened
    assert opened is not None
    assert len(opened.history) == 1


def test_what_the_user_does_goes_to_the_agents() -> None:
    source = FakeFleet()
    feed = FleetFeed(source, lambda _: None)
    feed.look(UserFocus(node="a"))
    feed.look(UserFocus())
    feed.interval(2.0)
    feed.stop()
    assert (source.focused, source.rates, source.is_closed) == (["a", None], [2.0], True)


def test_a_failure_stays_on_the_screen_with_the_last_picture() -> None:
    shown, feed = run(FakeFleet(focused(None), error=RuntimeError("x\x1b[2J")))
    assert "no longer live: RuntimeError: x␛[2J" in shown[-1].verdict.text
    assert shown[-1].nodes == shown[0].nodes
    assert feed.failure is None


def test_agents_that_cannot_be_started_are_an_error_for_the_user() -> None:
    shown, feed = run(FakeFleet(error=CannotError("cannot run 'srun': No such file or directory")))
    assert [frame.verdict.text for frame in shown] == ["cannot run 'srun': No such file or directory"]
    assert isinstance(feed.failure, CannotError)


def test_what_the_screen_shows_is_recorded_between_two_presses_of_the_key(tmp_path: Path) -> None:
    switch, changed = RecordingSwitch(str(tmp_path), kind=FLEET), threading.Event()
    told: list[tuple[str, bool]] = []

    def say(words: str, goes_on: bool) -> None:
        told.append((words, goes_on))
        changed.set()

    def pass_by(readings: tuple[FleetReading, ...]) -> None:
        FleetFeed(FakeFleet(*readings), lambda _: None, store=switch.store).run()

    pass_by(hang()[:2])
    for goes_on in (True, False):
        switch.toggle("run", say)
        assert changed.wait(30)
        changed.clear()
        if goes_on:
            pass_by(hang()[2:20])
    pass_by(hang()[20:22])
    place = tmp_path / "run.hwtop"
    assert told == [(f"recording into {place}", True), (f"recorded {place}", False)]
    assert read(place) == list(hang()[2:20])
