"""Wortvektoren aus Urteilstexten (Skip-Gram, Negative Sampling), Hogwild: Arbeiter teilen sich die Tabellen ohne Sperren."""
import json
import time

import numpy as np
import torch
import torch.multiprocessing as mp

V, D, NEG = 8000, 64, 6


def urteile(seed, n):
    rng = np.random.default_rng(seed)
    zipf = 1 / np.arange(1, V // 20 + 1) ** .7
    zipf /= zipf.sum()
    for _ in range(n):
        gebiet = rng.integers(20)
        laenge = int(np.clip(rng.lognormal(5.5, .9), 40, 4000))
        eigen = gebiet + 20 * rng.choice(V // 20, laenge, p=zipf)
        yield np.where(rng.random(laenge) < .8, eigen, rng.integers(0, V, laenge))


def verlust(ein, aus, w, k, neg):
    e = ein[w]
    pos = (e * aus[k]).sum(-1)
    minus = torch.bmm(aus[neg], e.unsqueeze(-1)).squeeze(-1)
    return -(torch.nn.functional.logsigmoid(pos) + torch.nn.functional.logsigmoid(-minus).sum(-1)).mean()


def arbeiter(nr, ein, aus, zaehler, runden):
    torch.set_num_threads(1)
    rng = np.random.default_rng(1000 + nr)
    log = open(f"arbeiter{nr}.jsonl", "w", buffering=1)
    gleitend, schritt = None, 0
    for runde in range(runden):
        for text in urteile(runde * 100 + nr, 4000):
            for a in range(0, len(text) - 5, 256):
                stueck = text[a:a + 261]
                w = np.repeat(stueck[:-5], 5)
                k = np.lib.stride_tricks.sliding_window_view(stueck[1:], 5)[:len(stueck) - 5].flatten()
                neg = torch.from_numpy(rng.integers(0, V, (len(w), NEG)))
                w, k = torch.from_numpy(w), torch.from_numpy(k)
                l = verlust(ein, aus, w, k, neg)
                ge, ga = torch.autograd.grad(l, [ein, aus])
                with torch.no_grad():
                    lr = max(1., 12. * (1 - schritt / 60000))
                    ein -= lr * ge
                    aus -= lr * ga
                schritt += 1
                zaehler[nr] += len(w)
                gleitend = l.item() if gleitend is None else .98 * gleitend + .02 * l.item()
                if schritt % 100 == 0:
                    log.write(json.dumps({"arbeiter": nr, "schritt": schritt, "verlust": round(gleitend, 4), "lr": round(lr, 2), "zeit": round(time.time(), 1)}) + "\n")


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    ein = (torch.randn(V, D) * .1).share_memory_().requires_grad_()
    aus = torch.zeros(V, D).share_memory_().requires_grad_()
    zaehler = torch.zeros(2, dtype=torch.int64).share_memory_()
    kinder = [mp.Process(target=arbeiter, args=(i, ein, aus, zaehler, 500), name=f"arbeiter{i}", daemon=True) for i in range(2)]
    for k in kinder:
        k.start()
    rng = np.random.default_rng(5)
    pruef = np.concatenate(list(urteile(99, 40)))
    alt, uhr = 0, time.time()
    while any(k.is_alive() for k in kinder):
        kinder[0].join(timeout=5)
        w, k = torch.from_numpy(pruef[:-1]), torch.from_numpy(pruef[1:])
        with torch.no_grad():
            v = verlust(ein, aus, w, k, torch.from_numpy(rng.integers(0, V, (len(w), NEG)))).item()
        n, jetzt = int(zaehler.sum()), time.time()
        print(f"[{time.strftime('%X')}] Paare {n / 1e6:8.2f} Mio.   {(n - alt) / (jetzt - uhr):9.0f}/s   Prüfverlust {v:.4f}", flush=True)
        alt, uhr = n, jetzt


if __name__ == "__main__":
    main()
