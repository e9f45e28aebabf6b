from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from hwtop.report.job.flight import flight_report, flight_text
from tests.flight_dumps import FOLDER, TAKEN_S, document, nccl, op, placed, recorded
from tests.schemas import valid

pytestmark = pytest.mark.real


def hwtop(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "hwtop", *arguments], capture_output=True, text=True, timeout=60)


def test_sentence_evidence_and_table(tmp_path: Path) -> None:
    done = hwtop("stacks", "--flight-recorder", placed("mismatch", tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == (
        "ranks 0-1 enqueued all_reduce #6 [1024] float32 (train.py:53 train_step),"
        " rank 2 broadcast #6 [8] float32 (train.py:57 save_checkpoint)"
    )
    assert any(line.split()[:5] == ["2", "default_pg", "#6", "-", "#5"] for line in lines)


def test_json(tmp_path: Path) -> None:
    done = hwtop("stacks", "--flight-recorder", placed("missing", tmp_path), "--json")
    report = valid("flight-recorder", done.stdout)
    assert report["verdicts"][0]["kind"] == "missing" and report["verdicts"][0]["culprits"] == [2]
    assert report["sentence"] == report["verdicts"][0]["text"]
    assert report["ranks"][2]["groups"][0] == {
        "group": "default_pg",
        "last_enqueued": 5,
        "last_started": None,
        "last_completed": 5,
        "last_operation": "all_reduce #5 [1024] float32",
    }


def test_healthy_dumps() -> None:
    assert flight_report("x", recorded("healthy")).sentence == (
        "no operation is stuck in the dumps of ranks 0-2: all that were enqueued have finished"
    )


def test_open_but_young_operations_prove_nothing() -> None:
    dumps = [nccl(rank, op("all_reduce", 3, age_s=1.0), world=4) for rank in (0, 1)]
    assert flight_report("x", dumps).sentence == (
        "no operation in the dumps of ranks 0-1 (2 of 4 ranks wrote a readable dump) had waited for 5 s: no evidence of a hang"
    )


def test_unreadable_and_absent_dumps_are_told(tmp_path: Path) -> None:
    for rank in range(3):
        data = pickle.dumps(document(op("all_reduce", 3), world=8), protocol=2)
        path = tmp_path / f"fr_{rank}"
        path.write_bytes(data[:100] if rank == 1 else data)
        os.utime(path, (TAKEN_S, TAKEN_S))
    done = hwtop("stacks", "--flight-recorder", str(tmp_path))
    assert done.returncode == 0
    assert "(2 of 8 ranks wrote a dump)" in done.stdout.splitlines()[0]
    assert "no dump of ranks 1,3-7" in done.stdout
    assert "fr_1: the pickle ends too early" in done.stdout


def test_escape_sequences_are_made_visible() -> None:
    dumps = [nccl(rank, op("all_reduce\x1b[31m", 3), world=2, taken_s=TAKEN_S) for rank in (0, 1)]
    assert "\x1b" not in flight_text(flight_report("x", dumps))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["/nonexistent"], "no such folder: /nonexistent"),
        (["."], "no Flight Recorder dump in .: files are named prefix + rank"),
        ([str(FOLDER)], "several sets of dumps"),
        ([str(FOLDER / "missing_0")], "is one file"),
        ([str(FOLDER / "missing_"), "1234"], "leave out 1234"),
        ([], "requires an argument"),
    ],
)
def test_wrong_input_is_one_line_and_exit_2(arguments: list[str], reason: str) -> None:
    done = hwtop("stacks", "--flight-recorder", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert reason in done.stderr and done.stderr.count("\n") == 1
