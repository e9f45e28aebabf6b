"""Factors of listeners and songs, trained by processes that own a part of the listeners each. Only numpy.

Writes step,seconds,rmse as CSV to stdout.
"""
import multiprocessing as mp
import signal
import time

import numpy as np

LISTENERS, SONGS, DIM, PARTS = 120_000, 1_000, 32, 2
ACTIVE = 3_000
MOMENTUM, RATE = 0.94, 0.02


def plays(rng, taste, songs, step, part):
    """The first steps replay the archive of all listeners, the later ones those of this month."""
    pool = LISTENERS // PARTS if step < 60 else ACTIVE // PARTS
    who = rng.integers(0, pool, 1024)
    what = rng.integers(0, SONGS, 1024)
    truth = np.einsum("nd,nd->n", taste[who], songs[what]) + 0.1 * rng.normal(size=1024)
    return who, what, truth.astype(np.float32)


def owner(part, pipe):
    signal.alarm(300)
    rng = np.random.default_rng(part)
    taste = rng.normal(scale=0.4, size=(LISTENERS // PARTS, DIM)).astype(np.float32)
    hidden = np.random.default_rng(99).normal(scale=0.4, size=(SONGS, DIM)).astype(np.float32)
    users = rng.normal(scale=0.1, size=taste.shape).astype(np.float32)
    velocity = np.zeros_like(users)
    while True:
        message = pipe.recv()
        if message is None:
            return
        step, songs = message
        who, what, truth = plays(rng, taste, hidden, step, part)
        error = np.einsum("nd,nd->n", users[who], songs[what]) - truth
        slope = np.zeros_like(users)
        np.add.at(slope, who, error[:, None] * songs[what])
        velocity *= np.float32(MOMENTUM)
        velocity += slope
        users -= np.float32(RATE) * velocity
        back = np.zeros_like(songs)
        np.add.at(back, what, error[:, None] * users[who])
        pipe.send((float(np.mean(error**2)), back / len(who)))


def main():
    signal.alarm(300)
    pipes, owners = [], []
    for part in range(PARTS):
        here, there = mp.Pipe()
        process = mp.Process(target=owner, args=(part, there), daemon=True)
        process.start()
        pipes.append(here)
        owners.append(process)
    songs = np.random.default_rng(1).normal(scale=0.1, size=(SONGS, DIM)).astype(np.float32)
    begin = time.time()
    step = 0
    print("step,seconds,rmse", flush=True)
    while time.time() - begin < 190:
        start = time.perf_counter()
        for pipe in pipes:
            pipe.send((step, songs))
        answers = [pipe.recv() for pipe in pipes]
        songs -= np.float32(2.0) * np.mean([a[1] for a in answers], axis=0, dtype=np.float32)
        step += 1
        if step % 10 == 0:
            rmse = np.sqrt(np.mean([a[0] for a in answers]))
            print(f"{step},{time.perf_counter() - start:.4f},{rmse:.5f}", flush=True)
    for pipe in pipes:
        pipe.send(None)


if __name__ == "__main__":
    main()
