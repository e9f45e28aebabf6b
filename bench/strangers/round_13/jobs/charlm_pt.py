"""Modelo de linguagem por caracteres sobre a biblioteca padrão, DDP em dois processos."""
import glob
import os
import sysconfig
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

CTX, LOTE = 96, 12


class Bloco(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.at = nn.MultiheadAttention(d, 4, batch_first=True)
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 3 * d), nn.GELU(), nn.Linear(3 * d, d))

    def forward(self, x, m):
        h = self.n1(x)
        x = x + self.at(h, h, h, attn_mask=m, need_weights=False)[0]
        return x + self.mlp(self.n2(x))


class Modelo(nn.Module):
    def __init__(self, d=112):
        super().__init__()
        self.e, self.p = nn.Embedding(128, d), nn.Embedding(CTX, d)
        self.blocos = nn.ModuleList(Bloco(d) for _ in range(3))
        self.saida = nn.Linear(d, 128)
        self.register_buffer("m", torch.triu(torch.full((CTX, CTX), float("-inf")), 1))

    def forward(self, x):
        h = self.e(x) + self.p.weight
        for b in self.blocos:
            h = b(h, self.m)
        return self.saida(h)


def main():
    dist.init_process_group("gloo")
    r = dist.get_rank()
    texto = "".join(open(f, errors="ignore").read() for f in sorted(glob.glob(sysconfig.get_path("stdlib") + "/*.py"))[:60])
    dados = torch.tensor([min(ord(c), 127) for c in texto])
    corte = int(0.95 * len(dados))
    treino, valid = dados[:corte], dados[corte:]
    torch.manual_seed(0)
    modelo = DDP(Modelo(), broadcast_buffers=False)
    opt = torch.optim.AdamW(modelo.parameters(), lr=1e-3, weight_decay=0.05)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1, (s + 1) / 100) / (1 + s / 4000))
    g = torch.Generator().manual_seed(50 + r)

    def lote(d, gen):
        i = torch.randint(0, len(d) - CTX - 1, (LOTE,), generator=gen)
        b = torch.stack([d[k:k + CTX + 1] for k in i])
        return b[:, :-1], b[:, 1:]

    if r == 0:
        print(f"{len(treino)} caracteres de treino, {sum(p.numel() for p in modelo.parameters())} parâmetros")
    t = time.time()
    for passo in range(1, 100001):
        x, y = lote(treino, g)
        perda = nn.functional.cross_entropy(modelo(x).flatten(0, 1), y.flatten())
        opt.zero_grad()
        perda.backward()
        nn.utils.clip_grad_norm_(modelo.parameters(), 1.0)
        opt.step()
        sched.step()
        if passo % 10 == 0 and r == 0:
            print(f"passo {passo:6d} perda {perda.item():.3f} lr {sched.get_last_lr()[0]:.2e} {10 / (time.time() - t):.1f} passos/s")
            t = time.time()
        if passo % 150 == 0:
            modelo.eval()
            with torch.no_grad():
                ge = torch.Generator().manual_seed(9 + r)
                soma = sum(nn.functional.cross_entropy(modelo.module(x).flatten(0, 1), y.flatten())
                           for x, y in (lote(valid, ge) for _ in range(15)))
            dist.all_reduce(soma)
            modelo.train()
            if r == 0:
                print(f"== validação: {soma.item() / 30:.3f} nats/caractere")
                torch.save({"modelo": modelo.module.state_dict(), "passo": passo}, "ultimo.tmp")
                os.replace("ultimo.tmp", "ultimo.pt")
            dist.barrier()
            t = time.time()


if __name__ == "__main__":
    main()
