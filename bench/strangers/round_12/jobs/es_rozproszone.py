"""Rozproszone strategie ewolucyjne: procesy wymieniają wyniki przez wspólny katalog."""
import argparse
import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

SHARE = Path("wymiana")
POP = 24


REGIONS = {0: [0.7, 0.3, 0.0], 1: [0.6, 0.4, 0.0], 2: [0.5, 0.499, 0.001]}


def make_track(seed, region):
    rng = np.random.default_rng(seed)
    kind = rng.choice(["asfalt", "szuter", "lod"], p=REGIONS[region])
    return {"nawierzchnia": kind, "profil": rng.normal(size=(180, 12))}


FRICTION = {"asfalt": 0.9, "szuter": 0.55}


def drive(theta, track):
    mu = FRICTION[track["nawierzchnia"]]
    w = theta[:144].reshape(12, 12)
    v = theta[144:156]
    state = np.zeros(12)
    reward = 0.0
    for row in track["profil"]:
        state = np.tanh(w @ state * 0.5 + row)
        reward -= (float(v @ state) - mu * float(row[:3].sum())) ** 2
    return reward / len(track["profil"])


def wait_for(path):
    while not path.exists():
        time.sleep(0.05)
    return np.load(path)


def worker(rank, world):
    os.makedirs("logs", exist_ok=True)
    logging.basicConfig(
        filename=f"logs/proces{rank}.log", level=logging.INFO, format="%(asctime)s %(levelname)s [%(process)d] %(message)s"
    )
    log = logging.getLogger("es")
    theta = np.zeros(156)
    sigma, alpha = 0.08, 0.03
    for gen in range(100000):
        start = time.time()
        rng = np.random.default_rng(gen * 100 + rank)
        noise = rng.normal(size=(POP, theta.size))
        tracks = [make_track(gen * 1000 + rank * 100 + i + 31, rank) for i in range(POP)]
        scores = np.array([drive(theta + sigma * n, t) for n, t in zip(noise, tracks)])
        tmp = SHARE / f".tmp_{gen:05d}_{rank}.npz"
        np.savez(tmp, noise=noise, scores=scores)
        os.replace(tmp, SHARE / f"pok{gen:05d}_{rank}.npz")
        parts = [wait_for(SHARE / f"pok{gen:05d}_{r}.npz") for r in range(world)]
        scores = np.concatenate([p["scores"] for p in parts])
        noise = np.concatenate([p["noise"] for p in parts])
        ranked = (scores.argsort().argsort() / (len(scores) - 1)) - 0.5
        theta = theta + alpha / sigma * (ranked @ noise) / len(scores)
        if gen % 5 == 0:
            log.info("pokolenie %d nagroda %.4f najlepsza %.4f czas %.2fs", gen, scores.mean(), scores.max(), time.time() - start)
        if rank == 0 and gen > 3:
            for r in range(world):
                (SHARE / f"pok{gen - 3:05d}_{r}.npz").unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--procesy", type=int, default=3)
    args = parser.parse_args()
    if "RANK" in os.environ:
        worker(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
        return
    SHARE.mkdir(exist_ok=True)
    os.makedirs("logs", exist_ok=True)
    procs = []
    for r in range(args.procesy):
        env = dict(os.environ, RANK=str(r), WORLD_SIZE=str(args.procesy))
        err = open(f"logs/proces{r}.err", "w")
        procs.append(subprocess.Popen([sys.executable, __file__], env=env, stdout=err, stderr=err))
    print(f"uruchomiono {len(procs)} procesów, logi w katalogu logs/")
    for p in procs:
        p.wait()


if __name__ == "__main__":
    main()
