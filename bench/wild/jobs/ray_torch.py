"""Ray Train: TorchTrainer with two workers on one machine."""

import ray
import ray.train
import torch
from ray.train import RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer, prepare_data_loader, prepare_model
from samples import Rows
from torch import nn
from torch.utils.data import DataLoader


def loop(config):
    model = prepare_model(
        nn.Sequential(nn.Linear(32, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1))
    )
    loader = prepare_data_loader(DataLoader(Rows(), batch_size=256, shuffle=True))
    optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])
    step = 0
    for epoch in range(1000):
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x).squeeze(1), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 10 == 0 and ray.train.get_context().get_world_rank() == 0:
                print(f"epoch={epoch} step={step} loss={loss.item():.4f}")
        ray.train.report({"loss": loss.item(), "epoch": epoch})


if __name__ == "__main__":
    ray.init(num_cpus=4, include_dashboard=False, object_store_memory=100_000_000)
    TorchTrainer(
        loop,
        train_loop_config={"lr": 1e-3},
        scaling_config=ScalingConfig(num_workers=2, use_gpu=False),
        run_config=RunConfig(name="fit", storage_path=__import__("os").getcwd()),
    ).fit()
