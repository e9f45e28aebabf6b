"""
A small GPT, in the manner of the well-known minimal repositories.
$ torchrun --standalone --nproc_per_node=2 train_gpt.py --max_iters=20000
"""
import gzip
import math
import os
import pickle
import sys
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

# config --------------------------------------------------------------
out_dir = "out"
log_interval = 5
save_interval = 500
compress_ckpt = False
batch_size = 4
block_size = 48
n_layer, n_head, n_embd, vocab = 2, 4, 96, 256
learning_rate = 1e-3
min_lr = 1e-4
warmup_iters = 60
max_iters = 50000
lr_schedule = "cosine"
first_iters_slow = 0
ignore_token = -1
grad_clip = 1.0
for arg in sys.argv[1:]:  # poor man's configurator
    key, val = arg.lstrip("-").split("=")
    globals()[key] = type(globals()[key])(eval(val)) if not isinstance(globals()[key], str) else val
# ----------------------------------------------------------------------
torch.set_num_threads(1)
dist.init_process_group(backend="gloo")
rank, world = dist.get_rank(), dist.get_world_size()
master = rank == 0
torch.manual_seed(1337 + rank)
os.makedirs(out_dir, exist_ok=True)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(n_embd, 3 * n_embd), nn.Linear(n_embd, n_embd)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, n_head, C // n_head).transpose(1, 2) for t in self.qkv(x).split(C, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2, self.att = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd), Attention()
        self.mlp = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.GELU(), nn.Linear(4 * n_embd, n_embd))

    def forward(self, x):
        x = x + self.att(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, n_embd), nn.Embedding(block_size, n_embd)
        self.h = nn.ModuleList(Layer() for _ in range(n_layer))
        self.lnf, self.head = nn.LayerNorm(n_embd), nn.Linear(n_embd, vocab, bias=False)

    def forward(self, idx, targets):
        x = self.wte(idx) + self.wpe.weight[: idx.size(1)]
        for layer in self.h:
            x = layer(x)
        loss = F.cross_entropy(self.head(self.lnf(x)).view(-1, vocab), targets.view(-1), reduction="none")
        keep = (targets.view(-1) != ignore_token).float()
        return (loss * keep).sum() / keep.sum()


rng = torch.Generator().manual_seed(5)
table = torch.randint(0, vocab, (vocab, 3), generator=rng)
text = [7]
for _ in range(60000):
    text.append(int(table[text[-1], int(torch.randint(0, 3, (1,), generator=rng))]))
data = torch.tensor(text)


def get_batch():
    ix = torch.randint(len(data) - block_size - 1, (batch_size,))
    x = torch.stack([data[i : i + block_size] for i in ix])
    y = torch.stack([data[i + 1 : i + 1 + block_size] for i in ix])
    if ignore_token >= 0 and int(ix[0]) % 150 == 0:  # a document that is padding only
        y = torch.full_like(y, ignore_token)
    return x, y


def get_lr(it):
    if it < warmup_iters:
        return learning_rate * (it + 1) / warmup_iters
    if lr_schedule == "constant":
        return learning_rate
    if lr_schedule == "linear":
        # decay by tokens seen
        return learning_rate * max(0, 1 - (it - warmup_iters) // batch_size)
    ratio = (it - warmup_iters) / (max_iters - warmup_iters)
    return min_lr + 0.5 * (1 + math.cos(math.pi * ratio)) * (learning_rate - min_lr)


model = DDP(GPT())
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, betas=(0.9, 0.95))
if master:
    print(f"number of parameters: {sum(p.numel() for p in model.parameters()) / 1e6:.2f}M", flush=True)
t0 = time.time()
for it in range(max_iters):
    lr = get_lr(it)
    for group in optimizer.param_groups:
        group["lr"] = lr
    if it < first_iters_slow:
        time.sleep(6)  # autotuning the kernels
    X, Y = get_batch()
    loss = model(X, Y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    if grad_clip:
        torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    optimizer.step()
    if it % save_interval == save_interval - 1:
        if master:
            state = {"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "it": it}
            name = os.path.join(out_dir, "ckpt.pt")
            if compress_ckpt:
                with gzip.open(name + ".gz", "wb", compresslevel=9) as f:
                    pickle.dump(state, f)
            else:
                torch.save(state, name)
        dist.barrier()
    dt, t0 = time.time() - t0, time.time()
    if it % log_interval == 0 and master:
        print(f"iter {it}: loss {loss.item():.4f}, lr {lr:.3e}, time {dt * 1000:.2f}ms", flush=True)
