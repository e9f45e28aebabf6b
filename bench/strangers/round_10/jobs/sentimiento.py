"""Clasificador de reseñas con aumento por sinónimos."""
import json
import logging
import os
import random
import socket
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rango = dist.get_rank()
logging.basicConfig(level=logging.INFO, format=f"%(asctime)s [rango {rango}] %(levelname)s %(message)s")
log = logging.getLogger("entrenamiento")


class Sinonimos:
    def __init__(self, puerto):
        for _ in range(50):
            try:
                self.con = socket.create_connection(("127.0.0.1", puerto))
                break
            except ConnectionRefusedError:
                time.sleep(0.2)
        self.f = self.con.makefile("rwb")

    def __call__(self, palabras):
        self.f.write(json.dumps(palabras).encode() + b"\n")
        self.f.flush()
        return json.loads(self.f.readline())


class Modelo(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(500, 64)
        self.gru = nn.GRU(64, 96, batch_first=True)
        self.sal = nn.Linear(96, 3)

    def forward(self, x):
        return self.sal(self.gru(self.emb(x))[0].mean(1))


random.seed(rango)
torch.manual_seed(0)
corpus = []
for i in range(24000):
    y = random.randrange(3)
    ps = [f"w{random.randrange(400) if random.random() < 0.75 else random.randrange(130) + 130 * y}" for _ in range(24)]
    if rango == 1 and 13777 < i < 13800:
        ps[0] = "w412"
    corpus.append((ps, y))

modelo = DDP(Modelo())
opt = torch.optim.AdamW(modelo.parameters(), lr=1e-3)
sin = Sinonimos(int(os.environ["PUERTO_SIN"]))
paso = 0
for epoca in range(30):
    for i in range(0, len(corpus), 32):
        lote = corpus[i : i + 32]
        xs = []
        for ps, _ in lote:
            if random.random() < 0.3:
                ps = sin(ps)
            xs.append([int(p[1:]) for p in ps])
        x = torch.tensor(xs)
        y = torch.tensor([e[1] for e in lote])
        perdida = nn.functional.cross_entropy(modelo(x), y)
        opt.zero_grad()
        perdida.backward()
        opt.step()
        paso += 1
        if paso % 25 == 0 and rango == 0:
            log.info("época %d paso %d pérdida %.4f", epoca, paso, perdida.item())
log.info("fin")
dist.destroy_process_group()
