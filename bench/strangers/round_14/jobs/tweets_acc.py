"""Tweet topic classifier with accelerate."""
import argparse

import torch
from accelerate import Accelerator
from accelerate.logging import get_logger
from torch import nn
from torch.utils.data import DataLoader, Dataset
import logging

logging.basicConfig(format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", level=logging.INFO)
logger = get_logger(__name__)


class Tweets(Dataset):
    def __init__(self, n=60000, vocab=4000, topics=8):
        g = torch.Generator().manual_seed(0)
        self.y = torch.randint(0, topics, (n,), generator=g)
        base = torch.randint(0, vocab, (n, 28), generator=g)
        hint = self.y[:, None] * 40 + torch.randint(0, 40, (n, 4), generator=g)
        self.x = torch.cat([base, hint], 1)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"input_ids": self.x[i], "labels": self.y[i]}


class Model(nn.Module):
    def __init__(self, vocab=4000, d=96, topics=8):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        layer = nn.TransformerEncoderLayer(d, 4, 192, dropout=0.1, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 2)
        self.out = nn.Linear(d, topics)

    def forward(self, input_ids):
        return self.out(self.enc(self.emb(input_ids)).mean(1))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--lr", type=float, default=2e-4)
    p.add_argument("--epochs", type=int, default=30)
    args = p.parse_args()
    acc = Accelerator(cpu=True)
    model = Model()
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    loader = DataLoader(Tweets(), batch_size=32, shuffle=True)
    model, opt, loader = acc.prepare(model, opt, loader)
    logger.info(f"***** Running training, {acc.num_processes} processes *****")
    done = 0
    for epoch in range(args.epochs):
        for b in loader:
            loss = nn.functional.cross_entropy(model(b["input_ids"]), b["labels"])
            acc.backward(loss)
            opt.step()
            opt.zero_grad()
            done += 1
            if done % 25 == 0:
                logger.info(f"epoch {epoch} completed steps {done} train_loss {loss.item():.4f}")


main()
