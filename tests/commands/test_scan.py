"""`hwtop scan`: what scripts and people rely on."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.schemas import valid

LOGS = Path(__file__).parent.parent / "data" / "logs"
CRASH = LOGS / "torchrun_oom.log"
HEALTHY = LOGS / "healthy.log"


def scan(*args: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "hwtop", "scan", *map(str, args)]
    return subprocess.run(command, input=stdin, capture_output=True, timeout=120, check=False)


def rows(output: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def test_json_is_one_object_a_line() -> None:
    done = scan("--json", CRASH)
    assert done.returncode == 1
    reported = [valid("scan", line.decode()) for line in done.stdout.splitlines()]
    first = reported[0]
    assert (first["pattern"], first["severity"], first["role"], first["rank"]) == ("cuda-oom", "critical", "root", 1)
    assert CRASH.read_text().splitlines()[first["line_no"] - 1] == first["line"]
    assert [row["pattern"] for row in reported if row["role"] == "confirmation"] == ["rank-crash"] * 3


def test_text_names_the_earliest_root() -> None:
    done = scan(CRASH)
    assert done.returncode == 1
    text = done.stdout.decode()
    assert f"{CRASH}:5: critical: cuda-oom (root), rank 1" in text
    assert text.splitlines()[-1].endswith(f"earliest root: cuda-oom at {CRASH}:5")


@pytest.mark.slow
def test_a_healthy_log_raises_nothing() -> None:
    done = scan(HEALTHY)
    assert (done.returncode, done.stdout) == (0, b"nothing found\n")
    assert scan("--json", HEALTHY).stdout == b""


def test_progress_holds_only_what_the_line_holds() -> None:
    done = scan("--json", "--progress", "-", stdin=b"hello\nstep 3/10 loss nan\n")
    row = rows(done.stdout)[0]
    assert (row["file"], row["line_no"]) == ("-", 2)
    assert row["progress"] == {"step": 3, "total_steps": 10, "loss": "nan"}
    assert done.returncode == 1  # the loss itself is a finding


def test_gzip_and_several_files(tmp_path: Path) -> None:
    packed = tmp_path / "old.log.gz"
    packed.write_bytes(gzip.compress(CRASH.read_bytes()))
    done = scan("--json", HEALTHY, packed)
    assert done.returncode == 1
    assert {row["file"] for row in rows(done.stdout)} == {str(packed)}


def test_escape_sequences_of_a_log_never_reach_the_terminal(tmp_path: Path) -> None:
    log = tmp_path / "evil\x1b[2J.log"
    log.write_bytes(b"No space left on device \x1b]0;owned\x07 \x9b31m \x02\n")
    done = scan(log)
    assert done.returncode == 1
    assert not any(byte < 0x20 and byte != 0x0A for byte in done.stdout)
    assert "\x9b" not in done.stdout.decode()


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("missing.log", None, "No such file"),
        ("program", b"\x7fELF\x02\x01\x01" + bytes(range(32)) * 40, "not a text file"),
        ("train.log.zst", b"\x28\xb5\x2f\xfd1234", "zstd -dc"),
        ("broken.log.gz", b"\x1f\x8b\x08\x00broken", "broken.log.gz"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, name: str, content: bytes | None, says: str) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    done = scan(path)
    assert done.returncode == 2
    message = done.stderr.decode()
    assert message.count("\n") == 1
    assert message.startswith("hwtop: ")
    assert says in message
    assert done.stdout == b""


def test_a_directory_is_bad_input(tmp_path: Path) -> None:
    done = scan(tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert "is a directory" in done.stderr.decode()


def test_a_bad_file_is_told_before_anything_is_printed(tmp_path: Path) -> None:
    done = scan(CRASH, tmp_path / "missing.log")
    assert (done.returncode, done.stdout) == (2, b"")


def test_lines_of_any_length_and_a_log_that_begins_with_a_hole(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(b"\0" * 100_000 + b"x" * 3_000_000 + b"\nNo space left on device\n" + b"\xff\xfe\n")
    reported = rows(scan("--json", log).stdout)
    assert [(row["pattern"], row["line_no"]) for row in reported] == [("disk-full", 2)]


def test_it_needs_no_screen() -> None:
    program = (
        "import sys, hwtop.commands.job.scan as s\n"
        "try: s.command(['-'], standalone_mode=False)\n"
        "except SystemExit: pass\n"
        "sys.exit('textual' in sys.modules or 'rich' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], input=b"step 3 loss 2\n", check=True, timeout=120)


def test_of_several_files_the_root_that_was_written_first_is_the_earliest(tmp_path: Path) -> None:
    first, second = tmp_path / "rank0.log", tmp_path / "rank1.log"
    first.write_text("2025-11-21 10:00:09,000 OSError: [Errno 28] No space left on device\n")
    second.write_text("step 1\n2025-11-21 10:00:02,000 CUDA out of memory. Tried to allocate 2.00 GiB\n")
    assert scan(first, second).stdout.decode().splitlines()[-1].endswith(f"earliest root: cuda-oom at {second}:2")


def test_what_follows_from_a_root_is_folded_under_it(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    follows = "[PG ID 0 Rank 3] Received a dump signal due to a collective timeout from rank 0\n"
    log.write_text(follows + "CUDA out of memory. Tried to allocate 2.00 GiB\n" + follows * 9)
    text = scan(log).stdout.decode()
    assert text.count("Received a dump signal") == 1  # while no root was known
    assert "nccl-timeout: 9 more" in text


def test_mere_context_is_nothing_wrong(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768\n")
    done = scan(log)
    assert done.returncode == 0
    assert done.stdout.decode().splitlines()[-1].startswith("no problem found")


def test_what_was_too_long_to_be_looked_at_is_said(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(b"x" * 100_000 + b"\n")
    done = scan("--json", log)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"1 line was longer than 16,384 characters: 83,616 bytes" in done.stderr


@pytest.mark.slow
def test_a_reader_that_leaves_ends_the_scan_quietly(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(b"No space left on device\n" * 50_000)
    command = f"{sys.executable} -m hwtop scan --json {log} | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=120, check=False)
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b""
