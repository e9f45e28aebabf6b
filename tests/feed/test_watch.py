"""A watch without a screen, on real processes."""

from __future__ import annotations

import os
import resource
import subprocess
import threading

import pytest

from hwtop.collectors.process.source import ProcessSource
from hwtop.errors import CannotError
from hwtop.feed import baseline, watch
from hwtop.feed.vigil import vigil
from hwtop.model.frame import Frame
from hwtop.model.process import ProcessReading
from hwtop.model.symptom import Blind
from tests import frames
from tests.parts import replace


def test_a_short_watch_has_rates_for_it_has_two_readings() -> None:
    seen: list[Frame] = []
    last = watch.last_frame(watch.watch(os.getpid(), seconds=0), seen.append)
    assert [frame.number for frame in seen] == [1, 2]
    assert last is seen[-1]
    assert last.derived.cpu is not None and last.derived.cpu.util_pct is not None
    watch.check_job(last, os.getpid())


def test_a_watch_ends_with_its_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "LAST_WORDS_S", 0.0)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        found = watch.watch(process.pid, seconds=600)
        assert any(frame.derived.job for frame in found)
        process.communicate()
        last = watch.last_frame(found)
    assert last.derived.job is not None and last.derived.job.has_ended
    assert last.watched_s < 600


def test_a_short_watch_waits_for_processes_that_are_read_late(monkeypatch: pytest.MonkeyPatch) -> None:
    is_third = threading.Event()
    read = ProcessSource.read

    def read_late(source: ProcessSource) -> ProcessReading:
        assert is_third.wait(60)
        return read(source)

    monkeypatch.setattr(ProcessSource, "read", read_late)
    monkeypatch.setattr(watch, "ANSWERED_S", 60.0)
    for frame in watch.watch(os.getpid(), seconds=0):
        if frame.number == 3:
            is_third.set()
    watch.check_job(frame, os.getpid())


def test_a_watch_does_not_wait_for_ever_for_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    is_over = threading.Event()
    monkeypatch.setattr(ProcessSource, "read", lambda _: is_over.wait(60))
    last = watch.last_frame(watch.watch(os.getpid(), seconds=0))
    is_over.set()
    with pytest.raises(CannotError, match=r"process not answering for 3\.\d s"):
        watch.check_job(last, os.getpid())


def test_a_job_that_was_never_seen_is_an_error_with_its_reason() -> None:
    seen = frames.healthy()
    unseen = replace(seen, derived=replace(seen.derived, job=None), blind=())
    with pytest.raises(CannotError, match=r"^cannot read process 7: it has ended, or /proc does not answer$"):
        watch.check_job(unseen, 7)
    spots = tuple(Blind(source=source, reason=f"{source} is busy") for source in ("process", "gpu"))
    with pytest.raises(CannotError, match=r"^cannot read process 7: process is busy$"):
        watch.check_job(replace(unseen, blind=spots), 7)


def test_a_vigil_goes_on_until_the_caller_has_seen_enough() -> None:
    found = vigil(os.getpid(), most_s=600)
    assert [next(found).number for _ in range(3)] == [1, 2, 3]
    found.close()


def test_the_first_verdict_waits_for_stacks_and_then_for_no_more_than_a_finding() -> None:
    quiet, sick = frames.healthy(), frames.gpu_lost()
    assert "critical" in {finding.severity for finding in sick.findings}
    came = [replace(frame, watched_s=s) for frame, s in ((sick, 1.0), (quiet, 4.0), (sick, 5.0), (quiet, 6.0))]
    assert watch.first_verdict(iter(came)) is came[2]
    assert watch.first_verdict(iter(came[:2])) is came[1]


def test_a_baseline_of_a_job_is_of_what_was_watched() -> None:
    assert baseline.of_job(os.getpid(), seconds=0).levels


@pytest.mark.parametrize(
    "begin", [lambda pid: next(watch.watch(pid, seconds=0)), lambda pid: next(vigil(pid, most_s=1))]
)
def test_too_little_address_space_is_an_error_before_anything_starts(
    begin: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1 << 30, 1 << 30))
    assert callable(begin)
    with pytest.raises(CannotError, match="ulimit -v"):
        begin(os.getpid())
