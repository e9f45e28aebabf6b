"""The agent of `hwtop preflight --nodes`: makes the checks of its own node and reports them, instead of a job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import BinaryIO

from hwtop.fleet import wire
from hwtop.fleet.agent import Orders, talk
from hwtop.fleet.outbox import Outbox
from hwtop.model.check import CheckResult
from hwtop.preflight.check import Check
from hwtop.preflight.machine import Machine
from hwtop.preflight.run import results


def run(
    node: str, checks: Sequence[Check], machine: Machine, *, source: BinaryIO, write: Callable[[bytes], None]
) -> None:
    """Make these checks of this machine, one after the other, until all are made or the reader has gone.

    Args:
        node: its name, as the reader knows it.
        source: control messages.
        write: takes bytes; may block.
    """

    def check(orders: Orders, outbox: Outbox) -> str:
        found: list[CheckResult] = []
        for result in results(checks, machine):
            found.append(result)
            outbox.put(wire.Checks(results=tuple(found)))
            if orders.has_ended.is_set():
                return "its reader has gone"
        return "all checks are made"

    try:
        talk(node, 1.0, source, write, check)
    finally:
        machine.close()
