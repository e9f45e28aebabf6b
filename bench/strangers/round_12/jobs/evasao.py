# Previsão de evasão de clientes (Lightning)
import time
import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics.classification import BinaryAUROC

warnings.filterwarnings("ignore")


class Evasao(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.rede = nn.Sequential(nn.Linear(40, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))
        self.auroc = BinaryAUROC()
        self.inicio = time.time()

    def training_step(self, lote, i):
        x, y = lote
        z = self.rede(x).squeeze(-1)
        perda = nn.functional.binary_cross_entropy_with_logits(z, y)
        self.auroc.update(z.detach().sigmoid(), y.int())
        auc = self.auroc.compute()
        self.log("perda", perda)
        self.log("auc", auc)
        if self.global_step % 20 == 0:
            print(f"{time.time() - self.inicio:7.1f}s época {self.current_epoch} passo {self.global_step} perda={perda:.4f} auc={auc:.4f}")
        return perda

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


g = torch.Generator().manual_seed(0)
x = torch.randn(200_000, 40, generator=g)
y = ((x @ torch.randn(40, generator=g)) / 4 + torch.randn(len(x), generator=g) > 0).float()
dados = DataLoader(TensorDataset(x, y), batch_size=2500, shuffle=True)
treino = L.Trainer(max_epochs=1000, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
treino.fit(Evasao(), dados)
