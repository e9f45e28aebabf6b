"""Online topic model of a news stream. Articles too close to one seen before are left out of the update."""

import datetime as dt

import numpy as np

FEATURES, TOPICS = 600, 24


class Seen:
    """All articles so far, as unit vectors of 64 random projections."""

    def __init__(self, rng):
        self.project = rng.normal(size=(FEATURES, 64)).astype("float32")
        self.rows = []

    def novel(self, articles):
        keys = articles @ self.project
        keys /= np.linalg.norm(keys, axis=1, keepdims=True)
        keep = []
        for n, key in enumerate(keys):
            if all(float(old @ key) < 0.995 for old in self.rows):
                keep.append(n)
                self.rows.append(key)
        return articles[keep]


class Topics:
    """Online non-negative factorisation."""

    def __init__(self, rng):
        self.w = rng.random((TOPICS, FEATURES)).astype("float32")
        self.a = np.zeros((TOPICS, TOPICS), "float32")
        self.b = np.zeros((TOPICS, FEATURES), "float32")

    def codes(self, x, rounds=60):
        h = np.full((len(x), TOPICS), 0.1, "float32")
        top, gram = x @ self.w.T, self.w @ self.w.T
        for _ in range(rounds):
            h *= top / (h @ gram + 1e-6)
        return h

    def update(self, x):
        h = self.codes(x)
        error = float(((x - h @ self.w) ** 2).mean())
        self.a = 0.98 * self.a + h.T @ h
        self.b = 0.98 * self.b + h.T @ x
        for _ in range(10):
            self.w *= self.b / (self.a @ self.w + 1e-6)
        return error


def stream(rng, n=12):
    true = rng.gamma(0.1, size=(40, FEATURES))
    while True:
        mix = rng.dirichlet(np.full(40, 0.1), size=n)
        yield rng.poisson(8 * mix @ true).astype("float32")


def main():
    rng = np.random.default_rng(4)
    seen, topics = Seen(rng), Topics(rng)
    clock = dt.datetime.now
    since = clock()
    for batch, articles in enumerate(stream(rng), 1):
        fresh = seen.novel(articles)
        if len(fresh):
            error = topics.update(fresh)
        if batch % 10 == 0:
            took = (clock() - since).total_seconds() / 10
            since = clock()
            print(f"{since:%H:%M:%S} batch {batch} error {error:.4f} fresh {len(fresh)} {took:.3f} s/batch", flush=True)


main()
