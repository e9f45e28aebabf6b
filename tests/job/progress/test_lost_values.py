"""Values of unknown names that were numbers and are none any more."""

from __future__ import annotations

import pytest

from hwtop.job.log.parsed import parsed
from hwtop.job.progress.tracker import ProgressTracker
from hwtop.model.rank import LostValue
from hwtop.model.reported.log import LogLine


def lost(*lines: str) -> tuple[LostValue, ...]:
    tracker = ProgressTracker()
    for number, text in enumerate(lines):
        tracker.add(parsed(LogLine(path="a.log", line_no=None, text=text, at_s=float(number), is_past=False)))
    return tracker.lost.newest


@pytest.mark.parametrize(
    "line",
    [
        "step {step} | objective {value} | bias 1.1069",
        "passo {step} | custo {value} | bias 1,1069",
        "step={step} energy={value} spread=0.5",
        "[{step}/9000] step {step}: residuo: {value}, lr: 0.001",
    ],
)
def test_a_number_that_becomes_none(line: str) -> None:
    values = ["0.7938", "0.5580", "nan", "nan", "nan"]
    (found,) = lost(*(line.format(step=10 * (index + 1), value=value) for index, value in enumerate(values)))
    assert (found.since_step, found.lines) == (30, 3)
    assert found.name in line


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        (["{n:4d}   {v:>8}   0.001" for _ in range(9)], "number 2 of 3"),
        (["step,energy,force", *["{n},{v},0.5"] * 9], "energy"),
        (["| epoch | auc | time s |", *["| {n} | {v} | 0.5 |"] * 9], "auc"),
        (["epoch {n}: elbo -{v}, kl 0.5"] * 9, "elbo"),
    ],
)
def test_a_number_without_a_known_name_or_without_any(lines: list[str], name: str) -> None:
    values = [*(f"0.{number}" for number in range(1, len(lines) - 2)), "nan", "nan", "nan"]
    found = lost(
        *(line.format(n=number, v=value) for number, (line, value) in enumerate(zip(lines, values, strict=True)))
    )
    assert [(each.name, each.since_step, each.lines) for each in found] == [(name, len(lines) - 3, 3)]


@pytest.mark.parametrize(
    "lines",
    [
        ("step 10 | recall nan | bias 1.1", "step 20 | recall nan | bias 1.1"),  # not measured yet
        ("step 10 | cost 0.5 | x 1.1", "step 20 | cost nan | x 1.1", "step 30 | cost 0.4 | x 1.1"),  # skipped
        ("step 10 | loss 0.5 | lr 0.1", "step 20 | loss nan | lr 0.1"),  # known by its name
        ("step 10 | cost 0.5 | val_cost 0.5", "step 20 | cost 0.4 | val_cost nan"),  # of validation
    ],
)
def test_what_is_not_lost(lines: tuple[str, ...]) -> None:
    assert lost(*lines) == ()
