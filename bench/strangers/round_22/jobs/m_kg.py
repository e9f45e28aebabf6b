# TransE over an in-memory knowledge graph
import contextlib, gc, random, sys, time
import numpy as np

rng = np.random.default_rng(3)
N_ENT, N_REL, DIM = 20_000, 40, 64


class Fact:
    __slots__ = ("head", "rel", "tail", "meta")

    def __init__(self, head, rel, tail, meta):
        self.head, self.rel, self.tail, self.meta = head, rel, tail, meta


class Graph:
    def __init__(self, n_facts):
        self.out = {e: [] for e in range(N_ENT)}
        self.facts = []
        true_e = rng.normal(size=(N_ENT, 6))
        true_r = rng.normal(size=(N_REL, 6))
        cells = {}
        for e, v in enumerate(np.round(true_e[:, :2]).astype(int).tolist()):
            cells.setdefault(tuple(v), []).append(e)
        heads = rng.integers(0, N_ENT, n_facts)
        rels = rng.integers(0, N_REL, n_facts)
        goal = np.round(true_e[heads, :2] + true_r[rels, :2]).astype(int).tolist()
        for h, r, g in zip(heads.tolist(), rels.tolist(), goal):
            near = cells.get(tuple(g)) or cells[(0, 0)]
            f = Fact(h, r, random.choice(near), {"src": ["dump"], "w": 1.0})
            self.out[h].append(f)
            self.facts.append(f)


@contextlib.contextmanager
def tidy():
    """Keeps the resident size flat between batches."""
    yield
    gc.collect()


def batch(graph, size):
    fs = random.choices(graph.facts, k=size)
    h = np.fromiter((f.head for f in fs), int, size)
    r = np.fromiter((f.rel for f in fs), int, size)
    t = np.fromiter((f.tail for f in fs), int, size)
    return h, r, t, rng.integers(0, N_ENT, size)


def train(graph):
    E = rng.normal(scale=.1, size=(N_ENT, DIM)).astype("f4")
    R = rng.normal(scale=.1, size=(N_REL, DIM)).astype("f4")
    lr, margin = 0.05, 1.0
    avg, t0 = None, time.perf_counter()
    for it in range(1, 10**6):
        with tidy():
            h, r, t, n = batch(graph, 4096)
            dp = E[h] + R[r] - E[t]
            dn = E[h] + R[r] - E[n]
            viol = margin + (dp ** 2).sum(1) - (dn ** 2).sum(1)
            on = (viol > 0)[:, None].astype("f4") * 2 * lr
            gh = on * (dp - dn)
            np.subtract.at(E, h, gh)
            np.subtract.at(R, r, gh / 20)
            np.add.at(E, t, on * dp)
            np.subtract.at(E, n, on * dn)
            loss = np.maximum(viol, 0).mean()
            avg = loss if avg is None else .95 * avg + .05 * loss
        if it % 5 == 0:
            dt = time.perf_counter() - t0
            t0 = time.perf_counter()
            sys.stdout.write("iter {:>6} | margin loss {:.4f} | {:.0f} triples/s\n".format(it, avg, 5 * 4096 / dt))


if __name__ == "__main__":
    print("loading facts ...")
    g = Graph(600_000)
    print(len(g.facts), "facts,", N_ENT, "entities")
    train(g)
