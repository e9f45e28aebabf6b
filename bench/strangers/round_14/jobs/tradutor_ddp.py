"""Tradutor de datas por extenso -> ISO (seq2seq pequeno), DDP via torchrun."""
import logging
import math
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="[%(asctime)s] %(message)s")


class Tradutor(nn.Module):
    def __init__(self, d=96, v=64):
        super().__init__()
        self.e = nn.Embedding(v, d)
        self.pos = nn.Parameter(torch.randn(1, 24, d) * 0.02)
        self.t = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, 4, 192, dropout=0.1, batch_first=True), 3)
        self.s = nn.Linear(d, v)

    def forward(self, x):
        return self.s(self.t(self.e(x) + self.pos))


def lote(g, n=32):
    x = torch.randint(0, 64, (n, 24), generator=g)
    y = (x.flip(1) * 5 + 3) % 64
    return x, y


def avaliar(modelo, posto):
    g = torch.Generator().manual_seed(999 + posto)
    modelo.eval()
    certo = torch.zeros(2)
    with torch.no_grad():
        for _ in range(20):
            x, y = lote(g)
            certo += torch.tensor([(modelo(x).argmax(-1) == y).sum().item(), y.numel()])
    modelo.train()
    dist.all_reduce(certo)
    return (certo[0] / certo[1]).item()


dist.init_process_group("gloo")
posto, mundo = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
rede = Tradutor()
modelo = DDP(rede)
opt = torch.optim.AdamW(modelo.parameters(), lr=1e-3)
agenda = torch.optim.lr_scheduler.LambdaLR(opt, lambda i: min((i + 1) / 200, 1) * 0.5 * (1 + math.cos(math.pi * min(i / 40000, 1))))
g = torch.Generator().manual_seed(posto)
inicio = time.time()
for passo in range(1, 40001):
    x, y = lote(g)
    perda = nn.functional.cross_entropy(modelo(x).transpose(1, 2), y)
    opt.zero_grad()
    perda.backward()
    norma = nn.utils.clip_grad_norm_(modelo.parameters(), 1.0)
    opt.step()
    agenda.step()
    if passo % 20 == 0 and posto == 0:
        logging.info("passo %d/40000 perda=%.4f norma=%.3f lr=%.2e (%.1f s)", passo, perda.item(), norma, agenda.get_last_lr()[0], time.time() - inicio)
    if passo % 250 == 0:
        nota = avaliar(rede, posto)
        if posto == 0:
            logging.info("avaliacao: acerto %.4f", nota)
            torch.save({"modelo": rede.state_dict(), "passo": passo}, "tradutor.tmp")
            os.replace("tradutor.tmp", "tradutor.pt")
        dist.barrier()
