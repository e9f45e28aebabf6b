"""Masked language model on synthetic text. Single process or torchrun."""
import argparse
import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn

args = argparse.ArgumentParser()
args.add_argument("--log-every", type=int, default=10)
args.add_argument("--layers", type=int, default=3)
args = args.parse_args()
multi = int(os.environ.get("WORLD_SIZE", "1")) > 1
rank = 0
if multi:
    dist.init_process_group("gloo")
    rank = dist.get_rank()
torch.manual_seed(rank)
V, D, T = 2000, 192, 64
enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(D, 4, 4 * D, 0.1, batch_first=True, norm_first=True), args.layers, enable_nested_tensor=False)
model = nn.Sequential(nn.Embedding(V, D), enc, nn.Linear(D, V))
if multi:
    model = nn.parallel.DistributedDataParallel(model)
opt = torch.optim.AdamW(model.parameters(), 3e-4)
start = time.time()
total, seen = 0.0, 0
if rank == 0:
    print(f"threads per process: {torch.get_num_threads()}", flush=True)
for step in range(1, 1_000_000):
    base = torch.randint(3, V, (16, 1))
    text = (base + torch.arange(T) * (base % 3)) % (V - 3) + 3
    mask = torch.rand(text.shape) < 0.15
    out = model(text.masked_fill(mask, 1))
    loss = nn.functional.cross_entropy(out[mask], text[mask])
    opt.zero_grad()
    loss.backward()
    opt.step()
    total, seen = total + loss.item(), seen + 1
    if step % args.log_every == 0 and rank == 0:
        print(f"[{int(time.time() - start):5d}s] step {step} mlm_loss {total / seen:.4f}", flush=True)
        total, seen = 0.0, 0
