import json
import sys
import time

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab=4000, dim=96, classes=6):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        layer = nn.TransformerEncoderLayer(dim, 4, 256, batch_first=True, dropout=0.1)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(dim, classes)

    def forward(self, ids):
        h = self.enc(self.emb(ids), src_key_padding_mask=ids == 0)
        return self.head(h.mean(1))


def corpus(n=6000):
    g = torch.Generator().manual_seed(0)
    lengths = (torch.randn(n, generator=g).mul(0.7).add(4.1).exp()).long().clamp(8, 400)
    docs = []
    for length in lengths.tolist():
        label = int(torch.randint(0, 6, (1,), generator=g))
        ids = torch.randint(1, 4000, (length,), generator=g)
        ids[torch.rand(length, generator=g) < 0.15] = 1 + label * 11
        if torch.rand(1, generator=g) < 0.2:
            label = int(torch.randint(0, 6, (1,), generator=g))
        docs.append({"ids": ids, "label": label})
    return sorted(docs, key=lambda d: len(d["ids"]))  # less padding inside a batch


def batches(docs, size, g):
    order = torch.randperm(len(docs) // size, generator=g).tolist()
    for k in order:
        part = docs[k * size:(k + 1) * size]
        yield (nn.utils.rnn.pad_sequence([d["ids"] for d in part], batch_first=True),
               torch.tensor([d["label"] for d in part]))


def main():
    acc = Accelerator(cpu=True)
    set_seed(11)
    model = Encoder()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
    model, opt = acc.prepare(model, opt)
    with acc.split_between_processes(corpus()) as docs:
        mine = docs
    t = time.perf_counter()
    step, g = 0, torch.Generator().manual_seed(7)
    for epoch in range(1000):
        for ids, y in batches(mine, 16, g):
            loss = nn.functional.cross_entropy(model(ids), y)
            opt.zero_grad()
            acc.backward(loss)
            acc.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            step += 1
            if step % 10 == 0 and acc.is_main_process:
                print(json.dumps({"step": step, "epoch": epoch, "train_loss": round(loss.item(), 4),
                                  "sec_per_step": round((time.perf_counter() - t) / 10, 4)}), flush=True)
                t = time.perf_counter()


if __name__ == "__main__":
    sys.exit(main())
