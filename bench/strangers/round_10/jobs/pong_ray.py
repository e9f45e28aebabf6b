import time

import numpy as np
import ray

ray.init(address="local", num_cpus=2, include_dashboard=False, object_store_memory=100 * 1024 * 1024, logging_level="WARNING")


@ray.remote(num_cpus=1)
class Player:
    def __init__(self, seed):
        self.g = np.random.default_rng(seed)

    def play(self, w, ticks, base):
        grads, scores = np.zeros_like(w), []
        while sum(scores) < ticks:
            ball, vel, pad, trace, n = self.g.uniform(-1, 1), self.g.normal(0, 0.05), 0.0, np.zeros_like(w), 0
            for n in range(400):
                x = np.array([ball, vel, pad, 1.0])
                pr = 1 / (1 + np.exp(-np.clip(x @ w, -20, 20)))
                a = self.g.random() < pr
                trace += (a - pr) * x
                pad = np.clip(pad + (0.1 if a else -0.1), -1, 1)
                ball += vel
                if abs(ball) > 1:
                    vel = -vel
                vel += self.g.normal(0, 0.004)
                if abs(ball - pad) > 0.8:
                    break
            scores.append(n)
            grads += trace * (n - base) / 50
        return grads / len(scores), scores


players = [Player.remote(i) for i in range(2)]
w, ema = np.zeros(4), 0.0
for it in range(1, 100000):
    t = time.time()
    out = ray.get([p.play.remote(w, 8000, ema) for p in players])
    w = w + 0.2 * np.mean([g for g, _ in out], axis=0)
    sc = np.concatenate([s for _, s in out])
    ema = sc.mean() if it == 1 else 0.9 * ema + 0.1 * sc.mean()
    print(f"iteration {it:5d}  games {len(sc)}  rally {sc.mean():6.1f} (ema {ema:6.1f}, longest {sc.max()})  {time.time() - t:.2f}s")
    if it % 25 == 0:
        np.save("w.npy", w)
