"""`import hwtop` as a program uses it: the examples of its docstrings, and what it loads."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hwtop
from hwtop.errors import UsageError
from tests.store import sessions

_SECONDS = 20


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sessions.written(tmp_path_factory.mktemp("recording") / "run.hwtop", sessions.hang()[:_SECONDS])


def examples_work(of: object, name: str, **given: Any) -> None:
    (test,) = (each for each in doctest.DocTestFinder(recurse=False).find(of, name, globs=given))
    outcome = doctest.DocTestRunner().run(test)
    assert outcome.attempted > 2
    assert outcome.failed == 0


def test_the_examples_of_a_recording(path: Path) -> None:
    examples_work(hwtop.Recording, "Recording", path=path)


@pytest.mark.real
def test_the_examples_of_a_snapshot() -> None:
    examples_work(hwtop.snapshot, "snapshot")


@pytest.mark.real
def test_the_examples_of_a_diagnosis() -> None:
    program = "import time\nwhile True:\n    sum(range(1000)); time.sleep(0.01)"
    with subprocess.Popen([sys.executable, "-c", program]) as job:
        try:
            examples_work(hwtop.diagnose, "diagnose", pid=job.pid)
        finally:
            job.kill()


def test_a_series_has_the_values_of_the_frames(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    with hwtop.Recording(path) as recording:
        series = recording.series("cpu.util_pct")[""]
        expected = [
            (frame.derived.time_s, frame.derived.cpu.util_pct)
            for frame in recording.frames()
            if frame.derived.cpu is not None and frame.derived.cpu.util_pct is not None
        ]
    assert list(zip(series.times_s, series.values, strict=True)) == expected
    assert isinstance(series.values, list)
    assert len(expected) > _SECONDS / 2


def test_a_series_is_an_array_where_numpy_is_installed(path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    with hwtop.Recording(path) as recording:
        assert isinstance(recording.series("gpu.power_w")["0"].values, numpy.ndarray)


@pytest.mark.parametrize("name", ["gpu.nonsense", "rank.state"])
def test_what_is_not_a_number_is_refused(name: str, path: Path) -> None:
    with hwtop.Recording(path) as recording, pytest.raises(UsageError, match=name):
        recording.series(name)


def test_no_such_process() -> None:
    with pytest.raises(UsageError, match="4194305"):
        hwtop.diagnose(4194305)


def test_all_names_exist_and_none_loads_the_screen() -> None:
    code = "import sys, hwtop; [getattr(hwtop, name) for name in hwtop.__all__]; print('textual' in sys.modules, 'numpy' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False False\n"
    with pytest.raises(AttributeError, match="nonsense"):
        hwtop.nonsense  # noqa: B018
