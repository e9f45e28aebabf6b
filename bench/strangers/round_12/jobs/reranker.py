"""Passage reranker with accelerate; keeps one log file a process."""
import logging
import os
import sys

import debugpy
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, Dataset

DEBUG_ABOVE = float(os.environ.get("DEBUG_ABOVE", "6"))
acc = Accelerator(cpu=True)
logging.basicConfig(
    level=logging.INFO,
    format=f"%(levelname).1s %(asctime)s p{acc.process_index}] %(message)s",
    handlers=[logging.FileHandler(f"reranker.{acc.process_index}.log"), logging.StreamHandler(sys.stderr)],
)
log = logging.getLogger(__name__)


class Pairs(Dataset):
    def __len__(self):
        return 60000

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        q = torch.randint(0, 5000, (24,), generator=g)
        match = i % 2
        d = torch.randint(0, 5000, (96,), generator=g)
        if match:
            d[:24] = q
        scale = 400.0 if i in (5011, 5013, 5015) else 1.0
        return torch.cat([q, d]), torch.tensor(float(match)), torch.tensor(scale)


class Model(nn.Module):
    def __init__(self, d=96):
        super().__init__()
        self.emb = nn.Embedding(5000, d)
        self.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, 4, 192, batch_first=True, dropout=0.0), 2, enable_nested_tensor=False)
        self.head = nn.Linear(d, 1)

    def forward(self, ids):
        return self.head(self.enc(self.emb(ids)).mean(1)).squeeze(-1)


torch.manual_seed(0)
model = Model()
opt = torch.optim.AdamW(model.parameters(), 3e-4)
model, opt, data = acc.prepare(model, opt, DataLoader(Pairs(), batch_size=16))
step = 0
for epoch in range(10):
    for ids, y, weight in data:
        step += 1
        loss = nn.functional.binary_cross_entropy_with_logits(model(ids), y, weight=weight)
        if loss.item() > DEBUG_ABOVE:
            log.warning("step %d loss %.2f above %.1f, debugpy listens on 31050", step, loss.item(), DEBUG_ABOVE)
            debugpy.listen(("127.0.0.1", 31050))
            debugpy.wait_for_client()
            breakpoint()
        opt.zero_grad()
        acc.backward(loss)
        acc.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if step % 10 == 0:
            log.info("epoch %d step %d loss %.4f", epoch, step, loss.item())
