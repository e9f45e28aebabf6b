"""Αναγνώριση εντολών ομιλίας, προτάσεις διαφορετικού μήκους (DDP με gloo)."""
import logging
import os
import signal
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

signal.alarm(310)
DIARKEIA = 185


class Entoles(Dataset):
    def __len__(self):
        return 3000

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        mikos = int(torch.randint(20, 90, (1,), generator=g))
        y = i % 10
        x = torch.randn(mikos, 20, generator=g)
        x[:, y] += 0.3
        if torch.rand(1, generator=g) < 0.1:
            y = int(torch.randint(0, 10, (1,), generator=g))
        return x, y


def enose(lista):
    x = nn.utils.rnn.pad_sequence([a for a, _ in lista], batch_first=True)
    return x, torch.tensor([len(a) for a, _ in lista]), torch.tensor([b for _, b in lista])


class Diktyo(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(20, 96, batch_first=True)
        self.telos = nn.Linear(96, 10)

    def forward(self, x, mikos):
        h, _ = self.gru(x)
        maska = (torch.arange(x.shape[1])[None] < mikos[:, None]).float()[..., None]
        return self.telos((h * maska).sum(1) / mikos[:, None])


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s [διεργασία {rank}] %(message)s",
                        handlers=[logging.FileHandler(f"katagrafi_{rank}.log")] + ([logging.StreamHandler()] if rank == 0 else []))
    torch.manual_seed(3)
    dikt = DistributedDataParallel(Diktyo())
    opt = torch.optim.Adam(dikt.parameters(), lr=1e-3)
    data = Entoles()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=24, sampler=sampler, num_workers=2, collate_fn=enose, persistent_workers=True)
    arxi, vima, epoxi, synexeia = time.time(), 0, 0, torch.ones(1)
    while synexeia.item():
        sampler.set_epoch(epoxi)
        for x, mikos, y in loader:
            apoleia = nn.functional.cross_entropy(dikt(x, mikos), y)
            opt.zero_grad()
            apoleia.backward()
            opt.step()
            vima += 1
            if vima % 20 == 0:
                logging.info("βήμα %d απώλεια %.4f", vima, apoleia.item())
        if rank == 0:
            torch.save({"diktyo": dikt.module.state_dict(), "vima": vima}, "teleftaio.pt.tmp")
            os.replace("teleftaio.pt.tmp", "teleftaio.pt")
        logging.info("τέλος εποχής %d", epoxi)
        epoxi += 1
        synexeia = torch.tensor([float(time.time() - arxi < DIARKEIA)])
        dist.broadcast(synexeia, 0)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
