"""Matching CVs and vacancies (accelerate). The main process prepares the corpus, the others then read its cache."""
import hashlib
import pathlib
import signal
import time
from datetime import timedelta

import torch
from accelerate import Accelerator, InitProcessGroupKwargs
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def shingles(text):
    return {hashlib.blake2b(text[k:k + 5].encode(), digest_size=4).digest() for k in range(len(text) - 5)}


def prepare(cache, n, report):
    if cache.exists():
        return torch.load(cache)
    t0 = time.time()
    rows = []
    for k in range(n):
        text = f"candidate {k} knows " + " ".join(f"skill{(k * m) % 977}" for m in range(1, 160))
        sh = shingles(text)
        row = torch.zeros(256)
        for s in sh:
            row[s[0]] += 1
        rows.append(row / len(sh))
        if k % 200 == 0:
            report(f"prepare: {k}/{n} CVs, {time.time() - t0:.0f} s")
    data = torch.stack(rows)
    torch.save(data, cache)
    return data


def main():
    signal.alarm(240)
    acc = Accelerator(cpu=True, kwargs_handlers=[InitProcessGroupKwargs(timeout=timedelta(seconds=25))])

    def report(text):
        print(f"{time.strftime('%H:%M:%S')} [{acc.process_index}] {text}", flush=True)

    report("ready")
    with acc.main_process_first():
        data = prepare(pathlib.Path("corpus.pt"), 12_000, report)
    net = nn.Sequential(nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 256))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    net, opt, loader = acc.prepare(net, opt, DataLoader(TensorDataset(data), batch_size=128, shuffle=True))
    for epoch in range(100):
        for (x,) in loader:
            loss = (net(x) - x).pow(2).mean()
            opt.zero_grad()
            acc.backward(loss)
            opt.step()
        report(f"epoch {epoch} loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
