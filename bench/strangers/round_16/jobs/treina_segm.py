"""Segmentação de folhas: U-Net pequena, DDP na CPU (torchrun)."""
import logging
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s - %(message)s", datefmt="%d/%m/%Y %H:%M:%S")
log = logging.getLogger(f"folhas.p{os.environ.get('RANK', '0')}")


class Folhas(Dataset):
    def __init__(self, n, semente):
        self.n, self.semente = n, semente

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(self.semente * 100003 + i)
        yy, xx = torch.meshgrid(torch.linspace(-1, 1, 64), torch.linspace(-1, 1, 64), indexing="ij")
        cx, cy, r = (torch.rand(3, generator=g) * torch.tensor([1.0, 1.0, 0.4]) - torch.tensor([0.5, 0.5, -0.2])).tolist()
        m = (((xx - cx) ** 2 + (yy - cy) ** 2) < r**2).float()
        img = m * 0.7 + torch.randn(3, 64, 64, generator=g) * 0.4
        return img, m


def bloco(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.Conv2d(b, b, 3, padding=1), nn.ReLU())


class UNet(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.d1, self.d2, self.m = bloco(3, c), bloco(c, 2 * c), bloco(2 * c, 4 * c)
        self.u2, self.u1, self.fim = bloco(6 * c, 2 * c), bloco(3 * c, c), nn.Conv2d(c, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        m = self.m(F.max_pool2d(b, 2))
        b = self.u2(torch.cat([F.interpolate(m, scale_factor=2), b], 1))
        a = self.u1(torch.cat([F.interpolate(b, scale_factor=2), a], 1))
        return self.fim(a).squeeze(1)


def reune(valor):
    """Junta um valor por processo."""
    lista = [torch.zeros_like(valor) for _ in range(dist.get_world_size())]
    dist.all_gather(lista, valor)
    return torch.stack(lista)


@torch.no_grad()
def valida(rede, dados):
    rede.eval()
    inter = uniao = 0.0
    for x, m in dados:
        p = rede.module(x) > 0
        inter += (p & (m > 0.5)).sum().item()
        uniao += (p | (m > 0.5)).sum().item()
    rede.train()
    soma = reune(torch.tensor([inter, uniao])).sum(0)
    return (soma[0] / soma[1]).item()


def main():
    dist.init_process_group("gloo")
    posto = dist.get_rank()
    torch.manual_seed(1)
    treino = Folhas(4000, 1)
    amostra = DistributedSampler(treino, shuffle=True)
    dados = DataLoader(treino, batch_size=16, sampler=amostra)
    dados_val = DataLoader(Folhas(96, 2), batch_size=16)
    rede = DDP(UNet())
    opt = torch.optim.SGD(rede.parameters(), lr=0.02, momentum=0.9)
    passo, melhor = 0, 0.0
    for epoca in range(50):
        amostra.set_epoch(epoca)
        for x, m in dados:
            perda = F.binary_cross_entropy_with_logits(rede(x), m)
            opt.zero_grad()
            perda.backward()
            opt.step()
            passo += 1
            if passo % 10 == 0:
                log.info("época %d passo %d perda %.4f", epoca, passo, perda.item())
            if passo % 60 == 0 and posto == 0:
                log.info("validação no passo %d", passo)
                iou = valida(rede, dados_val)
                if iou > melhor:
                    melhor = iou
                    torch.save(rede.module.state_dict(), "melhor.pt")
                log.info("IoU %.4f (melhor %.4f)", iou, melhor)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
