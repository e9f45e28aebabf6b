"""Writes the metrics files of this folder anew: python record.py FOLDER."""

from __future__ import annotations

import math
import os
import shutil
import socket
import sys
from pathlib import Path

socket.gethostname = lambda: "node-1"
START_S = 1_760_000_000.0


def loss(step: int) -> float:
    return 4.0 / (1 + 0.1 * step)


def lr(step: int) -> float:
    return 1e-3 * (1 - step / 100)


def tensorboard(folder: Path) -> None:
    import numpy as np
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter
    from tensorboard.util.tensor_util import make_tensor_proto

    def event(step: int, tag: str, **fields: object) -> Event:
        summary = Summary(value=[Summary.Value(tag=tag, **fields)])
        return Event(wall_time=START_S + 0.5 * step, step=step, summary=summary)

    writer = EventFileWriter(str(folder / "simple"))
    for step in range(0, 100, 10):
        for tag, value in (("train/loss", loss(step)), ("train/learning_rate", lr(step)), ("eval/loss", 9.0)):
            writer.add_event(event(step, tag, simple_value=value))
        writer.add_event(event(step, "train/grad_norm", simple_value=1.5))
    writer.add_event(event(100, "train/loss", simple_value=math.nan))
    writer.close()
    writer = EventFileWriter(str(folder / "tensor"))
    for step in range(10):
        writer.add_event(event(step, "batch_loss", tensor=make_tensor_proto(np.float32(loss(step)))))
        writer.add_event(event(step, "learning_rate", tensor=make_tensor_proto(np.float64(lr(step)))))
        writer.add_event(event(step, "kernel/histogram", tensor=make_tensor_proto(np.zeros((30, 3)))))
    writer.close()
    for place in (folder / "simple", folder / "tensor"):
        (written,) = place.iterdir()
        written.rename(place / f"events.out.tfevents.{START_S:.0f}.node-1.4711.0")


def wandb(folder: Path) -> None:
    os.environ["WANDB_MODE"] = "offline"
    import wandb

    settings = wandb.Settings(
        x_disable_stats=True, x_disable_meta=True, x_disable_machine_info=True, console="off", save_code=False,
        host="node-1", program="train.py", program_relpath="train.py", username="ada", disable_git=True, silent=True,
    )  # fmt: skip
    work = folder / "work"
    work.mkdir(parents=True)
    run = wandb.init(project="demo", id="abc12345", dir=str(work), settings=settings, config={"max_steps": 100})
    for row in range(20):
        run.log(
            {
                "train/loss": math.nan if row == 19 else loss(row),
                "train/learning_rate": lr(row),
                "train/global_step": 10 * row,
                "eval/loss": 9.0,
                "train/grad_norm": 1.5,
            }
        )
    run.finish()
    (written,) = work.glob("wandb/offline-run-*/run-abc12345.wandb")
    written.rename(folder / written.name)
    shutil.rmtree(work)


def mlflow(folder: Path) -> None:
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    from mlflow.tracking import MlflowClient

    client = MlflowClient(f"file://{folder.resolve()}/work")
    run = client.create_run(client.create_experiment("demo")).info.run_id
    for step in range(0, 100, 10):
        for name, value in (("train/loss", loss(step)), ("val_loss", 9.0)):
            client.log_metric(run, name, value, timestamp=int(1000 * START_S + 500 * step), step=step)
    client.log_metric(run, "train/loss", math.nan, timestamp=int(1000 * START_S + 50_000), step=100)
    (metrics,) = folder.glob("work/*/*/metrics")
    (folder / "1" / "0a1b").mkdir(parents=True)
    metrics.rename(folder / "1" / "0a1b" / "metrics")
    shutil.rmtree(folder / "work")


def lightning(folder: Path) -> None:
    from lightning.pytorch.loggers import CSVLogger

    logger = CSVLogger(str(folder), name="", flush_logs_every_n_steps=1)
    for step in range(0, 100, 10):
        logger.log_metrics({"train_loss": loss(step), "epoch": step // 50}, step=step)
        if step % 50 == 40:
            logger.log_metrics({"val_loss": 9.0, "epoch": step // 50}, step=step)
        logger.save()
    (folder / "version_0" / "metrics.csv").rename(folder / "metrics.csv")
    shutil.rmtree(folder / "version_0")


if __name__ == "__main__":
    out = Path(sys.argv[1])
    tensorboard(out / "tensorboard")
    wandb(out / "wandb")
    mlflow(out / "mlruns")
    lightning(out / "lightning")
