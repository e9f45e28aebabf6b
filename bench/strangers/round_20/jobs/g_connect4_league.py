"""Connect-4: players fill a replay ring while the learner fits the value net to it. One process, a thread per player."""
import collections
import logging
import random
import threading
import time

import torch
from torch import nn

logging.basicConfig(format="%(relativeCreated)8d %(threadName)-10s %(message)s", level=logging.INFO)
log = logging.getLogger("league")
W, H = 7, 6
ring = collections.deque(maxlen=20000)
games = collections.Counter()


def drop(b, c, who):
    for r in range(H):
        if b[r][c] == 0:
            b[r][c] = who
            return r
    return -1


def four(b, r, c, who):
    for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
        n = 1
        for s in (1, -1):
            y, x = r + s * dr, c + s * dc
            while 0 <= y < H and 0 <= x < W and b[y][x] == who:
                n += 1
                y, x = y + s * dr, x + s * dc
        if n >= 4:
            return True
    return False


def playout(b, who, rng):
    b = [row[:] for row in b]
    while True:
        free = [c for c in range(W) if b[H - 1][c] == 0]
        if not free:
            return 0
        c = rng.choice(free)
        if four(b, drop(b, c, who), c, who):
            return who
        who = -who


def player(n):
    rng = random.Random(n)
    while True:
        b, who, seen, result = [[0] * W for _ in range(H)], 1, [], 0
        while True:
            free = [c for c in range(W) if b[H - 1][c] == 0]
            if not free:
                break
            best, pick = -1e9, free[0]
            for c in free:
                t = [row[:] for row in b]
                r = drop(t, c, who)
                v = 99 if four(t, r, c, who) else sum(who * playout(t, -who, rng) for _ in range(12))
                if v + rng.random() > best:
                    best, pick = v + rng.random(), c
            r = drop(b, pick, who)
            seen.append([float(v) for row in b for v in row])
            if four(b, r, pick, who):
                result = who
                break
            who = -who
        ring.extend((s, float(result)) for s in seen)
        games[n] += 1


def learner():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(42, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1), nn.Tanh())
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    rng = random.Random(77)
    while len(ring) < 128:
        time.sleep(.1)
    t, mean = time.perf_counter(), 0.
    for u in range(1, 10 ** 7):
        rows = rng.sample(list(ring), 128) if len(ring) < 2000 else [ring[rng.randrange(len(ring))] for _ in range(128)]
        x, y = torch.tensor([r[0] for r in rows]), torch.tensor([r[1] for r in rows])
        loss = ((net(x)[:, 0] - y) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        mean += loss.item()
        if u % 5 == 0:
            now = time.perf_counter()
            log.info("update %d value-loss %.4f ring %d games %d %.2f upd/s", u, mean / 5, len(ring), sum(games.values()), 5 / (now - t))
            t, mean = now, 0.


if __name__ == "__main__":
    import sys
    for n in range(int(sys.argv[1]) if len(sys.argv) > 1 else 4):
        threading.Thread(target=player, args=(n,), name=f"player-{n}", daemon=True).start()
    learner()
