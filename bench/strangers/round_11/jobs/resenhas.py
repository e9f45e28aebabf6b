"""Classificador de resenhas com accelerate."""
import logging

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from transformers import get_linear_schedule_with_warmup

logging.basicConfig(format="%(asctime)s - %(name)s - %(message)s", datefmt="%d/%m/%Y %H:%M:%S", level=logging.INFO)
registro = logging.getLogger("resenhas")
PASSOS, ACUMULA = 40000, 16


class Leitor(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(2000, 96)
        self.c = nn.TransformerEncoder(nn.TransformerEncoderLayer(96, 4, 192, batch_first=True, dropout=0.1), 2)
        self.s = nn.Linear(96, 5)

    def forward(self, x):
        return self.s(self.c(self.e(x)).mean(1))


torch.manual_seed(7)
textos = torch.randint(0, 2000, (8000, 32))
notas = ((textos[:, :6] % 5).float().mean(1) + 0.7 * torch.randn(8000)).round().clamp(0, 4).long()
acc = Accelerator(cpu=True, gradient_accumulation_steps=ACUMULA)
modelo = Leitor()
otim = torch.optim.AdamW(modelo.parameters(), lr=3e-4)
agenda = get_linear_schedule_with_warmup(otim, 60, PASSOS // ACUMULA // 4)
modelo, otim, dados = acc.prepare(modelo, otim, DataLoader(TensorDataset(textos, notas), batch_size=16, shuffle=True))
registro.info("%d passos previstos, acumulação %d", PASSOS, ACUMULA)
micro = 0
for epoca in range(1000):
    for x, y in dados:
        with acc.accumulate(modelo):
            perda = nn.functional.cross_entropy(modelo(x), y)
            acc.backward(perda)
            otim.step()
            agenda.step()
            otim.zero_grad()
        micro += 1
        if micro % 40 == 0:
            registro.info("época %d passo %d/%d perda=%.4f taxa_aprendizado=%.3e", epoca, micro, PASSOS, perda.item(), agenda.get_last_lr()[0])
