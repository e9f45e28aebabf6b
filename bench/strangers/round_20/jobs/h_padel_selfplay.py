"""Self-play for padel: two courts (processes) play sets, the learner fits a shot policy on what they send."""
import multiprocessing as mp
import os
import time

import numpy as np

SHOTS, OBS = 6, 16
SIDES = {(games, other): (games + other) % 2 for games in range(7) for other in range(7)}


class Court:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.set_score = [0, 0]
        self.deuces = np.zeros(10, int)

    def rally(self, w):
        obs, acts, hitter = [], [], 0
        while True:
            o = self.rng.normal(size=OBS)
            z = o @ w
            p = np.exp(z - z.max()); p /= p.sum()
            a = int(self.rng.choice(SHOTS, p=p))
            obs.append(o); acts.append(a)
            if self.rng.random() > 0.55 + 0.3 * np.tanh(o[a]) or len(obs) > 60:
                return obs, acts, 1 - hitter
            hitter = 1 - hitter

    def game(self, w):
        side = SIDES[tuple(self.set_score)]
        points, out, deuces = [0, 0], [], 0
        while max(points) < 4 or abs(points[0] - points[1]) < 2:
            obs, acts, winner = self.rally(w)
            points[winner] += 1
            deuces += points[0] == points[1] and points[0] >= 3
            for k, (o, a) in enumerate(zip(obs, acts)):
                out.append((o, a, 1.0 if k % 2 == winner else -1.0))
        self.deuces[deuces] += 1
        self.set_score[int(points[1] > points[0]) ^ side ^ int(self.rng.random() < 0.5)] += 1
        if max(self.set_score) >= 6 and abs(self.set_score[0] - self.set_score[1]) >= 2 or max(self.set_score) == 7:
            self.set_score = [0, 0]
        return out


def play(index, weights, results):
    court = Court(100 + index)
    while True:
        w = weights.get()
        batch = []
        while len(batch) < 4000:
            batch += court.game(w)
        o, a, r = zip(*batch)
        results.put((np.array(o), np.array(a), np.array(r)))


def main():
    ctx = mp.get_context("fork")
    courts = []
    for k in range(2):
        weights, results = ctx.Queue(), ctx.Queue()
        p = ctx.Process(target=play, args=(k, weights, results), name=f"court-{k}", daemon=True)
        p.start()
        courts.append((weights, results))
        print(f"court-{k} pid {p.pid}")
    w, t = np.zeros((OBS, SHOTS)), time.time()
    for it in range(20000):
        for weights, _ in courts:
            weights.put(w)
        parts = [results.get() for _, results in courts]
        o, a, r = (np.concatenate(x) for x in zip(*parts))
        for _ in range(10):
            z = o @ w
            p = np.exp(z - z.max(1, keepdims=True)); p /= p.sum(1, keepdims=True)
            pick = np.eye(SHOTS)[a]
            w = w + 0.3 * o.T @ ((pick - p) * (r - r.mean())[:, None]) / len(o)
        if it % 5 == 0:
            print(f"it {it:5d}  shots {len(o)}  good-shot {o[np.arange(len(o)), a].mean():+.3f}  |w| {np.linalg.norm(w):.2f}  {time.time() - t:.1f}s")


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
