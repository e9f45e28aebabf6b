"""What names in metrics files mean."""

from __future__ import annotations

import pytest

from hwtop.job.metrics.names import is_foreign_path, meaning


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        ("train/loss", "loss"),
        ("Loss/train", "loss"),
        ("train_loss_step", "loss"),
        ("losses/total_loss", "loss"),
        ("lr-AdamW/pg1", "lr"),
        ("train/learning_rate", "lr"),
        ("grad-norm", "grad_norm"),
        ("loss-scale", "loss_scale"),
        ("performance/tokens_per_sec", "throughput"),
        ("throughput(tps)", "throughput"),
        ("train_samples_per_second", "throughput"),
        ("time_metrics/end_to_end(s)", "step_time_s"),
        ("train/global_step", "step"),
        ("epoch", "epoch"),
        ("perdita", "loss"),
        ("taxa_aprendizado", "lr"),
        ("шаг", "step"),
        ("损失", "loss"),
    ],
)
def test_known(tag: str, name: str) -> None:
    found = meaning(tag)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    "tag",
    [
        "val_loss",
        "eval/loss",
        "Loss/test",
        "valid/lr",
        "best_loss",
        "accuracy",
        "time",
        "system/gpu.0.temp",
        "actor/pg_loss",
        "losses/value_loss",
        "critic/loss",
        "weights/norm",
        "",
    ],
)
def test_not_followed(tag: str) -> None:
    assert meaning(tag) is None


def test_milliseconds() -> None:
    found = meaning("perf/step_time_ms")
    assert found is not None
    assert found.factor == 1e-3


def test_units() -> None:
    found = meaning("train/tokens_per_second")
    assert found is not None
    assert found.unit == "tokens/s"


def test_the_usual_name_counts_before_an_unusual_one() -> None:
    usual, other = meaning("loss"), meaning("train/box_loss")
    assert usual is not None
    assert other is not None
    assert usual.preference < other.preference


def test_keras_validation_folder() -> None:
    assert is_foreign_path("/logs/validation/events.out.tfevents.1.a")
    assert not is_foreign_path("/logs/train/events.out.tfevents.1.a")
