"""Log file: blocks of any size give the same lines, and nothing that matters falls between two of them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from hwtop.collectors.logs import file as log_file
from hwtop.job.log.block import LONGEST_CHARS, all_lines
from hwtop.job.patterns.match import Matcher
from hwtop.model.reported.log import LogEvent

MIXED = (
    b"step 1 loss 2.5\n"
    b" 10%|#         | 1/10 [00:01<00:09, loss=2.5]\r 20%|##        | 2/10 [00:02<00:08, loss=nan]\r"
    b"OSError: [Errno 28] No space left on device: '/ckpt'\r 30%|###       | 3/10 [00:03<00:07, loss=2.4]\n"
    b"\x1b[31mCUDA out\x1b[0m of \x1b[1mmemory\x1b[0m. Tried to allocate 2.00 GiB\n"
    b"\0\0\0Too many \0open files\r\n"
    b"[rank1]: Traceback (most recent call last):\n"
    b"[rank0]: still here \xff\xfe\n"
    b'[rank1]:   File "train.py", line 3, in main\n'
    b"[rank1]: KeyError: 'labels'\n"
    b"\n"
    b"{'loss': nan, 'epoch': 1.0}"
)


def events(path: Path) -> list[LogEvent]:
    matcher = Matcher(repeat_limit=None)
    return [event for block in log_file.read_file(str(path)) for event in matcher.match_block(block)]


def reported(path: Path) -> list[tuple[str, int | None]]:
    return [(event.pattern, event.line_no) for event in events(path)]


EXPECTED = [
    ("loss-nan", 2),
    ("disk-full", 2),
    ("cuda-oom", 3),
    ("too-many-open-files", 4),
    ("rank-crash", 8),
    ("loss-nan", 10),
]


@pytest.mark.parametrize("block_bytes", [1, 2, 3, 7, 16, 61, 1 << 20])
def test_nothing_falls_between_two_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int) -> None:
    monkeypatch.setattr(log_file, "_BLOCK_BYTES", block_bytes)
    log = tmp_path / "a.log"
    log.write_bytes(MIXED)
    assert reported(log) == EXPECTED
    packed = tmp_path / "a.log.gz"
    packed.write_bytes(gzip.compress(MIXED))
    assert reported(packed) == EXPECTED


def test_an_endless_bar_is_read_in_parts_of_one_line(tmp_path: Path) -> None:
    states = [b"\r %d/300000 loss=0.5" % step for step in range(300_000)]
    states[150_000] = b"\rRuntimeError: CUDA error: an illegal memory access was encountered"
    log = tmp_path / "a.log"
    log.write_bytes(b"first\n" + b"".join(states) + b"\nNo space left on device\n")
    assert reported(log) == [("illegal-memory-access", 2), ("disk-full", 3)]


def test_an_endless_line_costs_no_memory_and_is_counted(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(b"CUDA out of memory " + b"x" * 5_000_000 + b" Too many open files\nNo space left on device\n")
    blocks = list(log_file.read_file(str(log)))
    assert max(len(block.data) for block in blocks) < 2_000_000
    assert [(block.cut_lines, block.cut_bytes) for block in blocks if block.cut_lines] == [
        (1, 19 + 5_000_000 + 20 - LONGEST_CHARS)
    ]
    assert reported(log) == [("cuda-oom", 1), ("disk-full", 2)]


def test_the_hole_of_a_truncated_log_is_no_line(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(bytes(3_000_000) + b"No space left on device\n")
    assert reported(log) == [("disk-full", 1)]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-8"])
def test_a_byte_order_mark_tells_the_encoding(tmp_path: Path, encoding: str) -> None:
    log = tmp_path / "a.log"
    log.write_bytes("\ufeffGerät: No space left on device\nok\n".encode(encoding))
    (event,) = events(log)
    assert event.text == "Gerät: No space left on device"


def test_lines_of_a_container_runtime_are_taken_out_of_their_wrapping(tmp_path: Path) -> None:
    stamp = '"stream":"stderr","time":"2024-01-01T00:00:00Z"}\n'
    log = tmp_path / "a.log"
    log.write_text(
        '{"log":"step 1\\n",' + stamp + '{"log":"No space ",' + stamp + '{"log":"left on device: \\"x\\"\\n",' + stamp
    )
    (event,) = events(log)
    assert (event.line_no, event.text) == (3, 'No space left on device: "x"')


def test_every_line_of_a_file_is_there_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_file, "_BLOCK_BYTES", 100)
    log = tmp_path / "a.log"
    log.write_text("".join(f"line {number}\n" for number in range(1, 500)) + "end")
    read = [line for block in log_file.read_file(str(log)) for line in all_lines(block)]
    assert [(line.line_no, line.text) for line in read] == [
        *((number, f"line {number}") for number in range(1, 500)),
        (500, "end"),
    ]
