"""The RAS port of the job's NCCL: every rank on every node, asked only while the job looks stuck."""

from __future__ import annotations

import time
from collections.abc import Callable

from hwtop.collectors.abandon import Abandonable
from hwtop.collectors.procfs import reason_of
from hwtop.collectors.ras.client import RasClient
from hwtop.collectors.ras.policy import adopted
from hwtop.collectors.ras.port import find_port, is_answered_by
from hwtop.job.ras.error import RasError
from hwtop.job.ras.report import parse
from hwtop.model.plan import SamplingPlan
from hwtop.model.reported.ras import RasPolicy, RasReading, RasReport

EVERY_S = 30.0
"""Between two questions: a thread of the job answers, and has crashed it when asked in quick succession (NVIDIA/nccl #1669)."""
_WAITS_S = 0.05
"""One read waits so long for the answer; it comes in a later one."""


class RasSource:
    """Fills `Snapshot.ras`: a level, the newest report, while the plan names ranks that may be asked."""

    name = "ras"
    every_s = 1.0

    def __init__(
        self,
        *,
        policy: RasPolicy | None = None,
        proc: str = "/proc",
        now: Callable[[], float] = time.monotonic,
        reply_s: float = 1.0,
        waits_s: float = _WAITS_S,
    ) -> None:
        """`policy` replaces the user's setting."""
        self._policy = policy or adopted()
        self._proc = proc
        self._now = now
        self._reply_s = reply_s
        self._waits_s = waits_s
        self._pids: tuple[int, ...] = ()
        self._asked_at_s: float | None = None
        self._asking: Abandonable[RasReport | None] = Abandonable("ras", self._ask, now)
        self._reading: RasReading | None = None

    def probe(self) -> str | None:
        """Able to run everywhere."""
        return None

    def set_plan(self, plan: SamplingPlan) -> None:
        """Take the ranks that may be asked now."""
        self._pids = plan.ras_pids

    def close(self) -> None:
        """Nothing is held open between two questions."""

    def read(self) -> RasReading | None:
        """The newest report, or why there is none; None while nothing was asked, or nobody listens."""
        now_s = self._now()
        is_due = self._asked_at_s is None or now_s - self._asked_at_s >= EVERY_S
        if self._asking.out_for_s() > 0.0:
            self._take()
        elif self._policy != "off" and self._pids and is_due:
            self._asked_at_s = now_s
            self._take()
        return self._reading

    def _take(self) -> None:
        try:
            report = self._asking.poll(self._waits_s)
        except TimeoutError as error:
            if self._asking.out_for_s() >= EVERY_S:
                self._put(self._reading, f"NCCL RAS is {error}")
        except (OSError, RasError) as error:
            self._put(self._reading, reason_of(error))
        else:
            if report is not None:
                at_s = self._now()
                self._put(RasReading(at_s=at_s, report=report, reported_at_s=at_s), None)

    def _put(self, reading: RasReading | None, reason: str | None) -> None:
        """The last report stays where there is no new one."""
        self._reading = RasReading(
            at_s=self._now(),
            report=None if reading is None else reading.report,
            reported_at_s=None if reading is None else reading.reported_at_s,
            missing={} if reason is None else {"report": reason},
        )

    def _ask(self) -> RasReport | None:
        """In a thread of its own, for up to 17 s; None where nobody listens."""
        pids = self._pids
        server = find_port(pids, self._proc)
        if server is None:
            return None
        client = RasClient(
            server, lambda peer_port: is_answered_by(pids, server.port, peer_port, self._proc), reply_s=self._reply_s
        )
        return parse(client.report(any_version=self._policy == "any-version"))
