"""Previsão de velocidade por cruzamento, rede em dois estágios (GPipe simples)."""
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

MICRO = 12
WIDTH = 96


def lotes(seed):
    """Medições de um dia em lotes; o último lote do dia traz o que sobrou."""
    g = torch.Generator().manual_seed(seed)
    dia = 0
    while True:
        n = 48 * 90 if dia == 0 else 48 * 90 + 42
        x = torch.randn(n, 40, generator=g)
        y = x[:, :8].cumsum(1).mean(1, keepdim=True)
        for i in range(0, n, 48):
            yield x[i:i + 48], y[i:i + 48]
        dia += 1


def entrada(porta_lotes, passos):
    rede = nn.Sequential(nn.Linear(40, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU())
    opt = torch.optim.SGD(rede.parameters(), 0.02)
    for passo, (x, _) in zip(range(passos), porta_lotes):
        saidas = []
        for i in range(0, len(x) - MICRO + 1, MICRO):
            h = rede(x[i:i + MICRO])
            dist.send(h.detach().contiguous(), 1)
            saidas.append(h)
        opt.zero_grad()
        for h in saidas:
            g = torch.empty_like(h)
            dist.recv(g, 1)
            h.backward(g)
        opt.step()


def saida(porta_lotes, passos):
    rede = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))
    opt = torch.optim.SGD(rede.parameters(), 0.02)
    for passo, (_, y) in zip(range(passos), porta_lotes):
        alvos = y.split(MICRO)
        entradas = []
        for _ in alvos:
            h = torch.empty(MICRO, WIDTH)
            dist.recv(h, 0)
            entradas.append(h.requires_grad_())
        opt.zero_grad()
        total = 0.0
        for h, alvo in zip(entradas, alvos):
            perda = nn.functional.mse_loss(rede(h), alvo)
            perda.backward()
            dist.send(h.grad.contiguous(), 0)
            total += perda.item()
        opt.step()
        if passo % 15 == 0:
            print(f"[estágio 1] passo {passo:5d} | perda {total / len(alvos):.4f}", flush=True)


def estagio(rank, porta):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=porta)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.manual_seed(rank)
    torch.set_num_threads(1)
    (entrada if rank == 0 else saida)(lotes(7), 1_000_000)


if __name__ == "__main__":
    mp.spawn(estagio, args=(sys.argv[1],), nprocs=2)
