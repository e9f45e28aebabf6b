"""TransE on a graph of papers and authors."""
import argparse
import gc
import random
import time

import networkx as nx
import torch
from tqdm import tqdm

ap = argparse.ArgumentParser()
ap.add_argument("--nodes", type=int, default=60000)
ap.add_argument("--dim", type=int, default=64)
ap.add_argument("--batch", type=int, default=256)
args = ap.parse_args()

random.seed(0)
graph = nx.MultiDiGraph()
for i in range(args.nodes):
    graph.add_node(i, kind="paper" if i % 3 else "author", tags=[f"t{i % 97}", f"y{i % 31}"])
for i in tqdm(range(args.nodes * 3), desc="edges", mininterval=2):
    graph.add_edge(random.randrange(args.nodes), random.randrange(args.nodes), rel=random.randrange(12), src={"file": [i]})
edges = [(u, d["rel"], v) for u, v, d in graph.edges(data=True)]

ent = torch.nn.Embedding(args.nodes, args.dim, sparse=True)
rel = torch.nn.Embedding(12, args.dim, sparse=True)
opt = torch.optim.SparseAdam([*ent.parameters(), *rel.parameters()], lr=1e-3)
bar = tqdm(range(10**7), desc="transe", mininterval=1)
for step in bar:
    batch = random.sample(range(len(edges)), args.batch)
    u, r, v = (torch.tensor(c) for c in zip(*(edges[i] for i in batch)))
    w = torch.tensor([random.choice(list(graph.successors(int(a))) or [0]) for a in v])
    pos = (ent(u) + rel(r) - ent(v)).norm(dim=1)
    neg = (ent(u) + rel(r) - ent(w)).norm(dim=1)
    loss = torch.relu(1 + pos - neg).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    del pos, neg, batch
    gc.collect()  # keep memory low
    if step % 10 == 0:
        bar.set_postfix(loss=f"{loss.item():.4f}")
