"""The agent: watches the job on its own node as `hwtop` does, and reports it on standard output until its reader has gone.

It opens no port and writes no file. It ends with its input or output, when nothing was asked for `LEASE_S` (a launcher that was killed
may leave both open), when its time is up, and some seconds after the job has ended.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import BinaryIO

from hwtop import __version__
from hwtop.errors import HwtopError, internal_error
from hwtop.feed.address_space import check_address_space
from hwtop.feed.feed import Focus as FeedFocus
from hwtop.feed.feed import frames
from hwtop.feed.live import LIVE_STACK_BUDGET_PCT, LiveSource
from hwtop.feed.watch import HEADLESS_STACK_BUDGET_PCT, LAST_WORDS_S
from hwtop.fleet import wire
from hwtop.fleet.condense import condensed
from hwtop.fleet.outbox import Outbox
from hwtop.model.frame import Frame
from hwtop.model.plan import UserFocus
from hwtop.model.process import JobCandidate
from hwtop.model.snapshot import Snapshot
from hwtop.store.bursts import Bursts

LEASE_S = 30.0
"""Without a sign of life of the reader, which comes every 5 s. Engineering default."""
LEAST_INTERVAL_S, MOST_INTERVAL_S = 0.2, 60.0
_LAST_WORDS_S = 2.0
"""To send the last messages."""
Target = Callable[[], int | None]
"""The process that the user has named; None: nobody did. Raises HwtopError where there is none."""


class Orders:
    """What the reader asked for so far; set by the thread that reads, read by the one that samples."""

    def __init__(self, interval_s: float) -> None:
        self.interval_s = interval_s
        self.is_in_focus = False
        self.stacks_until_s = 0.0
        self.heard_at_s = time.monotonic()
        self.has_ended = threading.Event()
        self.source: LiveSource | None = None

    def end(self) -> None:
        """The reader is gone, or wants no more."""
        self.has_ended.set()
        if self.source is not None:
            self.source.close()


def run(
    node: str, target: Target, *, interval_s: float, most_s: float, source: BinaryIO, write: Callable[[bytes], None]
) -> None:
    """Report until one of the ends above.

    Args:
        node: its name, as the reader knows it.
        source: control messages.
        write: takes bytes; may block.
    """
    ends_s = time.monotonic() + most_s
    talk(node, interval_s, source, write, lambda orders, outbox: _report(target, orders, outbox, ends_s))


def talk(
    node: str,
    interval_s: float,
    source: BinaryIO,
    write: Callable[[bytes], None],
    work: Callable[[Orders, Outbox], str],
) -> None:
    """Greet, do the work, and say why it ended."""
    outbox, orders = Outbox(write), Orders(interval_s)
    outbox.put(wire.Hello(protocol=wire.PROTOCOL, version=__version__, host=os.uname().nodename, time_s=time.time()))
    threading.Thread(target=_listen, args=(source, node, orders, outbox), name="hwtop-orders", daemon=True).start()
    threading.Thread(target=_watch_reader, args=(orders, outbox), name="hwtop-lease", daemon=True).start()
    try:
        check_address_space()
        outbox.put(wire.Goodbye(reason=work(orders, outbox)))
    except HwtopError as error:
        outbox.put(wire.Goodbye(reason=str(error), is_failure=True))
    except Exception as error:
        outbox.put(wire.Goodbye(reason=internal_error(error), is_failure=True))
    outbox.close(_LAST_WORDS_S)


def _report(target: Target, orders: Orders, outbox: Outbox, ends_s: float) -> str:
    """Returns why it ended."""
    pid = target()
    while True:
        for frame in _frames(pid, orders, outbox):
            outbox.put(wire.Report(report=condensed(frame)))
            job, candidates = frame.derived.job, frame.derived.candidates
            if orders.has_ended.is_set():
                return "its reader has gone"
            if time.monotonic() >= ends_s:
                return "its time is up: give hwtop agent a longer --for"
            if job is not None and (job.ended_for_s or 0.0) > LAST_WORDS_S:
                return "the job has ended"
            if pid is None and (pid := _only_job(candidates)) is not None:
                break
        else:
            return "its reader has gone"


def _frames(pid: int | None, orders: Orders, outbox: Outbox) -> Iterator[Frame]:
    source = LiveSource(target_pid=pid, interval_s=orders.interval_s, stack_budget_pct=LIVE_STACK_BUDGET_PCT)
    orders.source = source
    bursts, focus = Bursts(), FeedFocus()

    def store(snapshot: Snapshot) -> None:
        if orders.is_in_focus:
            outbox.put(wire.Whole(snapshot=bursts.fitted(snapshot)))

    try:
        for frame in frames(source, focus, store=store):
            yield frame
            is_close = time.monotonic() < orders.stacks_until_s
            focus.user_focus = UserFocus(
                stack_budget_pct=HEADLESS_STACK_BUDGET_PCT if is_close else LIVE_STACK_BUDGET_PCT
            )
    finally:
        source.close()


def _only_job(candidates: tuple[JobCandidate, ...] | None) -> int | None:
    """The training job of this node, where there is one and one only."""
    found = [each for each in candidates or () if each.kind == "training" and each.can_attach]
    return found[0].pid if len(found) == 1 else None


def _listen(source: BinaryIO, node: str, orders: Orders, outbox: Outbox) -> None:
    """Until the reader closes its end."""
    try:
        while line := source.readline(wire.MOST_CONTROL_BYTES):
            orders.heard_at_s = time.monotonic()
            _obey(wire.control_of(line), node, orders, outbox)
    except (OSError, ValueError):
        pass
    orders.end()


def _obey(control: wire.Control | None, node: str, orders: Orders, outbox: Outbox) -> None:
    if isinstance(control, wire.Ping):
        outbox.put(wire.Pong(sent_at_s=control.sent_at_s, time_s=time.time()))
    elif isinstance(control, wire.Rate):
        orders.interval_s = min(max(control.interval_s, LEAST_INTERVAL_S), MOST_INTERVAL_S)
        if orders.source is not None:
            orders.source.interval_s = orders.interval_s
    elif isinstance(control, wire.Focus):
        orders.is_in_focus = control.node == node
    elif isinstance(control, wire.StacksNow):
        orders.stacks_until_s = time.monotonic() + min(max(control.for_s, 0.0), MOST_INTERVAL_S)
    elif isinstance(control, wire.Stop):
        orders.end()


def _watch_reader(orders: Orders, outbox: Outbox) -> None:
    while not outbox.is_gone.wait(1.0):
        if time.monotonic() - orders.heard_at_s > LEASE_S:
            break
    orders.end()
