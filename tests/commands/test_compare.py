"""`hwtop compare` of two recordings: the answer, where it is, and what else differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from hwtop.cli import cli
from hwtop.errors import CannotError
from hwtop.feed.recorded import RecordedRun, recorded_run
from hwtop.model.gpu.device import Gpu
from hwtop.model.process import ProcessInfo
from hwtop.model.snapshot import Snapshot
from hwtop.report.compare import Runs
from hwtop.report.json_text import encode
from hwtop.state import baselines
from tests import recording
from tests.bundle.zips import zipped
from tests.schemas import valid
from tests.store import sessions

_SECONDS = 46
"""Long enough for the finding of the hang."""
_FEW = 20


def changed(
    snapshots: Iterable[Snapshot],
    gpu: Callable[[Gpu], Gpu] = lambda gpu: gpu,
    process: Callable[[ProcessInfo], ProcessInfo] = lambda process: process,
    driver: str = "580.1",
) -> list[Snapshot]:
    made = []
    for one in snapshots:
        assert one.gpu is not None
        gpus = replace(one.gpu, gpus=tuple(map(gpu, one.gpu.gpus)), driver=driver)
        found = one.process and replace(one.process, processes=tuple(map(process, one.process.processes)))
        made.append(replace(one, gpu=gpus, process=found))
    return made


@cache
def run(name: str) -> RecordedRun:
    healthy = recording.load("healthy")[:_SECONDS]
    if name == "throttled":
        return recorded_run(changed(healthy, gpu=_throttled, process=_with_debug, driver="590.2"))
    return recorded_run(changed(healthy if name == "healthy" else recording.load(name)[:_SECONDS]))


def compared(then: str, now: str) -> tuple[dict[str, Any], list[str]]:
    """As JSON, and as text."""
    runs = Runs(run(then), run(now))
    return valid("compare", encode(runs.report())), runs.text("then.hwtop")


def _throttled(gpu: Gpu) -> Gpu:
    return replace(gpu, sm_clock_mhz=1000) if gpu.index == 3 else gpu


def _with_debug(process: ProcessInfo) -> ProcessInfo:
    return replace(process, env={**(process.env or {}), "NCCL_DEBUG": "INFO"})


def test_a_run_does_not_differ_from_itself() -> None:
    found, lines = compared("healthy", "healthy")
    assert (found["slower"], found["quicker"]) == (False, False)
    assert [each for each in found["differences"] if each["clear"]] == []
    assert (found["rows"], found["circumstances"], found["not_alike"]) == ([], [], [])
    assert found["symptoms_only_then"] == found["symptoms_only_now"] == []
    assert lines[0].startswith("not slower than then.hwtop (")
    assert "Circumstances" not in lines


def test_a_slower_run_is_said_to_be_slower_and_in_which_phase() -> None:
    found, lines = compared("input-bound", "healthy")
    assert lines[0].startswith("SLOWER than then.hwtop")
    assert (found["slower"], found["pace"], found["where"]) == (True, "step_time_s", "forward")
    assert {each["what"] for each in found["not_alike"]} == {"world size", "GPUs"}
    assert "input-bound-cpu" in found["symptoms_only_then"]


def test_the_gpu_that_differs_is_named_and_no_other() -> None:
    found, lines = compared("healthy", "throttled")
    assert [(row["kind"], row["number"], row["difference"]["name"]) for row in found["rows"]] == [
        ("gpu", 3, "gpu_clock_mhz")
    ]
    assert "  GPU 3: GPU clock 1834 -> 1000 MHz (-45 %)" in lines


def test_what_else_differs_is_named() -> None:
    found, _ = compared("healthy", "throttled")
    assert [(each["what"], each["then"], each["now"]) for each in found["circumstances"]] == [
        ("GPU driver", "580.1", "590.2"),
        ("$NCCL_DEBUG", "not set", "INFO"),
    ]


def test_a_hang_is_not_slower_and_the_second_line_says_what_it_is() -> None:
    _, lines = compared("healthy", "hang")
    assert lines[0].startswith("not slower")
    assert lines[1].startswith("now: Rank 5 is missing from the collective")
    assert "  only now: rank-missing-from-collective" in lines


def test_the_command_prints_the_answer_and_exits_by_it(tmp_path: Path) -> None:
    names = ("input-bound", "healthy")
    fast, slow = (sessions.written(tmp_path / name, recording.load(name)[:_FEW]) for name in names)
    result = CliRunner().invoke(cli, ["compare", str(fast), str(slow)], standalone_mode=False)
    assert result.return_value == 1
    assert result.stdout.startswith(f"SLOWER than {fast}")
    printed = CliRunner().invoke(cli, ["compare", str(slow), str(fast), "--json"], standalone_mode=False)
    assert valid("compare", printed.stdout)["quicker"]
    assert not printed.return_value


def test_what_cannot_be_compared(tmp_path: Path) -> None:
    machine = [replace(one, process=None) for one in sessions.hang()[:2]]
    place = sessions.written(tmp_path / "machine.hwtop", machine)
    with pytest.raises(CannotError, match=r"machine.hwtop.*holds no job"):
        cli.main(["compare", str(place), str(place)], standalone_mode=False)


def test_bundles_differ_in_versions_and_commit_and_a_baseline_in_its_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    run = sessions.written(tmp_path / "run.hwtop", recording.load("healthy")[:_FEW])
    places = [
        zipped(
            tmp_path / f"{torch}.zip",
            {
                "recording.hwtop": run.read_bytes(),
                "environment.json": f'{{"kernel": "6.1", "packages": ["numpy v2.1", "torch v{torch}"]}}'.encode(),
                "git.json": f'{{"commit": "{torch}abc", "is_dirty": false}}'.encode(),
            },
        )
        for torch in ("2.7", "2.8")
    ]
    result = CliRunner().invoke(cli, ["compare", *map(str, places), "--json"], standalone_mode=False)
    found = valid("compare", result.stdout)
    assert [(each["what"], each["then"], each["now"]) for each in found["circumstances"]] == [
        ("package torch", "2.7", "2.8"),
        ("git commit", "2.7abc", "2.8abc"),
    ]
    baselines.save(recorded_run(recording.load("healthy")[:_FEW]).baseline, "good", force=False)
    against = CliRunner().invoke(cli, ["compare", "good", str(run)], standalone_mode=False)
    assert against.stdout.startswith("not slower than good ("), against
    assert "only now" not in against.stdout
