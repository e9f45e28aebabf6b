"""Two actors play, one learner updates: a tiny policy-gradient arena."""
import json
import multiprocessing as mp
import sys
import time

import numpy as np

OBS, HID, ACT = 64, 1200, 6


def forward(w, o):
    h = np.tanh(o @ w["a"])
    z = h @ w["b"]
    p = np.exp(z - z.max(-1, keepdims=True))
    return h, p / p.sum(-1, keepdims=True)


def actor(conn, seed):
    rng = np.random.default_rng(seed)
    w, horizon = conn.recv()
    while True:
        obs = np.empty((horizon, OBS), np.float32)
        act = np.empty(horizon, np.int64)
        rew = np.empty(horizon, np.float32)
        o = rng.normal(size=OBS).astype(np.float32)
        for t in range(horizon):
            _, p = forward(w, o)
            a = rng.choice(ACT, p=p / p.sum())
            obs[t], act[t], rew[t] = o, a, o[a] + 0.1 * rng.normal()
            o = (0.9 * np.roll(o, 1) + 0.4 * rng.normal(size=OBS)).astype(np.float32)
        conn.send((obs, act, rew))
        w, horizon = conn.recv()


def main():
    rng = np.random.default_rng(0)
    w = {"a": rng.normal(0, 0.1, (OBS, HID)).astype(np.float32), "b": rng.normal(0, 0.01, (HID, ACT)).astype(np.float32)}
    conns = []
    for i in range(2):
        ours, theirs = mp.Pipe()
        mp.Process(target=actor, args=(theirs, i), name=f"actor-{i}", daemon=True).start()
        conns.append(ours)
    horizon, start = 200, time.time()
    for c in conns:
        c.send((w, horizon))
    for update in range(1, 100000):
        for c in conns:
            c.send((w, horizon))  # the next policy, for when they are through
        mean = []
        for c in conns:
            obs, act, rew = c.recv()
            h, p = forward(w, obs)
            adv = (rew - rew.mean()) / (rew.std() + 1e-6)
            g = p.copy()
            g[np.arange(len(act)), act] -= 1
            g *= adv[:, None] / len(act)
            gb = h.T @ g
            ga = obs.T @ ((g @ w["b"].T) * (1 - h * h))
            w["b"] -= 0.3 * gb
            w["a"] -= 0.3 * ga
            mean.append(float(rew.mean()))
        if update % 10 == 0:
            print(json.dumps({"t": round(time.time() - start, 2), "update": update, "horizon": horizon, "return": round(sum(mean) / 2, 4)}))
        if update % 25 == 0:
            horizon = min(horizon + 40, 4000)  # longer games as they get better


if __name__ == "__main__":
    mp.set_start_method("fork")
    main()
