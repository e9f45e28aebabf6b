"""`hwtop export` of a recording: each file as its reader understands it, against what hwtop makes of the recording."""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hwtop.cli import cli
from hwtop.errors import UsageError
from hwtop.feed.feed import frames
from hwtop.model.frame import Frame
from hwtop.ui.options import ScreenOptions
from hwtop.ui.pictures import screenshot
from tests.store import sessions
from tests.ui.test_diff_writer import Terminal

_SECONDS = 46
"""The finding is raised in the 42nd."""
_SIZE = (120, 40)
_SPEEDSCOPE = Path(__file__).parent.parent / "data" / "exports" / "speedscope-1.25-file-format-schema.json"
_FORMS = ("csv", "perfetto", "speedscope", "asciicast")


def export(*arguments: object) -> None:
    cli.main(["export", *map(str, arguments)], standalone_mode=False)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sessions.written(tmp_path_factory.mktemp("recording") / "run.hwtop", sessions.hang()[:_SECONDS])


@pytest.fixture(scope="module")
def exported(recording: Path) -> Path:
    """Folder with one file of each form."""
    folder = recording.parent / "out"
    folder.mkdir()
    export(recording, *(part for form in _FORMS for part in (f"--{form}", folder / form)))
    return folder


@pytest.fixture(scope="module")
def made() -> Sequence[Frame]:
    return list(frames(sessions.hang()[:_SECONDS]))


def test_csv_has_every_number_once(exported: Path, made: Sequence[Frame]) -> None:
    with (exported / "csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    power = [float(row["value"]) for row in rows if (row["field"], row["row"]) == ("gpu.power_w", "3")]
    assert power == [frame.derived.gpus[3].power_w for frame in made]
    assert {row["unit"] for row in rows if row["field"] == "gpu.power_w"} == {"W"}
    assert len({(row["time"], row["field"], row["row"]) for row in rows}) == len(rows)
    assert {row["row"] for row in rows if row["field"] == "memory.used_pct"} == {""}
    assert rows[0]["time"] == "2026-11-21T19:15:08.319+00:00"


def test_only_the_user_can_read_what_is_written(exported: Path) -> None:
    assert {path.stat().st_mode & 0o777 for path in exported.iterdir()} == {0o600}


@pytest.fixture(scope="module")
def events(exported: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((exported / "perfetto").read_text())["traceEvents"]
    return found


def test_trace_events_keep_to_the_format(events: Sequence[dict[str, Any]]) -> None:
    needed = {"M": {"args"}, "C": {"ts", "args"}, "X": {"ts", "dur", "tid"}}
    for event in events:
        assert {"ph", "pid", "name", *needed[event["ph"]]} <= event.keys()
        assert event.get("dur", 0) >= 0
    named = {event["pid"] for event in events if event["name"] == "process_name"}
    assert {event["pid"] for event in events} == named


def test_counters_and_phases_of_a_trace_are_those_of_the_frames(
    events: Sequence[dict[str, Any]], made: Sequence[Frame]
) -> None:
    tracks = {event["args"]["name"]: event["pid"] for event in events if event["name"] == "process_name"}
    power = [
        event["args"]["value"]
        for event in events
        if (event["pid"], event["name"]) == (tracks["gpu 3"], "gpu.power_w (W)")
    ]
    known = [frame.derived.gpus[3].power_w for frame in made]
    assert power == [value for before, value in zip([None, *known], known, strict=False) if value != before]
    lines = {(event["pid"], event["args"]["name"]): event["tid"] for event in events if event["name"] == "thread_name"}
    line = tracks["rank 5"], lines[tracks["rank 5"], "rank.state"]
    slices = [event for event in events if event["ph"] == "X" and (event["pid"], event["tid"]) == line]
    last = made[-1].derived
    assert last.job is not None
    for frame in made[:-1]:
        now_us = (frame.derived.time_s - made[0].derived.time_s) * 1e6
        at = [each["name"] for each in slices if each["ts"] <= now_us + 1 < each["ts"] + each["dur"]]
        assert frame.derived.job is not None
        assert at == [frame.derived.job.ranks[5].state]


def test_findings_of_a_trace_are_where_they_were_raised(
    events: Sequence[dict[str, Any]], made: Sequence[Frame]
) -> None:
    found = [event for event in events if event["ph"] == "X" and event["pid"] == 1]
    assert [(event["name"], event["ts"]) for event in found] == [
        (episode.symptom, round(episode.raised_s * 1e6)) for episode in made[-1].episodes
    ]
    assert found[0]["name"] == "rank-missing-from-collective"
    assert found[0]["args"]["severity"] == "critical"


def test_speedscope_keeps_to_its_schema(exported: Path) -> None:
    jsonschema.validate(json.loads((exported / "speedscope").read_text()), json.loads(_SPEEDSCOPE.read_text()))


def test_speedscope_has_the_samples_of_each_rank(exported: Path) -> None:
    file = json.loads((exported / "speedscope").read_text())
    assert [profile["name"] for profile in file["profiles"]] == [f"rank {rank}" for rank in range(8)]
    frames_of = file["shared"]["frames"]
    taken: dict[str, set[str]] = defaultdict(set)
    for profile in file["profiles"]:
        assert len(profile["samples"]) == len(profile["weights"])
        assert math.isclose(sum(profile["weights"]), profile["endValue"])
        for sample in profile["samples"]:
            taken[profile["name"]] |= {frames_of[index]["name"].rpartition(".")[2] for index in sample}
    assert "flush_metrics" in taken["rank 5"]
    assert "flush_metrics" not in taken["rank 4"]


def test_an_asciicast_ends_with_the_screen_of_the_last_snapshot(exported: Path, made: Sequence[Frame]) -> None:
    header, *played = map(json.loads, (exported / "asciicast").read_text().splitlines())
    assert (header["version"], header["term"]["cols"], header["term"]["rows"]) == (3, *_SIZE)
    assert header["timestamp"] == int(made[0].derived.time_s)
    assert sum(pause_s for pause_s, _, _ in played) == pytest.approx(
        made[-1].derived.time_s - made[0].derived.time_s, abs=0.001
    )
    terminal = Terminal()
    for _, kind, data in played:
        if kind == "o":
            terminal.feed(data.removeprefix("\x1b[?25l\x1b[2J"))
    rows = [
        "".join(terminal.cells[row, x][0] for x in range(1, _SIZE[0] + 1)).rstrip() for row in range(1, _SIZE[1] + 1)
    ]
    shown = "\n".join(rows).rstrip() + "\n"
    assert shown == screenshot.text(ScreenOptions().opened(made[-1]), _SIZE)


def test_an_asciicast_has_a_marker_for_each_finding(exported: Path, made: Sequence[Frame]) -> None:
    events = [json.loads(line) for line in (exported / "asciicast").read_text().splitlines()[1:]]
    markers = [text for _, kind, text in events if kind == "m"]
    assert len(markers) == len(made[-1].episodes)
    assert markers[0].startswith("critical: Rank 5 is missing from the collective")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "choose --prometheus"),
        (("run.hwtop",), "choose --prometheus"),
        (("--prometheus", "run.hwtop", "--csv", "out"), "choose --prometheus"),
        (("--csv", "out"), "name the recording"),
        (("/nowhere", "--csv", "out"), "cannot read '/nowhere'"),
        (("--prometheus", "--listen", "0.0.0.0:9843"), "--tls-cert and --auth-file"),
    ],
)
def test_what_is_refused(
    arguments: tuple[str, ...], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=words):
        export(*arguments)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_page_is_refused_before_anything_is_written(recording: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no page 'nowhere': choose fleet, overview, ranks"):
        export(recording, "--asciicast", tmp_path / "run.cast", "--page", "nowhere")
    assert list(tmp_path.iterdir()) == []


def test_metrics_and_numbers_do_not_load_the_screen() -> None:
    code = "import sys, hwtop.commands.serve.export, hwtop.report.exports.openmetrics, hwtop.report.exports.readings_csv; print('textual' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"


def test_a_recording_is_never_replaced(recording: Path) -> None:
    with pytest.raises(UsageError, match="the recording itself"):
        export(recording, "--csv", recording)
    assert sessions.read(recording)


def test_parquet_has_what_the_csv_has(exported: Path, recording: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    export(recording, "--parquet", exported / "parquet")
    table = parquet.read_table(exported / "parquet")
    rows = table.to_pylist()
    with (exported / "csv").open(newline="") as file:
        expected = list(csv.DictReader(file))
    assert [(row["field"], row["row"], row["unit"]) for row in rows] == [
        (row["field"], row["row"], row["unit"]) for row in expected
    ]
    numbers = [row["word"] if row["value"] is None else row["value"] for row in rows]
    assert numbers == [
        row["value"] if isinstance(number, str) else float(row["value"])
        for row, number in zip(expected, numbers, strict=True)
    ]
    assert rows[0]["time"].isoformat(timespec="milliseconds") == expected[0]["time"]
    assert str(table.schema.field("time").type) == "timestamp[ms, tz=UTC]"
