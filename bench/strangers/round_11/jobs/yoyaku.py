"""文書分類（accelerate、2プロセス）"""
import random

import torch
import torch.nn as nn
from accelerate import Accelerator
from accelerate.utils import set_seed


def corpus(n=4000):
    rng = random.Random(3)
    docs = []
    for _ in range(n):
        label = rng.randrange(4)
        length = min(260, max(20, int(rng.lognormvariate(4.3, 0.8))))
        shown = rng.randrange(4) if rng.random() < 0.12 else label
        docs.append(([rng.randrange(label * 40, label * 40 + 120) for _ in range(length)], shown))
    return sorted(docs, key=lambda d: len(d[0]))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(256, 64, padding_idx=255)
        layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.1, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(64, 4)

    def forward(self, x):
        return self.head(self.enc(self.emb(x)).mean(1))


def main():
    acc = Accelerator(cpu=True)
    set_seed(5)
    docs = corpus()
    per = len(docs) // acc.num_processes
    mine = docs[acc.process_index * per:(acc.process_index + 1) * per]
    model = Classifier()
    opt = torch.optim.AdamW(model.parameters(), lr=5e-4)
    model, opt = acc.prepare(model, opt)
    rng = random.Random(acc.process_index)
    acc.print(f"学習開始 プロセス数={acc.num_processes} 文書数={len(docs)}")
    for step in range(1, 100000):
        batch = rng.sample(mine, 8)
        width = max(len(d) for d, _ in batch)
        x = torch.full((8, width), 255)
        for i, (d, _) in enumerate(batch):
            x[i, :len(d)] = torch.tensor(d)
        y = torch.tensor([lab for _, lab in batch])
        loss = nn.functional.cross_entropy(model(x), y)
        acc.backward(loss)
        opt.step()
        opt.zero_grad()
        if step % 20 == 0:
            acc.print(f"ステップ {step} 損失 {loss.item():.4f}")


if __name__ == "__main__":
    main()
