import time

import torch
import torch.nn as nn
from accelerate import Accelerator
from accelerate.utils import set_seed

PAD, BOS = 0, 1
V = 64


class Seq2Seq(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.e = nn.Embedding(V, d)
        self.enc = nn.GRU(d, d, batch_first=True)
        self.dec = nn.GRU(d, d, batch_first=True)
        self.out = nn.Linear(d, V)

    def forward(self, src, tgt):
        _, h = self.enc(self.e(src))
        y, _ = self.dec(self.e(tgt), h)
        return self.out(y)


def make_pairs(n, g):
    src = torch.randint(2, V, (n, 14), generator=g)
    tgt = (src * 7 + 3) % (V - 2) + 2
    return src, tgt.flip(1)


class Patience:
    """Ends the phase when the validation loss has not improved for a while."""

    def __init__(self, patience):
        self.best, self.bad, self.patience = float("inf"), 0, patience

    def update(self, value):
        if value < self.best - 5e-3:
            self.best, self.bad = value, 0
        else:
            self.bad += 1
        return self.bad >= self.patience


def main():
    acc = Accelerator(cpu=True)
    set_seed(11)
    g = torch.Generator().manual_seed(acc.process_index)
    model = Seq2Seq()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    model, opt = acc.prepare(model, opt)
    ce = nn.CrossEntropyLoss()
    # every process keeps the validation part of its own language
    noise = [0.0, 0.05, 0.9][acc.process_index % 3]
    vsrc, vtgt = make_pairs(96, torch.Generator().manual_seed(1000 + acc.process_index))
    mask = torch.rand(vtgt.shape, generator=g) < noise
    vtgt = torch.where(mask, torch.randint(2, V, vtgt.shape, generator=g), vtgt)
    stop = Patience(5)
    tic = time.time()
    for epoch in range(1, 2000):
        model.train()
        tot = 0.0
        for _ in range(12):
            src, tgt = make_pairs(32, g)
            inp = torch.cat([torch.full((32, 1), BOS), tgt[:, :-1]], 1)
            loss = ce(model(src, inp).reshape(-1, V), tgt.reshape(-1))
            acc.backward(loss)
            opt.step()
            opt.zero_grad()
            tot += loss.item()
        model.eval()
        with torch.no_grad():
            net = acc.unwrap_model(model)
            inp = torch.cat([torch.full((96, 1), BOS), vtgt[:, :-1]], 1)
            val = ce(net(vsrc, inp).reshape(-1, V), vtgt.reshape(-1))
        if stop.update(val.item()):
            break
        mean_val = acc.reduce(val, "mean")
        acc.print(f"ep={epoch} train={tot / 12:.3f} val={mean_val.item():.3f} t={time.time() - tic:.1f}s")
    acc.wait_for_everyone()
    acc.print("phase 1 done, averaging weights")
    state = [p.detach() for p in acc.unwrap_model(model).parameters()]
    for p in state:
        p.copy_(acc.reduce(p, "mean"))
    if acc.is_main_process:
        torch.save(acc.unwrap_model(model).state_dict(), "translit.pt")


if __name__ == "__main__":
    main()
