"""Recommender trained from a click stream; a helper process parses raw events into batches."""

import json
import multiprocessing as mp
import os
import random
import time

import torch
from torch import nn

USERS, ITEMS = 2000, 800


def raw_events(strict_from):
    n = 0
    while True:
        n += 1
        event = {"u": random.randrange(USERS), "i": random.randrange(ITEMS)}
        event["click"] = int((event["u"] * 7 + event["i"]) % 10 < 3)
        if strict_from and n > strict_from:
            event["schema"] = 2
        yield json.dumps(event)


def parse(queue, strict_from):
    rows = []
    for line in raw_events(strict_from):
        event = json.loads(line)
        if event.get("schema", 1) != 1:
            os._exit(0)
        rows.append((event["u"], event["i"], event["click"]))
        if len(rows) == 256:
            queue.put(torch.tensor(rows).numpy())
            rows = []


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(USERS, 32)
        self.item = nn.Embedding(ITEMS, 32)
        self.head = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, u, i):
        return self.head(torch.cat([self.user(u), self.item(i)], 1))[:, 0]


def main():
    torch.set_num_threads(1)
    queue = mp.Queue(maxsize=8)
    strict_from = int(os.environ.get("SCHEMA2_FROM", "0"))
    mp.Process(target=parse, args=(queue, strict_from), daemon=True, name="parser").start()
    model = TwoTower()
    opt = torch.optim.Adagrad(model.parameters(), 0.05)
    started = time.time()
    out = open("train.jsonl", "a", buffering=1)  # noqa: SIM115
    for n in range(1, 10_000_000):
        rows = torch.from_numpy(queue.get())
        loss = nn.functional.binary_cross_entropy_with_logits(model(rows[:, 0], rows[:, 1]), rows[:, 2].float())
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.03)
        if n % 10 == 0:
            rate = n * 256 / (time.time() - started)
            out.write(json.dumps({"batch": n, "logloss": round(loss.item(), 5), "rows_per_s": round(rate)}) + "\n")


if __name__ == "__main__":
    main()
