"""Mauvaises herbes : recherche d'hyperparamètres par élimination (un processus par essai)."""
import concurrent.futures as cf
import multiprocessing as mp
import os
import time
import warnings

import numpy as np
from sklearn.metrics import log_loss
from sklearn.neural_network import MLPClassifier

warnings.filterwarnings("ignore")
CLASSES = 6


def leaves(n, seed):
    rng = np.random.default_rng(seed)
    centre = np.random.default_rng(77).normal(0, 1, (CLASSES, 3, 96))
    k, sub = rng.integers(0, CLASSES, n), rng.integers(0, 3, n)
    return (centre[k, sub] * 0.5 + rng.normal(0, 1.0, (n, 96))).astype(np.float32), k


def trial(number, params, passes):
    x, k = leaves(6000, 1)
    vx, vk = leaves(1500, 2)
    net = MLPClassifier(hidden_layer_sizes=(params["width"],) * 2, alpha=params["alpha"], learning_rate_init=params["lr"], batch_size=64, random_state=number)
    for p in range(passes):
        net.partial_fit(x, k, classes=range(CLASSES))
        if p % 2 == 0:
            print(f"  essai {number:02d} [pid {os.getpid()}] passe {p:02d} perte {net.loss_:.4f}", flush=True)
    return number, log_loss(vk, net.predict_proba(vx), labels=range(CLASSES))


def main():
    rng = np.random.default_rng(0)
    number, tour = 0, 0
    best = None
    with cf.ProcessPoolExecutor(2, mp_context=mp.get_context("spawn"), max_tasks_per_child=1) as pool:
        while True:
            tour += 1
            field = {}
            for _ in range(4):
                number += 1
                field[number] = dict(width=int(rng.choice([128, 192, 256])), lr=float(10 ** rng.uniform(-4.3, -3.6)), alpha=float(10 ** rng.uniform(-3, 0)))
            passes = 10
            while field:
                t0 = time.time()
                done = [f.result() for f in [pool.submit(trial, n, p, passes) for n, p in field.items()]]
                done.sort(key=lambda r: r[1])
                print(f"tour {tour}: {len(field)} essais x {passes} passes en {time.time() - t0:.1f} s, meilleur n° {done[0][0]} log-perte {done[0][1]:.4f}", flush=True)
                if best is None or done[0][1] < best[1]:
                    best = done[0]
                    print(f"  nouveau record : n° {best[0]} ({best[1]:.4f})", flush=True)
                if len(field) == 1:
                    break
                field = {n: field[n] for n, _ in done[: len(field) // 2]}
                passes *= 2


if __name__ == "__main__":
    main()
