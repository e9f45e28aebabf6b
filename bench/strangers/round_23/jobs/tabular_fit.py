import os

import numpy as np
import torch
import torch.distributed as dist
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

node, rank = os.environ["NODE"], int(os.environ["RANK"])
x, y = make_classification(40000, 60, n_informative=30, n_classes=4, random_state=1)
x = StandardScaler().fit_transform(x).astype(np.float32)
print(f"{node}: table of {x.shape[0]} rows prepared, joining the group", flush=True)
dist.init_process_group("gloo")
x, y = torch.from_numpy(x[rank :: dist.get_world_size()]), torch.from_numpy(y[rank :: dist.get_world_size()])
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(60, 256), torch.nn.ReLU(), torch.nn.Linear(256, 4)))
opt = torch.optim.Adam(net.parameters(), 1e-3)
for epoch in range(1000):
    for idx in torch.randperm(len(x)).split(256):
        loss = torch.nn.functional.cross_entropy(net(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"{node}: epoch {epoch} loss {loss.item():.4f}", flush=True)
