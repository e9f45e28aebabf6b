"""What hwtop finds in each recorded session over time, without the words: what must stay when the code is arranged anew.

python -m tests.findings_of    write tests/data/findings/*.json anew, after findings were meant to change
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from hwtop.feed.feed import frames
from hwtop.model.frame import Frame
from tests.recording import RECORDINGS, load

FOLDER = Path(__file__).parent / "data" / "findings"
NAMES = tuple(sorted(path.name.partition(".")[0] for path in RECORDINGS.glob("*.mpk.zst")))

State = dict[str, object]


def state_of(frame: Frame) -> State:
    """The findings with what they conclude, the answers to the questions, and the verdict's class."""
    return {
        "verdict": [frame.verdict.level, frame.verdict.category, frame.verdict.stall],
        "findings": [
            [
                finding.symptom,
                finding.severity,
                finding.category,
                round(finding.confidence, 3),
                list(finding.ranks),
                [folded.partition(":")[0] for folded in finding.folded],
            ]
            for finding in frame.findings
        ],
        "questions": [answer.verdict for answer in frame.hypotheses],
    }


def changes(name: str) -> list[list[object]]:
    """[number of the frame, state] for each frame whose state is not that of the frame before."""
    found: list[list[object]] = []
    last: State | None = None
    for frame in frames(load(name)):
        state = state_of(frame)
        if state != last:
            found.append([frame.number, state])
            last = state
    return found


def stored(name: str) -> list[list[object]]:
    """As `changes`, when it was last written down."""
    return msgspec.json.decode((FOLDER / f"{name}.json").read_bytes(), type=list[list[object]])


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in NAMES:
        lines = [msgspec.json.encode(change).decode() for change in changes(each)]
        (FOLDER / f"{each}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
