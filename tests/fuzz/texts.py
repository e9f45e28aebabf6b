"""Text that a job and its user write: log lines, error files, settings, patterns."""

from __future__ import annotations

import ast
import contextlib
import os
from pathlib import Path

from msgspec.structs import replace

from hwtop.collectors.logs.source import LogSource
from hwtop.collectors.logs.user_patterns import read_pattern_file
from hwtop.collectors.process.error_file import last_words
from hwtop.config import Config, load
from hwtop.config.file import save
from hwtop.config.settings import template
from hwtop.errors import CannotError, UsageError
from hwtop.job.log.block import all_lines, block_of
from hwtop.job.patterns.match import Matcher
from hwtop.job.patterns.registry import builtin
from hwtop.job.progress.reader import ProgressReader
from hwtop.model.plan import LogTarget, SamplingPlan
from hwtop.model.reported.log import LogReading
from hwtop.report.config import checked
from hwtop.report.scan import event_json, progress_json
from hwtop.ui.keys.keymap import keymap
from tests.fuzz.claims import assembled, moments, possible, printable_json
from tests.fuzz.target import Samples, Target

TESTS = Path(__file__).parent.parent
_WORDINGS = ("job/test_progress_formats.py", "job/test_pattern_wordings.py", "job/test_pattern_contents.py")
_LINES_A_SAMPLE = 12


def _logs() -> Samples:
    """Recorded files, the lines that the tests of formats and patterns know, and the literals of the patterns."""
    lines = [text for name in _WORDINGS for text in _texts(TESTS / name)] + list(builtin().literals())
    pieces = ["\n".join(lines[at : at + _LINES_A_SAMPLE]) for at in range(0, len(lines), _LINES_A_SAMPLE)]
    recorded = [path.read_bytes() for path in (TESTS / "data" / "logs").iterdir()]
    return {"": [*recorded, *(f"{piece}\n".encode() for piece in pieces)]}


def _texts(module: Path) -> list[str]:
    constants = (node.value for node in ast.walk(ast.parse(module.read_text())) if isinstance(node, ast.Constant))
    return [text for text in constants if isinstance(text, str) and len(text) > 8]


def _check_log(_: str, data: bytes, folder: Path) -> None:
    path = folder / "rank_0.log"
    reading = _followed(path, data)
    moment, _second = moments()
    assert moment.logs is not None
    mine = tuple(replace(line, path="/runs/gpt/rank_0.log") for line in reading.lines)
    assembled({"logs": replace(moment.logs, lines=mine[: len(mine) // 2])}, {"logs": replace(moment.logs, lines=mine)})
    block = block_of("train.log", 1, data)
    for event in Matcher(repeat_limit=None).match_block(block):
        possible(event, "event")
        printable_json(event_json(event))
    reader = ProgressReader()
    for line in all_lines(block):
        if (progress := reader.read(line.text)) is not None:
            possible(progress, "progress")
            printable_json(progress_json(line, progress))


def _followed(path: Path, data: bytes) -> LogReading:
    """What the source reads of a file that has just got `data`."""
    path.write_bytes(b"")
    source = LogSource()
    source.set_plan(SamplingPlan(logs=(LogTarget(path=str(path), pids=(os.getpid(),)),)))
    source.read()
    path.write_bytes(data)
    reading = source.read()
    source.close()
    return reading


def _error_files() -> Samples:
    return {
        "": [
            b'{"message": {"message": "ValueError: no such batch", "extraInfo": {"py_callstack": "Traceback", "timestamp": "1"}}}',
            b'{"message": "ChildFailedError"}',
        ]
    }


def _check_error_file(_: str, data: bytes, folder: Path) -> None:
    path = folder / "error.json"
    path.write_bytes(data)
    words = last_words(str(path), os.getuid())
    assert words is None or ("\n" not in words and len(words) <= 2000)
    moment, _second = moments()
    assert moment.process is not None
    gone = replace(moment.process, processes=moment.process.processes[:-1])
    assembled({"process": moment.process}, {"process": gone})


def _settings() -> Samples:
    awake = template().replace("\n# ", "\n")
    own = 'symptoms.thresholds.shm-nearly-full.used_pct = 80\n[keys]\npause = "Z"\nhelp = ["?", "F1"]\n'
    return {"": [template().encode(), awake.encode(), own.encode()]}


def _check_settings(_: str, data: bytes, folder: Path) -> None:
    """A file that is refused is refused by one line that says why; one that is accepted can be used, shown and changed."""
    place = folder / "config.toml"
    place.write_bytes(data)
    try:
        config = load(str(place))
        checked(config)
    except UsageError as error:
        assert "\n" not in str(error), str(error)[:300]
        return
    with contextlib.suppress(UsageError):
        keymap(config.keys)
    with contextlib.suppress(UsageError, CannotError):
        assert save(place, {("screen", "ascii"): not config.screen.ascii}).screen.ascii is not config.screen.ascii
    assert isinstance(config, Config)


def _patterns() -> Samples:
    folder = TESTS.parent / "hwtop" / "job" / "patterns"
    return {"": [path.read_bytes() for path in sorted(folder.glob("*.toml"))]}


def _check_patterns(_: str, data: bytes, folder: Path) -> None:
    place = folder / "own.toml"
    place.write_bytes(data)
    with contextlib.suppress(UsageError):
        read_pattern_file(str(place))


TARGETS = (
    Target("log", _logs, _check_log),
    Target("error-file", _error_files, _check_error_file),
    Target("settings", _settings, _check_settings),
    Target("patterns", _patterns, _check_patterns),
)
