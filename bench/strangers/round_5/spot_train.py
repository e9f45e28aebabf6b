"""Sentiment model on spot machines: saves often and goes on where it was."""

import argparse
import time
from pathlib import Path

import torch
from torch import nn

torch.set_num_threads(1)


class LeaseLostError(Exception):
    """The machine is no longer ours."""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--attempt", type=int, default=1)
    parser.add_argument("--state", type=Path, default=Path("state.pt"))
    args = parser.parse_args()
    model = nn.Sequential(nn.EmbeddingBag(5000, 64), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    first = 1
    if args.state.exists():
        saved = torch.load(args.state)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        first = saved["step"] + 1
        print(f"resumed at step {first}", flush=True)
    for step in range(first, 100_000):
        words = torch.randint(0, 5000, (64, 30))
        loss = nn.functional.cross_entropy(model(words), (words.float().mean(1) > 2500).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.03)
        if step % 10 == 0:
            print(f"attempt {args.attempt} step {step} loss {loss.item():.4f}", flush=True)
        if step % 50 == 0:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, args.state)
        if args.attempt == 1 and step == 75:
            raise LeaseLostError("instance i-0fe21 was taken back")


if __name__ == "__main__":
    main()
