"""A recording of a fleet is read as it was written, gives the findings of the live run, and is refused in one line where it cannot be read."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard
from click.testing import CliRunner
from msgspec.structs import replace

import hwtop
from hwtop.cli import cli
from hwtop.errors import CannotError, UsageError
from hwtop.fleet.assemble import FleetAssembler
from hwtop.job.log.own_report import signed_json
from hwtop.model.fleet import FleetReading
from hwtop.model.frame import Frame
from hwtop.report.frame import fleet as report
from hwtop.report.json_text import encode
from hwtop.store.encoding import encoded
from hwtop.store.kind import FLEET
from hwtop.store.packing import decoded
from hwtop.store.possible import is_possible
from hwtop.store.reader import FleetRecording, Recording
from hwtop.store.writer import Writer
from hwtop.ui.options import ScreenOptions
from hwtop.ui.pages import registry
from hwtop.ui.pictures import screenshot
from hwtop.ui.reducers import fleet
from tests.fleet.nodes import node
from tests.fleet.sessions import FOCUSED, STORED, STORED_COUNT, at, hang, read, written
from tests.store import sessions as one_machine
from tests.store.damage import damaged

_RECORDER = """
import sys
from pathlib import Path
from hwtop.store.kind import FLEET
from hwtop.store.writer import Writer
from hwtop.ui.options import ScreenOptions
from hwtop.ui.pages import registry
from hwtop.ui.pictures import screenshot
from hwtop.ui.reducers import fleet
from tests.fleet.sessions import at, hang

writer, readings = Writer(Path(sys.argv[1]), kind=FLEET), hang()
number = 0
while True:
    writer.add(at(readings[number % 100], number))
    number += 1
    print(number, flush=True)
"""
"""Writes as fast as it can, and prints how many were stored."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return written(tmp_path_factory.mktemp("whole") / "run.hwtop", hang()).read_bytes()


@pytest.fixture
def place(whole: bytes, tmp_path: Path) -> Path:
    file = tmp_path / "run.hwtop"
    file.write_bytes(whole)
    return file


def judged(readings: Sequence[FleetReading]) -> list[Frame]:
    return list(map(FleetAssembler().advance, readings))


def changed(place: Path, statement: str, *values: object) -> None:
    db = sqlite3.connect(place)
    db.execute(statement, values)
    db.commit()
    db.close()


def put(place: Path, reading: FleetReading, number: int = 2) -> None:
    """This one in the place of another, as a key frame."""
    data = zstandard.compress(encoded(reading))
    changed(place, "UPDATE snapshot SET key = NULL, data = ? WHERE id = ?", data, number)


def done(*arguments: object) -> tuple[int, str, str]:
    """Exit code, output, and the error."""
    result = CliRunner().invoke(cli, [*map(str, arguments)])
    error = "" if result.exception is None or isinstance(result.exception, SystemExit) else str(result.exception)
    return result.exit_code, result.stdout, error


def test_readings_are_read_as_they_were_written(tmp_path: Path) -> None:
    place = written(tmp_path / "run.hwtop", hang())
    assert read(place) == list(hang())
    assert place.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["run.hwtop"]


@pytest.mark.slow
def test_frames_of_the_replay_are_those_of_the_live_run(place: Path) -> None:
    live = judged(hang())
    assert judged(read(place)) == live
    seen = {finding.symptom for frame in live for finding in frame.findings}
    assert {"multi-gpu-imbalance", "rank-missing-from-collective", "node-lost"} <= seen
    assert [number for number, frame in enumerate(live) if frame.opened is not None] == list(FOCUSED)


@pytest.mark.slow
def test_the_report_of_the_replay_is_that_of_the_live_run(place: Path) -> None:
    last = judged(hang())[-1]
    code, output, _ = done("replay", place, "--diagnose", "--json")
    assert (code, output) == (1, signed_json(encode(report.diagnosis(last))) + "\n")
    code, output, _ = done("open", place, "--diagnose", "--at", "-9s")
    assert code == 1
    assert "Rank 5 is missing from the collective" in output
    assert "- b: reporting, ranks 4-7, 4 GPUs" in output


def test_a_moment_of_it_is_drawn(place: Path, tmp_path: Path) -> None:
    picture = tmp_path / "screen.txt"
    code, _, error = done("screenshot", "--replay", place, "--page", "fleet", "-o", picture)
    assert (code, error) == (0, "")
    assert "Table of nodes" in picture.read_text()
    assert "1 of 2 nodes" in picture.read_text()


@pytest.mark.parametrize(
    "arguments",
    [("compare", "{}", "{}"), ("export", "{}", "--csv", "out.csv"), ("export", "{}", "--perfetto", "out.json")],
    ids=" ".join,
)
def test_commands_for_one_machine_refuse_it_in_one_line(arguments: tuple[str, ...], place: Path) -> None:
    code, output, error = done(*(each.format(place) for each in arguments))
    assert (code, output) == (1, ""), "a UsageError, which main() reports with exit code 2"
    assert error == (
        f"{str(place)!r} is a recording of several nodes, and not a recording of one machine: "
        "use `hwtop replay`, with --diagnose or without"
    )


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--record", "new.hwtop", "--json"), "--record only records: `hwtop replay FILE --diagnose` prints"),
        (("--record", "new.hwtop", "--prometheus"), "--record only records"),
        (("--details", "a"), "--details needs --record: the screen opens a node with Enter"),
        (("--record", "new.hwtop", "--details", "c"), "'c' is none of the nodes: a, b"),
        (("--record", "/nowhere/new.hwtop"), "cannot create '/nowhere/new.hwtop': No such file or directory"),
        (("--record", __file__), "exists: recordings never replace a file"),
    ],
    ids=str,
)
def test_what_cannot_be_recorded_is_one_line(
    options: tuple[str, ...], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _, output, error = done("fleet", "--hosts", "a,b", *options)
    assert output == ""
    assert reason in error
    assert len(error.splitlines()) == 1
    assert os.listdir(tmp_path) == []


def test_the_python_interface_refuses_it(place: Path) -> None:
    with pytest.raises(UsageError, match="is a recording of several nodes"):
        hwtop.Recording(place)


def test_a_reader_of_other_versions_says_which_it_reads(place: Path) -> None:
    changed(place, "PRAGMA user_version = 9")
    for opened in (Recording, FleetRecording):
        with pytest.raises(UsageError, match="its schema is 9, and this hwtop reads 1 and 2"):
            opened(place)


def test_a_recording_of_one_machine_is_none_of_a_fleet(tmp_path: Path) -> None:
    machine = one_machine.written(tmp_path / "run.hwtop", one_machine.hang()[:2])
    with pytest.raises(UsageError, match="is a recording of one machine, and not a recording of several nodes"):
        FleetRecording(machine)
    changed(machine, f"PRAGMA user_version = {FLEET.version}")
    assert read(machine) == []
    _, _, error = done("replay", machine, "--diagnose")
    assert error.startswith("no snapshot to replay up to")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_kill_9_loses_nothing_that_was_stored(seed: int, tmp_path: Path) -> None:
    place = tmp_path / "run.hwtop"
    with subprocess.Popen([sys.executable, "-c", _RECORDER, str(place)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        after = random.Random(seed).randint(1, 200)
        stored = next(int(line) for line in child.stdout if int(line) >= after)
        child.kill()
        stored = max([stored, *map(int, child.stdout.read().split())])
    found = read(place)
    assert found == [at(hang()[number % 100], number) for number in range(len(found))]
    assert stored <= len(found) <= stored + 1


@pytest.mark.slow
def test_a_damaged_file_is_read_in_part_or_refused(whole: bytes, tmp_path: Path) -> None:
    place, dice, found = tmp_path / "run.hwtop", random.Random(0), []
    recorded = {reading.at_s: reading for reading in hang()}
    for _ in range(60):
        place.write_bytes(damaged(whole, dice))
        try:
            recording = FleetRecording(place)
        except UsageError as error:
            assert len(str(error).splitlines()) == 1
            continue
        part = list(recording.readings())
        assert all(reading == recorded[reading.at_s] for reading in part)
        assert recording.problems or len(part) == len(hang())
        found.append(len(part))
    assert sum(count > len(hang()) // 2 for count in found) > 20, "what is not hit is read"


def _with_report(reading: FleetReading, **values: object) -> FleetReading:
    first, *others = reading.nodes
    assert first.report is not None
    return replace(reading, nodes=(replace(first, report=replace(first.report, **values)), *others))


@pytest.mark.parametrize(
    "hostile",
    [
        lambda reading: replace(reading, nodes=()),
        lambda reading: replace(reading, nodes=(node("a", None),) * 10_001),
        lambda reading: replace(reading, time_s=1e300),
        lambda reading: replace(reading, at_s=float("nan")),
        lambda reading: _with_report(reading, time_s=float("inf")),
        lambda reading: _with_report(reading, watched_s=float("nan")),
        lambda reading: replace(reading, nodes=(replace(reading.nodes[0], age_s=float("nan")),)),
        lambda reading: replace(reading, focus="b", snapshots=(replace(one_machine.hang()[0], time_s=-float("inf")),)),
    ],
    ids=[
        "no-node",
        "too-many-nodes",
        "year",
        "nan",
        "year-of-a-node",
        "span-of-a-node",
        "age-of-a-node",
        "year-of-a-snapshot",
    ],
)
def test_an_impossible_reading_is_left_out(hostile: Callable[[FleetReading], FleetReading], place: Path) -> None:
    put(place, hostile(hang()[1]))
    assert read(place)[:1] == [hang()[0]]
    assert hang()[1].at_s not in [reading.at_s for reading in read(place)]


def test_a_bomb_is_left_out(place: Path) -> None:
    bomb = zstandard.compress(bytes(FLEET.most_bytes + 1))
    changed(place, "UPDATE snapshot SET data = ? WHERE id = 2", bomb)
    recording = FleetRecording(place)
    assert list(recording.readings()) == [hang()[0], *hang()[2:]]
    assert recording.problems == [f"{str(place)!r}: 1 readings are damaged and left out"]


def test_what_was_recorded_before_is_still_read(tmp_path: Path) -> None:
    place = tmp_path / "run.hwtop"  # SQLite may write next to what it reads
    place.write_bytes(STORED.read_bytes())
    recording = FleetRecording(place)
    frames = judged(list(recording.readings()))
    assert recording.problems == []
    assert len(frames) == STORED_COUNT
    last = frames[-1]
    assert [node.status for node in last.nodes] == ["reporting", "reporting"]
    assert last.opened is not None
    assert last.opened.derived.job is not None
    assert last.derived.job is not None
    assert [rank.rank for rank in last.derived.job.ranks] == list(range(8))


def test_a_reading_that_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run.hwtop", kind=replace(FLEET, most_bytes=1 << 20))
    with pytest.raises(CannotError, match=r"more than 1 MB at one time; the recording ends here"):
        writer.add(replace(hang()[-1], nodes=hang()[-1].nodes * 100))
    writer.close()


def test_text_of_a_hostile_file_reaches_no_terminal(tmp_path: Path) -> None:
    text = "x\x1b[2J\u202e"
    nodes = tuple(
        replace(each, name=each.name + text, status="late", reason=text, version=text, clock_reason=text, report=found)
        for each in hang()[-1].nodes
        if each.report is not None
        for found in [replace(each.report, host=text, verdict=replace(each.report.verdict, text=text))]
    )
    place = written(tmp_path / "run.hwtop", [replace(hang()[-1], nodes=nodes)])
    view = ScreenOptions().opened(judged(read(place))[-1])
    for name in ("", nodes[0].name):
        for page in registry.NAMES:
            screen = screenshot.text(replace(fleet.opened(view, name), page=page), (120, 40))
            assert not {"\x1b", "\u202e"} & set(screen)
    _, output, _ = done("replay", place, "--diagnose")
    assert not {"\x1b", "\u202e"} & set(output)


def _spoilt(value: Any, dice: random.Random) -> Any:
    """The same with some numbers that no machine has."""
    if isinstance(value, dict):
        return {key: _spoilt(each, dice) for key, each in value.items()}
    if isinstance(value, list):
        return [_spoilt(each, dice) for each in value]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or dice.random() > 0.005:
        return value
    if isinstance(value, int):
        return dice.choice([2**62, -(2**62), -1, 0])
    return dice.choice([float("nan"), float("inf"), -float("inf"), 1e300, -1.0, 0.0])


@pytest.mark.slow
def test_numbers_that_no_machine_has_break_no_page() -> None:
    shown = 0
    for seed in range(60):
        dice = random.Random(seed)
        content = msgspec.msgpack.decode(encoded(hang()[FOCUSED[0] + seed % 6]))
        reading = decoded(msgspec.msgpack.encode(_spoilt(content, dice)), FLEET)
        if not is_possible(reading):
            continue
        view = ScreenOptions().opened(judged([reading])[-1])
        for name in ("", "b"):
            for page in ("fleet", *dice.sample(registry.NAMES, 2)):
                screenshot.text(replace(fleet.opened(view, name), page=page), (120, 40))
                shown += 1
    assert shown > 200
