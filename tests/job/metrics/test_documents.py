"""Files that are one JSON document."""

from __future__ import annotations

from hwtop.job.metrics.documents import TrainerState, WandbSummary

STATE = b"""{"epoch": 0.5, "global_step": 20, "max_steps": 200, "is_world_process_zero": true, "log_history": [
 {"epoch": 0.25, "grad_norm": 3.5, "learning_rate": 5e-05, "loss": 2.5, "step": 10},
 {"epoch": 0.25, "eval_loss": 9.0, "eval_runtime": 1.0, "step": 10},
 {"epoch": 0.5, "grad_norm": NaN, "learning_rate": 4e-05, "loss": 0.0, "step": 20}]}"""


def test_trainer_state() -> None:
    parser = TrainerState()
    reported = parser.feed(STATE)
    losses = [(each.step, each.epoch, each.value) for each in reported if each.meaning.name == "loss"]
    assert losses == [(10, 0.25, 2.5), (20, 0.5, 0.0)]
    assert parser.total_steps == 200


def test_half_written_is_no_document() -> None:
    parser = TrainerState()
    assert parser.feed(STATE[:200]) == []
    assert parser.broken == 1
    assert parser.feed(STATE)
    assert parser.broken == 0


def test_unlimited_steps_are_unknown() -> None:
    parser = TrainerState()
    parser.feed(b'{"max_steps": -1, "log_history": null}')
    assert parser.total_steps is None


def test_summary() -> None:
    reported = WandbSummary().feed(b'{"_step": 7, "_timestamp": 1760000000.5, "loss": 0.5, "_wandb": {"runtime": 3}}')
    assert [(each.step, each.value, each.reported_s) for each in reported] == [(7, 0.5, 1_760_000_000.5)]
    assert WandbSummary().feed(b"[]") == []
