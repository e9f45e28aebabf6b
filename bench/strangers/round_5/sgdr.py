"""Function fitting with warm restarts (SGDR). The loss jumps a little at every restart."""

import argparse
import logging
import sys
import time

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(8)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--log")
    parser.add_argument("--cycle", type=int, default=150)
    args = parser.parse_args()
    handlers = [logging.StreamHandler(sys.stdout)] + ([logging.FileHandler(args.log)] if args.log else [])
    logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(message)s", handlers=handlers)
    model = nn.Sequential(nn.Linear(16, 96), nn.Tanh(), nn.Linear(96, 96), nn.Tanh(), nn.Linear(96, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.15, momentum=0.9, nesterov=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, args.cycle, eta_min=1e-3)
    centre = torch.randn(16) / 3
    for step in range(1, 1_000_000):
        x = torch.randn(256, 16)
        y = torch.sin(x @ centre) + 0.2 * torch.randn(256)
        loss = nn.functional.mse_loss(model(x).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
        scheduler.step()
        time.sleep(0.025)
        if step % 10 == 0:
            logging.info("it=%d loss=%.4f lr=%.4f gnorm=%.2f", step, loss.item(), scheduler.get_last_lr()[0], norm)


if __name__ == "__main__":
    main()
