#!/usr/bin/env python
from __future__ import annotations
import datetime, inspect, random, sys, time
import torch
from torch.utils.data import DataLoader, IterableDataset


class logger:
    @staticmethod
    def _p(level, msg):
        f = inspect.stack()[2]
        now = datetime.datetime.now().strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
        sys.stderr.write(f"{now} | {level:<8} | __main__:{f.function}:{f.lineno} - {msg}\n")
    info = classmethod(lambda c, m: c._p("INFO", m))
    success = classmethod(lambda c, m: c._p("SUCCESS", m))


WORDS = ["train", "station", "forest", "running", "walker", "lighthouse", "under", "stood", "thunder", "bread"]
rnd = random.Random(3)


class Bpe:
    def __init__(self):
        self.merges = {}
        for w in WORDS:
            for i in range(len(w) - 1):
                self.merges.setdefault(w[i : i + 2], len(self.merges))

    def encode(self, text):
        ids = []
        for word in text.split():
            parts = list(word)
            while len(parts) > 1:
                ranks = [(self.merges.get(parts[i] + parts[i + 1], 1 << 30), i) for i in range(len(parts) - 1)]
                r, i = min(ranks)
                if r == 1 << 30:
                    break
                parts[i : i + 2] = [parts[i] + parts[i + 1]]
            ids += [hash(p) % 500 for p in parts]
        return ids


class Docs(IterableDataset):
    def __init__(self, words): self.words, self.bpe = words, Bpe()
    def __iter__(self):
        while True:
            text = " ".join(rnd.choice(WORDS) + rnd.choice(WORDS) for _ in range(self.words))
            ids = self.bpe.encode(text)[:128]
            yield torch.tensor(ids + [0] * (128 - len(ids)))


def fit(words, seconds=420):
    model = torch.nn.Sequential(torch.nn.Embedding(500, 48), torch.nn.Linear(48, 500))
    opt = torch.optim.AdamW(model.parameters(), 1e-3)
    it = iter(DataLoader(Docs(words), batch_size=8))
    end, n = time.time() + seconds, 0
    while time.time() < end:
        x = next(it)
        loss = torch.nn.functional.cross_entropy(model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
        opt.zero_grad(); loss.backward(); opt.step()
        n += 1
        if n % 10 == 0:
            logger.info(f"global_step={n} train_loss={loss.item():.4f}")
    logger.success("done")


fit(int(sys.argv[1]))
