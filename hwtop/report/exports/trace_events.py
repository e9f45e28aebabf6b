"""A recording as trace events: numbers as counters, states and phases as slices, findings on a track of their own.

Format: "Trace Event Format" of Chromium, which https://ui.perfetto.dev and chrome://tracing open. Times are microseconds after the first
Snapshot. A value that stays is written once: a counter holds its value, a slice lasts until the word changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from hwtop import __version__
from hwtop.fields.readings import Reading, readings
from hwtop.fields.registry import FIELDS, SUBJECTS
from hwtop.model.frame import Frame
from hwtop.report.json_text import plain

_FINDINGS = 1
"""Number of the track of the findings; those of the rows follow."""
_LINES = {name: number for number, name in enumerate(FIELDS, start=1)}
"""Id of a field -> number of its line in a track."""
_SUBJECT_OF = {field.id: subject.name for subject in SUBJECTS for field in subject.fields}
_Event = dict[str, Any]
_Row = tuple[str, str]
"""Subject and label of a row."""


def trace_events(frames: Iterable[Frame]) -> Iterator[str]:
    """The text of the file, in parts."""
    about = {"exporter": f"hwtop {__version__}"}
    yield f'{{"displayTimeUnit":"ms","otherData":{_json(about)},"traceEvents":[\n'
    yield _json(_name("process_name", _FINDINGS, "findings"))
    tracks = _Tracks()
    first: Frame | None = None
    last: Frame | None = None
    for frame in frames:
        first, last = first or frame, frame
        now_us = _us(frame.derived.time_s - first.derived.time_s)
        yield from map(_line, tracks.advance(now_us, readings(frame)))
    if first is not None and last is not None:
        end_us = _us(last.derived.time_s - first.derived.time_s)
        yield from map(_line, (*tracks.end(end_us), *_findings(last, end_us)))
    yield "\n]}\n"


class _Tracks:
    """What each row had last."""

    def __init__(self) -> None:
        self._pids: dict[_Row, int] = {}
        self._numbers: dict[tuple[int, str], float] = {}
        self._words: dict[tuple[int, str], tuple[float, str]] = {}

    def advance(self, now_us: float, found: Iterable[Reading]) -> Iterator[_Event]:
        """Events of what has changed. A word that is no longer known ends too."""
        seen = set()
        for field, labels, value in found:
            row = _SUBJECT_OF[field.id], next(iter(labels.values()), "")
            if row not in self._pids:
                self._pids[row] = _FINDINGS + 1 + len(self._pids)
                yield _name("process_name", self._pids[row], " ".join(row).rstrip())
            key = self._pids[row], field.id
            if isinstance(value, str):
                seen.add(key)
                yield from self._word(key, now_us, value)
            elif self._numbers.get(key) != value:
                self._numbers[key] = value
                name = f"{field.id} ({field.unit_name})" if field.unit_name else field.id
                yield {"ph": "C", "pid": key[0], "name": name, "ts": now_us, "args": {"value": value}}
        for key in self._words.keys() - seen:
            yield self._slice(key, now_us)

    def end(self, now_us: float) -> Iterator[_Event]:
        """Slices that are open."""
        for key in tuple(self._words):
            yield self._slice(key, now_us)

    def _word(self, key: tuple[int, str], now_us: float, word: str) -> Iterator[_Event]:
        if key in self._words:
            if self._words[key][1] == word:
                return
            yield self._slice(key, now_us)
        else:
            yield _name("thread_name", key[0], key[1], tid=_LINES[key[1]])
        self._words[key] = now_us, word

    def _slice(self, key: tuple[int, str], now_us: float) -> _Event:
        from_us, word = self._words.pop(key)
        return _slice(word, key[0], _LINES[key[1]], from_us, now_us)


def _findings(last: Frame, end_us: float) -> Iterator[_Event]:
    """From where each was raised to where it cleared; one line for each symptom."""
    lines: dict[str, int] = {}
    for episode in last.episodes:
        tid = lines.setdefault(episode.symptom, len(lines) + 1)
        if tid == len(lines):
            yield _name("thread_name", _FINDINGS, episode.symptom, tid=tid)
        to_us = end_us if episode.cleared_s is None else _us(episode.cleared_s)
        about = {"title": episode.title, "severity": episode.severity}
        yield _slice(episode.symptom, _FINDINGS, tid, _us(episode.raised_s), to_us) | {"args": plain(about)}


def _slice(name: str, pid: int, tid: int, from_us: float, to_us: float) -> _Event:
    return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": from_us, "dur": max(0.0, to_us - from_us)}


def _name(kind: str, pid: int, name: str, tid: int = 0) -> _Event:
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": {"name": name}}


def _us(seconds: float) -> float:
    return round(seconds * 1e6)


def _line(event: _Event) -> str:
    return f",\n{_json(event)}"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
