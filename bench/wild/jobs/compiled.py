"""torch.compile: a small network, compiled once, then steps; --lengths N gives batches of N different lengths."""

import argparse
import logging

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--lengths", type=int, default=1)
args = parser.parse_args()
logging.basicConfig(level=logging.INFO, format="[%(asctime)s][%(levelname)s] %(message)s")
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 256))
step_of = torch.compile(lambda x: nn.functional.mse_loss(model(x), x.roll(1, 1)), dynamic=False)
torch._dynamo.config.cache_size_limit = 1000
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
for step in range(1, 100000):
    loss = step_of(torch.randn(1024 + 8 * (step % args.lengths), 256))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 5 == 0 or args.lengths > 1:
        logging.info("Iter %d: loss = %.4f", step, loss.item())
