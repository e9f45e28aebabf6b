"""Healthy: a learner that waits most of the time for two actor processes, which step their worlds on the CPU (no torch). Two jobs of
this kind, by people who had not read the rules, were healthy; that the learner waits is an info finding.

Symptom: none. Start: python.
"""

import multiprocessing as mp
import os
import random
import signal
import time

signal.alarm(300)


def simulate(state, steps):
    for _ in range(steps):
        state = [(x * 1.01 + 0.1) % 3.0 for x in state]
    return state


def actor(rollouts, parent):
    state = [random.random() for _ in range(400)]
    while os.getppid() == parent:
        state = simulate(state, 9000)
        rollouts.put(state)


class Learner:
    def __init__(self, rollouts):
        self.rollouts, self.weights = rollouts, [0.0] * 400

    def collect_rollout(self):
        return self.rollouts.get()

    def update(self, rollout):
        for i, x in enumerate(rollout):
            self.weights[i] += 0.01 * (x - self.weights[i])
        time.sleep(0.05)
        return sum(abs(x - w) for x, w in zip(rollout, self.weights, strict=True)) / 400


def main():
    rollouts = mp.Queue(maxsize=4)
    actors = [mp.Process(target=actor, args=(rollouts, os.getpid()), name=f"actor-{i}", daemon=True) for i in range(2)]
    for one in actors:
        one.start()
    learner = Learner(rollouts)
    for update in range(1, 100_000):
        loss = learner.update(learner.collect_rollout())
        print(f"update {update} policy_loss {loss:.4f} mean_reward {10 - loss:.2f}", flush=True)


if __name__ == "__main__":
    main()
