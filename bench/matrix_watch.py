"""One look of the detection matrix: what hwtop says of a job, frame by frame.

    python bench/matrix_watch.py PID SECONDS SYMPTOM [--live]

Prints a JSON line whenever the findings change: the time, and the findings, most important first; at the end once more what a replay
of it finds. Ends early, a few seconds after SYMPTOM ("" = none) came to stand on top. `--live`: as often, and with as few stacks, as
the live screen looks.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from hwtop.bundle.opened import any_recording
from hwtop.commands.saved.replay import frames_of
from hwtop.config import EVERY_SYMPTOM
from hwtop.feed.live import LIVE_STACK_BUDGET_PCT
from hwtop.feed.record import recorded
from hwtop.feed.watch import HEADLESS_STACK_BUDGET_PCT, last_frame, watch
from hwtop.model.symptom import Finding
from hwtop.store.kind import Reading

STAYS_S = 4.0
"""How long the symptom must have been on top to end the look: what comes with it shows within seconds too."""


def said_of(finding: Finding) -> dict[str, object]:
    names = ("symptom", "severity", "confidence", "ranks", "title")
    return {name: getattr(finding, name) for name in names}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "run.hwtop"
        with recorded(place, lambda text: print(text, file=sys.stderr)) as store:
            shown(store)
        replayed = last_frame(frames_of(any_recording(place), EVERY_SYMPTOM))
    findings = [said_of(finding) for finding in replayed.findings]
    print(json.dumps({"at": time.time(), "findings": findings, "is_replay": True}), flush=True)


def shown(store: Callable[[Reading], None] | None) -> None:
    """Watches the job and prints what is found."""
    pid, seconds = int(sys.argv[1]), float(sys.argv[2])
    symptom = sys.argv[3] or None
    is_live = "--live" in sys.argv[4:]
    interval_s, budget_pct = (1.0, LIVE_STACK_BUDGET_PCT) if is_live else (0.5, HEADLESS_STACK_BUDGET_PCT)
    said, top_since_s = "[]", None
    print(json.dumps({"at": time.time(), "findings": []}), flush=True)
    for frame in watch(pid, seconds=seconds, interval_s=interval_s, stack_budget_pct=budget_pct, store=store):
        findings = json.dumps([said_of(finding) for finding in frame.findings])
        if findings != said:
            said = findings
            print(f'{{"at": {time.time()}, "findings": {findings}}}', flush=True)
        first = frame.findings[0] if frame.findings else None
        is_top = first is not None and first.severity != "info" and first.symptom == symptom
        top_since_s = (top_since_s or frame.watched_s) if is_top else None
        if top_since_s is not None and frame.watched_s - top_since_s >= STAYS_S:
            return


if __name__ == "__main__":
    main()
