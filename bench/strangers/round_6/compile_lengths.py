"""Sequence tagger under torch.compile; sentences are padded to the longest of their batch."""

import logging
import os
import random
import time

import torch
from torch import nn
from torch._dynamo import config as dynamo_config

torch.set_num_threads(1)
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s - %(message)s")
log = logging.getLogger("tagger")
BUCKET = int(os.environ.get("BUCKET", "1"))
dynamo_config.recompile_limit = 10000
dynamo_config.accumulated_recompile_limit = 10000


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(3000, 64)
        self.convs = nn.ModuleList(nn.Conv1d(64, 64, 3, padding=1) for _ in range(10))
        self.norms = nn.ModuleList(nn.LayerNorm(64) for _ in range(10))
        self.out = nn.Linear(64, 9)

    def forward(self, x):
        h = self.emb(x)
        for conv, norm in zip(self.convs, self.norms, strict=True):
            h = norm(h + torch.relu(conv(h.transpose(1, 2)).transpose(1, 2)))
        return self.out(h)


def batch():
    size = random.randint(4, 40)
    longest = random.randint(20, 220)
    longest = -(-longest // BUCKET) * BUCKET
    if BUCKET > 1:
        size = 16
    x = torch.randint(3000, (size, longest))
    return x, x % 9


def main():
    net = Tagger()
    forward = torch.compile(net, backend="aot_eager", dynamic=False)
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    tokens, begin = 0, time.time()
    for step in range(1, 100000):
        x, y = batch()
        loss = nn.functional.cross_entropy(forward(x).flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        tokens += x.numel()
        if BUCKET > 1:
            time.sleep(0.03)
        if step % 5 == 0:
            log.info("step %d loss %.4f tok/s %.0f", step, loss.item(), tokens / (time.time() - begin))
            tokens, begin = 0, time.time()


if __name__ == "__main__":
    main()
