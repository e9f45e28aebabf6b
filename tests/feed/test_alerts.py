"""When an alert calls, and how it leaves the machine."""

from __future__ import annotations

import json
import os
import queue
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from hwtop.config import AlertConfig
from hwtop.feed import call
from hwtop.feed.alerts import AlertBook
from hwtop.feed.call import Announcer, Caller
from hwtop.model.frame import Frame
from hwtop.model.reported.log import Severity
from hwtop.model.symptom import Finding, Verdict
from hwtop.ui.terminal.notification import escapes
from tests.parts import replace
from tests.schemas import valid
from tests.symptoms.derived_states import derived, job, rank

WAIT_S = 60.0


def finding(symptom: str = "hang", severity: Severity = "critical", title: str = "all stand still") -> Finding:
    return Finding(
        symptom=symptom,
        severity=severity,
        confidence=0.9,
        category="stability",
        title=title,
        evidence=("export API_KEY=sk-abcdefghijklmnopqrstuvwxyz0123456789",),
        next_steps=("look",),
    )


def frame(*findings: Finding, pid: int = 999) -> Frame:
    return Frame(
        number=1,
        derived=derived(5.0, replace(job(rank()), target_pid=pid)),
        history=(),
        verdict=Verdict(level="ok", text=""),
        findings=findings,
        blind=(),
        watched_s=5.0,
    )


def reported(book: AlertBook, *findings: Finding, pid: int = 999) -> list[str]:
    return [each.symptom for each in book.advance(frame(*findings, pid=pid))]


def test_each_symptom_calls_once_until_it_has_cleared() -> None:
    book = AlertBook("warning")

    assert reported(book, finding()) == ["hang"]
    assert reported(book, finding(), finding("xid")) == ["xid"]
    assert reported(book, finding("xid")) == []
    assert reported(book, finding(), finding("xid")) == ["hang"]  # it had gone in between


def test_a_note_does_not_call_and_what_gets_worse_does() -> None:
    book = AlertBook("warning")

    assert reported(book, finding(severity="info")) == []
    assert reported(book, finding(severity="warning")) == ["hang"]


def test_another_job_begins_anew() -> None:
    book = AlertBook("warning")

    assert reported(book, finding(), pid=1) == ["hang"]
    assert reported(book, finding(), pid=2) == ["hang"]


@pytest.fixture
def posted() -> Iterator[tuple[str, queue.Queue[dict[str, object]]]]:
    """An address, and what arrives there."""
    arrived: queue.Queue[dict[str, object]] = queue.Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            arrived.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/hook", arrived
        server.shutdown()


def test_a_webhook_gets_the_finding_without_secrets(posted: tuple[str, queue.Queue[dict[str, object]]]) -> None:
    url, arrived = posted
    Caller(AlertConfig(webhook=url), failed=pytest.fail)(finding(), frame())
    message = arrived.get(timeout=WAIT_S)

    assert message["text"] == "hwtop on box: critical: all stand still"
    assert (message["symptom"], message["pid"]) == ("hang", 999)
    assert "sk-abc" not in json.dumps(message)


def test_a_command_is_run_with_the_values(tmp_path: Path) -> None:
    pipe = tmp_path / "told"
    os.mkfifo(pipe)
    Caller(AlertConfig(command=f'echo "$HWTOP_SYMPTOM $HWTOP_PID $HWTOP_TITLE" > {pipe}'), failed=pytest.fail)(
        finding(title="a `touch x` $(touch y)"), frame()
    )

    assert pipe.read_text() == "hang 999 a `touch x` $(touch y)\n"  # a value, not code


@pytest.mark.parametrize(
    "config", [AlertConfig(command="echo no such printer >&2; exit 3"), AlertConfig(webhook="http://127.0.0.1:9/none")]
)
def test_what_does_not_work_is_told_and_ends_nothing(config: AlertConfig) -> None:
    failures: queue.Queue[str] = queue.Queue()
    Caller(config, failed=failures.put)(finding(), frame())

    assert failures.get(timeout=WAIT_S).startswith("alert not delivered: ")


def test_a_command_gets_the_finding_as_json(tmp_path: Path) -> None:
    place = tmp_path / "finding.json"
    announcer = Announcer(f"cat > {place}", failed=pytest.fail)
    announcer.advance(frame(finding()))
    announcer.finish()

    assert valid("alert", place.read_text())["symptom"] == "hang"


def test_what_a_command_gets_is_inert() -> None:
    message = call.alert(finding(title="bad\x1b[2J\u202e\udcff"), frame())
    assert message.title == "bad␛[2J\\u202e\\udcff"


def test_a_command_runs_once_for_a_symptom_until_it_has_cleared(tmp_path: Path) -> None:
    place = tmp_path / "findings"
    announcer = Announcer(f"cat >> {place}", failed=pytest.fail)
    for found in ([finding()], [finding()], [], [finding("xid", "info")], [finding()]):
        announcer.advance(frame(*found))
        announcer.finish()

    assert len(place.read_text().splitlines()) == 2


def test_without_a_command_nothing_is_run() -> None:
    announcer = Announcer(None, failed=pytest.fail)
    announcer.advance(frame(finding()))
    announcer.finish()


def test_a_command_that_does_not_end_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call, "_TIMEOUT_S", 0.3)
    failures: queue.Queue[str] = queue.Queue()
    held = tmp_path / "held"
    os.mkfifo(held)
    caller = Caller(AlertConfig(command=f"exec 9>{held}; sleep 600 & wait"), failed=failures.put)
    caller(finding(), frame())

    assert held.read_text() == ""  # returns when nobody holds it any more
    assert "was ended" in failures.get(timeout=WAIT_S)


def test_a_failure_is_said_once(tmp_path: Path) -> None:
    failures: list[str] = []
    caller = Caller(AlertConfig(command="exit 3"), failed=failures.append)
    for _ in range(3):
        caller(finding(), frame())
        caller.finish()

    assert len(failures) == 1


def test_what_a_command_says_cannot_write_into_the_terminal() -> None:
    failures: queue.Queue[str] = queue.Queue()
    Caller(AlertConfig(command="printf '\\033]0;owned\\007' >&2; exit 3"), failed=failures.put)(finding(), frame())

    assert failures.get(timeout=WAIT_S).isprintable()


def test_the_terminal_is_told_in_one_line_that_nothing_can_break_out_of() -> None:
    sent = escapes(finding(title="bad\x1b\\\x07; rank 3\n" + "x" * 500))

    assert sent.count("\x1b") == 4  # the two notifications, and nothing of the title
    assert "\x07" not in sent and "\n" not in sent
    assert sent.count(";") == 4
    assert len(sent) < 600
