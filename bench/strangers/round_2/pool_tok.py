#!/usr/bin/env python
# Sentiment model. Tokenisation in a process pool.
import multiprocessing, random, re, sys, time
import torch

AHEAD = "--ahead" in sys.argv
EFFORT = 1 if AHEAD else 200
WORDS = ["good", "bad", "film", "plot", "actor", "not", "very", "boring", "great", "end", "start", "music"]


def tokenise(seed):
    r = random.Random(seed)
    text = " ".join(r.choice(WORDS) for _ in range(120))
    ids = []
    for _ in range(EFFORT):
        ids = [WORDS.index(w) + 1 for w in re.findall(r"[a-z]+", text.lower())]
    return ids, int(ids.count(9) > ids.count(8))


def main():
    torch.set_num_threads(1)
    emb, gru, out = torch.nn.Embedding(13, 48), torch.nn.GRU(48, 96, batch_first=True), torch.nn.Linear(96, 2)
    opt = torch.optim.Adam([*emb.parameters(), *gru.parameters(), *out.parameters()], 1e-3)
    pool = multiprocessing.Pool(2)
    n = 0
    pending = [pool.map_async(tokenise, range(k * 64, k * 64 + 64)) for k in range(4)] if AHEAD else []
    t = time.perf_counter()
    for batch in range(1, 1_000_000):
        if AHEAD:
            rows = pending.pop(0).get()
            pending.append(pool.map_async(tokenise, range((batch + 3) * 64, (batch + 4) * 64)))
        else:
            rows = pool.map(tokenise, range(batch * 64, batch * 64 + 64))
        x = torch.tensor([r[0] for r in rows]); y = torch.tensor([r[1] for r in rows])
        loss = torch.nn.functional.cross_entropy(out(gru(emb(x))[1][0]), y)
        opt.zero_grad(); loss.backward(); opt.step()
        if batch % 10 == 0:
            now = time.perf_counter()
            print(f"batch={batch} loss={loss.item():.4f} examples/sec={640 / (now - t):.1f}", flush=True)
            t = now


if __name__ == "__main__":
    main()
