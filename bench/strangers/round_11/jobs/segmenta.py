"""Segmentação de tomografias sintéticas em dois processos."""
import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn


def rede():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
        nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
        nn.Conv2d(16, 1, 1),
    )


def lote(ger, n=8):
    x = torch.randn(n, 1, 48, 48, generator=ger) * 0.3
    y = torch.zeros_like(x)
    for i in range(n):
        a, b = torch.randint(4, 28, (2,), generator=ger).tolist()
        y[i, :, a:a + 14, b:b + 14] = 1
    return x + y * 0.7, y


def media_gradientes(modelo, grupo):
    for p in modelo.parameters():
        dist.all_reduce(p.grad, group=grupo)
        p.grad /= dist.get_world_size()


def processo(rank, mundo):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="31102")
    dist.init_process_group("gloo", rank=rank, world_size=mundo)
    grupo_treino = dist.new_group(list(range(mundo)))
    grupo_salvar = dist.new_group(list(range(mundo)))
    torch.manual_seed(7)
    modelo = rede()
    opt = torch.optim.SGD(modelo.parameters(), lr=0.03, momentum=0.9)
    perda_fn = nn.BCEWithLogitsLoss()
    ger = torch.Generator().manual_seed(100 + rank)
    validacao = [lote(torch.Generator().manual_seed(rank * 10 + k)) for k in range(4)]
    melhor = float("inf")
    for passo in range(1, 100000):
        x, y = lote(ger)
        perda = perda_fn(modelo(x), y)
        opt.zero_grad()
        perda.backward()
        media_gradientes(modelo, grupo_treino)
        opt.step()
        if rank == 0 and passo % 20 == 0:
            print(f"passo {passo:6d}  perda {perda.item():.4f}", flush=True)
        if passo % 60 == 0:
            modelo.eval()
            with torch.no_grad():
                val = sum(perda_fn(modelo(a), b).item() for a, b in validacao) / len(validacao)
            modelo.train()
            print(f"[proc {rank}] validação passo {passo}: {val:.4f} (melhor {melhor:.4f})", flush=True)
            if val < melhor - 0.002:
                melhor = val
                if rank == 0:
                    torch.save(modelo.state_dict(), "melhor.pt")
                dist.barrier(group=grupo_salvar)


if __name__ == "__main__":
    mp.spawn(processo, args=(2,), nprocs=2)
