"""Stacks weak learners; the store for snapshots has a quota per file."""
import argparse
import logging
import resource
import time
from pathlib import Path

import torch

logging.basicConfig(level=logging.INFO, format="[%(asctime)s][%(name)s][%(levelname)s] - %(message)s")
log = logging.getLogger("stacker.train")


class Snapshots:
    def __init__(self, folder, quota):
        self.folder = Path(folder)
        self.folder.mkdir(exist_ok=True)
        if quota:
            resource.setrlimit(resource.RLIMIT_FSIZE, (quota, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

    def write(self, step, state):
        target = self.folder / f"step{step}.ckpt"
        try:
            torch.save(state, target)
            log.info("Saved checkpoint %s", target)
        except Exception as e:
            log.error("Failed to save checkpoint %s: %s", target, e)
            target.unlink(missing_ok=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--quota", type=int, default=0)
    ap.add_argument("--every", type=int, default=60)
    a = ap.parse_args()
    snaps = Snapshots("snapshots", a.quota)
    stack = torch.nn.ModuleList(torch.nn.Linear(64, 64) for _ in range(24))
    head = torch.nn.Linear(64, 1)
    opt = torch.optim.Adam([*stack.parameters(), *head.parameters()], 5e-4)
    for step in range(1, 2600):
        x = torch.randn(64, 64)
        h = x
        for layer in stack:
            h = h + 0.1 * torch.relu(layer(h))
        loss = (head(h)[:, 0] - x[:, 0] * x[:, 1]).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.1)
        if step % 10 == 0:
            log.info("step %d mse %.4f", step, loss.item())
        if step % a.every == 0:
            snaps.write(step, {"stack": stack.state_dict(), "opt": opt.state_dict()})


if __name__ == "__main__":
    main()
