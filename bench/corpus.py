"""How well patterns and progress parsing do on a labelled corpus of log excerpts: `python bench/corpus.py FILE.jsonl`.

Each line of the file: {"id", "label", "also", "xid", "step_fields", "text"}; label "healthy" means that nothing may be found.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections import Counter
from typing import Any

from hwtop.job.patterns.match import Matcher
from hwtop.job.progress.field_units import rate_unit
from hwtop.job.progress.tracker import ProgressReader, parse
from hwtop.model.reported.log import LogEvent, LogLine

ALTERNATIVES = {
    "nan_loss": {"loss-nan"},
    "loss_spike_or_scale": {"loss-scale-overflow", "loss-spike"},
    "thermal_power_throttle": {"gpu-thermal-throttle", "gpu-power-cap", "gpu-hw-slowdown", "cpu-thermal-throttle"},
    "auth_or_hub_network": {"hub-network"},
}


def wanted(label: str) -> set[str]:
    return ALTERNATIVES.get(label, {label.replace("_", "-")})


def events_of(row: dict[str, Any]) -> list[LogEvent]:
    lines = [
        LogLine(path=row["id"], line_no=number, text=text, at_s=0.0)
        for number, text in enumerate(row["text"].split("\n"), start=1)
    ]
    return Matcher(repeat_limit=None).match(lines)


def last_progress(text: str) -> dict[str, Any]:
    """The newest value of each field over the excerpt."""
    merged: dict[str, Any] = {}
    reader = ProgressReader()
    for line in text.split("\n"):
        progress = reader.read(line)
        if progress is not None:
            reported = {name: getattr(progress, name) for name in progress.__struct_fields__}
            merged.update({name: value for name, value in reported.items() if value is not None})
    return merged


def is_same(wanted_value: Any, got: Any) -> bool:
    if isinstance(wanted_value, str) or isinstance(got, str):
        return rate_unit(str(wanted_value)) == rate_unit(str(got))  # imgs/s and images/s are one unit
    if math.isnan(wanted_value):
        return math.isnan(got)
    return math.isclose(wanted_value, got, rel_tol=1e-3, abs_tol=1e-12)


def main(path: str, is_verbose: bool) -> None:
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    found: Counter[str] = Counter()
    total: Counter[str] = Counter()
    extra: Counter[str] = Counter()
    fields: Counter[str] = Counter()
    false_alarms = 0
    for row in rows:
        events = events_of(row)
        raised = {event.pattern for event in events if event.severity != "info"}
        if row["label"] == "healthy":
            false_alarms += bool(raised)
            if raised and is_verbose:
                print("FALSE", row["id"], sorted(raised))
            measure_progress(row, fields, is_verbose)
            continue
        reported = {event.pattern for event in events}
        allowed = set(wanted(row["label"]))
        for label in row.get("also") or ():
            allowed |= wanted(label)
        total[row["label"]] += 1
        is_found = bool(wanted(row["label"]) & reported)
        found[row["label"]] += is_found
        extra.update(raised - allowed)
        if row.get("xid"):
            total["(xid code)"] += 1
            found["(xid code)"] += any(event.xid == row["xid"] for event in events)
        if is_verbose and (not is_found or raised - allowed):
            print("MISS " if not is_found else "EXTRA", row["id"], sorted(reported - allowed))
    for label in sorted(total):
        print(f"{label:28} {found[label]:3}/{total[label]}")
    print(f"{'recall':28} {sum(found.values())}/{sum(total.values())}")
    print(f"healthy excerpts flagged: {false_alarms}")
    print("other patterns raised on faulty excerpts:", dict(extra.most_common()))
    print("progress fields:", dict(fields))
    measure_speed([line for row in rows for line in row["text"].split("\n")])


def measure_progress(row: dict[str, Any], fields: Counter[str], is_verbose: bool) -> None:
    expected = row.get("step_fields")
    got = last_progress(row["text"])
    if not expected:
        fields["invented lines"] += bool(got)
        if got and is_verbose:
            print("INVENTED", row["id"], got)
        return
    for name, value in expected.items():
        verdict = "missed" if name not in got else "right" if is_same(value, got[name]) else "wrong"
        fields[verdict] += 1
        if verdict != "right" and is_verbose:
            print("PROGRESS", verdict, row["id"], name, value, got.get(name))


def measure_speed(lines: list[str]) -> None:
    """CPU time of the progress parser a line, for lines that tell of progress and for all others; the best of three."""
    telling = [line for line in lines if parse(line) is not None]
    others = [line for line in lines if parse(line) is None]
    for name, chosen in (("progress", telling), ("other", others)):
        best_s = min(_cpu_s(chosen) for _ in range(3))
        print(f"{best_s / len(chosen) * 1e6:.1f} µs a {name} line ({len(chosen)} lines)")


def _cpu_s(lines: list[str]) -> float:
    start = time.process_time()
    for line in lines:
        parse(line)
    return time.process_time() - start


if __name__ == "__main__":
    main(sys.argv[1], "-v" in sys.argv)
