"""hwtop's own report in a log is no news, and hides nothing else."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hwtop.collectors.logs.file import read_file
from hwtop.derive.logs.log import LogBook
from hwtop.job.log.block import block_of
from hwtop.job.log.own_report import block_without_reports, signed, signed_json
from hwtop.job.patterns.match import Matcher
from hwtop.report.frame import json_report, markdown
from hwtop.report.json_text import encode
from tests import frames
from tests.derive.readings import log_lines, logs
from tests.parts import replace

Found = Callable[[str], list[tuple[str, "int | None"]]]
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
STEP = "sudo dmesg -T | grep -iE 'killed process|out of memory|xid|segfault'   # OOM killer, GPU fault, crash"
TRACEBACK = ("Traceback (most recent call last):", '  File "train.py", line 3, in <module>', f"    {OOM}")


def _report(form: str) -> str:
    frame = frames.dead_rank()
    finding = replace(frame.findings[0], next_steps=(STEP,), evidence=(f"/logs/rank_1.log: {OOM}", *TRACEBACK))
    frame = replace(frame, findings=(finding,))
    if form == "json":
        return signed_json(encode(json_report.diagnosis(frame))) + "\n"
    return signed(markdown.diagnosis(frame, markdown=form == "markdown") + "\n")


def _found_live(text: str) -> list[tuple[str, int | None]]:
    book = LogBook()
    book.advance(logs(10.0, *log_lines("/logs/train.log", 10.0, *text.splitlines())), {}, {})
    return [(event.pattern, event.line_no) for event in book.events]


def _found_by_scan(text: str) -> list[tuple[str, int | None]]:
    block = block_without_reports(block_of("/logs/train.log", 1, text.encode()))
    return [(event.pattern, event.line_no) for event in Matcher().match_block(block)]


FORMS = ("text", "markdown", "json")
READERS = (_found_live, _found_by_scan)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("found", READERS)
@pytest.mark.parametrize("prefix", ["", "[rank0]: ", "0: ", "2026-01-02 03:04:05,678 INFO "])
def test_a_whole_report_raises_nothing_and_what_stands_around_it_does(found: Found, form: str, prefix: str) -> None:
    report = "".join(f"{prefix}{line}\n" for line in _report(form).splitlines())
    count = report.count("\n")
    assert found(report) == []
    assert found(f"{OOM}\n{report}{OOM}\n") == [("cuda-oom", 1), ("cuda-oom", count + 2)]


def test_a_report_leaves_no_step_behind() -> None:
    book = LogBook()
    lines = ("step 900 loss 1.5", *_report("text").splitlines())
    book.advance(logs(10.0, *log_lines("/logs/rank_0.log", 10.0, *lines)), {}, {})
    newest = book.of_rank(0, {"/logs/rank_0.log": (0,)}, 10.0).progress.newest
    assert newest is not None
    assert newest.step == 900


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("found", READERS)
def test_only_what_the_last_line_vouches_for_is_left_out(found: Found, form: str) -> None:
    *lines, last = _report(form).removesuffix("\n}\n").splitlines()
    assert found("\n".join((*lines, "between", last))) != [], "another process wrote into it"
    assert found("\n".join((*lines[: len(lines) // 2], OOM))) != [], "cut short"
    assert found("\n".join((OOM, *lines[1:], last))) != [], "changed"


@pytest.mark.parametrize("found", READERS)
@pytest.mark.parametrize("count", ["1", "2", "9999999"])
def test_a_forged_last_line_hides_no_line_whose_text_was_not_known(found: Found, count: str) -> None:
    forged = f"End of hwtop report: {count} lines, checksum 00000000"
    assert found(f"{forged}\n{OOM}\n{forged}\n{forged}\n") == [("cuda-oom", 2)]


def test_a_report_reaches_neither_into_another_file_nor_over_the_last_line_before() -> None:
    *lines, last = _report("text").splitlines()
    book = LogBook()
    mixed = [*log_lines("/logs/a.log", 10.0, *lines[:9]), *log_lines("/logs/b.log", 10.0, *lines[9:], last)]
    book.advance(logs(10.0, *mixed), {}, {})
    assert book.events != ()
    twice = "\n".join((*lines, last, *lines, last))
    assert _found_live(twice) == []
    around = signed(twice + "\n").splitlines()
    assert _found_live("\n".join(around)) == []


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_report_longer_than_a_buffer_is_read_as_a_whole(tmp_path: Path, is_packed: bool) -> None:
    path = tmp_path / "report.json"
    text = f"{_report('json') * 3}{OOM}\n"
    path.write_bytes(gzip.compress(text.encode()) if is_packed else text.encode())
    blocks = [block_without_reports(block) for block in read_file(str(path))]
    assert len(text) > 3 * io.DEFAULT_BUFFER_SIZE
    assert [event.line_no for block in blocks for event in Matcher().match_block(block)] == [text.count("\n")]


def test_the_report_says_where_it_ends() -> None:
    assert _report("text").splitlines()[-1].startswith("End of hwtop report: ")
    assert json.loads(_report("json"))["end"].startswith("End of hwtop report: ")
