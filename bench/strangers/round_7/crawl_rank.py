"""Learning to rank crawled pages: a pool extracts features while the ranker trains."""
import collections
import concurrent.futures as cf
import random
import sys
import time

import torch

THREADS = int(sys.argv[1])
LETTERS = "abcdefghij  "


def extract(seed):
    rng = random.Random(seed)
    page = "".join(rng.choice(LETTERS) for _ in range(6000))
    grams = collections.Counter(page[i : i + 2] for i in range(len(page) - 1))
    words = page.split()
    return [sum(map(len, words)) / len(words) / 5] + [grams[a + b] / 60 for a in "abcdefg" for b in "abcdefg"]


class Ranker(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(50, 50) for _ in range(12))
        self.head = torch.nn.Linear(50, 1)

    def forward(self, x):
        for layer in self.layers:
            x = x + torch.tanh(layer(x))
        return self.head(x)[:, 0]


def main():
    net = Ranker()
    opt = torch.optim.RMSprop(net.parameters(), 1e-4)
    fresh = collections.deque(maxlen=512)
    pool = cf.ThreadPoolExecutor(THREADS, thread_name_prefix="extract")
    seeds = iter(range(10**9))
    fresh.extend(extract(next(seeds)) for _ in range(32))
    pending = {pool.submit(extract, next(seeds)) for _ in range(2 * THREADS)}
    n, mark = 0, time.time()
    while n < 60000:
        done = {f for f in pending if f.done()}
        for f in done:
            fresh.append(f.result())
            pending.add(pool.submit(extract, next(seeds)))
        pending -= done
        x = torch.tensor(random.sample(list(fresh), 32))
        target = x[:, 0] - x[:, 5]
        s = net(x)
        loss = torch.nn.functional.softplus(-(s[:, None] - s) * (target[:, None] - target).sign()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        n += 1
        if n % 20 == 0:
            now = time.time()
            print("step=%d pairwise=%.4f pages=%d steps/s=%.1f" % (n, loss.item(), len(fresh), 20 / (now - mark)), flush=True)
            mark = now


main()
