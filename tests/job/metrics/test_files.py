"""Which names are metrics files."""

from __future__ import annotations

import pytest

from hwtop.job.metrics.files import identity, is_worth_reading, kind_of, rank_in, spoken, writer_pid


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/r/runs/x/events.out.tfevents.1760000000.node-1.4711.0", "tensorboard"),
        ("/r/logs/train/events.out.tfevents.1760000000.node-1.4711.0.v2", "tensorboard"),
        ("/r/logs/validation/events.out.tfevents.1760000000.node-1.4711.1.v2", None),
        ("/r/wandb/offline-run-20260101_000000-abc/run-abc.wandb", "wandb"),
        ("/r/wandb/run-20260101_000000-abc/files/wandb-summary.json", "wandb-summary"),
        ("/r/mlruns/1/0a1b/metrics/train/loss", "mlflow"),
        ("/r/mlruns/1/0a1b/params/lr", None),
        ("/r/lightning_logs/version_3/metrics.csv", "csv"),
        ("/r/runs/detect/train/results.csv", "csv"),
        ("/r/output/train/20260101/summary.csv", "csv"),
        ("/r/training.log", "csv"),
        ("/r/checkpoint-500/trainer_state.json", "trainer-state"),
        ("/r/out/metrics.json", "jsonl"),
        ("/r/work/20260101/vis_data/scalars.json", "jsonl"),
        ("/r/out/train_metrics.jsonl", "jsonl"),
        ("/r/out/log.txt", "jsonl"),
        ("/r/data/train.jsonl", None),
        ("/r/data/train.csv", None),
        ("/r/data/labels.csv", None),
        ("/r/config.json", None),
    ],
)
def test_kind(path: str, kind: str | None) -> None:
    assert kind_of(path) == kind


def test_of_a_file_that_the_job_writes_the_ending_is_enough() -> None:
    assert kind_of("/r/andamento.csv") is None
    assert kind_of("/r/andamento.csv", is_written=True) == "csv"
    assert kind_of("/r/out/kurve.tsv", is_written=True) == "csv"
    assert kind_of("/r/out/run7.jsonl", is_written=True) == "jsonl"
    assert kind_of("/r/out/weights.bin", is_written=True) is None


def test_who_writes_it() -> None:
    assert writer_pid("/r/events.out.tfevents.1760000000.node-1.cluster.4711.0") == 4711
    assert writer_pid("/r/events.out.tfevents.1760000000.node-1") is None
    assert rank_in("/r/rank_3/metrics.csv") == 3
    assert rank_in("/r/metrics-rank12.jsonl") == 12
    assert rank_in("/r/franking7/metrics.csv") is None


def test_checkpoints_hold_versions_of_one_file() -> None:
    assert identity("/r/checkpoint-5/trainer_state.json") == identity("/r/checkpoint-10/trainer_state.json")
    assert identity("/r/metrics.csv") == "/r/metrics.csv"


def test_of_mlflow_only_what_is_followed() -> None:
    assert is_worth_reading("/r/mlruns/1/2/metrics/train/loss", "mlflow")
    assert not is_worth_reading("/r/mlruns/1/2/metrics/val_loss", "mlflow")


def test_what_tells_a_rank_s_step_has_a_short_name() -> None:
    assert spoken("heartbeat; no plain number: loss") == "heartbeat; no plain number: loss"
    assert spoken("/r/events.out.tfevents.1760000000.node-1.4711.0") == "TensorBoard"
    assert spoken("/r/lightning_logs/version_0/metrics.csv") == "metrics.csv"
