"""The live source of a fleet: starts the agents, reads them, and gives one FleetReading a tick. One thread: that of the caller."""

from __future__ import annotations

import selectors
import time
from collections import deque
from collections.abc import Callable, Iterator

from hwtop.errors import CannotError, UsageError
from hwtop.fleet import wire
from hwtop.fleet.child import Child
from hwtop.fleet.launchers.launcher import Agent, Launcher, Start, reason
from hwtop.fleet.node_watch import NodeWatch
from hwtop.job.log.text import visible
from hwtop.model.fleet import FleetReading, NodeStatus

_AT_ONCE = 32
"""Processes that may be connecting at a time: sshd refuses some of more at a jump host (MaxStartups 10:30:100). Engineering default."""
_PING_S = 5.0
"""From one sign of life to the next; agents wait 30 s for it. Engineering default."""
_AGAIN_S = (3.0, 15.0, 60.0)
"""After so long an agent that broke off is started again, each time once. Engineering default."""
_LOOK_S = 0.1
"""Longest wait for bytes, so that what another thread has ordered is sent soon."""
_END_S = 2.0
"""To end in order."""
_SHOWN = 10
"""Names of nodes in a message."""


class LiveFleet:
    """Iterates over readings until closed. `set_focus` and so on may be called from any thread."""

    def __init__(
        self,
        launcher: Launcher,
        agent: Agent,
        *,
        interval_s: float = 1.0,
        now: Callable[[], float] = time.monotonic,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Starts nothing yet.

        Raises:
            HwtopError: as of `Launcher.starts`.
        """
        self.interval_s = interval_s
        self._launcher, self._now, self._clock = launcher, now, clock
        self._waiting: deque[Start] = deque(launcher.starts(agent))
        self._children: list[Child] = []
        self._selector = selectors.DefaultSelector()
        self._orders: deque[wire.Control] = deque(maxlen=64)
        self._focus: str | None = None
        self._is_closing = False
        self._pinged_s = 0.0
        self._again: list[tuple[float, Start]] = []
        self._started: dict[tuple[str, ...], int] = {}
        """By the nodes of the start, how often it was made again."""
        at_s = now()
        self._nodes = {name: NodeWatch(name, at_s) for start in self._waiting for name in start.nodes}

    def check_name(self, node: str) -> None:
        """Whether there is such a node, as far as the launcher knows it before the start.

        Raises:
            UsageError: there is none.
        """
        if self._nodes and node not in self._nodes:
            raise UsageError(f"{node!r} is none of the nodes: {visible(', '.join(list(self._nodes)[:_SHOWN]))}")

    def set_focus(self, node: str | None) -> None:
        """This node sends whole Snapshots, and no other."""
        self._focus = node
        self._orders.append(wire.Focus(node=node))

    def set_rate(self, interval_s: float) -> None:
        """All agents look so often."""
        self.interval_s = interval_s
        self._orders.append(wire.Rate(interval_s=interval_s))

    def stacks_now(self, for_s: float) -> None:
        """All agents take stacks at the pace of a short run for so long."""
        self._orders.append(wire.StacksNow(for_s=for_s))

    def close(self) -> None:
        """End the iteration; agents and processes are ended by it."""
        self._is_closing = True

    def __iter__(self) -> Iterator[FleetReading]:
        due_s = self._now()
        try:
            while not self._is_closing:
                due_s = max(due_s + self.interval_s, self._now())
                while not self._is_closing and (left_s := due_s - self._now()) > 0:
                    self._turn(min(left_s, _LOOK_S))
                self._turn(0.0)
                if self._nodes:
                    yield self._reading()
                elif not self._children and not self._waiting:
                    raise CannotError("no node was found")
        finally:
            self._end()

    def _reading(self) -> FleetReading:
        at_s = self._now()
        focused = self._nodes.get(self._focus) if self._focus is not None else None
        return FleetReading(
            time_s=self._clock(),
            at_s=at_s,
            interval_s=self.interval_s,
            nodes=tuple(node.node(at_s) for node in self._nodes.values()),
            focus=self._focus,
            snapshots=focused.taken_snapshots() if focused is not None else (),
        )

    def _turn(self, seconds: float) -> None:
        """Start what may start, send what is due, read what is there."""
        self._start()
        self._send()
        if self._selector.get_map():
            ready: list[Child] = [key.data for key, _ in self._selector.select(seconds)]
            for child in dict.fromkeys(ready):
                self._read(child)
        else:
            time.sleep(seconds)

    def _start(self) -> None:
        now_s = self._now()
        due = [start for at_s, start in self._again if at_s <= now_s]
        self._again = [(at_s, start) for at_s, start in self._again if at_s > now_s]
        for start in due:
            for name in start.nodes:
                self._nodes[name].again(now_s)
        self._waiting.extend(due)
        while self._waiting and self._connecting() < _AT_ONCE:
            start = self._waiting.popleft()
            for name in start.nodes:
                self._nodes[name].again(now_s)
            try:
                child = Child(start)
            except CannotError as error:
                if not self._nodes or len(start.nodes) == len(self._nodes):
                    raise
                for name in start.nodes:
                    self._nodes[name].end("failed", str(error))
                continue
            self._children.append(child)
            for pipe in child.pipes:
                self._selector.register(pipe, selectors.EVENT_READ, child)
            child.send(wire.control_line(wire.Ping(sent_at_s=self._now())))
            if self._focus is not None:
                child.send(wire.control_line(wire.Focus(node=self._focus)))

    def _connecting(self) -> int:
        return sum(
            child.is_open and any(not self._nodes[name].has_answered for name in child.start.nodes)
            for child in self._children
        )

    def _send(self) -> None:
        lines = []
        while self._orders:
            lines.append(wire.control_line(self._orders.popleft()))
        if self._now() - self._pinged_s >= _PING_S:
            self._pinged_s = self._now()
            lines.append(wire.control_line(wire.Ping(sent_at_s=self._pinged_s)))
        for child in self._children:
            if child.is_open:
                for line in lines:
                    child.send(line)

    def _read(self, child: Child) -> None:
        for name, message in child.read():
            node = self._nodes.get(name)
            if node is None:
                node = self._nodes[name] = NodeWatch(name, self._now())
            try:
                node.take(message, self._now(), self._clock())
                if isinstance(message, wire.Hello):  # the first question has waited for the start of the agent
                    child.send(wire.control_line(wire.Ping(sent_at_s=self._now())))
            except wire.ProtocolError as error:
                child.give_up(name, str(error))
        for name, failure in child.failures:
            if name in self._nodes:
                self._nodes[name].end("failed", failure)
        if not child.is_open:
            self._ended(child)

    def _ended(self, child: Child) -> None:
        """Its output is closed."""
        for pipe in child.pipes:
            self._selector.unregister(pipe)
        child.wait(_LOOK_S)
        code = child.code
        broken = False
        for name in child.start.nodes or tuple(self._nodes):
            node = self._nodes[name]
            if not node.is_over:
                broken = True
                status: NodeStatus = "lost" if node.node(self._now()).report is not None else "failed"
                node.end(status, reason(self._launcher.says, name, code, child.words(name)))
        if not self._nodes:
            raise CannotError(reason(self._launcher.says, "", code, child.errors))
        child.end()
        self._children.remove(child)
        nodes = child.start.nodes
        times = self._started[nodes] = self._started.get(nodes, 0) + 1
        was_up = any(self._nodes[name].node(self._now()).report is not None for name in child.start.nodes)
        if broken and was_up and times <= len(_AGAIN_S):
            self._again.append((self._now() + _AGAIN_S[times - 1], child.start))

    def _end(self) -> None:
        for child in self._children:
            child.send(wire.control_line(wire.Stop()))
            child.close_input()
        ends_s = self._now() + _END_S
        for child in self._children:
            child.wait(ends_s - self._now())
        for child in self._children:
            child.end()
        self._children = []
        self._selector.close()
