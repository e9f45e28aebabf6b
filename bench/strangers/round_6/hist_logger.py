"""Image regression with a home-made experiment tracker that stores histograms of weights and gradients."""

import json
import logging
import time

import torch
from torch import nn

logging.basicConfig(format="%(levelname).1s %(asctime)s %(name)s] %(message)s", level=logging.INFO)
logger = logging.getLogger("regress")


class Tracker:
    def __init__(self, path, every=1):
        self.path = path
        self.every = every

    def log_histogram(self, name, tensor, step):
        values = sorted(tensor.flatten().tolist())
        low, high = values[0], values[-1]
        width = (high - low) / 64 or 1.0
        bins = [0] * 65
        for v in values:
            bins[int((v - low) / width)] += 1
        record = {"name": name, "step": step, "bins": bins, "low": low, "high": high, "raw": values[::4]}
        with open(self.path, "a") as out:
            out.write(json.dumps(record) + "\n")

    def log_model(self, model, step):
        if step % self.every:
            return
        for name, p in model.named_parameters():
            self.log_histogram(f"weight/{name}", p.detach(), step)
            self.log_histogram(f"grad/{name}", p.grad, step)


def main():
    torch.set_num_threads(1)
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * 49, 128),
        nn.ReLU(),
        nn.Linear(128, 1),
    )
    opt = torch.optim.RMSprop(net.parameters(), 1e-4)
    tracker = Tracker("run.jsonl")
    for step in range(1, 100000):
        start = time.perf_counter()
        x = torch.rand(32, 3, 32, 32)
        y = x[:, 0].mean((1, 2))[:, None] * 4
        loss = (net(x) - y).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        tracker.log_model(net, step)
        if step % 5 == 0:
            logger.info("step=%d loss=%.5f sec/step=%.3f", step, loss.item(), time.perf_counter() - start)
            open("run.jsonl", "w").close()


if __name__ == "__main__":
    main()
