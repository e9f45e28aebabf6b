"""Sequence classifier, compiled. Each batch is padded to its own longest sentence to save compute."""
import logging
import time

import torch
import torch._dynamo
import torch.nn as nn

logging.basicConfig(level=logging.INFO, format="[%(asctime)s] %(message)s", datefmt="%H:%M:%S")
torch.set_num_threads(1)
torch.manual_seed(0)
torch._dynamo.config.recompile_limit = 2000  # the default of 8 was hit at once
torch._dynamo.config.accumulated_recompile_limit = 5000


class Net(nn.Module):
    def __init__(self, vocab=4000, d=128):
        super().__init__()
        self.e = nn.Embedding(vocab, d)
        self.enc = nn.ModuleList(nn.ModuleDict({"q": nn.Linear(d, 3 * d), "o": nn.Linear(d, d), "f": nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d)), "n1": nn.LayerNorm(d), "n2": nn.LayerNorm(d)}) for _ in range(2))
        self.head = nn.Linear(d, 5)

    def forward(self, ids):
        h = self.e(ids)
        for b in self.enc:
            q, k, v = b["q"](b["n1"](h)).chunk(3, -1)
            h = h + b["o"](nn.functional.scaled_dot_product_attention(q, k, v))
            h = h + b["f"](b["n2"](h))
        return self.head(h.mean(1))


model = Net()
fast = torch.compile(model, backend="aot_eager", dynamic=False)
opt = torch.optim.AdamW(model.parameters(), 3e-4)
for step in range(1, 100_000):
    t0 = time.perf_counter()
    length = int(torch.distributions.LogNormal(4.2, 0.6).sample().clamp(8, 500)) // 4 * 4
    bs = max(4, 4096 // length)  # about 4k tokens per batch
    ids = torch.randint(4000, (bs, length))
    loss = nn.functional.cross_entropy(fast(ids), (ids[:, 0] * 5) // 4000)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 2 == 0:
        logging.info("step=%d loss=%.3f shape=%dx%d time=%.2fs", step, loss.item(), bs, length, time.perf_counter() - t0)
