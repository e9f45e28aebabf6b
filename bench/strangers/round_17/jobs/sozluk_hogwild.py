"""Kelime vektörleri: süreçler ortak tabloyu kilitle günceller (hogwild), ara sıra tablo sıkıştırılır."""
import ctypes
import faulthandler
import os
import random
import resource
import signal
import time

import torch
import torch.multiprocessing as mp

KELIME, BOYUT = 6000, 64
libc = ctypes.CDLL(None)


def sikistir(tablo, kullanim, canli):
    """Sık kullanılan satırlar öne alınır."""
    sira = kullanim.argsort(descending=True)[:canli]
    yeni = tablo[sira].contiguous()
    libc.memcpy(tablo.data_ptr(), yeni.data_ptr(), yeni.numel() * yeni.element_size())
    kullanim[:canli] = kullanim[sira]


def isci(no, tablo, kullanim, kilit):
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(260)
    torch.set_num_threads(1)
    torch.manual_seed(no)
    rnd = random.Random(no)
    for adim in range(1, 100_000):
        merkez = torch.randint(0, KELIME, (256,))
        komsu = (merkez + torch.randint(1, 5, (256,))) % KELIME
        uzak = torch.randint(0, KELIME, (256,))
        m, k, u = tablo[merkez], tablo[komsu], tablo[uzak]
        arti = torch.sigmoid(-(m * k).sum(1, keepdim=True))
        eksi = torch.sigmoid((m * u).sum(1, keepdim=True))
        kayip = -(torch.log(1 - arti + 1e-6) + torch.log(1 - eksi + 1e-6)).mean().item()
        with kilit:
            tablo.index_add_(0, merkez, 0.05 * (arti * k - eksi * u))
            tablo.index_add_(0, komsu, 0.05 * arti * m)
            kullanim.index_add_(0, merkez, torch.ones(256))
            if no == 1 and adim % 280 == 0:
                sikistir(tablo, kullanim, KELIME // 2)
        time.sleep(0.05 + 0.02 * rnd.random())
        if adim % 20 == 0:
            print(f"işçi {no} | adım {adim} | kayıp {kayip:.4f}", flush=True)


def main():
    print(f"ana süreç {os.getpid()}", flush=True)
    tablo = (torch.randn(KELIME, BOYUT) * 0.1).share_memory_()
    kullanim = torch.zeros(KELIME).share_memory_()
    ctx = mp.get_context("fork")
    kilit = ctx.Lock()
    isciler = [ctx.Process(target=isci, args=(no, tablo, kullanim, kilit), name=f"isci-{no}") for no in range(3)]
    for p in isciler:
        p.start()
    for p in isciler:
        p.join()
    torch.save(tablo, "vektor.pt")


if __name__ == "__main__":
    main()
