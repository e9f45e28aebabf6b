"""Etiquetador de sequências (POS). Registra em CSV: passo;perda;acuracia;norma"""
import sys

import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(2)
PAD = 0
N_TAGS = 12
VOCAB = 3000


def lote(passo, b=24, t=50):
    """Frases com tamanhos diferentes; uma linha vazia no corpus vira uma frase só de PAD."""
    x = torch.randint(1, VOCAB, (b, t))
    tam = torch.randint(5, t, (b,))
    if passo % 317 == 316:
        tam[3] = 0
    mascara = torch.arange(t)[None] < tam[:, None]
    return x * mascara, (x % N_TAGS) * mascara, mascara.float()


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 96, padding_idx=PAD)
        self.gru = nn.GRU(96, 128, batch_first=True, bidirectional=True)
        self.sai = nn.Linear(256, N_TAGS)

    def forward(self, x):
        return self.sai(self.gru(self.emb(x))[0])


modelo = Tagger()
otim = torch.optim.Adam(modelo.parameters(), 1e-3)
print("passo;perda;acuracia;norma_grad")
for passo in range(1, 10**6):
    x, y, m = lote(passo)
    s = modelo(x)
    ce = nn.functional.cross_entropy(s.transpose(1, 2), y, reduction="none")
    perda = ((ce * m).sum(1) / m.sum(1)).mean()  # média por frase, depois por lote
    otim.zero_grad()
    perda.backward()
    norma = nn.utils.clip_grad_norm_(modelo.parameters(), 1.0)
    otim.step()
    if passo % 10 == 0:
        acc = ((s.argmax(-1) == y) * m).sum() / m.sum()
        print(f"{passo};{perda.item():.5f};{acc.item():.4f};{norma.item():.4f}")
        sys.stdout.flush()
