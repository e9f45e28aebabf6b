"""Successive halving over the settings of a small net for the valve readings."""
import multiprocessing as mp
import time
from multiprocessing.connection import wait

import numpy as np

RUNGS = (2, 5, 10, 18)


def readings():
    r = np.random.default_rng(31)
    x = r.normal(size=(24000, 20)).astype(np.float32)
    y = np.tanh(x[:, :5] @ r.normal(size=5)) * (x[:, 5] + 0.5 * x[:, 6] ** 2) + np.sin(2 * x[:, 7]) + 0.1 * r.normal(size=len(x))
    return x, y.astype(np.float32)[:, None]


def trial(link, cfg, data):
    x, y = data
    xt, yt, xv, yv = x[:20000], y[:20000], x[20000:], y[20000:]
    r = np.random.default_rng(cfg["id"])
    h = cfg["hidden"]
    w = [r.normal(size=s).astype(np.float32) * (1.4 / s[0]) ** 0.5 for s in ((20, h), (h, h), (h, 1))]
    b = [np.zeros(k, np.float32) for k in (h, h, 1)]
    m = [np.zeros_like(a) for a in w + b]
    v = [np.zeros_like(a) for a in w + b]
    n = 0
    for epoch in range(1, RUNGS[-1] + 1):
        for i in np.array_split(r.permutation(len(xt)), 200):
            n += 1
            a1 = np.maximum(xt[i] @ w[0] + b[0], 0)
            a2 = np.maximum(a1 @ w[1] + b[1], 0)
            e = (a2 @ w[2] + b[2] - yt[i]) * (2 / len(i))
            d2 = (e @ w[2].T) * (a2 > 0)
            d1 = (d2 @ w[1].T) * (a1 > 0)
            gs = [xt[i].T @ d1, a1.T @ d2, a2.T @ e, d1.sum(0), d2.sum(0), e.sum(0)]
            for q, g, mm, vv in zip(w + b, gs, m, v):
                mm += 0.1 * (g - mm)
                vv += 0.01 * (g * g - vv)
                q -= cfg["lr"] * (mm / (1 - 0.9**n)) / (np.sqrt(vv / (1 - 0.99**n)) + 1e-8)
        z = np.maximum(np.maximum(xv @ w[0] + b[0], 0) @ w[1] + b[1], 0) @ w[2] + b[2]
        link.send((epoch, float(((z - yv) ** 2).mean())))
    link.close()


def main():
    ctx = mp.get_context("fork")
    data = readings()
    r = np.random.default_rng(0)
    best, centre, spread = 9.0, np.log(3e-4), 1.2
    seen = {k: [] for k in RUNGS}
    running, made = {}, 0
    t0 = time.time()

    def say(text):
        print(f"{time.time() - t0:8.2f}  {text}", flush=True)

    while made < 900 or running:
        while len(running) < 2 and made < 900:
            cfg = {"id": made, "lr": float(np.exp(np.clip(r.normal(centre, spread), np.log(2e-5), np.log(4e-3)))), "hidden": int(r.choice([64, 128, 192]))}
            ours, theirs = ctx.Pipe(duplex=False)
            proc = ctx.Process(target=trial, args=(theirs, cfg, data), name=f"trial-{made}")
            proc.start()
            theirs.close()
            running[ours] = proc, cfg
            say(f"trial {made:03d} start   lr={cfg['lr']:.2e} hidden={cfg['hidden']} pid={proc.pid}")
            made += 1
        for link in wait(list(running)):
            proc, cfg = running[link]
            try:
                epoch, mse = link.recv()
            except EOFError:
                proc.join()
                say(f"trial {cfg['id']:03d} done")
                del running[link]
                continue
            say(f"trial {cfg['id']:03d} epoch {epoch:2d} mse {mse:.4f}")
            if mse < best:
                best, centre, spread = mse, np.log(cfg["lr"]), max(0.4, spread * 0.97)
                say(f"best so far: trial {cfg['id']:03d}, mse {best:.4f}")
            if epoch in seen:
                seen[epoch].append(mse)
                if len(seen[epoch]) > 2 and mse > np.quantile(seen[epoch], 0.4):
                    proc.terminate()
                    proc.join()
                    link.close()
                    say(f"trial {cfg['id']:03d} terminated at epoch {epoch} (exit code {proc.exitcode})")
                    del running[link]


if __name__ == "__main__":
    main()
