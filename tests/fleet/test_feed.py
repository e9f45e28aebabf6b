"""The thread behind the screen of a fleet."""

from __future__ import annotations

from collections.abc import Iterator

from hwtop.errors import CannotError
from hwtop.fleet.feed import FleetFeed
from hwtop.model.fleet import FleetReading
from hwtop.model.frame import Frame
from hwtop.model.plan import UserFocus
from hwtop.model.snapshot import Snapshot
from tests.fleet.nodes import hanging, node, reading
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
