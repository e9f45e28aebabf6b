"""Ray Train with two workers in a cluster of its own: `ray_fit.py ROSTER`."""

import os
import sys
import time
from typing import Any

os.environ["RAY_TRAIN_V2_ENABLED"] = "1"

import ray
from ray import train
from ray.train import ScalingConfig
from ray.train.torch import TorchTrainer


def loop(config: dict[str, Any]) -> None:
    with open(config["roster"], "a") as file:
        file.write(f"{train.get_context().get_world_rank()} {os.getpid()}\n")
    print("step 1/1000 loss 2.5", flush=True)
    time.sleep(1800)


if __name__ == "__main__":
    ray.init("local", num_cpus=3, include_dashboard=False, object_store_memory=80_000_000)
    TorchTrainer(
        loop, train_loop_config={"roster": os.path.abspath(sys.argv[1])}, scaling_config=ScalingConfig(num_workers=2)
    ).fit()
