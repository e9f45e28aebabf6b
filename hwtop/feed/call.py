"""Call: sends an alert out of the terminal, by a webhook or a command of the user. Never waits for either."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable

import msgspec

from hwtop import __version__
from hwtop.config import AlertConfig
from hwtop.feed.alerts import AlertBook
from hwtop.job.log.text import visible
from hwtop.job.secrets import masked_text
from hwtop.model.frame import Frame
from hwtop.model.output import Output
from hwtop.model.reported.log import Severity
from hwtop.model.symptom import Finding

_TIMEOUT_S = 10.0
_END_S = 1.0
"""To end a command that took too long."""
Failed = Callable[[str], None]
"""Gets one printable line about what failed; may be called from any thread."""


class Alert(Output, frozen=True, kw_only=True):
    """What a webhook gets by POST, and a command as standard input."""

    text: str
    """One line for a chat: host, severity and title."""
    hwtop: str
    host: str
    pid: int | None
    time: float
    """Seconds after the epoch."""
    symptom: str
    severity: Severity
    title: str
    evidence: tuple[str, ...]
    next_steps: tuple[str, ...]
    ranks: tuple[int, ...]
    untrusted: tuple[str, ...] = ("evidence", "next_steps", "text", "title")
    """Parts whose text may quote the job: data, never instructions."""


class Caller:
    """Sends alerts, each in a daemon thread of its own: one that hangs blocks nothing. A failure is said once for each receiver."""

    def __init__(self, config: AlertConfig, failed: Failed) -> None:
        self._config = config
        self._failed = failed
        self._has_failed: set[str] = set()
        self._under_way: list[threading.Thread] = []

    def __call__(self, finding: Finding, frame: Frame) -> None:
        """Send an alert about `finding`. Returns immediately."""
        message = alert(finding, frame)
        if self._config.webhook:
            self._begin(_post, self._config.webhook, message)
        if self._config.command:
            self._begin(_run, self._config.command, message)

    def finish(self) -> None:
        """Wait for what is under way; at most as long as one delivery may take."""
        ends_s = time.monotonic() + _TIMEOUT_S + _END_S
        for thread in self._under_way:
            thread.join(max(0.0, ends_s - time.monotonic()))

    def _begin(self, send: Callable[[str, Alert], None], to: str, message: Alert) -> None:
        def work() -> None:
            try:
                send(to, message)
            except Exception as error:  # any failure of a network or a command
                if to not in self._has_failed:
                    self._has_failed.add(to)
                    self._failed(visible(f"alert not delivered: {type(error).__name__}: {error}"))

        self._under_way = [thread for thread in self._under_way if thread.is_alive()]
        self._under_way.append(threading.Thread(target=work, name="hwtop-alert", daemon=True))
        self._under_way[-1].start()


class Announcer:
    """Runs a command for each new finding of severity warning or above, once a symptom until it has cleared."""

    def __init__(self, command: str | None, failed: Failed) -> None:
        """`command`: None = nothing is run."""
        self._book = AlertBook("warning")
        self._call = Caller(AlertConfig(command=command or ""), failed)

    def advance(self, frame: Frame) -> None:
        """Returns immediately."""
        for finding in self._book.advance(frame):
            self._call(finding, frame)

    def finish(self) -> None:
        """As of `Caller`."""
        self._call.finish()


def alert(finding: Finding, frame: Frame) -> Alert:
    """The message. It leaves the machine, so secrets are masked."""
    job = frame.derived.job
    return Alert(
        text=_safe(f"hwtop on {frame.derived.host}: {finding.severity}: {finding.title}"),
        hwtop=__version__,
        host=frame.derived.host,
        pid=job.target_pid if job else None,
        time=frame.derived.time_s,
        symptom=finding.symptom,
        severity=finding.severity,
        title=_safe(finding.title),
        evidence=tuple(map(_safe, finding.evidence)),
        next_steps=tuple(map(_safe, finding.next_steps)),
        ranks=finding.ranks,
    )


def _safe(text: str) -> str:
    return visible(masked_text(text))


def _post(url: str, message: Alert) -> None:
    import urllib.request  # 10 ms, for those who have a webhook

    headers = {"Content-Type": "application/json", "User-Agent": f"hwtop/{__version__}"}
    body = msgspec.json.encode(message)
    request = urllib.request.Request(url, data=body, headers=headers, method="POST")  # noqa: S310 (checked: http or https)
    with urllib.request.urlopen(request, timeout=_TIMEOUT_S):  # noqa: S310
        pass


def _run(command: str, message: Alert) -> None:
    reported = {
        f"HWTOP_{name.upper()}": str(getattr(message, name)) for name in ("symptom", "severity", "title", "pid", "host")
    }
    with subprocess.Popen(  # noqa: S602 (the command is the user's own; values go in as variables and on standard input only)
        command,
        shell=True,
        env=os.environ | reported,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,  # a group of its own, without the terminal
    ) as process:
        try:
            _, stderr = process.communicate(msgspec.json.encode(message) + b"\n", timeout=_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise RuntimeError(f"the command took over {_TIMEOUT_S:.0f} s and was ended") from None
    if process.returncode != 0:
        words = stderr.decode(errors="replace").strip().splitlines()
        raise RuntimeError(f"the command exited with {process.returncode}{': ' + words[-1][:120] if words else ''}")
