"""Next-page prediction on click streams with a guard against bad gradients."""

import logging
import time

import torch
from torch import nn

torch.set_num_threads(1)
logging.basicConfig(level=logging.INFO, format="%(asctime)s.%(msecs)03d %(message)s", datefmt="%H:%M:%S")


class Next(nn.Module):
    def __init__(self, pages=500, dim=48):
        super().__init__()
        self.pages = nn.Embedding(pages, dim)
        self.cell = nn.GRUCell(dim, dim)
        self.head = nn.Linear(dim, pages)

    def forward(self, clicks):
        h = torch.zeros(len(clicks), self.head.in_features)
        losses = []
        for t in range(clicks.size(1) - 1):
            h = self.cell(self.pages(clicks[:, t]), h)
            losses.append(nn.functional.cross_entropy(self.head(h), clicks[:, t + 1]))
        return torch.stack(losses).mean()


class Guard:
    """Looks for the operation that made a gradient large."""

    def __init__(self, limit):
        self.limit = limit
        self.armed = False

    def check(self, norm):
        if norm > self.limit and not self.armed:
            self.armed = True
            torch.autograd.set_detect_anomaly(True)
            logging.info("guard: gradient norm %.2f, looking closer from now on", norm)


def sessions(step):
    first = torch.randint(0, 500, (16, 1))
    clicks = (first + torch.cumsum(torch.randint(0, 3, (16, 40)), 1)) % 500
    return clicks if step != 2400 else torch.full_like(clicks, 499)


def main():
    model, guard = Next(), Guard(limit=1.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    since = time.perf_counter()
    for step in range(1, 1_000_000):
        loss = model(sessions(step))
        optimizer.zero_grad()
        loss.backward()
        guard.check(float(nn.utils.clip_grad_norm_(model.parameters(), 1.0)))
        optimizer.step()
        if step % 20 == 0:
            speed = 320 / (time.perf_counter() - since)
            since = time.perf_counter()
            logging.info("step %d loss %.4f sessions/s %.1f", step, loss.item(), speed)


if __name__ == "__main__":
    main()
