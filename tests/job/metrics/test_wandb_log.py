"""The transaction log of a real W&B offline run, whole, in pieces and broken."""

from __future__ import annotations

import math
import random

import pytest

from hwtop.job.metrics.wandb_log import WandbLog
from tests.metrics_files import DATA

RUN = (DATA / "wandb" / "run-abc12345.wandb").read_bytes()


def test_history_with_its_own_step() -> None:
    parser = WandbLog()
    losses = [each for each in parser.feed(RUN) if each.meaning.name == "loss"]
    assert [each.step for each in losses] == [10 * row for row in range(20)]
    assert losses[1].value == pytest.approx(4 / 1.1)
    assert losses[1].reported_s is not None
    assert losses[1].reported_s > 1.7e9
    assert math.isnan(losses[-1].value)
    assert parser.broken == 0
    assert parser.total_steps == 100  # max_steps of the run's configuration


@pytest.mark.parametrize("size", [1, 13, 4096])
def test_pieces_tell_the_same(size: int) -> None:
    parser = WandbLog()
    reported = [each for at in range(0, len(RUN), size) for each in parser.feed(RUN[at : at + size])]
    assert repr(reported) == repr(WandbLog().feed(RUN))


def test_a_broken_record_costs_only_itself() -> None:
    lost = []
    at = RUN.find(b"train/loss")
    while at > 0:
        parser = WandbLog()
        reported = parser.feed(RUN[:at] + b"T" + RUN[at + 1 :])
        steps = {each.step for each in reported if each.meaning.name == "loss"}
        lost += sorted({10 * row for row in range(20)} - {step for step in steps if step is not None})
        assert parser.broken == 1
        at = RUN.find(b"train/loss", at + 1)
    assert lost == [10 * row for row in range(20)]  # the summaries between them hold the name as well


def test_another_file_is_refused() -> None:
    parser = WandbLog()
    assert parser.feed(b"SQLite format 3\0" + bytes(100)) == []
    assert parser.broken == 1


def test_nothing_raises_whatever_is_broken() -> None:
    chance = random.Random(7)
    for _ in range(200):
        data = bytearray(RUN)
        for _ in range(chance.randrange(1, 30)):
            data[chance.randrange(7, len(data))] = chance.randrange(256)
        WandbLog().feed(bytes(data[: chance.randrange(len(data))]))
