"""Fault: thousands of tiny operations a step keep one core busy; run it with a fake GPU that is half busy."""

import signal

import torch

signal.alarm(300)
torch.set_num_threads(1)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.ones(8))

    def forward(self, x):
        for _ in range(20):
            x = x * self.gain + 0.01
            x = x - x.mean()
        return x


def main():
    model = torch.nn.Sequential(*[Block() for _ in range(20)])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)
    for step in range(1, 1_000_000):
        loss = model(torch.randn(4, 8)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
