"""Two simulated shops, one learner; sales arrive in rounds."""
import logging
import time

import numpy as np
import ray

logging.basicConfig(level=logging.INFO, format="[%(asctime)s] %(message)s")


@ray.remote(num_cpus=1)
class Shop:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.truth = np.random.default_rng(0).standard_normal((12, 40)) * 0.15

    def sell(self, weights, hidden, rounds):
        xs, arms, pay = [], [], []
        for _ in range(rounds):
            x = self.rng.standard_normal(40)
            score = weights @ np.tanh(hidden @ x)
            arm = int(self.rng.integers(12)) if self.rng.random() < 0.15 else int(score.argmax())
            xs.append(x)
            arms.append(arm)
            pay.append(float(np.sin(self.truth[arm] @ x) + 0.3 * self.rng.standard_normal()))
        return np.array(xs), np.array(arms), np.array(pay)


def main():
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=80 * 2 ** 20, log_to_driver=True, configure_logging=False)
    shops = [Shop.remote(s) for s in (1, 2)]
    rng = np.random.default_rng(3)
    hidden = rng.standard_normal((64, 40)) / 6
    weights = np.zeros((12, 64))
    for rnd in range(1, 10 ** 6):
        began = time.time()
        jobs = [s.sell.remote(weights, hidden, int(rng.integers(3000, 9000))) for s in shops]
        xs, arms, pay = (np.concatenate(p) for p in zip(*ray.get(jobs)))
        err = 0.0
        for i in rng.permutation(len(xs)):
            h = np.tanh(hidden @ xs[i])
            e = pay[i] - weights[arms[i]] @ h
            weights[arms[i]] += 0.00001 * e * h
            err += e * e
        logging.info("round %d: %d sales, reward %.4f, mse %.4f (%.2fs)", rnd, len(xs), pay.mean(), err / len(xs), time.time() - began)
        if rnd % 10 == 0:
            np.savez("bandit.npz", weights=weights, hidden=hidden)


main()
