"""Value table net for a stone game: players collect games, the learner fits them."""
import ctypes, random, time
import ray
import torch
from torch import nn
from ray.util.queue import Queue

BUFFER = 60


@ray.remote(num_cpus=0.5)
class Player:
    def __init__(self, games, seed):
        self.games, self.rng, self.played = games, random.Random(seed), 0
        self.history = (ctypes.c_float * BUFFER)()

    def play(self):
        while True:
            rows = []
            for _ in range(64):
                piles = [self.rng.randrange(8) for _ in range(4)]
                rows.append((piles, float(piles[0] ^ piles[1] ^ piles[2] ^ piles[3] != 0)))
            won = sum(w for _, w in rows)
            at = ctypes.addressof(self.history) + (self.played // BUFFER) * (1 << 40)
            ctypes.memmove(at, ctypes.byref(ctypes.c_float(won)), 4)
            self.played += 1
            time.sleep(0.2)
            self.games.put(rows)


ray.init(num_cpus=1, include_dashboard=False, object_store_memory=80 * 2**20)
games = Queue(maxsize=4, actor_options={"num_cpus": 0.1})
player = Player.remote(games, 17)
going = player.play.remote()
net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), 2e-3)
for i in range(100000):
    rows = games.get()
    x = torch.tensor([p for p, _ in rows], dtype=torch.float32) / 7
    y = torch.tensor([w for _, w in rows])
    loss = nn.functional.binary_cross_entropy_with_logits(net(x).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"update {i} loss {loss.item():.4f} games {64 * (i + 1)}", flush=True)
