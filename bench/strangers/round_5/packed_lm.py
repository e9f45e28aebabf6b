"""Compiled causal language model on batches packed to the tokens at hand."""

import logging
import time
import warnings

import torch
from torch import nn
from torch._dynamo import config as dynamo

torch.set_num_threads(1)
warnings.filterwarnings("ignore", category=FutureWarning)
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
dynamo.cache_size_limit = 512
dynamo.accumulated_cache_size_limit = 1024


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (p.view(b, t, 4, d // 4).transpose(1, 2) for p in self.qkv(self.norm(x)).chunk(3, -1))
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(x)


class LM(nn.Module):
    def __init__(self, vocab=1000, dim=64, depth=6):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.blocks = nn.Sequential(*(Block(dim) for _ in range(depth)))
        self.head = nn.Linear(dim, vocab)

    def forward(self, tokens):
        logits = self.head(self.blocks(self.embed(tokens[:, :-1])))
        return nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


def main():
    model = LM()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    loss_of = torch.compile(model, backend="aot_eager", dynamic=False)
    seen = 0
    for step in range(1, 100_000):
        length = int(torch.randint(24, 400, (1,)))
        tokens = (torch.randint(0, 1000, (4, 1)) + 3 * torch.arange(length)) % 1000
        began = time.time()
        loss = loss_of(tokens)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen += tokens.numel()
        logging.info("step %d: loss %.3f, %d tokens so far, %.2f s", step, loss.item(), seen, time.time() - began)


if __name__ == "__main__":
    main()
