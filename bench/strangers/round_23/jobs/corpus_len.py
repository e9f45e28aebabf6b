"""Modelo de símbolos para los registros del faro; cada época va de las líneas cortas a las largas."""
import time

import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(5)
torch.manual_seed(5)
V, LOTE = 48, 24
tabla = rng.dirichlet(np.full(V, 0.08), size=(V, V)).cumsum(-1)
largos = np.sort(rng.integers(12, 300, size=60))


def escribir(n, largo):
    s = np.zeros((n, largo + 1), dtype=np.int64)
    s[:, :2] = rng.integers(V, size=(n, 2))
    u = rng.random((n, largo + 1))
    for t in range(2, largo + 1):
        s[:, t] = np.minimum((tabla[s[:, t - 2], s[:, t - 1]] < u[:, t, None]).sum(1), V - 1)
    return torch.from_numpy(s)


class Modelo(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, 64)
        self.gru = nn.GRU(64, 256, batch_first=True)
        self.sal = nn.Linear(256, V)

    def forward(self, x):
        return self.sal(self.gru(self.emb(x))[0])


modelo = Modelo()
opt = torch.optim.AdamW(modelo.parameters(), lr=8e-4)
prueba = escribir(64, 120)
corpus = [escribir(LOTE, int(n)) for n in largos for _ in range(2)]
print(f"{len(corpus)} lotes, {sum(c.numel() for c in corpus)} símbolos, {V} clases", flush=True)
for epoca in range(1, 200):
    t0 = time.perf_counter()
    for i, lote in enumerate(corpus, 1):
        a = time.perf_counter()
        modelo.train()
        y = modelo(lote[:, :-1])
        perdida = nn.functional.cross_entropy(y.flatten(0, 1), lote[:, 1:].flatten())
        opt.zero_grad()
        perdida.backward()
        norma = nn.utils.clip_grad_norm_(modelo.parameters(), 1.0)
        opt.step()
        b = time.perf_counter() - a
        if i % 6 == 0:
            print(f"época {epoca} lote {i}/{len(corpus)} largo {lote.shape[1] - 1:3d} loss {perdida.item():.4f} norma {norma:.3f} {1e3 * b:.0f} ms {lote.numel() / b:.0f} símb/s", flush=True)
    modelo.eval()
    with torch.no_grad():
        v = nn.functional.cross_entropy(modelo(prueba[:, :-1]).flatten(0, 1), prueba[:, 1:].flatten())
    print(f"== época {epoca}: val_loss {v.item():.4f} en {time.perf_counter() - t0:.1f} s", flush=True)
    torch.save(modelo.state_dict(), "modelo.pt")
