"""Instruction tuning with a loss scaler of our own; skips are normal while the scale is found."""

import time

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(3)


class Scaler:
    def __init__(self, scale=2.0**23, window=150):
        self.scale, self.window, self.good = scale, window, 0

    def step(self, optimizer, parameters):
        peak = max(float(p.grad.abs().max()) for p in parameters)
        if peak > 65_504 or peak != peak:
            self.scale /= 2
            self.good = 0
            print(f"WARNING: gradient overflow, step skipped, loss scale reduced to {self.scale:.0f}", flush=True)
            return
        for p in parameters:
            p.grad /= self.scale
        optimizer.step()
        self.good += 1
        if self.good % self.window == 0:
            self.scale *= 2


def main():
    body = nn.TransformerEncoderLayer(96, 4, 256, 0.1, batch_first=True)
    embed, head = nn.Embedding(600, 96), nn.Linear(96, 600)
    parameters = [*embed.parameters(), *body.parameters(), *head.parameters()]
    optimizer, scaler = torch.optim.AdamW(parameters, lr=5e-4), Scaler()
    for step in range(1, 1_000_000):
        total = 0.0
        optimizer.zero_grad()
        for _ in range(2):
            ids = torch.randint(0, 600, (6, 64))
            logits = head(body(embed(ids)))
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), (ids.flatten() + 5) % 600) / 2
            (loss * scaler.scale).backward()
            total += loss.item()
        scaler.step(optimizer, parameters)
        time.sleep(0.02)
        if step % 10 == 0:
            print(f"step: {step:5d}  train_loss: {total:.4f}  scale: {scaler.scale:.0f}", flush=True)


if __name__ == "__main__":
    main()
